package bench

import (
	"fmt"
	"math"
	"runtime"
	"time"
)

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
	// leastBusy: below this part of the stated threads at work, a result
	// carries a warning.
	leastBusy = 0.75
	// wideRange: a worst sample so many times the best gets a warning.
	wideRange = 2
)

// Case is one of the functions to time.
type Case struct {
	Name string
	Work Work // of one call of Run
	// Threads is the number of threads that Run uses at most, if known. The
	// harness only carries it to the result. 0 means not stated.
	Threads int
	Run     func()
	// Verify, if not nil, is called once, after the first call of Run and
	// before anything is timed. An error ends the run: a wrong result has no
	// speed.
	Verify func() error
}

func (c Case) validate(i int, seen map[string]bool) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("bench: the name of case %d is empty: a result needs a name", i)
	case seen[c.Name]:
		return fmt.Errorf("bench: the name of case %d is %q: another case has that name", i, c.Name)
	case c.Threads < 0:
		return fmt.Errorf("bench: Threads of %q is %d: it must be positive, or 0 for not stated", c.Name, c.Threads)
	case c.Run == nil:
		return fmt.Errorf("bench: the function of %q is nil: there is nothing to time", c.Name)
	}
	seen[c.Name] = true
	return c.Work.validate(fmt.Sprintf("the work of %q: Work", c.Name))
}

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
	o, err := check(o, cases)
	if err != nil {
		return nil, err
	}
	return compare(o, cases, newSteps(stepsOf(o, cases), o.Progress))
}

// check completes the options and validates the cases.
func check(o Options, cases []Case) (Options, error) {
	o, err := o.complete()
	if err != nil {
		return o, err
	}
	if len(cases) == 0 {
		return o, fmt.Errorf("bench: there are 0 cases: Compare needs at least one")
	}
	seen := make(map[string]bool, len(cases))
	for i, c := range cases {
		if err := c.validate(i, seen); err != nil {
			return o, err
		}
	}
	return o, nil
}

// stepsOf is the number of progress steps of compare.
func stepsOf(o Options, cases []Case) int { return len(cases) * (1 + o.Samples) }

// compare is Compare on checked arguments.
func compare(o Options, cases []Case, progress *steps) ([]Result, error) {
	started := o.timer.now()
	target := o.sampleTime()
	results := make([]Result, len(cases))
	totals := make([]total, len(cases))
	for i, c := range cases {
		calls, err := o.calibrate(c, target)
		if err != nil {
			return nil, err
		}
		results[i] = Result{Name: c.Name, Work: c.Work, Threads: c.Threads, Started: started, Calls: calls}
		progress.step()
	}
	// Garbage of the set-up is collected now, not during a sample.
	runtime.GC()
	for range o.Samples {
		for i, c := range cases {
			r := &results[i]
			if r.Calls > 1 {
				c.Run()
			}
			used := o.timer.used()
			d := o.timer.run(r.Calls, c.Run)
			used = o.timer.used() - used
			if d <= 0 {
				return nil, noTime(c.Name, r.Calls, d)
			}
			r.Samples = append(r.Samples, d.Seconds()/float64(r.Calls))
			totals[i].add(d, used)
			progress.step()
		}
	}
	for i := range results {
		results[i].summarize()
		results[i].Busy = totals[i].busy()
		results[i].doubt(o, totals[i].shortest)
	}
	return results, nil
}

// total sums up the samples of one case.
type total struct {
	shortest, time, used time.Duration
}

func (t *total) add(d, used time.Duration) {
	if t.time == 0 || d < t.shortest {
		t.shortest = d
	}
	t.time += d
	t.used += used
}

func (t *total) busy() float64 {
	if t.used <= 0 {
		return 0
	}
	return float64(t.used) / float64(t.time)
}

// sampleTime is how long one sample shall last.
func (o Options) sampleTime() time.Duration {
	return max(o.MinTime, min(resolutionMargin*o.timer.resolution, maxFromResolution))
}

// calibrate calls c.Run until one sample lasts the target time, and returns the
// calls that this takes. These calls are the warm-up too. The first call meets
// cold caches and pages that were never touched: it counts only when it is so
// long that this cannot matter.
func (o Options) calibrate(c Case, target time.Duration) (int, error) {
	first := o.timer.run(1, c.Run)
	if c.Verify != nil {
		if err := c.Verify(); err != nil {
			return 0, fmt.Errorf("bench: %q is not timed, its result is wrong: %w", c.Name, err)
		}
	}
	if first >= slowFactor*target {
		return 1, nil
	}
	for calls := 1; ; {
		d := o.timer.run(calls, c.Run)
		if d >= target {
			// One disturbance can make a short time long: look twice.
			d = min(d, o.timer.run(calls, c.Run))
		}
		if d >= target {
			return calls, nil
		}
		if calls == o.timer.maxCalls {
			if d <= 0 {
				return 0, noTime(c.Name, calls, d)
			}
			return calls, nil
		}
		// Aim a fifth above the target, but trust a short time only so far.
		factor := 100.0
		if d > 0 {
			factor = min(factor, 1.2*float64(target)/float64(d))
		}
		calls = int(min(float64(o.timer.maxCalls), math.Ceil(factor*float64(calls))))
	}
}

// noTime is the error for calls that took a time d ≤ 0.
func noTime(name string, calls int, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("bench: %q: the clock went back by %v during %d calls: measure again", name, -d, calls)
	}
	return fmt.Errorf("bench: %q: %d calls took no time that the clock can see: give the function more to do", name, calls)
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
	if r.Max >= wideRange*r.Min {
		warn("the worst sample took %.1f times the best", r.Max/r.Min)
	}
	if r.Busy > 0 && r.Busy < leastBusy*float64(r.Threads) {
		warn("%.2f cores were at work on average for %s: other programs took the rest, or the threads waited", r.Busy, plural(r.Threads, "thread"))
	}
	if res := o.timer.resolution; shortest < resolutionMargin*res {
		warn("the shortest sample took %s and the clock moves in steps of %s: the time can be %.1f%% wrong",
			seconds(shortest.Seconds()), seconds(res.Seconds()), 100*float64(res)/float64(shortest))
	}
	if r.Min < callMargin*o.timer.call {
		warn("a call took %s, and %s of it is the call itself: do more work in each call", seconds(r.Min), seconds(o.timer.call))
	}
}
