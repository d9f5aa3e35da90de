package matmul

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// A subject is one implementation under test in one element type.
type subject[T Float] struct {
	name     string
	mul, add Func[T] // C = A·B and, where there is one, C += A·B

	// skipsZeros marks a library that skips zeros in A, so that 0·Inf and
	// 0·NaN add nothing there. It is exempt from the NaN and Inf tests.
	skipsZeros bool

	// edges are the sizes at which this implementation changes course: the
	// tests take each −1, +0 and +1.
	edgesM, edgesN, edgesK []int
	threads                int // where it is known
}

func subjects[T Float]() []subject[T] {
	var all []subject[T]
	for _, s := range []subject[T]{
		{name: "loops", mul: Naive[T]},
		{name: "reordered", mul: Reordered[T]},
		{name: "tiled", mul: Tiled[T]},
		{name: "packed", mul: Packed[T]},
		{name: "simd", mul: SIMD[T]},
		{name: "parallel", mul: Multiply[T]},
		{name: "gonum", mul: Gonum[T], skipsZeros: true},
	} {
		s.edgesM, s.edgesN, s.edgesK = []int{DefaultTile}, []int{DefaultTile}, []int{DefaultTile}
		all = append(all, s)
	}
	// Every instruction set, by itself: with the host's blocking, and with
	// blocks so small that every loop goes round several times, on each way
	// through the engine.
	for _, p := range pools[T]() {
		k := p.engine.kern
		host := subject[T]{
			name: k.isa, mul: p.fn(Threads(1)), add: p.fn(Option{threads: 1, beta: 1}),
			edgesM: []int{k.mr, 2 * k.mr}, edgesN: []int{k.nr, 2 * k.nr}, edgesK: []int{p.engine.blk.KC, maxKC},
		}
		all = append(all, host)
		small := Blocking{MR: k.mr, NR: k.nr, KC: 12, NC: 2 * k.nr, MC: 3 * k.mr}
		for _, way := range []struct {
			name                   string
			fewRows, rows, threads int
		}{{"packed", 0, 0, 1}, {"packed", 0, 0, 3}, {"few", math.MaxInt, 0, 1}, {"few", math.MaxInt, 4, 3}, {"rows", 0, math.MaxInt, 1}} {
			if way.rows == math.MaxInt && k.rows == nil {
				continue // it would be "packed" again
			}
			s := subject[T]{
				name:   fmt.Sprintf("%s/%s/threads=%d", k.isa, way.name, way.threads),
				edgesM: []int{k.mr, 2 * k.mr, 3 * k.mr, 6 * k.mr},
				edgesN: []int{k.nr, 2 * k.nr, 4 * k.nr},
				edgesK: []int{12, 24, 36, p.engine.tuning.Streams, p.engine.tuning.Reuse},

				threads: way.threads,
			}
			e := *p.engine
			e.blk, e.thin, e.directElems, e.tuning.Serial = small, small, 0, 0
			e.fewRows, e.fewElems, e.tuning.Rows = way.fewRows, 256, way.rows
			q := &pool[T]{engine: &e}
			s.mul, s.add = q.fn(Threads(way.threads)), q.fn(Option{threads: way.threads, beta: 1})
			all = append(all, s)
		}
	}
	return all
}

// way is one of the two products of a subject.
type way[T Float] struct {
	add bool
	f   Func[T]
}

func (s subject[T]) ways() []way[T] {
	if s.add == nil {
		return []way[T]{{false, s.mul}}
	}
	return []way[T]{{false, s.mul}, {true, s.add}}
}

// TestConformance runs every implementation through the same tests.
func TestConformance(t *testing.T) {
	t.Run("float32", conformance[float32])
	t.Run("float64", conformance[float64])
}

func conformance[T Float](t *testing.T) {
	for _, s := range subjects[T]() {
		if raceEnabled && s.threads == 1 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Run("AllSmallSizes", func(t *testing.T) { testAllSmall(t, s) })
			t.Run("Edges", func(t *testing.T) { testEdges(t, s) })
			t.Run("Random", func(t *testing.T) { testRandom(t, s) })
			t.Run("NotFinite", func(t *testing.T) { testNotFinite(t, s) })
			t.Run("ZeroSizes", func(t *testing.T) { testZeroSizes(t, s) })
			t.Run("EndlessRows", func(t *testing.T) { testEndlessRows(t, s) })
			t.Run("Errors", func(t *testing.T) { testErrors(t, s) })
			t.Run("Aliasing", func(t *testing.T) { testAliasing(t, s) })
		})
	}
}

