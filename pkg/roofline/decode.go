package roofline

import (
	"fmt"
	"math"
	"math/big"
)

// BatchLimit returns 2nk/((n+k)s) in FLOP/byte: what the best-case intensity
// of (m×k)·(k×n) tends to as the batch m grows. Every m stays below it.
func BatchLimit(k, n, elemBytes int64) (float64, error) {
	if err := checkBatchArgs(k, n); err != nil {
		return 0, err
	}
	if err := checkElemBytes(elemBytes); err != nil {
		return 0, err
	}
	return Ratio(Sum{{2, n, k}}, Sum{{n, elemBytes}, {k, elemBytes}}), nil
}

// BatchToRidge returns the smallest batch m for which the multiply
// (m×k)·(k×n), at the machine's element size and with compulsory traffic, is
// not memory-bound. It takes constant time.
//
// Solved for m, 2mnk/((mk + kn + mn)s) ≥ ridge is
//
//	m ≥ ridge·s·k·n / (2nk − ridge·s·(n + k)).
//
// If no batch does it, because BatchLimit is not above the ridge, the error is
// an *UnreachableError whose Best is that limit. A batch beyond int64 is an
// error that matches ErrOverflow.
func BatchToRidge(m Machine, k, n int64) (int64, error) {
	ridge, err := m.Ridge()
	if err != nil {
		return 0, err
	}
	limit, err := BatchLimit(k, n, m.ElemBytes)
	if err != nil {
		return 0, err
	}

	// The limit is a supremum: at the ridge it is never attained. Compare the
	// exact values, for rounded ones could tie where these do not.
	work := Sum{{2, n, k}}.Big()                           // FLOPs per token
	moved := Sum{{n, m.ElemBytes}, {k, m.ElemBytes}}.Big() // bytes per token
	exactLimit := new(big.Rat).SetFrac(work, moved)
	exactRidge := new(big.Rat).Quo(rat(m.Peak), rat(m.Bandwidth))
	if exactLimit.Cmp(exactRidge) <= 0 {
		return 0, &UnreachableError{
			Text: fmt.Sprintf("roofline: no batch reaches the ridge of %.6g FLOP/byte at k = %d, n = %d, element size %d: as the batch grows the intensity tends to %.6g FLOP/byte and stays below it; use a larger k or n, smaller elements, or a machine with a lower ridge",
				ridge, k, n, m.ElemBytes, limit),
			Ridge: ridge,
			Best:  limit,
		}
	}

	// Intensities are compared after rounding to float64, and what rounds to
	// the ridge begins half a unit in the last place below it.
	from := new(big.Rat).Add(rat(ridge), rat(math.Nextafter(ridge, 0)))
	from.Mul(from, big.NewRat(1, 2))
	weights := new(big.Rat).SetInt(Sum{{k, n, m.ElemBytes}}.Big()) // bytes, once a step
	num := new(big.Rat).Mul(from, weights)
	den := new(big.Rat).Mul(from, new(big.Rat).SetInt(moved))
	den.Sub(new(big.Rat).SetInt(work), den)
	q := ceil(num.Quo(num, den))
	if !q.IsInt64() {
		about, _ := new(big.Float).SetInt(q).Float64()
		return 0, fmt.Errorf("roofline: batch to reach the ridge of %.6g FLOP/byte at k = %d, n = %d, element size %d is about %.6g, for the intensity tends to only %.6g: %w",
			ridge, k, n, m.ElemBytes, about, limit, ErrOverflow)
	}

	// A quotient half-way between two float64 rounds to the even one, which
	// may be the one below the ridge: look at the neighbours.
	reaches := func(batch int64) bool {
		i := Ratio(GEMM{batch, n, k, m.ElemBytes}.work(), GEMM{batch, n, k, m.ElemBytes}.leastBytes())
		return i >= ridge
	}
	batch := q.Int64()
	switch {
	case batch > 1 && reaches(batch-1):
		return batch - 1, nil
	case reaches(batch):
		return batch, nil
	case batch < math.MaxInt64 && reaches(batch+1):
		return batch + 1, nil
	}
	return 0, fmt.Errorf("roofline: batch to reach the ridge of %.6g FLOP/byte at k = %d, n = %d, element size %d is beyond %d: %w",
		ridge, k, n, m.ElemBytes, batch, ErrOverflow)
}

// WeightBytes returns params·s, the bytes of a model's weights at the
// machine's element size.
func WeightBytes(m Machine, params float64) (float64, error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	if err := checkPositive("number of parameters", params, "parameters"); err != nil {
		return 0, err
	}
	bytes := params * float64(m.ElemBytes)
	if err := checkPositive("size of the weights", bytes, "bytes"); err != nil {
		return 0, err
	}
	return bytes, nil
}

// WeightReadTime returns params·s/bandwidth in seconds: the time to read every
// weight once, and so the floor of one decoding step.
func WeightReadTime(m Machine, params float64) (float64, error) {
	bytes, err := WeightBytes(m, params)
	if err != nil {
		return 0, err
	}
	t := bytes / m.Bandwidth
	if err := checkPositive("weight read time", t, "s"); err != nil {
		return 0, err
	}
	return t, nil
}

// TokensPerSecond returns 1/WeightReadTime: an upper bound of the decoding
// rate at batch 1. The attention cache is left out; reading it only adds time.
func TokensPerSecond(m Machine, params float64) (float64, error) {
	t, err := WeightReadTime(m, params)
	if err != nil {
		return 0, err
	}
	rate := 1 / t
	if err := checkPositive("token rate", rate, "tokens/s"); err != nil {
		return 0, err
	}
	return rate, nil
}

func checkBatchArgs(k, n int64) error {
	if err := checkSize("k", k); err != nil {
		return err
	}
	return checkSize("n", n)
}

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

// ceil returns the least integer that is not below x.
func ceil(x *big.Rat) *big.Int {
	q, r := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}
