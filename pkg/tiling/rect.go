package tiling

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// Rect is the shape of rectangular tiles, in elements: a tile of C is BM×BN,
// one of A is BM×BK and one of B is BK×BN. The loops are those of the square
// tiles: a tile of C stays in fast memory while k is walked in steps of BK.
type Rect struct {
	BM, BN, BK int64
}

// SquareTile returns the shape of tile×tile tiles.
func SquareTile(tile int64) Rect { return Rect{tile, tile, tile} }

// Validate returns an error that names the first side below 1.
func (r Rect) Validate() error {
	return arg.Maybe(func() {
		arg.Size("tiling", "bm", r.BM)
		arg.Size("tiling", "bn", r.BN)
		arg.Size("tiling", "bk", r.BK)
	})
}

// FastElems returns bm·bk + bk·bn + bm·bn, the elements that fast memory holds
// at a time: one tile each of A, B and C.
func (r Rect) FastElems() int64 {
	arg.Check(r.Validate())
	need := num.Sum{{r.BM, r.BK}, {r.BK, r.BN}, {r.BM, r.BN}}
	return fits(need, "fast elements, bm·bk + bk·bn + bm·bn,", "bm = %d, bn = %d, bk = %d", r.BM, r.BN, r.BK)
}

// TiledRect returns the traffic of the multiply with rectangular tiles, in
// closed form: loads = ⌈n/bn⌉·mk + ⌈m/bm⌉·kn, stores = mn. Each element of A is
// loaded once for every column of output tiles, each element of B once for
// every row of them. How k is cut does not show: bk is not in the count.
func TiledRect(g roofline.GEMM, r Rect) Traffic {
	arg.Check(g.Validate())
	arg.Check(r.Validate())
	return traffic(g, func() int64 {
		return g.K * perDepth(g.M, g.N, num.CeilDiv(g.M, r.BM), num.CeilDiv(g.N, r.BN))
	})
}

// perDepth is the number of loads for each element of the depth k, with so many
// rows and columns of output tiles.
func perDepth(m, n, rows, cols int64) int64 { return cols*m + rows*n }

// BestRect returns the shape with the fewest loads among all whose three tiles
// fit in a fast memory of capacity elements, and its traffic. The answer is
// exact. It panics if the capacity is below 3 elements, one each of A, B and C.
//
// The count does not know bk, and the room grows with it: the best shape has
// bk = 1, a column of A and a row of B at a time, and nearly the whole of fast
// memory is left to C. Ties, in this order: the fewest loads; then the fewest
// elements of fast memory; then the smaller bm, whose rows are longer.
//
// It takes about 2√min(m, n) steps. With bk = 1 the room is
//
//	(bm + 1)(bn + 1) − 1 ≤ capacity,
//
// and only the number of tiles per side counts. So of the shorter side only
// the smallest bm for each possible number of tiles is tried, of which there
// are at most 2√m, and for each of them the largest bn that fits, made smaller
// again as far as the number of tiles stays. A shape that ties with the answer
// and needs no more room is among those: making a side smaller without adding a
// tile keeps the loads and saves room.
func BestRect(g roofline.GEMM, capacity int64) (Rect, Traffic) {
	arg.AtLeast("tiling", "capacity", capacity, 3)
	Compulsory(g) // refuses counts beyond int64
	short, long := min(g.M, g.N), max(g.M, g.N)
	var best Rect
	var bestLoads, bestRoom int64
	for x := int64(1); ; {
		rows := num.CeilDiv(short, x)
		y := min((capacity-x)/(x+1), long) // x + y + xy ≤ capacity
		if y < 1 {
			break
		}
		cols := num.CeilDiv(long, y)
		y = num.CeilDiv(long, cols)
		r := Rect{x, y, 1}
		if g.N < g.M {
			r = Rect{y, x, 1}
		}
		loads, room := perDepth(short, long, rows, cols), x+y+x*y
		if best.BM == 0 || loads < bestLoads || loads == bestLoads && (room < bestRoom || room == bestRoom && r.BM < best.BM) {
			best, bestLoads, bestRoom = r, loads, room
		}
		if rows == 1 {
			break
		}
		x = num.CeilDiv(short, rows-1)
	}
	return best, TiledRect(g, best)
}