// A frame is a matrix inside a larger slice: guard elements before and after
// it, and between its rows where ld > cols. The guards are NaN, so that a
// kernel that reads one carries it into the result, and one that writes one is
// found by its bits.
type frame[T Float] struct {
	all            []T
	x              []T // what a multiply gets
	rows, cols, ld int
	before         []T // a copy of all
}

const guard = 37 // elements before and after; odd, so that nothing is aligned

func newFrame[T Float](rows, cols, ld int, fill func() T) *frame[T] {
	need, ok := span(rows, cols, ld)
	if !ok {
		panic("size")
	}
	f := &frame[T]{all: make([]T, guard+need+guard), rows: rows, cols: cols, ld: ld}
	nan := T(math.NaN())
	for i := range f.all {
		f.all[i] = nan
	}
	f.x = f.all[guard : guard+need : guard+need]
	for i := range rows {
		for j := range cols {
			f.x[i*ld+j] = fill()
		}
	}
	f.keep()
	return f
}

func (f *frame[T]) keep()          { f.before = slices.Clone(f.all) }
func (f *frame[T]) at(i, j int) T  { return f.x[i*f.ld+j] }
func (f *frame[T]) was(i, j int) T { return f.before[guard+i*f.ld+j] }
func (f *frame[T]) isGuard(i int) bool {
	i -= guard
	return i < 0 || i >= len(f.x) || i%f.ld >= f.cols
}

// unchanged fails if any element has changed.
func (f *frame[T]) unchanged(t *testing.T, what string) {
	t.Helper()
	for i := range f.all {
		if !sameBits(f.all[i], f.before[i]) {
			t.Fatalf("%s changed at %d: %v, was %v", what, i-guard, f.all[i], f.before[i])
		}
	}
}

// guardsHold fails if an element outside the matrix has changed.
func (f *frame[T]) guardsHold(t *testing.T, what string) {
	t.Helper()
	for i := range f.all {
		if f.isGuard(i) && !sameBits(f.all[i], f.before[i]) {
			t.Fatalf("%s written outside its %d×%d, ld %d, at %d: %v", what, f.rows, f.cols, f.ld, i-guard, f.all[i])
		}
	}
}

func sameBits[T Float](x, y T) bool {
	return x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
}

func rawBytes[T Float](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
}

func smallInts[T Float](rng *rand.Rand) func() T {
	return func() T { return T(rng.IntN(7) - 3) }
}

func anything[T Float](rng *rand.Rand) func() T {
	return func() T { return T(rng.NormFloat64()) }
}

// testAllSmall: every m, n, k up to 40, the product and the sum, with ==.
// The operands are corners of fixed matrices, so the expected product is a
// table of partial sums over k.
func testAllSmall[T Float](t *testing.T, s subject[T]) {
	const top = 40
	sizes := make([]int, top+1)
	for i := range sizes {
		sizes[i] = i
	}
	// Which thread computes a block changes nothing in it, and a loop in Go has no
	// code of its own for a size, as assembly has: some sizes are enough.
	if inGo := !strings.HasPrefix(s.name, "avx") && !strings.HasPrefix(s.name, "neon"); testing.Short() || s.threads > 1 || inGo {
		sizes = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 16, 17, 28, 29, 31, 32, 33, 40}
	}
	if raceEnabled {
		sizes = []int{0, 1, 3, 7, 16, 33}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	a := newFrame(top, top, top+3, smallInts[T](rng))
	b := newFrame(top, top, top+5, smallInts[T](rng))
	var sum [top + 1][top][top]T
	for p := range top {
		for i := range top {
			for j := range top {
				sum[p+1][i][j] = sum[p][i][j] + a.at(i, p)*b.at(p, j)
			}
		}
	}
	c := newFrame(top, top, top+7, smallInts[T](rng))
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range sizes {
				for _, w := range s.ways() {
					add := w.add
					if err := w.f(m, n, k, a.x, a.ld, b.x, b.ld, c.x, c.ld); err != nil {
						t.Fatalf("m=%d n=%d k=%d add=%t: %v", m, n, k, add, err)
					}
					for i := range m {
						got, was, want := c.x[i*c.ld:][:n], c.before[guard+i*c.ld:][:n], sum[k][i][:n]
						for j := range n {
							w := want[j]
							if add {
								w += was[j]
							}
							if !(got[j] == w) {
								t.Fatalf("m=%d n=%d k=%d add=%t: C[%d,%d] = %v, want %v", m, n, k, add, i, j, got[j], w)
							}
						}
						copy(got, was)
					}
					if !bytes.Equal(rawBytes(c.all), rawBytes(c.before)) {
						c.unchanged(t, fmt.Sprintf("m=%d n=%d k=%d add=%t: c outside the result", m, n, k, add))
					}
				}
			}
		}
	}
	a.unchanged(t, "a")
	b.unchanged(t, "b")
}

