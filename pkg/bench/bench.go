// Package bench times functions and says how far the figures can be trusted.
//
// A run warms the function up, finds how many calls one sample needs so that
// the clock's resolution no longer matters, and then takes the samples. Every
// sample is kept. The best sample gives the rates: noise only ever adds time.
// The median stands beside it. Doubt (a wide spread, a single sample, a
// function too short to time) is data: it goes into the result's warnings and
// never removes a sample.
//
// [Compare] times alternatives in one run, in turn (A B A B …), so that a change
// of the machine's state meets all of them; [Speedups] pairs their samples.
// [Sample] times functions that have nothing to do with each other, and comes back
// to each until its best is found again. What keeps a clock of its own, such as
// another process or the threads of a [Crew], is timed by that ([Case.Timed]).
package bench

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Defaults of [Options].
const (
	DefaultMinTime = 20 * time.Millisecond
	DefaultSamples = 5
	DefaultSpread  = 0.05
)

const (
	maxMinTime = time.Minute
	maxSamples = 10_000
	maxTime    = time.Hour
)

// Options say how to measure. The zero value is the default for every field.
type Options struct {
	// MinTime is the minimum time of one sample: a short function
	// is called many times a sample. 0 means DefaultMinTime.
	MinTime time.Duration
	// Samples is the number of samples for each case, the fewest if there is a
	// Time. 0 means DefaultSamples.
	Samples int
	// Time is how long more samples are taken, roughly and in all, while the best
	// ones of a case do not agree. 0 means that Samples are enough.
	Time time.Duration
	// SpreadLimit is the spread (see [Result]) above which a result carries a
	// warning: 0.05 is 5%. 0 means DefaultSpread.
	SpreadLimit float64
	// Progress, if not nil, is called at the start with done = 0, then after
	// each step, on the caller's goroutine and never inside a timed sample.
	// The total stays the same during a run, and the last call has done = total
	// unless the run ends in an error.
	Progress func(done, total int)

	// timer replaces the machine's clock in tests.
	timer *timer
}

// complete returns o with its defaults filled in, or an error naming the field
// that has no meaning.
func (o Options) complete() (Options, error) {
	switch {
	case o.MinTime < 0 || o.MinTime > maxMinTime:
		return o, fmt.Errorf("bench: Options.MinTime is %v: it must be from 0 (which means %v) to %v", o.MinTime, DefaultMinTime, maxMinTime)
	case o.Samples < 0 || o.Samples > maxSamples:
		return o, fmt.Errorf("bench: Options.Samples is %d: it must be from 0 (which means the default) to %d", o.Samples, maxSamples)
	case o.Time < 0 || o.Time > maxTime:
		return o, fmt.Errorf("bench: Options.Time is %v: it must be from 0 to %v", o.Time, maxTime)
	case !(o.SpreadLimit >= 0) || o.SpreadLimit > 1e6:
		return o, fmt.Errorf("bench: Options.SpreadLimit is %v: it must be from 0 (which means %v) to 1e6", o.SpreadLimit, DefaultSpread)
	}
	if o.MinTime == 0 {
		o.MinTime = DefaultMinTime
	}
	if o.Samples == 0 {
		o.Samples = DefaultSamples
	}
	if o.SpreadLimit == 0 {
		o.SpreadLimit = DefaultSpread
	}
	if o.timer == nil {
		o.timer = machineTimer()
	}
	if Quick() {
		o.Samples, o.MinTime = min(o.Samples, 2), min(o.MinTime, 2*time.Millisecond)
	}
	return o, nil
}

// Quick says whether the environment has MEMORYWALL_QUICK=1, for tests that need
// figures of every kind and none that is any good: then there are at most 2 samples
// of 2 ms, and where a call computes a band of rows, it is a narrow one.
func Quick() bool { return os.Getenv("MEMORYWALL_QUICK") == "1" }

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

