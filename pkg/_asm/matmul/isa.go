package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// An isa is an instruction set and the shape of the tile that suits its registers.
type isa struct {
	*asm.ISA
	mr   int // rows of the full tile, two vectors wide
	tall int // the most rows of a tile one vector wide, which may have fewer
	few  int // up to so many rows have bodies two vectors wide as well
}

// vecs is the width of the tile in vectors.
const vecs = 2

var (
	// Of AVX2's 16 registers the 6×2 tile takes 12, B 2, A 1, the mask 1.
	avx2 = &isa{asm.AVX2, 6, 12, 8}
	// Of AVX-512's 32 registers the 14×2 tile takes 28, B 2, A 2; masks have their own.
	avx512 = &isa{asm.AVX512, 14, 16, 12}
)

// A vecGen writes one function for an instruction set and an element type.
type vecGen struct {
	*gen
	isa  *isa
	elem *asm.Elem
	mask reg.VecPhysical // AVX2 only
}

// begin begins a function, whose name ends with the element type and the
// instruction set.
func (f *gen) begin(name string, i *isa, e *asm.Elem) *vecGen {
	g := &vecGen{gen: f, isa: i, elem: e}
	if i == avx2 {
		g.mask = i.Regs[len(i.Regs)-1]
	}
	g.Function(name + e.Name + i.Name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	return g
}

// load reads a vector; with masked, only its live lanes, the others become 0.
func (g *vecGen) load(src operand.Mem, dst reg.VecPhysical, masked bool) {
	switch {
	case !masked:
		g.move(src, dst)
	case g.isa == avx2:
		g.moveLive(src, dst)
	case g.elem == asm.F32:
		g.VMOVUPS_Z(src, reg.K1, dst)
	default:
		g.VMOVUPD_Z(src, reg.K1, dst)
	}
}

// store writes a vector; with masked, only its live lanes.
func (g *vecGen) store(src reg.VecPhysical, dst operand.Mem, masked bool) {
	switch {
	case !masked:
		g.move(src, dst)
	case g.isa == avx2:
		g.moveLive(src, dst)
	default:
		g.move(src, reg.K1, dst)
	}
}

// move reads or writes a vector, with a mask between the operands if there is one.
func (g *vecGen) move(ops ...operand.Op) {
	if g.elem == asm.F32 {
		g.VMOVUPS(ops...)
	} else {
		g.VMOVUPD(ops...)
	}
}

// moveLive reads or writes the live lanes of a vector with AVX2.
func (g *vecGen) moveLive(src, dst operand.Op) {
	if g.elem == asm.F32 {
		g.VMASKMOVPS(src, g.mask, dst)
	} else {
		g.VMASKMOVPD(src, g.mask, dst)
	}
}

func (g *vecGen) broadcast(src operand.Mem, dst reg.VecPhysical) {
	if g.elem == asm.F32 {
		g.VBROADCASTSS(src, dst)
	} else {
		g.VBROADCASTSD(src, dst)
	}
}

// fma adds x·y to sum. x may be in memory.
func (g *vecGen) fma(x operand.Op, y, sum reg.VecPhysical) {
	if g.elem == asm.F32 {
		g.VFMADD231PS(x, y, sum)
	} else {
		g.VFMADD231PD(x, y, sum)
	}
}

func (g *vecGen) addTo(x operand.Op, sum reg.VecPhysical) {
	if g.elem == asm.F32 {
		g.VADDPS(x, sum, sum)
	} else {
		g.VADDPD(x, sum, sum)
	}
}

func (g *vecGen) zero(x reg.VecPhysical) {
	if g.isa == avx512 {
		g.VPXORQ(x, x, x)
	} else {
		g.VXORPS(x, x, x)
	}
}

// setMask makes the mask of the n lanes counted in r (1 to a full vector).
// It spoils r and tmp.
func (g *vecGen) setMask(r, tmp reg.GPPhysical) {
	if g.isa == avx512 {
		g.MOVL(operand.U32(0xffffffff), tmp.As32())
		g.BZHIL(r.As32(), tmp.As32(), tmp.As32())
		g.KMOVW(tmp.As32(), reg.K1)
		return
	}
	// The lanes come from a window over ones then zeros, one vector each.
	g.SHLQ(operand.U8(g.elem.Shift), r)
	g.NEGQ(r)
	g.LEAQ(g.laneMask(), tmp)
	g.VMOVDQU(operand.Mem{Base: tmp, Index: r, Scale: 1, Disp: g.isa.Bytes}, g.mask)
}

// laneMask returns one vector of ones followed by one of zeros.
func (g *vecGen) laneMask() operand.Mem {
	if g.lanes.Symbol.Name == "" {
		g.lanes = g.StaticGlobal("lanes")
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 2 * g.isa.Bytes / 8 {
			v := operand.U64(0)
			if i < g.isa.Bytes/8 {
				v = ^v
			}
			g.AppendDatum(v)
		}
	}
	return g.lanes
}

func floatBits(v float32) uint32 { return math.Float32bits(v) }
