package matmul

import "unsafe"

// An engine multiplies with one kernel and one blocking, on one thread.
type engine[T Float] struct {
	kern *kernel[T]
	blk  Blocking
	thin Blocking // where A has no more than thinRows rows

	// directElems is how many elements of A's panel and B together may be for
	// B to be read where it lies: it stays in L2 then, packed or not.
	directElems int

	// fewRows is how many rows A may have for B to be read once from memory and
	// never be copied as a block: each element of B does so little work there
	// that copying it would show.
	fewRows int

	tuning Tuning

	line int // elements of a cache line

	// fewElems is how many sums of C may be kept while B streams past: an eighth
	// of L2, so that they stay there.
	fewElems int
}

func newEngine[T Float](k *kernel[T], c Caches) *engine[T] {
	size := int64(unsafe.Sizeof(T(0)))
	blk, err := NewBlocking(k.mr, k.nr, size, c)
	if err != nil {
		panic(err) // the caches come from hostCaches, which gives none below 0
	}
	return &engine[T]{
		kern:        k,
		blk:         blk,
		thin:        blk.shallow(size, c),
		directElems: int(max(c.L1, c.L2) / 2 / size),
		fewRows:     64,
		tuning:      DefaultTuning(),
		line:        lineBytes / int(size),
		fewElems:    int(max(c.L1, c.L2) / 8 / size),
	}
}

// serialFLOPs is the work below which starting a second thread costs more time than it
// saves. A row of the tile is what a core adds to in one cycle.
func (e *engine[T]) serialFLOPs() int {
	const cycles = 3000 // in a microsecond
	return e.tuning.Serial * cycles * 2 * e.kern.nr
}

// A workspace holds one thread's packed copies. It grows to what is needed and
// is used again.
type workspace[T Float] struct {
	a []T // a panel of A: MR×KC
	b []T // a block of B: KC×NC
	c []T // sums of the few rows of C
}

const (
	lineBytes = 64   // of a cache line, on every CPU that has a kernel here
	pageBytes = 4096 // of the smallest page
)

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

// isSmall reports whether B stays in L2 as it lies: where one thread is best too,
// nothing needs to be kept from call to call.
func (e *engine[T]) isSmall(m, n, k int) bool {
	return n > 1 && max(m, n, k) <= maxSmall && k*(n+e.kern.mr) <= e.directElems
}

// maxSmall keeps products of two sizes within an int, and reads and writes few.
const maxSmall = 256

// fits reports whether x·y ≤ limit, for any x and y of 1 or more.
func fits(x, y, limit int) bool { return x <= limit/y }

// multiply computes C = A·B, or C += A·B with add, for sizes of 1 or more.
func (e *engine[T]) multiply(ws *workspace[T], add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	switch {
	case n == 1:
		e.matrixVector(ws, add, m, k, a, lda, b, ldb, c, ldc)
	case fits(k, n+e.kern.mr, e.directElems):
		e.direct(maxKC, add, m, n, k, a, lda, b, ldb, c, ldc)
	case m <= e.tuning.Rows && e.kern.rows != nil:
		e.rows(add, m, n, k, a, lda, b, ldb, c, ldc)
	case m <= e.fewRows:
		e.few(ws, add, m, n, k, a, lda, b, ldb, c, ldc)
	default:
		e.packed(ws, add, m, n, k, a, lda, b, ldb, c, ldc)
	}
}

// stretch is how many bytes of each row of B to work on at a time, where more
// than two tiles of C are as high as A: a few pages, so that the rows below can be
// on their way meanwhile.
const stretch = 8192

// rows multiplies an A of very few rows: along some rows of B at a time, the sums
// kept in C.
func (e *engine[T]) rows(add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	whole := n - n%e.kern.lanes
	step := n
	if m > 2 {
		step = stretch / lineBytes * e.line // so that the sums stay in L1, and B in a cache for the next rows of A
	}
	for jc := 0; jc < n; jc += step {
		nc := min(step, n-jc)
		wide := min(nc, whole-jc) // in whole vectors
		for i, r := 0, 0; i < m; i += r {
			r = min(4, m-i)
			for p := 0; p < k; {
				depth := min(e.kern.depths[r], e.tuning.Depth)
				for depth > k-p {
					depth /= 2
				}
				at, bt, ct := a[i*lda+p:], b[p*ldb+jc:], c[i*ldc+jc:]
				if wide > 0 {
					e.kern.rows(wide, &at[0], lda, &bt[0], ldb, &ct[0], ldc, r, depth, add || p > 0)
				}
				if rest := max(0, wide); rest < nc {
					rowsGo(nc-rest, at, lda, bt[rest:], ldb, ct[rest:], ldc, r, depth, add || p > 0)
				}
				p += depth
			}
		}
	}
}

