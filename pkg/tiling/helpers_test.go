package tiling

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"memorywall/pkg/roofline"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// gemm returns the multiply of an m×k and a k×n matrix; the element size plays
// no part in the traffic.
func gemm(m, k, n int64) roofline.GEMM {
	return roofline.GEMM{M: m, N: n, K: k, ElemBytes: 1}
}

// refused fails unless err is there and its message holds every part.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error is %q, want it to say %q", err, part)
		}
	}
}

// small returns a matrix of small integers, so that float sums are exact in
// any order.
func small[T Number](t *testing.T, rng *rand.Rand, rows, cols int) Matrix[T] {
	t.Helper()
	m := New[T](rows, cols)
	for i := range m.Data {
		m.Data[i] = T(rng.IntN(8))
	}
	return m
}

// plain is the multiply in three plain loops.
func plain[T Number](a, b Matrix[T]) Matrix[T] {
	c := Matrix[T]{Rows: a.Rows, Cols: b.Cols, Data: make([]T, a.Rows*b.Cols)}
	for i := range a.Rows {
		for j := range b.Cols {
			for k := range a.Cols {
				c.Data[i*c.Cols+j] += T(a.At(i, k) * b.At(k, j))
			}
		}
	}
	return c
}
