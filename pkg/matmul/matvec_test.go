package matmul

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMatVec(t *testing.T) {
	t.Run("float32", testMatVec[float32])
	t.Run("float64", testMatVec[float64])
}

func testMatVec[T Float](t *testing.T) {
	for _, r := range []struct {
		name string
		f    VecFunc[T]
	}{{"loops", MatVec[T]}, {"simd", SIMDMatVec[T]}, {"parallel", MultiplyVec[T]}, {"gonum", GonumMatVec[T]}} {
		t.Run(r.name, func(t *testing.T) {
			f := r.f
			rng := rand.New(rand.NewPCG(11, 12))
			sizes := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300}
			if raceEnabled {
				sizes = []int{0, 1, 5, 17, 300}
			}
			for _, m := range sizes {
				for _, n := range sizes {
					for _, wide := range []int{0, 3} {
						a := newFrame(m, n, n+wide, smallInts[T](rng))
						x := newFrame(1, n, n, smallInts[T](rng))
						y := newFrame(1, m, m, smallInts[T](rng))
						if err := f(m, n, a.x, a.ld, x.x, y.x); err != nil {
							t.Fatalf("m=%d n=%d: %v", m, n, err)
						}
						for i := range m {
							var want T
							for j := range n {
								want += a.at(i, j) * x.at(0, j)
							}
							if got := y.at(0, i); !(got == want) {
								t.Fatalf("m=%d n=%d wide=%d: y[%d] = %v, want %v", m, n, wide, i, got, want)
							}
						}
						a.unchanged(t, "a")
						x.unchanged(t, "x")
						y.guardsHold(t, "y")
					}
				}
			}
			// Normal data, within γ_n of the exact product.
			const m, n = 37, 1003
			a := newFrame(m, n, n+1, anything[T](rng))
			x := newFrame(n, 1, 1, anything[T](rng))
			y := make([]T, m)
			if err := f(m, n, a.x, a.ld, x.x, y); err != nil {
				t.Fatal(err)
			}
			for i := range m {
				want, abs := dot2(a, x, i, 0, n)
				tol := gamma[T](n)*abs + math.Abs(want)*0x1p-53
				if err := math.Abs(float64(y[i]) - want); !(err <= tol) {
					t.Fatalf("y[%d] = %v, want %v: off by %g, bound %g", i, y[i], want, err, tol)
				}
			}
			// NaN and Inf reach their own row only.
			a.x[3*a.ld+5] = T(math.NaN())
			a.x[9*a.ld+1002] = T(math.Inf(-1))
			x.x[1002] = 2
			if err := f(m, n, a.x, a.ld, x.x, y); err != nil {
				t.Fatal(err)
			}
			for i, v := range y {
				switch {
				case i == 3 && v == v, i == 9 && !math.IsInf(float64(v), -1), i != 3 && i != 9 && math.IsNaN(float64(v-v)):
					t.Fatalf("y[%d] = %v", i, v)
				}
			}
			testMatVecErrors(t, f)
		})
	}
}

func testMatVecErrors[T Float](t *testing.T, f VecFunc[T]) {
	buf := make([]T, 100)
	for _, tc := range []struct {
		m, n, lda int
		a, x, y   []T
		want      string
	}{
		{-2, 3, 3, make([]T, 6), make([]T, 3), make([]T, 2), "m is -2"},
		{2, -3, 3, make([]T, 6), make([]T, 3), make([]T, 2), "n is -3"},
		{2, 3, 2, make([]T, 6), make([]T, 3), make([]T, 2), "lda is 2"},
		{2, 3, 3, make([]T, 5), make([]T, 3), make([]T, 2), "a has 5 elements"},
		{2, 3, 3, make([]T, 6), make([]T, 2), make([]T, 2), "x has 2 elements"},
		{2, 3, 3, make([]T, 6), make([]T, 3), make([]T, 1), "y has 1 elements"},
		{2, 3, 3, buf, make([]T, 3), buf[4:], "y shares memory with a"},
		{2, 3, 3, make([]T, 6), buf, buf[2:], "y shares memory with x"},
	} {
		if err := f(tc.m, tc.n, tc.a, tc.lda, tc.x, tc.y); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}
