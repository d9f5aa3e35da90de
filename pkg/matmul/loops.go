package matmul

import "fmt"

// Naive computes C = A·B with three plain loops: the slow reference that every
// other rung is compared with. See [Func] for sizes and errors.
func Naive[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if err := checkGEMM(m, n, k, a, lda, b, ldb, c, ldc); err != nil || n == 0 {
		return err
	}
	for i := range m {
		for j := range n {
			var sum T
			for p := range k {
				sum += a[i*lda+p] * b[p*ldb+j]
			}
			c[i*ldc+j] = sum
		}
	}
	return nil
}

// Reordered computes C = A·B with the loops in the order i, p, j, so that the
// innermost one runs along a row of B and a row of C. See [Func].
func Reordered[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if err := checkGEMM(m, n, k, a, lda, b, ldb, c, ldc); err != nil {
		return err
	}
	scale(0, m, n, c, ldc)
	addTile(m, n, k, a, lda, b, ldb, c, ldc)
	return nil
}

// addTile adds A·B to C in the order i, p, j, with no checks.
func addTile[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if n == 0 || k == 0 {
		return
	}
	for i := range m {
		ci := c[i*ldc:][:n]
		for p, aip := range a[i*lda:][:k] {
			bp := b[p*ldb:][:n]
			for j := range ci {
				ci[j] += aip * bp[j]
			}
		}
	}
}

// DefaultTile is the tile size of [Tiled]: three 64×64 tiles of float32 fill
// 48 KiB, the size of a first-level cache.
const DefaultTile = 64

// Tiled computes C = A·B over square tiles of [DefaultTile]. See [Func].
func Tiled[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return TiledBy[T](DefaultTile)(m, n, k, a, lda, b, ldb, c, ldc)
}

// TiledBy returns C = A·B over square tiles of the given size, the loop nest
// that the lesson counts. The returned function gives an error for tile < 1.
func TiledBy[T Float](tile int) Func[T] {
	return func(m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
		if tile < 1 {
			return fmt.Errorf("matmul: tile is %d: it must be 1 or more", tile)
		}
		if err := checkGEMM(m, n, k, a, lda, b, ldb, c, ldc); err != nil {
			return err
		}
		tiled(tile, m, n, k, a, lda, b, ldb, c, ldc)
		return nil
	}
}

// tiled walks the tiles in the order of the counted multiply: a tile of C stays
// while k is walked, and each step brings one tile of A and one of B.
func tiled[T Float](tile int, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if n == 0 {
		return // however many empty rows there are
	}
	for i := 0; i < m; i += min(tile, m-i) {
		rows := min(tile, m-i)
		for j := 0; j < n; j += min(tile, n-j) {
			cols := min(tile, n-j)
			ct := c[i*ldc+j:]
			scale(0, rows, cols, ct, ldc)
			for p := 0; p < k; p += min(tile, k-p) {
				addTile(rows, cols, min(tile, k-p), a[i*lda+p:], lda, b[p*ldb+j:], ldb, ct, ldc)
			}
		}
	}
}
