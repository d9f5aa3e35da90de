package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"memorywall/pkg/_asm/asm"
)

// The tile of 8 bits multiplies panels of activations, which fill the lanes, with
// fours of rows of weights, each four bytes of which are spread over the lanes.
//
// A block of a four is the bytes of the rows, four from each in turn, then the
// scales and the minima in float32. Where there are fewer activations than lanes
// several rows of weights are spread side by side, and each activation stands as
// often.
//
// A block of a panel of one or two vectors is eight times those vectors of four
// activations, then vectors of the scales s, of -bias·Σq as int32, and of s·Σq.
const (
	fourRows    = 4
	fourScale   = fourRows * quantBlock
	fourMinimum = fourScale + 4*fourRows
	fourBytes   = fourMinimum + 4*fourRows
	fourAhead   = 8192 // bytes that memory is asked for ahead

	panelScale = 8 // vectors before it
	panelStart = 9
	panelSum   = 10
	panelVecs  = 11
)

// fourAt is where step j of a block begins.
func fourAt(j int) int { return j%4*32 + j/4*16 }

// unpack writes what makes a four of the weights' rows, with AVX2.
func (f *gen) unpack(w *weightFormat) {
	g := f.beginWeights(avx2, w, "unpack",
		"(blocks int, w *byte, rowBytes int, rows int, dst *byte, stride int, flip int)",
		"makes a four of the weights of 1 to 4 rows, for blocks ≥ 1.")
	src := [fourRows]reg.GPPhysical{reg.RAX, reg.RBX, reg.RCX, reg.RDX}
	left, rowBytes, dst, stride, ahead, tmp := reg.RSI, reg.RDI, reg.R8, reg.R9, reg.R10, reg.R11
	R := avx2.Regs
	q, t, fifteen, order, scales := R[0:4], R[4:8], R[15], R[14], R[13]
	g.Args("blocks w rowBytes rows dst stride", left, src[0], rowBytes, tmp, dst, stride)
	g.MOVQ(src[0], ahead)
	for r := 1; r < fourRows; r++ { // the last again where there are fewer
		g.LEAQ(operand.Mem{Base: src[r-1], Index: rowBytes, Scale: 1}, src[r])
		g.CMPQ(tmp, operand.U8(r+1))
		g.CMOVQLT(src[r-1], src[r])
	}
	if w == wQ80 {
		g.Args("flip", tmp)
		g.VMOVD(tmp.As32(), fifteen.AsX())
		g.VPBROADCASTB(fifteen.AsX(), fifteen)
	} else {
		g.VMOVDQU(g.Table("fifteens", repeated(0x0f0f0f0f, 8)...), fifteen)
		g.VMOVDQU(g.Table("apart", 0, 2, 4, 6, 1, 3, 5, 7), order)
	}
	g.Label("loop")
	for at := 0; at < fourRows*w.bytes; at += 64 {
		g.PREFETCHT0(operand.Mem{Base: ahead, Disp: fourAhead + at})
	}
	for r, p := range src {
		at := func(off int) operand.Mem { return operand.Mem{Base: p, Disp: off} }
		if w == wQ80 {
			g.VPXOR(at(2), fifteen, q[r])
		} else {
			g.VMOVDQU(at(w.bytes-16), q[r].AsX())
			g.VPSRLW(operand.U8(4), q[r].AsX(), t[r].AsX())
			g.VINSERTI128(operand.U8(1), t[r].AsX(), q[r], q[r])
			g.VPAND(fifteen, q[r], q[r])
		}
		x := scales.AsX()
		switch {
		case w == wQ41 && r == 0:
			g.VMOVD(at(0), x)
		case w == wQ41:
			g.VPINSRD(operand.U8(r), at(0), x, x)
		case r == 0:
			g.VPBROADCASTW(at(0), x)
		default:
			g.VPINSRW(operand.U8(r), at(0), x, x)
		}
	}
	to := func(off int) operand.Mem { return operand.Mem{Base: dst, Disp: off} }
	if w == wQ41 {
		g.VCVTPH2PS(scales.AsX(), scales)
		g.VPERMPS(scales, order, scales)
		g.VMOVUPS(scales, to(fourScale))
	} else {
		g.VCVTPH2PS(scales.AsX(), scales.AsX())
		g.VMOVUPS(scales.AsX(), to(fourScale))
	}
	for n := range 2 {
		g.VPUNPCKLDQ(q[2*n+1], q[2*n], t[2*n])
		g.VPUNPCKHDQ(q[2*n+1], q[2*n], t[2*n+1])
	}
	for n := range 2 {
		g.VPUNPCKLQDQ(t[2+n], t[n], q[2*n])
		g.VPUNPCKHQDQ(t[2+n], t[n], q[2*n+1])
	}
	for j, v := range q {
		g.VMOVDQU(v, to(fourAt(j)))
	}
	for _, p := range src {
		g.ADDQ(operand.I32(w.bytes), p)
	}
	g.ADDQ(operand.I32(fourRows*w.bytes), ahead)
	g.ADDQ(stride, dst)
	g.Repeat(left, "loop")
	g.End()
}

