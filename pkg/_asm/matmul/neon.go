package main

import (
	"fmt"

	"memorywall/pkg/_asm/asm"
)

// Rows of a full tile of either width, where two vectors wide with 16 sums, 2
// vectors of B and 8 of A; and up to how many rows have bodies of their own.
const (
	neonMR  = 8
	neonFew = 4
)

// neonRows are the numbers of rows that there are bodies for.
var neonRows = []int{neonMR, 4, 3, 2, 1}

// neonGen writes the file for arm64.
type neonGen struct {
	asm.NEON
	labels int
}

// fresh returns a new label.
func (g *neonGen) fresh() string {
	g.labels++
	return fmt.Sprintf("part%d", g.labels)
}

// neonLanes is how many elements a vector holds.
func neonLanes(e *asm.Elem) int { return asm.NEONBytes / e.Size() }

// Registers of a tile. Rows of A take R0 to R15.
const (
	nB, nK, nLDB, nC, nLDC = "R16", "R17", "R19", "R20", "R21"
	nTmp, nLDA             = "R22", "R23"
	nNextB, nNextLDB       = "R24", "R25" // full tiles
	nLive                  = "R24"        // ragged tiles: live lanes of the last vector
	nPack                  = "R26"
)

// tile writes the microkernel with the meaning of the amd64 ones.
func (g *neonGen) tile(e *asm.Elem) {
	nr := vecs * neonLanes(e)
	g.Function("tile"+e.Name+"NEON",
		fmt.Sprintf("(k int, a *%[1]s, lda int, b *%[1]s, ldb int, c *%[1]s, ldc int, rows int, cols int, add bool, nextA *%[1]s, nextB *%[1]s, nextLDB int, pack *%[1]s)", e.GoType),
		fmt.Sprintf("is tileGo for %d rows or up to %d of up to %d columns, with k ≥ 1:", neonMR, neonFew, nr),
		"",
		"\tfor i := range rows {",
		"\t\tfor j := range cols {",
		fmt.Sprintf("\t\t\tvar sum %s", e.GoType),
		"\t\t\tif add {",
		"\t\t\t\tsum = c[i*ldc+j]",
		"\t\t\t}",
		"\t\t\tfor p := range k {",
		"\t\t\t\tsum += a[i*lda+p] * b[p*ldb+j] // fused",
		"\t\t\t}",
		"\t\t\tc[i*ldc+j] = sum",
		"\t\t}",
		"\t}",
		"",
		"Where cols is full, a cache line in each of k rows of nextB is prefetched, and where",
		fmt.Sprintf("pack is not nil, B is copied there on the way: pack[p*%d+j] = b[p*ldb+j].", nr),
	)
	g.Args("k a lda b ldb c ldc", nK, "R0", nLDA, nB, nLDB, nC, nLDC)
	for _, r := range []string{nLDA, nLDB, nLDC} {
		g.Line("LSL $%d, %s, %s", e.Shift, r, r)
	}
	g.Args("cols", nLive)
	g.Line("CMP $%d, %s", nr, nLive)
	g.Line("BNE ragged")
	g.Args("nextB nextLDB", nNextB, nNextLDB)
	g.Line("LSL $%d, %s, %s", e.Shift, nNextLDB, nNextLDB)
	g.Args("pack", nPack)
	g.choose("full")
	for _, rows := range neonRows {
		g.body(e, "full", rows, vecs, false)
	}
	g.Label("ragged")
	g.Line("CMP $%d, %s", nr/vecs, nLive)
	g.Line("BLE narrow")
	g.Line("SUB $%d, %s, %s", nr/vecs, nLive, nLive)
	g.choose("wide")
	for _, rows := range neonRows {
		g.body(e, "wide", rows, vecs, true)
	}
	g.Label("narrow")
	g.choose("slim")
	for _, rows := range neonRows {
		g.body(e, "slim", rows, 1, true)
	}
}

func (g *neonGen) choose(kind string) {
	g.Args("rows", nTmp)
	g.Choose(nTmp, kind, neonRows...)
}

