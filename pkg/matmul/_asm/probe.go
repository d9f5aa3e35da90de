package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fmaChains is how many sums the loop keeps going: more than two units of
// latency five can hold at once.
const fmaChains = 12

// fmaLoop writes a loop of nothing but fused multiply-adds in registers: the
// compute roof of one core.
func (f *gen) fmaLoop(i *isa, e *elem) {
	g := &vecGen{gen: f, isa: i, elem: e}
	name := "fma" + e.name + i.name
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(n int)")
	g.Doc(fmt.Sprintf("%s does n rounds of %d fused multiply-adds of whole vectors (%d FLOPs a round), n ≥ 1.",
		name, fmaChains, fmaChains*2*i.bytes/e.size()))
	left := reg.RDX
	g.Load(g.Param("n"), left)
	for r := range fmaChains {
		g.zero(i.regs[r])
	}
	// Zeros would let some CPUs run faster than real numbers do.
	value := g.probeValue()
	for r := fmaChains; r < fmaChains+2; r++ {
		g.broadcast(value, i.regs[r])
	}
	g.Label("loop")
	for r := range fmaChains {
		g.fma(i.regs[fmaChains], i.regs[fmaChains+1], i.regs[r])
	}
	g.DECQ(left)
	g.JNE(operand.LabelRef("loop"))
	g.VZEROUPPER()
	g.RET()
}

// probeValue is a number of plain size whose bits are mixed.
func (g *vecGen) probeValue() operand.Mem {
	if g.elem == f32 {
		return g.ConstData("probe"+g.elem.name+g.isa.name, operand.F32(0.7390851))
	}
	return g.ConstData("probe"+g.elem.name+g.isa.name, operand.F64(0.7390851332151607))
}

// readBytes is what one round of the reading loop takes.
const readBytes = 512

// readLoop writes a loop of nothing but loads: the memory roof of one core.
func (f *gen) readLoop(i *isa) {
	g := &vecGen{gen: f, isa: i, elem: f64}
	name := "read" + i.name
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(p *byte, n int)")
	g.Doc(fmt.Sprintf("%s loads n rounds of %d bytes from p on, n ≥ 1.", name, readBytes))
	p, left := reg.RAX, reg.RDX
	g.Load(g.Param("p"), p)
	g.Load(g.Param("n"), left)
	g.Label("loop")
	for v := range readBytes / i.bytes {
		g.load(operand.Mem{Base: p, Disp: v * i.bytes}, i.regs[v%8], false)
	}
	g.ADDQ(operand.I32(readBytes), p)
	g.DECQ(left)
	g.JNE(operand.LabelRef("loop"))
	g.VZEROUPPER()
	g.RET()
}
