package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"memorywall/pkg/internal/num"
)

// A timer is a clock with what is known about its use: its resolution, and
// what the loop round the timed calls costs by itself.
type timer struct {
	now func() time.Time
	// cpu returns the CPU time that this process has used, of all its threads.
	// It is nil where the system does not tell.
	cpu func() time.Duration
	// resolution is the smallest step between two readings that differ. It
	// includes the cost of a reading. 0 means that no step was seen.
	resolution time.Duration
	// maxCalls bounds the calls of one sample.
	maxCalls int
	// call is the time of one call of an empty function in the timed loop, in
	// seconds.
	call float64
}

// newTimer makes a timer and measures its clock.
func newTimer(now func() time.Time, cpu func() time.Duration) *timer {
	t := &timer{now: now, cpu: cpu, maxCalls: 1 << 30}
	t.resolution = resolution(now)
	const calls = 1 << 14
	for i := range 5 {
		each := t.run(calls, func() {}).Seconds() / calls
		if i == 0 || each < t.call {
			t.call = each
		}
	}
	return t
}

var machineTimer = sync.OnceValue(func() *timer { return newTimer(time.Now, processTime) })

// resolution returns the smallest of a few steps of the clock, or 0 when the
// clock stands still.
func resolution(now func() time.Time) time.Duration {
	const (
		ticks = 16
		reads = 1 << 20 // over all ticks; a clock of 15 ms needs some 300,000
	)
	var smallest time.Duration
	last, seen := now(), 0
	for range reads {
		t := now()
		d := t.Sub(last)
		if d <= 0 {
			continue
		}
		if smallest == 0 || d < smallest {
			smallest = d
		}
		last = t
		if seen++; seen == ticks {
			break
		}
	}
	return smallest
}

// run returns the time of n calls of f in a row.
func (t *timer) run(n int, f func()) time.Duration {
	start := t.now()
	for range n {
		f()
	}
	return t.now().Sub(start)
}

// used returns the CPU time of the process, or 0 where it is unknown.
func (t *timer) used() time.Duration {
	if t.cpu == nil {
		return 0
	}
	return t.cpu()
}

const (
	// resolutionMargin: a sample lasts at least so many steps of the clock, so
	// that reading the clock is wrong by 1% at most.
	resolutionMargin = 100
	// maxFromResolution bounds what a coarse clock may ask of one sample.
	maxFromResolution = time.Second
	// callMargin: a call shorter than this many empty calls gets a warning.
	callMargin = 50
	// slowFactor: a first call so many sample times long is not timed again to
	// find the calls of a sample.
	slowFactor = 25
	// minBusy: below this part of the stated threads at work, a result carries a
	// warning.
	minBusy = 0.75
	// wideRange: a worst sample so many times the best gets a warning.
	wideRange = 2
	// visitSamples: as many samples in a row are taken at each visit of Sample.
	visitSamples = 3
	// A case has settled when its three best samples agree this far.
	settled = 0.01
	// enough samples, where they do not agree that far but the visits do.
	enough = 60
)

// Run times f, which does work w in each call. It returns an error if an
// argument has no meaning, or if f is too fast to be timed at all.
func Run(name string, w Work, o Options, f func()) (Result, error) {
	results, err := Compare(o, Case{Name: name, Work: w, Run: f})
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}

// Compare times the cases in one run. Each case is warmed up and calibrated;
// then the samples are taken in rounds, one of each case a round, in the order
// given. A sample of more than one call is preceded by one untimed call, which
// brings its data back into the caches after the other cases.
//
// The results stand in the order of the cases. Pair two of them with
// [Speedups].
func Compare(o Options, cases ...Case) ([]Result, error) {
	return CompareContext(context.Background(), o, cases...)
}

// CompareContext is [Compare] that ends when the context does, with the context's
// error.
func CompareContext(ctx context.Context, o Options, cases ...Case) ([]Result, error) {
	s, err := newSampler(ctx, o, cases)
	if err != nil {
		return nil, err
	}
	rounds := s.o.Samples
	s.report(0, len(cases)*(1+rounds))
	for i := range cases {
		if err := s.calibrate(i); err != nil {
			return nil, err
		}
		s.report(s.done+1, s.total)
	}
	// Garbage of the set-up is collected now, not during a sample.
	runtime.GC()
	for round := 0; round < rounds || round < maxSamples && s.now().Sub(s.started) < s.o.Time && !s.allSettled(); round++ {
		for i := range cases {
			if err := s.take(i, 1); err != nil {
				return nil, err
			}
			if s.done < s.total-1 {
				s.report(s.done+1, s.total)
			}
		}
	}
	s.report(s.total, s.total)
	return s.finish(), nil
}

