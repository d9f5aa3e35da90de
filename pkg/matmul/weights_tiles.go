package matmul

import "unsafe"

// Panels of activations of 8 bits fill the lanes of a vector or of two, and the
// weights are spread over the lanes, four rows of them at a time. Of one block a
// panel has 8 rows of four activations each, then the scales, the sums that a
// product starts from, and the scaled sums; a four of rows has 32 times four bytes,
// then the scales and the minima.
const (
	tileQuads  = 8  // rows of a panel's block that hold activations
	tileVecs   = 11 // all rows
	fourRows   = 4
	fourFloats = 40 // of a block of a four
)

// layTiles chooses the panels for m rows of activations: the widest of those that
// would not be a quarter empty. It returns how many vectors wide all are together.
func (j *weightJob) layTiles() (vecs int) {
	j.panels = j.panels[:0]
	blocks, lanes, at := j.w.cols/QuantBlock, j.k.lanes, 0
	for i := 0; i < j.m; {
		width := 2 * lanes
		for width > lanes/4 && 4*(j.m-i) <= 3*width {
			width /= 2
		}
		z := panel{i, width, at}
		j.panels = append(j.panels, z)
		vecs += z.vecs(lanes)
		at = blocks * tileVecs * vecs * lanes
		i += width
	}
	j.turned = room(j.turned, at)
	return vecs
}

// packTile fills a vector of each block of a panel: it rounds the activations, turns
// them, and lets spread do the rest.
func (j *weightJob) packTile(part, thread int) {
	p := 0
	for ; part >= j.panels[p].vecs(j.k.lanes); p++ {
		part -= j.panels[p].vecs(j.k.lanes)
	}
	ws, z, cols, lanes := &j.workspaces[thread], j.panels[p], j.w.cols, j.k.lanes
	blocks, vecs := cols/QuantBlock, z.vecs(lanes)
	wide, dst := vecs*lanes, j.turned[z.at+part*lanes:]
	first := z.first + part*lanes
	rows := min(z.width, lanes, j.m-first)
	lds := blocksOf(blocks, 2) * quantPair / 4
	ws.w = room(ws.w, 8*lds)
	for i := 0; i < max(8, min(z.width, lanes)); i += 8 {
		for r := range 8 {
			row := ws.w[r*lds:][:lds]
			if i+r >= rows {
				clear(row)
				continue
			}
			j.k.quantize(blocks, &j.x[(first+i+r)*cols], (*byte)(unsafe.Pointer(&row[0])), 0)
		}
		for b := range blocks {
			from, to := ws.w[b/2*(quantPair/4)+b%2*8:], dst[b*tileVecs*wide+i:]
			j.k.transpose(1, &from[0], lds, &to[0], wide)
			for r := range 8 {
				to[tileQuads*wide+r] = from[r*lds+quantScale/4]
			}
		}
	}
	shift := 0
	for z.width<<shift < lanes {
		shift++
	}
	j.k.spread(blocks, (*byte)(unsafe.Pointer(&dst[0])), vecs, shift, j.w.format.bias())
}

// vecs is how many vectors a panel of activations of 8 bits is wide.
func (p panel) vecs(lanes int) int { return max(1, p.width/lanes) }

// multiplyTiles computes the results of some rows of the weights for all
// activations:
//
//	unpack the weights by fours
//	over panels of activations: the tile, and its results into y
func (j *weightJob) multiplyTiles(ws *panelWorkspace, product Product, first, rows int) {
	w, f := product.W, product.W.format
	blocks := w.cols / QuantBlock
	fours := blocksOf(rows, fourRows)
	ws.w = room(ws.w, blocks*fours*fourFloats)
	for r := 0; r < rows; r += fourRows {
		j.k.unpack[f](blocks, &w.data[(first+r)*w.rowBytes], w.rowBytes, rows-r,
			(*byte)(unsafe.Pointer(&ws.w[r/fourRows*fourFloats])), fours*fourFloats*4, j.k.flip)
	}
	for _, z := range j.panels {
		ws.y = room(ws.y, fours*fourRows*z.width)
		clear(ws.y)
		j.k.tileInt8[f](blocks, (*byte)(unsafe.Pointer(&j.turned[z.at])), (*byte)(unsafe.Pointer(&ws.w[0])), fours, &ws.y[0], z.width)
		j.storeTile(ws.y, z, product, first, rows)
	}
}

// storeTile sets some results of y to the sums of a tile.
func (j *weightJob) storeTile(sums []float32, z panel, product Product, first, rows int) {
	ldy := product.W.rows
	y := product.Y[z.first*ldy+first:]
	m := min(z.width, j.m-z.first)
	side := j.k.lanes / z.width // rows of weights side by side
	if side <= 1 {
		j.k.turn(rows, m, sums, z.width, y, ldy)
		return
	}
	for r := 0; r < rows; r += side {
		n := min(side, rows-r)
		for i := range m {
			copy(y[i*ldy+r:][:n], sums[r*z.width+i*side:])
		}
	}
}

// tileGroup is how many rows of weights are unpacked at a time: as the panels are
// read from L2, a few fours for each reading of one.
func (j *weightJob) tileGroup() int {
	return max(4, min(16, tileBytes/(j.w.cols/QuantBlock*fourFloats*4))) * fourRows
}

// tileBytes is how much of L2 unpacked weights take.
const tileBytes = 128 << 10
