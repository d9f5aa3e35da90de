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
// not memory-bound: Classify of its Intensity is ComputeBound, and that of the
// batch before it is not. It takes constant time.
//
// Solved for m, 2mnk/((mk + kn + mn)s) ≥ ridge is
//
//	m ≥ ridge·s·k·n / (2nk − ridge·s·(n + k)).
//
// This is done in exact arithmetic, for near the limit the difference below
// the line loses all its digits in float64.
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

	// Intensities are compared after rounding to float64. What rounds to the
	// ridge begins half-way between it and the float64 below; that point itself
	// rounds to the even one of the two. So solve for that point: its batch, or
	// if it rounds down the next one, is the first to reach the ridge.
	from := new(big.Rat).Add(rat(ridge), rat(math.Nextafter(ridge, 0)))
	from.Mul(from, big.NewRat(1, 2))
	weights := new(big.Rat).SetInt(Sum{{k, n, m.ElemBytes}}.Big()) // bytes, once a step
	num := new(big.Rat).Mul(from, weights)
	den := new(big.Rat).Mul(from, new(big.Rat).SetInt(moved))
	den.Sub(new(big.Rat).SetInt(work), den)
	x := num.Quo(num, den)
	batch := new(big.Int).Quo(x.Num(), x.Denom())
	even := math.Float64bits(ridge)%2 == 0
	if !(x.IsInt() && even) {
		batch.Add(batch, big.NewInt(1))
	}
	if !batch.IsInt64() {
		about, _ := new(big.Float).SetInt(batch).Float64()
		return 0, fmt.Errorf("roofline: batch to reach the ridge of %.6g FLOP/byte at k = %d, n = %d, element size %d is about %.6g, for the intensity tends to only %.6g: %w",
			ridge, k, n, m.ElemBytes, about, limit, ErrOverflow)
	}
	return batch.Int64(), nil
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
