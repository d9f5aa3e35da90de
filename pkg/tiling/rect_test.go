package tiling

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

func TestTiledRectIsTiledForSquares(t *testing.T) {
	for _, s := range shapes {
		g := gemm(int64(s.m), int64(s.k), int64(s.n))
		want := Tiled(g, int64(s.tile))
		if got := TiledRect(g, SquareTile(int64(s.tile))); got != want {
			t.Errorf("%+v: %+v, with square tiles %+v", s, got, want)
		}
	}
}

func TestRectErrors(t *testing.T) {
	a := New[int](2, 3)
	for _, c := range []struct {
		r    Rect
		want string
	}{
		{Rect{0, 1, 1}, "tiling: bm is 0: it must be at least 1"},
		{Rect{1, -1, 1}, "tiling: bn is -1: it must be at least 1"},
		{Rect{1, 1, 0}, "tiling: bk is 0: it must be at least 1"},
	} {
		err := roofline.Maybe(func() { TiledRect(gemm(2, 2, 2), c.r) })
		refused(t, err, c.want)
		err = roofline.Maybe(func() { c.r.FastElems() })
		refused(t, err, c.want)
		err = roofline.Maybe(func() { multiplyRect(a, a, c.r) })
		refused(t, err, c.want)
	}
	err := roofline.Maybe(func() { TiledRect(gemm(0, 2, 2), Rect{1, 1, 1}) })
	refused(t, err, "m is 0: it must be at least 1")
	err = roofline.Maybe(func() { TiledRect(gemm(1<<32, 1, 1<<32), Rect{1, 1, 1}) })
	if !errors.Is(err, roofline.ErrOverflow) {
		t.Errorf("%v is not an overflow", err)
	}
	err = roofline.Maybe(func() { Rect{1 << 40, 1 << 40, 1}.FastElems() })
	refused(t, err, "tiling: fast elements, bm·bk + bk·bn + bm·bn,", "bm = 1099511627776", "1.20893e+24")
	if !errors.Is(err, roofline.ErrOverflow) {
		t.Errorf("%v is not an overflow", err)
	}
	err = roofline.Maybe(func() { Multiply(a, a, 1) })
	refused(t, err, "tiling: A is 2×3 and B is 2×3")

	for _, capacity := range []int64{2, 0, -5, math.MinInt64} {
		err = roofline.Maybe(func() { BestRect(gemm(2, 2, 2), capacity) })
		refused(t, err, "tiling: capacity is", ": it must be at least 3")
	}
	err = roofline.Maybe(func() { BestRect(gemm(2, 0, 2), 3) })
	refused(t, err, "k is 0: it must be at least 1")
	err = roofline.Maybe(func() { BestRect(gemm(1<<32, 1, 1<<32), 3) })
	if !errors.Is(err, roofline.ErrOverflow) {
		t.Errorf("%v is not an overflow", err)
	}
}

func TestFastElems(t *testing.T) {
	for _, c := range []struct {
		r    Rect
		want int64
	}{
		{Rect{1, 1, 1}, 3},
		{Rect{2, 3, 5}, 10 + 15 + 6},
		{Rect{180, 180, 1}, 180 + 180 + 180*180},
		{SquareTile(104), 3 * 104 * 104},
	} {
		if got, err := arg.Try(c.r.FastElems); err != nil || got != c.want {
			t.Errorf("%+v: %d, %v; want %d", c.r, got, err, c.want)
		}
	}
}

// multiplyRect is Multiply with rectangular tiles.
func multiplyRect[T Number](a, b Matrix[T], r Rect) (Matrix[T], Traffic) {
	arg.Check(r.Validate())
	c := product(a, b, 1)
	side := func(b int64, size int) int { return int(min(b, int64(max(size, 1)))) }
	return c, multiply(a, b, c, side(r.BM, a.Rows), side(r.BN, b.Cols), side(r.BK, a.Cols))
}

