package matmul

import "unsafe"

// A kernel is a microkernel with the shape of its tile.
type kernel[T Float] struct {
	isa    string
	mr, nr int

	// tile computes C = A·B, or C += A·B with add, for 1 ≤ rows ≤ mr,
	// 1 ≤ cols ≤ nr and k ≥ 1, with leading dimensions in elements. It reads
	// and writes nothing outside these sizes. What it equals is [tileGo]. The
	// last three say what will be wanted soon, and change no result.
	tile func(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, rows, cols int, add bool, nextA, nextB *T, nextLDB int)
}

// The tile of the plain Go kernel.
const (
	goMR = 4
	goNR = 4
)

func goKernel[T Float]() *kernel[T] {
	return &kernel[T]{isa: "go", mr: goMR, nr: goNR, tile: tileGo[T]}
}

// tileGo is the microkernel in plain Go, and the meaning of every other one.
// A tile of full size keeps its sums in local variables.
func tileGo[T Float](k int, a *T, lda int, b *T, ldb int, c *T, ldc int, rows, cols int, add bool, _, _ *T, _ int) {
	as := unsafe.Slice(a, (rows-1)*lda+k)
	bs := unsafe.Slice(b, (k-1)*ldb+cols)
	cs := unsafe.Slice(c, (rows-1)*ldc+cols)
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
