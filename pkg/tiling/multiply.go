package tiling

import "fmt"

// Multiply returns a·b, computed in tile×tile tiles, and what it counted on
// the way. It is the model as running code: three small buffers are the fast
// memory, and every element that is copied into one of them or out of it is
// counted when it is copied. Without the counting and the edges it is
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
// tile may be larger than the matrices. a and b are left as they are.
//
// Every element of C is summed in order of k, for any tile, so the same
// elements come out for every tile size, floats included.
func Multiply[T Number](a, b Matrix[T], tile int) (Matrix[T], Traffic, error) {
	c, err := checkMultiply(a, b, tile)
	if err != nil {
		return Matrix[T]{}, Traffic{}, err
	}
	return c, multiply(a, b, c, tile, tile, tile), nil
}

// multiply stores a·b in c over bm×bn tiles of c in steps of bk, and returns
// what it counted.
func multiply[T Number](a, b, c Matrix[T], bm, bn, bk int) (t Traffic) {
	var fastA, fastB, fastC Matrix[T]
	for i := 0; i < tilesOrNone(a.Rows, bm); i++ {
		for j := 0; j < tilesOrNone(b.Cols, bn); j++ {
			fastC.zero(min(bm, a.Rows-i*bm), min(bn, b.Cols-j*bn))
			for p := 0; p < tilesOrNone(a.Cols, bk); p++ {
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
// over all p is C tile (i, j).
func PartialProduct[T Number](a, b Matrix[T], tile, i, j, p int) (Matrix[T], error) {
	if _, err := checkMultiply(a, b, tile); err != nil {
		return Matrix[T]{}, err
	}
	left, err := a.Tile(i, p, tile)
	if err != nil {
		return Matrix[T]{}, fmt.Errorf("%w (A)", err)
	}
	right, err := b.Tile(p, j, tile)
	if err != nil {
		return Matrix[T]{}, fmt.Errorf("%w (B)", err)
	}
	var c Matrix[T]
	c.zero(left.Rows, right.Cols)
	c.addProduct(left, right)
	return c, nil
}

// checkMultiply returns the zero matrix that a·b goes to.
func checkMultiply[T Number](a, b Matrix[T], tile int) (Matrix[T], error) {
	if err := a.Validate(); err != nil {
		return Matrix[T]{}, fmt.Errorf("%w (A)", err)
	}
	if err := b.Validate(); err != nil {
		return Matrix[T]{}, fmt.Errorf("%w (B)", err)
	}
	if a.Cols != b.Rows {
		return Matrix[T]{}, fmt.Errorf("tiling: A is %d×%d and B is %d×%d: the columns of A must be as many as the rows of B", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	if err := checkTile(int64(tile)); err != nil {
		return Matrix[T]{}, err
	}
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
// multiply-add.
func (t *Matrix[T]) addProduct(a, b Matrix[T]) (flops int64) {
	for i := range a.Rows {
		out := t.Data[i*t.Cols : (i+1)*t.Cols]
		for k := range a.Cols {
			x := a.Data[i*a.Cols+k]
			row := b.Data[k*b.Cols : (k+1)*b.Cols]
			for j, y := range row {
				// The conversion keeps the multiply and the add apart on
				// machines that could fuse them: the same floats everywhere.
				out[j] += T(x * y)
				flops += 2
			}
		}
	}
	return flops
}

// store copies t to dst from element (row, col) on and returns the number of
// elements that it copied.
func (t *Matrix[T]) store(dst Matrix[T], row, col int) (stored int64) {
	for i := range t.Rows {
		for j := range t.Cols {
			dst.Data[(row+i)*dst.Cols+col+j] = t.Data[i*t.Cols+j]
			stored++
		}
	}
	return stored
}
