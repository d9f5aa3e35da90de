// Command llama writes the assembly of package llama: the operators between the
// products, on vectors.
//
// From the folder above: go run ./llama ../llama
package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

func main() {
	file := func(name string, i *asm.ISA) func(string) error {
		return asm.AMD64("llama", name, func(file *asm.Gen) {
			g := &gen{file, i, map[float32]int{}}
			g.rmsNorm()
			g.swiGLU()
			g.largest()
			g.expSum()
			g.addScaled()
			g.toFloat16s()
		})
	}
	asm.Main(file("ops_avx2_amd64", asm.AVX2), file("ops_avx512_amd64", asm.AVX512))
}

// A gen writes the functions for one instruction set. All go over n numbers, whole
// vectors of them, at least one.
type gen struct {
	*asm.Gen
	isa       *asm.ISA
	constants map[float32]int // in the order of their use
}

func (g *gen) begin(name, signature string) {
	g.Begin(name+g.isa.Name, "(n int, "+signature, "is "+name+", for n numbers: whole vectors, at least one.")
}

// lanes is how many numbers a vector has.
func (g *gen) lanes() int { return g.isa.Bytes / 4 }

// constant returns a vector of a number, in memory.
func (g *gen) constant(v float32) operand.Mem {
	if _, ok := g.constants[v]; !ok {
		g.constants[v] = len(g.constants)
	}
	return g.Table(fmt.Sprint("c", g.constants[v]), slices.Repeat([]uint32{math.Float32bits(v)}, g.lanes())...)
}

func (g *gen) zero(v reg.VecPhysical) { g.VPXOR(v.AsX(), v.AsX(), v.AsX()) }

// loop repeats the body over all vectors of the slices at ps; left counts numbers.
func (g *gen) loop(label string, left reg.GPPhysical, body func(), ps ...reg.GPPhysical) {
	g.Label(label)
	body()
	for _, p := range ps {
		g.ADDQ(operand.I32(g.isa.Bytes), p)
	}
	g.SUBQ(operand.I32(g.lanes()), left)
	g.JNE(operand.LabelRef(label))
}

// across combines the lanes of v in its first lane; t is spoilt.
func (g *gen) across(v, t reg.VecPhysical, with func(x, y reg.Register)) {
	if g.isa == asm.AVX512 {
		g.VEXTRACTF64X4(operand.U8(1), v, t.AsY())
		with(t.AsY(), v.AsY())
	}
	g.VEXTRACTF128(operand.U8(1), v.AsY(), t.AsX())
	with(t.AsX(), v.AsX())
	for _, swap := range []uint8{0x4e, 0xb1} {
		g.VSHUFPS(operand.U8(swap), v.AsX(), v.AsX(), t.AsX())
		with(t.AsX(), v.AsX())
	}
}

// exp turns x into e^x as the Go function does: r, p and t are spoilt.
func (g *gen) exp(x, r, p, t reg.VecPhysical) {
	const round = 3 << 22
	// Where x is NaN, what comes first is the result.
	g.VMAXPS(x, t, x) // t holds the least
	g.VMOVUPS(g.constant(88), t)
	g.VMINPS(x, t, x)
	g.VMOVUPS(g.constant(round), t)
	g.VFMADD231PS(g.constant(1.44269504), x, t)
	g.VSUBPS(g.constant(round), t, p)
	g.VMOVAPS(x, r)
	g.VFNMADD231PS(g.constant(0.693359375), p, r)
	g.VFMADD231PS(g.constant(2.12194440e-4), p, r)
	g.VMOVUPS(g.constant(1.9875691500e-4), p)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1} {
		g.VFMADD213PS(g.constant(c), r, p)
	}
	g.VPADDD(g.constant(math.Float32frombits(127)), t, t)
	g.VPSLLD(operand.U8(23), t, t)
	g.VMULPS(t, p, x)
}

