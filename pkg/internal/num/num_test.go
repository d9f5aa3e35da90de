package num

import (
	"math"
	"math/big"
	"testing"
)

func TestSum(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		sum  Sum
		want int64
		fits bool
	}{
		{Sum{}, 0, true},
		{Sum{{}}, 1, true}, // the empty product
		{Sum{{2, 3, 5}, {7}}, 37, true},
		{Sum{{-2, 3}, {10}}, 4, true},
		{Sum{{most}}, most, true},
		{Sum{{most}, {1}}, 0, false},
		{Sum{{most, 2}}, 0, false},
		{Sum{{most, most, most, 0}, {5}}, 5, true},
		{Sum{{most, most}, {-most, most}, {6}}, 6, true},
		{Sum{{math.MinInt64}}, math.MinInt64, true},
		{Sum{{math.MinInt64}, {-1}}, 0, false},
		{Sum{{1 << 31, 1 << 31, 2}}, 0, false}, // 2^63, the first that is too large
		{Sum{{1 << 32, 1 << 32}}, 0, false},    // 2^64, which would wrap to 0
		{Sum{{most}, {most}, {2}}, 0, false},   // 2^64 as a sum
	} {
		got, fits := c.sum.Int64()
		if got != c.want || fits != c.fits {
			t.Errorf("%v.Int64() = %d, %v; want %d, %v", c.sum, got, fits, c.want, c.fits)
		}
		if b := c.sum.Big(); b.IsInt64() != c.fits || c.fits && b.Int64() != c.want {
			t.Errorf("%v.Big() = %v", c.sum, b)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		num, den Sum
		want     float64
	}{
		{Sum{{1}}, Sum{{3}}, 1.0 / 3},
		{Sum{{-1}}, Sum{{4}}, -0.25},
		{Sum{{0}}, Sum{{5}}, 0},
		{Sum{{1}}, Sum{{0}}, math.Inf(1)},
		{Sum{{math.MaxInt64, 2}}, Sum{{0}}, math.Inf(1)},
		{Sum{{math.MaxInt64, math.MaxInt64}}, Sum{{math.MaxInt64}}, 1 << 63},
	} {
		if got := Ratio(c.num, c.den); got != c.want {
			t.Errorf("Ratio(%v, %v) = %v, want %v", c.num, c.den, got, c.want)
		}
	}
	if got := Ratio(Sum{{0}}, Sum{{0}}); !math.IsNaN(got) {
		t.Errorf("0/0 = %v, want NaN", got)
	}

	// Rounding numerator and denominator before the division gives another
	// float64 here: the quotient must be rounded once.
	num, den := int64(1<<53+1), int64(3)
	want, _ := big.NewRat(num, den).Float64()
	if got := Ratio(Sum{{num}}, Sum{{den}}); got != want {
		t.Errorf("Ratio = %v, want %v", got, want)
	}
	if twice := float64(num) / float64(den); twice == want {
		t.Error("the case does not tell one rounding from two: choose another")
	}
}

func FuzzSum(f *testing.F) {
	f.Add(int64(3), int64(-4), int64(1<<40), int64(1<<40), int64(7))
	f.Add(int64(math.MaxInt64), int64(1), int64(1), int64(1), int64(1))
	f.Add(int64(math.MinInt64), int64(1), int64(0), int64(1), int64(0))
	f.Add(int64(1<<32), int64(1<<31), int64(1<<32), int64(1<<31), int64(0))
	f.Fuzz(func(t *testing.T, a, b, c, d, e int64) {
		s := Sum{{a, b}, {c, d, 2}, {e}}
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		second := new(big.Int).Mul(big.NewInt(c), big.NewInt(d))
		want.Add(want, second.Lsh(second, 1)).Add(want, big.NewInt(e))
		got, fits := s.Int64()
		if fits != want.IsInt64() || fits && got != want.Int64() {
			t.Errorf("%v.Int64() = %d, %v; want %v", s, got, fits, want)
		}
		if s.Big().Cmp(want) != 0 {
			t.Errorf("%v.Big() = %v, want %v", s, s.Big(), want)
		}
		if want.Sign() != 0 {
			num := Sum{{a, c, e}, {b}}
			exact, _ := new(big.Rat).SetFrac(num.Big(), want).Float64()
			if r := Ratio(num, s); r != exact {
				t.Errorf("Ratio(%v, %v) = %v, want %v", num, s, r, exact)
			}
		}
	})
}

func TestCeilDivAndMedian(t *testing.T) {
	for _, c := range [][3]int64{{0, 3, 0}, {1, 3, 1}, {3, 3, 1}, {4, 3, 2}, {math.MaxInt64, math.MaxInt64, 1}, {math.MaxInt64, 2, 1 << 62}} {
		if got := CeilDiv(c[0], c[1]); got != c[2] {
			t.Errorf("CeilDiv(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
	values := []float64{3, 1, 2}
	if Median(values) != 2 || Median([]float64{4, 1, 2, 3}) != 2.5 || !math.IsNaN(Median(nil)) || values[0] != 3 {
		t.Error("median")
	}
}
