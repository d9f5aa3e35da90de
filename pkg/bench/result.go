package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"memorywall/pkg/internal/arg"
)

// Work is what one call does: floating-point operations, and bytes that it
// must move. 0 means that it is not counted.
type Work struct {
	FLOPs float64 `json:"flops"`
	Bytes float64 `json:"bytes"`
}

// Intensity returns FLOPs per byte. It panics if either is not counted, or their
// quotient beyond float64.
func (w Work) Intensity() float64 {
	arg.Positive("bench", "Work.FLOPs", w.FLOPs, "FLOPs")
	arg.Positive("bench", "Work.Bytes", w.Bytes, "bytes")
	i := w.FLOPs / w.Bytes
	arg.Positive("bench", "Work.Intensity", i, "FLOP/byte")
	return i
}

func (w Work) validate(what string) error {
	for _, v := range []struct {
		field string
		value float64
		unit  string
	}{{"FLOPs", w.FLOPs, "FLOP"}, {"Bytes", w.Bytes, "bytes"}} {
		if !(v.value >= 0) || math.IsInf(v.value, 1) {
			return fmt.Errorf("bench: %s.%s is %v %s: it must be finite and at least 0 (0 means not counted)", what, v.field, v.value, v.unit)
		}
	}
	return nil
}

// Result is one function, measured.
type Result struct {
	Name string `json:"name"`
	Work Work   `json:"work"` // of one call
	// Threads is the number of threads that the function uses at most, as its
	// [Case] says. 0 means not stated.
	Threads int `json:"threads,omitempty"`
	// Started is when the run began. Results of one [Compare] share it.
	Started time.Time `json:"started"`
	// Calls is the number of calls in each sample.
	Calls int `json:"calls_per_sample"`
	// Samples are the seconds of one call, sample by sample in the order in
	// which they were taken: the sample's time divided by its calls.
	Samples []float64 `json:"samples_s"`
	Min     float64   `json:"min_s"`    // seconds a call, best sample
	Median  float64   `json:"median_s"` // seconds a call
	Max     float64   `json:"max_s"`    // seconds a call, worst sample
	// Spread is (Median − Min) / Min: how far the typical sample lies above the
	// best. 0.05 is 5%.
	Spread float64 `json:"spread"`
	// Busy is the CPU time of the process over all samples divided by their
	// time: how many cores worked on average. 0 means unknown.
	Busy float64 `json:"busy_cores,omitempty"`
	// Warnings say why the figures may be doubted. Empty is good.
	Warnings []string `json:"warnings,omitempty"`
}

// Direction says which way a quantity gets better.
type Direction string

// The two directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Quantity is a measured figure with its unit and its direction.
type Quantity struct {
	Value  float64   `json:"value"`
	Unit   string    `json:"unit"`
	Better Direction `json:"better"`
}

// GFLOPS returns the rate of the best sample in GFLOP/s (10^9 FLOP a second),
// or 0 if the FLOPs are not counted.
func (r Result) GFLOPS() float64 { return perSecond(r.Work.FLOPs, r.Min) }

// GBps returns the rate of the best sample in GB/s (10^9 bytes a second), or 0
// if the bytes are not counted.
func (r Result) GBps() float64 { return perSecond(r.Work.Bytes, r.Min) }

func perSecond(count, seconds float64) float64 {
	if count == 0 || !(seconds > 0) {
		return 0
	}
	return count / seconds / 1e9
}

// Quantities returns what the best sample says: seconds a call, then the rates
// whose work is counted.
func (r Result) Quantities() []Quantity {
	q := []Quantity{{r.Min, "s", Lower}}
	if r.Work.FLOPs > 0 {
		q = append(q, Quantity{r.GFLOPS(), "GFLOP/s", Higher})
	}
	if r.Work.Bytes > 0 {
		q = append(q, Quantity{r.GBps(), "GB/s", Higher})
	}
	return q
}

// String returns one line: name, rates, time of a call, spread, threads, and
// the number of warnings.
func (r Result) String() string {
	s := r.Name + ": "
	for _, q := range r.Quantities()[1:] {
		s += fmt.Sprintf("%.4g %s, ", q.Value, q.Unit)
	}
	s += fmt.Sprintf("%s a call (best of %d, median +%.1f%%)", seconds(r.Min), len(r.Samples), 100*r.Spread)
	s += threads(r.Threads)
	if n := len(r.Warnings); n > 0 {
		s += fmt.Sprintf(", %s", plural(n, "warning"))
	}
	return s
}

func threads(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + plural(n, "thread")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// seconds formats a time with three or four digits and a fitting unit.
func seconds(s float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if s >= u.size {
			return fmt.Sprintf("%.4g %s", s/u.size, u.unit)
		}
	}
	return fmt.Sprintf("%.3g ns", s/1e-9)
}

// summarize fills in what follows from r.Samples, which must not be empty.
func (r *Result) summarize() {
	sorted := slices.Sorted(slices.Values(r.Samples))
	n := len(sorted)
	r.Min, r.Max = sorted[0], sorted[n-1]
	r.Median = sorted[n/2]
	if n%2 == 0 {
		// Halves first: the sum could leave the range of a float64.
		r.Median = sorted[n/2-1]/2 + sorted[n/2]/2
	}
	r.Spread = 0
	if r.Min > 0 {
		r.Spread = (r.Median - r.Min) / r.Min
	}
}

// Speedup says how much faster one case is than another, round by round.
type Speedup struct {
	Base  string `json:"base"`
	Other string `json:"other"`
	// Rounds holds, for each round, the base's time divided by the other's:
	// above 1, the other is faster.
	Rounds []float64 `json:"rounds"`
	Min    float64   `json:"min"`
	Median float64   `json:"median"`
	Max    float64   `json:"max"`
}

// Speedups pairs the samples of two results of the same [Compare], round by
// round. A disturbance that lasts longer than a round hits both samples of a
// pair, so that the ratios are steadier than the times.
func Speedups(base, other Result) (Speedup, error) {
	if base.Started.IsZero() || !base.Started.Equal(other.Started) || len(base.Samples) != len(other.Samples) {
		return Speedup{}, fmt.Errorf("bench: %q and %q were not timed in one run: use Compare with both", base.Name, other.Name)
	}
	s := Speedup{Base: base.Name, Other: other.Name}
	var r Result
	for i, t := range base.Samples {
		if !(t > 0) || !(other.Samples[i] > 0) {
			return Speedup{}, fmt.Errorf("bench: round %d of %q and %q took %v s and %v s: both must be positive", i, base.Name, other.Name, t, other.Samples[i])
		}
		r.Samples = append(r.Samples, t/other.Samples[i])
	}
	if len(r.Samples) == 0 {
		return Speedup{}, fmt.Errorf("bench: %q and %q have no samples", base.Name, other.Name)
	}
	r.summarize()
	s.Rounds, s.Min, s.Median, s.Max = r.Samples, r.Min, r.Median, r.Max
	return s, nil
}

// String returns one line, for instance
// "reordered runs at 3.1 times the speed of loops (median of 5 rounds, 3.0 to 3.2)".
func (s Speedup) String() string {
	return fmt.Sprintf("%s runs at %.3g times the speed of %s (median of %s, %.3g to %.3g)",
		s.Other, s.Median, s.Base, plural(len(s.Rounds), "round"), s.Min, s.Max)
}
