package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// The kernels for one row of activations of 8 bits go along four rows of weights
// at a time: what they load of the activations serves four times, and memory
// is asked for four rows at once.
//
// Blocks of Q4_1 are taken three at a time, as they lie: 60 bytes are fifteen
// lanes, of each block one with its scale and minimum and four with its weights.
// The activations lie as the weights do, zeros below scale and minimum: the
// activations of low halves in 64 bytes, those of high halves in the next; Σq of
// each block as an int32 in the lane of scale and minimum, and its scale s in all
// five lanes. So the minimum is the factor of Σq, as the scale is of the products.
const (
	tripleBytes = 256
	tripleHigh  = 64
	tripleSum   = 128
	tripleScale = 192
)

const (
	oneRows  = 4    // rows of weights that go together
	oneAhead = 8192 // bytes that memory is asked for ahead, which rows in step keep the hardware from seeing
)

// bytesOf returns a table of 64 bytes as 32-bit numbers.
func bytesOf(at func(i int) int) []uint32 {
	var words []uint32
	for i := range 16 {
		v := uint32(0)
		for b := range 4 {
			v |= uint32(at(4*i+b)) << (8 * b)
		}
		words = append(words, v)
	}
	return words
}

// oneGen writes a kernel for one row of activations.
type oneGen struct {
	*weightGen
	w                                      [oneRows]reg.GPPhysical // the places in the rows
	x                                      reg.GPPhysical
	low, high, start, scale                reg.VecPhysical // of the activations
	raw, q, q2, dot, factor                reg.VecPhysical
	fifteen, signs, spread, shift, factors reg.VecPhysical
}

