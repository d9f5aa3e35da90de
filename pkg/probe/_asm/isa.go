package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An isa is an instruction set: the width of its vectors and their registers.
type isa struct {
	name  string
	bytes int // of one vector; 0 for a single element
	regs  []reg.VecPhysical
}

var (
	xmm = []reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7,
		reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
	}
	scalar = &isa{name: "Scalar", regs: xmm}
	sse2   = &isa{name: "SSE2", bytes: 16, regs: xmm}
	avx2   = &isa{name: "AVX2", bytes: 32, regs: []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
	avx512 = &isa{name: "AVX512", bytes: 64, regs: []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	}}
)

// An elem is an element type.
type elem struct {
	name, goType string
	size         int
}

var (
	f32 = &elem{"F32", "float32", 4}
	f64 = &elem{"F64", "float64", 8}
)

// A vecGen writes instructions for an instruction set and an element type.
type vecGen struct {
	*gen
	isa  *isa
	elem *elem
}

// width is the bytes that one register holds of use.
func (g *vecGen) width() int {
	if g.isa == scalar {
		return g.elem.size
	}
	return g.isa.bytes
}

// pick calls the form for a single float32, a single float64, float32s or float64s.
func (g *vecGen) pick(ss, sd, ps, pd func()) {
	switch {
	case g.isa == scalar && g.elem == f32:
		ss()
	case g.isa == scalar:
		sd()
	case g.elem == f32:
		ps()
	default:
		pd()
	}
}

// move loads or stores a register, with the instruction set's own encoding:
// mixing the old and the new one is slow on some CPUs.
func (g *vecGen) move(from, to operand.Op) {
	old := g.isa == sse2
	g.pick(
		func() { g.MOVSS(from, to) },
		func() { g.MOVSD(from, to) },
		func() {
			if old {
				g.MOVUPS(from, to)
			} else {
				g.VMOVUPS(from, to)
			}
		},
		func() {
			if old {
				g.MOVUPD(from, to)
			} else {
				g.VMOVUPD(from, to)
			}
		})
}

// stream stores a whole register without asking for the line first.
func (g *vecGen) stream(from reg.VecPhysical, to operand.Mem) {
	if g.isa == sse2 {
		g.MOVNTPD(from, to)
	} else {
		g.VMOVNTPD(from, to)
	}
}

// broadcast fills dst with one element.
func (g *vecGen) broadcast(src operand.Mem, dst reg.VecPhysical) {
	switch {
	case g.isa == scalar:
		g.move(src, dst)
	case g.isa == sse2 && g.elem == f32:
		g.MOVSS(src, dst)
		g.SHUFPS(operand.U8(0), dst, dst)
	case g.isa == sse2:
		g.MOVSD(src, dst)
		g.UNPCKLPD(dst, dst)
	case g.elem == f32:
		g.VBROADCASTSS(src, dst)
	default:
		g.VBROADCASTSD(src, dst)
	}
}

func (g *vecGen) end() {
	if g.isa == avx2 || g.isa == avx512 {
		g.VZEROUPPER()
	}
	g.RET()
}
