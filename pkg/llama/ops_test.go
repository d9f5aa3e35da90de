package llama

import (
	"encoding/binary"
	"math"
	"slices"
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

// TestOperators holds each operator against its formula in float64, on every
// instruction set and in plain Go.
func TestOperators(t *testing.T) {
	best := simd
	defer func() { simd = best }()
	for _, simd = range append(vectorSets(), vectors{}) {
		testOperators(t)
	}
}

func testOperators(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	edges := []float32{0, 1, -inf, -100, -87, 88, 100, 65504, 65519.99, 65520, -1e9, 0x1p-14, 0x1.ffcp-15, 0x1p-24, 0x1.8p-24, 0x1p-25, 1 + 0x1p-11, 1 + 0x3p-11, inf, nan}
	for len(edges)%16 != 0 {
		edges = append(edges, 0.1)
	}
	halves, gates, weights := make([]byte, 2*len(edges)), slices.Clone(edges), slices.Clone(edges[:18])
	toFloat16s(halves, edges)
	swiGLU(gates, slices.Repeat([]float32{2}, len(gates)))
	expSum(weights[:16], 88)
	for i, v := range edges {
		if got := binary.LittleEndian.Uint16(halves[2*i:]); v == v && got != toFloat16(v) || v != v && got&0x7fff <= 0x7c00 {
			t.Errorf("%d lanes: %g as binary16 is %#x, want %#x", simd.lanes, v, got, toFloat16(v))
		}
		want := 2 * float64(v) / (1 + math.Exp(-float64(v)))
		if v == -inf {
			want = math.NaN() // -Inf·0
		}
		if got := float64(gates[i]); v == v && v != -inf && !(got == want || math.Abs(got-want) <= 1e-6*math.Abs(want)+1e-28) || v != v && got == got {
			t.Errorf("%d lanes: 2·silu(%g) = %g, want %g", simd.lanes, v, got, want)
		}
		if i < 16 && !(math.Abs(float64(weights[i])-math.Exp(float64(v)-88)) <= 1e-6*math.Exp(float64(v)-88)+1e-36) && v <= 100 {
			t.Errorf("%d lanes: e^(%g-88) = %g", simd.lanes, v, weights[i])
		}
	}
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
