package matmul

import (
	"fmt"
	"math"
	"runtime"
	"sync"
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
	j, _ := weightJobs.Get().(*weightJob)
	if j == nil {
		j = &weightJob{}
		j.run = j.part
	}
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
	w        Weights
	y, x     []float32
	m        int
	o        Option
	partRows int
	q        quantized
	scratch  [][]float32 // of each thread: a row of weights
	run      func(part, thread int)
	spawned  spawned
}

var weightJobs sync.Pool

func (j *weightJob) multiply(w Weights, y, x []float32, m int, o Option) {
	j.w, j.y, j.x, j.m, j.o = w, y, x, m, o
	quant := layouts[w.format].weights == QuantBlock && o.int8
	if quant {
		j.q.set(x[:m*w.cols])
	}
	j.o.int8 = quant
	threads := o.threads
	switch {
	case o.team != nil:
		threads = o.team.Threads()
	case 2*float64(m)*float64(w.rows)*float64(w.cols) < weightSerialFLOPs:
		threads = 1
	case threads == 0:
		threads = min(runtime.GOMAXPROCS(0), MaxThreads)
	}
	for len(j.scratch) < threads {
		j.scratch = append(j.scratch, nil)
	}
	j.partRows = roundUp(blocksOf(w.rows, 8*threads), 8)
	parts := blocksOf(w.rows, j.partRows)
	if o.team != nil {
		o.team.Do(parts, j.run)
	} else {
		j.spawned.do(parts, threads, j.run)
	}
	j.w, j.y, j.x, j.o = Weights{}, nil, nil, Option{} // the caller's memory is not ours to keep
}

// weightSerialFLOPs is the work below which waking a second thread costs more
// time than it saves.
const weightSerialFLOPs = 1e6

func (j *weightJob) part(part, thread int) {
	first := part * j.partRows
	last := min(first+j.partRows, j.w.rows)
	if j.o.int8 {
		for r := first; r < last; r++ {
			for i := range j.m {
				j.y[i*j.w.rows+r] = dotQuantGo(j.w.format, j.w.row(r), j.q.row(i, j.w.cols))
			}
		}
		return
	}
	buf := room(j.scratch[thread], j.w.cols)
	j.scratch[thread] = buf
	for r := first; r < last; r++ {
		layouts[j.w.format].decode(buf, j.w.row(r))
		for i := range j.m {
			dotGo(j.w.cols, &buf[0], j.w.cols, &j.x[i*j.w.cols], &j.y[i*j.w.rows+r], 1, 1)
		}
	}
}

// quantized holds activations as Int8Activations describes: x ≈ scale·q in each
// block, and the sum of the q of each.
type quantized struct {
	q     []int8
	scale []float32
	sum   []int32
}

func (z *quantized) set(x []float32) {
	blocks := len(x) / QuantBlock
	if cap(z.q) < len(x) {
		z.q, z.scale, z.sum = make([]int8, len(x)), make([]float32, blocks), make([]int32, blocks)
	}
	z.q, z.scale, z.sum = z.q[:len(x)], z.scale[:blocks], z.sum[:blocks]
	quantizeGo(x, z.q, z.scale, z.sum)
}

// row returns the part that holds row i of rows of cols elements.
func (z *quantized) row(i, cols int) quantized {
	b := cols / QuantBlock
	return quantized{z.q[i*cols:][:cols], z.scale[i*b:][:b], z.sum[i*b:][:b]}
}

func quantizeGo(x []float32, q []int8, scale []float32, sum []int32) {
	for b := range scale {
		xs, qs := x[b*QuantBlock:][:QuantBlock], q[b*QuantBlock:][:QuantBlock]
		most, finite := float32(0), true
		for _, v := range xs {
			finite = finite && v-v == 0
			most = max(most, float32(math.Abs(float64(v))))
		}
		scale[b], sum[b] = most/127, 0
		switch {
		case !finite:
			scale[b] = float32(math.NaN())
			clear(qs)
			continue
		case scale[b] < 0x1p-126: // subnormal
			scale[b] = 0
			clear(qs)
			continue
		}
		for i, v := range xs {
			qs[i] = int8(math.RoundToEven(float64(v / scale[b])))
			sum[b] += int32(qs[i])
		}
	}
}

// dotQuantGo is the product of a row of quantised weights and activations of
// 8 bits: within a block in integers, over the blocks in float32.
func dotQuantGo(f WeightFormat, w []byte, x quantized) float32 {
	var total float32
	size := layouts[f].bytes
	for b, scale := range x.scale {
		block, q := w[b*size:][:size], x.q[b*QuantBlock:][:QuantBlock]
		dot := int32(0)
		switch f {
		case Q8_0:
			for i, v := range q {
				dot += int32(int8(block[2+i])) * int32(v)
			}
		case Q4_0:
			for i, v := range block[2:18] {
				dot += (int32(v&15)-8)*int32(q[i]) + (int32(v>>4)-8)*int32(q[i+16])
			}
		case Q4_1:
			for i, v := range block[4:20] {
				dot += int32(v&15)*int32(q[i]) + int32(v>>4)*int32(q[i+16])
			}
			total += float16(block[2:]) * scale * float32(x.sum[b])
		}
		total += float16(block) * scale * float32(dot)
	}
	return total
}
