package main

import (
	"strings"

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

// fromEnd returns what hands out the registers, the last first.
func (i *isa) fromEnd() func() reg.VecPhysical {
	free := i.Regs
	return func() reg.VecPhysical {
		last := free[len(free)-1]
		free = free[:len(free)-1]
		return last
	}
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

// begin begins a function, whose name ends with the instruction set. T in its
// signature is the element type.
func (f *gen) begin(i *isa, e *asm.Elem, name, signature string, doc ...string) *vecGen {
	g := &vecGen{gen: f, isa: i, elem: e}
	if i == avx2 {
		g.mask = i.Regs[len(i.Regs)-1]
	}
	g.Begin(name+i.Name, strings.ReplaceAll(signature, "*T", "*"+e.GoType), doc...)
	return g
}

// by returns the instruction for vectors of the element type.
func by[F any](e *asm.Elem, float32s, float64s F) F {
	if e == asm.F32 {
		return float32s
	}
	return float64s
}

// load reads a vector; with masked, only its live lanes, the others become 0.
func (g *vecGen) load(src operand.Mem, dst reg.VecPhysical, masked bool) {
	switch {
	case !masked:
		g.move(src, dst)
	case g.isa == avx2:
		g.moveLive(src, dst)
	default:
		by(g.elem, g.VMOVUPS_Z, g.VMOVUPD_Z)(src, reg.K1, dst)
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
func (g *vecGen) move(ops ...operand.Op) { by(g.elem, g.VMOVUPS, g.VMOVUPD)(ops...) }

// moveLive reads or writes the live lanes of a vector with AVX2.
func (g *vecGen) moveLive(src, dst operand.Op) {
	by(g.elem, g.VMASKMOVPS, g.VMASKMOVPD)(src, g.mask, dst)
}

func (g *vecGen) broadcast(src operand.Mem, dst reg.VecPhysical) {
	by(g.elem, g.VBROADCASTSS, g.VBROADCASTSD)(src, dst)
}

// fma adds x·y to sum. x may be in memory.
func (g *vecGen) fma(x operand.Op, y, sum reg.VecPhysical) {
	by(g.elem, g.VFMADD231PS, g.VFMADD231PD)(x, y, sum)
}

func (g *vecGen) addTo(x, sum operand.Op) {
	by(g.elem, g.VADDPS, g.VADDPD)(x, sum, sum)
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
