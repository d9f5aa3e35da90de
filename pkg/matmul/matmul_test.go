package matmul

import "testing"

func TestTiledBy(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6}
	b := []float64{1, 0, 2, 1, 0, 3}
	for _, tile := range []int{1, 2, 3, 64, int(^uint(0) >> 1)} {
		c := make([]float64, 4)
		if err := TiledBy[float64](tile)(2, 2, 3, a, 3, b, 2, c, 2); err != nil {
			t.Fatal(err)
		}
		if want := [4]float64{5, 11, 14, 23}; [4]float64(c) != want {
			t.Errorf("tile %d: %v, want %v", tile, c, want)
		}
	}
	if err := TiledBy[float64](2)(int(^uint(0)>>1), 0, 0, nil, 0, nil, 0, nil, 0); err != nil {
		t.Error(err) // rows without elements take no time
	}
	c := make([]float64, 4)
	err := TiledBy[float64](0)(2, 2, 3, a, 3, b, 2, c, 2)
	if want := "matmul: tile is 0: it must be 1 or more"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Two halves of one matrix, its rows just wide enough for both: the result goes
// beside the input. With another leading dimension that is refused, even where no
// element would be in both.
func TestHalvesOfAMatrix(t *testing.T) {
	const n = 3
	b := []float32{1, 2, 0, 0, 1, 0, 5, 0, 1}
	for _, right := range []bool{false, true} {
		x := make([]float32, 2*n*n)
		a, c := x, x[n:]
		if right {
			a, c = x[n:], x
		}
		for i := range n {
			copy(a[2*n*i:], []float32{float32(i), 1, 2})
		}
		if err := Multiply(n, n, n, a, 2*n, b, n, c, 2*n); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			f := float32(i)
			if got, want := [3]float32(c[2*n*i:]), [3]float32{f + 10, 2*f + 1, 2}; got != want {
				t.Errorf("right=%t: row %d is %v, want %v", right, i, got, want)
			}
			if got, want := [3]float32(a[2*n*i:]), [3]float32{f, 1, 2}; got != want {
				t.Errorf("right=%t: row %d of A has become %v", right, i, got)
			}
		}
	}
	x := make([]float32, 100)
	if err := Multiply(2, 1, 1, x, 10, b, 1, x[1:], 11); err == nil {
		t.Error("no error for interleaved blocks with different leading dimensions")
	}
}
