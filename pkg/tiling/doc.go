// Package tiling counts what a matrix multiply moves between slow and fast
// memory when it works on square tiles.
//
// The model: C[m,n] = A[m,k] · B[k,n] in b×b tiles. A tile of C stays in fast
// memory while k is walked; each step along k loads one tile of A and one tile
// of B; each tile of C is stored once. Tiles at the edges are smaller. C is
// not read. Loads and stores are counted in elements, work in FLOPs (one
// multiply-add is 2).
//
// The same counts come in three ways, which the tests hold equal: [Multiply]
// runs the loops on real matrices and counts as it loads; [Steps] walks the
// loops without matrices; [Tiled] is the closed form.
//
// [TiledRect] counts rectangular tiles, [BestRect] finds the best of them, and
// [LoadLowerBound] says what no order of the work can go below.
//
// Sizes and counts are int64 on every platform. As in package roofline, a
// mistake in a call is a panic with a [roofline.Error]: a size or a tile below 1,
// or a count that does not fit, which matches [roofline.ErrOverflow] and is never
// a wrapped number.
package tiling
