package tiling

import (
	"math"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

func TestFromRows(t *testing.T) {
	rows := [][]int64{{1, 2, 3}, {4, 5, 6}}
	m := FromRows(rows)
	if m.Rows != 2 || m.Cols != 3 || m.At(0, 2) != 3 || m.At(1, 0) != 4 {
		t.Errorf("%+v", m)
	}
	rows[0][0] = 100
	back := m.ToRows()
	back[1][1] = 100
	if m.At(0, 0) != 1 || m.At(1, 1) != 5 {
		t.Error("the matrix shares its elements with the rows")
	}
	if back[0][0] != 1 || len(back) != 2 || len(back[1]) != 3 {
		t.Errorf("rows are %v", back)
	}
	for name, rows := range map[string][][]int64{"nil": nil, "no rows": {}, "empty rows": {{}, {}}} {
		m, err := arg.Try(func() Matrix[int64] { return FromRows(rows) })
		if err != nil || m.Rows != len(rows) || m.Cols != 0 || m.Validate() != nil || len(m.ToRows()) != len(rows) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}

	err := roofline.Maybe(func() { FromRows([][]float64{{1, 2}, {3, 4}, {5}}) })
	refused(t, err, "tiling: row 2 has 1 elements", "row 0 has 2", "same length")
	err = roofline.Maybe(func() { FromRows([][]float64{{}, {3}}) })
	refused(t, err, "tiling: row 1 has 1 elements", "row 0 has 0")
}

func TestNewErrors(t *testing.T) {
	err := roofline.Maybe(func() { New[float64](-1, 2) })
	refused(t, err, "tiling: rows is -1", "at least 0")
	err = roofline.Maybe(func() { New[float64](2, -3) })
	refused(t, err, "tiling: cols is -3", "at least 0")
	err = roofline.Maybe(func() { New[int8](MaxElements+1, 1) })
	refused(t, err, "tiling: rows, cols is 134217729×1: a matrix must have at most 134217728 elements", "use a smaller one")
	err = roofline.Maybe(func() { New[float64](math.MaxInt, math.MaxInt) })
	refused(t, err, "at most 134217728 elements")
	err = roofline.Maybe(func() { New[float64](1<<16, 1<<16) }) // 2^32, which wraps to 0 where int has 32 bits
	refused(t, err, "tiling: rows, cols is 65536×65536")
	// No elements, but so many rows that a loop over them would never end.
	err = roofline.Maybe(func() { New[float64](math.MaxInt, 0) })
	refused(t, err, "no longer side")
	err = roofline.Maybe(func() { New[float64](0, MaxElements+1) })
	refused(t, err, "tiling: rows, cols is 0×134217729")
}

func TestValidateMatrix(t *testing.T) {
	refused(t, Matrix[int]{Rows: 2, Cols: 2, Data: make([]int, 3)}.Validate(), "tiling: matrix is 2×2 and has 3 elements", "rows·cols")
	refused(t, Matrix[int]{Rows: 1 << 16, Cols: 1 << 16}.Validate(), "has 0 elements")
	refused(t, Matrix[int]{Rows: -1, Cols: -1, Data: make([]int, 1)}.Validate(), "tiling: matrix is -1×-1", "from 0 to 134217728")
	refused(t, Matrix[int]{Rows: math.MaxInt}.Validate(), "×0: each side must be from 0 to 134217728")
	refused(t, Matrix[int]{Cols: MaxElements + 1}.Validate(), "tiling: matrix is 0×134217729: each side")
	if err := (Matrix[int]{}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestToRowsPanics(t *testing.T) {
	for _, c := range []struct {
		m    Matrix[int]
		want string
	}{
		{Matrix[int]{Rows: 2, Cols: 2, Data: make([]int, 3)}, "tiling: matrix is 2×2 and has 3 elements in Data: it must have rows·cols"},
		{Matrix[int]{Rows: -1}, "tiling: matrix is -1×0: each side must be from 0 to 134217728"},
	} {
		refused(t, roofline.Maybe(func() { c.m.ToRows() }), c.want)
	}
}

func TestAtPanics(t *testing.T) {
	m := New[int](2, 3)
	for _, at := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {0, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("At%v does not panic", at)
				}
			}()
			m.At(at[0], at[1])
		}()
	}
}

func TestEqual(t *testing.T) {
	m := FromRows([][]float64{{1, 2}, {3, 4}})
	same := FromRows([][]float64{{1, 2}, {3, 4}})
	other := FromRows([][]float64{{1, 2}, {3, 5}})
	flat := FromRows([][]float64{{1, 2, 3, 4}})
	notANumber := FromRows([][]float64{{nan}})
	if !m.Equal(same) || m.Equal(other) || m.Equal(flat) || notANumber.Equal(notANumber) {
		t.Error("Equal is wrong")
	}
}

func TestAdd(t *testing.T) {
	m := FromRows([][]int{{1, 2}, {3, 4}})
	sum := m.Add(m)
	want := FromRows([][]int{{2, 4}, {6, 8}})
	if !sum.Equal(want) || m.At(0, 0) != 1 {
		t.Errorf("sum is %v, m is %v", sum, m)
	}
	flat := New[int](1, 4)
	err := roofline.Maybe(func() { m.Add(flat) })
	refused(t, err, "tiling: cannot add a 2×2 and a 1×4 matrix", "must be the same")
	broken := Matrix[int]{Rows: 2, Cols: 2}
	err = roofline.Maybe(func() { m.Add(broken) })
	refused(t, err, "has 0 elements")
	err = roofline.Maybe(func() { broken.Add(m) })
	refused(t, err, "has 0 elements")
}

func TestTile(t *testing.T) {
	m := FromRows([][]int{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}})
	for _, c := range []struct {
		i, j, tile int
		want       [][]int
	}{
		{0, 0, 2, [][]int{{1, 2}, {4, 5}}},
		{0, 1, 2, [][]int{{3}, {6}}},
		{1, 0, 2, [][]int{{7, 8}}},
		{1, 1, 2, [][]int{{9}}},
		{2, 1, 1, [][]int{{8}}},
		{0, 0, 100, [][]int{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}},
		{0, 0, math.MaxInt, [][]int{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}},
	} {
		got := m.Tile(c.i, c.j, c.tile)
		if want := FromRows(c.want); !got.Equal(want) {
			t.Errorf("tile (%d, %d) of size %d is %v, want %v", c.i, c.j, c.tile, got, want)
		}
	}
	err := roofline.Maybe(func() { m.Tile(2, 0, 2) })
	refused(t, err, "tiling: tile row is 2", "has 2 tile rows of size 2")
	err = roofline.Maybe(func() { m.Tile(0, -1, 2) })
	refused(t, err, "tiling: tile column is -1", "has 2 tile columns of size 2")
	err = roofline.Maybe(func() { m.Tile(0, 0, 0) })
	refused(t, err, "tiling: tile is 0: it must be at least 1")
	err = roofline.Maybe(func() { Matrix[int]{}.Tile(0, 0, 2) })
	refused(t, err, "tile row is 0", "has 0 tile rows")
	err = roofline.Maybe(func() { Matrix[int]{Rows: 1}.Tile(0, 0, 2) })
	refused(t, err, "tile column is 0", "has 0 tile columns")
	err = roofline.Maybe(func() { Matrix[int]{Rows: 1, Cols: 1}.Tile(0, 0, 2) })
	refused(t, err, "has 0 elements")
}
