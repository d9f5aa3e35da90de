package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"memorywall/pkg/internal/host"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/matmul"
	"memorywall/pkg/probe"
)

// SmallInts fills x with numbers from −2, −1, 1 and 2, always the same ones. Sums of
// up to 2^22 products of these are exact in float32, in any order, so that
// [CheckProduct] can tell a right product from a wrong one. There is no zero
// among them: gonum skips zeros.
func SmallInts[T matmul.Float](x []T) []T {
	random := rand.New(rand.NewPCG(1, 2))
	values := [4]T{-2, -1, 1, 2}
	for i := range x {
		x[i] = values[random.Uint32()>>30]
	}
	return x
}

// CheckProduct returns an error unless the m×n matrix c is the product of the m×k
// matrix a and the k×n matrix b, all of small whole numbers and without gaps between
// the rows. It compares C·x with A·(B·x) for a random vector x of integers, all
// exact in int64: n² work instead of n³. A wrong C passes with a chance below
// one in a million (Freivalds 1979).
func CheckProduct[T matmul.Float](m, n, k int, a, b, c []T) error {
	x := make([]int64, n)
	for i := range x {
		x[i] = rand.Int64N(1 << 20)
	}
	times := func(rows int, m []T, v []int64) ([]int64, error) {
		out := make([]int64, rows)
		for i := range out {
			for j, e := range m[i*len(v):][:len(v)] {
				f := float64(e)
				if f != math.Trunc(f) || math.Abs(f) > 1<<24 { // NaN fails too
					return nil, fmt.Errorf("element (%d, %d) is %v: a product of these matrices holds integers", i, j, e)
				}
				out[i] += int64(f) * v[j]
			}
		}
		return out, nil
	}
	got, err := times(m, c, x)
	if err != nil {
		return err
	}
	bx, err := times(k, b, x)
	if err != nil {
		return err
	}
	want, err := times(m, a, bx)
	if err != nil {
		return err
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("row %d of the product is wrong", i)
		}
	}
	return nil
}

// A Ring is equal matrices of the same small whole numbers, each in memory of its own,
// in large pages where the system gives them. Calls take them in turn, so that they
// come from memory and not from a cache if there are enough.
type Ring[T matmul.Float] struct {
	// Note says how many there are, and Doubt why they may live in a cache in part.
	Note, Doubt string

	all  [][]T
	at   int
	free func()
}

const (
	// maxRing bounds the matrices: enough of half a megabyte to leave caches of hundreds.
	maxRing = 4096
	// RingBytes is how much memory the matrices take together where nobody says
	// otherwise. Memory that was never touched is slow to get on a virtual machine:
	// more would take seconds.
	RingBytes = min(512<<20, math.MaxInt/8)
)

// NewRing returns rows×cols matrices that so many threads read together: enough to
// leave their last-level caches as far as limit bytes allow, or a single one if
// threads is 0. It returns an error if one takes more than half of what is free.
func NewRing[T matmul.Float](rows, cols, threads int, limit int64, h host.Host) (*Ring[T], error) {
	r := &Ring[T]{}
	matrix := int64(rows) * int64(cols) * int64(unsafe.Sizeof(T(0)))
	if free := cmp.Or(h.Free, h.Memory/2); free > 0 && matrix > free/2 {
		return nil, fmt.Errorf("a matrix of %d×%d takes %s and at most %s may be used", rows, cols, num.Binary(float64(matrix), "B"), num.Binary(float64(free/2), "B"))
	}
	count := 1
	if threads > 0 {
		count = r.count(matrix, threads, limit, h)
	}
	// Each matrix begins at a multiple of what the loops over memory need.
	each := (matrix + probe.AlignBytes - 1) / probe.AlignBytes * probe.AlignBytes
	p, free, err := probe.Alloc(each * int64(count))
	if err != nil {
		return nil, err
	}
	r.free = free
	for i := range count {
		x := unsafe.Slice((*T)(unsafe.Pointer(&p[int64(i)*each])), rows*cols)
		if i == 0 {
			SmallInts(x)
		} else {
			copy(x, r.all[0])
		}
		r.all = append(r.all, x)
	}
	return r, nil
}

