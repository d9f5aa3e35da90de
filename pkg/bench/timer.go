package bench

import (
	"sync"
	"time"
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
	var least time.Duration
	last, seen := now(), 0
	for range reads {
		t := now()
		d := t.Sub(last)
		if d <= 0 {
			continue
		}
		if least == 0 || d < least {
			least = d
		}
		last = t
		if seen++; seen == ticks {
			break
		}
	}
	return least
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
