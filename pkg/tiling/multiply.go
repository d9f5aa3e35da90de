package tiling

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Multiply returns a·b, computed in tile×tile tiles, and what it counted on
// the way. It is the model as running code: three small buffers are the fast
// memory, and every row of a tile that is copied into one of them or out of it
// is counted where it is copied. Without the counting and the edges it is
//
//	for i in tile rows of C {
//		for j in tile columns of C {
//			c = 0                          // stays in fast memory
//			for p in tiles along k {
//				load A tile (i, p)
//				load B tile (p, j)
//				c += (A tile) · (B tile)   // moves nothing
//			}
//			store c as C tile (i, j)
//		}
//	}
//
// a is m×k and b is k×n; sizes of 0 are allowed, and k = 0 gives zeros. The
// tile may be larger than the matrices. a and b are left as they are. It panics
// if the shapes do not match or the tile is below 1.
//
// Every element of C is summed in order of k, for any tile, so the same
// elements come out for every tile size, floats included.
func Multiply[T Number](a, b Matrix[T], tile int) (Matrix[T], Traffic) {
	c := product(a, b, tile)
	return c, multiply(a, b, c, tile, tile, tile)
}

// multiply stores a·b in c over bm×bn tiles of c in steps of bk, and returns
// what it counted.
func multiply[T Number](a, b, c Matrix[T], bm, bn, bk int) (t Traffic) {
	var fastA, fastB, fastC Matrix[T]
	for i := 0; i < num.CeilDiv(a.Rows, bm); i++ {
		for j := 0; j < num.CeilDiv(b.Cols, bn); j++ {
			fastC.zero(min(bm, a.Rows-i*bm), min(bn, b.Cols-j*bn))
			for p := 0; p < num.CeilDiv(a.Cols, bk); p++ {
				t.Loads += fastA.load(a, i*bm, p*bk, bm, bk)
				t.Loads += fastB.load(b, p*bk, j*bn, bk, bn)
				t.FLOPs += fastC.addProduct(fastA, fastB)
			}
			t.Stores += fastC.store(c, i*bm, j*bn)
		}
	}
	return t
}

// PartialProduct returns what the step (i, j, p) adds to C tile (i, j): the
// product of A tile (i, p) and B tile (p, j), with tile×tile tiles. The sum
// over all p is C tile (i, j). It panics where [Multiply] does, and if there is
// no such step.
func PartialProduct[T Number](a, b Matrix[T], tile, i, j, p int) Matrix[T] {
	product(a, b, tile)
	left, right := a.Tile(i, p, tile), b.Tile(p, j, tile)
	var c Matrix[T]
	c.zero(left.Rows, right.Cols)
	c.addProduct(left, right)
	return c
}

// product returns the zero matrix that a·b goes to.
func product[T Number](a, b Matrix[T], tile int) Matrix[T] {
	arg.Check(a.validate("A"))
	arg.Check(b.validate("B"))
	if a.Cols != b.Rows {
		arg.Refuse("B", shape(b.Rows, b.Cols), "tiling: A is %d×%d and B is %d×%d: the columns of A must be as many as the rows of B", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	arg.Size("tiling", "tile", int64(tile))
	return New[T](a.Rows, b.Cols)
}

func (t *Matrix[T]) zero(rows, cols int) {
	t.Rows, t.Cols = rows, cols
	if cap(t.Data) < rows*cols {
		t.Data = make([]T, rows*cols)
	}
	t.Data = t.Data[:rows*cols]
	clear(t.Data)
}

// addProduct adds a·b to t and returns the FLOPs that it did, two for each
// multiply-add. It goes four rows of b at a time, so that a row of t is read and
// written a quarter as often; every element is still summed in order of k.
func (t *Matrix[T]) addProduct(a, b Matrix[T]) (flops int64) {
	n := t.Cols
	for i := range a.Rows {
		out := t.Data[i*n : (i+1)*n]
		left := a.Data[i*a.Cols : (i+1)*a.Cols]
		for k := 0; k < len(left); {
			if k+4 > len(left) {
				addRow(out, left[k], b.Data[k*n:])
				k++
				continue
			}
			x0, x1, x2, x3 := left[k], left[k+1], left[k+2], left[k+3]
			b0 := b.Data[k*n:][:len(out)]
			b1 := b.Data[(k+1)*n:][:len(out)]
			b2 := b.Data[(k+2)*n:][:len(out)]
			b3 := b.Data[(k+3)*n:][:len(out)]
			for j, v := range out {
				// The conversions keep multiply and add apart on machines that could
				// fuse them: the same floats everywhere.
				v += T(x0 * b0[j])
				v += T(x1 * b1[j])
				v += T(x2 * b2[j])
				out[j] = v + T(x3*b3[j])
			}
			k += 4
		}
		flops += 2 * int64(len(left)) * int64(len(out))
	}
	return flops
}

// addRow adds x times a row to out.
func addRow[T Number](out []T, x T, row []T) {
	row = row[:len(out)]
	for j, y := range row {
		out[j] += T(x * y)
	}
}

// store copies t to dst from element (row, col) on and returns the number of
// elements that it copied.
func (t *Matrix[T]) store(dst Matrix[T], row, col int) (stored int64) {
	for i := range t.Rows {
		to := (row+i)*dst.Cols + col
		stored += int64(copy(dst.Data[to:to+t.Cols], t.Data[i*t.Cols:(i+1)*t.Cols]))
	}
	return stored
}
