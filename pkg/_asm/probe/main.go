// Command probe writes the assembly of package probe.
//
// From the folder above: go run ./probe ../probe
package main

import "memorywall/pkg/_asm/asm"

// A gen writes one file.
type gen struct{ *asm.Gen }

func main() {
	file := func(name string, generate func(*gen)) func(string) error {
		return asm.AMD64("probe", name, func(g *asm.Gen) { generate(&gen{g}) })
	}
	asm.Main(
		file("compute_amd64", func(g *gen) {
			for _, e := range []*asm.Elem{asm.F32, asm.F64} {
				g.fused(asm.Scalar, e)
				g.fused(asm.AVX2, e)
				g.fused(asm.AVX512, e)
				g.apart(asm.Scalar, e)
				g.apart(asm.SSE2, e)
			}
			g.dots(asm.AVX2)
			g.dots(asm.AVX512)
			g.clock()
		}),
		file("memory_amd64", func(g *gen) {
			for _, i := range []*asm.ISA{asm.SSE2, asm.AVX2, asm.AVX512} {
				g.load(i)
				for _, streaming := range []bool{false, true} {
					g.copy(i, streaming)
					g.triad(i, streaming)
				}
			}
		}),
		writeNEON,
	)
}
