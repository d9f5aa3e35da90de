package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// rowsDepth is the most rows of B that go at a time: so many streams from memory.
const rowsDepth = 8

// rows writes C += A·B for one or two rows of A, along rows of B: what one pass
// of memory allows.
func (f *gen) rows(i *isa, e *asm.Elem) {
	g := f.begin("rows", i, e)
	g.SignatureExpr(fmt.Sprintf("func(n int, a *%[1]s, lda int, b *%[1]s, ldb int, c *%[1]s, ldc int, m int, depth int, add bool)", e.GoType))
	lanes := i.Bytes / e.Size()
	g.Doc(
		fmt.Sprintf("rows%s%s is rowsGo for n a multiple of %d, m 1 or 2, and depth a power of two up to", e.Name, i.Name, lanes),
		fmt.Sprintf("%d, or %d where m is 2 and there are 16 registers.", rowsDepth, rowsDepth/2),
	)
	b := rowsOf{reg.RAX, reg.RBX, reg.RCX, reg.RDX}
	c := rowsOf{first: reg.RSI, lda: reg.RDI}
	a, lda, left, tmp := reg.R8, reg.R9, reg.R10, reg.R11
	g.Load(g.Param("n"), left)
	g.Load(g.Param("a"), a)
	g.Load(g.Param("lda"), lda)
	g.Load(g.Param("b"), b.first)
	g.Load(g.Param("ldb"), b.lda)
	g.Load(g.Param("c"), c.first)
	g.Load(g.Param("ldc"), c.lda)
	for _, r := range []reg.GPPhysical{lda, b.lda, c.lda} {
		g.SHLQ(operand.U8(e.Shift), r)
	}
	g.LEAQ(operand.Mem{Base: b.lda, Index: b.lda, Scale: 2}, b.lda3)
	g.LEAQ(operand.Mem{Base: b.first, Index: b.lda, Scale: 4}, b.fifth)
	g.Load(g.Param("m"), tmp)
	g.CMPQ(tmp, operand.U8(2))
	g.JEQ(operand.LabelRef("two"))
	add, err := g.Param("add").Resolve()
	if err != nil {
		panic(err)
	}
	for m := 1; m <= 2; m++ {
		most := rowsDepth
		if m == 2 {
			g.Label("two")
			if i == avx2 {
				most /= 2
			}
		}
		g.Load(g.Param("depth"), tmp)
		for depth := most; depth > 1; depth /= 2 {
			g.CMPQ(tmp, operand.U8(depth))
			g.JEQ(operand.LabelRef(fmt.Sprintf("m%dd%d", m, depth)))
		}
		g.JMP(operand.LabelRef(fmt.Sprintf("m%dd1", m)))
		for depth := most; depth >= 1; depth /= 2 {
			label := func(s string) string { return fmt.Sprintf("m%dd%d%s", m, depth, s) }
			factor := func(r, p int) reg.VecPhysical { return i.Regs[r*depth+p] }
			sums := i.Regs[m*depth:][:m]
			x := i.Regs[m*depth+m]
			g.Label(label(""))
			for r := range m {
				for p := range depth {
					src := operand.Mem{Base: a, Disp: p * e.Size()}
					if r == 1 {
						src.Index, src.Scale = lda, 1
					}
					g.broadcast(src, factor(r, p))
				}
			}
			g.Label(label("loop"))
			for r := range m {
				g.zero(sums[r])
			}
			g.CMPB(add.Addr, operand.U8(0))
			g.JEQ(operand.LabelRef(label("sum")))
			for r := range m {
				g.move(c.at(r, 0), sums[r])
			}
			g.Label(label("sum"))
			for p := range depth {
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
			g.ADDQ(operand.I32(i.Bytes), c.first)
			g.SUBQ(operand.I32(lanes), left)
			g.JNE(operand.LabelRef(label("loop")))
			g.VZEROUPPER()
			g.RET()
		}
	}
}
