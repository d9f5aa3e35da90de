package matmul

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Gonum computes C = A·B with gonum's Sgemm or Dgemm, which use all of
// GOMAXPROCS by themselves on larger sizes. It skips zeros in A, so that 0·Inf
// and 0·NaN add nothing. See [Func].
func Gonum[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if err := checkGEMM(m, n, k, a, lda, b, ldb, c, ldc); err != nil {
		return err
	}
	// gonum refuses a leading dimension of 0 and skips k = 0: both are ours.
	if k == 0 {
		scale(0, m, n, c, ldc)
		return nil
	}
	gonumGEMM(m, n, k, a, lda, b, ldb, c, ldc)
	return nil
}

func gonumGEMM[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	var lib gonum.Implementation
	switch a := any(a).(type) {
	case []float32:
		lib.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, lda, any(b).([]float32), ldb, 0, any(c).([]float32), ldc)
	case []float64:
		lib.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, lda, any(b).([]float64), ldb, 0, any(c).([]float64), ldc)
	}
}
