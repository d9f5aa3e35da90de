package matmul

import (
	"strings"
	"testing"
)

func TestProbes(t *testing.T) {
	for _, isa := range append(ISAs(), "") {
		for _, f := range []func(string, int) (float64, error){FMALoop[float32], FMALoop[float64]} {
			one, err := f(isa, 1)
			if err != nil || one <= 0 {
				t.Errorf("%q: %v FLOPs in a round, %v", isa, one, err)
			}
			if ten, err := f(isa, 10); err != nil || ten != 10*one {
				t.Errorf("%q: %v FLOPs in ten rounds of %v, %v", isa, ten, one, err)
			}
		}
		for _, n := range []int{0, 1, readBytes - 1, readBytes, 3*readBytes + 7} {
			if got, err := ReadLoop(isa, make([]byte, n)); err != nil || got != n/readBytes*readBytes {
				t.Errorf("%q: read %d of %d bytes, %v", isa, got, n, err)
			}
		}
	}
	if _, err := FMALoop[float32]("", 0); err == nil || !strings.Contains(err.Error(), "rounds is 0") {
		t.Errorf("error %v", err)
	}
	if _, err := FMALoop[float64]("vax", 1); err == nil || !strings.Contains(err.Error(), `ISA is "vax"`) {
		t.Errorf("error %v", err)
	}
	if _, err := ReadLoop("vax", nil); err == nil || !strings.Contains(err.Error(), `ISA is "vax"`) {
		t.Errorf("error %v", err)
	}
}