// spread writes what completes a panel.
func (f *gen) spread(i *isa) {
	g := f.begin(i, asm.F32, "spread", "(blocks int, x *byte, vecs int, shift int, bias int)",
		"completes a vector of a panel for blocks ≥ 1.")
	blocks, x, tmp, gap := reg.RAX, reg.RBX, reg.RCX, reg.RDX
	R := i.Regs
	q, sum, ones, words, bias, order, t := R[0], R[1], R[2], R[3], R[4], R[5], R[6]
	n := i.Bytes / 4
	var lanes []uint32
	for l := range n {
		lanes = append(lanes, uint32(l))
	}
	g.Args("blocks x vecs", blocks, x, gap)
	g.IMUL3Q(operand.I32(i.Bytes), gap, gap)
	g.Args("shift", tmp)
	g.VMOVD(tmp.As32(), t.AsX())
	g.move(g.Table("lane", lanes...), order)
	g.VPSRLD(t.AsX(), order, order)
	g.Args("bias", tmp)
	g.NEGQ(tmp)
	g.VMOVD(tmp.As32(), bias.AsX())
	g.VPBROADCASTD(bias.AsX(), bias)
	g.move(g.Table("bytes", repeated(0x01010101, n)...), ones)
	g.move(g.Table("words", repeated(0x00010001, n)...), words)
	g.Label("loop")
	here := operand.Mem{Base: x}
	for j := range 8 {
		g.move(here, q)
		g.VPERMD(q, order, q)
		g.move(q, here)
		g.ADDQ(gap, x)
		g.VPMADDUBSW(q, ones, q)
		if j == 0 {
			g.move(q, sum)
		} else {
			g.VPADDW(q, sum, sum)
		}
	}
	g.VPMADDWD(words, sum, sum)
	g.move(here, q) // the scale
	g.VPERMPS(q, order, q)
	g.move(q, here)
	g.ADDQ(gap, x)
	g.VPMULLD(bias, sum, t)
	g.move(t, here)
	g.ADDQ(gap, x)
	g.VCVTDQ2PS(sum, sum)
	g.VMULPS(q, sum, sum)
	g.move(sum, here)
	g.ADDQ(gap, x)
	g.Repeat(blocks, "loop")
	g.End()
}