// few multiplies an A of few rows and a B that is too large for the caches:
//
//	jc over stretches of the rows of B
//	  pc over some rows of B: pack the columns of A beside them
//	    jr over panels of NR columns, where they lie
//	      ir over tiles of C
//
// The sums are kept packed until the end, so that the tiles of C stay in the
// cache however far apart the rows of C are.
func (e *engine[T]) few(ws *workspace[T], add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	mr, few, nr, tile := e.kern.mr, e.kern.few, e.kern.nr, e.kern.tile
	depth, ncMax, flat := e.tuning.Streams, e.fewElems/m, true
	switch {
	case m <= e.kern.second(): // one tile that is not full asks for every other line
		depth = max(1, depth/2)
	case m > 2*mr:
		depth, ncMax, flat = e.tuning.Reuse, min(ncMax, stretch/lineBytes*e.line), false
	}
	ncMax = part(n, max(nr, ncMax), nr)
	ws.a = room(ws.a, m*min(k, depth))
	ws.b = room(ws.b, nr*min(k, depth))
	ws.c = room(ws.c, m*roundUp(ncMax, nr))
	for jc := 0; jc < n; jc += ncMax {
		nc := min(ncMax, n-jc)
		for pc := 0; pc < k; pc += depth {
			kc := min(depth, k-pc)
			packA(m, kc, a[pc:], lda, ws.a)
			block := b[pc*ldb+jc:]
			below := e.nextBlock(b[jc:], ldb, m, nc, k, pc, kc)
			for jr := 0; jr < nc; jr += nr {
				cols := min(nr, nc-jr)
				sums := ws.c[jr*m:]
				for ir, t := 0, 0; ir < m; t++ {
					rows := tileRows(m-ir, mr, few)
					// The first tile copies the panel on its way, if there is a second.
					if ir == 0 && rows < m && !e.kern.copies(rows) {
						rows = e.kern.second()
					}
					panel, ldPanel, pack := &block[jr], ldb, (*T)(nil)
					if cols == nr && rows < m {
						if ir == 0 {
							pack = &ws.b[0]
						} else {
							panel, ldPanel = &ws.b[0], nr
						}
					}
					// Ask for what comes: along these rows, or the rows below.
					soon, between := panel, 0
					if !flat {
						soon, between = below.next()
					} else if right := jr + (e.tuning.Ahead+t)*e.line; right < nc {
						soon, between = &block[right], ldb
					}
					tile(kc, &ws.a[ir*kc], kc, panel, ldPanel, &sums[ir*nr], nr,
						rows, cols, pc > 0, &ws.a[0], soon, between, pack)
					ir += rows
				}
			}
		}
		for jr := 0; jr < nc; jr += nr {
			cols := min(nr, nc-jr)
			for i := range m {
				from, to := ws.c[jr*m+i*nr:][:cols], c[i*ldc+jc+jr:][:cols]
				if !add {
					copy(to, from)
					continue
				}
				for j, v := range from {
					to[j] += v
				}
			}
		}
	}
}

// direct runs the microkernel over A and B where they lie.
func (e *engine[T]) direct(kcMax int, add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	nr, tile := e.kern.nr, e.kern.tile
	kcMax = part(k, kcMax, 1)
	for pc := 0; pc < k; pc += kcMax {
		kc := min(kcMax, k-pc)
		for jr := 0; jr < n; jr += nr {
			mr, few, cols := e.kern.mr, e.kern.few, min(nr, n-jr)
			if cols <= nr/2 {
				mr, few = e.kern.tall, e.kern.tall
			}
			bp := &b[pc*ldb+jr]
			for ir := 0; ir < m; {
				rows := tileRows(m-ir, mr, few)
				ap := &a[ir*lda+pc]
				tile(kc, ap, lda, bp, ldb, &c[ir*ldc+jr], ldc, rows, cols, add || pc > 0, ap, bp, 0, nil)
				ir += rows
			}
		}
	}
}

// matrixVector computes y = A·x, or y += A·x with add: n = 1. A column x with
// gaps is packed first.
func (e *engine[T]) matrixVector(ws *workspace[T], add bool, m, k int, a []T, lda int, x []T, ldx int, y []T, ldy int) {
	if ldx > 1 {
		ws.b = room(ws.b, k)
		for p := range k {
			ws.b[p] = x[p*ldx]
		}
		x = ws.b
	}
	most := e.kern.dotRows
	ws.c = room(ws.c, most)
	for i, rows := 0, most; i < m; i += rows {
		for rows > m-i {
			rows /= 2
		}
		if !add {
			e.kern.dot(k, &a[i*lda], lda, &x[0], &y[i*ldy], ldy, rows)
			continue
		}
		e.kern.dot(k, &a[i*lda], lda, &x[0], &ws.c[0], 1, rows)
		for r, sum := range ws.c[:rows] {
			y[(i+r)*ldy] += sum
		}
	}
}

