package matmul

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Mul computes y = x·wᵀ: y of m×Rows, x of m×Cols, both row-major without gaps,
//
//	y[i*Rows+r] = Σ x[i*Cols+j] · w[r, j]
//
// with the weights of [Weights.Row] and sums in float32, the order of which does
// not depend on the number of threads. It returns an error, and leaves y alone,
// where m is negative, a slice is too short, or y shares memory with x or with
// the weights. It allocates nothing once it has worked on the sizes, and can be
// called by several goroutines at once.
func (w Weights) Mul(y, x []float32, m int, opts ...Option) error {
	o, err := settle(opts)
	if err != nil {
		return err
	}
	if err := w.check(y, x, m); err != nil || m == 0 {
		return err
	}
	k, err := weightKernelOf(o.isa)
	if err != nil {
		return err
	}
	j, _ := weightJobs.Get().(*weightJob)
	if j == nil {
		j = &weightJob{}
		j.run = j.work
	}
	j.k = k
	j.multiply(w, y, x, m, o)
	weightJobs.Put(j)
	return nil
}

func (w Weights) check(y, x []float32, m int) error {
	if w.rows == 0 {
		return fmt.Errorf("matmul: the weights are empty: make them with NewWeights")
	}
	if m < 0 {
		return negative("m", m)
	}
	if m == 0 {
		return nil
	}
	nx, okX := span(m, w.cols, w.cols)
	ny, okY := span(m, w.rows, w.rows)
	if !okX || len(x) < nx {
		return fmt.Errorf("matmul: x has %d elements: m = %d rows of %d are needed", len(x), m, w.cols)
	}
	if !okY || len(y) < ny {
		return fmt.Errorf("matmul: y has %d elements: m = %d rows of %d are needed", len(y), m, w.rows)
	}
	if !apart(y, ny, x, nx) {
		return fmt.Errorf("matmul: y shares memory with x: the result must lie apart from the inputs")
	}
	py, pw := uintptr(unsafe.Pointer(unsafe.SliceData(y))), uintptr(unsafe.Pointer(unsafe.SliceData(w.data)))
	if py < pw+uintptr(len(w.data)) && pw < py+uintptr(4*ny) {
		return fmt.Errorf("matmul: y shares memory with the weights: the result must lie apart from the inputs")
	}
	return nil
}

// A weightJob is one product, cut into parts of some rows of the weights.
type weightJob struct {
	k        *weightKernel
	w        Weights
	y, x     []float32
	m        int
	int8     []byte // the activations in 8 bits, if they are to be
	buf      []float32
	rowBytes int // of int8
	partRows int
	threads  int
	shares   []share
	run      func(part, thread int)
	spawned  spawned
}

var weightJobs sync.Pool

func (j *weightJob) multiply(w Weights, y, x []float32, m int, o Option) {
	j.w, j.y, j.x, j.m = w, y, x, m
	if o.int8 && layouts[w.format].weights == QuantBlock {
		j.quantize()
	}
	threads := o.threads
	switch {
	case o.team != nil:
		threads = o.team.Threads()
	case 2*float64(m)*float64(w.rows)*float64(w.cols) < weightSerialFLOPs:
		threads = 1
	case threads == 0:
		threads = min(runtime.GOMAXPROCS(0), MaxThreads)
	}
	threads = min(threads, blocksOf(len(w.data), partBytes))
	j.partRows = w.rows
	if threads > 1 {
		j.partRows = blocksOf(partBytes, w.rowBytes)
	}
	j.cut(threads)
	if o.team != nil {
		o.team.Do(threads, j.run)
	} else {
		j.spawned.do(threads, threads, j.run)
	}
	j.w, j.y, j.x, j.int8 = Weights{}, nil, nil, nil // the caller's memory is not ours to keep
}

const (
	// weightSerialFLOPs is the work below which waking a second thread costs more
	// time than it saves.
	weightSerialFLOPs = 1e6
	// partBytes is how many bytes of weights a thread takes at a time.
	partBytes = 8192
)

// quantize rounds the activations to 8 bits.
func (j *weightJob) quantize() {
	blocks := j.w.cols / QuantBlock
	j.rowBytes = blocksOf(blocks, 2) * quantPair
	j.buf = room(j.buf, j.m*j.rowBytes/4)
	j.int8 = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(j.buf))), 4*len(j.buf))
	for i := range j.m {
		row := j.int8[i*j.rowBytes:][:j.rowBytes]
		if blocks%2 == 1 {
			clear(row[len(row)-quantPair:])
		}
		j.k.quantize(blocks, &j.x[i*j.w.cols], &row[0], j.w.format.bias())
	}
}

// A share is the parts that one thread takes in turn, so that it walks along
// memory; a thread that has done its own takes what is left of the others'.
type share struct {
	next, end atomic.Int64 // rows
	_         [lineBytes]byte
}

func (j *weightJob) cut(threads int) {
	if len(j.shares) < threads {
		j.shares = make([]share, threads)
	}
	j.threads = threads
	for t := range threads {
		j.shares[t].next.Store(int64(j.w.rows * t / threads))
		j.shares[t].end.Store(int64(j.w.rows * (t + 1) / threads))
	}
}

func (j *weightJob) work(first, _ int) {
	for t := range j.threads {
		s := &j.shares[(first+t)%j.threads]
		end := int(s.end.Load())
		for {
			row := int(s.next.Add(int64(j.partRows))) - j.partRows
			if row >= end {
				break
			}
			j.part(row, min(j.partRows, end-row))
		}
	}
}

// part computes the results of some rows of the weights.
func (j *weightJob) part(first, rows int) {
	w, f := j.w, j.w.format
	blocks := w.cols / QuantBlock
	wide := j.k.wide
	if j.int8 != nil {
		wide = j.k.wideInt8
	}
	for i := 0; i < j.m; {
		m := wide
		for m > j.m-i {
			m /= 2
		}
		y := &j.y[i*w.rows+first]
		switch {
		case j.int8 != nil:
			j.k.dotInt8[f](blocks, &w.data[first*w.rowBytes], w.rowBytes, rows, &j.int8[i*j.rowBytes], j.rowBytes, y, w.rows, m)
		case blocks > 0:
			j.k.dot[f](blocks, &w.data[first*w.rowBytes], w.rowBytes, rows, &j.x[i*w.cols], w.cols, y, w.rows, m)
		}
		i += m
	}
	if rest := w.cols % QuantBlock; rest > 0 {
		j.rest(first, rows, rest)
	}
}

// rest adds what the weights after the last block of each row contribute.
func (j *weightJob) rest(first, rows, rest int) {
	w := j.w
	done := w.cols - rest
	var buf [QuantBlock]float32
	for r := first; r < first+rows; r++ {
		tail := w.row(r)[done/QuantBlock*layouts[w.format].blockBytes():]
		layouts[w.format].decode(buf[:rest], tail)
		for i := range j.m {
			sum := float32(0)
			for n, v := range j.x[i*w.cols+done:][:rest] {
				sum += buf[n] * v
			}
			y := &j.y[i*w.rows+r]
			if done > 0 {
				sum += *y
			}
			*y = sum
		}
	}
}
