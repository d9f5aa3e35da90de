package roofline

import (
	"math"
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
)

func TestClassify(t *testing.T) {
	m := machine(1000, 100, 2) // ridge 10
	for _, c := range []struct {
		intensity  float64
		bound      Bound
		attainable float64
	}{
		{tiny, MemoryBound, 100 * tiny},
		{0.5, MemoryBound, 50},
		{math.Nextafter(10, 0), MemoryBound, 100 * math.Nextafter(10, 0)},
		{10, ComputeBound, 1000}, // a tie
		{math.Nextafter(10, 11), ComputeBound, 1000},
		{math.MaxFloat64, ComputeBound, 1000},
	} {
		bound, err := arg.Try(func() Bound { return m.Classify(c.intensity) })
		if err != nil || bound != c.bound {
			t.Errorf("Classify(%v) = %v, %v; want %v", c.intensity, bound, err, c.bound)
		}
		attainable, err := arg.Try(func() float64 { return m.Attainable(c.intensity) })
		if err != nil || attainable != c.attainable {
			t.Errorf("Attainable(%v) = %v, %v; want %v", c.intensity, attainable, err, c.attainable)
		}
	}
}

// At the ridge the peak is attained exactly, although bandwidth·ridge may
// round to something else.
func TestTieAttainsPeak(t *testing.T) {
	differs := 0
	for i := 1; i < 200; i++ {
		m := machine(1, float64(i), 2)
		ridge := m.Ridge()
		bound, err := arg.Try(func() Bound { return m.Classify(ridge) })
		if err != nil || bound != ComputeBound {
			t.Errorf("bandwidth %g: tie is %v, %v", m.Bandwidth, bound, err)
		}
		if got, err := arg.Try(func() float64 { return m.Attainable(ridge) }); err != nil || got != m.Peak {
			t.Errorf("bandwidth %g: attainable at the ridge is %v, %v; want the peak %v", m.Bandwidth, got, err, m.Peak)
		}
		if got, err := arg.Try(func() float64 { return m.Attainable(math.Nextafter(ridge, 0)) }); err != nil || !(got <= m.Peak) {
			t.Errorf("bandwidth %g: attainable below the ridge is %v, %v; want at most the peak", m.Bandwidth, got, err)
		}
		if m.Bandwidth*ridge != m.Peak {
			differs++
		}
	}
	if differs == 0 {
		t.Error("no case in which bandwidth·ridge rounds away from the peak: choose others")
	}
}

func TestBoundErrors(t *testing.T) {
	m := A100()
	for _, c := range []struct {
		bad  float64
		says string
	}{{0, "0"}, {-1, "-1"}, {nan, "NaN"}, {inf, "+Inf"}, {-inf, "-Inf"}} {
		err := Maybe(func() { m.Classify(c.bad) })
		refused(t, err, "intensity is "+c.says+" FLOP/byte", "positive and finite")
		err = Maybe(func() { m.Attainable(c.bad) })
		refused(t, err, "intensity is "+c.says+" FLOP/byte", "positive and finite")
		err = Maybe(func() { m.Times(c.bad, 1) })
		refused(t, err, "work is "+c.says+" FLOPs", "positive and finite")
		err = Maybe(func() { m.Times(1, c.bad) })
		refused(t, err, "traffic is "+c.says+" bytes", "positive and finite")
	}

	// What leaves float64 is said, not returned.
	slow := machine(1e-10, 1e-10, 2)
	err := Maybe(func() { slow.Times(1e300, 1) })
	refused(t, err, "compute time is +Inf s")
	err = Maybe(func() { slow.Times(1, 1e300) })
	refused(t, err, "memory time is +Inf s")
	err = Maybe(func() { slow.Attainable(tiny) })
	refused(t, err, "below what a float64 can hold")
}

func TestFloors(t *testing.T) {
	m := machine(1000, 100, 2)
	for _, c := range []struct {
		flops, bytes float64
		least, most  float64
		bound        Bound
	}{
		{2000, 100, 2, 3, ComputeBound},
		{1000, 400, 4, 5, MemoryBound},
		{1000, 100, 1, 2, ComputeBound}, // a tie
	} {
		f := m.Times(c.flops, c.bytes)
		if f.Compute != c.flops/1000 || f.Memory != c.bytes/100 || f.Overlapped() != c.least || f.Serial() != c.most || f.Bound() != c.bound {
			t.Errorf("floors of %v FLOPs, %v bytes: %+v, at least %v, at most %v, %v", c.flops, c.bytes, f, f.Overlapped(), f.Serial(), f.Bound())
		}
		if bound, err := arg.Try(func() Bound { return m.Classify(c.flops / c.bytes) }); err != nil || bound != c.bound {
			t.Errorf("Classify(%v) = %v, %v; the floors say %v", c.flops/c.bytes, bound, err, c.bound)
		}
	}
}

func TestBoundString(t *testing.T) {
	for b, want := range map[Bound]string{MemoryBound: "memory-bound", ComputeBound: "compute-bound", 0: "Bound(0)"} {
		if b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

// The latency is a term of its own, and where it is 0 nothing changes.
func TestLatency(t *testing.T) {
	m := A100()
	before := m.Times(1e9, 1e9)
	if before.Latency != 0 || before.Network != 0 || before.Overlapped() != 1e9/2039e9 {
		t.Errorf("%+v", before)
	}
	m.Latency = 1e-3
	after := m.Times(1e9, 1e9)
	if after.Compute != before.Compute || after.Memory != before.Memory || after.Overlapped() != 1e-3 || after.Serial() != before.Serial()+1e-3 || after.Bound() != LatencyBound {
		t.Errorf("%+v: %v", after, after.Bound())
	}
	for want, times := range map[Bound]Times{
		ComputeBound: {2, 2, 2, 2}, MemoryBound: {1, 2, 2, 2}, NetworkBound: {1, 1, 2, 2}, LatencyBound: {1, 1, 1, 2},
	} {
		if got := times.Bound(); got != want {
			t.Errorf("%+v is %v, want %v", times, got, want)
		}
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		m.Latency = bad
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "latency is") {
			t.Errorf("latency %v: %v", bad, err)
		}
	}
}

func TestWriteAllocate(t *testing.T) {
	for _, c := range []struct {
		loads, stores int64
		want          float64
	}{{1, 0, 1}, {0, 1, 2}, {1, 1, 1.5}, {2, 1, 4.0 / 3}} {
		if got := WriteAllocate(c.loads, c.stores); got != c.want {
			t.Errorf("%d loads and %d stores: %v, want %v", c.loads, c.stores, got, c.want)
		}
	}
	for _, bad := range [][2]int64{{0, 0}, {-1, 2}, {2, -1}} {
		if err := Maybe(func() { WriteAllocate(bad[0], bad[1]) }); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
