package matmul

import (
	"cmp"
	"fmt"
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
	return MulAll(x, m, []Product{{y, w}}, opts...)
}

// A Product is one of the products of [MulAll]: y = x·wᵀ.
type Product struct {
	Y []float32
	W Weights
}

// MulAll computes the products of the same m rows of activations with several
// matrices of weights, each as [Weights.Mul] does and with the same results: the
// threads are called once, and the activations rounded once. It returns an error,
// and leaves every y alone, in the cases of Mul; where two ys share memory, what
// they hold afterwards is undefined.
func MulAll(x []float32, m int, products []Product, opts ...Option) error {
	o, err := settle(opts)
	if err != nil {
		return err
	}
	for _, p := range products {
		if err := p.W.check(p.Y, x, m, p.W.rows, p.W.cols); err != nil {
			return err
		}
	}
	if o.beta != 0 {
		return fmt.Errorf("matmul: beta is %v: Mul with weights has no other than 0", o.beta)
	}
	k, err := weightKernelOf(o.isa)
	if err != nil || m == 0 {
		return err
	}
	j, _ := weightJobs.Get().(*weightJob)
	if j == nil {
		j = &weightJob{}
		j.run, j.packing = j.work, j.pack
	}
	for len(products) > 0 {
		n := 1 // those that can go together
		for n < len(products) && products[n].W.format == products[0].W.format && products[n].W.cols == products[0].W.cols {
			n++
		}
		j.k, j.gemm = k, nil
		least := k.tileLeast[products[0].W.format]
		j.tiled = o.int8 && least > 0 && m >= least
		if m >= panelRows && !(o.int8 && products[0].W.format.quantised()) {
			p, err := poolOf[float32](o.isa)
			if err != nil {
				return err
			}
			j.gemm = p.engine
		}
		j.multiply(products[:n], x, m, o)
		products = products[n:]
	}
	weightJobs.Put(j)
	return nil
}

// check refuses what a product cannot work on: x of m×nx elements and y of m×ny.
func (w Weights) check(y, x []float32, m, ny, nx int) error {
	if w.rows == 0 {
		return fmt.Errorf("matmul: the weights are empty: make them with NewWeights")
	}
	if err := notNegative("m", m); err != nil || m == 0 {
		return err
	}
	allX, okX := span(m, nx, nx)
	allY, okY := span(m, ny, ny)
	if !okX || len(x) < allX {
		return fmt.Errorf("matmul: x has %d elements: m = %d rows of %d are needed", len(x), m, nx)
	}
	if !okY || len(y) < allY {
		return fmt.Errorf("matmul: y has %d elements: m = %d rows of %d are needed", len(y), m, ny)
	}
	py, pw := uintptr(unsafe.Pointer(unsafe.SliceData(y))), uintptr(unsafe.Pointer(unsafe.SliceData(w.data)))
	return cmp.Or(
		notShared(!apart(y, allY, x, allX), "y", "x"),
		notShared(py < pw+uintptr(len(w.data)) && pw < py+uintptr(4*allY), "y", "the weights"))
}

// A weightJob is some products with the same activations and one format of
// weights, cut into parts of some rows of the weights.
type weightJob struct {
	k        *weightKernel
	products []Product
	w        Weights // the first: all have its format and columns
	x        []float32
	m        int
	int8     []byte // the activations in 8 bits, if they are to be
	buf      []float32
	rowBytes int // of int8
	group    int // blocks of it in quantPair bytes
	triples  []float32
	partRows int
	threads  int
	shares   []share

	// Where there are many activations and they are float32: the engine, the
	// activations in panels, and what each thread works with.
	gemm       *engine[float32]
	tiled      bool // they are in 8 bits, for the tile
	panels     []panel
	turned     []float32
	workspaces []panelWorkspace
	packing    func(part, thread int)
	run        func(part, thread int)
	spawned    spawned
}

var weightJobs sync.Pool

func (j *weightJob) multiply(products []Product, x []float32, m int, o Option) {
	j.products = append(j.products[:0], products...)
	j.w, j.x, j.m = products[0].W, x, m
	if o.int8 && j.w.format.quantised() && !j.tiled {
		j.quantize()
	}
	rows := 0
	for _, p := range products {
		rows += p.W.rows
	}
	threads := o.most()
	if 2*float64(m)*float64(rows)*float64(j.w.cols) < float64(o.serial(weightSerialFLOPs)) {
		threads = 1
	}
	threads = min(threads, blocksOf(rows*j.w.rowBytes, shareBytes))
	bytes := partBytes
	if _, step := j.stretch(); step < j.w.cols/QuantBlock {
		bytes *= 4 // for at each stretch the first rows come as a surprise
	}
	j.partRows = blocksOf(blocksOf(bytes, j.w.rowBytes), oneRows) * oneRows
	if j.gemm != nil || j.tiled {
		for len(j.workspaces) < o.most() {
			j.workspaces = append(j.workspaces, panelWorkspace{})
		}
		parts := 0
		if j.tiled {
			parts, j.partRows = j.layTiles(), j.tileGroup()
		} else {
			parts, j.partRows = j.layPanels(), j.groupRows()
		}
		o.do(&j.spawned, parts, threads, j.packing)
	}
	j.cut(threads)
	o.do(&j.spawned, threads, threads, j.run)
	clear(j.products) // the caller's memory is not ours to keep
	j.w, j.x, j.int8 = Weights{}, nil, nil
}

