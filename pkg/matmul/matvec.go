package matmul

import (
	"cmp"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// VecFunc computes y = A·x with A of m×n, x of n elements and y of m elements.
// It returns an error, and leaves y alone, in the cases that [Func] names.
type VecFunc[T Float] func(m, n int, a []T, lda int, x, y []T) error

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
	if err := cmp.Or(notNegative("m", m), notNegative("n", n),
		checkMatrix("a", a, "m", m, "n", n, "lda", lda), holds("x", x, "n", n), holds("y", y, "m", m)); err != nil {
		return err
	}
	return cmp.Or(
		notShared(overlap(region[T]{y, 1, m, m}, region[T]{a, m, n, lda}), "y", "a"),
		notShared(overlap(region[T]{y, 1, m, m}, region[T]{x, 1, n, n}), "y", "x"))
}

// SIMDMatVec computes y = A·x with the best kernel on one thread. See [VecFunc].
func SIMDMatVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	return pools[T]()[0].matVec(&oneThread, m, n, a, lda, x, y)
}

// MultiplyVec computes y = A·x with the best kernel on all cores. See [VecFunc].
func MultiplyVec[T Float](m, n int, a []T, lda int, x, y []T) error {
	return pools[T]()[0].matVec(&allThreads, m, n, a, lda, x, y)
}

// NewVec returns y = A·x + β·y as the options say; a blocking changes nothing in it.
func NewVec[T Float](opts ...Option) (VecFunc[T], error) {
	p, o, err := choose[T](opts)
	if err != nil {
		return nil, err
	}
	return func(m, n int, a []T, lda int, x, y []T) error {
		return p.matVec(&o, m, n, a, lda, x, y)
	}, nil
}

// matVec checks the arguments; the product is that with a matrix of one column.
func (p *pool[T]) matVec(o *Option, m, n int, a []T, lda int, x, y []T) error {
	if err := checkMatVec(m, n, a, lda, x, y); err != nil {
		return err
	}
	p.work(o, m, 1, n, a, lda, x, 1, y, 1)
	return nil
}
