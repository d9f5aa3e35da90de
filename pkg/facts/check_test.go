package facts

import (
	"math"
	"strings"
	"testing"
)

var some = map[string]float64{
	"a.ridge":   153.01618440411966,
	"a.time":    0.0004405094662564103,
	"a.count":   137438953472,
	"a.peak":    312e12,
	"a.third":   1.0 / 3,
	"a.minus":   -2.5,
	"a.eighth":  0.125,
	"a.zero":    0,
	"a.small":   0.004,
	"a[b=64].x": 1664,
	"a.nearly":  0.99951,
	"a.nan":     math.NaN(),
	"a.large":   1e308,
}

func TestCheckAccepts(t *testing.T) {
	for _, c := range []struct{ displayed, expr string }{
		{"153", "a.ridge"},
		{"153.0", "a.ridge"},
		{"153.02", "a.ridge"},
		{"153.016184", "a.ridge"},
		{" 153.0 ", " a.ridge "},
		{"0.4405", "a.time*1e3"},
		{"0.4405", "a.time * 1e3"},
		{"440.5", "a.time*1e3*1000"},
		{"0.4405", "a.time*1e6/1e3"},
		{"137,438,953,472", "a.count"},
		{"137438953472", "a.count"},
		{"137\u202f438\u202f953\u202f472", "a.count"},
		{"137\u2009438\u2009953\u2009472", "a.count"},
		{"128", "a.count/1024/1024/1024"},
		{"137,438.95", "a.count/1e6"},
		{"312", "a.peak/1e12"},
		{"3.12e14", "a.peak"},
		{"3.12E+14", "a.peak"},
		{"3e14", "a.peak"},
		{"4.4e-4", "a.time"},
		{"1/3", "a.third"},
		{"0.333", "a.third"},
		{"2/6", "a.third"},
		{"-2.5", "a.minus"},
		{"−2.5", "a.minus"},
		{"-5/2", "a.minus"},
		{"+0.125", "a.eighth"},
		{"0.12", "a.eighth"}, // an exact half goes either way
		{"0.13", "a.eighth"},
		{"-2", "a.minus"},
		{"-3", "a.minus"},
		{"0", "a.zero"},
		{"0.00", "a.zero"},
		{"0.00", "a.small"},
		{"1,664", "a[b=64].x"},
		{"1.00", "a.nearly"},
		{"100", "a.nearly*100"},
	} {
		if err := checkIn(some, c.displayed, c.expr); err != nil {
			t.Errorf("%q as %s: %v", c.displayed, c.expr, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	const notRounded, noNumeral = "not that rounded to the digits shown", "that is not a numeral"
	for _, c := range []struct{ displayed, expr, want string }{
		{"153.1", "a.ridge", notRounded},
		{"152.9", "a.ridge", notRounded},
		{"153.01", "a.ridge", notRounded}, // cut off, not rounded
		{"154", "a.ridge", notRounded},
		{"-153", "a.ridge", notRounded},
		{"1530", "a.ridge", notRounded},
		{"0.4405", "a.time", notRounded}, // the scale is missing
		{"0.441", "a.time*1e6", notRounded},
		{"137,438,953,473", "a.count", notRounded},
		{"137,439,000,000", "a.count", notRounded}, // every digit is shown
		{"1,700", "a[b=64].x", notRounded},
		{"3.13e14", "a.peak", notRounded},
		{"3.12e13", "a.peak", notRounded},
		{"3.120000000000001e14", "a.peak", notRounded},
		{"0.334", "a.third", notRounded},
		{"1/4", "a.third", "which is 0.25"},
		{"333/1000", "a.third", "which is 0.333"},
		{"1/3", "a.zero", "which is 0.333"},
		{"0.999", "a.nearly", notRounded},
		{"0.01", "a.small", notRounded},

		{"", "a.ridge", noNumeral},
		{"x", "a.ridge", noNumeral},
		{"NaN", "a.ridge", noNumeral},
		{"Inf", "a.ridge", noNumeral},
		{"153.", "a.ridge", noNumeral},
		{".5", "a.ridge", noNumeral},
		{"153 FLOP", "a.ridge", noNumeral},
		{"0x99", "a.ridge", noNumeral},
		{"1_664", "a[b=64].x", noNumeral},
		{"16,64", "a[b=64].x", noNumeral},
		{"1664,", "a[b=64].x", noNumeral},
		{"137438,953,472", "a.count", noNumeral},
		{"137,438953,472", "a.count", noNumeral},
		{"137,438\u2009953,472", "a.count", noNumeral},
		{"1.234,5", "a.count", noNumeral},
		{"1e9999", "a.count", noNumeral},
		{"1/0", "a.third", noNumeral},
		{"1/-3", "a.third", noNumeral},

		{"153", "a.rigde", `no number has the key "a.rigde"; the nearest is "a.ridge"`},
		{"153", "", `no number has the key ""`},
		{"153", "x", `no number has the key "x"`},
		{"153", "1e3*a.ridge", `no number has the key "1e3"`},
		{"153", "a.ridge*", `scale is ""`},
		{"153", "a.ridge*x", `scale is "x"`},
		{"153", "a.ridge/0", `scale is "0"`},
		{"153", "a.ridge*-1", `scale is "-1"`},
		{"153", "a.ridge*NaN", `scale is "NaN"`},
		{"153", "a.ridge/Inf", `scale is "Inf"`},
		{"153", "a.ridge*a.ridge", `scale is "a.ridge"`},
		{"0", "a.nan", "a.nan is NaN: it must be finite"},
		{"NaN", "a.nan", "a.nan is NaN: it must be finite"},
		{"1", "a.large*1e10", "a.large*1e10 is +Inf: it must be finite"},
	} {
		err := checkIn(some, c.displayed, c.expr)
		if err == nil || !strings.HasPrefix(err.Error(), "facts: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q as %s: error is %v, want %q", c.displayed, c.expr, err, c.want)
		}
	}
}

func TestCheckOfTheReport(t *testing.T) {
	if err := Check("153.0", "chip.ridge_flop_per_byte"); err != nil {
		t.Error(err)
	}
	if err := Check("153.1", "chip.ridge_flop_per_byte"); err == nil {
		t.Error("a wrong digit is taken")
	}
	if err := Check("153.0", "chip.ridge"); err == nil || !strings.Contains(err.Error(), `the nearest is "chip.ridge_flop_per_byte"`) {
		t.Errorf("an unknown key: %v", err)
	}
	if _, err := Value("chip.ridge"); err == nil {
		t.Error("Value takes an unknown key")
	}
}

// A value shown by Go's own correct rounding is always right, and one unit
// more in the last digit never is.
func FuzzCheck(f *testing.F) {
	f.Add(153.01618440411966, uint8(1))
	f.Add(0.125, uint8(2))
	f.Add(-1e15, uint8(0))
	f.Add(1e300, uint8(9))
	f.Add(5e-324, uint8(20))
	f.Fuzz(func(t *testing.T, v float64, digits uint8) {
		m := map[string]float64{"v": v}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if checkIn(m, "0", "v") == nil {
				t.Errorf("%v is taken", v)
			}
			return
		}
		shown := shownTo(v, int(digits%25))
		if err := checkIn(m, shown, "v"); err != nil {
			t.Error(err)
		}
		if wrong := oneMore(shown); checkIn(m, wrong, "v") == nil && !half(v, int(digits%25)) {
			t.Errorf("%s is taken for %v, as is %s", wrong, v, shown)
		}
	})
}
