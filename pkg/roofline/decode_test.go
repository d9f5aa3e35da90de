package roofline

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"memorywall/pkg/internal/arg"
)

// firstBatch is BatchToRidge by trying one batch after the other up to most.
func firstBatch(t *testing.T, m Machine, k, n, most int64) (int64, bool) {
	t.Helper()
	for batch := int64(1); batch <= most; batch++ {
		if bound(t, m, batch, k, n) == ComputeBound {
			return batch, true
		}
	}
	return 0, false
}

func bound(t *testing.T, m Machine, batch, k, n int64) Bound {
	t.Helper()
	intensity := GEMM{M: batch, N: n, K: k, ElemBytes: m.ElemBytes}.Intensity()
	b := m.Classify(intensity)
	return b
}

func TestBatchToRidge(t *testing.T) {
	batch, err := arg.Try(func() int64 { return BatchToRidge(A100(), 4096, 4096) })
	if err != nil || batch != 166 {
		t.Errorf("batch = %d, %v; want 166", batch, err)
	}
	// k and n are alike in the model.
	one, err := arg.Try(func() int64 { return BatchToRidge(A100(), 4096, 11008) })
	two, err2 := arg.Try(func() int64 { return BatchToRidge(A100(), 11008, 4096) })
	if err != nil || err2 != nil || one != two {
		t.Errorf("batch = %d, %v and, with k and n changed over, %d, %v", one, err, two, err2)
	}
	// A machine that is never memory-bound.
	if batch, err := arg.Try(func() int64 { return BatchToRidge(machine(1, 1e6, 1), 1, 1) }); err != nil || batch != 1 {
		t.Errorf("batch = %d, %v; want 1", batch, err)
	}
}

func TestBatchToRidgeIsTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	answered := 0
	for range 3000 {
		k, n, s := 1+rng.Int64N(40), 1+rng.Int64N(40), 1+rng.Int64N(4)
		m := machine(float64(1+rng.Int64N(400)), float64(1+rng.Int64N(40)), s)
		got, err := arg.Try(func() int64 { return BatchToRidge(m, k, n) })
		const most = 400
		want, found := firstBatch(t, m, k, n, most)
		switch {
		case err != nil && found:
			t.Errorf("%+v, k = %d, n = %d: %v, but batch %d reaches it", m, k, n, err, want)
		case err == nil && found && got != want || err == nil && !found && got <= most:
			t.Errorf("%+v, k = %d, n = %d: batch %d, want %d", m, k, n, got, want)
		case found:
			answered++
		}
	}
	if answered < 500 {
		t.Errorf("only %d cases had an answer: choose others", answered)
	}
}

// A machine whose ridge is the intensity of a batch exactly: that batch is the
// answer, for a tie is compute-bound.
func TestBatchToRidgeTie(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		g := GEMM{1 + rng.Int64N(5000), 1 + rng.Int64N(5000), 1 + rng.Int64N(5000), 1 + rng.Int64N(8)}
		flops := g.FLOPs()
		bytes := g.MinBytes()
		m := machine(float64(flops), float64(bytes), g.ElemBytes)
		got, err := arg.Try(func() int64 { return BatchToRidge(m, g.K, g.N) })
		if err != nil || got != g.M {
			t.Errorf("%+v: batch %d, %v; want %d", g, got, err, g.M)
		}
	}
}

// The limit is never attained: a ridge at it has no batch, however the floats
// round; a ridge just below it has one.
func TestBatchLimitIsASupremum(t *testing.T) {
	limit, err := arg.Try(func() float64 { return BatchLimit(64, 64, 2) })
	if err != nil || limit != 32 {
		t.Fatalf("limit %v, %v; want 32", limit, err)
	}
	for _, ridge := range []float64{32, math.Nextafter(32, 33), 33, 1e300} {
		err := Maybe(func() { BatchToRidge(machine(ridge, 1, 2), 64, 64) })
		var none *UnreachableError
		if !errors.As(err, &none) {
			t.Fatalf("ridge %v: %v; want an UnreachableError", ridge, err)
		}
		if none.Best != 32 || none.Ridge != ridge {
			t.Errorf("ridge %v: best %v for ridge %v", ridge, none.Best, none.Ridge)
		}
		refused(t, err, "no batch reaches the ridge", "k = 64, n = 64, element size 2", "tends to 32 FLOP/byte and stays below it")
	}
	m := machine(math.Nextafter(32, 0), 1, 2)
	batch, err := arg.Try(func() int64 { return BatchToRidge(m, 64, 64) })
	if err != nil || batch < 1e15 || bound(t, m, batch, 64, 64) != ComputeBound || bound(t, m, batch-1, 64, 64) != MemoryBound {
		t.Errorf("ridge just below the limit: batch %d, %v", batch, err)
	}
	// limit of k = n = 3 at s = 1 is 3, and 0.3/0.1 rounds to just below 3,
	// while the exact quotient of the two floats is below 3 as well or not:
	// either way the answer and the classes agree.
	for _, peak := range []float64{0.3, math.Nextafter(0.3, 1), math.Nextafter(0.3, 0)} {
		m := machine(peak, 0.1, 1)
		batch, err := arg.Try(func() int64 { return BatchToRidge(m, 3, 3) })
		if err == nil && (bound(t, m, batch, 3, 3) != ComputeBound || batch > 1 && bound(t, m, batch-1, 3, 3) != MemoryBound) {
			t.Errorf("peak %v: batch %d is not the first", peak, batch)
		}
		var none *UnreachableError
		if err != nil && !errors.As(err, &none) {
			t.Errorf("peak %v: %v", peak, err)
		}
	}
}

