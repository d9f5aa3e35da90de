package roofline

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"memorywall/pkg/internal/arg"
)

func TestGEMM(t *testing.T) {
	for _, c := range []struct {
		g            GEMM
		flops, bytes int64
		intensity    float64
	}{
		{Square(2, 4), 16, 48, 1.0 / 3},
		{Square(1, 1), 2, 3, 2.0 / 3},
		{GEMM{M: 1, N: 3, K: 2, ElemBytes: 2}, 12, (2 + 6 + 3) * 2, 12.0 / 22},
		{GEMM{M: 5, N: 7, K: 3, ElemBytes: 8}, 210, (15 + 21 + 35) * 8, 210.0 / 568},
	} {
		flops, err := arg.Try(func() int64 { return c.g.FLOPs() })
		if err != nil || flops != c.flops {
			t.Errorf("%+v: FLOPs %d, %v; want %d", c.g, flops, err, c.flops)
		}
		bytes, err := arg.Try(func() int64 { return c.g.MinBytes() })
		if err != nil || bytes != c.bytes {
			t.Errorf("%+v: bytes %d, %v; want %d", c.g, bytes, err, c.bytes)
		}
		intensity, err := arg.Try(func() float64 { return c.g.Intensity() })
		if err != nil || intensity != c.intensity {
			t.Errorf("%+v: intensity %v, %v; want %v", c.g, intensity, err, c.intensity)
		}
	}
}

func TestGEMMErrors(t *testing.T) {
	for _, c := range []struct {
		g    GEMM
		want string
	}{
		{GEMM{0, 1, 1, 1}, "m is 0: it must be at least 1"},
		{GEMM{1, -5, 1, 1}, "n is -5: it must be at least 1"},
		{GEMM{1, 1, 0, 1}, "k is 0: it must be at least 1"},
		{GEMM{1, 1, 1, 0}, "element size is 0 bytes: it must be at least 1"},
		{Square(-2, 4), "m is -2: it must be at least 1"},
		{Square(4, -4), "element size is -4 bytes: it must be at least 1"},
	} {
		refused(t, c.g.Validate(), c.want)
		err := Maybe(func() { c.g.FLOPs() })
		refused(t, err, c.want)
		err = Maybe(func() { c.g.MinBytes() })
		refused(t, err, c.want)
		err = Maybe(func() { c.g.Intensity() })
		refused(t, err, c.want)
	}
}

func TestFLOPsLeaveInt64(t *testing.T) {
	const first = 1_664_511
	got, err := arg.Try(func() int64 { return Square(first-1, 2).FLOPs() })
	n := big.NewInt(first - 1)
	want := new(big.Int).Mul(n, n)
	want.Mul(want, n).Lsh(want, 1)
	if err != nil || got != want.Int64() || !want.IsInt64() {
		t.Errorf("FLOPs of the largest cube = %d, %v; want %v", got, err, want)
	}
	for _, n := range []int64{first, 1 << 21, 1 << 22, 1 << 40, math.MaxInt64} {
		err := Maybe(func() { Square(n, 2).FLOPs() })
		refused(t, err, "work, 2mnk FLOPs", "is about", "at most 9223372036854775807", "fits up to 1664510")
		if !errors.Is(err, ErrOverflow) {
			t.Errorf("n = %d: %v is not ErrOverflow", n, err)
		}
	}
	err = Maybe(func() { GEMM{1 << 31, 1 << 31, 1, 1}.FLOPs() })
	refused(t, err, "m = 2147483648, n = 2147483648, k = 1", "is about 9.22337e+18")

	err = Maybe(func() { Square(1<<31, 1).MinBytes() }) // 3·2^62
	refused(t, err, "compulsory traffic, (mk + kn + mn)s bytes", "is about 1.38351e+19", "at most 9223372036854775807")
	if !errors.Is(err, ErrOverflow) {
		t.Errorf("%v is not ErrOverflow", err)
	}
}

// The intensity has a value where the counts have none.
func TestIntensityBeyondCounts(t *testing.T) {
	for _, n := range []int64{1_664_511, 1e9, 1e15, math.MaxInt64} {
		got := Square(n, 2).Intensity()
		near(t, "intensity", got, float64(n)/3)
	}
	got := Square(math.MaxInt64, math.MaxInt64).Intensity()
	near(t, "intensity", got, 2.0/3)
}

func FuzzGEMM(f *testing.F) {
	f.Add(int64(2), int64(2), int64(2), int64(4))
	f.Add(int64(1_664_511), int64(1_664_511), int64(1_664_511), int64(2))
	f.Add(int64(math.MaxInt64), int64(1), int64(1), int64(8))
	f.Add(int64(1)<<32, int64(1)<<31, int64(1), int64(1))
	f.Fuzz(func(t *testing.T, m, n, k, s int64) {
		g := GEMM{m, n, k, s}
		flops, err := arg.Try(func() int64 { return g.FLOPs() })
		bytes, err2 := arg.Try(func() int64 { return g.MinBytes() })
		intensity, err3 := arg.Try(func() float64 { return g.Intensity() })
		if m < 1 || n < 1 || k < 1 || s < 1 {
			if err == nil || err2 == nil || err3 == nil {
				t.Errorf("%+v is taken", g)
			}
			return
		}
		mul := func(a ...int64) *big.Int {
			p := big.NewInt(1)
			for _, x := range a {
				p.Mul(p, big.NewInt(x))
			}
			return p
		}
		work := mul(2, m, n, k)
		least := mul(m, k, s)
		least.Add(least, mul(k, n, s)).Add(least, mul(m, n, s))
		for _, c := range []struct {
			what string
			got  int64
			err  error
			want *big.Int
		}{{"FLOPs", flops, err, work}, {"bytes", bytes, err2, least}} {
			if c.want.IsInt64() {
				if c.err != nil || c.got != c.want.Int64() {
					t.Errorf("%+v: %s %d, %v; want %v", g, c.what, c.got, c.err, c.want)
				}
			} else if !errors.Is(c.err, ErrOverflow) {
				t.Errorf("%+v: %s %d, %v; want an overflow, for it is %v", g, c.what, c.got, c.err, c.want)
			}
		}
		exact, _ := new(big.Rat).SetFrac(work, least).Float64()
		if err3 != nil || intensity != exact {
			t.Errorf("%+v: intensity %v, %v; want %v", g, intensity, err3, exact)
		}
	})
}