// Sample times the cases one by one: some samples of each, and then, at a later
// time, of each again, for a disturbance can outlast a visit. While Options.Time
// lasts it goes on with those whose best samples do not agree, or whose best was
// seen at one visit alone. The results stand in the order of the cases and cannot
// be paired. When the context ends, so does the run, with the context's error.
func Sample(ctx context.Context, o Options, cases ...Case) ([]Result, error) {
	s, err := newSampler(ctx, o, cases)
	if err != nil {
		return nil, err
	}
	n := len(cases)
	s.report(0, 2*n)
	runtime.GC()
	open := make([]int, n)
	for i := range open {
		open[i] = i
	}
	for visit := 0; len(open) > 0; visit++ {
		for k, i := range open {
			late := s.now().Sub(s.started) >= s.o.Time
			if visit > 0 && late {
				break
			}
			if visit == 0 {
				if err := s.calibrate(i); err != nil {
					return nil, err
				}
			}
			s.results[i].Visits = append(s.results[i].Visits, len(s.results[i].Samples))
			if err := s.take(i, visitSamples); err != nil {
				return nil, err
			}
			if visit == 0 || visit == 1 && k < n-1 {
				s.report(s.done+1, s.total)
			}
		}
		if s.now().Sub(s.started) >= s.o.Time {
			break
		}
		open = slices.DeleteFunc(open, func(i int) bool { return s.results[i].found(s.o.SpreadLimit) })
	}
	s.report(s.total, s.total)
	return s.finish(), nil
}

// A sampler takes the samples of some cases.
type sampler struct {
	ctx         context.Context
	o           Options
	started     time.Time
	cases       []Case
	results     []Result
	totals      []total
	done, total int
}

// total sums up the samples of one case.
type total struct {
	shortest, time, used time.Duration
}

// newSampler completes the options and validates the cases.
func newSampler(ctx context.Context, o Options, cases []Case) (*sampler, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("bench: there are 0 cases: at least one is needed")
	}
	s := &sampler{ctx: ctx, o: o, started: o.timer.now(), cases: cases, totals: make([]total, len(cases))}
	seen := make(map[string]bool, len(cases))
	for i, c := range cases {
		if err := c.validate(i, seen); err != nil {
			return nil, err
		}
		s.results = append(s.results, Result{Name: c.Name, Work: c.Work, Threads: c.Threads, Started: s.started})
	}
	return s, nil
}

func (s *sampler) now() time.Time { return s.o.timer.now() }

func (s *sampler) report(done, total int) {
	if s.done, s.total = done, total; s.o.Progress != nil {
		s.o.Progress(done, total)
	}
}

// time returns the time of n calls of a case in a row.
func (s *sampler) time(i, n int) (time.Duration, error) {
	c := &s.cases[i]
	if c.Timed == nil {
		return s.o.timer.run(n, c.Run), nil
	}
	d, err := c.Timed(n)
	if err != nil {
		err = fmt.Errorf("bench: %q: %w", c.Name, err)
	}
	return d, err
}

// take takes some samples of a case in a row.
func (s *sampler) take(i, samples int) error {
	c, r, sum := &s.cases[i], &s.results[i], &s.totals[i]
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if c.Warm != nil {
		c.Warm()
	} else if r.Calls > 1 {
		if _, err := s.time(i, 1); err != nil {
			return err
		}
	}
	for range samples {
		used := s.o.timer.used()
		d, err := s.time(i, r.Calls)
		if err != nil {
			return err
		}
		sum.used += s.o.timer.used() - used
		if d <= 0 {
			return noTime(c.Name, r.Calls, d)
		}
		sum.time += d
		if sum.shortest == 0 || d < sum.shortest {
			sum.shortest = d
		}
		r.Samples = append(r.Samples, d.Seconds()/float64(r.Calls))
	}
	return nil
}

