package llama

import (
	"fmt"
	"testing"

	"memorywall/pkg/matmul"
)

// benchModel is the lesson's model, or random weights of its shape.
func benchModel(b *testing.B) *Model {
	if m, err := loadOnce(); err == nil {
		return m
	}
	m, err := Random(Lesson(), matmul.Q4_1, matmul.Q8_0, 1)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func BenchmarkDecode(b *testing.B) {
	m := benchModel(b)
	for _, c := range []struct{ batch, context int }{{1, 128}, {1, 2000}, {2, 128}, {4, 128}, {8, 128}, {16, 128}} {
		b.Run(fmt.Sprintf("batch=%d/context=%d", c.batch, c.context), func(b *testing.B) {
			r := runner(b, m, Options{})
			var caches []*Cache
			for range c.batch {
				kv := cache(b, m, c.context+1, matmul.Float16)
				prefill(b, r, kv, sequence(m, c.context, 1))
				caches = append(caches, kv)
			}
			next := make([]Token, c.batch)
			for b.Loop() {
				for _, kv := range caches {
					kv.Truncate(c.context)
				}
				if _, err := r.Decode(b.Context(), caches, next); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(c.batch*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

func BenchmarkPrefill(b *testing.B) {
	m := benchModel(b)
	for _, n := range []int{32, 200, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := runner(b, m, Options{})
			kv := cache(b, m, n, matmul.Float16)
			tokens := sequence(m, n, 1)
			for b.Loop() {
				kv.Truncate(0)
				if _, err := r.Prefill(b.Context(), kv, tokens); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
