package bench

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"memorywall/pkg/probe"
)

// A team is some goroutines, each with a thread of the system to itself, that
// start a piece of work at the same moment.
type team struct {
	work []chan job
	here atomic.Int64 // arrivals at the gates, ever growing
	done sync.WaitGroup
	from time.Time
}

// A job is a piece of work that is done some times, each time together.
type job struct {
	times int
	f     func(i, k int)
	// When thread i began and ended time k, since the team's from.
	begin, end [][]time.Duration
}

func newTeam(threads int) *team {
	t := &team{from: time.Now()}
	for i := range threads {
		c := make(chan job)
		t.work = append(t.work, c)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			if threads > 1 {
				pin(i, threads)
			}
			for j := range c {
				for k := range j.times {
					t.meet(false)
					t.meet(true)
					j.begin[i][k] = time.Since(t.from)
					j.f(i, k)
					j.end[i][k] = time.Since(t.from)
				}
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
		if !spin && i%4096 == 0 || i%(1<<17) == 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// run calls f(i, k) on every thread i, for each k below times, and returns for
// each k the seconds from the first begin to the last end.
func (t *team) run(times int, f func(i, k int)) []float64 {
	j := job{times: times, f: f}
	for range t.work {
		j.begin = append(j.begin, make([]time.Duration, times))
		j.end = append(j.end, make([]time.Duration, times))
	}
	t.done.Add(len(t.work))
	for _, c := range t.work {
		c <- j
	}
	t.done.Wait()
	seconds := make([]float64, times)
	for k := range seconds {
		first, last := j.begin[0][k], j.end[0][k]
		for i := range j.begin {
			first, last = min(first, j.begin[i][k]), max(last, j.end[i][k])
		}
		seconds[k] = (last - first).Seconds()
	}
	return seconds
}

// Together runs f(i, k) on each of so many threads i at the same moment, for
// each k below times, and returns for each k the seconds from the first begin
// to the last end. Each thread has a core to itself where the system lets it;
// none of them counts the time that another takes to wake up. With no thread, or
// nothing to do, there are no seconds.
func Together(threads, times int, f func(i, k int)) []float64 {
	if threads < 1 || times < 1 {
		return nil
	}
	t := newTeam(threads)
	defer t.close()
	return t.run(times, f)
}

// FastestLoad returns the loops of the instruction set that reads p fastest on
// one thread, of those that [probe.NewMemory] has. p is as for
// [probe.Memory.Load], and should be larger than the caches. The widest vectors
// are not always the fastest: a load of a whole cache line leaves nothing in the
// line for a second load, which some prefetchers wait for.
func FastestLoad(p []byte) (probe.Memory, error) {
	const turns = 4
	var all []probe.Memory
	for _, isa := range probe.MemoryISAs() {
		m, err := probe.NewMemory(isa)
		if err != nil {
			return probe.Memory{}, err
		}
		all = append(all, m)
	}
	fastest, least := all[0], math.Inf(1)
	for range turns {
		for _, m := range all[:max(1, min(2, len(all)-1))] { // the narrow ones and plain Go are slower
			var err error
			t := Together(1, 1, func(int, int) { err = m.Load(p, 1) })
			if err != nil {
				return probe.Memory{}, err
			}
			if t[0] < least {
				fastest, least = m, t[0]
			}
		}
	}
	return fastest, nil
}

// close ends the threads.
func (t *team) close() {
	for _, c := range t.work {
		close(c)
	}
}