// tileQuant writes the tile of a format; with VNNI that of Q4_0 serves Q8_0 too.
func (f *gen) tileQuant(i *isa, w *weightFormat) {
	g := f.beginWeights(i, w, "tileInt8", "(blocks int, x *byte, w *byte, fours int, sums *float32, width int)",
		fmt.Sprintf("adds products to sums, for blocks and fours ≥ 1 and widths of %d, %d, %d and %d.",
			i.Bytes/2, i.Bytes/4, i.Bytes/8, i.Bytes/16))
	x, ws, fours, sums := reg.RAX, reg.RBX, reg.RCX, reg.RDX
	left, width := reg.RSI, reg.R8
	blocks := g.Arg("blocks")
	g.Args("x w fours width", x, ws, fours, width)
	var ones reg.VecPhysical
	R := i.Regs
	if i == avx2 {
		R = R[:len(R)-1]
		ones = i.Regs[len(R)]
		g.move(g.Table("words", repeated(0x00010001, 8)...), ones)
	}
	bodies := []struct{ width, vecs, side int }{
		{i.Bytes / 2, 2, 1}, {i.Bytes / 4, 1, 1}, {i.Bytes / 8, 1, 2}, {i.Bytes / 16, 1, 4},
	}
	g.Choose(width, "width", i.Bytes/2, i.Bytes/4, i.Bytes/8, i.Bytes/16)
	for _, b := range bodies {
		label := func(s string) string { return fmt.Sprintf("width%d%s", b.width, s) }
		// A block of the panel stays in registers as far as there are enough.
		free, kept := R, 0
		switch {
		case i == avx512 && b.vecs == 1:
			kept = panelVecs
		case i == avx512:
			kept = panelScale
		}
		kept *= b.vecs
		free = R[kept:]
		panel := func(row, v int) operand.Op {
			if n := row*b.vecs + v; n >= kept {
				return operand.Mem{Base: x, Disp: n * i.Bytes}
			} else {
				return R[n]
			}
		}
		spread := func(off int, to reg.VecPhysical) {
			from := operand.Mem{Base: ws, Disp: off}
			switch {
			case b.side == 1:
				g.VPBROADCASTD(from, to)
			case b.side == 2:
				g.VPBROADCASTQ(from, to)
			case i == avx2:
				g.VBROADCASTI128(from, to)
			default:
				g.VBROADCASTI32X4(from, to)
			}
		}
		together := min((len(free)-5)/(2*b.vecs), fourRows/b.side) // rows
		dots := free[:together*b.vecs]
		factors := free[len(dots):][:2*b.vecs]
		t, product, magnitude := free[len(dots)+len(factors)], free[len(dots)+len(factors)+1], free[len(dots)+len(factors)+2]
		g.Label(label(""))
		for n, v := range R[:kept] {
			g.move(operand.Mem{Base: x, Disp: n * i.Bytes}, v)
		}
		g.Args("sums", sums)
		g.MOVQ(fours, left)
		g.Label(label("four"))
		for r := 0; r < fourRows/b.side; r += together {
			for j := range 8 {
				for n := range together {
					spread(fourAt(j)+4*b.side*(r+n), t)
					if i == avx2 && w == wQ80 {
						g.VPABSB(t, magnitude)
					}
					for v := range b.vecs {
						dot := dots[n*b.vecs+v]
						switch {
						case i == avx512:
							if j == 0 && w == wQ41 {
								g.zero(dot)
							} else if j == 0 {
								g.move(panel(panelStart, v), dot)
							}
							g.VPDPBUSD(panel(j, v), t, dot)
						case w == wQ80:
							g.move(panel(j, v), product)
							g.VPSIGNB(t, product, product)
							g.VPMADDUBSW(product, magnitude, product)
							if j == 0 {
								g.VPMADDWD(ones, product, dot)
							} else {
								g.VPMADDWD(ones, product, product)
								g.VPADDD(product, dot, dot)
							}
						case j == 0:
							g.VPMADDUBSW(panel(j, v), t, dot)
						default: // eight of 2·15·127 are below 1<<15
							g.VPMADDUBSW(panel(j, v), t, product)
							g.VPADDW(product, dot, dot)
						}
					}
				}
			}
			for n := range together {
				spread(fourScale+4*b.side*(r+n), t)
				for v := range b.vecs {
					dot, sum := dots[n*b.vecs+v], operand.Mem{Base: sums, Disp: ((r+n)*b.vecs + v) * i.Bytes}
					factor := factors[(n*b.vecs+v)%len(factors)]
					if i == avx2 && w != wQ80 {
						g.VPMADDWD(ones, dot, dot)
						if w == wQ40 {
							g.VPADDD(panel(panelStart, v), dot, dot)
						}
					}
					g.VCVTDQ2PS(dot, dot)
					g.VMULPS(panel(panelScale, v), t, factor)
					g.VFMADD213PS(sum, dot, factor)
					if w == wQ41 {
						if v == 0 {
							spread(fourMinimum+4*b.side*(r+n), product)
						}
						g.VFMADD231PS(panel(panelSum, v), product, factor)
					}
					g.move(factor, sum)
				}
			}
		}
		g.ADDQ(operand.I32(fourBytes), ws)
		g.ADDQ(operand.I32(fourRows/b.side*b.vecs*i.Bytes), sums)
		g.Repeat(left, label("four"))
		g.ADDQ(operand.I32(panelVecs*b.vecs*i.Bytes), x)
		g.Repeat(blocks, label(""))
		g.End()
	}
}
