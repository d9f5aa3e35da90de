package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// tileGen writes one microkernel.
type tileGen struct{ vecGen }

// General registers of a microkernel.
const chunk = 9 // rows of A that one base register reaches
var (
	regA = []reg.GPPhysical{reg.RAX, reg.R9, reg.R13, reg.R15} // rows 0, 9, 18, 27 of A
	regB = reg.RBX
	regC = reg.RCX
	regK = reg.RDX // steps left

	// Leading dimensions in bytes; A's also three, five and seven times, which
	// with the scales 1, 2, 4 and 8 reach eight rows.
	regLDA     = reg.RSI
	regLDA3    = reg.R12
	regLDA5    = reg.R10
	regLDA7    = reg.R11
	regLDB     = reg.RDI
	regLDC     = reg.R8
	regTmp     = reg.R13 // before and after the loop
	regNextA   = reg.R13 // in the full tile's loop: what to ask for early
	regPack    = reg.R13 // the same while B is copied: where to
	regNextB   = reg.R15
	regNextLDB = reg.R14
)

// tile writes the microkernel: C[rows×cols] = A·B, or += with add, for up to
// mr×nr, the sums held in registers.
func (f *gen) tile(i *isa, e *asm.Elem) {
	nr := vecs * i.Bytes / e.Size()
	g := &tileGen{*f.begin(i, e, "tile"+e.Name,
		"(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, rows, cols int, add bool, nextA, nextB *T, nextLDB int, pack *T)",
		fmt.Sprintf("is tileGo for %d rows or up to %d, and up to %d where there are up to %d columns",
			i.mr, min(i.mr, i.few), i.tall, nr/2),
		fmt.Sprintf("of the %d, with k ≥ 1:", nr),
		"",
		"\tfor i := range rows {",
		"\t\tfor j := range cols {",
		fmt.Sprintf("\t\t\tvar sum %s", e.GoType),
		"\t\t\tfor p := range k {",
		"\t\t\t\tsum += a[i*lda+p] * b[p*ldb+j] // fused",
		"\t\t\t}",
		"\t\t\tif add {",
		"\t\t\t\tsum += c[i*ldc+j]",
		"\t\t\t}",
		"\t\t\tc[i*ldc+j] = sum",
		"\t\t}",
		"\t}",
		"",
		"What the caller will want is prefetched: a cache line in each of k rows of nextB",
		"where cols is full, and k elements from nextA on where rows is full too. Where cols",
		fmt.Sprintf("is full, rows %d or %d, and pack not nil, B is copied there on the way: pack[p*%d+j] = b[p*ldb+j].", i.mr, i.counts()[1], nr),
	)}
	g.Args("k a lda b ldb c ldc", regK, regA[0], regLDA, regB, regLDB, regC, regLDC)
	for _, r := range []reg.GPPhysical{regLDA, regLDB, regLDC} {
		g.SHLQ(operand.U8(e.Shift), r)
	}
	g.LEAQ(operand.Mem{Base: regLDA, Index: regLDA, Scale: 2}, regLDA3)
	g.LEAQ(operand.Mem{Base: regLDA, Index: regLDA, Scale: 4}, regLDA5)
	g.LEAQ(operand.Mem{Base: regLDA3, Index: regLDA, Scale: 4}, regLDA7)
	g.Args("cols", regTmp)
	g.CMPQ(regTmp, operand.U8(nr))
	g.JNE(operand.LabelRef("ragged"))
	g.Args("pack", regPack)
	g.TESTQ(regPack, regPack)
	g.JNE(operand.LabelRef("copying"))
	g.bodies("full", i.counts(), vecs, false)
	// B is copied by a full tile, or by one of the most rows that is not.
	g.Label("copying")
	g.bodies("copy", i.counts()[:2], vecs, false)

	g.Label("ragged")
	g.CMPQ(regTmp, operand.U8(nr/vecs))
	g.JLE(operand.LabelRef("narrow"))
	g.SUBQ(operand.U8(nr/vecs), regTmp)
	g.setMask(regTmp, regK)
	g.bodies("wide", i.counts(), vecs, true)

	g.Label("narrow")
	g.setMask(regTmp, regK)
	var slim []int
	for rows := i.tall; rows >= 1; rows-- {
		slim = append(slim, rows)
	}
	g.bodies("slim", slim, 1, true)
}