// calibrate calls a case until one sample lasts long enough, and notes the calls
// that this takes. These calls are the warm-up too. The first call meets cold
// caches and pages that were never touched: it counts only when it is so long
// that this cannot matter.
func (s *sampler) calibrate(i int) error {
	c, r := &s.cases[i], &s.results[i]
	target := max(cmp.Or(c.MinTime, s.o.MinTime), min(resolutionMargin*s.o.timer.resolution, maxFromResolution))
	first, err := s.time(i, 1)
	if c.Verify != nil && err == nil {
		if err := c.Verify(); err != nil {
			return fmt.Errorf("bench: %q is not timed, its result is wrong: %w", c.Name, err)
		}
	}
	r.Calls = 1
	if err != nil || first >= slowFactor*target {
		return err
	}
	for {
		d, err := s.time(i, r.Calls)
		if d >= target && err == nil {
			// One disturbance can make a short time long: the second look counts.
			d, err = s.time(i, r.Calls)
		}
		switch {
		case err != nil || d >= target:
			return err
		case r.Calls == s.o.timer.maxCalls && d <= 0:
			return noTime(c.Name, r.Calls, d)
		case r.Calls == s.o.timer.maxCalls:
			return nil
		}
		// Aim a fifth above the target, but trust a short time only so far.
		factor := 100.0
		if d > 0 {
			factor = min(factor, 1.2*float64(target)/float64(d))
		}
		r.Calls = int(min(float64(s.o.timer.maxCalls), math.Ceil(factor*float64(r.Calls))))
	}
}

// noTime is the error for calls that took a time d ≤ 0.
func noTime(name string, calls int, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("bench: %q: the clock went back by %v during %d calls: measure again", name, -d, calls)
	}
	return fmt.Errorf("bench: %q: %d calls took no time that the clock can see: give the function more to do", name, calls)
}

// settled says whether the best samples agree.
func (r *Result) settled() bool {
	const best = 3
	if len(r.Samples) < best {
		return false
	}
	s := slices.Sorted(slices.Values(r.Samples))
	return s[best-1] <= (1+settled)*s[0]
}

func (s *sampler) allSettled() bool {
	return !slices.ContainsFunc(s.results, func(r Result) bool { return !r.settled() })
}

// Apart returns how far the best visit's best lies below that of any other visit:
// 0.05 is 5%. Without two visits it is 0.
func (r Result) Apart() float64 {
	var bests []float64
	for v, from := range r.Visits {
		to := len(r.Samples)
		if v+1 < len(r.Visits) {
			to = r.Visits[v+1]
		}
		if from < to {
			bests = append(bests, slices.Min(r.Samples[from:to]))
		}
	}
	if len(bests) < 2 {
		return 0
	}
	slices.Sort(bests)
	return bests[1]/bests[0] - 1
}

// found says whether another visit would tell nothing: the best was seen at two
// times of the run, and by several samples if they are not very many.
func (r *Result) found(limit float64) bool {
	return len(r.Visits) > 1 && r.Apart() <= limit && (r.settled() || len(r.Samples) >= enough)
}

// finish puts the results together.
func (s *sampler) finish() []Result {
	for i := range s.results {
		r, t := &s.results[i], s.totals[i]
		r.summarize()
		if t.used > 0 {
			r.Busy = float64(t.used) / float64(t.time)
		}
		r.doubt(s.o, t.shortest)
	}
	return s.results
}

// doubt adds the warnings that the samples give cause for.
func (r *Result) doubt(o Options, shortest time.Duration) {
	warn := func(format string, args ...any) {
		r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
	}
	if len(r.Samples) == 1 {
		warn("one sample only: nothing shows how far it can be trusted")
	}
	if r.Spread > o.SpreadLimit {
		warn("the median of %d samples is %.1f%% above the best (limit %.3g%%): other work, or a change of clock, disturbed the run", len(r.Samples), 100*r.Spread, 100*o.SpreadLimit)
	}
	if apart := r.Apart(); apart > o.SpreadLimit {
		warn("the best of one visit lies %.1f%% below that of the others: another run may find another figure", 100*apart)
	}
	if r.Max >= wideRange*r.Min {
		warn("the worst sample took %.1f times the best", r.Max/r.Min)
	}
	if r.Busy > 0 && r.Busy < minBusy*float64(r.Threads) {
		warn("%.2f cores were at work on average for %s: other programs took the rest, or the threads waited", r.Busy, Plural(r.Threads, "thread"))
	}
	if res := o.timer.resolution; shortest < resolutionMargin*res {
		warn("the shortest sample took %s and the clock moves in steps of %s: the time can be %.1f%% wrong",
			num.SI(shortest.Seconds(), "s"), num.SI(res.Seconds(), "s"), 100*float64(res)/float64(shortest))
	}
	if r.Min < callMargin*o.timer.call {
		warn("a call took %s, of which %s is what the timing loop adds: do more work in each call", num.SI(r.Min, "s"), num.SI(o.timer.call, "s"))
	}
}
