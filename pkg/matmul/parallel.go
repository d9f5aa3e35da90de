package matmul

import (
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

// cut chooses the blocks for a number of threads: one where that is best, else
// some per thread, so that a thread that lost its core holds nobody up.
func (j *job[T]) cut(threads int) {
	mr, nr := j.e.kern.mr, j.e.kern.nr
	j.rows, j.cols = j.m, j.n
	m, n, k := float64(j.m), float64(j.n), float64(j.k)
	// Each element read or written costs about as much as 16 multiply-adds.
	work := max(2*m*n*k, 32*(m*k+k*n+m*n))
	switch {
	case threads == 1 || work <= j.e.serialFLOPs:
	case j.n == 1:
		j.rows = roundUp(max(dotRows, blocksOf(j.m, vecPerThread*threads)), dotRows)
	case j.m <= j.e.fewRows:
		// B comes from memory once: cut along its rows, into stretches that are
		// long enough for the hardware to follow.
		j.cols = roundUp(max(nr, blocksOf(j.n, fewPerThread*threads)), nr)
	default:
		// Halve the longer side, in tiles, until there are blocks enough. Blocks
		// stay square, since each reads (rows + cols)·k elements, and large,
		// since each packs its own part of B.
		const perThread, enough = 4, 512
		for {
			n := blocksOf(j.m, j.rows) * blocksOf(j.n, j.cols)
			if n >= perThread*threads || n >= threads && max(j.rows, j.cols) <= enough {
				break
			}
			if j.rows >= j.cols && j.rows > mr {
				j.rows = roundUp((j.rows+1)/2, mr)
			} else if j.cols > nr {
				j.cols = roundUp((j.cols+1)/2, nr)
			} else {
				break
			}
		}
	}
	j.across = blocksOf(j.n, j.cols)
	j.blocks = blocksOf(j.m, j.rows) * j.across
}

// Blocks per thread where memory holds the work back.
const (
	vecPerThread = 8
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
	}
	j.add, j.m, j.n, j.k = add, m, n, k
	j.a, j.lda, j.b, j.ldb, j.c, j.ldc = a, lda, b, ldb, c, ldc
	j.next.Store(0)
	j.cut(threads)
	threads = min(threads, j.blocks)
	j.grow(threads)
	j.running.Add(threads - 1)
	for _, t := range j.threads[1:threads] {
		go t.run()
	}
	j.take(&j.threads[0].ws)
	j.running.Wait()
	j.a, j.b, j.c = nil, nil, nil // the caller's memory is not ours to keep
	p.free.Put(j)
}
