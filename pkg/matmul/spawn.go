package matmul

import (
	"sync"
	"sync/atomic"
)

// spawned runs the parts of one job on goroutines of its own, which end with it.
type spawned struct {
	next    atomic.Int64
	n       int
	f       func(part, thread int)
	running sync.WaitGroup
	threads []func() // made once, so that starting one allocates nothing
	nothing func()
}

// do is [Team.Do] on so many threads.
func (s *spawned) do(n, threads int, f func(part, thread int)) {
	s.n, s.f = n, f
	s.next.Store(0)
	others := min(threads, n) - 1
	if others > 0 {
		// Each needs an idle thread of the system to fetch it from here. The
		// goroutine that was started last would be fetched late: the scheduler holds
		// it back for this thread, which may be about to wait, for some tens of
		// microseconds. So one more is started that has nothing to do.
		for t := len(s.threads) + 1; t <= others; t++ {
			s.threads = append(s.threads, func() {
				s.take(t)
				s.running.Done()
			})
		}
		if s.nothing == nil {
			s.nothing = s.running.Done
		}
		s.running.Add(others + 1)
		for _, run := range s.threads[:others] {
			go run()
		}
		go s.nothing()
	}
	s.take(0)
	s.running.Wait()
	s.f = nil
}

func (s *spawned) take(thread int) {
	for {
		i := int(s.next.Add(1)) - 1
		if i >= s.n {
			return
		}
		s.f(i, thread)
	}
}
