package probe

import (
	"fmt"
	"testing"
)

func BenchmarkCompute(b *testing.B) {
	b.Run("float32", benchmarkCompute[float32])
	b.Run("float64", benchmarkCompute[float64])
	b.Run("int8", benchmarkCompute[int32])
}

func benchmarkCompute[T Number](b *testing.B) {
	for _, isa := range ComputeISAs[T]() {
		b.Run("isa="+isa, func(b *testing.B) {
			c, err := NewCompute[T](isa)
			if err != nil {
				b.Fatal(err)
			}
			const rounds = 10_000
			for b.Loop() {
				c.Run(rounds)
			}
			b.ReportMetric(float64(c.FLOPs())*rounds*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkMemory(b *testing.B) {
	for _, isa := range MemoryISAs() {
		m, err := NewMemory(isa)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{8 << 10, 256 << 10, 64 << 20} {
			passes := max(1, 1<<20/n)
			p, free, err := Alloc(int64(3 * n))
			if err != nil {
				b.Fatal(err)
			}
			Fill(p)
			x, y, z := p[:n:n], p[n:][:n:n], p[2*n:][:n:n]
			for _, l := range []struct {
				name string
				per  int
				call func() error
			}{
				{"load", 1, func() error { return m.Load(x, passes) }},
				{"copy", 2, func() error { return m.Copy(x, y, passes, false) }},
				{"triad", 3, func() error { return m.Triad(x, y, z, 3, passes, false) }},
				{"copyStream", 2, func() error { return m.Copy(x, y, passes, true) }},
				{"triadStream", 3, func() error { return m.Triad(x, y, z, 3, passes, true) }},
			} {
				b.Run(fmt.Sprintf("%s/isa=%s/array=%d", l.name, isa, n), func(b *testing.B) {
					b.SetBytes(int64(l.per * n * passes))
					for b.Loop() {
						if err := l.call(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			free()
		}
	}
}

func BenchmarkAddChain(b *testing.B) {
	var adds int64
	for b.Loop() {
		_, n := AddChain(10_000, 1, 3)
		adds += n
	}
	b.ReportMetric(float64(adds)/b.Elapsed().Seconds()/1e9, "GHz")
}
