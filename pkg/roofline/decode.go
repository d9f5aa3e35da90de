package roofline

import (
	"fmt"
	"math"
	"math/big"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// BatchLimit returns 2nk/((n+k)s) in FLOP/byte: what the best-case intensity
// of (m×k)·(k×n) tends to as the batch m grows. Every m stays below it. It
// panics if an argument is below 1.
func BatchLimit(k, n, elemBytes int64) float64 {
	arg.Size("roofline", "k", k)
	arg.Size("roofline", "n", n)
	arg.ElemBytes("roofline", elemBytes)
	return num.Ratio(num.Sum{{2, n, k}}, num.Sum{{n, elemBytes}, {k, elemBytes}})
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
// It panics with an *UnreachableError, whose Best is BatchLimit, if that limit
// is not above the ridge, exactly: then every batch stays below the ridge, and
// where limit and ridge are equal some huge one only rounds to it. It panics
// with ErrOverflow if the batch is beyond int64.
func BatchToRidge(m Machine, k, n int64) int64 {
	ridge := m.Ridge()
	limit := BatchLimit(k, n, m.ElemBytes)

	// Compare the exact values, for rounded ones could tie where these do not.
	work := num.Sum{{2, n, k}}.Big()                           // FLOPs per token
	moved := num.Sum{{n, m.ElemBytes}, {k, m.ElemBytes}}.Big() // bytes per token
	exactLimit := new(big.Rat).SetFrac(work, moved)
	exactRidge := new(big.Rat).Quo(rat(m.Peak), rat(m.Bandwidth))
	if exactLimit.Cmp(exactRidge) <= 0 {
		(&UnreachableError{
			Text: fmt.Sprintf("roofline: no batch reaches the ridge of %.6g FLOP/byte at k = %d, n = %d, element size %d: as the batch grows the intensity tends to %.6g FLOP/byte and stays below it; use a larger k or n, smaller elements, or a machine with a lower ridge",
				ridge, k, n, m.ElemBytes, limit),
			Ridge: ridge,
			Best:  limit,
		}).Panic()
	}

	// Intensities are compared after rounding to float64. What rounds to the
	// ridge begins half-way between it and the float64 below; that point itself
	// rounds to the even one of the two. So solve for that point: its batch, or
	// if it rounds down the next one, is the first to reach the ridge.
	from := new(big.Rat).Add(rat(ridge), rat(math.Nextafter(ridge, 0)))
	from.Mul(from, big.NewRat(1, 2))
	weights := new(big.Rat).SetInt(num.Sum{{k, n, m.ElemBytes}}.Big()) // bytes, once a step
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
		arg.Panic(arg.Overflow("roofline", fmt.Sprintf("batch to reach the ridge of %.6g FLOP/byte at k = %d, n = %d, element size %d, where the intensity tends to only %.6g,",
			ridge, k, n, m.ElemBytes, limit), about))
	}
	return batch.Int64()
}

// WeightBytes returns params·s, the bytes of a model's weights at the
// machine's element size. It panics if the machine or the number of parameters
// is invalid.
func WeightBytes(m Machine, params float64) float64 {
	arg.Check(m.Validate())
	arg.Positive("roofline", "number of parameters", params, "parameters")
	bytes := params * float64(m.ElemBytes)
	arg.Positive("roofline", "size of the weights", bytes, "bytes")
	return bytes
}

// WeightReadTime returns params·s/bandwidth in seconds: the time to read every
// weight once, and so the shortest time of one decoding step.
func WeightReadTime(m Machine, params float64) float64 {
	t := WeightBytes(m, params) / m.Bandwidth
	arg.Positive("roofline", "weight read time", t, "s")
	return t
}

// TokensPerSecond returns 1/WeightReadTime: an upper bound of the decoding
// rate at batch 1. The KV cache is left out; reading it only adds time.
func TokensPerSecond(m Machine, params float64) float64 {
	rate := 1 / WeightReadTime(m, params)
	arg.Positive("roofline", "token rate", rate, "tokens/s")
	return rate
}

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }
