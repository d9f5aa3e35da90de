package bench

import (
	"strings"
	"testing"
	"time"
)

func TestPrograms(t *testing.T) {
	o := Options{MinTime: time.Microsecond, Samples: 1}
	ladder, err := LadderPrograms(20, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(ladder) < 4 || ladder[0].Name != "loops" {
		t.Errorf("%d steps", len(ladder))
	}
	for _, p := range ladder {
		if p.Threads != 1 || p.Work.FLOPs != 2*20*20*20 || p.Work.Bytes != 3*20*20*4 || p.Footprint != 3*20*20*4 || !(p.FLOPS() > 0) {
			t.Errorf("%+v", p)
		}
	}
	decode, err := DecodePrograms(24, 40, []int{1, 3}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(decode) != 3 {
		t.Fatalf("%d programs", len(decode))
	}
	for i, m := range []float64{1, 1, 3} {
		p := decode[i]
		if p.Work.FLOPs != 2*m*24*40 || p.Work.Bytes != 4*(24*40+m*24+m*40) || p.Footprint < 24*40*4 || !(p.FLOPS() > 0) {
			t.Errorf("%+v", p)
		}
	}
	for _, c := range []struct {
		call func() error
		want string
	}{
		{func() error { _, err := LadderPrograms(0, o); return err }, "n is 0"},
		{func() error { _, err := LadderPrograms(5000, o); return err }, "n is 5000"},
		{func() error { _, err := DecodePrograms(0, 4, nil, o); return err }, "k and n are 0 and 4"},
		{func() error { _, err := DecodePrograms(4, 4, []int{0}, o); return err }, "batch is 0"},
	} {
		if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestSpots(t *testing.T) {
	for _, at := range [][2]int{{0, 4}, {6, 0}} {
		err := spots(7, 5, func(i, j int) (got, want float64) {
			if i == at[0] && j == at[1] {
				return 1, 2
			}
			return 1, 1
		})
		if err == nil || !strings.Contains(err.Error(), "must be 2") {
			t.Errorf("a wrong element at %v: error %v", at, err)
		}
	}
}