// part reads (load) or writes the live lanes of a vector at the address in nTmp,
// which it spoils; lanes that are not live become 0.
func (g *neonGen) part(e *asm.Elem, load bool, v string) {
	one, end, all := g.fresh(), g.fresh(), g.fresh()
	move := func(post bool, bytes int, lane string) {
		switch {
		case load && post:
			g.Line("VLD1.P %d(%s), %s.%s", bytes, nTmp, v, lane)
		case load:
			g.Line("VLD1 (%s), %s.%s", nTmp, v, lane)
		case post:
			g.Line("VST1.P %s.%s, %d(%s)", v, lane, bytes, nTmp)
		default:
			g.Line("VST1 %s.%s, (%s)", v, lane, nTmp)
		}
	}
	if load {
		g.Line("VEOR %s.B16, %s.B16, %s.B16", v, v, v)
	}
	g.Line("TBNZ $%d, %s, %s", 4-e.Shift, nLive, all)
	if e == asm.F32 {
		g.Line("TBZ $1, %s, %s", nLive, one)
		move(true, 8, "D[0]")
		g.Line("TBZ $0, %s, %s", nLive, end)
		move(false, 4, "S[2]")
		g.Line("B %s", end)
		g.Label(one)
		move(false, 4, "S[0]")
	} else {
		move(false, 8, "D[0]")
	}
	g.Line("B %s", end)
	g.Label(all)
	if load {
		g.Line("VLD1 (%s), [%s.%s]", nTmp, v, e.Arrangement())
	} else {
		g.Line("VST1 [%s.%s], (%s)", v, e.Arrangement(), nTmp)
	}
	g.Label(end)
}

func (g *neonGen) body(e *asm.Elem, kind string, rows, nv int, ragged bool) {
	sum := func(row, v int) string { return fmt.Sprintf("V%d", row*nv+v) }
	b := func(v int) string { return fmt.Sprintf("V%d", 16+v) }
	a := func(row int) string { return fmt.Sprintf("V%d", 18+row%8) }
	row := func(r int) string { return fmt.Sprintf("R%d", r) }
	name := fmt.Sprintf("%s%d", kind, rows)
	arr := e.Arrangement()
	// tileC walks down the rows of C with each, the vectors of one row at a time.
	tileC := func(each func(r, v int)) {
		for r := range rows {
			for v := range nv {
				each(r, v)
			}
			if r < rows-1 {
				g.Line("ADD %s, %s, %s", nLDC, nC, nC)
			}
		}
	}
	vector := func(load bool, base string, v int, reg string) {
		if v > 0 || ragged && v == nv-1 {
			g.Line("ADD $%d, %s, %s", v*asm.NEONBytes, base, nTmp)
			base = nTmp
		}
		switch {
		case ragged && v == nv-1:
			g.part(e, load, reg)
		case load:
			g.Line("VLD1 (%s), [%s.%s]", base, reg, arr)
		default:
			g.Line("VST1 [%s.%s], (%s)", reg, arr, base)
		}
	}

	g.Label(name)
	for r := 1; r < rows; r++ {
		g.Line("ADD %s, %s, %s", nLDA, row(r-1), row(r))
	}
	// The sums start as C or as 0.
	g.Truth("add", nTmp)
	g.Line("CBZ %s, %szero", nTmp, name)
	tileC(func(r, v int) { vector(true, nC, v, sum(r, v)) })
	g.Args("c", nC)
	g.Line("B %sstep", name)
	g.Label(name + "zero")
	g.Zero(0, rows*nv)

	g.Label(name + "step")
	for v := range nv {
		vector(true, nB, v, b(v))
	}
	g.Line("ADD %s, %s, %s", nLDB, nB, nB)
	if !ragged {
		g.Line("PRFM (%s), PLDL2KEEP", nNextB)
		g.Line("ADD %s, %s, %s", nNextLDB, nNextB, nNextB)
		g.Line("CBZ %s, %skept", nPack, name)
		g.Line("VST1.P [%s.%s, %s.%s], %d(%s)", b(0), arr, b(1), arr, vecs*asm.NEONBytes, nPack)
		g.Label(name + "kept")
	}
	for r := range rows {
		g.Line("VLD1R.P %d(%s), [%s.%s]", e.Size(), row(r), a(r), arr)
		for v := range nv {
			g.Line("VFMLA %s.%s, %s.%s, %s.%s", a(r), arr, b(v), arr, sum(r, v), arr)
		}
	}
	g.Repeat(nK, name+"step")
	tileC(func(r, v int) { vector(false, nC, v, sum(r, v)) })
	g.Line("RET")
}

