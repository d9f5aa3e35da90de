package matmul

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Each product of a batch is what it is alone, bit for bit, and nothing beside the
// results is written.
func TestMultiplyBatch(t *testing.T) {
	t.Run("float32", testBatch[float32])
	t.Run("float64", testBatch[float64])
}

func testBatch[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for _, isa := range ISAs() {
		sizes := [][3]int{{1, 1, 1}, {4, 4, 4}, {13, 13, 13}, {16, 16, 16}, {14, 32, 5}, {9, 17, 3}, {7, 1, 9}, {40, 35, 31}, {100, 100, 100}, {3, 300, 2}, {0, 3, 3}, {3, 3, 0}}
		if raceEnabled {
			sizes = sizes[1:5]
		}
		for _, size := range sizes {
			for _, count := range []int{1, 2, 37} {
				for _, opts := range [][]Option{{Threads(1)}, {Threads(3), Beta(1)}, {Threads(2), Beta(-0.5)}} {
					opts = append(opts, ISA(isa))
					m, n, k := size[0], size[1], size[2]
					a := newFrame(count*m, k, k, anything[T](rng))
					b := newFrame(count*k, n, n, anything[T](rng))
					c := newFrame(count*m, n, n, anything[T](rng))
					want := slices.Clone(c.x)
					f, err := New[T](opts...)
					if err != nil {
						t.Fatal(err)
					}
					for i := range count {
						if err := f(m, n, k, a.x[i*m*k:], max(k, 1), b.x[i*k*n:], n, want[i*m*n:], n); err != nil {
							t.Fatal(err)
						}
					}
					if err := MultiplyBatch(count, m, n, k, a.x, b.x, c.x, opts...); err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%s: %d times %v, %v", isa, count, size, opts)
					if !slices.Equal(c.x, want) {
						t.Fatalf("%s: not what each is alone", name)
					}
					c.guardsHold(t, name)
				}
			}
		}
	}
	x := make([]T, 100)
	for _, tc := range []struct {
		count, m, n, k int
		a, b, c        []T
		opts           []Option
		want           string
	}{
		{-1, 1, 1, 1, x, x, x, nil, "count is -1"},
		{2, -1, 1, 1, x, x, x, nil, "m is -1"},
		{3, 2, 2, 2, x[:11], x[20:40], x[50:], nil, "a has 11 elements: count = 3"},
		{3, 2, 2, 2, x[:12], x[20:31], x[50:], nil, "b has 11 elements"},
		{3, 2, 2, 2, x[:12], x[20:32], x[89:], nil, "c has 11 elements"},
		{math.MaxInt, 2, 2, 2, x[:12], x[20:32], x[50:], nil, fmt.Sprint("count = ", math.MaxInt)},
		{3, 2, 2, 2, x[:12], x[20:32], x[30:], nil, "c shares memory"},
		{3, 2, 2, 2, x[:12], x[20:32], x[50:], []Option{Threads(-1)}, "threads is -1"},
	} {
		if err := MultiplyBatch(tc.count, tc.m, tc.n, tc.k, tc.a, tc.b, tc.c, tc.opts...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v", tc.want, err)
		}
	}
	if err := MultiplyBatch(0, 2, 2, 2, x[:0], x[:0], x[:0]); err != nil {
		t.Error(err)
	}
}
