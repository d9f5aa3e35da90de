package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turnedAhead is how many bytes ahead memory is asked for weights.
const turnedAhead = 4096

// plainFormats are those whose weights stand for themselves.
var plainFormats = []*weightFormat{wF32, wBF16, wF16}

// turnedRows is which numbers of rows of activations the turned product takes
// at a time: their sums fill registers.
func (i *isa) turnedRows() []int {
	if i == avx2 {
		return []int{3, 2, 1}
	}
	return []int{8, 4, 3, 2, 1}
}

// mulTurned writes the product with the weights turned: sums of rows.
func (f *gen) mulTurned(i *isa, w *weightFormat) {
	g := f.beginWeights(i, w, "turned",
		"(blocks int, w *byte, rowBytes int, rows int, x *float32, ldx int, y *float32, ldy int, m int, add bool)",
		fmt.Sprintf("is turnedGo for blocks and rows ≥ 1 and m one of %v:", i.turnedRows()),
		"",
		"\tfor i := range m {",
		fmt.Sprintf("\t\tfor j := range %d*blocks {", quantBlock),
		"\t\t\tvar sum float32",
		"\t\t\tfor r := range rows {",
		"\t\t\t\tsum += x[i*ldx+r] * w[r, j] // fused",
		"\t\t\t}",
		"\t\t\tif add {",
		"\t\t\t\tsum += y[i*ldy+j]",
		"\t\t\t}",
		"\t\t\ty[i*ldy+j] = sum",
		"\t\t}",
		"\t}",
	)
	k := g.weightLoops(2)
	rowBytes := reg.R15
	g.MOVQ(k.rowBytes, rowBytes)
	g.Args("m", k.tmp)
	g.Choose(k.tmp, "m", i.turnedRows()...)
	add := g.Arg("add")
	nv := g.vecsOf()
	for _, m := range i.turnedRows() {
		// As many blocks side by side as there are registers for: the weights are
		// then read along whole rows.
		most := 4
		for m*nv*most > len(i.Regs)-nv/2-1 {
			most /= 2
		}
		for n := most; n >= 1; n /= 2 {
			label := func(s string) string {
				if n == most && s == "" {
					return fmt.Sprintf("m%d", m)
				}
				return fmt.Sprintf("m%db%d%s", m, n, s)
			}
			sums := i.Regs[:m*nv*n]
			dst := i.Regs[len(sums):][:nv/2]
			xs := i.Regs[len(sums)+len(dst):]
			once := len(xs) >= m // there are registers for all activations of a row
			g.Label(label(""))
			if n > 1 {
				g.CMPQ(k.blocks, operand.U8(n))
				g.JLT(operand.LabelRef(fmt.Sprintf("m%db%d", m, n/2)))
			}
			g.MOVQ(k.row, k.w)
			g.MOVQ(k.rowsNo, k.left)
			for _, s := range sums {
				g.zero(s)
			}
			g.Label(label("loop"))
			for at := 0; at < n*w.bytes; at += 64 {
				g.PREFETCHT0(operand.Mem{Base: k.w, Disp: turnedAhead + at})
			}
			for r := 0; r < m && once; r++ {
				g.broadcast(k.x.at(r, 0), xs[r])
			}
			for h := range 2 * n {
				g.half(h, k.w, dst)
				for r := range m {
					x := xs[0]
					if once {
						x = xs[r]
					} else {
						g.broadcast(k.x.at(r, 0), x)
					}
					for v, d := range dst {
						g.fma(x, d, sums[(r*n*2+h)*nv/2+v])
					}
				}
			}
			g.ADDQ(rowBytes, k.w)
			g.forward(k.x, m, 4)
			g.Repeat(k.left, label("loop"))
			g.MOVBLZX(add, k.tmp.As32())
			g.TESTQ(k.tmp, k.tmp)
			g.JEQ(operand.LabelRef(label("store")))
			for s, v := range sums {
				g.addTo(k.y.at(s/(n*nv), s%(n*nv)*i.Bytes), v)
			}
			g.Label(label("store"))
			for s, v := range sums {
				g.move(v, k.y.at(s/(n*nv), s%(n*nv)*i.Bytes))
			}
			g.forward(k.y, m, 4*quantBlock*n)
			g.ADDQ(operand.I32(w.bytes*n), k.row)
			// Back to the first row.
			g.MOVQ(k.rowsNo, k.tmp)
			g.SHLQ(operand.U8(2), k.tmp)
			g.SUBQ(k.tmp, k.x.first)
			if m > 4 {
				g.SUBQ(k.tmp, k.x.fifth)
			}
			g.SUBQ(operand.U8(n), k.blocks)
			g.JNE(operand.LabelRef(label("")))
			g.End()
		}
	}
}
