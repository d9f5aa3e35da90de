package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// Activations of 8 bits are laid out for two blocks at a time, the second empty
// where the number of blocks is odd: 64 activations q, then for each four of them
// 16 times -bias·Σq as int32, the scale s, and s·Σq. The bias is what is added to
// a weight to make it a number without a sign.
const (
	quantPair  = 256
	quantStart = 64  // of the sums that a product starts from
	quantScale = 128 // of the scales
	quantSum   = 192 // of the scaled sums
)

// dotQuant writes products of rows of quantised weights and activations of 8 bits.
func (f *gen) dotQuant(i *isa, w *weightFormat) {
	layout := "quantizeGo"
	if i == avx512 && w == wQ41 {
		layout = "triplesGo"
	}
	g := f.beginWeights(i, w, "dotInt8",
		"(blocks int, w *byte, rowBytes int, rows int, x *byte, ldx int, y *float32, ldy int, m int, add bool)",
		append([]string{fmt.Sprintf("is, for blocks and rows ≥ 1 and m a power of two up to %d, with", i.wideInt8())},
			dotInt8Doc(fmt.Sprintf("activations as %s lays them out, ldx bytes from row to row,", layout))...)...)
	if i == avx2 {
		f.dotQuantAVX2(g)
	} else {
		f.dotQuantVNNI(g)
	}
}

// dotInt8Doc is what is said of products with activations of 8 bits, from the first
// line on.
func dotInt8Doc(first string) []string {
	return dotWeightsDoc(first, "for b := range blocks {", "sum += dotBlockGo(w[r, b], x[i, b]) // in lanes")
}

// loadBlocks loads the bytes of two blocks of 4 bits, or of one, and none beyond:
// with no mask, since what a masked load asks for is not fetched ahead.
func (g *weightGen) loadBlocks(at func(off int) operand.Mem, single bool, to, tmp reg.VecPhysical) {
	size := g.f.bytes
	x, y := tmp.AsX(), to.AsY()
	switch {
	case single:
		g.VMOVDQU32(at(0), to.AsX())
		if size == 20 {
			g.VMOVD(at(16), x)
		} else {
			g.zero(tmp)
			g.VPINSRW(operand.U8(0), at(16), x, x)
		}
		g.VINSERTI32X4(operand.U8(1), x, y, y)
	default:
		g.VMOVDQU32(at(0), y)
		if size == 20 {
			g.VMOVQ(at(32), x)
		} else {
			g.VMOVD(at(32), x)
		}
		g.VINSERTI64X4(operand.U8(1), tmp.AsY(), to, to)
	}
}

// dotQuantAVX2 takes one block at a time.
func (f *gen) dotQuantAVX2(g *weightGen) {
	k := g.weightLoops(0)
	take := g.isa.fromEnd()
	d, mins, q, ones := take(), take(), take(), take()
	n := g.isa.Bytes / 4
	g.move(g.Table("ones", repeated(0x00010001, n)...), ones)
	size := g.f.bytes
	var fifteen, magnitude, shifts, second reg.VecPhysical
	if g.f != wQ80 {
		fifteen, shifts = take(), take()
		g.move(g.Table("fifteens", repeated(0x0f0f0f0f, n)...), fifteen)
		g.move(g.Table("halves", 0, 0, 0, 0, 4, 0, 4, 0), shifts)
	} else {
		magnitude = mins
	}
	if g.f == wQ41 {
		second = take()
		g.move(g.Table("second", repeated(1, n)...), second)
	}
	k.choose(2)
	for m := 2; m >= 1; m /= 2 {
		unroll, per := 2/m, 1
		if g.f == wQ41 {
			per = 2
		}
		sums := g.isa.Regs[:m*per*unroll]
		dots := g.isa.Regs[len(sums):][:2]
		dd := g.isa.Regs[len(sums)+2]
		half := func(u, b int) {
			at := func(off int) operand.Mem { return operand.Mem{Base: k.w, Disp: b*size + off} }
			if g.f == wQ80 {
				g.VMOVDQU(at(2), q)
				g.VPABSB(q, magnitude)
				g.VPBROADCASTW(at(0), d.AsX())
				g.VCVTPH2PS(d.AsX(), d)
			} else {
				g.VBROADCASTI128(at(size-16), q)
				g.VPSRLVQ(shifts, q, q)
				g.VPAND(fifteen, q, q)
				if g.f == wQ41 {
					g.VCVTPH2PS(at(0), d) // and what follows
					g.VPERMPS(d, second, mins)
					g.VBROADCASTSS(d.AsX(), d)
				} else {
					g.VPBROADCASTW(at(0), d.AsX())
					g.VCVTPH2PS(d.AsX(), d)
				}
			}
			for r := range m {
				dot := dots[r%2]
				sum := sums[(u*m+r)*per:][:per]
				x := func(off int) operand.Mem { return k.x.at(r, off+b*g.isa.Bytes) }
				if g.f == wQ80 {
					g.VMOVDQU(x(0), dot)
					g.VPSIGNB(q, dot, dot)
					g.VPMADDUBSW(dot, magnitude, dot)
				} else {
					g.VPMADDUBSW(x(0), q, dot)
				}
				g.VPMADDWD(ones, dot, dot)
				if g.f == wQ40 {
					g.VPADDD(x(quantStart), dot, dot)
				}
				g.VCVTDQ2PS(dot, dot)
				g.VMULPS(x(quantScale), d, dd)
				g.VFMADD231PS(dot, dd, sum[0])
				if g.f == wQ41 {
					g.VFMADD231PS(x(quantSum), mins, sum[per-1])
				}
			}
		}
		k.pairs(m, sums, unroll, func(u int, _ bool) {
			for b := range 2 {
				half((2*u+b)%unroll, b)
			}
		}, func() { half(0, 0) })
	}
}

