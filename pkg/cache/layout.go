package cache

import (
	"math/bits"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// Layout is a multiply C = A·B with its matrices placed in memory, row after
// row: element (i, j) of A is at BaseA + (i·LDA + j)·ElemBytes.
type Layout struct {
	roofline.GEMM

	LDA, LDB, LDC       int64 // leading dimensions, elements: from one row to the next
	BaseA, BaseB, BaseC int64 // bytes
}

// pageBytes is what large allocations start at a multiple of.
const pageBytes = 4096

// Place returns the matrices one behind the other, each at the start of a page
// of 4096 bytes, with no gaps between the rows.
func Place(g roofline.GEMM) Layout { return PlaceLD(g, g.K, g.N, g.N) }

// PlaceLD is Place with leading dimensions, in elements: lda ≥ k, ldb ≥ n,
// ldc ≥ n. Larger ones leave gaps between the rows.
func PlaceLD(g roofline.GEMM, lda, ldb, ldc int64) Layout {
	l := Layout{GEMM: g, LDA: lda, LDB: ldb, LDC: ldc}
	arg.Check(l.Validate())
	l.BaseB = pages(l.BaseA + g.M*lda*g.ElemBytes)
	l.BaseC = pages(l.BaseB + g.K*ldb*g.ElemBytes)
	arg.Check(l.Validate())
	return l
}

func pages(addr int64) int64 { return (addr + pageBytes - 1) / pageBytes * pageBytes }

// Validate returns an error that names the first argument that makes no
// layout, or whose matrices would lie beyond 2^62 bytes. Matrices may overlap.
func (l Layout) Validate() error {
	if err := l.GEMM.Validate(); err != nil {
		return err
	}
	for _, m := range []struct {
		name, row      string
		rows, cols, ld int64
		base           int64
	}{
		{"a", "k", l.M, l.K, l.LDA, l.BaseA},
		{"b", "n", l.K, l.N, l.LDB, l.BaseB},
		{"c", "n", l.M, l.N, l.LDC, l.BaseC},
	} {
		if m.ld < m.cols {
			return arg.Errorf("ld"+m.name, m.ld, "cache: ld%s is %d: it must be at least %s = %d", m.name, m.ld, m.row, m.cols)
		}
		if m.base < 0 {
			return arg.Errorf("base", m.base, "cache: base of %s is %d: it must be at least 0", m.name, m.base)
		}
		end := num.Sum{{m.rows, m.ld, l.ElemBytes}, {m.base}}
		if v, ok := end.Int64(); !ok || bits.Len64(uint64(v)) > 62 {
			return arg.Errorf(m.name, end.Big(), "cache: %s ends at address %s: it must end before 2^62: use smaller matrices", m.name, end.Big())
		}
	}
	return nil
}

// end is the first address behind all three matrices.
func (l Layout) end() int64 {
	return max(l.BaseA+l.M*l.LDA*l.ElemBytes, l.BaseB+l.K*l.LDB*l.ElemBytes, l.BaseC+l.M*l.LDC*l.ElemBytes)
}

func (l Layout) a(i, p int64) int64 { return l.BaseA + (i*l.LDA+p)*l.ElemBytes }
func (l Layout) b(p, j int64) int64 { return l.BaseB + (p*l.LDB+j)*l.ElemBytes }
func (l Layout) c(i, j int64) int64 { return l.BaseC + (i*l.LDC+j)*l.ElemBytes }
