package explore

import (
	"math/big"

	"memorywall/pkg/internal/num"
)

// loops is the loop nest of an n×n×n multiply with b×b tiles: i over rows of
// tiles of C, j over columns of tiles of C, p along k.
type loops struct {
	n, b  int64
	tiles int64 // per side
}

// steps returns the number of steps, which may leave int64.
func (l loops) steps() *big.Int { return num.Sum{{l.tiles, l.tiles, l.tiles}}.Big() }

// extent returns the size of the tile with that index along a side. The last
// one may be smaller.
func (l loops) extent(index int64) int64 { return min(l.b, l.n-index*l.b) }

// before returns how many elements of a side the tiles before an index cover.
// It never exceeds n: the index is at most the number of tiles.
func (l loops) before(index int64) int64 {
	if index == l.tiles {
		return l.n
	}
	return index * l.b
}

// A turn is one step of the innermost loop, with the totals up to its end: what
// tiling.Steps yields there, added up. It is computed without walking.
type turn struct {
	i, j, p           int64 // indices of the tiles, from 0
	rows, cols, depth int64 // extents of the tiles
	stores            bool  // the C tile is finished and stored

	loads                          num.Sum // elements, in this step
	loadsSoFar, storesSoFar, flops num.Sum // up to the end of this step
}

// turn returns the step with this number, from 1 to steps, in constant time.
//
// Each step loads an A tile of rows×depth and a B tile of depth×cols, so it
// loads depth·(rows + cols). Over all p the depths add up to n, over all j the
// cols do, over all i the rows do.
func (l loops) turn(number *big.Int) turn {
	perSide := big.NewInt(l.tiles)
	rest, p := new(big.Int).QuoRem(new(big.Int).Sub(number, big.NewInt(1)), perSide, new(big.Int))
	i, j := new(big.Int).QuoRem(rest, perSide, new(big.Int))
	t := turn{i: i.Int64(), j: j.Int64(), p: p.Int64()}
	t.rows, t.cols, t.depth = l.extent(t.i), l.extent(t.j), l.extent(t.p)
	t.stores = t.p == l.tiles-1
	t.loads = num.Sum{{t.depth, t.rows}, {t.depth, t.cols}}

	above, left, walked := l.before(t.i), l.before(t.j), l.before(t.p+1)
	t.loadsSoFar = num.Sum{
		{l.n, l.tiles, above}, {l.n, t.i, l.n}, // whole rows of C tiles
		{l.n, t.j, t.rows}, {l.n, left}, // whole C tiles of this row
		{walked, t.rows}, {walked, t.cols}, // this C tile
	}
	t.storesSoFar = num.Sum{{above, l.n}, {t.rows, left}}
	if t.stores {
		t.storesSoFar = append(t.storesSoFar, []int64{t.rows, t.cols})
	}
	t.flops = num.Sum{{2, above, l.n, l.n}, {2, t.rows, left, l.n}, {2, t.rows, t.cols, walked}}
	return t
}
