package llama

import (
	"math"
	"testing"
)

func TestExp(t *testing.T) {
	worst := 0.0
	for x := float32(-86.9); x < 88; x += 0.000937 {
		want := math.Exp(float64(x))
		if e := math.Abs(float64(exp(x))/want - 1); !(e <= worst) {
			worst = e
		}
	}
	t.Logf("largest relative error: %.2g", worst)
	if !(worst < 0x1p-22) {
		t.Errorf("e^x is off by %g of itself", worst)
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	if exp(0) != 1 || exp(-inf) != 0 || exp(inf) != inf || exp(nan) == exp(nan) || exp(-100) != 0 || exp(100) != inf {
		t.Errorf("e^0 = %g, e^-Inf = %g, e^Inf = %g, e^NaN = %g, e^-100 = %g, e^100 = %g", exp(0), exp(-inf), exp(inf), exp(nan), exp(-100), exp(100))
	}
}

// TestOperators holds each operator against its formula in float64.
func TestOperators(t *testing.T) {
	for _, n := range []int{2, 4, 6, 64, 578} {
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(math.Sin(float64(3*i+1)))*3, float32(math.Cos(float64(i)))
		}
		near := func(what string, got float32, want float64) {
			t.Helper()
			if !(math.Abs(float64(got)-want) <= 1e-5*(1+math.Abs(want))) {
				t.Errorf("%s of %d: %g, want %g", what, n, got, want)
			}
		}
		squares, top, sum := 0.0, math.Inf(-1), 0.0
		for _, v := range x {
			squares += float64(v) * float64(v)
			top = max(top, float64(v))
		}
		norm := make([]float32, n)
		rmsNorm(norm, x, y, 1e-5)
		if got := largest(x); float64(got) != top {
			t.Errorf("the largest of %d: %g, want %g", n, got, top)
		}
		weights := append([]float32(nil), x...)
		got := expSum(weights, float32(top))
		act := append([]float32(nil), x...)
		swiGLU(act, y)
		for i, v := range x {
			near("rmsNorm", norm[i], float64(v)/math.Sqrt(squares/float64(n)+1e-5)*float64(y[i]))
			near("swiGLU", act[i], float64(v)/(1+math.Exp(-float64(v)))*float64(y[i]))
			near("expSum", weights[i], math.Exp(float64(v)-top))
			sum += math.Exp(float64(v) - top)
		}
		near("the sum of expSum", got, sum)
		cos, sin := make([]float32, n/2), make([]float32, n/2)
		fs := ropeFrequencies(10000, n)
		rotation(cos, sin, 7, fs)
		for _, interleaved := range []bool{true, false} {
			turned := append([]float32(nil), x...)
			rotate(turned, cos, sin, interleaved)
			for i := range n / 2 {
				a, b := 2*i, 2*i+1
				if !interleaved {
					a, b = i, i+n/2
				}
				s, c := math.Sincos(7 * math.Pow(10000, -2*float64(i)/float64(n)))
				near("rotate", turned[a], float64(x[a])*c-float64(x[b])*s)
				near("rotate", turned[b], float64(x[a])*s+float64(x[b])*c)
			}
		}
	}
}

func BenchmarkOperators(b *testing.B) {
	x, y := make([]float32, 1536), make([]float32, 1536)
	b.Run("expSum", func(b *testing.B) {
		for b.Loop() {
			clear(x)
			expSum(x, 1)
		}
	})
	b.Run("swiGLU", func(b *testing.B) {
		for b.Loop() {
			swiGLU(x, y)
		}
	})
	b.Run("rmsNorm", func(b *testing.B) {
		for b.Loop() {
			rmsNorm(x, x, y, 1e-5)
		}
	})
}
