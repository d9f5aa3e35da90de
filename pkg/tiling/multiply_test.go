package tiling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"memorywall/pkg/roofline"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// shapes are m, k, n and the tile: whole and ragged, thin, a tile of 1 and a
// tile larger than the matrices.
var shapes = []struct{ m, k, n, tile int }{
	{8, 8, 8, 2},
	{37, 23, 41, 8},
	{1, 33, 17, 8},
	{7, 5, 3, 1},
	{9, 11, 13, 64},
	{64, 64, 64, 8},
	{5, 3, 7, 1},
	{5, 3, 7, 2},
	{1, 1, 1, 1},
	{1, 1, 1, math.MaxInt},
	{16, 1, 16, 5},
}

func TestMultiply(t *testing.T) {
	t.Run("int", testMultiply[int])
	t.Run("int8", testMultiply[int8]) // wraps as Go's int8 does, in any order
	t.Run("uint64", testMultiply[uint64])
	t.Run("float32", testMultiply[float32])
	t.Run("float64", testMultiply[float64])
	type named float32
	t.Run("named", testMultiply[named])
}

func testMultiply[T Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, s := range shapes {
		a, b := small[T](t, rng, s.m, s.k), small[T](t, rng, s.k, s.n)
		keptA, keptB := slices.Clone(a.Data), slices.Clone(b.Data)
		c, traffic := Multiply(a, b, s.tile)
		if !c.Equal(plain(a, b)) {
			t.Errorf("%+v: the product is not that of the plain loops", s)
		}
		if want := Tiled(gemm(int64(s.m), int64(s.k), int64(s.n)), int64(s.tile)); traffic != want {
			t.Errorf("%+v: counted %+v, the closed form says %+v", s, traffic, want)
		}
		if !slices.Equal(a.Data, keptA) || !slices.Equal(b.Data, keptB) {
			t.Errorf("%+v: the operands are changed", s)
		}
	}
}

func TestMultiplyEqualsLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, s := range shapes {
		a, b := small[float64](t, rng, s.m, s.k), small[float64](t, rng, s.k, s.n)
		c, _ := Multiply(a, b, s.tile)
		want := make([]float64, s.m*s.n)
		gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, s.m, s.n, s.k, 1, a.Data, s.k, b.Data, s.n, 0, want, s.n)
		if !slices.Equal(c.Data, want) {
			t.Errorf("%+v: the product is not the library's", s)
		}
	}
}

// The sweep of the lesson: counted is 2n³/b, and the product is the library's.
func TestCountedSweep(t *testing.T) {
	const n = 128
	rng := rand.New(rand.NewPCG(9, 10))
	a, b := small[float32](t, rng, n, n), small[float32](t, rng, n, n)
	want := make([]float32, n*n)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a.Data, n, b.Data, n, 0, want, n)
	for tile := 4; tile <= n; tile *= 2 {
		c, traffic := Multiply(a, b, tile)
		if traffic.Loads != int64(2*n*n*n/tile) || traffic.Stores != n*n || traffic.FLOPs != 2*n*n*n {
			t.Errorf("tile %d: %+v", tile, traffic)
		}
		if !slices.Equal(c.Data, want) {
			t.Errorf("tile %d: the product is not the library's", tile)
		}
	}
}

// Floats that no order of summation leaves alone: every tile size gives the
// elements of the plain loops, for all sum along k.
func TestTilesDoNotChangeFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	a, b := small[float32](t, rng, 13, 29), small[float32](t, rng, 29, 11)
	for i := range a.Data {
		a.Data[i] = float32(rng.NormFloat64())
	}
	for i := range b.Data {
		b.Data[i] = float32(rng.NormFloat64())
	}
	want := plain(a, b)
	for tile := 1; tile < 32; tile++ {
		c, _ := Multiply(a, b, tile)
		if !c.Equal(want) {
			t.Errorf("tile %d: other elements", tile)
		}
	}
}

// The loops that run accept sizes of 0.
func TestMultiplyEmpty(t *testing.T) {
	for _, s := range []struct{ m, k, n int }{{0, 0, 0}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}} {
		a, b := New[int](s.m, s.k), New[int](s.k, s.n)
		c, traffic := Multiply(a, b, 2)
		if c.Rows != s.m || c.Cols != s.n || !c.Equal(plain(a, b)) {
			t.Errorf("%+v: %+v", s, c)
		}
		if want := (Traffic{Stores: int64(s.m * s.n)}); traffic != want {
			t.Errorf("%+v: counted %+v, want %+v", s, traffic, want)
		}
	}
}

