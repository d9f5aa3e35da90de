package roofline

import (
	"fmt"

	"memorywall/pkg/internal/arg"
)

// Bound says which limit holds a run back: memory or compute, and where there
// are several chips or the latency is counted, network or latency.
type Bound int

const (
	// MemoryBound: the intensity is below the ridge, so the memory sets the pace.
	MemoryBound Bound = iota + 1
	// ComputeBound: the intensity is at the ridge or above it, so the arithmetic
	// does.
	ComputeBound
	// NetworkBound: what the chips send each other takes longest.
	NetworkBound
	// LatencyBound: launches and hops take longest.
	LatencyBound
)

// String returns "memory-bound", "compute-bound" and so on.
func (b Bound) String() string {
	if b < MemoryBound || b > LatencyBound {
		return fmt.Sprintf("Bound(%d)", int(b))
	}
	return []string{"memory", "compute", "network", "latency"}[b-MemoryBound] + "-bound"
}

// Classify returns MemoryBound for an intensity (FLOP/byte) below the ridge
// and ComputeBound for all others: at the ridge itself the machine can reach
// its peak, so a tie is compute-bound. It panics if the machine or the
// intensity is invalid.
func (m Machine) Classify(intensity float64) Bound {
	ridge := m.Ridge()
	arg.Positive("roofline", "intensity", intensity, "FLOP/byte")
	if intensity < ridge {
		return MemoryBound
	}
	return ComputeBound
}

// Attainable returns the most FLOP/s that the machine can reach at an
// intensity in FLOP/byte: min(peak, bandwidth·intensity). It is the peak
// exactly for every intensity that Classify calls compute-bound. It panics if
// the machine or the intensity is invalid, or the product below what a float64
// can hold.
func (m Machine) Attainable(intensity float64) float64 {
	if m.Classify(intensity) == ComputeBound {
		return m.Peak
	}
	fed := min(m.Peak, m.Bandwidth*intensity)
	if fed == 0 {
		arg.Refuse("intensity", intensity, "roofline: intensity is %g FLOP/byte: times the bandwidth, %g bytes/s, it is below what a float64 can hold: use a larger intensity", intensity, m.Bandwidth)
	}
	return fed
}

// Times are the times of a run, in seconds: each is what the run would take if
// the other parts were free. They are also called its time floors.
type Times struct {
	Compute float64 // FLOPs/peak
	Memory  float64 // bytes/bandwidth
	Network float64 // bytes sent/bandwidth of the links; 0 for one chip
	Latency float64 // launches and hops; 0 where they are left out
}

// Overlapped returns the largest time: that of a run whose parts overlap
// perfectly. No run is faster.
func (t Times) Overlapped() float64 { return max(t.Compute, t.Memory, t.Network, t.Latency) }

// Serial returns the sum of the times: that of a run which overlaps nothing but
// wastes nothing else. Real code that keeps all parts busy lands between
// Overlapped and about Serial.
func (t Times) Serial() float64 { return t.Compute + t.Memory + t.Network + t.Latency }

// Bound returns the bound of the largest time. Of equal times it is the one that
// is named first: compute, memory, network, latency. For one chip without
// latency it agrees, within rounding, with Classify of the intensity FLOPs/bytes.
func (t Times) Bound() Bound {
	switch t.Overlapped() {
	case t.Compute:
		return ComputeBound
	case t.Memory:
		return MemoryBound
	case t.Network:
		return NetworkBound
	}
	return LatencyBound
}

// Times returns flops/peak, bytes/bandwidth and the machine's latency in seconds.
// It panics if the machine, an argument or one of the times is not positive and
// finite.
func (m Machine) Times(flops, bytes float64) Times {
	arg.Check(m.Validate())
	arg.Positive("roofline", "work", flops, "FLOPs")
	arg.Positive("roofline", "traffic", bytes, "bytes")
	t := Times{Compute: flops / m.Peak, Memory: bytes / m.Bandwidth, Latency: m.Latency}
	arg.Positive("roofline", "compute time", t.Compute, "s")
	arg.Positive("roofline", "memory time", t.Memory, "s")
	return t
}

// WriteAllocate returns how many bytes move for each byte that a loop sees, when a
// store first reads its line, as in most CPUs: (loads + 2·stores)/(loads + stores)
// for so many loads and stores of one element, 3/2 for a copy and 4/3 for a triad
// a = b + s·c. It panics unless there is one of either and none is negative.
func WriteAllocate(loads, stores int64) float64 {
	arg.AtLeast("roofline", "loads", loads, 0)
	arg.AtLeast("roofline", "stores", stores, 0)
	arg.Size("roofline", "loads + stores", loads+stores)
	return float64(loads+2*stores) / float64(loads+stores)
}
