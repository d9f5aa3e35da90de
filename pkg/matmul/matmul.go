// Package matmul holds multiplies that run: from three plain loops upwards, all
// with one signature, to SIMD kernels on all cores, and products with weights of
// few bits.
//
// All matrices are row-major with a leading dimension: element (i, j) of an
// r×c matrix x with leading dimension ld is x[i*ld+j], and ld ≥ c. The slice
// must hold (r-1)*ld+c elements, or none at all where r or c is 0.
package matmul

// Float is an element type that the multiplies work in.
type Float interface{ float32 | float64 }

// Func computes C = A·B (or C = A·B + β·C, see [Beta]) with A of m×k, B of
// k×n and C of m×n. Any of m, n and k may be 0: with k = 0 the product is zero.
// It returns an error, and leaves C alone, when a size is negative, a leading
// dimension is smaller than the row it spans, a slice is too short, or C shares
// memory with A or B. Blocks side by side in one larger matrix share none as long
// as their leading dimensions are equal; where they differ, C may not begin before
// the other's last element and end after its first, even if no element is in both.
// It can be called by several goroutines at once.
//
// The order in which the products of an element are added up is each one's own,
// so results differ by rounding. NaN and Inf go where the three plain loops take
// them, 0·Inf being NaN; [Gonum] alone skips zeros in A. The sign of an element
// that is zero is not promised.
type Func[T Float] func(m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error
