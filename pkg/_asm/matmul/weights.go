package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// quantBlock is how many weights are worked on at a time: as many as share a
// scale in the quantised formats.
const quantBlock = 32

// A weightFormat is a format of package matmul's WeightFormat.
type weightFormat struct {
	name  string
	bytes int // of quantBlock weights
}

var (
	wF32  = &weightFormat{"Float32", 128}
	wBF16 = &weightFormat{"BFloat16", 64}
	wF16  = &weightFormat{"Float16", 64}
	wQ80  = &weightFormat{"Q8_0", 34}
	wQ40  = &weightFormat{"Q4_0", 18}
	wQ41  = &weightFormat{"Q4_1", 20}

	weightFormats = []*weightFormat{wF32, wBF16, wF16, wQ80, wQ40, wQ41}
	quantFormats  = []*weightFormat{wQ80, wQ40, wQ41}
)

// weightGen writes the kernels of one format for one instruction set.
type weightGen struct {
	vecGen
	f    *weightFormat
	q    []reg.VecPhysical // packed weights of a block
	d, m reg.VecPhysical   // its scale and minimum, or its table of weights
	c0   reg.VecPhysical   // constants
}

// wide is the most rows of activations that a kernel takes at a time.
func (i *isa) wide() int {
	if i == avx2 {
		return 4
	}
	return 8
}

// wideInt8 is the same for activations of 8 bits.
func (i *isa) wideInt8() int {
	if i == avx2 {
		return 2
	}
	return 8
}

// vecsOf is how many vectors hold the weights of a block in float32.
func (g *weightGen) vecsOf() int { return quantBlock * 4 / g.isa.Bytes }

func counting(from int) []uint32 {
	var all []uint32
	for i := range 16 {
		all = append(all, math.Float32bits(float32(from+i)))
	}
	return all
}

func repeated(v uint32, n int) []uint32 { return slices.Repeat([]uint32{v}, n) }

// reserve takes the registers of decoding from the end of the file, and loads
// the constants.
func (g *weightGen) reserve() {
	take := g.isa.fromEnd()
	g.d, g.m, g.c0 = take(), take(), take()
	n := g.isa.Bytes / 4
	switch {
	case g.isa == avx512 && g.f == wQ41:
		g.move(g.Table("from0", counting(0)...), g.c0)
		g.q = []reg.VecPhysical{take()}
	case g.isa == avx512 && g.f == wQ40:
		g.move(g.Table("from8", counting(-8)...), g.c0)
		g.q = []reg.VecPhysical{take()}
	case g.isa == avx2 && (g.f == wQ40 || g.f == wQ41):
		g.move(g.Table("fifteen", repeated(15, n)...), g.c0)
		if g.f == wQ40 {
			g.move(g.Table("eight", repeated(8, n)...), g.m)
		}
		g.q = []reg.VecPhysical{take(), take()}
	}
}

// openBlock loads what all weights of the block at w need.
func (g *weightGen) openBlock(w reg.GPPhysical) {
	at := func(off int) operand.Mem { return operand.Mem{Base: w, Disp: off} }
	half := func(v reg.VecPhysical) reg.VecPhysical { // the register with half the bits
		if g.isa == avx512 {
			return v.AsY().(reg.VecPhysical)
		}
		return v.AsX().(reg.VecPhysical)
	}
	switch g.f {
	case wQ41:
		g.VPBROADCASTD(at(0), half(g.m))
		g.VCVTPH2PS(half(g.m), g.m)
		g.VMOVSLDUP(g.m, g.d)
		g.VMOVSHDUP(g.m, g.m)
		if g.isa == avx512 {
			g.VFMADD213PS(g.m, g.c0, g.d) // the sixteen weights that there are
		}
	case wQ40, wQ80:
		g.VPBROADCASTW(at(0), half(g.d))
		g.VCVTPH2PS(half(g.d), g.d)
		if g.isa == avx512 && g.f == wQ40 {
			g.VMULPS(g.c0, g.d, g.d)
		}
	}
	for i, q := range g.q {
		g.VPMOVZXBD(at(g.f.bytes-16+8*i), q)
	}
}

// half decodes the first or the second sixteen weights of the block at w.
func (g *weightGen) half(h int, w reg.GPPhysical, dst []reg.VecPhysical) {
	lanes := g.isa.Bytes / 4
	for i, v := range dst {
		first := 16*h + lanes*i
		at := func(off, size int) operand.Mem { return operand.Mem{Base: w, Disp: off + first*size} }
		switch g.f {
		case wF32:
			g.move(at(0, 4), v)
		case wBF16:
			g.VPMOVZXWD(at(0, 2), v)
			g.VPSLLD(operand.U8(16), v, v)
		case wF16:
			g.VCVTPH2PS(at(0, 2), v)
		case wQ80:
			g.VPMOVSXBD(at(2, 1), v)
			g.VCVTDQ2PS(v, v)
			g.VMULPS(g.d, v, v)
		default:
			q := g.q[i]
			if h == 1 {
				g.VPSRLD(operand.U8(4), q, q)
			}
			switch {
			case g.isa == avx512:
				g.VPERMPS(g.d, q, v) // looks at the lowest 4 bits
			case h == 0:
				g.VPAND(q, g.c0, v)
				q = v
			}
			if g.isa == avx512 {
				continue
			}
			if g.f == wQ40 {
				g.VPSUBD(g.m, q, v)
				q = v
			}
			g.VCVTDQ2PS(q, v)
			if g.f == wQ40 {
				g.VMULPS(g.d, v, v)
			} else {
				g.VFMADD213PS(g.m, g.d, v)
			}
		}
	}
}

