package matmul

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Every part is done once, whoever calls, and from within a part too; no two
// parts that run at once have one thread's number; nothing is left after Close.
func TestTeam(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	before := runtime.NumGoroutine()
	rounds := 300
	if raceEnabled || testing.Short() {
		rounds = 50
	}
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for _, threads := range []int{0, 1, 2, 4} {
			team := NewTeam(threads)
			var all sync.WaitGroup
			for g := range 3 {
				all.Add(1)
				go func() {
					defer all.Done()
					for round := range rounds {
						n := round % 7
						var done [7]atomic.Int32
						busy := make([]atomic.Bool, team.Threads())
						team.Do(n, func(i, thread int) {
							if busy[thread].Swap(true) {
								t.Errorf("thread %d does two parts at once", thread)
							}
							var inner atomic.Int32
							team.Do(3, func(int, int) { inner.Add(1) })
							if inner.Load() != 3 {
								t.Errorf("%d of 3 parts within a part", inner.Load())
							}
							done[i].Add(1)
							busy[thread].Store(false)
						})
						for i := range done {
							if want := int32(0); i < n && done[i].Load() != 1 || i >= n && done[i].Load() != want {
								t.Errorf("part %d of %d done %d times", i, n, done[i].Load())
							}
						}
						if g == 0 && round%20 == 19 {
							time.Sleep(2 * TeamPatience) // let it fall asleep
						}
					}
				}()
			}
			all.Wait()
			team.Close()
			team.Close()
			noMoreGoroutines(t, before)
			sum := 0
			team.Do(4, func(i, thread int) { sum += i + thread })
			if sum != 6 {
				t.Errorf("a closed team: %d, want 6", sum)
			}
		}
	}
}

// A part that panics, on whatever thread, makes Do panic with its value, and the
// team stays in order.
func TestTeamPanics(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		team := NewTeam(threads)
		for round := range 60 {
			func() {
				defer func() {
					if got := recover(); got != "part" {
						t.Errorf("%d threads: recovered %v", threads, got)
					}
				}()
				team.Do(3, func(i, thread int) {
					time.Sleep(10 * time.Microsecond) // so that others come
					if i == round%3 {
						panic("part")
					}
				})
				t.Error("no panic")
			}()
			var count atomic.Int32
			team.Do(5, func(int, int) { count.Add(1) })
			if count.Load() != 5 {
				t.Fatalf("%d of 5 parts after a panic", count.Load())
			}
		}
		team.Close()
	}
}
