package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// A vecGen writes instructions for an instruction set and an element type.
type vecGen struct {
	*gen
	isa  *asm.ISA
	elem *asm.Elem
}

// width is the bytes that one register holds of use.
func (g *vecGen) width() int {
	if g.isa == asm.Scalar {
		return g.elem.Size()
	}
	return g.isa.Bytes
}

// pick calls the form for a single float32, a single float64, float32s or float64s.
func (g *vecGen) pick(ss, sd, ps, pd func()) {
	switch {
	case g.isa == asm.Scalar && g.elem == asm.F32:
		ss()
	case g.isa == asm.Scalar:
		sd()
	case g.elem.Size() == 4:
		ps()
	default:
		pd()
	}
}

// move loads or stores a register, with the instruction set's own encoding:
// mixing the old and the new one is slow on some CPUs.
func (g *vecGen) move(from, to operand.Op) {
	old := g.isa == asm.SSE2
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
	if g.isa == asm.SSE2 {
		g.MOVNTPD(from, to)
	} else {
		g.VMOVNTPD(from, to)
	}
}

// broadcast fills dst with one element.
func (g *vecGen) broadcast(src operand.Mem, dst reg.VecPhysical) {
	switch {
	case g.isa == asm.Scalar:
		g.move(src, dst)
	case g.isa == asm.SSE2 && g.elem == asm.F32:
		g.MOVSS(src, dst)
		g.SHUFPS(operand.U8(0), dst, dst)
	case g.isa == asm.SSE2:
		g.MOVSD(src, dst)
		g.UNPCKLPD(dst, dst)
	case g.elem.Size() == 4:
		g.VBROADCASTSS(src, dst)
	default:
		g.VBROADCASTSD(src, dst)
	}
}

func (g *vecGen) end() {
	if g.isa == asm.AVX2 || g.isa == asm.AVX512 {
		g.VZEROUPPER()
	}
	g.RET()
}