// Case is one of the functions to time.
type Case struct {
	Name string
	Work Work // of one call
	// Threads is the number of threads that a call uses at most, if known. 0 means
	// not stated.
	Threads int
	Run     func()
	// Timed takes the place of Run where a call is timed by another clock than the
	// caller's: it does so many calls and returns the time that they took.
	Timed func(calls int) (time.Duration, error)
	// MinTime, if not 0, takes the place of that of the Options.
	MinTime time.Duration
	// Warm, if not nil, takes the place of the untimed call that brings a function's
	// data back into the caches before a sample of several calls.
	Warm func()
	// Verify, if not nil, is called once, after the first call and before anything
	// is timed. An error ends the run: a wrong result has no speed.
	Verify func() error
}

func (c Case) validate(i int, seen map[string]bool) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("bench: the name of case %d is empty: a result needs a name", i)
	case seen[c.Name]:
		return fmt.Errorf("bench: the name of case %d is %q: another case has that name", i, c.Name)
	case c.MinTime < 0 || c.MinTime > maxMinTime:
		return fmt.Errorf("bench: MinTime of %q is %v: it must be from 0 (which means that of the options) to %v", c.Name, c.MinTime, maxMinTime)
	case c.Threads < 0:
		return fmt.Errorf("bench: Threads of %q is %d: it must be positive, or 0 for not stated", c.Name, c.Threads)
	case (c.Run == nil) == (c.Timed == nil):
		return fmt.Errorf("bench: the function of %q is nil, or there are two: one of Run and Timed must be there", c.Name)
	}
	seen[c.Name] = true
	return c.Work.validate(fmt.Sprintf("the work of %q: Work", c.Name))
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
	// Visits are the indices of the first sample of each visit, where a run came
	// back to the function at different times ([Sample]).
	Visits []int   `json:"visits,omitempty"`
	Min    float64 `json:"min_s"`    // seconds a call, best sample
	Median float64 `json:"median_s"` // seconds a call
	Max    float64 `json:"max_s"`    // seconds a call, worst sample
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
	s += fmt.Sprintf("%s a call (best of %d, median +%.1f%%)", num.SI(r.Min, "s"), len(r.Samples), 100*r.Spread)
	return s + tail(r.Threads, len(r.Warnings))
}

// tail is the end of a line on a measured figure.
func tail(threads, warnings int) (s string) {
	if threads > 0 {
		s += ", " + Plural(threads, "thread")
	}
	if warnings > 0 {
		s += ", " + Plural(warnings, "warning")
	}
	return s
}

// Plural counts things: 1 thread, 2 threads.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// summarize fills in what follows from r.Samples, which must not be empty.
func (r *Result) summarize() {
	r.Min, r.Max, r.Median = slices.Min(r.Samples), slices.Max(r.Samples), num.Median(r.Samples)
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
// pair, so that the ratios are steadier than the times. It panics if the results
// are not of one run, or hold no samples or impossible ones.
func Speedups(base, other Result) Speedup {
	if base.Started.IsZero() || !base.Started.Equal(other.Started) || len(base.Samples) != len(other.Samples) {
		arg.Refuse("other", other.Name, "bench: %q and %q were not timed in one run: use Compare with both", base.Name, other.Name)
	}
	if len(base.Samples) == 0 {
		arg.Refuse("base", base.Name, "bench: %q and %q have no samples", base.Name, other.Name)
	}
	var r Result
	for i, t := range base.Samples {
		if !(t > 0) || !(other.Samples[i] > 0) {
			arg.Refuse("samples", t, "bench: round %d of %q and %q took %v s and %v s: both must be positive", i, base.Name, other.Name, t, other.Samples[i])
		}
		r.Samples = append(r.Samples, t/other.Samples[i])
	}
	r.summarize()
	return Speedup{base.Name, other.Name, r.Samples, r.Min, r.Median, r.Max}
}

// String returns one line, for instance
// "reordered runs at 3.1 times the speed of loops (median of 5 rounds, 3.0 to 3.2)".
func (s Speedup) String() string {
	return fmt.Sprintf("%s runs at %.3g times the speed of %s (median of %s, %.3g to %.3g)",
		s.Other, s.Median, s.Base, Plural(len(s.Rounds), "round"), s.Min, s.Max)
}
