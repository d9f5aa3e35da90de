package bench

import (
	"sync"
	"time"
)

// A timer is a clock with what is known about its use: its resolution, and
// what the loop round the timed calls costs by itself.
type timer struct {
	now func() time.Time
	// resolution is the smallest step between two readings that differ. It
	// includes the cost of a reading. 0 means that no step was seen.
	resolution time.Duration
	// call is the time of one call of an empty function in the timed loop, in
	// seconds.
	call float64
}

// newTimer measures the clock now.
func newTimer(now func() time.Time) *timer {
	t := &timer{now: now}
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

var machineTimer = sync.OnceValue(func() *timer { return newTimer(time.Now) })

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
