package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Crew is some goroutines, each with a thread of the system to itself, and a core
// where the system lets it, that start a piece of work at the same moment.
type Crew struct {
	work []chan job
	here atomic.Int64 // arrivals at the gates, ever growing
	done sync.WaitGroup
	from time.Time
}

// A job is a piece of work, and when each thread began and ended it, since the
// crew's from.
type job struct {
	f          func(i int)
	begin, end []time.Duration
}

// NewCrew starts so many threads, which must be at least 1. Close ends them.
func NewCrew(threads int) *Crew {
	t := &Crew{from: time.Now()}
	for i := range threads {
		c := make(chan job)
		t.work = append(t.work, c)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			if threads > 1 {
				pin(i, threads)
			}
			for j := range c {
				t.meet(false)
				t.meet(true)
				j.begin[i] = time.Since(t.from)
				j.f(i)
				j.end[i] = time.Since(t.from)
				t.done.Done()
			}
		}()
	}
	return t
}

// meet returns when all have come. The first gate gathers threads that may
// still have to wake up, the second sends them off together: nobody sleeps
// there for long, as everybody has just been awake.
func (t *Crew) meet(spin bool) {
	n := int64(len(t.work))
	if n == 1 {
		return
	}
	goal := (t.here.Add(1)-1)/n*n + n
	for i := 1; t.here.Load() < goal; i++ {
		if !spin && i%4096 == 0 || i%(1<<17) == 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Run calls f(i) on every thread i and returns the time from the first begin to
// the last end. Nobody counts the time that another takes to wake up, as whoever
// times the call from outside would: multiply-adds on two cores, in samples of 20 ms,
// came to 537 GFLOP/s by this time and to 199 by that of the caller.
func (t *Crew) Run(f func(i int)) time.Duration {
	j := job{f, make([]time.Duration, len(t.work)), make([]time.Duration, len(t.work))}
	t.done.Add(len(t.work))
	for _, c := range t.work {
		c <- j
	}
	t.done.Wait()
	first, last := j.begin[0], j.end[0]
	for i := range j.begin {
		first, last = min(first, j.begin[i]), max(last, j.end[i])
	}
	return last - first
}

// Threads returns how many threads there are.
func (t *Crew) Threads() int { return len(t.work) }

// Crews are crews by their number of threads, each started when it is first asked for.
type Crews map[int]*Crew

// Of returns the crew of so many threads, at least 1.
func (c *Crews) Of(threads int) *Crew {
	if *c == nil {
		*c = Crews{}
	}
	if (*c)[threads] == nil {
		(*c)[threads] = NewCrew(threads)
	}
	return (*c)[threads]
}

// Close ends the threads of all.
func (c Crews) Close() {
	for _, crew := range c {
		crew.Close()
	}
}

// Close ends the threads.
func (t *Crew) Close() {
	for _, c := range t.work {
		close(c)
	}
}
