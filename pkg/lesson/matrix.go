package lesson

import (
	"fmt"

	"memorywall/pkg/tiling"
)

// SameMatrix asserts that two matrices have the same shape and the same
// elements, each exactly.
func SameMatrix[T tiling.Number](what string, got, want tiling.Matrix[T]) {
	f := failure{title: "Not the same matrix", what: what, advice: checkInputs}
	for _, m := range []tiling.Matrix[T]{got, want} {
		if err := m.Validate(); err != nil {
			f.rows = [][2]string{{"problem", err.Error()}}
			f.stop()
			return
		}
	}
	if got.Rows != want.Rows || got.Cols != want.Cols {
		f.rows = [][2]string{{"expected", shape(want)}, {"got", shape(got)}}
		f.stop()
		return
	}
	differ, first := 0, 0
	for i := range got.Data {
		if got.Data[i] != want.Data[i] {
			if differ == 0 {
				first = i
			}
			differ++
		}
	}
	if differ == 0 {
		held(what, "", fmt.Sprintf("%s, all %s elements equal", shape(got), plain(len(got.Data))))
		return
	}
	g, w := any(got.Data[first]), any(want.Data[first])
	f.rows = [][2]string{
		{"differ", fmt.Sprintf("%s of %s elements", plain(differ), plain(len(got.Data)))},
		{"first", fmt.Sprintf("row %d, column %d, counted from 0", first/got.Cols, first%got.Cols)},
		{"expected", exact(w)},
		{"got", exact(g)},
	}
	if x, ok := toFloat(g); ok {
		f.advice = adviceFor(x)
	}
	f.stop()
}

func shape[T tiling.Number](m tiling.Matrix[T]) string {
	return fmt.Sprintf("%d×%d", m.Rows, m.Cols)
}
