package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

const (
	// fusedChains is how many sums the fused loop keeps going: more than two
	// units of latency five can hold at once.
	fusedChains = 12
	// apartChains is how many products, and how many sums, the other loop keeps
	// going: all registers less two.
	apartChains = 7
)

// fused writes a loop of nothing but fused multiply-adds in registers.
func (f *gen) fused(i *asm.ISA, e *asm.Elem) {
	g := &vecGen{f, i, e}
	g.chains("fma"+e.Name, fusedChains, func(x, y reg.VecPhysical) {
		for _, s := range i.Regs[:fusedChains] {
			g.pick(
				func() { g.VFMADD231SS(y, x, s) },
				func() { g.VFMADD231SD(y, x, s) },
				func() { g.VFMADD231PS(y, x, s) },
				func() { g.VFMADD231PD(y, x, s) })
		}
	}, fmt.Sprintf("does n rounds of fused multiply-adds, n ≥ 1: with x = p[0], y = p[1] and the %d", fusedChains*g.width()/e.Size()),
		"numbers s from p[2] on, each round does s += x·y for each of them. What it equals is [sumsGo].")
}

// dots writes a loop of sums of products of bytes: with one instruction for each vector
// on AVX-512 (VNNI), and three on AVX2.
func (f *gen) dots(i *asm.ISA) {
	g := &vecGen{f, i, asm.I32}
	t, ones := i.Regs[fusedChains+2], i.Regs[fusedChains+3]
	g.chains("dots", fusedChains, func(x, y reg.VecPhysical) {
		for _, s := range i.Regs[:fusedChains] {
			if i == asm.AVX512 {
				g.VPDPBUSD(y, x, s)
				continue
			}
			g.VPMADDUBSW(y, x, t)
			g.VPMADDWD(ones, t, t)
			g.VPADDD(t, s, s)
		}
	}, fmt.Sprintf("does n rounds of sums of products of bytes, n ≥ 1, as [dotsGo] does with %d numbers;", fusedChains*g.width()/4),
		"the bytes of p[0] are from 0 to 127.")
}

// apart writes a loop of multiplies and adds that do not wait for each other,
// for CPUs without a fused multiply-add.
func (f *gen) apart(i *asm.ISA, e *asm.Elem) {
	g := &vecGen{f, i, e}
	half := apartChains * g.width() / e.Size()
	g.chains("mulAdd"+e.Name, 2*apartChains, func(x, y reg.VecPhysical) {
		for r := range apartChains {
			m, a := i.Regs[r], i.Regs[apartChains+r]
			g.pick(
				func() { g.MULSS(x, m); g.ADDSS(y, a) },
				func() { g.MULSD(x, m); g.ADDSD(y, a) },
				func() { g.MULPS(x, m); g.ADDPS(y, a) },
				func() { g.MULPD(x, m); g.ADDPD(y, a) })
		}
	}, "does n rounds of multiplies and adds, n ≥ 1: with x = p[0] and y = p[1], each",
		fmt.Sprintf("round does s *= x for the %d numbers from p[2] on, and s += y for the %d after", half, half),
		"them. What it equals is [apartGo].")
}

// chains writes a function that does n rounds with so many registers, which are in
// memory before and afterwards.
func (g *vecGen) chains(name string, registers int, round func(x, y reg.VecPhysical), doc ...string) {
	g.Begin(name+g.isa.Name, "(n int, p *"+g.elem.GoType+")", doc...)
	if g.isa == asm.AVX2 && g.elem == asm.I32 { // words of 1, from nothing
		ones := g.isa.Regs[registers+3]
		g.VPCMPEQD(ones, ones, ones)
		g.VPSRLW(operand.U8(15), ones, ones)
	}
	left, p := reg.RDX, reg.RAX
	g.Args("n p", left, p)
	x, y := g.isa.Regs[registers], g.isa.Regs[registers+1]
	g.broadcast(operand.Mem{Base: p}, x)
	g.broadcast(operand.Mem{Base: p, Disp: g.elem.Size()}, y)
	number := func(r int) operand.Mem { return operand.Mem{Base: p, Disp: 2*g.elem.Size() + r*g.width()} }
	for r := range registers {
		g.move(number(r), g.isa.Regs[r])
	}
	g.Label("loop")
	round(x, y)
	g.Repeat(left, "loop")
	for r := range registers {
		g.move(g.isa.Regs[r], number(r))
	}
	g.end()
}

// chainAdds is how many adds one round of the clock's loop does.
const chainAdds = 64

// clock writes a chain of adds, each of which needs the one before. Both
// operands are registers: some CPUs do additions of small constants for free.
func (f *gen) clock() {
	f.Begin("addChain", "(n int, x, y uint64) uint64",
		fmt.Sprintf("does n rounds of %d adds x += y, n ≥ 1, and returns x: one clock cycle for each add.", chainAdds),
		"What it equals is [addChainGo].")
	left, x, y := reg.RDX, reg.RAX, reg.RBX
	f.Args("n x y", left, x, y)
	f.Label("loop")
	for range chainAdds {
		f.ADDQ(y, x)
	}
	f.Repeat(left, "loop")
	f.Store(x, f.ReturnIndex(0))
	f.RET()
}
