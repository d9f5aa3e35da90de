package bench

import (
	"fmt"
	"time"
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
)

// Options say how to measure. The zero value is the default for every field.
type Options struct {
	// MinTime is the least time that one sample shall take: a short function
	// is called many times a sample. 0 means DefaultMinTime.
	MinTime time.Duration
	// Samples is the number of samples for each case. 0 means DefaultSamples.
	Samples int
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
	return o, nil
}

// steps counts progress for one run.
type steps struct {
	done, total int
	report      func(done, total int)
}

func newSteps(total int, report func(done, total int)) *steps {
	s := &steps{total: total, report: report}
	s.tell()
	return s
}

func (s *steps) tell() {
	if s.report != nil {
		s.report(s.done, s.total)
	}
}

func (s *steps) step() {
	s.done++
	s.tell()
}
