package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// dotRows is how many rows go at a time: so many streams from memory, and one
// read of x for all. Memory answers eight streams faster than four.
const dotRows = 8

// dotVecs returns how many vectors of each row go at a time: eight sums hide the
// latency of a fused multiply-add.
func (i *isa) dotVecs(rows int) int {
	switch {
	case rows == 1:
		return 4
	case rows > 4 && i == avx2: // it has 16 registers
		return 1
	}
	return 2
}

// dot writes y = A·x for a power of two of rows of A, up to dotRows.
func (f *gen) dot(i *isa, e *asm.Elem) {
	g := f.begin(i, e, "dot"+e.Name, "(n int, a *T, lda int, x *T, y *T, ldy int, rows int)", dotDoc(e, dotRows)...)
	var (
		a    = rowsOf{reg.RAX, reg.R9, reg.RSI, reg.R10}
		x    = reg.RBX
		y    = reg.RCX
		left = reg.RDX
		ldy  = reg.RDI
		tmp  = reg.R8
		rows = reg.R12
	)
	g.Args("n a lda x y ldy rows", left, a.first, a.lda, x, y, ldy, rows)
	g.SHLQ(operand.U8(e.Shift), a.lda)
	g.SHLQ(operand.U8(e.Shift), ldy)
	g.reach(a)
	g.Choose(rows, "rows", halvings(dotRows)...)
	for _, r := range halvings(dotRows) {
		g.dotBody(r, a, x, y, left, ldy, tmp)
	}
}

// halvings returns n, n/2, … 1.
func halvings(n int) []int {
	var all []int
	for ; n >= 1; n /= 2 {
		all = append(all, n)
	}
	return all
}

// dotDoc is what is said of y = A·x for a power of two of rows of A, up to so many.
func dotDoc(e *asm.Elem, rows int) []string {
	return []string{
		fmt.Sprintf("is dotGo for a power of two of rows up to %d, the sums of every lane added at the end:", rows),
		"",
		"\tfor i := range rows {",
		fmt.Sprintf("\t\tvar sum %s", e.GoType),
		"\t\tfor j := range n {",
		"\t\t\tsum += a[i*lda+j] * x[j] // fused, in lanes",
		"\t\t}",
		"\t\ty[i*ldy] = sum",
		"\t}",
	}
}

// rowsOf holds the addresses of up to eight rows: of the first, of the fifth,
// and once and three times the bytes from row to row.
type rowsOf struct{ first, fifth, lda, lda3 reg.GPPhysical }

// reach sets what the rows beyond the second need, if they are to be reached.
func (g *gen) reach(a rowsOf) {
	g.LEAQ(operand.Mem{Base: a.lda, Index: a.lda, Scale: 2}, a.lda3)
	if a.fifth != nil {
		g.LEAQ(operand.Mem{Base: a.first, Index: a.lda, Scale: 4}, a.fifth)
	}
}

// rowsArg loads two arguments: where rows begin, and the elements, of 1<<shift bytes,
// from row to row.
func (g *gen) rowsArg(names string, a rowsOf, shift int) {
	g.Args(names, a.first, a.lda)
	if shift > 0 {
		g.SHLQ(operand.U8(shift), a.lda)
	}
	g.reach(a)
}

// at returns the place so many bytes along row r.
func (a rowsOf) at(r, bytes int) operand.Mem {
	m := operand.Mem{Base: a.first, Disp: bytes}
	if r >= 4 {
		m.Base = a.fifth
	}
	switch r % 4 {
	case 1, 2:
		m.Index, m.Scale = a.lda, uint8(r%4)
	case 3:
		m.Index, m.Scale = a.lda3, 1
	}
	return m
}

// forward moves so many bytes along the rows.
func (g *vecGen) forward(a rowsOf, rows, bytes int) {
	g.ADDQ(operand.I32(bytes), a.first)
	if rows > 4 {
		g.ADDQ(operand.I32(bytes), a.fifth)
	}
}

