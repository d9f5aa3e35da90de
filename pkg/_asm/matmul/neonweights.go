package main

import (
	"fmt"

	"memorywall/pkg/_asm/asm"
)

// The kernels for weights on NEON: one way to decode a block, which all use.

// neonWide is the most rows of activations that a kernel takes at a time.
const neonWide = 4

// Registers: rows of activations take R0 to R3, of results R4 to R7. V0 to V7 hold the
// decoded block, V8 to V15 the sums.
const (
	wRow, wAt      = "R8", "R9" // a row of weights, and the place in it
	wLeft, wBlocks = "R10", "R11"
	wTmp           = "R14"
	wStep          = "R17" // from one block of 8-bit activations to the next
)

// Instructions that Go's assembler does not know, on vectors of four float32 or int32.
const (
	fmul   = 0x6e20dc00
	fadd   = 0x4e20d400
	faddp  = 0x6e20d400 // of neighbours
	scvtf  = 0x4e21d800 // integers to float32
	fcvtl  = 0x0e217800 // the lower four binary16
	shll   = 0x2e613800 // the lower four of 16 bits, shifted left by 16
	sshll8 = 0x0f08a400 // the lower eight signed bytes to 16 bits
	sshll  = 0x0f10a400 // the lower four of 16 bits to 32
	upper  = 1 << 30    // makes lower the upper
	sdot   = 0x4e809400 // adds four products of signed bytes to each lane
)

// raw writes an instruction on vectors by its number.
func (g *neonGen) raw(op uint32, d, n, m int) {
	g.Line("WORD $%#08x", op|uint32(m)<<16|uint32(n)<<5|uint32(d))
}

// signed loads the block at wAt, of a quantised format, and goes on to the next: its 32
// integers to V16 and V17 as signed bytes, the scale to all of V30, the minimum to V31.
func (g *neonGen) signed(f *weightFormat) {
	g.Line("VLD1R.P 2(%s), [V30.H8]", wAt)
	g.raw(fcvtl, 30, 30, 0)
	if f == wQ41 {
		g.Line("VLD1R.P 2(%s), [V31.H8]", wAt)
		g.raw(fcvtl, 31, 31, 0)
	}
	if f == wQ80 {
		g.Line("VLD1.P 32(%s), [V16.B16, V17.B16]", wAt)
		return
	}
	g.Line("VLD1.P 16(%s), [V16.B16]", wAt)
	g.Line("VUSHR $4, V16.B16, V17.B16")
	g.Line("VAND V28.B16, V16.B16, V16.B16")
	if f == wQ40 {
		for v := 16; v <= 17; v++ {
			g.Line("VSUB V29.B16, V%d.B16, V%d.B16", v, v)
		}
	}
}

// block decodes the block at wAt to V0 to V7, and goes on to the next.
func (g *neonGen) block(f *weightFormat) {
	switch f {
	case wF32:
		g.Line("VLD1.P 64(%s), %s", wAt, asm.Vectors(0, 4, "S4"))
		g.Line("VLD1.P 64(%s), %s", wAt, asm.Vectors(4, 4, "S4"))
	case wBF16, wF16:
		op := uint32(fcvtl)
		if f == wBF16 {
			op = shll
		}
		g.Line("VLD1.P 64(%s), %s", wAt, asm.Vectors(16, 4, "H8"))
		for i := range 4 {
			g.raw(op, 2*i, 16+i, 0)
			g.raw(op|upper, 2*i+1, 16+i, 0)
		}
	default:
		g.signed(f)
		for i := range 4 {
			g.raw(sshll8|uint32(i%2)*upper, 18, 16+i/2, 0)
			for v := 2 * i; v < 2*i+2; v++ {
				g.raw(sshll|uint32(v%2)*upper, v, 18, 0)
				g.raw(scvtf, v, v, 0)
				g.raw(fmul, v, v, 30)
				if f == wQ41 {
					g.raw(fadd, v, v, 31)
				}
			}
		}
	}
}

func (g *neonGen) constants() {
	g.Line("VMOVI $15, V28.B16")
	g.Line("VMOVI $8, V29.B16")
}

func (g *neonGen) decode(f *weightFormat) {
	g.Function("decode"+f.name+"NEON", "(blocks int, w *byte, dst *float32)", decodeDoc(f))
	g.Args("blocks w dst", wLeft, wAt, "R0")
	g.constants()
	g.Label("loop")
	g.block(f)
	for v := 0; v < 8; v += 4 {
		g.Line("VST1.P %s, 64(R0)", asm.Vectors(v, 4, "S4"))
	}
	g.Repeat(wLeft, "loop")
	g.Line("RET")
}

