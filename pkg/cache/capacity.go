package cache

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// How much a least-recently-used cache needs.
//
// Such a cache of S lines, fully associative, still holds a line when it is
// used again if and only if at most S − 1 other lines were used in between. So
// count, for a pair of uses that follow each other, the different lines from
// the one to the other, the line itself included. That is the capacity that
// this pair needs, and the capacity that a loop needs is the largest count
// among the pairs that are meant to hit. One line less, and those pairs miss.
//
// Below, w(x) = x/L is the number of lines of x elements in a row, L being the
// elements of a line. All of it is exact if rows begin at the start of a line
// and leading dimensions and the sizes along rows are multiples of L; for L = 1
// that is always so. A row of A has w(k) lines and a row of B or C has w(n).

// Fits is what an order of loops needs, in lines.
type Fits struct {
	// Inner keeps what the two inner loops use again.
	Inner int64
	// All keeps each line of A and B from its first use to its last: below it,
	// something comes in twice.
	All int64
}

// NaiveLines returns the lines that [Layout.Naive] needs in a fully associative
// cache with lineElems elements in a line. The sizes n and k must be multiples
// of lineElems, k at least 2 and n at least two lines.
//
// Inner = k + w(k) + 1: one row of A, the lines of one column of B, one line of
// C. With it each line of A misses once for each row of C, m·w(k) in all, each
// line of B once for each row of C, mk·w(n), and each line of C once, m·w(n).
// Proof: B[p,j] is used, then B[p,j+1] on the same line. In between the rest of
// row i of A and its beginning are read: w(k) lines. Of B the rest of column j
// and the beginning of column j + 1 are read: one line for each of the k rows,
// the line itself included. And C[i,j] is written. Without it (one line less)
// every read of B misses, mnk times, and so does every write of C.
//
// All = k·w(n) + 2w(k) + w(n): all of B, two rows of A, and as much as one row
// of C. With it only m·w(k) + k·w(n) + m·w(n) lines miss, each once. Proof: a
// line of B is used last in row i and first in row i + 1. In between every
// other line of B is used, w(k) lines each of row i and of row i + 1 of A (the
// columns behind the line in row i, those in front of it in row i + 1), and the
// end of row i and the beginning of row i + 1 of C.
func NaiveLines(g roofline.GEMM, lineElems int64) Fits {
	wk, wn := rowLines(g, lineElems)
	return Fits{
		Inner: lines(num.Sum{{g.K}, {wk}, {1}}),
		All:   lines(num.Sum{{g.K, wn}, {2, wk}, {wn}}),
	}
}

func lines(need num.Sum) int64 {
	v, ok := need.Int64()
	if !ok {
		arg.Panic(arg.Overflow("cache", "number of lines needed", need.Float64()))
	}
	return v
}

// TiledLines returns the lines that [Layout.Tiled] needs in a fully associative
// cache with lineElems elements in a line, so that it misses as the model says:
// one miss for each line of the loads of [tiling.TiledRect], and one for each
// line of C, which comes in when it is first written. The sizes n and k, bn and
// bk must be multiples of lineElems.
//
// The model needs bm·bk + bk·bn + bm·bn elements: it drops the tiles of A and B
// at the end of a step. The cache does not know that they are done with, and
// pushes out what it has not used for longest: the tile of C. With three rows or
// more in a tile, and more than one step along k, the answer is
//
//	bm·w(bn) + 2·bk·w(bn) + (bm − 1)·w(bk) + 1,
//
// which is 4b² − b + 1 for square tiles and lines of one element. Proof: a line
// in row i of the tile of C is used last in a step for p = bk − 1, and first in
// the next step for p = 0. In between come the rest of the one step and the
// beginning of the other: all other lines of the tile of C; all of the old tile
// of B, if there is a row below i, and all of the new one, if there is a row
// above i; the rows below i of the old tile of A, the rows above i of the new
// one, and the first line of row i of the new one.
//
// No other pair of uses needs more. With two rows, a row is the first or the
// last, and only one of the two tiles of B is used whole, the other for one
// row: bk·w(bn) + w(bn) lines of B. With one row it is w(bn). With one step
// along k, the pair that needs most is a line of C from when it is set to 0 to
// its first use: bk·w(bn) lines of B. From row to row a line of the tile of B
// needs bk·w(bn) + w(bk) + 1 + 2w(bn), and from p to p + 1 a line of C needs
// 2w(bn) + 1: never more than those.
//
// It is enough for any sizes, since edge tiles are smaller. It is needed, to
// the line, if k is at least two steps; with one step a tile of A or B can
// stay for the next tile of C, and the cache misses less than the model loads.
func TiledLines(g roofline.GEMM, r tiling.Rect, lineElems int64) int64 {
	rowLines(g, lineElems)
	arg.Check(r.Validate())
	bm, bn, bk := min(r.BM, g.M), min(r.BN, g.N), min(r.BK, g.K)
	multiple("bn", bn, lineElems)
	multiple("bk", bk, lineElems)
	wn, wk := bn/lineElems, bk/lineElems

	need := num.Sum{{bm, wn}, {bm - 1, wk}, {1}}
	switch { // and the lines of B between the two uses of C
	case bm == 1:
		need = append(need, []int64{wn})
	case g.K <= bk:
		need = append(need, []int64{bk, wn})
	case bm == 2:
		need = append(need, []int64{bk + 1, wn})
	default:
		need = append(need, []int64{2, bk, wn})
	}
	return lines(need)
}

// rowLines returns the lines of a row of A and of a row of B or C.
func rowLines(g roofline.GEMM, lineElems int64) (wk, wn int64) {
	arg.Size("cache", "line", lineElems)
	g.FLOPs()
	multiple("n", g.N, lineElems)
	multiple("k", g.K, lineElems)
	return g.K / lineElems, g.N / lineElems
}

func multiple(what string, v, lineElems int64) {
	if v%lineElems != 0 {
		arg.Refuse(what, v, "cache: %s is %d: it must be a multiple of the %d elements of a line", what, v, lineElems)
	}
}