// Counting by running and the closed form agree for any shape of tile, and the
// elements are those of the plain loops.
func FuzzMultiplyRect(f *testing.F) {
	f.Add(uint8(8), uint8(8), uint8(8), int64(2), int64(4), int64(1), uint64(1))
	f.Add(uint8(37), uint8(23), uint8(41), int64(8), int64(3), int64(5), uint64(2))
	f.Add(uint8(0), uint8(3), uint8(2), int64(1), int64(1), int64(1), uint64(3))
	f.Add(uint8(3), uint8(0), uint8(2), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), uint64(4))
	f.Fuzz(func(t *testing.T, m8, k8, n8 uint8, bm, bn, bk int64, seed uint64) {
		const most = 40
		m, k, n := int(m8)%most, int(k8)%most, int(n8)%most
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := small[float32](t, rng, m, k), small[float32](t, rng, k, n)
		keptA, keptB := slices.Clone(a.Data), slices.Clone(b.Data)
		r := Rect{bm, bn, bk}
		var c Matrix[float32]
		var counted Traffic
		err := roofline.Maybe(func() { c, counted = multiplyRect(a, b, r) })
		if bm < 1 || bn < 1 || bk < 1 {
			if err == nil {
				t.Errorf("%+v is taken", r)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !c.Equal(plain(a, b)) {
			t.Error("the product is not that of the plain loops")
		}
		if !slices.Equal(a.Data, keptA) || !slices.Equal(b.Data, keptB) {
			t.Error("the operands are changed")
		}
		want := Traffic{Stores: int64(m * n)}
		if m > 0 && k > 0 && n > 0 {
			want = TiledRect(gemm(int64(m), int64(k), int64(n)), r)
		}
		if counted != want {
			t.Errorf("counted %+v, the closed form says %+v", counted, want)
		}
	})
}

// exhaustive tries every shape. The first of equals in the documented order is
// the answer.
func exhaustive(t *testing.T, g roofline.GEMM, capacity, mostBK int64) (best Rect, loads int64) {
	t.Helper()
	var room int64
	for bm := int64(1); bm <= min(g.M, capacity); bm++ {
		for bn := int64(1); bn <= min(g.N, capacity/bm); bn++ {
			for bk := int64(1); bk <= mostBK; bk++ {
				r := Rect{bm, bn, bk}
				need := r.FastElems()
				if need > capacity {
					break
				}
				l := TiledRect(g, r).Loads
				if best.BM == 0 || l < loads || l == loads && need < room {
					best, loads, room = r, l, need // bm grows: the smaller one is there first
				}
			}
		}
	}
	return best, loads
}

func TestBestRectIsTheBest(t *testing.T) {
	for m := int64(1); m <= 12; m++ {
		for n := int64(1); n <= 12; n++ {
			for capacity := int64(3); capacity <= 200; capacity += 1 + capacity/20 {
				checkBest(t, gemm(m, 3, n), capacity, 3)
			}
		}
	}
}

func checkBest(t *testing.T, g roofline.GEMM, capacity, mostBK int64) {
	t.Helper()
	got, traffic := BestRect(g, capacity)
	want, loads := exhaustive(t, g, capacity, mostBK)
	if got != want || traffic.Loads != loads {
		t.Errorf("m = %d, n = %d, capacity %d: %+v with %d loads; the best is %+v with %d", g.M, g.N, capacity, got, traffic.Loads, want, loads)
	}
	if again := TiledRect(g, got); traffic != again {
		t.Errorf("%+v: %+v, TiledRect says %+v", got, traffic, again)
	}
}

func FuzzBestRect(f *testing.F) {
	f.Add(uint16(100), uint16(100), uint16(1000))
	f.Add(uint16(300), uint16(7), uint16(50))
	f.Add(uint16(1), uint16(500), uint16(3))
	f.Add(uint16(97), uint16(101), uint16(65535))
	f.Fuzz(func(t *testing.T, m, n, capacity uint16) {
		checkBest(t, gemm(int64(m)%300+1, 2, int64(n)%300+1), int64(capacity)%5000+3, 1)
	})
}

// The extremes: the least room, room for everything, and sides of 2^31, at
// which the search still takes no time.
func TestBestRectExtremes(t *testing.T) {
	for _, c := range []struct {
		g        roofline.GEMM
		capacity int64
		want     Rect
	}{
		{gemm(100, 50, 70), 3, Rect{1, 1, 1}},
		{gemm(100, 50, 70), math.MaxInt64, Rect{100, 70, 1}},
		{gemm(1, 50, 70), 141, Rect{1, 70, 1}},
		{gemm(1, 50, 70), 140, Rect{1, 35, 1}}, // two tiles are enough, and 35 are the fewest
		{gemm(70, 50, 1), 140, Rect{35, 1, 1}},
		{gemm(1<<31-1, 1, 1<<31-1), 3, Rect{1, 1, 1}},
		{gemm(1<<31-1, 1, 1<<31-1), math.MaxInt64, Rect{1<<31 - 1, 1<<31 - 1, 1}},
		{gemm(math.MaxInt64/2, 1, 1), 5, Rect{2, 1, 1}},
		{gemm(4096, 4096, 4096), 32768, Rect{171, 187, 1}}, // 24 × 22 tiles; 178×179 would make 24 × 23
	} {
		got, traffic := BestRect(c.g, c.capacity)
		if got != c.want {
			t.Errorf("%+v, capacity %d: %+v, want %+v", c.g, c.capacity, got, c.want)
		}
		if least := Compulsory(c.g); c.capacity == math.MaxInt64 && traffic != least {
			t.Errorf("%+v with room for all: %+v, compulsory is %+v", c.g, traffic, least)
		}
	}
}

// Square tiles load √3 times as much as 2mnk/√S says; the best shape comes
// within a few percent of it.
func TestDistanceFromTheBound(t *testing.T) {
	g := gemm(40_000, 40_000, 40_000)
	const capacity = 3 * 500 * 500 // a whole number of square tiles: 80 per side
	bound := LoadLowerBound(g, capacity)
	square := Tiled(g, LargestTile(capacity, 1))
	if ratio := float64(square.Loads) / bound.Leading; !(math.Abs(ratio/math.Sqrt(3)-1) < 1e-12) {
		t.Errorf("square tiles load %v times the leading term, want √3", ratio)
	}
	_, best := BestRect(g, capacity)
	if ratio := float64(best.Loads) / bound.Leading; !(ratio >= 1 && ratio < 1.01) {
		t.Errorf("the best shape loads %v times the leading term", ratio)
	}
	if best.Loads < bound.Loads {
		t.Errorf("the best shape loads %d, no schedule loads less than %d", best.Loads, bound.Loads)
	}
}

func BenchmarkBestRect(b *testing.B) {
	for name, g := range map[string]roofline.GEMM{"n=4096": gemm(4096, 4096, 4096), "n=1664510": gemm(1_664_510, 1_664_510, 1_664_510)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := roofline.Maybe(func() { BestRect(g, 32768) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