func TestMultiplyErrors(t *testing.T) {
	a := New[int](2, 3)
	b := New[int](3, 4)
	short := Matrix[int]{Rows: 3, Cols: 4, Data: make([]int, 11)}
	tall := New[int](1<<14, 1)
	wide := New[int](1, 1<<14)
	for _, c := range []struct {
		a, b Matrix[int]
		tile int
		want []string
	}{
		{a, b, 0, []string{"tiling: tile is 0: it must be at least 1"}},
		{a, b, -4, []string{"tiling: tile is -4: it must be at least 1"}},
		{a, a, 2, []string{"tiling: A is 2×3 and B is 2×3", "columns of A", "rows of B"}},
		{a, short, 2, []string{"tiling: B is 3×4 and has 11 elements"}},
		{short, b, 2, []string{"tiling: A is 3×4 and has 11 elements"}},
		{tall, wide, 2, []string{"tiling: rows, cols is 16384×16384: a matrix must have at most 134217728 elements"}},
	} {
		err := roofline.Maybe(func() { Multiply(c.a, c.b, c.tile) })
		refused(t, err, c.want...)
		err = roofline.Maybe(func() { PartialProduct(c.a, c.b, c.tile, 0, 0, 0) })
		refused(t, err, c.want...)
	}
	for _, c := range []struct {
		i, j, p int
		want    []string
	}{
		{1, 0, 0, []string{"tile row is 1"}},
		{0, 2, 0, []string{"tile column is 2"}},
		{0, 0, 2, []string{"tile column is 2"}},
		{0, 0, -1, []string{"tile column is -1"}},
	} {
		err := roofline.Maybe(func() { PartialProduct(a, b, 2, c.i, c.j, c.p) })
		refused(t, err, c.want...)
	}
}

// The partial products along k add up to the tile of C.
func TestPartialProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, s := range shapes {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			a, b := small[int](t, rng, s.m, s.k), small[int](t, rng, s.k, s.n)
			c := plain(a, b)
			sums := map[[2]int]Matrix[int]{}
			steps := 0
			for step := range mustSteps(t, s.m, s.k, s.n, s.tile) {
				part := PartialProduct(a, b, s.tile, int(step.I), int(step.J), int(step.P))
				at := [2]int{int(step.I), int(step.J)}
				if step.P == 0 {
					sums[at] = part
				} else {
					sums[at] = sums[at].Add(part)
				}
				steps++
			}
			for at, sum := range sums {
				if want := c.Tile(at[0], at[1], s.tile); !sum.Equal(want) {
					t.Errorf("tile %v: the parts add up to %v, C has %v", at, sum, want)
				}
			}
			if steps == 0 {
				t.Error("no steps")
			}
		})
	}
}

// Counting by running, the closed form and the steps agree for any shape and
// tile; a tile of 1 is the traffic without reuse, and one that covers C is
// compulsory.
func FuzzMultiply(f *testing.F) {
	for _, s := range shapes {
		f.Add(uint8(s.m), uint8(s.k), uint8(s.n), uint16(min(s.tile, 1000)), uint64(1))
	}
	f.Fuzz(func(t *testing.T, m8, k8, n8 uint8, tile16 uint16, seed uint64) {
		const most = 40
		m, k, n := int(m8)%most+1, int(k8)%most+1, int(n8)%most+1
		tile := int(tile16)%(2*most) + 1
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := small[int16](t, rng, m, k), small[int16](t, rng, k, n)
		c, counted := Multiply(a, b, tile)
		if !c.Equal(plain(a, b)) {
			t.Error("the product is not that of the plain loops")
		}
		g := gemm(int64(m), int64(k), int64(n))
		if want := Tiled(g, int64(tile)); counted != want {
			t.Errorf("counted %+v, the closed form says %+v", counted, want)
		}
		walked := Traffic{}
		for s := range mustSteps(t, m, k, n, tile) {
			walked.Loads += s.Loads
			walked.FLOPs += 2 * s.Rows * s.Cols * s.Depth
			if s.P == 0 {
				walked.Stores += s.Rows * s.Cols
			}
		}
		if walked != counted {
			t.Errorf("counted %+v, the steps say %+v", counted, walked)
		}
		if naive := Naive(g); tile == 1 && counted != naive {
			t.Errorf("tile 1: counted %+v, without reuse it is %+v", counted, naive)
		}
		if least := Compulsory(g); tile >= max(m, n) && counted != least {
			t.Errorf("one tile of C: counted %+v, compulsory is %+v", counted, least)
		}
	})
}

func BenchmarkMultiply(b *testing.B) {
	const n = 128
	x := New[float32](n, n)
	for _, tile := range []int{4, 32, 128} {
		b.Run(fmt.Sprintf("n=%d/tile=%d", n, tile), func(b *testing.B) {
			for b.Loop() {
				if err := roofline.Maybe(func() { Multiply(x, x, tile) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
