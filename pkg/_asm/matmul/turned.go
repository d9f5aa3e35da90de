package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
	g := f.beginWeights("turned", i, w)
	g.SignatureExpr("func(blocks int, w *byte, rowBytes int, rows int, x *float32, ldx int, y *float32, ldy int, m int, add bool)")
	g.Doc(
		fmt.Sprintf("turned%s%s is turnedGo for blocks and rows ≥ 1 and m one of %v:", w.name, i.Name, i.turnedRows()),
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
	g.Load(g.Param("m"), k.tmp)
	for _, m := range i.turnedRows()[:len(i.turnedRows())-1] {
		g.CMPQ(k.tmp, operand.U8(m))
		g.JEQ(operand.LabelRef(fmt.Sprintf("m%d", m)))
	}
	g.JMP(operand.LabelRef("m1"))
	nv := g.vecsOf()
	for _, m := range i.turnedRows() {
		label := func(s string) string { return fmt.Sprintf("m%d%s", m, s) }
		sums := i.Regs[:m*nv]
		dst := i.Regs[len(sums):][:nv/2]
		x := i.Regs[len(sums)+len(dst)]
		g.Label(label(""))
		g.MOVQ(k.row, k.w)
		g.MOVQ(k.rowsNo, k.left)
		for _, s := range sums {
			g.zero(s)
		}
		g.Label(label("loop"))
		for h := range 2 {
			g.half(h, k.w, dst)
			for r := range m {
				g.broadcast(k.x.at(r, 0), x)
				for n, v := range dst {
					g.fma(x, v, sums[r*nv+h*nv/2+n])
				}
			}
		}
		g.ADDQ(rowBytes, k.w)
		g.forward(k.x, m, 4)
		g.DECQ(k.left)
		g.JNE(operand.LabelRef(label("loop")))
		place, err := g.Param("add").Resolve()
		if err != nil {
			panic(err)
		}
		g.MOVBLZX(place.Addr, k.tmp.As32())
		g.TESTQ(k.tmp, k.tmp)
		g.JEQ(operand.LabelRef(label("store")))
		for r := range m {
			for v := range nv {
				g.addTo(k.y.at(r, v*i.Bytes), sums[r*nv+v])
			}
		}
		g.Label(label("store"))
		for r := range m {
			for v := range nv {
				g.move(sums[r*nv+v], k.y.at(r, v*i.Bytes))
			}
		}
		g.forward(k.y, m, 4*quantBlock)
		g.ADDQ(operand.I32(w.bytes), k.row)
		// Back to the first row.
		g.MOVQ(k.rowsNo, k.tmp)
		g.SHLQ(operand.U8(2), k.tmp)
		g.SUBQ(k.tmp, k.x.first)
		if m > 4 {
			g.SUBQ(k.tmp, k.x.fifth)
		}
		g.DECQ(k.blocks)
		g.JNE(operand.LabelRef(label("")))
		g.VZEROUPPER()
		g.RET()
	}
}
