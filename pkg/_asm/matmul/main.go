// Command matmul writes the assembly of package matmul.
//
// From the folder above: go run ./matmul ../matmul
package main

import (
	"github.com/mmcloughlin/avo/operand"

	"memorywall/pkg/_asm/asm"
)

// A gen writes one file.
type gen struct {
	*asm.Gen
	lanes operand.Mem // set once it is needed
}

func main() {
	weights := func(name string, i *isa) func(string) error {
		return asm.AMD64("matmul", name, func(file *asm.Gen) {
			g := &gen{Gen: file}
			for _, w := range weightFormats {
				g.decode(i, w)
				g.dotWeights(i, w)
			}
			for _, w := range plainFormats {
				g.mulTurned(i, w)
			}
			for _, w := range quantFormats {
				g.dotQuant(i, w)
			}
			g.quantize(i)
			g.spread(i)
			for _, w := range quantFormats {
				if i == avx2 {
					g.unpack(w)
				}
				if i == avx2 || w != wQ80 {
					g.tileQuant(i, w)
				}
			}
			if i == avx512 {
				g.triples()
			}
			if i == avx2 {
				g.transpose()
			}
		})
	}
	file := func(name string, generate func(*gen, *asm.Elem)) func(string) error {
		return asm.AMD64("matmul", name, func(file *asm.Gen) {
			g := &gen{Gen: file}
			generate(g, asm.F32)
			generate(g, asm.F64)
		})
	}
	asm.Main(
		file("tile_avx2_amd64", func(g *gen, e *asm.Elem) { g.tile(avx2, e) }),
		file("tile_avx512_amd64", func(g *gen, e *asm.Elem) { g.tile(avx512, e) }),
		file("dot_avx2_amd64", func(g *gen, e *asm.Elem) { g.dot(avx2, e); g.rows(avx2, e) }),
		file("dot_avx512_amd64", func(g *gen, e *asm.Elem) { g.dot(avx512, e); g.rows(avx512, e) }),
		weights("weights_avx2_amd64", avx2),
		weights("weights_avx512_amd64", avx512),
		writeNEON,
		writeNEONWeights,
	)
}
