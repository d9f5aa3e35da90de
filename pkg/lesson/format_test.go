package lesson

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"memorywall/pkg/explore"
)

// The page formats numbers with scripts/charts/figure.js, whose test reads the
// same file.
func TestFormatsOfThePage(t *testing.T) {
	data, err := os.ReadFile("testdata/format.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct{ SI, Value, Tick [][]any }
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	check := func(what string, got string, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s = %q, want %q", what, got, want)
		}
	}
	for _, c := range cases.SI {
		check(fmt.Sprintf("SI(%v)", c[:2]), SI(c[0].(float64), c[1].(string)), c[2])
	}
	for _, c := range cases.Value {
		check(fmt.Sprintf("withUnit(%v)", c[:3]), withUnit(c[0].(float64), c[1].(string), int(c[2].(float64))), c[3])
	}
	for _, c := range cases.Tick {
		check(fmt.Sprintf("label(%v)", c[:2]), scale{format: c[1].(string)}.label(c[0].(float64)), c[2])
	}
	if len(cases.SI)+len(cases.Value)+len(cases.Tick) < 40 {
		t.Errorf("testdata/format.json has too few cases: it was not read right")
	}
}

// A reader has an explorer and the numbers of a chapter side by side: both write
// the same value in the same way.
func TestExplorersWriteAsSI(t *testing.T) {
	checked := 0
	for _, size := range []string{"1", "7", "96", "128", "4096", "10000"} {
		for name, settings := range map[string]map[string]string{
			"roofline": {"m": size, "n": size, "k": size}, "decode": {"batch": size}, "tile": {"n": size, "b": "7"},
		} {
			v, err := explore.Draw(name, settings, explore.MostWidth)
			if err != nil || len(v.Errors) > 0 {
				t.Fatal(name, settings, err, v.Errors)
			}
			for _, value := range v.Values {
				if value.None || value.Unit != "s" && value.Unit != "FLOP/s" || value.Number < 1e-12 || value.Unit == "FLOP/s" && value.Number < 1 {
					continue
				}
				checked++
				if want := SI(value.Number, value.Unit); value.Text != want {
					t.Errorf("%s %v: %s is %q, and SI writes %q", name, settings, value.Label, value.Text, want)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d values were compared", checked)
	}
}

func TestSIOfNoNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{math.NaN(), "NaN s"}, {math.Inf(1), "+Inf s"}, {math.Inf(-1), "-Inf s"},
	} {
		if got := SI(c.v, "s"); got != c.want {
			t.Errorf("SI(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

type named int

func (n named) String() string { return "named" }

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "–"},
		{"as it is", "as it is"},
		{1234567, "1,234,567"},
		{int64(-1234), "-1,234"},
		{uint8(200), "200"},
		{uint64(math.MaxUint64), "18,446,744,073,709,551,615"},
		{int64(math.MinInt64), "-9,223,372,036,854,775,808"},
		{1.0 / 3, "0.333333"},
		{float32(0.1), "0.1"},
		{100.0, "100"},
		{true, "true"},
		{named(3), "named"},
		{fmt.Errorf("oh"), "oh"},
		{math.NaN(), "NaN"},
		{[]int{1, 2}, "[1 2]"},
	} {
		if got := plain(c.v); got != c.want {
			t.Errorf("plain(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestExactTellsValuesApart(t *testing.T) {
	a, b := 0.1+0.2, 0.3
	if a == b {
		t.Skip("this processor adds more exactly")
	}
	if exact(a) == exact(b) {
		t.Errorf("exact(%v) = exact(%v) = %q", a, b, exact(a))
	}
}
