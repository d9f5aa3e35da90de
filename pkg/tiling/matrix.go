package tiling

import (
	"fmt"
	"math/bits"
	"slices"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Number is any type that the counted multiply works on. Integers are exact
// until they wrap as Go's integers do.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64
}

// MaxElements is the greatest number of elements of a Matrix that New and
// Multiply make: the counted multiply is for matrices to look at.
const MaxElements = 1 << 27

// Matrix is a dense matrix in row-major order: element (i, j) is
// Data[i*Cols+j].
type Matrix[T Number] struct {
	Rows, Cols int
	Data       []T // length Rows·Cols
}

// New returns a rows×cols matrix of zeros. Sizes of 0 are allowed. It panics if
// one is negative, a side above MaxElements, or the matrix has more than
// MaxElements elements.
func New[T Number](rows, cols int) Matrix[T] {
	arg.AtLeast("tiling", "rows", int64(rows), 0)
	arg.AtLeast("tiling", "cols", int64(cols), 0)
	if hi, lo := bits.Mul64(uint64(rows), uint64(cols)); hi != 0 || lo > MaxElements || max(rows, cols) > MaxElements {
		arg.Refuse("rows, cols", shape(rows, cols), "tiling: rows, cols is %s: a matrix must have at most %d elements, and no longer side: use a smaller one, or the closed forms, which need no matrix", shape(rows, cols), MaxElements)
	}
	return Matrix[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

func shape(rows, cols int) string { return fmt.Sprintf("%d×%d", rows, cols) }

// FromRows returns the matrix with these rows, copied. No rows at all give the
// 0×0 matrix. It panics if the rows have different lengths.
func FromRows[T Number](rows [][]T) Matrix[T] {
	cols := 0
	if len(rows) > 0 {
		cols = len(rows[0])
	}
	for i, row := range rows {
		if len(row) != cols {
			arg.Refuse("rows", row, "tiling: row %d has %d elements: row 0 has %d, and all rows must have the same length", i, len(row), cols)
		}
	}
	return Matrix[T]{Rows: len(rows), Cols: cols, Data: slices.Concat(rows...)}
}

// Validate returns an error if a side is negative or above MaxElements, or if
// the sides do not match the length of Data.
func (m Matrix[T]) Validate() error { return m.validate("matrix") }

func (m Matrix[T]) validate(name string) error {
	size := shape(m.Rows, m.Cols)
	if min(m.Rows, m.Cols) < 0 || max(m.Rows, m.Cols) > MaxElements {
		return arg.Errorf(name, size, "tiling: %s is %s: each side must be from 0 to %d", name, size, MaxElements)
	}
	if hi, lo := bits.Mul64(uint64(m.Rows), uint64(m.Cols)); hi != 0 || lo != uint64(len(m.Data)) {
		return arg.Errorf(name, size, "tiling: %s is %s and has %d elements in Data: it must have rows·cols", name, size, len(m.Data))
	}
	return nil
}

// At returns element (i, j). It panics if i or j is out of range, as indexing
// a slice does, or if Data is too short for the shape.
func (m Matrix[T]) At(i, j int) T {
	if i < 0 || i >= m.Rows || j < 0 || j >= m.Cols {
		at := fmt.Sprintf("(%d, %d)", i, j)
		arg.Refuse("element", at, "tiling: element is %s of a %d×%d matrix: rows count from 0 to %d and columns from 0 to %d", at, m.Rows, m.Cols, m.Rows-1, m.Cols-1)
	}
	return m.Data[i*m.Cols+j]
}

// ToRows returns the rows of m, copied. It panics if m is invalid.
func (m Matrix[T]) ToRows() [][]T {
	arg.Check(m.Validate())
	rows := make([][]T, m.Rows)
	for i := range rows {
		rows[i] = slices.Clone(m.Data[i*m.Cols : (i+1)*m.Cols])
	}
	return rows
}

// Equal reports whether m and o have the same shape and elements that are ==.
// A NaN equals nothing.
func (m Matrix[T]) Equal(o Matrix[T]) bool {
	return m.Rows == o.Rows && m.Cols == o.Cols && slices.Equal(m.Data, o.Data)
}

// Add returns m + o. It panics if their shapes differ.
func (m Matrix[T]) Add(o Matrix[T]) Matrix[T] {
	arg.Check(m.Validate())
	arg.Check(o.Validate())
	if m.Rows != o.Rows || m.Cols != o.Cols {
		arg.Refuse("shape", shape(o.Rows, o.Cols), "tiling: cannot add a %d×%d and a %d×%d matrix: their shapes must be the same", m.Rows, m.Cols, o.Rows, o.Cols)
	}
	sum := Matrix[T]{Rows: m.Rows, Cols: m.Cols, Data: slices.Clone(m.Data)}
	for i, v := range o.Data {
		sum.Data[i] += v
	}
	return sum
}

// Tile returns a copy of the tile in tile row i and tile column j of m cut
// into tile×tile tiles. Tiles at the right and lower edges may be smaller. It
// panics if there is no such tile.
func (m Matrix[T]) Tile(i, j, tile int) Matrix[T] {
	arg.Check(m.Validate())
	arg.Size("tiling", "tile", int64(tile))
	if n := num.CeilDiv(m.Rows, tile); i < 0 || i >= n {
		arg.Refuse("tile row", i, "tiling: tile row is %d: a matrix of %d rows has %d tile rows of size %d, counted from 0", i, m.Rows, n, tile)
	}
	if n := num.CeilDiv(m.Cols, tile); j < 0 || j >= n {
		arg.Refuse("tile column", j, "tiling: tile column is %d: a matrix of %d columns has %d tile columns of size %d, counted from 0", j, m.Cols, n, tile)
	}
	var out Matrix[T]
	out.load(m, i*tile, j*tile, tile, tile)
	return out
}

// load copies the rows×cols tile of src whose first element is (row, col) into
// t, or as much of it as src has, and returns the number of elements that it
// copied.
func (t *Matrix[T]) load(src Matrix[T], row, col, rows, cols int) (loaded int64) {
	t.Rows = min(rows, src.Rows-row)
	t.Cols = min(cols, src.Cols-col)
	t.Data = t.Data[:0]
	for i := row; i < row+t.Rows; i++ {
		values := src.Data[i*src.Cols+col : i*src.Cols+col+t.Cols]
		t.Data = append(t.Data, values...)
		loaded += int64(len(values))
	}
	return loaded
}
