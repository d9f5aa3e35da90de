package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
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

func (f *gen) begin(name string, i *asm.ISA, e *asm.Elem) *vecGen {
	g := &vecGen{gen: f, isa: i, elem: e}
	g.Function(name + i.Name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	return g
}

// fused writes a loop of nothing but fused multiply-adds in registers.
func (f *gen) fused(i *asm.ISA, e *asm.Elem) {
	g := f.begin("fma"+e.Name, i, e)
	g.Doc(fmt.Sprintf("%s%s does n rounds of fused multiply-adds, n ≥ 1: with x = p[0], y = p[1] and the %d", "fma"+e.Name, i.Name, fusedChains*g.width()/e.Size()),
		"numbers s from p[2] on, each round does s += x·y for each of them. What it equals is [sumsGo].")
	g.chains(func(x, y, s reg.VecPhysical) {
		g.pick(
			func() { g.VFMADD231SS(y, x, s) },
			func() { g.VFMADD231SD(y, x, s) },
			func() { g.VFMADD231PS(y, x, s) },
			func() { g.VFMADD231PD(y, x, s) })
	})
}

// dots writes a loop of sums of products of bytes: with one instruction for each vector
// on AVX-512 (VNNI), and three on AVX2.
func (f *gen) dots(i *asm.ISA) {
	g := f.begin("dots", i, asm.I32)
	g.Doc(fmt.Sprintf("dots%s does n rounds of sums of products of bytes, n ≥ 1, as [dotsGo] does with %d numbers;", i.Name, fusedChains*g.width()/4),
		"the bytes of p[0] are from 0 to 127.")
	if i == asm.AVX2 { // words of 1, from nothing
		g.VPCMPEQD(i.Regs[fusedChains+3], i.Regs[fusedChains+3], i.Regs[fusedChains+3])
		g.VPSRLW(operand.U8(15), i.Regs[fusedChains+3], i.Regs[fusedChains+3])
	}
	g.chains(func(x, y, s reg.VecPhysical) {
		if i == asm.AVX512 {
			g.VPDPBUSD(y, x, s)
			return
		}
		t, ones := i.Regs[fusedChains+2], i.Regs[fusedChains+3]
		g.VPMADDUBSW(y, x, t)
		g.VPMADDWD(ones, t, t)
		g.VPADDD(t, s, s)
	})
}

// chains writes a function that does step for each of fusedChains sums in each of n
// rounds.
func (g *vecGen) chains(step func(x, y, s reg.VecPhysical)) {
	g.SignatureExpr(fmt.Sprintf("func(n int, p *%s)", g.elem.GoType))
	left, p := reg.RDX, reg.RAX
	g.Load(g.Param("n"), left)
	g.Load(g.Param("p"), p)
	x, y := g.isa.Regs[fusedChains], g.isa.Regs[fusedChains+1]
	g.broadcast(operand.Mem{Base: p}, x)
	g.broadcast(operand.Mem{Base: p, Disp: g.elem.Size()}, y)
	sum := func(r int) operand.Mem { return operand.Mem{Base: p, Disp: 2*g.elem.Size() + r*g.width()} }
	for r := range fusedChains {
		g.move(sum(r), g.isa.Regs[r])
	}
	g.Label("loop")
	for r := range fusedChains {
		step(x, y, g.isa.Regs[r])
	}
	g.DECQ(left)
	g.JNE(operand.LabelRef("loop"))
	for r := range fusedChains {
		g.move(g.isa.Regs[r], sum(r))
	}
	g.end()
}

// apart writes a loop of multiplies and adds that do not wait for each other,
// for CPUs without a fused multiply-add.
func (f *gen) apart(i *asm.ISA, e *asm.Elem) {
	g := f.begin("mulAdd"+e.Name, i, e)
	w := g.width()
	g.SignatureExpr(fmt.Sprintf("func(n int, p *%s)", e.GoType))
	half := apartChains * w / e.Size()
	g.Doc(fmt.Sprintf("mulAdd%s%s does n rounds of multiplies and adds, n ≥ 1: with x = p[0] and y = p[1], each", e.Name, i.Name),
		fmt.Sprintf("round does s *= x for the %d numbers from p[2] on, and s += y for the %d after", half, half),
		"them. What it equals is [apartGo].")
	left, p := reg.RDX, reg.RAX
	g.Load(g.Param("n"), left)
	g.Load(g.Param("p"), p)
	x, y := i.Regs[2*apartChains], i.Regs[2*apartChains+1]
	g.broadcast(operand.Mem{Base: p}, x)
	g.broadcast(operand.Mem{Base: p, Disp: e.Size()}, y)
	number := func(r int) operand.Mem { return operand.Mem{Base: p, Disp: 2*e.Size() + r*w} }
	for r := range 2 * apartChains {
		g.move(number(r), i.Regs[r])
	}
	g.Label("loop")
	for r := range apartChains {
		m, a := i.Regs[r], i.Regs[apartChains+r]
		g.pick(
			func() { g.MULSS(x, m); g.ADDSS(y, a) },
			func() { g.MULSD(x, m); g.ADDSD(y, a) },
			func() { g.MULPS(x, m); g.ADDPS(y, a) },
			func() { g.MULPD(x, m); g.ADDPD(y, a) })
	}
	g.DECQ(left)
	g.JNE(operand.LabelRef("loop"))
	for r := range 2 * apartChains {
		g.move(i.Regs[r], number(r))
	}
	g.end()
}

// chainAdds is how many adds one round of the clock's loop does.
const chainAdds = 64

// clock writes a chain of adds, each of which needs the one before. Both
// operands are registers: some CPUs do additions of small constants for free.
func (f *gen) clock() {
	f.Function("addChain")
	f.Attributes(attr.NOSPLIT)
	f.SignatureExpr("func(n int, x, y uint64) uint64")
	f.Doc(fmt.Sprintf("addChain does n rounds of %d adds x += y, n ≥ 1, and returns x: one clock cycle for each add.", chainAdds),
		"What it equals is [addChainGo].")
	left, x, y := reg.RDX, reg.RAX, reg.RBX
	f.Load(f.Param("n"), left)
	f.Load(f.Param("x"), x)
	f.Load(f.Param("y"), y)
	f.Label("loop")
	for range chainAdds {
		f.ADDQ(y, x)
	}
	f.DECQ(left)
	f.JNE(operand.LabelRef("loop"))
	f.Store(x, f.ReturnIndex(0))
	f.RET()
}