// dotOne writes products of rows of quantised weights and one row of activations
// of 8 bits.
func (f *gen) dotOne(w *weightFormat) {
	i := avx512
	g := &oneGen{weightGen: f.beginWeights("dotOne", i, w)}
	g.SignatureExpr("func(blocks int, w *byte, rowBytes int, rows int, x *byte, y *float32)")
	layout := "quantised"
	if w == wQ41 {
		layout = "triplesGo"
	}
	g.Doc(
		fmt.Sprintf("dotOne%s%s is, for blocks and rows ≥ 1, with activations as %s lays them out,", w.name, i.Name, layout), "",
		"\tfor r := range rows {",
		"\t\tfor b := range blocks {",
		"\t\t\ty[r] += dotBlockGo(w[r, b], x[b]) // in lanes, from 0",
		"\t\t}",
		"\t}",
	)
	R := i.Regs
	sums := R[:oneRows]
	g.low, g.high, g.start, g.scale = R[4], R[5], R[6], R[7]
	g.fifteen, g.signs, g.spread, g.shift, g.factors = R[28], R[28], R[29], R[30], R[31]
	g.x = reg.RDI
	g.w = [oneRows]reg.GPPhysical{reg.R8, reg.R9, reg.R10, reg.R11}
	row, rowBytes, y, left, x, ahead := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.R14
	groups, rest, tmp := reg.R12, reg.R13, reg.R15
	// A row is whole groups, and at the end one that may have fewer blocks.
	group, wBytes, xBytes := 2, 2*w.bytes, quantPair
	if w == wQ41 {
		group, wBytes, xBytes = 3, 3*w.bytes, tripleBytes
	}
	g.Load(g.Param("blocks"), row)
	g.DECQ(row)
	g.XORL(left.As32(), left.As32())
	g.MOVL(operand.U32(group), tmp.As32())
	g.DIVQ(tmp) // RDX:RAX
	g.MOVQ(row, groups)
	g.MOVQ(left, rest) // blocks of the last group, less one
	if w == wQ41 {
		g.LEAQ(operand.Mem{Base: rest, Index: rest, Scale: 4, Disp: 5}, rest)
		g.MOVL(operand.U32(0x7fff), tmp.As32())
		g.KMOVW(tmp.As32(), reg.K1)
		g.BZHIL(rest.As32(), tmp.As32(), tmp.As32())
		g.KMOVW(tmp.As32(), reg.K2)
	}
	g.Load(g.Param("w"), row)
	g.Load(g.Param("rowBytes"), rowBytes)
	g.Load(g.Param("rows"), left)
	g.Load(g.Param("x"), x)
	g.Load(g.Param("y"), y)
	g.constants()
	for _, n := range []int{oneRows, 1} {
		label := func(s string) string { return fmt.Sprintf("rows%d%s", n, s) }
		multiply := func(blocks int) {
			for r := range n {
				g.temporaries(r)
				g.decodeGroup(r, blocks)
				g.product(sums[r])
			}
		}
		open := func() {
			for at := 0; at < n*wBytes && n > 1; at += 64 {
				g.PREFETCHT0(operand.Mem{Base: ahead, Disp: oneAhead + at})
			}
			g.activations()
		}
		g.Label(label(""))
		g.CMPQ(left, operand.U8(n))
		g.JLT(operand.LabelRef(map[int]string{oneRows: "rows1", 1: "done"}[n]))
		g.MOVQ(x, g.x)
		g.MOVQ(row, ahead)
		g.MOVQ(row, g.w[0])
		for r := range n {
			if r > 0 {
				g.LEAQ(operand.Mem{Base: g.w[r-1], Index: rowBytes, Scale: 1}, g.w[r])
			}
			g.zero(sums[r])
		}
		g.MOVQ(groups, tmp)
		g.TESTQ(tmp, tmp)
		g.JEQ(operand.LabelRef(label("last")))
		g.Label(label("loop"))
		open()
		multiply(group)
		for r := range n {
			g.ADDQ(operand.I32(wBytes), g.w[r])
		}
		g.ADDQ(operand.I32(n*wBytes), ahead)
		g.ADDQ(operand.I32(xBytes), g.x)
		g.DECQ(tmp)
		g.JNE(operand.LabelRef(label("loop")))
		g.Label(label("last"))
		open()
		if w == wQ41 {
			multiply(0)
		} else {
			g.TESTQ(rest, rest)
			g.JNE(operand.LabelRef(label("two")))
			multiply(1)
			g.JMP(operand.LabelRef(label("sum")))
			g.Label(label("two"))
			multiply(2)
			g.Label(label("sum"))
		}
		total := g.sumRows(sums[:n])
		if n > 1 {
			g.VMOVUPS(total, operand.Mem{Base: y})
			g.LEAQ(operand.Mem{Base: row, Index: rowBytes, Scale: oneRows}, row)
		} else {
			g.VMOVSS(total, operand.Mem{Base: y})
			g.ADDQ(rowBytes, row)
		}
		g.ADDQ(operand.I32(4*n), y)
		g.SUBQ(operand.U8(n), left)
		g.JMP(operand.LabelRef(label("")))
	}
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// constants loads the tables.
func (g *oneGen) constants() {
	size := g.f.bytes
	table := func(name string, at func(i int) int, to reg.VecPhysical) {
		g.VMOVDQU32(g.constant(name, bytesOf(at)...), to)
	}
	words := func(name string, word func(lane int) int, to reg.VecPhysical) {
		table(name, func(i int) int { return word(i/2%16) >> (8 * (i % 2)) & 255 }, to)
	}
	switch g.f {
	case wQ41:
		table("fifteens", func(int) int { return 15 }, g.fifteen)
		words("factorsQ4_1", func(lane int) int {
			if lane%5 == 0 {
				return min(lane/5*10+1, 31)
			}
			return lane / 5 * 10
		}, g.factors)
	case wQ40:
		table("fifteens", func(int) int { return 15 }, g.fifteen)
		table("spreadQ4_0", func(i int) int { return size*(i/32) + size - 16 + i%16 }, g.spread)
		table("shift", func(i int) int { return 8*(i%8) + 4*(i/16%2) }, g.shift)
		words("factorsQ4_0", func(lane int) int { return lane / 8 * 9 }, g.factors)
	case wQ80:
		table("signs", func(int) int { return 128 }, g.signs)
		words("factorsQ8_0", func(lane int) int { return lane / 8 * 17 }, g.factors)
	}
}

// activations loads what a group of blocks meets.
func (g *oneGen) activations() {
	at := func(off int) operand.Mem { return operand.Mem{Base: g.x, Disp: off} }
	g.VMOVDQU32(at(0), g.low)
	if g.f == wQ41 {
		g.VMOVDQU32(at(tripleHigh), g.high)
		g.VMOVDQU32(at(tripleSum), g.start)
		g.VMOVUPS(at(tripleScale), g.scale)
		return
	}
	g.VMOVDQU32(at(quantStart), g.start)
	g.VMOVUPS(at(quantScale), g.scale)
}

// temporaries chooses the registers for row r of the four.
func (g *oneGen) temporaries(r int) {
	t := g.isa.Regs[8+5*(r%4):]
	g.raw, g.q, g.q2, g.dot, g.factor = t[0], t[1], t[2], t[3], t[4]
}

// decodeGroup loads a group of row r: 3 or 2 blocks, 1 block at the end, or 0,
// as many as the mask has.
func (g *oneGen) decodeGroup(r, blocks int) {
	at := func(off int) operand.Mem { return operand.Mem{Base: g.w[r], Disp: off} }
	size := g.f.bytes
	switch g.f {
	case wQ41:
		if blocks == 0 {
			g.VMOVDQU32_Z(at(0), reg.K2, g.raw)
		} else {
			g.VMOVDQU32(at(0), g.raw)
		}
		g.VPSRLW(operand.U8(4), g.raw, g.q2)
		g.VPANDD(g.fifteen, g.raw, g.q)
		g.VPANDD(g.fifteen, g.q2, g.q2)
		g.VPERMW_Z(g.raw, g.factors, reg.K1, g.factor)
		g.VCVTPH2PS(g.factor.AsY(), g.factor)
		return
	case wQ40:
		g.loadBlocks(at, blocks == 1, g.raw, g.q)
		g.VPERMW(g.raw, g.factors, g.factor)
		g.VPERMB(g.raw, g.spread, g.q)
		g.VPMULTISHIFTQB(g.q, g.shift, g.q)
		g.VPANDD(g.fifteen, g.q, g.q)
	case wQ80:
		g.VMOVDQU32(at(2), g.q.AsY())
		if blocks == 1 {
			g.VPBROADCASTW(at(0), g.factor.AsX())
		} else {
			g.VINSERTI64X4(operand.U8(1), at(size+2), g.q, g.q)
			g.VMOVDQU32(at(0), g.raw)
			g.VPERMW(g.raw, g.factors, g.factor)
		}
		g.VPXORD(g.signs, g.q, g.q)
	}
	g.VCVTPH2PS(g.factor.AsY(), g.factor)
}

// product adds the products of the group to a sum.
func (g *oneGen) product(sum reg.VecPhysical) {
	g.VMULPS(g.scale, g.factor, g.factor)
	g.VMOVDQA64(g.start, g.dot)
	g.VPDPBUSD(g.low, g.q, g.dot)
	if g.f == wQ41 {
		g.VPDPBUSD(g.high, g.q2, g.dot)
	}
	g.VCVTDQ2PS(g.dot, g.dot)
	g.VFMADD231PS(g.dot, g.factor, sum)
}

// sumRows returns the sums of the lanes of four vectors, or of one, in the same
// order of additions.
func (g *oneGen) sumRows(sums []reg.VecPhysical) reg.VecPhysical {
	s := func(i int) reg.VecPhysical { return sums[min(i, len(sums)-1)] }
	t := g.isa.Regs[8:]
	for i := range 2 {
		g.VUNPCKLPS(s(2*i+1), s(2*i), t[2*i])
		g.VUNPCKHPS(s(2*i+1), s(2*i), t[2*i+1])
		g.VADDPS(t[2*i+1], t[2*i], t[2*i])
	}
	g.VUNPCKLPD(t[2], t[0], t[1])
	g.VUNPCKHPD(t[2], t[0], t[3])
	g.VADDPS(t[3], t[1], t[0])
	g.VEXTRACTF64X4(operand.U8(1), t[0], t[1].AsY())
	g.VADDPS(t[1].AsY(), t[0].AsY(), t[0].AsY())
	g.VEXTRACTF128(operand.U8(1), t[0].AsY(), t[1].AsX())
	g.VADDPS(t[1].AsX(), t[0].AsX(), t[0].AsX())
	return t[0].AsX().(reg.VecPhysical)
}

// triples writes what lays out activations for Q4_1.
func (f *gen) triples() {
	g := &vecGen{gen: f, isa: avx512, elem: asm.F32}
	f.Function("triplesAVX512")
	f.Attributes(attr.NOSPLIT)
	f.Pragma("noescape")
	g.SignatureExpr("func(blocks int, src *byte, dst *byte)")
	g.Doc("triplesAVX512 is triplesGo for blocks ≥ 1.")
	left, src, dst := reg.RAX, reg.RBX, reg.RCX
	R := avx512.Regs
	q, ones, scale, zero, t, words := R[0].AsY().(reg.VecPhysical), R[1].AsY(), R[2], R[3], R[4], R[5].AsY()
	g.Load(g.Param("blocks"), left)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("dst"), dst)
	g.VMOVDQU(g.constant("bytes", repeated(0x01010101, 16)...), ones)
	g.VMOVDQU(g.constant("words", repeated(0x00010001, 16)...), words)
	g.zero(zero)
	g.Label("group")
	for i := range 4 {
		g.VMOVDQU32(zero, operand.Mem{Base: dst, Disp: 64 * i})
	}
	for b := range 3 {
		at := func(part, lane int) operand.Mem { return operand.Mem{Base: dst, Disp: part + 20*b + 4*lane} }
		g.VMOVDQU(operand.Mem{Base: src}, q)
		g.VBROADCASTSS(operand.Mem{Base: src, Disp: quantScale}, scale.AsX())
		g.VMOVDQU(q.AsX(), at(0, 1))
		g.VEXTRACTI128(operand.U8(1), q, at(tripleHigh, 1))
		g.VPMADDUBSW(q, ones, q)
		g.VPMADDWD(words, q, q)
		g.VEXTRACTI128(operand.U8(1), q, t.AsX())
		g.VPADDD(t.AsX(), q.AsX(), q.AsX())
		g.VPHADDD(q.AsX(), q.AsX(), q.AsX())
		g.VPHADDD(q.AsX(), q.AsX(), q.AsX())
		g.VMOVD(q.AsX(), at(tripleSum, 0))
		g.VMOVUPS(scale.AsX(), at(tripleScale, 0))
		g.VMOVSS(scale.AsX(), at(tripleScale, 4))
		g.DECQ(left)
		g.JEQ(operand.LabelRef("done"))
		// To the next block of a pair, or to the next pair.
		g.ADDQ(operand.I32(32), src)
		g.TESTQ(operand.I32(32), src)
		next := operand.LabelRef(fmt.Sprintf("block%d", b))
		g.JNE(next)
		g.ADDQ(operand.I32(quantPair-64), src)
		g.Label(string(next))
	}
	g.ADDQ(operand.I32(tripleBytes), dst)
	g.JMP(operand.LabelRef("group"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}
