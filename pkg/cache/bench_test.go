package cache

import (
	"testing"

	"memorywall/pkg/tiling"
)

// The accesses of whole multiplies on the first two levels of a processor of
// today. The unit is accesses per second, more is better.
func BenchmarkLoops(b *testing.B) {
	l1 := Config{Name: "L1", SizeBytes: 48 << 10, LineBytes: 64, Ways: 12}
	l2 := Config{Name: "L2", SizeBytes: 2 << 20, LineBytes: 64, Ways: 16}
	const n = 200
	l := mustPlace(b, gemm(n, n, n, 4))
	for _, c := range []struct {
		name string
		send func(Sink)
	}{
		{"naive", l.Naive},
		{"reordered", l.Reordered},
		{"tiled", func(to Sink) { l.Tiled(to, tiling.SquareTile(64)) }},
		{"thin", func(to Sink) { l.Tiled(to, tiling.Rect{BM: 96, BN: 64, BK: 1}) }},
		{"packed", func(to Sink) { l.Packed(to, Blocking{MR: 6, NR: 16, KC: 192, MC: 96, NC: 192}) }},
	} {
		for _, levels := range []struct {
			name    string
			configs []Config
		}{
			{"L1+L2", []Config{l1, l2}},
			{"full", []Config{FullyAssociative("F", 768, 64)}},
		} {
			b.Run("loop="+c.name+"/caches="+levels.name, func(b *testing.B) {
				h := mustBuild(b, fewWays, levels.configs...)
				for b.Loop() {
					c.send(h)
				}
				s := h.Stats()[0]
				b.ReportMetric(float64(s.Accesses())/b.Elapsed().Seconds()/1e6, "Maccesses/s")
				b.ReportMetric(100*float64(s.Misses())/float64(s.Accesses()), "%miss")
			})
		}
	}
}
