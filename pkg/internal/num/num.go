// Package num is the arithmetic that the packages share: exact sums and
// quotients of counts, and the median.
package num

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// CeilDiv returns ⌈n/b⌉ for n ≥ 0 and b ≥ 1.
func CeilDiv[T ~int | ~int64](n, b T) T {
	if n == 0 {
		return 0
	}
	return (n-1)/b + 1
}

// Median returns the median of values, the mean of the middle two for an even
// number of them, and NaN for none. It leaves values as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Sum is a sum of products of integers, such as m·k + k·n:
//
//	Sum{{m, k}, {k, n}}
//
// Its methods are exact for every int64: they never wrap.
type Sum [][]int64

// Int64 returns the value of the sum and whether it fits in int64. Where it
// does not fit, the value is 0.
func (s Sum) Int64() (int64, bool) {
	total := uint64(0)
	for _, product := range s {
		p := uint64(1)
		for _, factor := range product {
			hi, lo := bits.Mul64(p, uint64(factor))
			if factor < 0 || hi != 0 {
				return s.slowInt64()
			}
			p = lo
		}
		sum, carry := bits.Add64(total, p, 0)
		if carry != 0 {
			return s.slowInt64()
		}
		total = sum
	}
	if total > math.MaxInt64 {
		return 0, false
	}
	return int64(total), true
}

// slowInt64 is Int64 for sums with a negative factor or with a part beyond
// 64 bits (which may yet be multiplied by 0).
func (s Sum) slowInt64() (int64, bool) {
	v := s.Big()
	if !v.IsInt64() {
		return 0, false
	}
	return v.Int64(), true
}

// Big returns the value of the sum.
func (s Sum) Big() *big.Int {
	total := new(big.Int)
	for _, product := range s {
		p := big.NewInt(1)
		for _, factor := range product {
			p.Mul(p, big.NewInt(factor))
		}
		total.Add(total, p)
	}
	return total
}

// Float64 returns the float64 nearest to the value of the sum.
func (s Sum) Float64() float64 {
	f, _ := new(big.Float).SetInt(s.Big()).Float64()
	return f
}

// Ratio returns the float64 nearest to num/den. It is rounded once, so it
// never falls where the exact quotient rises. Over a zero den it is what
// float64 division gives: infinite, or NaN for 0/0.
func Ratio(num, den Sum) float64 {
	const exact = 1 << 53 // every integer up to here is a float64
	a, aFits := num.Int64()
	b, bFits := den.Int64()
	if aFits && bFits && -exact <= a && a <= exact && -exact <= b && b <= exact {
		return float64(a) / float64(b)
	}
	x, y := num.Big(), den.Big()
	if y.Sign() == 0 {
		return math.Inf(x.Sign())
	}
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	return f
}