// thinRows is how many rows A may have for the first pass over a block of B,
// which copies it, to be so large a share of the work that the block is shallow.
const thinRows = 320

// packed is the five loops round the microkernel:
//
//	jc over blocks of NC columns of B and C
//	  ic over blocks of MC rows of A and C: the block of C stays in L3
//	    pc over blocks of KC of the depth: the block of B, packed, stays in L2
//	      ir over panels of MR rows: the panel of A, packed, stays in L1
//	        jr over panels of NR columns: the microkernel, C in registers
//
// This is the order jc pc ic jr ir of column-major libraries with the parts of
// A and B exchanged: rows of C are what is contiguous here.
func (e *engine[T]) packed(ws *workspace[T], add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	mr, few, nr, tile := e.kern.mr, e.kern.few, e.kern.nr, e.kern.tile
	blk := e.blk
	if m <= thinRows {
		blk = e.thin
	}
	kcMax := part(k, blk.KC, 4)
	ncMax := part(n, blk.NC, nr)
	mcMax := part(m, blk.MC, mr)
	ws.a = room(ws.a, mr*kcMax)
	ws.b = room(ws.b, kcMax*roundUp(ncMax, nr))
	for jc := 0; jc < n; jc += ncMax {
		nc := min(ncMax, n-jc)
		for ic := 0; ic < m; ic += mcMax {
			mc := min(mcMax, m-ic)
			for pc := 0; pc < k; pc += kcMax {
				kc := min(kcMax, k-pc)
				bp := b[pc*ldb+jc:]
				// Full panels are packed by the first tiles that read them.
				if full := nc - nc%nr; full < nc {
					packB(kc, nc-full, nr, bp[full:], ldb, ws.b[full*kc:])
				}
				soon := e.nextBlock(b[jc:], ldb, mc, nc, k, pc, kc)
				for ir := 0; ir < mc; {
					rows := tileRows(mc-ir, mr, few)
					ap := a[(ic+ir)*lda+pc:]
					packA(rows, kc, ap, lda, ws.a)
					for jr, t := 0, 0; jr < nc; jr, t = jr+nr, t+1 {
						cols := min(nr, nc-jr)
						panel, ldPanel, pack := &ws.b[jr*kc], nr, (*T)(nil)
						switch {
						case ir > 0 || cols < nr:
						case e.kern.copies(rows):
							panel, ldPanel, pack = &bp[jr], ldb, panel
						default:
							packB(kc, nr, nr, bp[jr:], ldb, ws.b[jr*kc:])
						}
						// Row t of the next panel of A, as far as there is one.
						soonA := &ws.a[0]
						if t < min(mr, mc-ir-rows) {
							soonA = &ap[(rows+t)*lda]
						}
						soonB, between := soon.next()
						if between == 0 {
							soonB = &ws.a[0] // nothing to ask for: a line at hand
						}
						tile(kc, &ws.a[0], kc, panel, ldPanel, &c[(ic+ir)*ldc+jc+jr], ldc,
							rows, cols, add || pc > 0, soonA, soonB, between, pack)
					}
					ir += rows
				}
			}
		}
	}
}

// A walk goes over the rows of the block of B that comes next, a stretch for
// each tile: what the microkernel asks memory for while it computes.
type walk[T Float] struct {
	b             []T
	ldb           int
	rows, cols    int // of the block; 0 where there is none
	span, between int // elements of a stretch, and from one request to the next
	row, col      int
}

// nextBlock returns the walk over nc columns of the block of B below the one
// that starts at depth pc, spread over the tiles of an m×nc block of C, each of
// which makes kc requests.
func (e *engine[T]) nextBlock(b []T, ldb, m, nc, k, pc, kc int) walk[T] {
	w := walk[T]{b: b, ldb: ldb}
	if below := pc + kc; below < k {
		w.b, w.rows, w.cols = b[below*ldb:], min(kc, k-below), nc
		tiles := blocksOf(m, e.kern.mr) * blocksOf(nc, e.kern.nr)
		w.between = min(e.line, blocksOf(nc, tiles)) // rows·nc elements, tiles·kc requests
		w.span = kc * w.between
	}
	return w
}

// next returns where the next tile's requests start and how far apart they are.
func (w *walk[T]) next() (*T, int) {
	if w.row >= w.rows {
		return &w.b[0], 0
	}
	at := &w.b[w.row*w.ldb+w.col]
	if w.col += w.span; w.col >= w.cols {
		w.row, w.col = w.row+1, 0
	}
	return at, w.between
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
