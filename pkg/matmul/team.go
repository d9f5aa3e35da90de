package matmul

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A Team is a number of threads that stay awake between the products of one
// computation, so that a chain of short ones does not pay for waking them each
// time. A team that has had nothing to do for [TeamPatience] sleeps, and takes
// no processor time until the next product wakes it. Close it when the
// computation is over: nothing of it is left then.
//
// A team can be used by several goroutines at once: one of them gets its
// threads, the others work alone meanwhile, and so does a part that uses its own
// team. No more threads work at once than GOMAXPROCS, which follows a cgroup's
// quota, allows at the time.
type Team struct {
	threads int
	holder  sync.Mutex // who has the team

	start   sync.Once
	workers []worker
	running sync.WaitGroup
	closed  atomic.Bool

	f     func(part, thread int)
	n     int
	limit int // the last thread that may take parts

	panicked atomic.Pointer[any] // what a part panicked with

	_     [lineBytes]byte
	next  atomic.Int64 // the first part that nobody has taken
	_     [lineBytes]byte
	state atomic.Uint64 // the number of the job ·2³² + open ·2³¹ + workers in it
	_     [lineBytes]byte
}

// TeamPatience is how long a team without work stays awake.
const TeamPatience = 200 * time.Microsecond

const (
	teamOpen = 1 << 31
	teamJob  = 1 << 32
)

type worker struct {
	asleep atomic.Bool
	wake   chan struct{}
	_      [lineBytes]byte
}

// NewTeam returns a team of so many threads, the caller of [Team.Do] being one
// of them: at most [MaxThreads], and GOMAXPROCS where threads is below 1. Its
// other threads start with the first work.
func NewTeam(threads int) *Team {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Team{threads: min(threads, MaxThreads)}
}

// Threads returns how many threads the team has.
func (t *Team) Threads() int { return t.threads }

// Close ends the team's threads and waits until they have ended. A closed team
// does all work on the thread of its caller. Closing twice is harmless.
func (t *Team) Close() {
	t.holder.Lock()
	defer t.holder.Unlock()
	if t.closed.Swap(true) {
		return
	}
	t.state.Add(teamJob) // those awake look, and find it closed
	for i := range t.workers {
		t.rouse(&t.workers[i])
	}
	t.running.Wait()
}

// Do calls f(0, …) to f(n-1, …), each once, on the threads of the team, and
// returns when all have returned. thread is from 0 to Threads-1, and no two parts
// that run at once have the same. Where a part panics, parts that have not begun
// are left out, and Do panics with the same value once the others have returned;
// the team stays in order. A read of a mapped file that has become shorter is
// such a panic on the team's own threads, and on the caller's with
// [debug.SetPanicOnFault].
func (t *Team) Do(n int, f func(part, thread int)) {
	others := min(t.threads, n, runtime.GOMAXPROCS(0)) - 1
	if others < 1 || t.closed.Load() || !t.holder.TryLock() {
		for i := range n {
			f(i, 0)
		}
		return
	}
	defer t.holder.Unlock()
	if t.closed.Load() {
		others = 0
	} else {
		t.start.Do(t.begin)
	}
	t.f, t.n, t.limit = f, n, others
	t.next.Store(0)
	t.state.Store((t.state.Load()>>32+1)<<32 | teamOpen)
	for i := range others {
		t.rouse(&t.workers[i])
	}
	defer t.finish()
	t.take(0)
}

// finish lets nobody in any more, and waits for those who are.
func (t *Team) finish() {
	t.next.Store(int64(t.n))
	for s := t.state.Load(); !t.state.CompareAndSwap(s, s&^teamOpen); s = t.state.Load() {
	}
	for spins := 0; uint32(t.state.Load()) != 0; spins++ {
		if spins > 1<<10 {
			runtime.Gosched() // its thread may have lost its processor
		}
	}
	t.f = nil
	if p := t.panicked.Swap(nil); p != nil {
		panic(*p)
	}
}

// help takes parts on a thread other than the caller's.
func (t *Team) help(thread int) {
	defer func() {
		if p := recover(); p != nil {
			t.panicked.CompareAndSwap(nil, &p)
			t.next.Store(int64(t.n)) // no more parts
		}
	}()
	t.take(thread)
}

func (t *Team) take(thread int) {
	for {
		i := int(t.next.Add(1)) - 1
		if i >= t.n {
			return
		}
		t.f(i, thread)
	}
}

func (t *Team) begin() {
	t.workers = make([]worker, t.threads-1)
	for i := range t.workers {
		t.workers[i].wake = make(chan struct{}, 1)
		t.running.Add(1)
		go t.work(&t.workers[i], i+1)
	}
}

// rouse wakes a worker that sleeps.
func (t *Team) rouse(w *worker) {
	if w.asleep.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// work is the life of a worker.
func (t *Team) work(w *worker, thread int) {
	defer t.running.Done()
	debug.SetPanicOnFault(true) // of this goroutine alone
	seen := uint64(0)
	for {
		s := t.await(w, seen)
		seen = s >> 32
		if t.closed.Load() {
			return
		}
		for s>>32 == seen && s&teamOpen != 0 {
			if t.state.CompareAndSwap(s, s+1) {
				if thread <= t.limit {
					t.help(thread)
				}
				t.state.Add(^uint64(0))
				break
			}
			s = t.state.Load()
		}
	}
}

// await returns the state once its job is another than the one seen.
func (t *Team) await(w *worker, seen uint64) uint64 {
	for {
		var since time.Time
		for spins := 1; ; spins++ {
			if s := t.state.Load(); s>>32 != seen {
				return s
			}
			if spins%256 != 0 {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			} else if time.Since(since) > TeamPatience {
				break
			}
		}
		w.asleep.Store(true)
		if s := t.state.Load(); s>>32 != seen && w.asleep.CompareAndSwap(true, false) {
			return s
		}
		<-w.wake
	}
}
