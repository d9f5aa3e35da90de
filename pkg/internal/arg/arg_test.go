package arg

import (
	"errors"
	"math"
	"testing"
)

func TestRefusals(t *testing.T) {
	for want, refuse := range map[string]func(){
		"p: m is 0: it must be at least 1":                       func() { Size("p", "m", 0) },
		"p: m is -3: it must be at least -2":                     func() { AtLeast("p", "m", -3, -2) },
		"p: element size is -1 bytes: it must be at least 1":     func() { ElemBytes("p", -1) },
		"p: peak is NaN FLOP/s: it must be positive and finite":  func() { Positive("p", "peak", math.NaN(), "FLOP/s") },
		"p: peak is +Inf FLOP/s: it must be positive and finite": func() { Positive("p", "peak", math.Inf(1), "FLOP/s") },
		"p: peak is 0 FLOP/s: it must be positive and finite":    func() { Positive("p", "peak", 0, "FLOP/s") },
		"p: work is about 1e+20: " + ErrOverflow.Error():         func() { Panic(Overflow("p", "work", 1e20)) },
		"p: tile is 9: there are 4":                              func() { Refuse("tile", 9, "p: tile is %d: there are %d", 9, 4) },
	} {
		err := Maybe(refuse)
		if e, ok := err.(*Error); !ok || e.Error() != want || e.Arg == "" || e.Value == "" {
			t.Errorf("error %#v, want %q", err, want)
		}
		if errors.Is(err, ErrOverflow) != (want == "p: work is about 1e+20: "+ErrOverflow.Error()) {
			t.Errorf("%q: an overflow or not, the wrong way round", want)
		}
	}
	Size("p", "m", 1)
	Positive("p", "peak", math.SmallestNonzeroFloat64, "FLOP/s")
	if v, err := Try(func() int { return 7 }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

func TestMaybeLetsOtherPanicsPass(t *testing.T) {
	defer func() {
		if recover() != "other" {
			t.Error("the panic did not go on")
		}
	}()
	_ = Maybe(func() { panic("other") })
}

// What nobody waits for goes to Uncaught; what somebody does goes to them.
func TestUncaught(t *testing.T) {
	var seen []error
	Uncaught = func(err error) { seen = append(seen, err) }
	defer func() { Uncaught = nil }()
	if err := Maybe(func() { Size("p", "m", 0) }); err == nil || len(seen) != 0 {
		t.Errorf("%v, %v", err, seen)
	}
	defer func() {
		if e, ok := recover().(*Error); !ok || len(seen) != 1 || seen[0] != e {
			t.Errorf("panic %v, seen %v", e, seen)
		}
	}()
	Size("p", "m", 0)
}
