package roofline

import (
	"fmt"
	"math"
)

// GEMM is the matrix multiply C[M,N] = A[M,K] · B[K,N].
type GEMM struct {
	M, N, K   int64
	ElemBytes int64 // bytes of one element, the same in A, B and C
}

// Square returns the multiply of two n×n matrices.
func Square(n, elemBytes int64) GEMM {
	return GEMM{M: n, N: n, K: n, ElemBytes: elemBytes}
}

// Validate returns an error that names the first size below 1.
func (g GEMM) Validate() error {
	if err := checkSize("m", g.M); err != nil {
		return err
	}
	if err := checkSize("n", g.N); err != nil {
		return err
	}
	if err := checkSize("k", g.K); err != nil {
		return err
	}
	return checkElemBytes(g.ElemBytes)
}

// work is 2·m·n·k: every one of the m·n elements of C is a sum of k products,
// and a multiply-add is 2 FLOPs.
func (g GEMM) work() Sum { return Sum{{2, g.M, g.N, g.K}} }

// leastBytes is (m·k + k·n + m·n)·s.
func (g GEMM) leastBytes() Sum {
	s := g.ElemBytes
	return Sum{{g.M, g.K, s}, {g.K, g.N, s}, {g.M, g.N, s}}
}

// FLOPs returns the work 2·m·n·k. One multiply-add is 2 FLOPs. Work beyond
// int64 is an error that matches ErrOverflow; for m = n = k it is an error
// from 1,664,511 on.
func (g GEMM) FLOPs() (int64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	v, ok := g.work().Int64()
	if !ok {
		err := g.overflow("work, 2mnk FLOPs,", g.work())
		if g.M == g.N && g.N == g.K {
			err = fmt.Errorf("%w; for m = n = k it fits up to %d", err, largestCube())
		}
		return 0, err
	}
	return v, nil
}

// MinBytes returns the compulsory traffic (m·k + k·n + m·n)·s in bytes: each
// operand is read once and the result is written once. C is not read.
func (g GEMM) MinBytes() (int64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	v, ok := g.leastBytes().Int64()
	if !ok {
		return 0, g.overflow("compulsory traffic, (mk + kn + mn)s bytes,", g.leastBytes())
	}
	return v, nil
}

// Intensity returns the best-case arithmetic intensity in FLOP/byte: FLOPs
// over compulsory traffic. It is the float64 nearest to the exact quotient,
// and has a value also where the counts themselves leave int64.
func (g GEMM) Intensity() (float64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	return Ratio(g.work(), g.leastBytes()), nil
}

func (g GEMM) overflow(what string, v Sum) error {
	return fmt.Errorf("roofline: %s at m = %d, n = %d, k = %d, element size %d is about %.6g: %w",
		what, g.M, g.N, g.K, g.ElemBytes, v.Float64(), ErrOverflow)
}

// largestCube returns the greatest n with 2n³ within int64.
func largestCube() int64 { return int64(math.Cbrt(math.MaxInt64 / 2)) }
