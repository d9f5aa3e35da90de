package matmul

import (
	"math"
	"sync"
	"sync/atomic"
)

// A job is one multiply, cut into blocks of C that threads take in turn. Which
// thread computes a block changes nothing in it, so a result depends on the
// sizes and the number of threads alone.
type job[T Float] struct {
	e              *engine[T]
	add            bool
	m, n, k        int
	a, b, c        []T
	lda, ldb, ldc  int
	rows, cols     int // of a block
	across, blocks int // blocks beside each other, blocks in all
	next           atomic.Int64
	running        sync.WaitGroup
	threads        []*thread[T]
	nothing        func() // what start has a goroutine do beside
}

// A thread is one thread's part of a job: its packed copies, and the function
// that a goroutine runs, made once so that starting it allocates nothing.
type thread[T Float] struct {
	ws  workspace[T]
	run func()
}

func (j *job[T]) grow(threads int) {
	for len(j.threads) < threads {
		t := &thread[T]{}
		t.run = func() {
			j.take(&t.ws)
			j.running.Done()
		}
		j.threads = append(j.threads, t)
	}
}

// take computes blocks until none is left.
func (j *job[T]) take(ws *workspace[T]) {
	for {
		i := int(j.next.Add(1)) - 1
		if i >= j.blocks {
			return
		}
		r, s := i/j.across*j.rows, i%j.across*j.cols
		j.e.multiply(ws, j.add, min(j.rows, j.m-r), min(j.cols, j.n-s), j.k,
			j.a[r*j.lda:], j.lda, j.b[s:], j.ldb, j.c[r*j.ldc+s:], j.ldc)
	}
}

// start lets so many other threads take blocks. Each needs an idle thread of
// the system to fetch it from here. The goroutine that was started last would
// be fetched late: the scheduler holds it back for this thread, which may be
// about to wait, for some tens of microseconds. So one more is started that
// has nothing to do.
func (j *job[T]) start(others int) {
	if others < 1 {
		return
	}
	j.running.Add(others + 1)
	for _, t := range j.threads[1 : 1+others] {
		go t.run()
	}
	go j.nothing()
}

// cut chooses the blocks for a number of threads: one where that is best, else
// one for each, or some where memory sets the pace, so that a thread that lost
// its core holds nobody up.
func (j *job[T]) cut(threads int) {
	mr, nr := j.e.kern.mr, j.e.kern.nr
	j.rows, j.cols = j.m, j.n
	m, n, k := float64(j.m), float64(j.n), float64(j.k)
	// Each element read or written costs about as much as 16 multiply-adds.
	work := max(2*m*n*k, 32*(m*k+k*n+m*n))
	switch {
	case threads == 1 || work <= j.e.serialFLOPs:
	case j.n == 1:
		most := j.e.kern.dotRows
		j.rows = roundUp(max(most, blocksOf(j.m, vecPerThread*threads)), most)
	case j.m <= j.e.fewRows:
		// B comes from memory once: cut along its rows, into stretches that are
		// long enough for the hardware to follow.
		j.cols = roundUp(max(nr, blocksOf(j.n, fewPerThread*threads)), nr)
	default:
		// One block for each thread, since each packs its own part of B, in a
		// grid whose largest block has the least work.
		least := math.Inf(1)
		for down := 1; down <= threads; down++ {
			if threads%down != 0 {
				continue
			}
			rows := roundUp(blocksOf(j.m, down), mr)
			cols := roundUp(blocksOf(j.n, threads/down), nr)
			r, c := float64(min(rows, j.m)), float64(min(cols, j.n))
			if cost := r*c + 16*(r+c); cost < least { // in multiply-adds, over k
				least, j.rows, j.cols = cost, rows, cols
			}
		}
	}
	j.across = blocksOf(j.n, j.cols)
	j.blocks = blocksOf(j.m, j.rows) * j.across
}

// Blocks per thread where memory holds the work back.
const (
	vecPerThread = 32
	fewPerThread = 2
)

func blocksOf(n, size int) int { return (n-1)/size + 1 }

// A pool keeps the jobs of one engine for use again.
type pool[T Float] struct {
	engine *engine[T]
	free   sync.Pool
}

func (p *pool[T]) do(threads int, add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	j, _ := p.free.Get().(*job[T])
	if j == nil {
		j = &job[T]{e: p.engine}
		j.nothing = j.running.Done
	}
	j.add, j.m, j.n, j.k = add, m, n, k
	j.a, j.lda, j.b, j.ldb, j.c, j.ldc = a, lda, b, ldb, c, ldc
	j.next.Store(0)
	j.cut(threads)
	threads = min(threads, j.blocks)
	j.grow(threads)
	j.start(threads - 1)
	j.take(&j.threads[0].ws)
	j.running.Wait()
	j.a, j.b, j.c = nil, nil, nil // the caller's memory is not ours to keep
	p.free.Put(j)
}
