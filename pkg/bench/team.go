package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A team is some goroutines, each with a thread of the system to itself, that
// start a piece of work at the same moment.
type team struct {
	work []chan func(i int)
	here atomic.Int64 // arrivals at the gates, ever growing
	done sync.WaitGroup
	from time.Time
	// When each began and ended, since from.
	begin, end []time.Duration
}

func newTeam(threads int) *team {
	t := &team{begin: make([]time.Duration, threads), end: make([]time.Duration, threads), from: time.Now()}
	for i := range threads {
		c := make(chan func(int))
		t.work = append(t.work, c)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			if threads > 1 {
				pin(i, threads)
			}
			for f := range c {
				t.meet(false)
				t.meet(true)
				t.begin[i] = time.Since(t.from)
				f(i)
				t.end[i] = time.Since(t.from)
				t.done.Done()
			}
		}()
	}
	return t
}

// meet returns when all have come. The first gate gathers threads that may
// still have to wake up, the second sends them off together: nobody sleeps
// there for long, as everybody has just been awake.
func (t *team) meet(spin bool) {
	n := int64(len(t.work))
	if n == 1 {
		return
	}
	goal := (t.here.Add(1)-1)/n*n + n
	for i := 1; t.here.Load() < goal; i++ {
		if !spin && i%2048 == 0 || i%(1<<17) == 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// run calls f(i) on every thread i and returns the seconds from the first begin
// to the last end.
func (t *team) run(f func(i int)) float64 {
	t.done.Add(len(t.work))
	for _, c := range t.work {
		c <- f
	}
	t.done.Wait()
	first, last := t.begin[0], t.end[0]
	for i := range t.begin {
		first, last = min(first, t.begin[i]), max(last, t.end[i])
	}
	return (last - first).Seconds()
}

// close ends the threads.
func (t *team) close() {
	for _, c := range t.work {
		close(c)
	}
}