// beginWeights begins a kernel of a format.
func (f *gen) beginWeights(i *isa, w *weightFormat, name, signature string, doc ...string) *weightGen {
	return &weightGen{vecGen: *f.begin(i, asm.F32, name+w.name, signature, doc...), f: w}
}

func decodeDoc(w *weightFormat) string {
	return fmt.Sprintf("is decode%s for blocks ≥ 1 times %d weights.", w.name, quantBlock)
}

// decode writes what decodes whole blocks.
func (f *gen) decode(i *isa, w *weightFormat) {
	g := f.beginWeights(i, w, "decode", "(blocks int, w *byte, dst *float32)", decodeDoc(w))
	src, dst, left := reg.RAX, reg.RBX, reg.RCX
	g.Args("blocks w dst", left, src, dst)
	g.reserve()
	g.Label("loop")
	g.openBlock(src)
	nv := g.vecsOf()
	for h := range 2 {
		vs := g.isa.Regs[h*nv/2 : (h+1)*nv/2]
		g.half(h, src, vs)
		for n, v := range vs {
			g.move(v, operand.Mem{Base: dst, Disp: (h*nv/2 + n) * g.isa.Bytes})
		}
	}
	g.ADDQ(operand.I32(w.bytes), src)
	g.ADDQ(operand.I32(4*quantBlock), dst)
	g.Repeat(left, "loop")
	g.End()
}

// dotWeights writes products of rows of weights and of activations in float32.
func (f *gen) dotWeights(i *isa, w *weightFormat) {
	g := f.beginWeights(i, w, "dot",
		"(blocks int, w *byte, rowBytes int, rows int, x *float32, ldx int, y *float32, ldy int, m int, add bool)",
		dotFloat32Doc(i.wide())...)
	k := g.weightLoops(2)
	g.reserve()
	k.choose(i.wide())
	for m := i.wide(); m >= 1; m /= 2 {
		nv := g.vecsOf()
		per := min(nv, 8/m) // sums of each row of activations
		unroll := 1
		if m*per < 4 {
			unroll = 2
		}
		sums := g.isa.Regs[:m*per*unroll]
		dst := g.isa.Regs[len(sums):][:nv/2]
		k.rows(m, sums, unroll, w.bytes, 4*quantBlock, func(u int) {
			g.openBlock(k.w)
			for h := range 2 {
				g.half(h, k.w, dst)
				for r := range m {
					for n, v := range dst {
						at := h*nv/2 + n
						g.fma(k.x.at(r, at*g.isa.Bytes), v, sums[(u*m+r)*per+at%per])
					}
				}
			}
		})
	}
}

// dotFloat32Doc is what is said of products with activations in float32, up to so many
// rows of them.
func dotFloat32Doc(wide int) []string {
	return dotWeightsDoc(fmt.Sprintf("is, for blocks and rows ≥ 1 and m a power of two up to %d,", wide),
		fmt.Sprintf("for j := range %d*blocks {", quantBlock), "sum += w[r, j] * x[i*ldx+j] // fused, in lanes")
}

func dotWeightsDoc(first, loop, sum string) []string {
	return []string{
		first,
		"",
		"\tfor r := range rows {",
		"\t\tfor i := range m {",
		"\t\t\tvar sum float32",
		"\t\t\t" + loop,
		"\t\t\t\t" + sum,
		"\t\t\t}",
		"\t\t\tif add {",
		"\t\t\t\tsum += y[i*ldy+r]",
		"\t\t\t}",
		"\t\t\ty[i*ldy+r] = sum",
		"\t\t}",
		"\t}",
	}
}

// weightLoops is the frame of a kernel that goes over rows of weights, and
// along each over its blocks.
type weightLoops struct {
	g                        *weightGen
	x, y                     rowsOf
	row, w                   reg.GPPhysical // the row, and the place in it
	left, tmp, ahead         reg.GPPhysical
	blocks, rowBytes, rowsNo operand.Mem
}

