package tiling

import (
	"math"
	"testing"
)

func TestFromRows(t *testing.T) {
	rows := [][]int64{{1, 2, 3}, {4, 5, 6}}
	m := must[Matrix[int64]](t)(FromRows(rows))
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
		m, err := FromRows(rows)
		if err != nil || m.Rows != len(rows) || m.Cols != 0 || m.Validate() != nil || len(m.ToRows()) != len(rows) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}

	_, err := FromRows([][]float64{{1, 2}, {3, 4}, {5}})
	refused(t, err, "tiling: row 2 has 1 elements", "row 0 has 2", "same length")
	_, err = FromRows([][]float64{{}, {3}})
	refused(t, err, "tiling: row 1 has 1 elements", "row 0 has 0")
}

func TestNewErrors(t *testing.T) {
	_, err := New[float64](-1, 2)
	refused(t, err, "tiling: rows is -1", "at least 0")
	_, err = New[float64](2, -3)
	refused(t, err, "tiling: cols is -3", "at least 0")
	_, err = New[int8](MaxElements+1, 1)
	refused(t, err, "tiling: a 134217729×1 matrix has more than 134217728 elements", "use a smaller one")
	_, err = New[float64](math.MaxInt, math.MaxInt)
	refused(t, err, "more than 134217728 elements")
	_, err = New[float64](1<<16, 1<<16) // 2^32, which wraps to 0 where int has 32 bits
	refused(t, err, "tiling: a 65536×65536 matrix")
	// No elements, but so many rows that a loop over them would never end.
	_, err = New[float64](math.MaxInt, 0)
	refused(t, err, "matrix has a side above 134217728")
	_, err = New[float64](0, MaxElements+1)
	refused(t, err, "tiling: a 0×134217729 matrix has a side above 134217728")
}

func TestValidateMatrix(t *testing.T) {
	refused(t, Matrix[int]{Rows: 2, Cols: 2, Data: make([]int, 3)}.Validate(), "tiling: a 2×2 matrix has 3 elements", "rows·cols")
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
		{Matrix[int]{Rows: 2, Cols: 2, Data: make([]int, 3)}, "tiling: a 2×2 matrix has 3 elements in Data: it must have rows·cols"},
		{Matrix[int]{Rows: -1}, "tiling: matrix is -1×0: each side must be from 0 to 134217728"},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("%+v: panic %v, want %q", c.m, got, c.want)
				}
			}()
			c.m.ToRows()
		}()
	}
}

func TestAtPanics(t *testing.T) {
	m := must[Matrix[int]](t)(New[int](2, 3))
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
	m := must[Matrix[float64]](t)(FromRows([][]float64{{1, 2}, {3, 4}}))
	same := must[Matrix[float64]](t)(FromRows([][]float64{{1, 2}, {3, 4}}))
	other := must[Matrix[float64]](t)(FromRows([][]float64{{1, 2}, {3, 5}}))
	flat := must[Matrix[float64]](t)(FromRows([][]float64{{1, 2, 3, 4}}))
	notANumber := must[Matrix[float64]](t)(FromRows([][]float64{{nan}}))
	if !m.Equal(same) || m.Equal(other) || m.Equal(flat) || notANumber.Equal(notANumber) {
		t.Error("Equal is wrong")
	}
}

func TestAdd(t *testing.T) {
	m := must[Matrix[int]](t)(FromRows([][]int{{1, 2}, {3, 4}}))
	sum := must[Matrix[int]](t)(m.Add(m))
	want := must[Matrix[int]](t)(FromRows([][]int{{2, 4}, {6, 8}}))
	if !sum.Equal(want) || m.At(0, 0) != 1 {
		t.Errorf("sum is %v, m is %v", sum, m)
	}
	flat := must[Matrix[int]](t)(New[int](1, 4))
	_, err := m.Add(flat)
	refused(t, err, "tiling: cannot add a 2×2 and a 1×4 matrix", "must be the same")
	broken := Matrix[int]{Rows: 2, Cols: 2}
	_, err = m.Add(broken)
	refused(t, err, "has 0 elements")
	_, err = broken.Add(m)
	refused(t, err, "has 0 elements")
}

func TestTile(t *testing.T) {
	m := must[Matrix[int]](t)(FromRows([][]int{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}))
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
		got := must[Matrix[int]](t)(m.Tile(c.i, c.j, c.tile))
		if want := must[Matrix[int]](t)(FromRows(c.want)); !got.Equal(want) {
			t.Errorf("tile (%d, %d) of size %d is %v, want %v", c.i, c.j, c.tile, got, want)
		}
	}
	_, err := m.Tile(2, 0, 2)
	refused(t, err, "tiling: tile row is 2", "has 2 tile rows of size 2")
	_, err = m.Tile(0, -1, 2)
	refused(t, err, "tiling: tile column is -1", "has 2 tile columns of size 2")
	_, err = m.Tile(0, 0, 0)
	refused(t, err, "tiling: tile is 0: it must be at least 1")
	_, err = Matrix[int]{}.Tile(0, 0, 2)
	refused(t, err, "tile row is 0", "has 0 tile rows")
	_, err = Matrix[int]{Rows: 1}.Tile(0, 0, 2)
	refused(t, err, "tile column is 0", "has 0 tile columns")
	_, err = Matrix[int]{Rows: 1, Cols: 1}.Tile(0, 0, 2)
	refused(t, err, "has 0 elements")
}
