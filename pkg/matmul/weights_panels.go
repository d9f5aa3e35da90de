package matmul

import "unsafe"

// transposeGo turns blocks of 8×8, which lie beside each other in src, about
// their diagonals; they come to lie below each other in dst:
//
//	dst[j*ldd+i] = src[i*lds+j]   for i < 8, j < 8·blocks
func transposeGo(blocks int, src *float32, lds int, dst *float32, ldd int) {
	turn(8, 8*blocks, unsafe.Slice(src, 7*lds+8*blocks), lds, unsafe.Slice(dst, (8*blocks-1)*ldd+8), ldd)
}

// turn sets the columns×rows matrix dst to the transpose of the rows×columns
// matrix src.
func turn(rows, columns int, src []float32, lds int, dst []float32, ldd int) {
	for i := range rows {
		for j, v := range src[i*lds:][:columns] {
			dst[j*ldd+i] = v
		}
	}
}

// turn is the same in blocks of 8×8 as far as they go.
func (k *weightKernel) turn(rows, columns int, src []float32, lds int, dst []float32, ldd int) {
	c := columns / 8 * 8
	r := 0
	for ; r+8 <= rows && c > 0; r += 8 {
		k.transpose(c/8, &src[r*lds], lds, &dst[r], ldd)
	}
	if r > 0 && c < columns {
		turn(r, columns-c, src[c:], lds, dst[c*ldd:], ldd)
	}
	if r < rows {
		turn(rows-r, columns, src[r*lds:], lds, dst[r:], ldd)
	}
}

// panelRows is how many rows of activations there are, at least, for the
// microkernel of the packed multiply to be worth its while: the weights are then
// decoded once, into panels that it reads.
const panelRows = 17

// A panel is some rows of activations turned, so that those for one weight lie
// side by side: width of them, zeros after the last.
type panel struct {
	first, width int
	at           int // in the copy
}

// layPanels chooses the panels for m rows of activations: as wide as the tile,
// and half as wide where the last would be half empty. It returns how many.
func (j *weightJob) layPanels() int {
	nr := j.gemm.kern.nr
	j.panels = j.panels[:0]
	at := 0
	for i := 0; i < j.m; i += nr {
		width := nr
		if j.m-i <= nr/2 {
			width = nr / 2
		}
		j.panels = append(j.panels, panel{i, width, at})
		at += width * j.w.cols
	}
	j.turned = room(j.turned, at)
	return len(j.panels)
}

// pack fills panel p.
func (j *weightJob) pack(p, thread int) {
	if j.tiled {
		j.packTile(p, thread)
		return
	}
	z, cols := j.panels[p], j.w.cols
	rows := min(z.width, j.m-z.first)
	dst := j.turned[z.at:][:z.width*cols]
	if rows < z.width {
		clear(dst)
	}
	j.k.turn(rows, cols, j.x[z.first*cols:], cols, dst, z.width)
}

// panelWorkspace is one thread's decoded weights and results.
type panelWorkspace struct {
	w, y []float32
}

// groupRows is how many rows of weights are decoded at a time: a few tiles, a
// multiple of 8, as long as they take no more than half of L2.
func (j *weightJob) groupRows() int {
	mr := j.gemm.kern.mr
	tiles := max(1, min(4, j.gemm.directElems/(mr*(j.w.cols+padding))))
	return tiles * mr
}

// padding keeps rows apart that would fall into the same sets of a cache.
const padding = lineBytes / 4

// multiplyPanels computes the results of some rows of the weights, at most
// groupRows, for all activations:
//
//	decode the weights
//	  over panels of activations
//	    over tiles: the microkernel
//	    turn the results into rows of y
func (j *weightJob) multiplyPanels(ws *panelWorkspace, product Product, first, rows int) {
	w, kern := product.W, j.gemm.kern
	lda := w.cols + padding
	ws.w = room(ws.w, rows*lda)
	for r := range rows {
		j.k.row(w, ws.w[r*lda:][:w.cols], first+r)
	}
	ws.y = room(ws.y, rows*kern.nr)
	for _, p := range j.panels {
		mr, few := kern.mr, kern.few
		if p.width < kern.nr {
			mr, few = kern.tall, kern.tall
		}
		for r := 0; r < rows; {
			n := tileRows(rows-r, mr, few)
			a, b := &ws.w[r*lda], &j.turned[p.at]
			kern.tile(w.cols, a, lda, b, p.width, &ws.y[r*p.width], p.width, n, p.width, false, a, b, 0, nil)
			r += n
		}
		j.k.turn(rows, min(p.width, j.m-p.first), ws.y, p.width, product.Y[p.first*w.rows+first:], w.rows)
	}
}

// row is [Weights.Row] with the kernel.
func (k *weightKernel) row(w Weights, dst []float32, i int) {
	data := w.row(i)
	blocks := w.cols / QuantBlock
	if blocks > 0 {
		k.decode[w.format](blocks, &data[0], &dst[0])
	}
	if done := blocks * QuantBlock; done < w.cols {
		layouts[w.format].decode(dst[done:], data[blocks*layouts[w.format].blockBytes():])
	}
}
