package matmul

import "unsafe"

// An engine multiplies with one kernel and one blocking, on one thread.
type engine[T Float] struct {
	kern *kernel[T]
	blk  Blocking

	// directElems is how many elements of A's panel and B together may be for
	// B to be read where it lies: it stays in L2 then, packed or not.
	directElems int

	// serialFLOPs is the work below which starting a second thread costs more
	// time than it saves.
	serialFLOPs float64
}

func newEngine[T Float](k *kernel[T], c Caches) *engine[T] {
	size := int64(unsafe.Sizeof(T(0)))
	blk, err := NewBlocking(k.mr, k.nr, size, c)
	if err != nil {
		panic(err) // the caches come from hostCaches, which gives none below 0
	}
	return &engine[T]{kern: k, blk: blk, directElems: int(max(c.L1, c.L2) / 2 / size), serialFLOPs: 6e6}
}

// A workspace holds one thread's packed copies. It grows to what is needed and
// is used again.
type workspace[T Float] struct {
	a []T // a panel of A: MR×KC
	b []T // a block of B: KC×NC
}

const lineBytes = 64 // of a cache line, on every CPU that has a kernel here

// room returns buf, or a larger one that starts at a cache line, with n elements.
func room[T Float](buf []T, n int) []T {
	if cap(buf) >= n {
		return buf[:n]
	}
	size := unsafe.Sizeof(T(0))
	buf = make([]T, n+lineBytes/int(size))
	if off := uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % lineBytes; off != 0 {
		buf = buf[(lineBytes-off)/size:]
	}
	return buf[:n]
}

// multiply computes C = A·B, or C += A·B with add, for sizes of 1 or more.
func (e *engine[T]) multiply(ws *workspace[T], add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if m <= e.kern.mr || k*(n+e.kern.mr) <= e.directElems {
		e.direct(add, m, n, k, a, lda, b, ldb, c, ldc)
		return
	}
	e.packed(ws, add, m, n, k, a, lda, b, ldb, c, ldc)
}

// direct runs the microkernel over A and B where they lie.
func (e *engine[T]) direct(add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	mr, nr, tile := e.kern.mr, e.kern.nr, e.kern.tile
	kc := part(k, maxKC, 1)
	for pc := 0; pc < k; pc += kc {
		kc := min(kc, k-pc)
		for ir := 0; ir < m; {
			rows := tileRows(m-ir, mr)
			ap := &a[ir*lda+pc]
			for jr := 0; jr < n; jr += nr {
				tile(kc, ap, lda, &b[pc*ldb+jr], ldb, &c[ir*ldc+jr], ldc, rows, min(nr, n-jr), add || pc > 0, ap, ap, 0)
			}
			ir += rows
		}
	}
}

// packed is the five loops round the microkernel:
//
//	jc over blocks of NC columns of B and C
//	  ic over blocks of MC rows of A and C: the block of C stays in L3
//	    pc over blocks of KC of the depth: pack the block of B, it stays in L2
//	      ir over panels of MR rows: pack the panel of A, it stays in L1
//	        jr over panels of NR columns: the microkernel, C in registers
//
// This is the order jc pc ic jr ir of column-major libraries with the parts of
// A and B exchanged: rows of C are what is contiguous here.
func (e *engine[T]) packed(ws *workspace[T], add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	mr, nr, tile := e.kern.mr, e.kern.nr, e.kern.tile
	kcMax := part(k, e.blk.KC, 4)
	ncMax := part(n, e.blk.NC, nr)
	mcMax := part(m, e.blk.MC, mr)
	ws.a = room(ws.a, mr*kcMax)
	ws.b = room(ws.b, kcMax*roundUp(ncMax, nr))
	for jc := 0; jc < n; jc += ncMax {
		nc := min(ncMax, n-jc)
		for ic := 0; ic < m; ic += mcMax {
			mc := min(mcMax, m-ic)
			for pc := 0; pc < k; pc += kcMax {
				kc := min(kcMax, k-pc)
				packB(kc, nc, nr, b[pc*ldb+jc:], ldb, ws.b)
				soon := e.nextBlock(b[jc:], ldb, nc, k, pc, kc)
				for ir := 0; ir < mc; {
					rows := tileRows(mc-ir, mr)
					ap := a[(ic+ir)*lda+pc:]
					packA(rows, kc, ap, lda, ws.a)
					for jr, t := 0, 0; jr < nc; jr, t = jr+nr, t+1 {
						// Row t of the next panel of A, as far as there is one.
						soonA := &ws.a[0]
						if t < min(mr, mc-ir-rows) {
							soonA = &ap[(rows+t)*lda]
						}
						tile(kc, &ws.a[0], kc, &ws.b[jr*kc], nr, &c[(ic+ir)*ldc+jc+jr], ldc,
							rows, min(nr, nc-jr), add || pc > 0, soonA, soon.next(), ldb)
					}
					ir += rows
				}
			}
		}
	}
}

// A walk goes over the cache lines of the next block of B, some rows of one
// line at a time: what the microkernel asks for early.
type walk[T Float] struct {
	b          []T
	ldb        int
	rows, cols int // of the block; 0 where there is none
	step, line int // rows that one tile asks for, elements of a line
	row, col   int
}

// nextBlock returns the walk over the block of B below the one at depth pc.
func (e *engine[T]) nextBlock(b []T, ldb, nc, k, pc, kc int) walk[T] {
	w := walk[T]{b: b, ldb: ldb, step: max(1, kc/4), line: lineBytes / int(unsafe.Sizeof(T(0)))}
	if below := pc + kc; below < k {
		w.b, w.rows, w.cols = b[below*ldb:], min(kc, k-below), nc
	}
	return w
}

// next returns the line in the first of the rows to ask for now.
func (w *walk[T]) next() *T {
	if w.col >= w.cols {
		return &w.b[0]
	}
	at := &w.b[w.row*w.ldb+w.col]
	if w.row += w.step; w.row >= w.rows {
		w.row, w.col = 0, w.col+w.line
	}
	return at
}

// packA copies a panel of m rows of A, one after another without gaps. The
// microkernel reads single elements of A, so the order along a row can stay.
func packA[T Float](m, k int, a []T, lda int, dst []T) {
	for i := range m {
		copy(dst[i*k:][:k], a[i*lda:][:k])
	}
}

// packB copies a k×n block of B into panels of nr columns, one after another:
// row p of panel j is dst[j*k*nr+p*nr:][:nr]. The last panel is filled up with
// zeros.
func packB[T Float](k, n, nr int, b []T, ldb int, dst []T) {
	for j := 0; j < n; j += nr {
		cols := min(nr, n-j)
		panel := dst[j*k:][:k*nr]
		if cols < nr {
			clear(panel)
		}
		for p := range k {
			copy(panel[p*nr:][:cols], b[p*ldb+j:][:cols])
		}
	}
}
