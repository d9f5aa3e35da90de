package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// With VNNI a row of activations of 8 bits goes along four rows of weights at a
// time: what they load of the activations serves four times, and memory is asked
// for four rows at once. Several rows of activations go along one row of weights,
// which is decoded once for all of them. Each result is the same either way.
//
// Blocks of Q4_1 are taken three at a time, as they lie: 60 bytes are fifteen
// lanes, of each block one with its scale and minimum and four with its weights.
// The activations lie as the weights do, zeros below scale and minimum: the
// activations of low halves in 64 bytes, those of high halves in the next; Σq of
// each block as an int32 in the lane of scale and minimum, and its scale s in all
// five lanes. So the minimum is the factor of Σq, as the scale is of the products.
const (
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

// vnniGen writes a kernel.
type vnniGen struct {
	*weightGen
	*weightLoops
	places                                 [oneRows]reg.GPPhysical // the places in the rows
	group                                  int                     // blocks that go together
	low, high, start, scale                reg.VecPhysical         // of the activations
	raw, q, q2, dot, factor                reg.VecPhysical
	fifteen, signs, spread, shift, factors reg.VecPhysical
}

// dotQuantVNNI takes a vector of bytes at a time: two blocks, or three of Q4_1.
func (f *gen) dotQuantVNNI(w *weightGen) {
	g := &vnniGen{weightGen: w, weightLoops: w.weightLoops(0), group: 2}
	R := g.isa.Regs
	g.low, g.high, g.start, g.scale = R[4], R[5], R[6], R[7]
	g.fifteen, g.signs, g.spread, g.shift, g.factors = R[28], R[28], R[29], R[30], R[31]
	groups := reg.R15
	if w.f == wQ41 {
		g.group = 3
	}
	// A row is whole groups, and at the end one that may have fewer blocks.
	g.MOVQ(g.row, g.tmp) // RAX
	g.MOVQ(g.blocks, reg.RAX)
	g.DECQ(reg.RAX)
	g.XORL(reg.EDX, reg.EDX)
	g.MOVL(operand.U32(g.group), g.left.As32())
	g.DIVQ(g.left) // RDX:RAX
	g.MOVQ(reg.RAX, groups)
	g.MOVQ(g.tmp, g.row)
	if w.f == wQ41 {
		g.LEAQ(operand.Mem{Base: reg.RDX, Index: reg.RDX, Scale: 4, Disp: 5}, reg.RDX)
		g.MOVL(operand.U32(0x7fff), g.tmp.As32())
		g.KMOVW(g.tmp.As32(), reg.K1)
		g.BZHIL(reg.EDX, g.tmp.As32(), g.tmp.As32())
		g.KMOVW(g.tmp.As32(), reg.K2)
	}
	g.constants()
	g.choose(w.isa.wideInt8())
	for m := w.isa.wideInt8(); m > 1; m /= 2 {
		label := func(s string) string { return fmt.Sprintf("m%d%s", m, s) }
		sums := R[:m]
		g.places[0] = g.w
		g.Label(label(""))
		g.MOVQ(g.row, g.places[0])
		g.begin(label("new"), sums, func(n int) operand.Mem { return g.y.at(n, 0) })
		g.along(label, groups, func(blocks int) {
			if blocks == g.group {
				g.ask(g.group * g.f.bytes)
			}
			g.temporaries(0)
			g.decodeGroup(0, blocks)
			dots := R[13:21]
			for n, sum := range sums {
				g.multiply(sum, func(off int) operand.Op { return g.x.at(n, off) }, dots[n%4], dots[4+n%4])
			}
		}, func() {
			g.ADDQ(operand.I32(g.group*g.f.bytes), g.places[0])
			g.forward(g.x, m, quantPair)
		})
		for n := 0; n < m; n += 4 {
			some := sums[n:min(n+4, m)]
			total := g.sumRows(some)
			g.VMOVSS(total, g.y.at(n, 0))
			for r := 1; r < len(some); r++ {
				g.VEXTRACTPS(operand.U8(r), total, g.y.at(n+r, 0))
			}
		}
		g.forward(g.y, m, 4)
		g.MOVQ(groups, g.tmp)
		g.SHLQ(operand.U8(8), g.tmp)
		g.next(m)
	}
	// One row of activations needs no distance between them.
	x, y, ahead := g.left, g.y.first, g.ahead
	g.places = [oneRows]reg.GPPhysical{g.w, reg.RSI, reg.RDI, reg.R11}
	rowBytes, left := reg.RCX, reg.R9
	g.Label("m1")
	g.MOVQ(g.rowBytes, rowBytes)
	g.MOVQ(g.rowsNo, left)
	for _, n := range []int{oneRows, 1} {
		label := func(s string) string { return fmt.Sprintf("rows%d%s", n, s) }
		sums := R[:n]
		g.Label(label(""))
		g.CMPQ(left, operand.U8(n))
		g.JLT(operand.LabelRef(map[int]string{oneRows: "rows1", 1: "done"}[n]))
		g.MOVQ(g.x.first, x)
		g.MOVQ(g.row, ahead)
		g.MOVQ(g.row, g.places[0])
		for r := 1; r < n; r++ {
			g.LEAQ(operand.Mem{Base: g.places[r-1], Index: rowBytes, Scale: 1}, g.places[r])
		}
		g.begin(label("new"), sums, func(n int) operand.Mem { return operand.Mem{Base: y, Disp: 4 * n} })
		g.along(label, groups, func(blocks int) {
			for at := 0; at < n*g.group*g.f.bytes && n > 1; at += 64 {
				g.PREFETCHT0(operand.Mem{Base: ahead, Disp: oneAhead + at})
			}
			for at, v := range g.activations() {
				g.VMOVDQU32(operand.Mem{Base: x, Disp: 64 * at}, v)
			}
			for r := range n {
				g.temporaries(r)
				g.decodeGroup(r, blocks)
				g.multiply(sums[r], func(off int) operand.Op { return g.activations()[off/64] }, g.dot, g.factor)
			}
		}, func() {
			for _, w := range g.places[:n] {
				g.ADDQ(operand.I32(g.group*g.f.bytes), w)
			}
			g.ADDQ(operand.I32(n*g.group*g.f.bytes), ahead)
			g.ADDQ(operand.I32(quantPair), x)
		})
		total := g.sumRows(sums)
		if n > 1 {
			g.VMOVUPS(total, operand.Mem{Base: y})
			g.LEAQ(operand.Mem{Base: g.row, Index: rowBytes, Scale: oneRows}, g.row)
		} else {
			g.VMOVSS(total, operand.Mem{Base: y})
			g.ADDQ(rowBytes, g.row)
		}
		g.ADDQ(operand.I32(4*n), y)
		g.SUBQ(operand.U8(n), left)
		g.JMP(operand.LabelRef(label("")))
	}
	g.Label("done")
	g.End()
}

// begin sets the sums to zero, or to what is in y with add.
func (g *vnniGen) begin(label string, sums []reg.VecPhysical, y func(n int) operand.Mem) {
	add := g.Arg("add")
	for _, s := range sums {
		g.zero(s)
	}
	g.CMPB(add, operand.U8(0))
	g.JEQ(operand.LabelRef(label))
	for n, s := range sums {
		g.VMOVSS(y(n), s.AsX())
	}
	g.Label(label)
}

// along goes along whole groups, and then the last, of which it multiplies as many
// blocks as there are: 2 or 1, or what the mask has for 0.
func (g *vnniGen) along(label func(string) string, groups reg.GPPhysical, multiply func(blocks int), next func()) {
	left := reg.R13
	g.MOVQ(groups, left)
	g.TESTQ(left, left)
	g.JEQ(operand.LabelRef(label("last")))
	g.Label(label("loop"))
	multiply(g.group)
	next()
	g.Repeat(left, label("loop"))
	g.Label(label("last"))
	if g.f == wQ41 {
		multiply(0)
		return
	}
	g.MOVQ(g.blocks, left)
	g.TESTQ(operand.U32(1), left)
	g.JEQ(operand.LabelRef(label("two")))
	multiply(1)
	g.JMP(operand.LabelRef(label("sum")))
	g.Label(label("two"))
	multiply(2)
	g.Label(label("sum"))
}

// constants loads the tables.
func (g *vnniGen) constants() {
	size := g.f.bytes
	table := func(name string, at func(i int) int, to reg.VecPhysical) {
		g.VMOVDQU32(g.Table(name, bytesOf(at)...), to)
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

// activations are the registers for what a group of blocks meets, 64 bytes each, as
// they lie.
func (g *vnniGen) activations() []reg.VecPhysical {
	if g.f == wQ41 {
		return []reg.VecPhysical{g.low, g.high, g.start, g.scale}
	}
	return []reg.VecPhysical{g.low, g.start, g.scale}
}

// temporaries chooses the registers for row r of the four.
func (g *vnniGen) temporaries(r int) {
	t := g.isa.Regs[8+5*(r%4):]
	g.raw, g.q, g.q2, g.dot, g.factor = t[0], t[1], t[2], t[3], t[4]
}

// decodeGroup loads a group of row r: 3 or 2 blocks, 1 block at the end, or 0,
// as many as the mask has.
func (g *vnniGen) decodeGroup(r, blocks int) {
	at := func(off int) operand.Mem { return operand.Mem{Base: g.places[r], Disp: off} }
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

// multiply adds the products of the group to a sum, with what x has of the
// activations.
func (g *vnniGen) multiply(sum reg.VecPhysical, x func(off int) operand.Op, dot, factor reg.VecPhysical) {
	start, scale := quantStart, quantScale
	if g.f == wQ41 {
		start, scale = tripleSum, tripleScale
	}
	g.VMULPS(x(scale), g.factor, factor)
	g.VMOVDQU32(x(start), dot)
	g.VPDPBUSD(x(0), g.q, dot)
	if g.f == wQ41 {
		g.VPDPBUSD(x(tripleHigh), g.q2, dot)
	}
	g.VCVTDQ2PS(dot, dot)
	g.VFMADD231PS(dot, factor, sum)
}

// sumRows returns the sums of the lanes of four vectors, or of one, in the same
// order of additions.
func (g *vnniGen) sumRows(sums []reg.VecPhysical) reg.VecPhysical {
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
	g := f.begin(avx512, asm.F32, "triples", "(blocks int, src *byte, dst *byte)", "is triplesGo for blocks ≥ 1.")
	left, src, dst := reg.RAX, reg.RBX, reg.RCX
	R := avx512.Regs
	q, ones, scale, zero, t, words := R[0].AsY().(reg.VecPhysical), R[1].AsY(), R[2], R[3], R[4], R[5].AsY()
	g.Args("blocks src dst", left, src, dst)
	g.VMOVDQU(g.Table("bytes", repeated(0x01010101, 16)...), ones)
	g.VMOVDQU(g.Table("words", repeated(0x00010001, 16)...), words)
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
	g.ADDQ(operand.I32(quantPair), dst)
	g.JMP(operand.LabelRef("group"))
	g.Label("done")
	g.End()
}
