package matmul

import (
	"cmp"
	"fmt"
	"math/bits"
	"unsafe"
)

// checkGEMM refuses what a multiply cannot work on, naming the argument. What is
// right passes quickly: small products take less time than the words would.
func checkGEMM[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if m >= 0 && n >= 0 && k >= 0 && lda >= k && ldb >= n && ldc >= n {
		na, okA := span(m, k, lda)
		nb, okB := span(k, n, ldb)
		nc, okC := span(m, n, ldc)
		if okA && okB && okC && len(a) >= na && len(b) >= nb && len(c) >= nc &&
			apart(c, nc, a, na) && apart(c, nc, b, nb) {
			return nil
		}
	}
	return explainGEMM(m, n, k, a, lda, b, ldb, c, ldc)
}

// apart reports whether the first np elements of p lie wholly before or after
// the first nq of q.
func apart[T Float](p []T, np int, q []T, nq int) bool {
	ap := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	aq := uintptr(unsafe.Pointer(unsafe.SliceData(q)))
	size := unsafe.Sizeof(T(0))
	return ap+uintptr(np)*size <= aq || aq+uintptr(nq)*size <= ap
}

// explainGEMM finds the first thing wrong, if anything is.
func explainGEMM[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if err := cmp.Or(notNegative("m", m), notNegative("n", n), notNegative("k", k),
		checkMatrix("a", a, "m", m, "k", k, "lda", lda),
		checkMatrix("b", b, "k", k, "n", n, "ldb", ldb),
		checkMatrix("c", c, "m", m, "n", n, "ldc", ldc)); err != nil {
		return err
	}
	result := region[T]{c, m, n, ldc}
	return cmp.Or(
		notShared(overlap(result, region[T]{a, m, k, lda}), "c", "a"),
		notShared(overlap(result, region[T]{b, k, n, ldb}), "c", "b"))
}

func notNegative(name string, v int) error {
	if v < 0 {
		return fmt.Errorf("matmul: %s is %d: a size must be 0 or more", name, v)
	}
	return nil
}

func notShared(shared bool, result, input string) error {
	if shared {
		return fmt.Errorf("matmul: %s shares memory with %s: the result must lie apart from the inputs", result, input)
	}
	return nil
}

// holds refuses a vector that is too short.
func holds[T Float](name string, x []T, sizeName string, size int) error {
	if len(x) < size {
		return fmt.Errorf("matmul: %s has %d elements: %s = %d are needed", name, len(x), sizeName, size)
	}
	return nil
}

func checkMatrix[T Float](name string, x []T, rowsName string, rows int, colsName string, cols int, ldName string, ld int) error {
	if ld < cols {
		return fmt.Errorf("matmul: %s is %d: it must be at least %s = %d, the row of %s", ldName, ld, colsName, cols, name)
	}
	need, ok := span(rows, cols, ld)
	if !ok {
		return fmt.Errorf("matmul: %s cannot hold %s = %d rows with %s = %d: more elements than an int can count", name, rowsName, rows, ldName, ld)
	}
	if len(x) < need {
		return fmt.Errorf("matmul: %s has %d elements: %s = %d rows of %s = %d with %s = %d need at least %d",
			name, len(x), rowsName, rows, colsName, cols, ldName, ld, need)
	}
	return nil
}

// span returns how many elements a rows×cols matrix with leading dimension ld
// reaches over, and whether an int can count them.
func span(rows, cols, ld int) (int, bool) {
	if rows == 0 || cols == 0 {
		return 0, true
	}
	hi, lo := bits.Mul(uint(rows-1), uint(ld))
	n, carry := bits.Add(lo, uint(cols), 0)
	const maxInt = ^uint(0) >> 1
	if hi != 0 || carry != 0 || n > maxInt {
		return 0, false
	}
	return int(n), true
}

type region[T Float] struct {
	x              []T
	rows, cols, ld int
}

// overlap reports whether the two matrices can share an element. With equal
// leading dimensions the answer is exact, so that blocks side by side in one
// larger matrix pass; otherwise any overlap of the spans counts.
func overlap[T Float](p, q region[T]) bool {
	np, _ := span(p.rows, p.cols, p.ld)
	nq, _ := span(q.rows, q.cols, q.ld)
	if np == 0 || nq == 0 {
		return false
	}
	size := unsafe.Sizeof(T(0))
	ap := uintptr(unsafe.Pointer(unsafe.SliceData(p.x)))
	aq := uintptr(unsafe.Pointer(unsafe.SliceData(q.x)))
	if ap > aq {
		p, q, ap, aq, np = q, p, aq, ap, nq
	}
	d := aq - ap // q starts d bytes after p
	if d >= uintptr(np)*size {
		return false
	}
	if p.ld != q.ld || d%size != 0 {
		return true
	}
	// q starts in row r, column s of p's grid of rows ld wide.
	ld := p.ld
	off := int(d / size)
	r, s := off/ld, off%ld
	if s < p.cols && r < p.rows {
		return true // q's first element is one of p's
	}
	// q begins right of p's columns and wraps into the next grid row.
	return s+q.cols > ld && r+1 < p.rows
}

// scale multiplies the m×n matrix c by beta; with 0 it is set to zero, whatever
// it holds.
func scale[T Float](beta T, m, n int, c []T, ldc int) {
	if n == 0 {
		return
	}
	for i := range m {
		row := c[i*ldc:][:n]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}
