package lesson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"memorywall/pkg/roofline"
)

// Values at the ends of what a float64 can say, and near each other.
var extremes = []float64{
	math.SmallestNonzeroFloat64, 2.3e-308, 1e-300, 1e-290, 1e-12, 1, 1 + 1e-15, 1 + 1e-9, 1e15, 4.9e287, 1e300, 1.5e300, math.MaxFloat64,
}

// drawn fails unless the figure is an option that says nothing but numbers, or
// an error that names the figure and what to change.
func drawn(t *testing.T, what string, f Figure) {
	t.Helper()
	option, err := f.Option()
	if err != nil {
		s := err.Error()
		if !strings.HasPrefix(s, `lesson: figure "f": `) || !strings.Contains(s, " must ") && !strings.Contains(s, ": choose values ") {
			t.Errorf("%s: error %q: it must name the figure, the value and what would be right", what, s)
		}
		return
	}
	for _, bad := range []string{"NaN", "Inf"} {
		if bytes.Contains(option, []byte(bad)) {
			t.Errorf("%s: %s in the option: %s", what, bad, option)
		}
	}
	if !json.Valid(option) {
		t.Fatalf("%s: no JSON", what)
	}
	for word := range strings.FieldsSeq(f.numbers().text()) {
		if len(word) > 30 && strings.Trim(word, "─-") != "" {
			t.Errorf("%s: the table holds %q", what, word)
		}
	}
}

func TestExtremeValuesAreDrawnOrNamed(t *testing.T) {
	for _, a := range extremes {
		for _, b := range extremes {
			for _, axes := range [][2]Axis{
				{}, {Axis{Log: true}, Axis{Log: true}}, {Axis{Log: true, Base: 2, Unit: "B"}, Axis{Unit: "s"}},
			} {
				f := Figure{ID: "f", Title: "t", X: axes[0], Y: axes[1], Series: []Series{
					{Name: "s", Points: []Point{{X: 1, Y: a, Label: "a"}, {X: b, Y: 2}}},
					{Name: "u", Kind: Steps, Points: []Point{{X: 2, Y: 3}, {X: 4, Y: b}}},
				}}
				what := fmt.Sprintf("%v and %v, log %t", a, b, f.X.Log)
				drawn(t, what, f)
				if !f.X.Log {
					f.Series[0].Points[1] = Point{X: -b, Y: -a}
					drawn(t, what+", negative", f)
				}
				f.Series = []Series{{Name: "s", Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}}}
				f.Marks = []Mark{{'y', a, "a"}, {'x', b, "b"}}
				drawn(t, what+", as marks", f)
				f.Marks = nil
				f.Y.Min = a
				drawn(t, what+", least", f)
				f.Y.Min, f.Y.Max = 0, b
				drawn(t, what+", greatest", f)
				f.Y.Min = a
				drawn(t, what+", bounds", f)
				f.Series[0].Points = []Point{{X: b, Y: b}}
				drawn(t, what+", bounds away from the data", f)

				f = Figure{ID: "f", Title: "t", X: Axis{Categories: []string{"a", "b"}}, Y: f.Y, Series: []Series{
					{Name: "s", Kind: Bars, Points: []Point{{Y: a}, {Y: b}}},
				}}
				f.Y.Min, f.Y.Max = 0, 0
				drawn(t, what+", bars", f)
				f.X, f.Y = f.Y, f.X
				f.Series[0].Points = []Point{{X: a}, {X: b}}
				drawn(t, what+", level bars", f)
			}
		}
	}
}

func TestExtremeRoofsAreDrawnOrNamed(t *testing.T) {
	values := append([]float64{1e-145, 1e-140, 1e140, 1e145}, extremes...)
	shown := 0
	for _, a := range values {
		for _, b := range values {
			for _, c := range []struct {
				machine roofline.Machine
				dot     Dot
			}{
				{roofline.Machine{Name: "m", ElemBytes: 2, Peak: a, Bandwidth: b}, Dot{Name: "d", Intensity: 1}},
				{roofline.A100(), Dot{Name: "d", Intensity: a, FLOPS: b}},
			} {
				what := fmt.Sprintf("peak %v, bandwidth %v, dot %v", c.machine.Peak, c.machine.Bandwidth, c.dot)
				f, err := rooflineFigure("f", "t", "", []roofline.Machine{c.machine}, []Dot{c.dot})
				if err == nil {
					shown++
					drawn(t, what, f)
					if _, err := f.Option(); err != nil {
						t.Errorf("%s: %v: the roofline must say so itself", what, err)
					}
					continue
				}
				if s := err.Error(); !strings.Contains(s, " is ") || strings.Contains(s, "NaN") {
					t.Errorf("%s: error %q: it must name the quantity and its value", what, s)
				}
			}
		}
	}
	if shown < 50 {
		t.Errorf("only %d roofs are shown", shown)
	}
}

// The ridge point of a chip with a peak of 1e300 FLOP/s, beside intensities of
// a few FLOP/byte: room above the mark would pass the greatest float64.
func TestRoomAboveAHighMark(t *testing.T) {
	f := Figure{ID: "f", Title: "t", Y: Axis{Log: true}, Marks: []Mark{{'y', 4.9e287, "ridge"}},
		Series: []Series{{Name: "s", Kind: Steps, Points: []Point{{X: 1, Y: 0.5}, {X: 4096, Y: 1365}}}}}
	if _, err := f.Option(); err != nil {
		t.Errorf("error %v: it can be drawn", err)
	}
	f.Marks[0].At = 1e301
	if _, err := f.Option(); err == nil || !strings.Contains(err.Error(), `mark "ridge" on the y axis: At is 1e+301: it is too large`) {
		t.Errorf("error %v: it must name the mark", err)
	}
}
