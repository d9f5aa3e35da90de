package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// roundBytes is what one round of a memory loop takes of each array.
const roundBytes = 512

// passes writes the two loops: passes times over rounds of roundBytes. body is
// given the pointers at the round, and back moves them back.
func (g *vecGen) passes(starts []reg.GPPhysical, body func(at []reg.GPPhysical)) {
	rounds, passes, left := reg.R8, reg.R9, reg.R10
	at := []reg.GPPhysical{reg.R11, reg.R12, reg.R13}[:len(starts)]
	g.Args("rounds passes", rounds, passes)
	g.Label("pass")
	for i, s := range starts {
		g.MOVQ(s, at[i])
	}
	g.MOVQ(rounds, left)
	g.Label("round")
	body(at)
	for _, p := range at {
		g.ADDQ(operand.I32(roundBytes), p)
	}
	g.Repeat(left, "round")
	g.Repeat(passes, "pass")
}

// load writes a loop of nothing but reads. Its result shows where it ended.
func (f *gen) load(i *asm.ISA) {
	const targets = 8
	g := &vecGen{f, i, asm.F64}
	g.Begin("load"+i.Name, "(p *byte, rounds, passes int, out *uint64)",
		fmt.Sprintf("reads rounds·%d bytes from p on, passes times over, both ≥ 1. It stores in out the", roundBytes),
		fmt.Sprintf("exclusive or of the %d vectors of %d bytes that it read last. What it reads, [loadGo] reads.", targets, i.Bytes))
	p, out := reg.RAX, reg.RBX
	g.Args("p out", p, out)
	g.passes([]reg.GPPhysical{p}, func(at []reg.GPPhysical) {
		for v := range roundBytes / i.Bytes {
			g.move(operand.Mem{Base: at[0], Disp: v * i.Bytes}, i.Regs[v%targets])
		}
	})
	for r := 1; r < targets; r++ {
		switch i {
		case asm.SSE2:
			g.PXOR(i.Regs[r], i.Regs[0])
		case asm.AVX2:
			g.VPXOR(i.Regs[r], i.Regs[0], i.Regs[0])
		default:
			g.VPXORQ(i.Regs[r], i.Regs[0], i.Regs[0])
		}
	}
	g.move(i.Regs[0], operand.Mem{Base: out})
	g.end()
}

func kind(name string, streaming bool) (string, string) {
	if streaming {
		return name + "Stream", ", with streaming stores"
	}
	return name, ""
}

func (g *vecGen) put(streaming bool, from reg.VecPhysical, to operand.Mem) {
	if streaming {
		g.stream(from, to)
	} else {
		g.move(from, to)
	}
}

// copy writes a loop that copies.
func (f *gen) copy(i *asm.ISA, streaming bool) {
	name, how := kind("copy", streaming)
	g := &vecGen{f, i, asm.F64}
	g.Begin(name+i.Name, "(dst, src *byte, rounds, passes int)",
		fmt.Sprintf("copies rounds·%d bytes from src to dst, passes times over, both ≥ 1%s.", roundBytes, how),
		fmt.Sprintf("dst is a multiple of %d. What it equals is [copyGo].", i.Bytes))
	dst, src := reg.RAX, reg.RBX
	g.Args("dst src", dst, src)
	g.passes([]reg.GPPhysical{dst, src}, func(at []reg.GPPhysical) {
		for v := range roundBytes / i.Bytes {
			r := i.Regs[v%8]
			g.move(operand.Mem{Base: at[1], Disp: v * i.Bytes}, r)
			g.put(streaming, r, operand.Mem{Base: at[0], Disp: v * i.Bytes})
		}
	})
	if streaming {
		g.SFENCE()
	}
	g.end()
}

// triad writes the loop a = b + s·c.
func (f *gen) triad(i *asm.ISA, streaming bool) {
	name, how := kind("triad", streaming)
	g := &vecGen{f, i, asm.F64}
	g.Begin(name+i.Name, "(a, b, c, s *float64, rounds, passes int)",
		fmt.Sprintf("does a = b + s·c for rounds·%d numbers, passes times over, both ≥ 1%s.", roundBytes/8, how),
		fmt.Sprintf("a, b and c are multiples of %d. What it equals is [triadGo], whose multiply and add it may fuse.", i.Bytes))
	a, b, c, s := reg.RAX, reg.RBX, reg.RCX, reg.RDX
	g.Args("a b c s", a, b, c, s)
	factor := i.Regs[8]
	g.broadcast(operand.Mem{Base: s}, factor)
	g.passes([]reg.GPPhysical{a, b, c}, func(at []reg.GPPhysical) {
		for v := range roundBytes / i.Bytes {
			r := i.Regs[v%8]
			fromB, fromC := operand.Mem{Base: at[1], Disp: v * i.Bytes}, operand.Mem{Base: at[2], Disp: v * i.Bytes}
			g.move(fromC, r)
			if i == asm.SSE2 {
				g.MULPD(factor, r)
				g.ADDPD(fromB, r)
			} else {
				g.VFMADD213PD(fromB, factor, r)
			}
			g.put(streaming, r, operand.Mem{Base: at[0], Disp: v * i.Bytes})
		}
	})
	if streaming {
		g.SFENCE()
	}
	g.end()
}
