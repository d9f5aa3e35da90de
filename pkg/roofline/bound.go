package roofline

import "fmt"

// Bound says which of the two limits holds a run back.
type Bound int

const (
	// MemoryBound: the intensity is below the ridge, so traffic sets the pace.
	MemoryBound Bound = iota + 1
	// ComputeBound: the intensity is at the ridge or above it, so math does.
	ComputeBound
)

// String returns "memory-bound" or "compute-bound".
func (b Bound) String() string {
	switch b {
	case MemoryBound:
		return "memory-bound"
	case ComputeBound:
		return "compute-bound"
	}
	return fmt.Sprintf("Bound(%d)", int(b))
}

// Classify returns MemoryBound for an intensity (FLOP/byte) below the ridge
// and ComputeBound for all others: at the ridge itself the machine can reach
// its peak, so a tie is compute-bound.
func (m Machine) Classify(intensity float64) (Bound, error) {
	ridge, err := m.Ridge()
	if err != nil {
		return 0, err
	}
	if err := checkPositive("intensity", intensity, "FLOP/byte"); err != nil {
		return 0, err
	}
	if intensity < ridge {
		return MemoryBound, nil
	}
	return ComputeBound, nil
}

// Attainable returns the most FLOP/s that the machine can reach at an
// intensity in FLOP/byte: min(peak, bandwidth·intensity). It is the peak
// exactly for every intensity that Classify calls compute-bound.
func (m Machine) Attainable(intensity float64) (float64, error) {
	bound, err := m.Classify(intensity)
	if err != nil {
		return 0, err
	}
	if bound == ComputeBound {
		return m.Peak, nil
	}
	fed := min(m.Peak, m.Bandwidth*intensity)
	if fed == 0 {
		return 0, fmt.Errorf("roofline: intensity %g FLOP/byte times bandwidth %g bytes/s is below what a float64 can hold: use a larger intensity", intensity, m.Bandwidth)
	}
	return fed, nil
}

// Floors are the two least times of a run, in seconds: each is what the run
// would take if the other part were free.
type Floors struct {
	Math    float64 // FLOPs/peak
	Traffic float64 // bytes/bandwidth
}

// AtLeast returns the larger floor, in seconds. Math and traffic overlap, so
// no run is faster than this and a perfect one takes just this long.
func (f Floors) AtLeast() float64 { return max(f.Math, f.Traffic) }

// AtMost returns the sum of the floors, in seconds: the time of a run that
// overlaps nothing but wastes nothing else. Real code that keeps both parts
// busy lands between AtLeast and about AtMost.
func (f Floors) AtMost() float64 { return f.Math + f.Traffic }

// Bound returns ComputeBound if the math floor is at least as long as the
// traffic floor, MemoryBound otherwise. Within rounding it agrees with
// Classify of the intensity FLOPs/bytes.
func (f Floors) Bound() Bound {
	if f.Math < f.Traffic {
		return MemoryBound
	}
	return ComputeBound
}

// TimeFloors returns flops/peak and bytes/bandwidth in seconds.
func (m Machine) TimeFloors(flops, bytes float64) (Floors, error) {
	if err := m.Validate(); err != nil {
		return Floors{}, err
	}
	if err := checkPositive("work", flops, "FLOPs"); err != nil {
		return Floors{}, err
	}
	if err := checkPositive("traffic", bytes, "bytes"); err != nil {
		return Floors{}, err
	}
	f := Floors{Math: flops / m.Peak, Traffic: bytes / m.Bandwidth}
	if err := checkPositive("time floor of the math", f.Math, "s"); err != nil {
		return Floors{}, err
	}
	if err := checkPositive("time floor of the traffic", f.Traffic, "s"); err != nil {
		return Floors{}, err
	}
	return f, nil
}
