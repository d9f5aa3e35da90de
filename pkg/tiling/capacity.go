package tiling

import (
	"fmt"
	"math"
	"math/big"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// FastBytes returns 3b²s, the bytes of fast memory that the tiles need: one
// b×b tile each of A, B and C at s bytes an element. It panics if an argument is
// below 1, and with [roofline.ErrOverflow] beyond int64.
func FastBytes(tile, elemBytes int64) int64 {
	arg.Size("tiling", "tile", tile)
	arg.ElemBytes("tiling", elemBytes)
	need := num.Sum{{3, tile, tile, elemBytes}}
	return fits(need, "fast bytes, 3b²s,", "b = %d, element size %d", tile, elemBytes)
}

// LargestTile returns the greatest b with 3b²s ≤ capacity, in elements. It
// panics if the capacity is below 3s bytes, which is less than one 1×1 tile of
// each matrix.
func LargestTile(capacityBytes, elemBytes int64) int64 {
	arg.ElemBytes("tiling", elemBytes)
	// b² ≤ ⌊capacity/3s⌋; dividing twice needs no product that could wrap.
	square := capacityBytes / elemBytes / 3
	if capacityBytes < 0 || square < 1 {
		need := num.Sum{{3, elemBytes}}
		arg.Refuse("capacity", capacityBytes, "tiling: capacity is %d bytes: one element each of A, B and C at %d bytes needs at least %s", capacityBytes, elemBytes, need.Big())
	}
	return isqrt(square)
}

// isqrt returns ⌊√v⌋, exactly, for 0 ≤ v < 2^62. The root of the nearest
// float64 is never too small, for ⌊√v⌋ has less than half as many bits as a
// float64; but it may have been rounded up.
func isqrt(v int64) int64 {
	r := int64(math.Sqrt(float64(v)))
	if r*r > v {
		r--
	}
	return r
}

// Intensity returns the arithmetic intensity, in FLOP/byte, of an n×n×n
// multiply with tile×tile tiles. With T = ⌈n/b⌉ tiles per side it is
//
//	2n³ / ((2Tn² + n²)s) = 2n / ((2T + 1)s),
//
// rounded once, and so never falls as the tile grows. It has a value also
// where the counts would leave int64. It panics if an argument is below 1.
func Intensity(n, tile, elemBytes int64) float64 {
	arg.Size("tiling", "n", n)
	arg.Size("tiling", "tile", tile)
	arg.ElemBytes("tiling", elemBytes)
	return perSide(n, num.CeilDiv(n, tile), elemBytes)
}

// perSide is the intensity with t tiles per side.
func perSide(n, t, elemBytes int64) float64 {
	return num.Ratio(num.Sum{{2, n}}, num.Sum{{2, t, elemBytes}, {elemBytes}})
}

// TilesPerSide returns ⌈n/b⌉, the number of tiles along a side of n elements. It
// panics if an argument is below 1.
func TilesPerSide(n, tile int64) int64 {
	arg.Size("tiling", "n", n)
	arg.Size("tiling", "tile", tile)
	return num.CeilDiv(n, tile)
}

// RuleOfThumbTile returns s·ridge, in elements: the tile size whose intensity
// b/s is the ridge, if the stores of C and the whole number of tiles are left
// out of account. It panics if an argument is not positive and finite.
func RuleOfThumbTile(ridge float64, elemBytes int64) float64 {
	arg.Positive("tiling", "ridge", ridge, "FLOP/byte")
	arg.ElemBytes("tiling", elemBytes)
	b := float64(elemBytes) * ridge
	if math.IsInf(b, 1) {
		arg.Refuse("ridge", ridge, "tiling: ridge is %g FLOP/byte: times the element size %d it is beyond float64", ridge, elemBytes)
	}
	return b
}

// FractionalRidgeTile returns the smallest real b at which an n×n×n multiply
// reaches the ridge if the number of tiles per side could be fractional, that
// is with (b/s)/(1 + b/2n) ≥ ridge:
//
//	b = sr/(1 − sr/2n), sr = s·ridge.
//
// Where it would exceed n, that is for sr > 2n/3, there is no answer, as there
// is none for RidgeTile: it panics with a [roofline.UnreachableError] whose Best
// is the intensity at b = n.
func FractionalRidgeTile(n, elemBytes int64, ridge float64) float64 {
	arg.Size("tiling", "n", n)
	sr := RuleOfThumbTile(ridge, elemBytes)
	if perSide(n, 1, elemBytes) < ridge {
		unreachable(n, elemBytes, ridge)
	}
	return min(sr/(1-sr/(2*float64(n))), float64(n))
}

// RidgeTile returns the smallest whole b at which an n×n×n multiply with b×b
// tiles reaches the ridge: Intensity(n, b, s) ≥ ridge > Intensity(n, b−1, s).
// It takes constant time.
//
// The intensity depends on b only through the number of tiles per side, so the
// answer is ⌈n/T⌉ for the largest T with 2n/((2T+1)s) ≥ ridge. If not even
// b = n does it, it panics with a [roofline.UnreachableError] whose Best is the
// intensity there, 2n/3s.
func RidgeTile(n, elemBytes int64, ridge float64) int64 {
	arg.Size("tiling", "n", n)
	arg.ElemBytes("tiling", elemBytes)
	arg.Positive("tiling", "ridge", ridge, "FLOP/byte")
	reaches := func(t int64) bool { return perSide(n, t, elemBytes) >= ridge }
	if !reaches(1) {
		unreachable(n, elemBytes, ridge)
	}
	t := tilesGuess(n, elemBytes, ridge)
	switch { // rounding may have moved the guess by one
	case t < n && reaches(t+1):
		t++
	case !reaches(t):
		t--
	}
	return num.CeilDiv(n, t)
}

// tilesGuess solves 2n/((2T+1)s) = ridge for T, within 1, and at least 1 and
// at most n.
func tilesGuess(n, elemBytes int64, ridge float64) int64 {
	const narrow = 1 << 40 // far below 2^53, so the float64 arithmetic is off by less than 1
	t := (2*float64(n)/(float64(elemBytes)*ridge) - 1) / 2
	switch {
	case t < narrow:
		return min(max(int64(t), 1), n)
	case n < narrow:
		return n
	}
	// Exactly, then: what rounds to the ridge begins half a unit in the last
	// place below it. T = n/(s·ridge) − 1/2, rounded down.
	half := big.NewRat(1, 2)
	from := new(big.Rat).Add(new(big.Rat).SetFloat64(ridge), new(big.Rat).SetFloat64(math.Nextafter(ridge, 0)))
	from.Mul(from, half)
	q := new(big.Rat).SetInt64(n)
	q.Quo(q, from).Quo(q, new(big.Rat).SetInt64(elemBytes)).Sub(q, half)
	whole := new(big.Int).Quo(q.Num(), q.Denom())
	if !whole.IsInt64() {
		return n
	}
	return min(max(whole.Int64(), 1), n)
}

func unreachable(n, elemBytes int64, ridge float64) {
	best := perSide(n, 1, elemBytes)
	(&roofline.UnreachableError{
		Text: fmt.Sprintf("tiling: no tile reaches the ridge of %.6g FLOP/byte at n = %d, element size %d: the best is the whole matrix as one tile, b = %d, with %.6g FLOP/byte; use a larger n, smaller elements, or a machine with a lower ridge",
			ridge, n, elemBytes, n, best),
		Ridge: ridge,
		Best:  best,
	}).Panic()
}