// neonDotRows is how many rows go at a time.
const neonDotRows = 4

// dot writes y = A·x for up to neonDotRows rows of A.
func (g *neonGen) dot(e *asm.Elem) {
	g.Function("dot"+e.Name+"NEON", fmt.Sprintf("(n int, a *%[1]s, lda int, x *%[1]s, y *%[1]s, ldy int, rows int)", e.GoType),
		dotDoc(e, neonDotRows)...)
	const x, y, left, ldy, lda, tmp = "R16", "R17", "R19", "R20", "R21", "R22"
	g.Args("n a lda x y ldy", left, "R0", lda, x, y, ldy)
	g.Line("LSL $%d, %s, %s", e.Shift, lda, lda)
	g.Line("LSL $%d, %s, %s", e.Shift, ldy, ldy)
	g.Args("rows", tmp)
	g.Choose(tmp, "rows", halvings(neonDotRows)...)
	// Four vectors of each row at a time: 16 sums.
	const nv = 4
	sum := func(r, v int) string { return fmt.Sprintf("V%d", r*nv+v) }
	list := func(first int) string { return asm.Vectors(first, nv, e.Arrangement()) }
	lane := e.Lane()
	move, fmadd, fadd := "FMOV"+lane, "FMADD"+lane, "FADD"+lane
	for _, rows := range halvings(neonDotRows) {
		g.Label(fmt.Sprintf("rows%d", rows))
		for r := 1; r < rows; r++ {
			g.Line("ADD %s, R%d, R%d", lda, r-1, r)
		}
		g.Zero(0, rows*nv)
		g.Zero(24, rows)
		step := nv * neonLanes(e)
		g.Line("SUBS $%d, %s, %s", step, left, left)
		g.Line("BLT rows%dtail", rows)
		g.Label(fmt.Sprintf("rows%dloop", rows))
		g.Line("VLD1.P %d(%s), %s", nv*asm.NEONBytes, x, list(16))
		for r := range rows {
			g.Line("VLD1.P %d(R%d), %s", nv*asm.NEONBytes, r, list(20))
			for v := range nv {
				g.Line("VFMLA V%d.%s, V%d.%s, %s.%s", 20+v, e.Arrangement(), 16+v, e.Arrangement(), sum(r, v), e.Arrangement())
			}
		}
		g.Line("SUBS $%d, %s, %s", step, left, left)
		g.Line("BGE rows%dloop", rows)
		// What is left, one element at a time, into a sum of its own.
		g.Label(fmt.Sprintf("rows%dtail", rows))
		g.Line("ADDS $%d, %s, %s", step, left, left)
		g.Line("BEQ rows%dsum", rows)
		g.Label(fmt.Sprintf("rows%done", rows))
		g.Line("%s.P %d(%s), F16", move, e.Size(), x)
		for r := range rows {
			g.Line("%s.P %d(R%d), F20", move, e.Size(), r)
			g.Line("%s F20, F%d, F16, F%d", fmadd, 24+r, 24+r)
		}
		g.Repeat(left, fmt.Sprintf("rows%done", rows))
		g.Label(fmt.Sprintf("rows%dsum", rows))
		for r := range rows {
			for v := range nv {
				for l := range neonLanes(e) {
					g.Line("VDUP %s.%s[%d], V20.%s", sum(r, v), lane, l, e.Arrangement())
					g.Line("%s F20, F%d, F%d", fadd, 24+r, 24+r)
				}
			}
			g.Line("%s F%d, (%s)", move, 24+r, y)
			if r < rows-1 {
				g.Line("ADD %s, %s, %s", ldy, y, y)
			}
		}
		g.Line("RET")
	}
}

func writeNEON(folder string) error {
	g := &neonGen{}
	for _, e := range []*asm.Elem{asm.F32, asm.F64} {
		g.tile(e)
		g.dot(e)
	}
	return g.Write(folder, "matmul", "neon_arm64")
}