// count finds how many matrices of so many bytes there are, and what is to be said
// about that.
func (r *Ring[T]) count(matrix int64, threads int, limit int64, h host.Host) int {
	set, doubt := h.MemorySet(threads, min(limit, maxRing*matrix))
	count := max(1, set/matrix)
	if doubt == "" {
		count = num.CeilDiv(set, matrix)
	}
	last := h.LastLevel(threads)
	if last > 0 && count*matrix <= last {
		count = 1
		doubt = fmt.Sprintf("resident in cache: the matrix takes %s and the last-level caches are %s: this is not the rate of memory", num.Binary(float64(matrix), "B"), num.Binary(float64(last), "B"))
	}
	matrices, caches := fmt.Sprintf("%d matrices", count), "unknown"
	if count == 1 {
		matrices = "one matrix"
	}
	if last > 0 {
		caches = num.Binary(float64(last), "B")
	}
	r.Note = fmt.Sprintf("goes over %s, %s in all; last-level caches %s", matrices, num.Binary(float64(count*matrix), "B"), caches)
	r.Doubt = doubt
	return int(count)
}

// Next returns the next matrix.
func (r *Ring[T]) Next() []T {
	x := r.all[r.at]
	r.at = (r.at + 1) % len(r.all)
	return x
}

// Len returns how many matrices there are.
func (r *Ring[T]) Len() int { return len(r.all) }

// Bytes returns the bytes of all matrices.
func (r *Ring[T]) Bytes() int64 {
	return int64(len(r.all)) * int64(len(r.all[0])) * int64(unsafe.Sizeof(T(0)))
}

// Close gives the memory back. Nobody may use a matrix afterwards.
func (r *Ring[T]) Close() { r.free() }

// Multiply returns a case for multiply: C = A·B with A of m×k and the next k×n
// matrix of a ring, which must not be closed before the case was timed. Its work is
// 2mnk FLOPs and each matrix once. The whole product is verified before it is timed.
func Multiply[T matmul.Float](name string, m, n, k, threads int, multiply matmul.Func[T], b *Ring[T]) Case {
	a, c := SmallInts(make([]T, m*k)), make([]T, m*n)
	return product(name, threads, float64(m)*float64(n)*float64(k), float64(m)*float64(k)+float64(k)*float64(n)+float64(m)*float64(n), b,
		func(b []T) error { return multiply(m, n, k, a, k, b, n, c, n) },
		func(b []T) error { return CheckProduct(m, n, k, a, b, c) })
}

// MultiplyVec returns a case for multiply: y = M·x with the next m×n matrix of a
// ring. Its bytes are those of the matrix alone.
func MultiplyVec[T matmul.Float](name string, m, n, threads int, multiply matmul.VecFunc[T], b *Ring[T]) Case {
	x, y := SmallInts(make([]T, n)), make([]T, m)
	return product(name, threads, float64(m)*float64(n), float64(m)*float64(n), b,
		func(a []T) error { return multiply(m, n, a, n, x, y) },
		func(a []T) error { return CheckProduct(m, 1, n, a, x, y) })
}

// product returns a case that multiplies with the next matrix of a ring: so many
// multiply-adds, and elements to move.
func product[T matmul.Float](name string, threads int, madds, elems float64, b *Ring[T], multiply, check func(used []T) error) Case {
	var used []T
	return Checked(name, threads, Work{FLOPs: 2 * madds, Bytes: elems * float64(unsafe.Sizeof(T(0)))},
		func() error {
			used = b.Next()
			return multiply(used)
		},
		func() error { return check(used) })
}

// Checked returns a case of run, whose error ends the timing before it begins, as one
// of check does.
func Checked(name string, threads int, w Work, run, check func() error) Case {
	var failed error
	return Case{
		Name: name, Threads: threads, Work: w,
		Run: func() {
			if err := run(); err != nil {
				failed = err
			}
		},
		Verify: func() error { return cmp.Or(failed, check()) },
	}
}
