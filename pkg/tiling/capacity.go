package tiling

import (
	"fmt"
	"math"
	"math/big"

	"memorywall/pkg/roofline"
)

// FastBytes returns 3b²s, the bytes of fast memory that the tiles need: one
// b×b tile each of A, B and C at s bytes an element.
func FastBytes(tile, elemBytes int64) (int64, error) {
	if err := checkTile(tile); err != nil {
		return 0, err
	}
	if err := checkElemBytes(elemBytes); err != nil {
		return 0, err
	}
	need := roofline.Sum{{3, tile, tile, elemBytes}}
	v, ok := need.Int64()
	if !ok {
		return 0, overflow("fast bytes, 3b²s,", need, "b = %d, element size %d", tile, elemBytes)
	}
	return v, nil
}

// LargestTile returns the greatest b with 3b²s ≤ capacity, in elements. A
// capacity below 3s bytes, which is less than one 1×1 tile of each matrix, is
// an error.
func LargestTile(capacityBytes, elemBytes int64) (int64, error) {
	if err := checkElemBytes(elemBytes); err != nil {
		return 0, err
	}
	// b² ≤ ⌊capacity/3s⌋; dividing twice needs no product that could wrap.
	square := capacityBytes / elemBytes / 3
	if capacityBytes < 0 || square < 1 {
		need := roofline.Sum{{3, elemBytes}}
		return 0, fmt.Errorf("tiling: capacity is %d bytes: one element each of A, B and C at %d bytes needs at least %s", capacityBytes, elemBytes, need.Big())
	}
	return isqrt(square), nil
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
// where the counts would leave int64.
func Intensity(n, tile, elemBytes int64) (float64, error) {
	if err := checkSize("n", n); err != nil {
		return 0, err
	}
	if err := checkTile(tile); err != nil {
		return 0, err
	}
	if err := checkElemBytes(elemBytes); err != nil {
		return 0, err
	}
	return perSide(n, ceilDiv(n, tile), elemBytes), nil
}

// perSide is the intensity with t tiles per side.
func perSide(n, t, elemBytes int64) float64 {
	return roofline.Ratio(roofline.Sum{{2, n}}, roofline.Sum{{2, t, elemBytes}, {elemBytes}})
}

// TilesPerSide returns ⌈n/b⌉, the number of tiles along a side of n elements.
func TilesPerSide(n, tile int64) (int64, error) {
	if err := checkSize("n", n); err != nil {
		return 0, err
	}
	if err := checkTile(tile); err != nil {
		return 0, err
	}
	return ceilDiv(n, tile), nil
}

// RuleOfThumbTile returns s·ridge, in elements: the tile size whose intensity
// b/s is the ridge, if the stores of C and the whole number of tiles are left
// out of account.
func RuleOfThumbTile(ridge float64, elemBytes int64) (float64, error) {
	if err := checkRidge(ridge); err != nil {
		return 0, err
	}
	if err := checkElemBytes(elemBytes); err != nil {
		return 0, err
	}
	b := float64(elemBytes) * ridge
	if math.IsInf(b, 1) {
		return 0, fmt.Errorf("tiling: ridge is %g FLOP/byte: times the element size %d it is beyond float64", ridge, elemBytes)
	}
	return b, nil
}

// FractionalRidgeTile returns the smallest real b at which an n×n×n multiply
// reaches the ridge if the number of tiles per side could be fractional, that
// is with (b/s)/(1 + b/2n) ≥ ridge:
//
//	b = sr/(1 − sr/2n), sr = s·ridge.
//
// Where it would exceed n, that is for sr > 2n/3, there is no answer, as there
// is none for RidgeTile: the error is an *roofline.UnreachableError whose Best is the intensity at b = n.
func FractionalRidgeTile(n, elemBytes int64, ridge float64) (float64, error) {
	if err := checkSize("n", n); err != nil {
		return 0, err
	}
	sr, err := RuleOfThumbTile(ridge, elemBytes)
	if err != nil {
		return 0, err
	}
	if perSide(n, 1, elemBytes) < ridge {
		return 0, unreachable(n, elemBytes, ridge)
	}
	return min(sr/(1-sr/(2*float64(n))), float64(n)), nil
}

// RidgeTile returns the smallest whole b at which an n×n×n multiply with b×b
// tiles reaches the ridge: Intensity(n, b, s) ≥ ridge > Intensity(n, b−1, s).
// It takes constant time.
//
// The intensity depends on b only through the number of tiles per side, so the
// answer is ⌈n/T⌉ for the largest T with 2n/((2T+1)s) ≥ ridge. If not even
// b = n does it, the error is an *roofline.UnreachableError whose Best is the
// intensity there, 2n/3s.
func RidgeTile(n, elemBytes int64, ridge float64) (int64, error) {
	if err := checkSize("n", n); err != nil {
		return 0, err
	}
	if err := checkElemBytes(elemBytes); err != nil {
		return 0, err
	}
	if err := checkRidge(ridge); err != nil {
		return 0, err
	}
	reaches := func(t int64) bool { return perSide(n, t, elemBytes) >= ridge }
	if !reaches(1) {
		return 0, unreachable(n, elemBytes, ridge)
	}
	t := tilesGuess(n, elemBytes, ridge)
	switch { // rounding may have moved the guess by one
	case t < n && reaches(t+1):
		t++
	case !reaches(t):
		t--
	}
	return ceilDiv(n, t), nil
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

func unreachable(n, elemBytes int64, ridge float64) error {
	best := perSide(n, 1, elemBytes)
	return &roofline.UnreachableError{
		Text: fmt.Sprintf("tiling: no tile reaches the ridge of %.6g FLOP/byte at n = %d, element size %d: the best is the whole matrix as one tile, b = %d, with %.6g FLOP/byte; use a larger n, smaller elements, or a machine with a lower ridge",
			ridge, n, elemBytes, n, best),
		Ridge: ridge,
		Best:  best,
	}
}