// weightLoops loads the arguments. Activations take 1<<xShift bytes each.
func (g *weightGen) weightLoops(xShift int) *weightLoops {
	k := &weightLoops{
		g: g, x: rowsOf{reg.RBX, reg.RCX, reg.RSI, reg.RDI}, y: rowsOf{reg.R8, reg.R9, reg.R10, reg.R11},
		row: reg.RAX, w: reg.RDX, left: reg.R12, tmp: reg.R13, ahead: reg.R14,
	}
	k.blocks, k.rowBytes, k.rowsNo = g.Arg("blocks"), g.Arg("rowBytes"), g.Arg("rows")
	g.rowsArg("x ldx", k.x, xShift)
	g.rowsArg("y ldy", k.y, 2)
	g.Args("w", k.row)
	return k
}

// choose jumps to the body for m, at most so many.
func (k *weightLoops) choose(most int) {
	k.lookAhead()
	k.g.Args("m", k.tmp)
	k.g.Choose(k.tmp, "m", halvings(most)...)
}

// rows writes the loops for m rows of activations, in steps of one block, or of
// two with unroll, that take so many bytes of weights and of activations.
func (k *weightLoops) rows(m int, sums []reg.VecPhysical, unroll, wBytes, xBytes int, block func(u int)) {
	g := k.g
	label := func(s string) string { return fmt.Sprintf("m%d%s", m, s) }
	step := func(u int) {
		k.ask(wBytes)
		block(u)
		g.ADDQ(operand.I32(wBytes), k.w)
		g.forward(k.x, m, xBytes)
	}
	g.Label(label(""))
	g.MOVQ(k.row, k.w)
	for _, s := range sums {
		g.zero(s)
	}
	g.MOVQ(k.blocks, k.left)
	if unroll > 1 {
		g.SUBQ(operand.U8(unroll), k.left)
		g.JLT(operand.LabelRef(label("last")))
	}
	g.Label(label("loop"))
	for u := range unroll {
		step(u)
	}
	g.SUBQ(operand.U8(unroll), k.left)
	if unroll > 1 {
		g.JGE(operand.LabelRef(label("loop")))
		g.Label(label("last"))
		g.ADDQ(operand.U8(unroll), k.left)
		g.JEQ(operand.LabelRef(label("sum")))
		step(0)
	} else {
		g.JNE(operand.LabelRef(label("loop")))
	}
	g.Label(label("sum"))
	k.store(m, sums, unroll)
	g.MOVQ(k.blocks, k.tmp)
	g.IMUL3Q(operand.I32(xBytes), k.tmp, k.tmp)
	k.next(m)
}

// ask asks memory for the same bytes of a row below, where several rows of
// activations keep the hardware from seeing what comes next: as many rows below
// as there are in weightsAhead bytes.
func (k *weightLoops) ask(bytes int) {
	for at := 0; at < bytes; at += 64 {
		k.g.PREFETCHT0(operand.Mem{Base: k.w, Index: k.ahead, Scale: 1, Disp: at})
	}
}

// lookAhead sets the distance to that row.
func (k *weightLoops) lookAhead() {
	g := k.g
	g.MOVQ(k.blocks, k.left)
	g.IMUL3Q(operand.I32(g.f.bytes), k.left, k.left)
	g.MOVQ(k.row, k.tmp) // RAX
	g.MOVL(operand.U32(weightsAhead), reg.EAX)
	g.XORL(reg.EDX, reg.EDX)
	g.DIVQ(k.left)
	g.INCQ(reg.RAX)
	g.IMULQ(k.rowBytes, reg.RAX)
	g.MOVQ(reg.RAX, k.ahead)
	g.MOVQ(k.tmp, k.row)
}

const weightsAhead = 8192

// store adds up the sums of each row of activations and stores them.
func (k *weightLoops) store(m int, sums []reg.VecPhysical, unroll int) {
	g := k.g
	per := len(sums) / m / unroll
	t := g.isa.Regs[len(sums)]
	add := g.Arg("add")
	for r := range m {
		var all []reg.VecPhysical
		for u := range unroll {
			all = append(all, sums[(u*m+r)*per:][:per]...)
		}
		for n := len(all) / 2; n >= 1; n /= 2 {
			for v := range n {
				g.addTo(all[v+n], all[v])
			}
		}
		g.sumLanes(all[0], t)
		store := operand.LabelRef(fmt.Sprintf("m%dstore%d", m, r))
		g.CMPB(add, operand.U8(0))
		g.JEQ(store)
		g.VADDSS(k.y.at(r, 0), all[0].AsX(), all[0].AsX())
		g.Label(string(store))
		g.VMOVSS(all[0].AsX(), k.y.at(r, 0))
	}
	g.forward(k.y, m, 4)
}

// next goes on to the next row of weights: back by the bytes in tmp along the
// activations.
func (k *weightLoops) next(m int) {
	g := k.g
	g.SUBQ(k.tmp, k.x.first)
	if m > 4 {
		g.SUBQ(k.tmp, k.x.fifth)
	}
	g.ADDQ(k.rowBytes, k.row)
	g.Repeat(k.rowsNo, fmt.Sprintf("m%d", m))
	g.End()
}
