package matmul

import (
	"math"
	"sync"
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
	threads        []workspace[T]
	run            func(block, thread int) // compute, made once
	spawned        spawned
}

// compute computes a block on a thread.
func (j *job[T]) compute(block, thread int) {
	r, s := block/j.across*j.rows, block%j.across*j.cols
	j.e.multiply(&j.threads[thread], j.add, min(j.rows, j.m-r), min(j.cols, j.n-s), j.k,
		j.a[r*j.lda:], j.lda, j.b[s:], j.ldb, j.c[r*j.ldc+s:], j.ldc)
}

// cut chooses the blocks for a number of threads: one where that is best (for
// work up to serial), else
// one for each, or some where memory sets the pace, so that a thread that lost
// its core holds nobody up.
func (j *job[T]) cut(threads int, serial float64) {
	mr, nr := j.e.kern.mr, j.e.kern.nr
	j.rows, j.cols = j.m, j.n
	m, n, k := float64(j.m), float64(j.n), float64(j.k)
	// Each element read or written costs about as much as 16 multiply-adds.
	work := max(2*m*n*k, 32*(m*k+k*n+m*n))
	switch {
	case threads == 1 || work <= serial:
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

func (p *pool[T]) do(o *Option, add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	j, _ := p.free.Get().(*job[T])
	if j == nil {
		j = &job[T]{e: p.engine}
		j.run = j.compute
	}
	j.add, j.m, j.n, j.k = add, m, n, k
	j.a, j.lda, j.b, j.ldb, j.c, j.ldc = a, lda, b, ldb, c, ldc
	threads := o.most()
	j.cut(threads, float64(o.serial(p.engine.serialFLOPs())))
	threads = min(threads, j.blocks)
	for len(j.threads) < threads {
		j.threads = append(j.threads, workspace[T]{})
	}
	o.do(&j.spawned, j.blocks, threads, j.run)
	j.a, j.b, j.c = nil, nil, nil // the caller's memory is not ours to keep
	p.free.Put(j)
}
