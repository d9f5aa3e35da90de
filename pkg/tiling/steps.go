package tiling

import (
	"iter"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// Step is one turn of the innermost loop over tiles: A tile (I, P) and B tile
// (P, J) are loaded, and their product is added to C tile (I, J).
type Step struct {
	I, J, P int64 // tile row of C, tile column of C, tile along k; from 0

	// The A tile is Rows×Depth, the B tile is Depth×Cols, the C tile is
	// Rows×Cols. At the edges they are smaller than the tile size.
	Rows, Cols, Depth int64

	Loads int64 // elements: Rows·Depth + Depth·Cols
}

// Steps returns the steps of the multiply with tile×tile tiles in loop order:
// I outermost, P innermost. Their loads add up to those of Tiled. Nothing is
// stored in a step but the last along k (P greatest), which stores the C tile.
func Steps(g roofline.GEMM, tile int64) iter.Seq[Step] {
	Tiled(g, tile)
	return func(yield func(Step) bool) {
		for i := range num.CeilDiv(g.M, tile) {
			rows := min(tile, g.M-i*tile)
			for j := range num.CeilDiv(g.N, tile) {
				cols := min(tile, g.N-j*tile)
				for p := range num.CeilDiv(g.K, tile) {
					depth := min(tile, g.K-p*tile)
					s := Step{
						I: i, J: j, P: p,
						Rows: rows, Cols: cols, Depth: depth,
						Loads: rows*depth + depth*cols,
					}
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}