func (g *gen) rmsNorm() {
	g.begin("rmsNorm", "dst, x, scale *float32, eps float32)")
	left, dst, x, scale, at := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI
	R := g.isa.Regs
	v, sum, t, count := R[0], R[1], R[2], R[3]
	g.Args("n x", left, x)
	g.zero(sum)
	g.VCVTSI2SSQ(left, sum.AsX(), count.AsX())
	g.MOVQ(x, at)
	g.loop("squares", left, func() {
		g.VMOVUPS(operand.Mem{Base: at}, v)
		g.VFMADD231PS(v, v, sum)
	}, at)
	g.across(sum, t, func(x, y reg.Register) { g.VADDPS(x, y, y) })
	g.VDIVSS(count.AsX(), sum.AsX(), sum.AsX())
	g.Args("eps", t.AsX())
	g.VADDSS(t.AsX(), sum.AsX(), sum.AsX())
	g.VSQRTSS(sum.AsX(), sum.AsX(), sum.AsX())
	g.VMOVSS(g.constant(1), t.AsX())
	g.VDIVSS(sum.AsX(), t.AsX(), sum.AsX())
	g.VBROADCASTSS(sum.AsX(), sum)
	g.Args("n dst scale", left, dst, scale)
	g.loop("scale", left, func() {
		g.VMULPS(operand.Mem{Base: x}, sum, v)
		g.VMULPS(operand.Mem{Base: scale}, v, v)
		g.VMOVUPS(v, operand.Mem{Base: dst})
	}, x, scale, dst)
	g.End()
}

func (g *gen) swiGLU() {
	g.begin("swiGLU", "gate, up *float32)")
	left, gate, up := reg.RAX, reg.RBX, reg.RCX
	R := g.isa.Regs
	x, v := R[0], R[4]
	g.Args("n gate up", left, gate, up)
	g.loop("loop", left, func() {
		g.VMOVUPS(operand.Mem{Base: gate}, v)
		g.VXORPS(x, x, x)
		g.VSUBPS(v, x, x)
		g.VMOVUPS(g.constant(-87), R[3])
		g.exp(x, R[1], R[2], R[3])
		g.VADDPS(g.constant(1), x, x)
		g.VDIVPS(x, v, v)
		g.VMULPS(operand.Mem{Base: up}, v, v)
		g.VMOVUPS(v, operand.Mem{Base: gate})
	}, gate, up)
	g.End()
}

func (g *gen) largest() {
	g.begin("largest", "x *float32) float32")
	left, x := reg.RAX, reg.RBX
	top, t := g.isa.Regs[0], g.isa.Regs[1]
	g.Args("n x", left, x)
	g.VMOVUPS(operand.Mem{Base: x}, top)
	g.loop("loop", left, func() { g.VMAXPS(operand.Mem{Base: x}, top, top) }, x)
	g.across(top, t, func(x, y reg.Register) { g.VMAXPS(x, y, y) })
	g.Store(top.AsX(), g.ReturnIndex(0))
	g.End()
}

func (g *gen) expSum() {
	g.begin("expSum", "x *float32, top float32) float32")
	left, p := reg.RAX, reg.RBX
	R := g.isa.Regs
	x, sum, top := R[0], R[4], R[5]
	g.Args("n x top", left, p, top.AsX())
	g.VBROADCASTSS(top.AsX(), top)
	g.zero(sum)
	g.loop("loop", left, func() {
		g.VMOVUPS(operand.Mem{Base: p}, x)
		g.VSUBPS(top, x, x)
		g.VMOVUPS(g.constant(-87), R[3])
		g.exp(x, R[1], R[2], R[3])
		g.VMOVUPS(x, operand.Mem{Base: p})
		g.VADDPS(x, sum, sum)
	}, p)
	g.across(sum, x, func(x, y reg.Register) { g.VADDPS(x, y, y) })
	g.Store(sum.AsX(), g.ReturnIndex(0))
	g.End()
}

func (g *gen) addScaled() {
	g.begin("addScaled", "dst, x *float32, a float32)")
	left, dst, x := reg.RAX, reg.RBX, reg.RCX
	v, a := g.isa.Regs[0], g.isa.Regs[1]
	g.Args("n dst x a", left, dst, x, a.AsX())
	g.VBROADCASTSS(a.AsX(), a)
	g.loop("loop", left, func() {
		g.VMOVUPS(operand.Mem{Base: dst}, v)
		g.VFMADD231PS(operand.Mem{Base: x}, a, v)
		g.VMOVUPS(v, operand.Mem{Base: dst})
	}, dst, x)
	g.End()
}

func (g *gen) toFloat16s() {
	g.begin("toFloat16s", "dst *byte, x *float32)")
	left, dst, x := reg.RAX, reg.RBX, reg.RCX
	v := g.isa.Regs[0]
	half := reg.Register(v.AsX())
	if g.isa == asm.AVX512 {
		half = v.AsY()
	}
	g.Args("n dst x", left, dst, x)
	g.loop("loop", left, func() {
		g.VMOVUPS(operand.Mem{Base: x}, v)
		g.VCVTPS2PH(operand.U8(0), v, half) // to the nearest, ties to even
		g.VMOVDQU(half, operand.Mem{Base: dst})
		g.ADDQ(operand.I32(g.isa.Bytes/2), dst)
	}, x)
	g.End()
}
