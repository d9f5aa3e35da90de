package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose writes what turns blocks of 8×8 numbers about their diagonal.
func (f *gen) transpose() {
	f.Begin("transposeAVX2", "(blocks int, src *float32, lds int, dst *float32, ldd int)", "is transposeGo for blocks ≥ 1.")
	src, dst, left := rowsOf{reg.RAX, reg.RBX, reg.RCX, reg.RDX}, rowsOf{reg.RSI, reg.RDI, reg.R8, reg.R9}, reg.R10
	f.Args("blocks", left)
	f.rowsArg("src lds", src, 2)
	f.rowsArg("dst ldd", dst, 2)
	v := avx2.Regs
	f.Label("loop")
	for r := range 8 {
		f.VMOVUPS(src.at(r, 0), v[r])
	}
	// Pairs of rows, then fours, then halves.
	for r := 0; r < 8; r += 2 {
		f.VUNPCKLPS(v[r+1], v[r], v[8+r])
		f.VUNPCKHPS(v[r+1], v[r], v[9+r])
	}
	for r := 0; r < 8; r += 4 {
		for n := range 2 {
			f.VUNPCKLPD(v[10+r+n], v[8+r+n], v[r+2*n])
			f.VUNPCKHPD(v[10+r+n], v[8+r+n], v[r+2*n+1])
		}
	}
	for c := range 4 {
		f.VPERM2F128(operand.U8(0x20), v[4+c], v[c], v[8+c])
		f.VPERM2F128(operand.U8(0x31), v[4+c], v[c], v[12+c])
	}
	for c := range 8 {
		f.VMOVUPS(v[8+c], dst.at(c, 0))
	}
	f.ADDQ(operand.U8(32), src.first)
	f.ADDQ(operand.U8(32), src.fifth)
	f.LEAQ(operand.Mem{Base: dst.first, Index: dst.lda, Scale: 8}, dst.first)
	f.LEAQ(operand.Mem{Base: dst.fifth, Index: dst.lda, Scale: 8}, dst.fifth)
	f.Repeat(left, "loop")
	f.End()
}
