package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// rowsDepth is the most rows of B that go at a time: so many streams from memory.
const rowsDepth = 8

// rowsDepth is how many go for m rows of A, whose factors take half the registers: a
// power of two.
func (i *isa) rowsDepth(m int) int {
	depth := rowsDepth
	for depth*m > len(i.Regs)/2 {
		depth /= 2
	}
	return depth
}

// rows writes C += A·B for one to four rows of A, along rows of B: what one pass of
// memory allows. Meanwhile it asks for the rows below.
func (f *gen) rows(i *isa, e *asm.Elem) {
	lanes := i.Bytes / e.Size()
	g := f.begin(i, e, "rows"+e.Name,
		"(n int, a *T, lda int, b *T, ldb int, c *T, ldc int, m int, depth int, add bool)",
		fmt.Sprintf("is rowsGo for n a multiple of %d, m from 1 to 4, and depth a power of two up to", lanes),
		fmt.Sprintf("%d, %d, %d and %d.", i.rowsDepth(1), i.rowsDepth(2), i.rowsDepth(3), i.rowsDepth(4)),
	)
	b := rowsOf{reg.RAX, reg.RBX, reg.RCX, reg.RDX}
	c := rowsOf{first: reg.RSI, lda: reg.RDI, lda3: reg.R12}
	a := rowsOf{first: reg.R8, lda: reg.R9, lda3: reg.R13}
	left, tmp := reg.R10, reg.R11
	g.Args("n a lda b ldb c ldc", left, a.first, a.lda, b.first, b.lda, c.first, c.lda)
	for _, x := range []rowsOf{a, b, c} {
		g.SHLQ(operand.U8(e.Shift), x.lda)
		g.LEAQ(operand.Mem{Base: x.lda, Index: x.lda, Scale: 2}, x.lda3)
	}
	g.LEAQ(operand.Mem{Base: b.first, Index: b.lda, Scale: 4}, b.fifth)
	g.Args("m", tmp)
	for m := 2; m <= 4; m++ {
		g.CMPQ(tmp, operand.U8(m))
		g.JEQ(operand.LabelRef(fmt.Sprintf("m%d", m)))
	}
	add := g.Arg("add")
	for m := 1; m <= 4; m++ {
		depths := halvings(i.rowsDepth(m))
		if m > 1 {
			g.Label(fmt.Sprintf("m%d", m))
		}
		g.Args("depth", tmp)
		g.Choose(tmp, fmt.Sprintf("m%dd", m), depths...)
		for _, depth := range depths {
			label := func(s string) string { return fmt.Sprintf("m%dd%d%s", m, depth, s) }
			factor := func(r, p int) reg.VecPhysical { return i.Regs[r*depth+p] }
			sums := i.Regs[m*depth:][:m]
			x := i.Regs[m*depth+m]
			g.Label(label(""))
			for r := range m {
				for p := range depth {
					g.broadcast(a.at(r, p*e.Size()), factor(r, p))
				}
			}
			next := rowsOf{reg.R8, reg.R9, b.lda, b.lda3}
			g.MOVQ(b.lda, next.first)
			g.IMUL3Q(operand.I32(depth), next.first, next.first)
			g.ADDQ(b.first, next.first)
			g.LEAQ(operand.Mem{Base: next.first, Index: b.lda, Scale: 4}, next.fifth)
			g.Label(label("loop"))
			for r := range m {
				g.zero(sums[r])
			}
			g.CMPB(add, operand.U8(0))
			g.JEQ(operand.LabelRef(label("sum")))
			for r := range m {
				g.move(c.at(r, 0), sums[r])
			}
			g.Label(label("sum"))
			for p := range depth {
				g.PREFETCHT1(next.at(p, 0))
				if m == 1 {
					g.fma(b.at(p, 0), factor(0, p), sums[0])
					continue
				}
				g.move(b.at(p, 0), x)
				for r := range m {
					g.fma(x, factor(r, p), sums[r])
				}
			}
			for r := range m {
				g.move(sums[r], c.at(r, 0))
			}
			g.forward(b, depth, i.Bytes)
			g.forward(next, depth, i.Bytes)
			g.ADDQ(operand.I32(i.Bytes), c.first)
			g.SUBQ(operand.I32(lanes), left)
			g.JNE(operand.LabelRef(label("loop")))
			g.End()
		}
	}
}