// pairs writes the loops for m rows of activations over two blocks at a time,
// and one alone at the end.
func (k *weightLoops) pairs(m int, sums []reg.VecPhysical, unroll int, pair func(u int, single bool), single func()) {
	g := k.g
	label := func(s string) string { return fmt.Sprintf("m%d%s", m, s) }
	step := func(u int) {
		k.ask(2 * g.f.bytes)
		pair(u, false)
		g.ADDQ(operand.I32(2*g.f.bytes), k.w)
		g.forward(k.x, m, quantPair)
	}
	g.Label(label(""))
	g.MOVQ(k.row, k.w)
	for _, s := range sums {
		g.zero(s)
	}
	g.MOVQ(k.blocks, k.left)
	g.SUBQ(operand.U8(2*unroll), k.left)
	g.JLT(operand.LabelRef(label("last")))
	g.Label(label("loop"))
	for u := range unroll {
		step(u)
	}
	g.SUBQ(operand.U8(2*unroll), k.left)
	g.JGE(operand.LabelRef(label("loop")))
	g.Label(label("last"))
	g.ADDQ(operand.U8(2*unroll), k.left)
	if unroll > 1 {
		g.CMPQ(k.left, operand.U8(2))
		g.JLT(operand.LabelRef(label("single")))
		step(0)
		g.SUBQ(operand.U8(2), k.left)
		g.Label(label("single"))
	}
	g.TESTQ(k.left, k.left)
	g.JEQ(operand.LabelRef(label("sum")))
	single()
	g.Label(label("sum"))
	k.store(m, sums, unroll)
	// Back to the first blocks of the activations: half as many pairs, rounded down.
	g.MOVQ(k.blocks, k.tmp)
	g.SHRQ(operand.U8(1), k.tmp)
	g.SHLQ(operand.U8(8), k.tmp)
	k.next(m)
}