// around returns each edge −1, +0, +1, without what is below 1.
func around(edges []int) []int {
	var all []int
	for _, e := range edges {
		for d := -1; d <= 1; d++ {
			if e+d >= 1 {
				all = append(all, e+d)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// testEdges: small integers with == at the sizes where the implementation
// changes course, tight and with wide strides.
func testEdges[T Float](t *testing.T, s subject[T]) {
	rng := rand.New(rand.NewPCG(3, 4))
	const m0, n0, k0 = 5, 7, 9
	ms, ns, ks := around(s.edgesM), around(s.edgesN), around(s.edgesK)
	type size struct{ m, n, k int }
	var sizes []size
	for _, m := range ms {
		sizes = append(sizes, size{m, n0, k0}, size{m, ns[len(ns)/2], k0})
	}
	for _, n := range ns {
		sizes = append(sizes, size{m0, n, k0}, size{1, n, k0}, size{m0, n, ks[len(ks)/2]})
	}
	for _, k := range ks {
		sizes = append(sizes, size{m0, n0, k}, size{ms[len(ms)-1], n0, k}, size{1, 1, k}, size{m0, 1, k})
	}
	sizes = append(sizes, size{ms[len(ms)-1], ns[len(ns)-1], ks[len(ks)-1]}, size{ms[0], ns[0], ks[0]})
	for _, z := range sizes {
		for _, wide := range []int{0, 11} {
			a := newFrame(z.m, z.k, z.k+wide, smallInts[T](rng))
			b := newFrame(z.k, z.n, z.n+wide, smallInts[T](rng))
			c := newFrame(z.m, z.n, z.n+wide, smallInts[T](rng))
			want := make([]T, z.m*z.n)
			if err := Reordered(z.m, z.n, z.k, a.x, a.ld, b.x, b.ld, want, z.n); err != nil {
				t.Fatal(err)
			}
			for _, w := range s.ways() {
				add := w.add
				copy(c.all, c.before)
				if err := w.f(z.m, z.n, z.k, a.x, a.ld, b.x, b.ld, c.x, c.ld); err != nil {
					t.Fatalf("%+v: %v", z, err)
				}
				for i := range z.m {
					for j := range z.n {
						w := want[i*z.n+j]
						if add {
							w += c.was(i, j)
						}
						if got := c.at(i, j); !(got == w) {
							t.Fatalf("%+v wide=%d add=%t: C[%d,%d] = %v, want %v", z, wide, add, i, j, got, w)
						}
					}
				}
				a.unchanged(t, "a")
				b.unchanged(t, "b")
				c.guardsHold(t, "c")
			}
		}
	}
}

// dot2 returns x·y and |x|·|y| for a row of a and a column of b, the first as
// if computed in twice the precision of float64 (Ogita, Rump, Oishi 2005,
// algorithm Dot2).
func dot2[T Float](a, b *frame[T], i, j, k int) (sum, abs float64) {
	var low float64
	for p := range k {
		x, y := float64(a.at(i, p)), float64(b.at(p, j))
		h := x * y
		r := math.FMA(x, y, -h)
		s := float64(sum + h)
		z := float64(s - sum)
		low += float64(float64(sum-float64(s-z))+float64(h-z)) + r
		sum = s
		abs += math.Abs(h)
	}
	return sum + low, abs
}

// gamma is γ_k = ku/(1−ku) with u the unit roundoff of T.
func gamma[T Float](k int) float64 {
	u := 0x1p-53
	if unsafe.Sizeof(T(0)) == 4 {
		u = 0x1p-24
	}
	return float64(k) * u / (1 - float64(k)*u)
}

// testRandom: normal data within γ·(|A|·|B|) of the exact product.
func testRandom[T Float](t *testing.T, s subject[T]) {
	rng := rand.New(rand.NewPCG(5, 6))
	k := s.edgesK[len(s.edgesK)-1] + 3
	m := min(s.edgesM[len(s.edgesM)-1]+3, 131)
	n := min(s.edgesN[len(s.edgesN)-1]+3, 131)
	for _, z := range [][3]int{{m, n, k}, {1, n, k}, {m, 1, k}, {2, 3, 1}, {33, 35, 37}} {
		m, n, k := z[0], z[1], z[2]
		a := newFrame(m, k, k+1, anything[T](rng))
		b := newFrame(k, n, n+2, anything[T](rng))
		c := newFrame(m, n, n+3, anything[T](rng))
		for _, w := range s.ways() {
			add, terms := w.add, k
			copy(c.all, c.before)
			if add {
				terms++
			}
			if err := w.f(m, n, k, a.x, a.ld, b.x, b.ld, c.x, c.ld); err != nil {
				t.Fatal(err)
			}
			bound := gamma[T](terms)
			for i := range m {
				for j := range n {
					want, abs := dot2(a, b, i, j, k)
					if add {
						want += float64(c.was(i, j))
						abs += math.Abs(float64(c.was(i, j)))
					}
					got := float64(c.at(i, j))
					// The reference rounds once, to float64.
					tol := bound*abs + math.Abs(want)*0x1p-53
					if err := math.Abs(got - want); !(err <= tol) {
						t.Fatalf("%v add=%t: C[%d,%d] = %v, want %v: off by %g, bound %g", z, add, i, j, got, want, err, tol)
					}
				}
			}
			c.guardsHold(t, "c")
		}
	}
}

// testNotFinite: NaN and Inf go where the plain loops take them, and nowhere
// else; 0·Inf is NaN; what C held before does not matter to C = A·B.
func testNotFinite[T Float](t *testing.T, s subject[T]) {
	if s.skipsZeros {
		if got := zeroTimesInf(t, s); got != 0 {
			t.Fatalf("0·Inf = %v: the library no longer skips zeros, so test it as the others", got)
		}
		t.Skipf("%s skips zeros in A: 0·Inf adds nothing there", s.name)
	}
	if got := zeroTimesInf(t, s); got == got {
		t.Fatalf("0·Inf = %v, want NaN", got)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	special := []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 0}
	mk := s.edgesK[len(s.edgesK)-1]
	for _, z := range [][3]int{{1, 1, 1}, {3, 5, 7}, {17, 33, 9}, {8, 40, mk + 1}, {1, 67, mk + 1}, {29, 1, 31}, {41, 43, 45}} {
		m, n, k := z[0], z[1], z[2]
		for range 4 {
			a := newFrame(m, k, k+1, smallInts[T](rng))
			b := newFrame(k, n, n+1, smallInts[T](rng))
			for range 1 + rng.IntN(3) {
				a.x[rng.IntN(m)*a.ld+rng.IntN(k)] = special[rng.IntN(len(special))]
				b.x[rng.IntN(k)*b.ld+rng.IntN(n)] = special[rng.IntN(len(special))]
			}
			for _, w := range s.ways() {
				add := w.add
				fill := func() T { return T(math.NaN()) }
				ref := Func[T](Naive[T])
				if add {
					fill = smallInts[T](rng)
					ref = addNaive[T]
				}
				c := newFrame(m, n, n+1, fill)
				want := slices.Clone(c.x)
				if err := ref(m, n, k, a.x, a.ld, b.x, b.ld, want, c.ld); err != nil {
					t.Fatal(err)
				}
				if err := w.f(m, n, k, a.x, a.ld, b.x, b.ld, c.x, c.ld); err != nil {
					t.Fatal(err)
				}
				for i := range m {
					for j := range n {
						got, want := c.at(i, j), want[i*c.ld+j]
						if !(got == want || got != got && want != want) {
							t.Fatalf("%v add=%t: C[%d,%d] = %v, want %v", z, add, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// addNaive is C += A·B in three plain loops.
func addNaive[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	product := make([]T, m*n)
	if err := Naive(m, n, k, a, lda, b, ldb, product, n); err != nil {
		return err
	}
	for i := range m {
		for j := range n {
			c[i*ldc+j] += product[i*n+j]
		}
	}
	return nil
}

func zeroTimesInf[T Float](t *testing.T, s subject[T]) T {
	c := []T{7}
	if err := s.mul(1, 1, 1, []T{0}, 1, []T{T(math.Inf(1))}, 1, c, 1); err != nil {
		t.Fatal(err)
	}
	return c[0]
}

// testZeroSizes: any size may be 0, with leading dimensions down to the width
// and slices that may be nil; k = 0 clears C, or leaves it alone in the sum.
func testZeroSizes[T Float](t *testing.T, s subject[T]) {
	for _, z := range [][3]int{{0, 0, 0}, {0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {0, 0, 4}, {0, 4, 0}, {4, 0, 0}} {
		m, n, k := z[0], z[1], z[2]
		for _, wide := range []int{0, 2} {
			rng := rand.New(rand.NewPCG(9, 10))
			c := newFrame(m, n, n+wide, smallInts[T](rng))
			a := newFrame(m, k, k+wide, smallInts[T](rng))
			b := newFrame(k, n, n+wide, smallInts[T](rng))
			for _, empty := range []bool{false, true} {
				ax, bx := a.x, b.x
				if empty && m*k == 0 {
					ax = nil
				}
				if empty && k*n == 0 {
					bx = nil
				}
				copy(c.all, c.before)
				if s.add != nil {
					if err := s.add(m, n, k, ax, a.ld, bx, b.ld, c.x, c.ld); err != nil {
						t.Fatalf("%v wide=%d C += A·B: %v", z, wide, err)
					}
					c.unchanged(t, "c")
				}
				if err := s.mul(m, n, k, ax, a.ld, bx, b.ld, c.x, c.ld); err != nil {
					t.Fatalf("%v wide=%d: %v", z, wide, err)
				}
				c.guardsHold(t, "c")
				for i := range m {
					for j := range n {
						if c.at(i, j) != 0 {
							t.Fatalf("%v: C[%d,%d] = %v, want 0", z, i, j, c.at(i, j))
						}
					}
				}
			}
		}
	}
}

// testEndlessRows: rows without elements take no memory, and no time either.
func testEndlessRows[T Float](t *testing.T, s subject[T]) {
	for _, w := range s.ways() {
		for _, z := range [][3]int{{math.MaxInt, 0, 0}, {0, math.MaxInt, 0}, {0, 0, math.MaxInt}} {
			m, n, k := z[0], z[1], z[2]
			if err := w.f(m, n, k, nil, k, nil, n, nil, n); err != nil {
				t.Errorf("%v: %v", z, err)
			}
		}
	}
}

// testErrors: each bad argument is named with its value, and C stays as it was.
func testErrors[T Float](t *testing.T, s subject[T]) {
	const big = int(^uint(0)>>1) / 2
	for _, tc := range []struct {
		m, n, k, lda, ldb, ldc int
		la, lb, lc             int // lengths
		want                   []string
	}{
		{-1, 3, 4, 4, 3, 3, 9, 9, 9, []string{"m is -1"}},
		{2, -3, 4, 4, 3, 3, 9, 9, 9, []string{"n is -3"}},
		{2, 3, -4, 4, 3, 3, 9, 9, 9, []string{"k is -4"}},
		{2, 3, 4, 3, 3, 3, 8, 12, 6, []string{"lda is 3", "k = 4"}},
		{2, 3, 4, 4, 2, 3, 8, 12, 6, []string{"ldb is 2", "n = 3"}},
		{2, 3, 4, 4, 3, 2, 8, 12, 6, []string{"ldc is 2", "n = 3"}},
		{2, 3, 4, -4, 3, 3, 8, 12, 6, []string{"lda is -4"}},
		{0, 3, 4, 3, 3, 3, 8, 12, 6, []string{"lda is 3", "k = 4"}},
		{2, 3, 4, 4, 3, 3, 7, 12, 6, []string{"a has 7 elements", "at least 8"}},
		{2, 3, 4, 4, 3, 3, 8, 11, 6, []string{"b has 11 elements", "at least 12"}},
		{2, 3, 4, 4, 3, 3, 8, 12, 5, []string{"c has 5 elements", "at least 6"}},
		{2, 3, 4, 9, 3, 3, 12, 12, 6, []string{"a has 12 elements", "at least 13"}},
		{2, 3, 0, 0, 3, 3, 0, 0, 5, []string{"c has 5 elements", "at least 6"}},
		{5, 3, 4, big, 3, 3, 12, 12, 15, []string{fmt.Sprintf("lda = %d", big), "int"}},
	} {
		for _, w := range s.ways() {
			a, b, c := make([]T, tc.la), make([]T, tc.lb), make([]T, tc.lc)
			for i := range c {
				c[i] = 5
			}
			err := w.f(tc.m, tc.n, tc.k, a, tc.lda, b, tc.ldb, c, tc.ldc)
			if err == nil {
				t.Errorf("%+v: no error", tc)
				continue
			}
			for _, say := range append(tc.want, "matmul: ") {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("%+v: error %q does not say %q", tc, err, say)
				}
			}
			for _, v := range c {
				if v != 5 {
					t.Errorf("%+v: C changed on error", tc)
				}
			}
		}
	}
}

// testAliasing: C may not share an element with A or B; blocks side by side in
// one matrix do not.
func testAliasing[T Float](t *testing.T, s subject[T]) {
	x := make([]T, 400)
	const ld = 20
	other := make([]T, 400)
	for _, tc := range []struct {
		name    string
		c, a, b []T
		ldc     int
		want    string
	}{
		{"c is a", x, x, other, ld, "c shares memory with a"},
		{"c is b", x, other, x, ld, "c shares memory with b"},
		{"last element of a", x[3*ld+3:], x, other, ld, "c shares memory with a"},
		{"first element of a", x, x[3*ld+3:], other, ld, "c shares memory with a"},
		{"rows of b from below", x, other, x[3*ld:], ld, "c shares memory with b"},
		{"wraps into a", x[18:], x, other, ld, "c shares memory with a"},
		{"wraps into c", x, x[18:], other, ld, "c shares memory with a"},
		{"strides differ", x[4:], x, other, ld + 1, "c shares memory with a"},
		{"right of a", x[4:], x, other, ld, ""},
		{"left of a", x, x[4:], other, ld, ""},
		{"between a and b", x[4:], x, x[8:], ld, ""},
		{"below a", x[4*ld:], x, other, ld, ""},
		{"past the end of a", x[3*ld+4:], x, other, ld + 1, ""},
		{"a and b the same", x, other, other, ld, ""},
	} {
		for _, w := range s.ways() {
			err := w.f(4, 4, 4, tc.a, ld, tc.b, ld, tc.c, tc.ldc)
			if tc.want == "" {
				if err != nil {
					t.Errorf("%s: %v", tc.name, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
			}
		}
	}
	// An operand of no elements shares nothing.
	if err := s.mul(4, 4, 0, x[:0], 0, x[:0], 4, x, ld); err != nil {
		t.Errorf("k = 0: %v", err)
	}
}

func FuzzConformance(f *testing.F) {
	f.Add(uint8(3), uint8(5), uint8(7), uint8(0), uint64(1), false)
	f.Add(uint8(64), uint8(65), uint8(63), uint8(3), uint64(2), true)
	f.Add(uint8(1), uint8(130), uint8(200), uint8(1), uint64(3), false)
	f.Fuzz(func(t *testing.T, m, n, k, wide uint8, seed uint64, add bool) {
		fuzzOne[float32](t, int(m), int(n), int(k), int(wide), seed, add)
		fuzzOne[float64](t, int(m), int(n), int(k), int(wide), seed, add)
	})
}

func fuzzOne[T Float](t *testing.T, m, n, k, wide int, seed uint64, add bool) {
	rng := rand.New(rand.NewPCG(seed, 0))
	a := newFrame(m, k, k+wide, smallInts[T](rng))
	b := newFrame(k, n, n+wide, smallInts[T](rng))
	c := newFrame(m, n, n+wide, smallInts[T](rng))
	want := slices.Clone(c.x)
	ref := Func[T](Naive[T])
	if add {
		ref = addNaive[T]
	}
	if err := ref(m, n, k, a.x, a.ld, b.x, b.ld, want, c.ld); err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects[T]() {
		copy(c.all, c.before)
		f := s.mul
		if add {
			f = s.add
		}
		if f == nil {
			continue
		}
		if err := f(m, n, k, a.x, a.ld, b.x, b.ld, c.x, c.ld); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for i := range m {
			for j := range n {
				if got := c.at(i, j); !(got == want[i*c.ld+j]) {
					t.Fatalf("%s m=%d n=%d k=%d wide=%d add=%t: C[%d,%d] = %v, want %v", s.name, m, n, k, wide, add, i, j, got, want[i*c.ld+j])
				}
			}
		}
		a.unchanged(t, "a")
		b.unchanged(t, "b")
		c.guardsHold(t, "c")
	}
}