// dotWeights writes products with activations in float32, or in 8 bits.
func (g *neonGen) dotWeights(f *weightFormat, int8 bool) {
	name, typ, shift := "dot"+f.name+"NEON", "float32", 2
	doc := dotFloat32Doc(neonWide)
	if int8 {
		name, typ, shift = "dotInt8"+f.name+"NEON", "byte", 0
		doc = dotInt8Doc(doc[0])
	}
	g.Function(name, fmt.Sprintf("(blocks int, w *byte, rowBytes int, rows int, x *%s, ldx int, y *float32, ldy int, m int, add bool)", typ), doc...)
	g.Args("blocks w rowBytes rows ldx", wBlocks, wRow, "R12", "R13", "R15")
	g.Line("LSL $%d, R15, R15", shift)
	g.Args("y ldy", "R4", "R16")
	for r := 1; r < neonWide; r++ {
		g.Line("ADD R16<<2, R%d, R%d", 3+r, 4+r)
	}
	g.constants()
	g.Args("m", wTmp)
	g.Choose(wTmp, "m", halvings(neonWide)...)
	for _, m := range halvings(neonWide) {
		per := 8 / m // sums of a row of activations
		g.Label(fmt.Sprintf("m%d", m))
		g.Line("MOVD %s, %s", wRow, wAt)
		g.Line("MOVD %s, %s", wBlocks, wLeft)
		g.Line("MOVD $32, %s", wStep)
		g.Args("x", "R0")
		for r := 1; r < m; r++ {
			g.Line("ADD R15, R%d, R%d", r-1, r)
		}
		g.Zero(8, 8)
		g.Label(fmt.Sprintf("m%dloop", m))
		if int8 {
			g.signed(f)
		} else {
			g.block(f)
		}
		for r := range m {
			if int8 {
				g.quantised(f, fmt.Sprintf("R%d", r), 8+r*per)
				continue
			}
			for v := range 8 {
				if v%4 == 0 {
					g.Line("VLD1.P 64(R%d), %s", r, asm.Vectors(20, 4, "S4"))
				}
				g.Line("VFMLA V%d.S4, V%d.S4, V%d.S4", 20+v%4, v, 8+r*per+v%per)
			}
		}
		if int8 {
			g.Line("EOR $%d, %s, %s", quantPair-quantBlock^quantBlock, wStep, wStep)
		}
		g.Repeat(wLeft, fmt.Sprintf("m%dloop", m))
		g.Truth("add", wTmp)
		for r := range m {
			s := 8 + r*per
			for n := per / 2; n >= 1; n /= 2 {
				for v := range n {
					g.raw(fadd, s+v, s+v, s+v+n)
				}
			}
			g.raw(faddp, s, s, s)
			g.raw(faddp, s, s, s)
			g.Line("CBZ %s, m%dstore%d", wTmp, m, r)
			g.Line("FMOVS (R%d), F20", 4+r)
			g.Line("FADDS F20, F%d, F%d", s, s)
			g.Label(fmt.Sprintf("m%dstore%d", m, r))
			g.Line("FMOVS.P F%d, 4(R%d)", s, 4+r)
		}
		g.Line("ADD R12, %s, %s", wRow, wRow)
		g.Repeat("R13", fmt.Sprintf("m%d", m))
		g.Line("RET")
	}
}

// quantised adds the product of the block in V16 and V17 and the 8-bit activations at x
// to the sums, and goes on to the next.
func (g *neonGen) quantised(f *weightFormat, x string, sum int) {
	g.Line("VLD1 (%s), [V20.B16, V21.B16]", x)
	g.Zero(22, 1)
	g.raw(sdot, 22, 16, 20)
	g.raw(sdot, 22, 17, 21)
	g.raw(scvtf, 22, 22, 0)
	g.Line("ADD $%d, %s, %s", quantScale, x, wTmp)
	g.Line("VLD1 (%s), [V23.S4]", wTmp)
	g.raw(fmul, 23, 23, 30)
	g.Line("VFMLA V22.S4, V23.S4, V%d.S4", sum)
	if f == wQ41 {
		g.Line("ADD $%d, %s, %s", quantSum, x, wTmp)
		g.Line("VLD1 (%s), [V24.S4, V25.S4]", wTmp)
		g.Line("VFMLA V31.S4, V24.S4, V%d.S4", sum)
		g.Line("VFMLA V31.S4, V25.S4, V%d.S4", sum)
	}
	g.Line("ADD %s, %s, %s", wStep, x, x)
}

func writeNEONWeights(folder string) error {
	g := &neonGen{}
	for _, f := range weightFormats {
		g.decode(f)
		g.dotWeights(f, false)
	}
	for _, f := range quantFormats {
		g.dotWeights(f, true)
	}
	return g.Write(folder, "matmul", "weights_neon_arm64")
}
