package matmul

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// VecFunc computes y = A·x with A of m×n, x of n elements and y of m elements.
// It returns an error, and leaves y alone, in the cases that [Func] names.
type VecFunc[T Float] func(m, n int, a []T, lda int, x, y []T) error

// VecRung is one way to multiply a matrix and a vector.
type VecRung struct {
	Name, Title, Idea string
	F32               VecFunc[float32]
	F64               VecFunc[float64]
	Parallel          bool // may use all of GOMAXPROCS by itself
}

// VecRungs returns the matrix–vector multiplies; the library comes last.
func VecRungs() []VecRung {
	return []VecRung{
		{
			Name: "loops", Title: "Two plain loops",
			Idea: "Each element of y is the dot product of a row of A and x.",
			F32:  MatVec[float32], F64: MatVec[float64],
		},
		{
			Name: "simd", Title: "SIMD dot products",
			Idea: "Multiply-add whole vectors, four rows at a time, so that x is read once for four.",
			F32:  SIMDMatVec[float32], F64: SIMDMatVec[float64],
		},
		{
			Name: "parallel", Title: "The same on all cores",
			Idea: "Each row is read once and used once: more cores help as far as they read faster together.",
			F32:  MultiplyVec[float32], F64: MultiplyVec[float64],
			Parallel: true,
		},
		{
			Name: "gonum", Title: "The library: gonum",
			Idea: "The library's dot products read four elements at a time.",
			F32:  GonumMatVec[float32], F64: GonumMatVec[float64],
		},
	}
}

// VecOf returns the rung's y = A·x for the element type T.
func VecOf[T Float](r VecRung) VecFunc[T] {
	if f, ok := any(r.F32).(VecFunc[T]); ok {
		return f
	}
	return any(r.F64).(VecFunc[T])
}

// MatVec computes y = A·x with two plain loops. See [VecFunc].
func MatVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	if err := checkMatVec(m, n, a, lda, x, y); err != nil {
		return err
	}
	for i := range m {
		var sum T
		for j := range n {
			sum += a[i*lda+j] * x[j]
		}
		y[i] = sum
	}
	return nil
}

// GonumMatVec computes y = A·x with gonum's Sgemv or Dgemv, on one thread.
// See [VecFunc].
func GonumMatVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	if err := checkMatVec(m, n, a, lda, x, y); err != nil {
		return err
	}
	if m == 0 {
		return nil
	}
	if n == 0 {
		clear(y[:m])
		return nil
	}
	var lib gonum.Implementation
	switch a := any(a).(type) {
	case []float32:
		lib.Sgemv(blas.NoTrans, m, n, 1, a, lda, any(x).([]float32), 1, 0, any(y).([]float32), 1)
	case []float64:
		lib.Dgemv(blas.NoTrans, m, n, 1, a, lda, any(x).([]float64), 1, 0, any(y).([]float64), 1)
	}
	return nil
}

func checkMatVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	if m < 0 {
		return negative("m", m)
	}
	if n < 0 {
		return negative("n", n)
	}
	if err := checkMatrix("a", a, "m", m, "n", n, "lda", lda); err != nil {
		return err
	}
	if len(x) < n {
		return fmt.Errorf("matmul: x has %d elements: n = %d are needed", len(x), n)
	}
	if len(y) < m {
		return fmt.Errorf("matmul: y has %d elements: m = %d are needed", len(y), m)
	}
	if overlap(region[T]{y, 1, m, m}, region[T]{a, m, n, lda}) {
		return fmt.Errorf("matmul: y shares memory with a: the result must lie apart from the inputs")
	}
	if overlap(region[T]{y, 1, m, m}, region[T]{x, 1, n, n}) {
		return fmt.Errorf("matmul: y shares memory with x: the result must lie apart from the inputs")
	}
	return nil
}

// SIMDMatVec computes y = A·x with the best kernel on one thread. See [VecFunc].
func SIMDMatVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	return pools[T]()[0].matVec(1, m, n, a, lda, x, y)
}

// MultiplyVec computes y = A·x with the best kernel on all cores. See [VecFunc].
func MultiplyVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	return pools[T]()[0].matVec(0, m, n, a, lda, x, y)
}

// NewVec returns y = A·x as the options say; a blocking changes nothing in it.
func NewVec[T Float](o Options) (VecFunc[T], error) {
	p, err := choose[T](o)
	if err != nil {
		return nil, err
	}
	return func(m, n int, a []T, lda int, x, y []T) error {
		return p.matVec(o.Threads, m, n, a, lda, x, y)
	}, nil
}

// matVec checks the arguments; the product is that with a matrix of one column.
func (p *pool[T]) matVec(threads, m, n int, a []T, lda int, x, y []T) error {
	if err := checkMatVec(m, n, a, lda, x, y); err != nil {
		return err
	}
	p.work(threads, false, m, 1, n, a, lda, x, 1, y, 1)
	return nil
}
