package main

import (
	"fmt"

	"memorywall/pkg/_asm/asm"
)

// neonGen writes the file for arm64.
type neonGen struct{ asm.NEON }

// neonChains is how many sums the loop keeps going: more than four units of
// latency four can hold at once.
const neonChains = 20

// fused writes a loop of multiply-adds, or of products of bytes, in registers.
func (g *neonGen) fused(e *asm.Elem) {
	arr, lane := e.Arrangement(), e.Lane()
	name, equals := "fma"+e.Name+"NEON", "sumsGo"
	if e == asm.I32 {
		name, equals = "dotsNEON", "dotsGo"
	}
	g.Function(name, fmt.Sprintf("(n int, p *%s)", e.GoType),
		fmt.Sprintf("does n rounds, n ≥ 1, of what [%s] does with the %d numbers from p[2] on, one", equals, neonChains*asm.NEONBytes/e.Size()),
		"instruction for each vector of them.")
	g.Args("n p", "R0", "R1")
	for i, v := range []int{neonChains, neonChains + 1} {
		g.Line("FMOV%s %d(R1), F%d", lane, i*e.Size(), v)
		g.Line("VDUP V%d.%s[0], V%d.%s", v, lane, v, arr)
	}
	g.Line("ADD $%d, R1, R1", 2*e.Size())
	g.Line("MOVD R1, R2")
	for v := 0; v < neonChains; v += 4 {
		g.Line("VLD1.P 64(R1), %s", quad(v))
	}
	g.Label("loop")
	for v := range neonChains {
		if e == asm.I32 { // SDOT, which Go's assembler does not know
			g.Line("WORD $%#08x", 0x4e809400|(neonChains+1)<<16|neonChains<<5|v)
			continue
		}
		g.Line("VFMLA V%d.%s, V%d.%s, V%d.%s", neonChains, arr, neonChains+1, arr, v, arr)
	}
	g.Repeat("R0", "loop")
	for v := 0; v < neonChains; v += 4 {
		g.Line("VST1.P %s, 64(R2)", quad(v))
	}
	g.Line("RET")
}

// passes writes the two loops: passes times over rounds of roundBytes. body is
// written once for 64 bytes of each array, whose pointers start in R0, R1, R2
// and are moved by it in R8, R9, R10.
func (g *neonGen) passes(arrays int, body func(at []string, part int)) {
	at := []string{"R8", "R9", "R10"}[:arrays]
	g.Label("pass")
	for i, r := range at {
		g.Line("MOVD R%d, %s", i, r)
	}
	g.Line("MOVD R4, R6")
	g.Label("round")
	for part := range roundBytes / 64 {
		body(at, part)
	}
	g.Repeat("R6", "round")
	g.Repeat("R5", "pass")
}

// quad is the list of the four vectors from v on.
func quad(v int) string { return asm.Vectors(v, 4, "B16") }

func (g *neonGen) load() {
	const targets = 16
	g.Function("loadNEON", "(p *byte, rounds int, passes int, out *uint64)",
		fmt.Sprintf("reads rounds·%d bytes from p on, passes times over, both ≥ 1. It stores in out the", roundBytes),
		fmt.Sprintf("exclusive or of the %d vectors of %d bytes that it read last. What it reads, [loadGo] reads.", targets, asm.NEONBytes))
	g.Args("p rounds passes out", "R0", "R4", "R5", "R3")
	g.passes(1, func(at []string, part int) {
		g.Line("VLD1.P 64(%s), %s", at[0], quad(part%4*4))
	})
	for v := 1; v < targets; v++ {
		g.Line("VEOR V%d.B16, V0.B16, V0.B16", v)
	}
	g.Line("VST1 [V0.B16], (R3)")
	g.Line("RET")
}

func (g *neonGen) copy() {
	g.Function("copyNEON", "(dst *byte, src *byte, rounds int, passes int)",
		fmt.Sprintf("copies rounds·%d bytes from src to dst, passes times over, both ≥ 1.", roundBytes),
		"What it equals is [copyGo].")
	g.Args("dst src rounds passes", "R0", "R1", "R4", "R5")
	g.passes(2, func(at []string, part int) {
		v := part % 4 * 4
		g.Line("VLD1.P 64(%s), %s", at[1], quad(v))
		g.Line("VST1.P %s, 64(%s)", quad(v), at[0])
	})
	g.Line("RET")
}

func (g *neonGen) triad() {
	g.Function("triadNEON", "(a *float64, b *float64, c *float64, s *float64, rounds int, passes int)",
		fmt.Sprintf("does a = b + s·c for rounds·%d numbers, passes times over, both ≥ 1.", roundBytes/8),
		"What it equals is [triadGo], whose multiply and add it fuses.")
	g.Args("a b c s rounds passes", "R0", "R1", "R2", "R3", "R4", "R5")
	g.Line("FMOVD (R3), F16")
	g.Line("VDUP V16.D[0], V16.D2")
	g.passes(3, func(at []string, part int) {
		v := part % 2 * 8
		g.Line("VLD1.P 64(%s), %s", at[1], quad(v))
		g.Line("VLD1.P 64(%s), %s", at[2], quad(v+4))
		for i := range 4 {
			g.Line("VFMLA V16.D2, V%d.D2, V%d.D2", v+4+i, v+i)
		}
		g.Line("VST1.P %s, 64(%s)", quad(v), at[0])
	})
	g.Line("RET")
}

func writeNEON(folder string) error {
	g := &neonGen{}
	g.fused(asm.F32)
	g.fused(asm.F64)
	g.fused(asm.I32)
	g.load()
	g.copy()
	g.triad()
	return g.Write(folder, "probe", "neon_arm64")
}