// quantize writes what rounds a row of activations to 8 bits.
func (f *gen) quantize(i *isa) {
	g := f.begin(i, asm.F32, "quantize", "(blocks int, x *float32, dst *byte, bias int)",
		"is quantizeGo for blocks ≥ 1 and dst at a multiple of 64.")
	x, dst, left, tmp := reg.RAX, reg.RBX, reg.RCX, reg.RDX
	R := i.Regs
	nv := quantBlock * 4 / i.Bytes
	magnitude, limit, least, ones, words, bias := R[15], R[14], R[13], R[12], R[11], R[10]
	t, most, scale, zero := R[9], R[8], R[7], R[6]
	xs := R[:nv]
	load := func(name string, v uint32, to reg.VecPhysical) {
		g.move(g.Table(name, repeated(v, i.Bytes/4)...), to)
	}
	g.Args("blocks x dst", left, x, dst)
	load("magnitude", 0x7fffffff, magnitude)
	load("limit", math.Float32bits(127), limit)
	load("least", 0x00800000, least)
	load("bytes", 0x01010101, ones)
	load("words", 0x00010001, words)
	if i == avx2 {
		g.zero(zero)
	}
	g.Args("bias", tmp)
	g.NEGQ(tmp)
	g.VMOVD(tmp.As32(), bias.AsX())
	g.VPBROADCASTD(bias.AsX(), bias.AsY())
	and := func(p, q, to reg.VecPhysical) {
		if i == avx512 {
			g.VPANDD(p, q, to)
		} else {
			g.VPAND(p, q, to)
		}
	}

	g.Label("loop")
	for n, v := range xs {
		g.move(operand.Mem{Base: x, Disp: n * i.Bytes}, v)
		if n == 0 {
			and(v, magnitude, most)
			continue
		}
		and(v, magnitude, t)
		// Magnitudes compare as integers, Inf and NaN above all others.
		g.VPMAXUD(t, most, most)
	}
	if i == avx512 {
		g.VEXTRACTI64X4(operand.U8(1), most, t.AsY())
		g.VPMAXUD(t.AsY(), most.AsY(), most.AsY())
	}
	g.VEXTRACTI128(operand.U8(1), most.AsY(), t.AsX())
	g.VPMAXUD(t.AsX(), most.AsX(), most.AsX())
	for _, swap := range []uint8{0x4e, 0xb1} {
		g.VPSHUFD(operand.U8(swap), most.AsX(), t.AsX())
		g.VPMAXUD(t.AsX(), most.AsX(), most.AsX())
	}
	g.VBROADCASTSS(most.AsX(), most)
	g.VDIVPS(limit, most, scale)
	g.VSUBPS(most, most, t) // 0, or NaN if not finite
	g.VADDPS(t, scale, scale)
	const notLess, greater = 0x15, 0x1e // unordered passes the first, not the second
	if i == avx512 {
		g.VCMPPS(operand.U8(notLess), least, scale, reg.K1)
		g.VMOVUPS_Z(scale, reg.K1, scale)
	} else {
		g.VCMPPS(operand.U8(notLess), least, scale, t)
		g.VPAND(t, scale, scale)
		g.VCMPPS(operand.U8(greater), zero, scale, t)
	}
	q := xs[0]
	for _, v := range xs {
		g.VDIVPS(scale, v, v)
		g.VCVTPS2DQ(v, v) // to the nearest, ties to even
		if i == avx512 {
			g.VPMOVDB(v, v.AsX()) // what was divided by 0 or NaN ends in a byte of zeros
		} else {
			g.VPAND(t, v, v)
		}
	}
	if i == avx512 {
		g.VINSERTI128(operand.U8(1), xs[1].AsX(), q.AsY(), q.AsY())
	} else {
		g.VPACKSSDW(xs[1], xs[0], xs[0])
		g.VPACKSSDW(xs[3], xs[2], xs[2])
		g.VPACKSSWB(xs[2], xs[0], q)
		g.VMOVDQU(g.Table("order", 0, 4, 1, 5, 2, 6, 3, 7), t)
		g.VPERMD(q, t, q)
	}
	at := func(off int) operand.Mem { return operand.Mem{Base: dst, Disp: off} }
	g.VMOVDQU(q.AsY(), at(0))
	g.VPMADDUBSW(q.AsY(), ones.AsY(), q.AsY())
	g.VPMADDWD(words.AsY(), q.AsY(), q.AsY())
	g.VPMULLD(bias.AsY(), q.AsY(), t.AsY())
	g.VMOVDQU(t.AsY(), at(quantStart))
	g.VMOVUPS(scale.AsY(), at(quantScale))
	g.VCVTDQ2PS(q.AsY(), q.AsY())
	g.VMULPS(scale.AsY(), q.AsY(), q.AsY())
	g.VMOVUPS(q.AsY(), at(quantSum))

	g.ADDQ(operand.I32(4*quantBlock), x)
	g.ADDQ(operand.I32(32), dst)
	g.TESTQ(operand.I32(32), dst)
	g.JNE(operand.LabelRef("first"))
	g.ADDQ(operand.I32(quantPair-64), dst)
	g.Label("first")
	g.Repeat(left, "loop")
	g.End()
}
