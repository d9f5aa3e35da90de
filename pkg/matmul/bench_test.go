package matmul

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkGEMM(b *testing.B) {
	b.Run("type=float32", benchGEMM[float32])
	b.Run("type=float64", benchGEMM[float64])
}

func benchGEMM[T Float](b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range subjects[T]() {
		for _, n := range []int{96, 512} {
			b.Run(fmt.Sprintf("kernel=%s/n=%d", s.name, n), func(b *testing.B) {
				x := newFrame(n, n, n, anything[T](rng))
				y := newFrame(n, n, n, anything[T](rng))
				z := make([]T, n*n)
				for b.Loop() {
					if err := s.mul(n, n, n, x.x, n, y.x, n, z, n); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GFLOP/s")
			})
		}
	}
}
