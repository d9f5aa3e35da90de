package matmul

import "unsafe"

// A kernel is a microkernel with the shape of its tile.
type kernel[T Float] struct {
	isa    string
	mr, nr int // of the full tile
	few    int // a tile has mr rows, or up to so many
	tall   int // a tile of up to half the columns may have any number of rows up to this

	// tile computes C = A·B, or C += A·B with add, for 1 ≤ cols ≤ nr, rows that
	// are as few and tall say, and k ≥ 1, with leading dimensions in elements. It reads and writes nothing outside these
	// sizes. What it equals is [tileGo].
	//
	// nextA, nextB and nextLDB say what will be wanted soon, and change no result.
	// Where cols is nr, rows one that copies allows, and pack not nil, it also
	// copies B to pack: k rows of nr elements without gaps.
	tile func(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, rows, cols int, add bool, nextA, nextB *T, nextLDB int, pack *T)

	// dot computes y = A·x for n ≥ 1 and rows a power of two up to dotRows, with ldy elements
	// between the results. What it equals is [dotGo].
	dot     func(n int, a *T, lda int, x *T, y *T, ldy int, rows int)
	dotRows int

	// rows computes C = A·B, or C += A·B with add, for n a multiple of lanes, m from
	// 1 to 4 and depth a power of two up to depths[m], along whole rows of B.
	// What it equals is [rowsGo]. Where it is nil there is none.
	rows   func(n int, a *T, lda int, b *T, ldb int, c *T, ldc int, m, depth int, add bool)
	lanes  int
	depths [5]int
}

// copies reports whether a tile of so many rows can copy B on its way.
func (k *kernel[T]) copies(rows int) bool { return rows == k.mr || rows == k.second() }

// second is the most rows of a tile that is not full, but for the one below it.
func (k *kernel[T]) second() int { return min(k.few, k.mr-1) }

// The tile of the plain Go kernel.
const (
	goMR = 4
	goNR = 4
)

func goKernel[T Float]() *kernel[T] {
	return &kernel[T]{
		isa: "go", mr: goMR, nr: goNR, tall: 2 * goMR, few: 2 * goMR, tile: tileGo[T], dot: dotGo[T], dotRows: 4,
	}
}

// tileGo is the microkernel in plain Go, and the meaning of every other one.
// A tile of full size keeps its sums in local variables.
func tileGo[T Float](k int, a *T, lda int, b *T, ldb int, c *T, ldc int, rows, cols int, add bool, _, _ *T, _ int, pack *T) {
	as := unsafe.Slice(a, (rows-1)*lda+k)
	bs := unsafe.Slice(b, (k-1)*ldb+cols)
	cs := unsafe.Slice(c, (rows-1)*ldc+cols)
	if pack != nil {
		packB(k, goNR, goNR, bs, ldb, unsafe.Slice(pack, k*goNR))
	}
	if rows == goMR && cols == goNR {
		tileGoFull(k, as, lda, bs, ldb, cs, ldc, add)
		return
	}
	for i := range rows {
		for j := range cols {
			var sum T
			for p := range k {
				sum += as[i*lda+p] * bs[p*ldb+j]
			}
			if add {
				sum += cs[i*ldc+j]
			}
			cs[i*ldc+j] = sum
		}
	}
}

// tileGoFull works on two rows at a time: eight sums, four of B and one of A
// fit in the sixteen floating-point registers that amd64 has.
func tileGoFull[T Float](k int, a []T, lda int, b []T, ldb int, c []T, ldc int, add bool) {
	for i := 0; i < goMR; i += 2 {
		a0, a1 := a[i*lda:][:k], a[(i+1)*lda:][:k]
		var s00, s01, s02, s03, s10, s11, s12, s13 T
		at := 0
		for p, x0 := range a0 {
			x1 := a1[p]
			row := b[at:][:goNR:goNR]
			s00 += x0 * row[0]
			s01 += x0 * row[1]
			s02 += x0 * row[2]
			s03 += x0 * row[3]
			s10 += x1 * row[0]
			s11 += x1 * row[1]
			s12 += x1 * row[2]
			s13 += x1 * row[3]
			at += ldb
		}
		c0, c1 := c[i*ldc:][:goNR:goNR], c[(i+1)*ldc:][:goNR:goNR]
		if add {
			s00, s01, s02, s03 = s00+c0[0], s01+c0[1], s02+c0[2], s03+c0[3]
			s10, s11, s12, s13 = s10+c1[0], s11+c1[1], s12+c1[2], s13+c1[3]
		}
		c0[0], c0[1], c0[2], c0[3] = s00, s01, s02, s03
		c1[0], c1[1], c1[2], c1[3] = s10, s11, s12, s13
	}
}

// rowsGo is the product for few rows of A and B in plain Go.
func rowsGo[T Float](n int, a []T, lda int, b []T, ldb int, c []T, ldc int, m, depth int, add bool) {
	for i := range m {
		for j := range n {
			var sum T
			if add {
				sum = c[i*ldc+j]
			}
			for p := range depth {
				sum += a[i*lda+p] * b[p*ldb+j]
			}
			c[i*ldc+j] = sum
		}
	}
}

// dotGo is the dot products of rows of A and x in plain Go, four sums to a row.
func dotGo[T Float](n int, a *T, lda int, x *T, y *T, ldy int, rows int) {
	as := unsafe.Slice(a, (rows-1)*lda+n)
	xs := unsafe.Slice(x, n)
	ys := unsafe.Slice(y, (rows-1)*ldy+1)
	for i := range rows {
		row := as[i*lda:][:n]
		var s0, s1, s2, s3 T
		j := 0
		for ; j+4 <= n; j += 4 {
			r, v := row[j:][:4:4], xs[j:][:4:4]
			s0 += r[0] * v[0]
			s1 += r[1] * v[1]
			s2 += r[2] * v[2]
			s3 += r[3] * v[3]
		}
		for ; j < n; j++ {
			s0 += row[j] * xs[j]
		}
		ys[i*ldy] = (s0 + s1) + (s2 + s3)
	}
}