// An intensity half-way between two floats rounds to the even one. Where the
// ridge is the odd one above it, the batch with that intensity falls short.
func TestBatchToRidgeHalfWay(t *testing.T) {
	// With k = n = 2a, m = b, a + b = 2^29 and s = 3 the intensity is
	// ab/3 / 2^28. Odd ab/3 of 54 bits are half-way between floats.
	const s = 3
	const x = 189812533 // about 2^27.5, odd, and 2^28 − x is a multiple of 3
	const a, b = 1<<28 + x, 1<<28 - x
	q := int64(a) * b / s
	if q*s != int64(a)*b || q%2 != 1 || q < 1<<53 || q >= 1<<54 {
		t.Fatalf("%d is not half-way", q)
	}
	above := float64((q+1)/2) / (1 << 27)
	if math.Float64bits(above)%2 != 1 {
		t.Fatalf("%v is even", above)
	}
	batch, err := arg.Try(func() int64 { return BatchToRidge(machine(above, 1, s), 2*a, 2*a) })
	if err != nil || batch != b+1 {
		t.Errorf("odd ridge: batch %d, %v; want %d", batch, err, b+1)
	}
	below := math.Nextafter(above, 0)
	batch, err = arg.Try(func() int64 { return BatchToRidge(machine(below, 1, s), 2*a, 2*a) })
	if err != nil || batch > b || bound(t, machine(below, 1, s), batch, 2*a, 2*a) != ComputeBound || bound(t, machine(below, 1, s), batch-1, 2*a, 2*a) != MemoryBound {
		t.Errorf("even ridge: batch %d, %v; want the first, at most %d", batch, err, b)
	}

	// With s = 1 and a + b = 2^28 the even one is above: the batch reaches it.
	const y = 3
	const c, d = 1<<27 + y, 1<<27 - y
	up := float64((int64(c)*d+1)/2) / (1 << 26)
	batch, err = arg.Try(func() int64 { return BatchToRidge(machine(up, 1, 1), 2*c, 2*c) })
	if err != nil || batch != d {
		t.Errorf("half-way to an even ridge: batch %d, %v; want %d", batch, err, d)
	}
}

// With k = n = 2 and s = 1 the intensity 2m/(m + 1) stays below a ridge of 2,
// and some huge batch rounds to it: the doc says that none reaches it.
func TestBatchToALimitAtTheRidge(t *testing.T) {
	m := machine(2, 1, 1)
	var none *UnreachableError
	if err := Maybe(func() { BatchToRidge(m, 2, 2) }); !errors.As(err, &none) || none.Best != 2 {
		t.Errorf("%v", err)
	}
	huge := GEMM{M: 1 << 60, N: 2, K: 2, ElemBytes: 1}
	if m.Classify(huge.Intensity()) != ComputeBound || m.Classify(GEMM{M: 1 << 40, N: 2, K: 2, ElemBytes: 1}.Intensity()) != MemoryBound {
		t.Error("a huge batch must round to the ridge, and a large one must not")
	}
}

func TestBatchBeyondInt64(t *testing.T) {
	// Weights so large that the batch must be, too.
	const k = math.MaxInt64
	limit := BatchLimit(k, k, 1)
	err := Maybe(func() { BatchToRidge(machine(limit*0.75, 1, 1), k, k) })
	if !errors.Is(err, ErrOverflow) {
		t.Errorf("%v; want an overflow", err)
	}
	refused(t, err, "batch to reach the ridge", "is about 1.38351e+19", "at most 9223372036854775807")

	// And just within.
	batch, err := arg.Try(func() int64 { return BatchToRidge(machine(limit*0.66, 1, 1), k, k) })
	if err != nil || batch < math.MaxInt64/10*9 {
		t.Errorf("batch %d, %v; want one near the end of int64", batch, err)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		want string
	}{
		{0, 1, "k is 0: it must be at least 1"},
		{-7, 1, "k is -7: it must be at least 1"},
		{1, 0, "n is 0: it must be at least 1"},
		{1, -1, "n is -1: it must be at least 1"},
	} {
		err := Maybe(func() { BatchToRidge(A100(), c.k, c.n) })
		refused(t, err, c.want)
		err = Maybe(func() { BatchLimit(c.k, c.n, 2) })
		refused(t, err, c.want)
	}
	err := Maybe(func() { BatchLimit(1, 1, 0) })
	refused(t, err, "element size is 0 bytes: it must be at least 1")

	for _, c := range []struct {
		params float64
		says   string
	}{{0, "0"}, {-7e9, "-7e+09"}, {nan, "NaN"}, {inf, "+Inf"}, {-inf, "-Inf"}} {
		for _, call := range []func(Machine, float64) float64{WeightBytes, WeightReadTime, TokensPerSecond} {
			err := Maybe(func() { call(A100(), c.params) })
			refused(t, err, "number of parameters is "+c.says, "positive and finite")
		}
	}
	err = Maybe(func() { WeightBytes(A100(), math.MaxFloat64) })
	refused(t, err, "size of the weights is +Inf bytes")
	err = Maybe(func() { WeightReadTime(machine(1, 1e-10, 1), 1e300) })
	refused(t, err, "weight read time is +Inf s")
	err = Maybe(func() { TokensPerSecond(machine(1e300, 1e300, 1), 1e-9) })
	refused(t, err, "token rate is +Inf tokens/s")
}