func (g *vecGen) dotBody(rows int, a rowsOf, x, y, left, ldy, tmp reg.GPPhysical) {
	label := func(s string) string { return fmt.Sprintf("rows%d%s", rows, s) }
	lanes := g.isa.Bytes / g.elem.Size()
	vecs := g.isa.dotVecs(rows)
	sum := func(r, v int) reg.VecPhysical { return g.isa.Regs[r*vecs+v] }
	xs := g.isa.Regs[rows*vecs:]
	t := g.isa.Regs[rows*vecs+vecs]
	step := vecs * lanes
	bytes := vecs * g.isa.Bytes

	g.Label(label(""))
	for r := range rows {
		for v := range vecs {
			g.zero(sum(r, v))
		}
	}
	g.SUBQ(operand.U8(step), left)
	g.JLT(operand.LabelRef(label("tail")))
	g.Label(label("loop"))
	for v := range vecs {
		g.load(operand.Mem{Base: x, Disp: v * g.isa.Bytes}, xs[v], false)
	}
	for r := range rows {
		for v := range vecs {
			g.fma(a.at(r, v*g.isa.Bytes), xs[v], sum(r, v))
		}
	}
	g.ADDQ(operand.I32(bytes), x)
	g.forward(a, rows, bytes)
	g.SUBQ(operand.U8(step), left)
	g.JGE(operand.LabelRef(label("loop")))

	// What is left: whole vectors, then a part of one.
	g.Label(label("tail"))
	g.ADDQ(operand.U8(step), left)
	g.Label(label("vector"))
	g.CMPQ(left, operand.U8(lanes))
	g.JLT(operand.LabelRef(label("part")))
	g.load(operand.Mem{Base: x}, xs[0], false)
	g.ADDQ(operand.U8(g.isa.Bytes), x)
	for r := range rows {
		g.fma(a.at(r, 0), xs[0], sum(r, 0))
	}
	g.forward(a, rows, g.isa.Bytes)
	g.SUBQ(operand.U8(lanes), left)
	g.JMP(operand.LabelRef(label("vector")))
	g.Label(label("part"))
	g.TESTQ(left, left)
	g.JEQ(operand.LabelRef(label("sum")))
	g.setMask(left, tmp)
	g.load(operand.Mem{Base: x}, xs[0], true)
	for r := range rows {
		g.load(a.at(r, 0), t, true)
		g.fma(t, xs[0], sum(r, 0))
	}

	g.Label(label("sum"))
	for r := range rows {
		for half := vecs / 2; half >= 1; half /= 2 {
			for v := range half {
				g.addTo(sum(r, v+half), sum(r, v))
			}
		}
		if vecs > 1 {
			t = sum(r, vecs-1) // added by now, and one of the registers that every instruction has
		}
		g.sumLanes(sum(r, 0), t)
		by(g.elem, g.VMOVSS, g.VMOVSD)(sum(r, 0).AsX(), operand.Mem{Base: y})
		if r < rows-1 {
			g.ADDQ(ldy, y)
		}
	}
	g.End()
}

// sumLanes adds all lanes of v into its lowest. It spoils t.
func (g *vecGen) sumLanes(v, t reg.VecPhysical) {
	if g.isa == avx512 {
		g.VEXTRACTF64X4(operand.U8(1), v, t.AsY())
		g.addTo(t.AsY(), v.AsY())
	}
	g.VEXTRACTF128(operand.U8(1), v.AsY(), t.AsX())
	g.addTo(t.AsX(), v.AsX())
	if g.elem == asm.F32 {
		g.VMOVHLPS(v.AsX(), v.AsX(), t.AsX())
		g.addTo(t.AsX(), v.AsX())
		g.VMOVSHDUP(v.AsX(), t.AsX())
		g.VADDSS(t.AsX(), v.AsX(), v.AsX())
	} else {
		g.VPERMILPD(operand.U8(1), v.AsX(), t.AsX())
		g.VADDSD(t.AsX(), v.AsX(), v.AsX())
	}
}
