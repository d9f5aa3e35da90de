package roofline

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// GEMM is the matrix multiply C[M,N] = A[M,K] · B[K,N]. Its methods panic if a
// size is below 1.
type GEMM struct {
	M, N, K   int64
	ElemBytes int64 // bytes of one element, the same in A, B and C
}

// Square returns the multiply of two n×n matrices.
func Square(n, elemBytes int64) GEMM {
	return GEMM{M: n, N: n, K: n, ElemBytes: elemBytes}
}

// Validate returns an error that names the first size below 1.
func (g GEMM) Validate() error { return arg.Maybe(g.check) }

func (g GEMM) check() {
	arg.Size("roofline", "m", g.M)
	arg.Size("roofline", "n", g.N)
	arg.Size("roofline", "k", g.K)
	arg.ElemBytes("roofline", g.ElemBytes)
}

// work is 2·m·n·k: every one of the m·n elements of C is a sum of k products,
// and a multiply-add is 2 FLOPs.
func (g GEMM) work() num.Sum { return num.Sum{{2, g.M, g.N, g.K}} }

// minBytes is (m·k + k·n + m·n)·s.
func (g GEMM) minBytes() num.Sum {
	s := g.ElemBytes
	return num.Sum{{g.M, g.K, s}, {g.K, g.N, s}, {g.M, g.N, s}}
}

// FLOPs returns the work 2·m·n·k. One multiply-add is 2 FLOPs. It panics with
// ErrOverflow if the work is beyond int64; for m = n = k it is from 1,664,511
// on.
func (g GEMM) FLOPs() int64 {
	g.check()
	v, ok := g.work().Int64()
	if !ok {
		e := g.overflow("work, 2mnk FLOPs,", g.work())
		if g.M == g.N && g.N == g.K {
			e.Text += fmt.Sprintf("; for m = n = k it fits up to %d", largestCube())
		}
		arg.Panic(e)
	}
	return v
}

// MinBytes returns the compulsory traffic (m·k + k·n + m·n)·s in bytes: each
// operand is read once and the result is written once. C is not read. It panics
// with ErrOverflow if the traffic is beyond int64.
func (g GEMM) MinBytes() int64 {
	g.check()
	v, ok := g.minBytes().Int64()
	if !ok {
		arg.Panic(g.overflow("compulsory traffic, (mk + kn + mn)s bytes,", g.minBytes()))
	}
	return v
}

// Intensity returns the best-case arithmetic intensity in FLOP/byte: FLOPs
// over compulsory traffic. It is the float64 nearest to the exact quotient,
// and has a value also where the counts themselves leave int64.
func (g GEMM) Intensity() float64 {
	g.check()
	return num.Ratio(g.work(), g.minBytes())
}

func (g GEMM) overflow(what string, v num.Sum) *Error {
	return arg.Overflow("roofline", fmt.Sprintf("%s at m = %d, n = %d, k = %d, element size %d",
		what, g.M, g.N, g.K, g.ElemBytes), v.Float64())
}

// largestCube returns the greatest n with 2n³ within int64.
func largestCube() int64 { return int64(math.Cbrt(math.MaxInt64 / 2)) }