func TestWeights(t *testing.T) {
	m := machine(1000, 100, 2)
	bytes, err := arg.Try(func() float64 { return WeightBytes(m, 25) })
	read, err2 := arg.Try(func() float64 { return WeightReadTime(m, 25) })
	rate, err3 := arg.Try(func() float64 { return TokensPerSecond(m, 25) })
	if err != nil || err2 != nil || err3 != nil || bytes != 50 || read != 0.5 || rate != 2 {
		t.Errorf("%v bytes, %v s, %v tokens/s; errors %v, %v, %v", bytes, read, rate, err, err2, err3)
	}
}

// For any machine and sizes: the answer reaches the ridge and the batch before
// it does not; and where there is none, not even the largest batch does.
func FuzzBatchToRidge(f *testing.F) {
	f.Add(312e12, 2039e9, int64(4096), int64(4096), int64(2))
	f.Add(32.0, 1.0, int64(64), int64(64), int64(2))
	f.Add(math.Nextafter(32, 0), 1.0, int64(64), int64(64), int64(2))
	f.Add(0.3, 0.1, int64(3), int64(3), int64(1))
	f.Add(0.75*math.MaxInt64, 1.0, int64(math.MaxInt64), int64(math.MaxInt64), int64(1))
	f.Add(1e300, 1e10, int64(5), int64(1), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, peak, bandwidth float64, k, n, s int64) {
		checkBatch(t, machine(peak, bandwidth, s), k, n)

		// And with a ridge that is the intensity of some batch, or the next
		// float to either side of it.
		if k < 1 || n < 1 || s < 1 {
			return
		}
		batch := 1 + int64(math.Float64bits(peak)>>1)%math.MaxInt64
		for _, batch := range []int64{batch, 1 + batch%1_000_000} {
			i := GEMM{M: batch, N: n, K: k, ElemBytes: s}.Intensity()
			for _, ridge := range []float64{math.Nextafter(i, 0), i, math.Nextafter(i, inf)} {
				checkBatch(t, machine(ridge, 1, s), k, n)
			}
		}
	})
}

func checkBatch(t *testing.T, m Machine, k, n int64) {
	t.Helper()
	got, err := arg.Try(func() int64 { return BatchToRidge(m, k, n) })
	if m.Validate() != nil || k < 1 || n < 1 {
		if err == nil {
			t.Errorf("%+v, k = %d, n = %d is taken", m, k, n)
		}
		return
	}
	var none *UnreachableError
	switch {
	case err == nil:
		if got < 1 || bound(t, m, got, k, n) != ComputeBound {
			t.Errorf("%+v, k = %d, n = %d: batch %d does not reach the ridge", m, k, n, got)
		}
		if got > 1 && bound(t, m, got-1, k, n) != MemoryBound {
			t.Errorf("%+v, k = %d, n = %d: batch %d is not the first", m, k, n, got)
		}
	case errors.As(err, &none):
		if limit, err := arg.Try(func() float64 { return BatchLimit(k, n, m.ElemBytes) }); err != nil || limit != none.Best || !(limit <= none.Ridge) {
			t.Errorf("%+v, k = %d, n = %d: limit %v, %v; error says %v for ridge %v", m, k, n, limit, err, none.Best, none.Ridge)
		}
	case errors.Is(err, ErrOverflow):
		if bound(t, m, math.MaxInt64, k, n) != MemoryBound {
			t.Errorf("%+v, k = %d, n = %d: %v, but the largest batch reaches it", m, k, n, err)
		}
	default:
		t.Errorf("%+v, k = %d, n = %d: %v", m, k, n, err)
	}
}

func BenchmarkBatchToRidge(b *testing.B) {
	m := A100()
	for b.Loop() {
		if err := Maybe(func() { BatchToRidge(m, 4096, 4096) }); err != nil {
			b.Fatal(err)
		}
	}
}