// counts returns the numbers of rows that there are bodies for, the most first:
// that of a full tile, and few. A tile of few rows has sums enough to keep the
// multipliers busy, so what lies between is done in two.
func (i *isa) counts() []int {
	all := []int{i.mr}
	for rows := min(i.mr-1, i.few); rows >= 1; rows-- {
		all = append(all, rows)
	}
	return all
}

// bodies jumps to the body for the number of rows, and writes them.
func (g *tileGen) bodies(kind string, counts []int, nv int, masked bool) {
	g.Args("rows", regTmp)
	g.Choose(regTmp, kind, counts...)
	for _, rows := range counts {
		g.body(kind, rows, nv, masked)
	}
}

// rowA is the address of A's row, off bytes along it.
func rowA(row, off int) operand.Mem {
	m := operand.Mem{Base: regA[row/chunk], Disp: off}
	switch r := row % chunk; r {
	case 0:
	case 1, 2, 4, 8:
		m.Index, m.Scale = regLDA, uint8(r)
	case 3, 6:
		m.Index, m.Scale = regLDA3, uint8(r/3)
	case 5:
		m.Index, m.Scale = regLDA5, 1
	case 7:
		m.Index, m.Scale = regLDA7, 1
	}
	return m
}

// body writes the kernel for exactly these rows and vectors.
func (g *tileGen) body(kind string, rows, nv int, masked bool) {
	label := func(s string) string { return fmt.Sprintf("%s%d%s", kind, rows, s) }
	sum := func(row, v int) reg.VecPhysical { return g.isa.Regs[row*nv+v] }
	b := g.isa.Regs[rows*nv : rows*nv+nv]
	// As many registers for A as are left, at most four.
	spare := g.isa.Regs[rows*nv+nv:]
	if g.mask != nil {
		spare = spare[:len(spare)-1]
	}
	a := spare[:min(len(spare), 4)]

	g.Label(label(""))
	full := rows == g.isa.mr && !masked
	// The tile of C is needed after the loop: ask for it before. AVX-512's many rows
	// are asked for one at a time, so that B does not wait behind all of them.
	byRow := g.isa == avx512
	askRow := func() {
		for v := range nv {
			g.PREFETCHT0(operand.Mem{Base: regC, Disp: v * g.isa.Bytes})
		}
		g.ADDQ(regLDC, regC)
	}
	if full && !byRow {
		for range rows {
			askRow()
		}
	}
	for row := range rows {
		for v := range nv {
			g.zero(sum(row, v))
		}
	}
	for n := 1; n*chunk < rows; n++ {
		// Nine rows on: eight and one.
		g.LEAQ(operand.Mem{Base: regA[n-1], Index: regLDA, Scale: 8}, regA[n])
		g.ADDQ(regLDA, regA[n])
	}
	ahead := !masked
	copying := kind == "copy"
	if copying {
		g.Args("pack", regPack)
	} else if full {
		g.Args("nextA", regNextA)
	}
	if ahead {
		g.Args("nextB nextLDB", regNextB, regNextLDB)
		g.SHLQ(operand.U8(g.elem.Shift), regNextLDB)
	}
	if masked {
		g.Args("k", regK)
	}
	// step is step u of so many in one round of the loop. Within a round the
	// addresses take u times the stride as far as the scales 1 and 2 reach: an
	// addition would compete with the multiply-adds.
	step := func(u, of int) {
		at := func(base, stride reg.GPPhysical) operand.Mem {
			m := operand.Mem{Base: base}
			if r := u % 3; r > 0 {
				m.Index, m.Scale = stride, uint8(r)
			}
			return m
		}
		next := func(base, stride reg.GPPhysical) {
			switch {
			case u%3 == 2: // three strides, before steps 3, 6, …
				g.LEAQ(operand.Mem{Base: base, Index: stride, Scale: 2}, base)
				g.ADDQ(stride, base)
			case u == of-1 && u%3 == 1:
				g.LEAQ(operand.Mem{Base: base, Index: stride, Scale: 2}, base)
			case u == of-1:
				g.ADDQ(stride, base)
			}
		}
		for v := range nv {
			m := at(regB, regLDB)
			m.Disp = v * g.isa.Bytes
			g.load(m, b[v], masked && v == nv-1)
		}
		next(regB, regLDB)
		if copying {
			for v := range nv {
				g.store(b[v], operand.Mem{Base: regPack, Disp: (u*nv + v) * g.isa.Bytes}, false)
			}
			if u == of-1 {
				g.ADDQ(operand.I32(of*nv*g.isa.Bytes), regPack)
			}
		}
		for row := range rows {
			x := a[row%len(a)]
			g.broadcast(rowA(row, u*g.elem.Size()), x)
			for v := range nv {
				g.fma(x, b[v], sum(row, v))
			}
		}
		if ahead {
			g.PREFETCHT1(at(regNextB, regNextLDB))
			next(regNextB, regNextLDB)
		}
	}
	advance := func(bytes int) {
		for n := 0; n*chunk < rows; n++ {
			g.ADDQ(operand.U8(bytes), regA[n])
		}
	}
	if full {
		const unroll = 4
		left := g.Arg("rows") // the rows of C that are not asked for
		g.SUBQ(operand.U8(unroll), regK)
		g.JLT(operand.LabelRef(label("rest")))
		g.Label(label("loop"))
		for u := range unroll {
			step(u, unroll)
			if u == 0 && !copying {
				g.PREFETCHT0(operand.Mem{Base: regNextA})
				g.ADDQ(operand.U8(unroll*g.elem.Size()), regNextA)
			}
			if u == 1 && byRow {
				g.CMPQ(left, operand.U8(0))
				g.JEQ(operand.LabelRef(label("asked")))
				askRow()
				g.DECQ(left)
				g.Label(label("asked"))
			}
		}
		advance(unroll * g.elem.Size())
		g.SUBQ(operand.U8(unroll), regK)
		g.JGE(operand.LabelRef(label("loop")))
		g.Label(label("rest"))
		g.ADDQ(operand.U8(unroll), regK)
		g.JEQ(operand.LabelRef(label("done")))
	}
	g.Label(label("step"))
	step(0, 1)
	advance(g.elem.Size())
	g.Repeat(regK, label("step"))
	g.Label(label("done"))

	// A branch: masks that are all off would wait for what was stored last.
	at := func(v int, base reg.GPPhysical) operand.Mem {
		return operand.Mem{Base: base, Disp: v * g.isa.Bytes}
	}
	add := regTmp
	if full {
		g.Args("c", regC)
	}
	g.MOVBLZX(g.Arg("add"), add.As32())
	g.TESTQ(add, add)
	g.JEQ(operand.LabelRef(label("store")))
	p := regA[0]
	g.MOVQ(regC, p)
	for row := range rows {
		for v := range nv {
			if masked && v == nv-1 {
				g.load(at(v, p), b[v], true)
				g.addTo(b[v], sum(row, v))
			} else {
				g.addTo(at(v, p), sum(row, v))
			}
		}
		if row < rows-1 {
			g.ADDQ(regLDC, p)
		}
	}
	g.Label(label("store"))
	for row := range rows {
		for v := range nv {
			g.store(sum(row, v), at(v, regC), masked && v == nv-1)
		}
		if row < rows-1 {
			g.ADDQ(regLDC, regC)
		}
	}
	g.End()
}