const (
	// weightSerialFLOPs is the work below which waking a second thread costs more
	// time than it saves.
	weightSerialFLOPs = 1e6
	// shareBytes of weights are too few for another thread.
	shareBytes = 8 << 10
	// partBytes is how many bytes of weights a thread takes at a time: they stay in
	// L2 while they meet the activations, stretch by stretch.
	partBytes = 32 << 10
	// oneRows is how many rows of weights the kernels for one row of activations
	// take at a time, at most.
	oneRows = 4
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
	j.group = 2
	if j.k.triples == nil || j.w.format != Q4_1 {
		return
	}
	pairs, size := j.int8, j.rowBytes
	j.group, j.rowBytes = 3, blocksOf(blocks, 3)*quantPair
	j.triples = room(j.triples, j.m*j.rowBytes/4)
	j.int8 = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(j.triples))), 4*len(j.triples))
	for i := range j.m {
		j.k.triples(blocks, &pairs[i*size], &j.int8[i*j.rowBytes])
	}
}

// A share is the parts that one thread takes in turn, so that it walks along
// memory; a thread that has done its own takes what is left of the others'.
type share struct {
	next, end atomic.Int64
	_         [lineBytes]byte
}

func (j *weightJob) parts(w Weights) int { return blocksOf(w.rows, j.partRows) }

func (j *weightJob) cut(threads int) {
	if len(j.shares) < threads {
		j.shares = make([]share, threads)
	}
	j.threads = threads
	parts := 0
	for _, p := range j.products {
		parts += j.parts(p.W)
	}
	for t := range threads {
		j.shares[t].next.Store(int64(parts * t / threads))
		j.shares[t].end.Store(int64(parts * (t + 1) / threads))
	}
}

func (j *weightJob) work(first, thread int) {
	for t := range j.threads {
		s := &j.shares[(first+t)%j.threads]
		end := s.end.Load()
		for part := s.next.Add(1) - 1; part < end; part = s.next.Add(1) - 1 {
			j.part(int(part), thread)
		}
	}
}

// part computes the results of some rows of one of the products.
func (j *weightJob) part(part, thread int) {
	i := 0
	for ; part >= j.parts(j.products[i].W); i++ {
		part -= j.parts(j.products[i].W)
	}
	p := j.products[i]
	row := part * j.partRows
	rows := min(j.partRows, p.W.rows-row)
	switch {
	case j.gemm != nil:
		j.multiplyPanels(&j.workspaces[thread], p, row, rows)
	case j.tiled:
		j.multiplyTiles(&j.workspaces[thread], p, row, rows)
	default:
		j.dots(p, row, rows)
	}
}

// stretch returns how many rows of activations go together at most, and along how
// many blocks of each, for them to stay in L1: whole groups of those of 8 bits, or
// all.
func (j *weightJob) stretch() (wide, step int) {
	wide, group, bytes := j.k.wide, 1, 4*QuantBlock
	if j.int8 != nil {
		wide, group, bytes = j.k.wideInt8, j.group, quantPair
	}
	groups := int(HostCaches().L1*3/4) / (min(wide, j.m) * bytes)
	return wide, part(j.w.cols/QuantBlock, max(1, groups)*group, group)
}

// dots computes the results of some rows of the weights with few activations.
func (j *weightJob) dots(p Product, first, rows int) {
	w, f := p.W, p.W.format
	blocks := w.cols / QuantBlock
	wide, step := j.stretch()
	for b := 0; b < blocks; b += step {
		n := min(step, blocks-b)
		data := &w.data[first*w.rowBytes+b*layouts[f].blockBytes()]
		for i := 0; i < j.m; {
			m := wide
			for m > j.m-i {
				m /= 2
			}
			y := &p.Y[i*w.rows+first]
			if j.int8 != nil {
				x := &j.int8[i*j.rowBytes+b/j.group*quantPair]
				j.k.dotInt8[f](n, data, w.rowBytes, rows, x, j.rowBytes, y, w.rows, m, b > 0)
			} else {
				j.k.dot[f](n, data, w.rowBytes, rows, &j.x[i*w.cols+b*QuantBlock], w.cols, y, w.rows, m, b > 0)
			}
			i += m
		}
	}
	if rest := w.cols % QuantBlock; rest > 0 {
		j.rest(p, first, rows, rest)
	}
}

// rest adds what the weights after the last block of each row contribute.
func (j *weightJob) rest(p Product, first, rows, rest int) {
	w := p.W
	done := w.cols - rest
	var buf [QuantBlock]float32
	for r := first; r < first+rows; r++ {
		tail := w.row(r)[done/QuantBlock*layouts[w.format].blockBytes():]
		decodeBlock(w.format, &buf, rest, tail)
		for i := range j.m {
			sum := float32(0)
			for n, v := range j.x[i*w.cols+done:][:rest] {
				sum += buf[n] * v
			}
			y := &p.Y[i*w.rows+r]
			if done > 0 {
				sum += *y
			}
			*y = sum
		}
	}
}
