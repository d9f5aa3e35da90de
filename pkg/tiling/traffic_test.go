package tiling

import (
	"errors"
	"iter"
	"math"
	"math/big"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

func mustSteps(t *testing.T, m, k, n, tile int) iter.Seq[Step] {
	t.Helper()
	return Steps(gemm(int64(m), int64(k), int64(n)), int64(tile))
}

func TestSteps(t *testing.T) {
	// m = 5, k = 3, n = 7 in tiles of 2: 3, 2 and 4 tiles, the last ones thin.
	var got []Step
	loads := int64(0)
	for s := range mustSteps(t, 5, 3, 7, 2) {
		got = append(got, s)
		loads += s.Loads
	}
	if len(got) != 3*4*2 {
		t.Fatalf("%d steps, want 24", len(got))
	}
	for at, want := range map[int]Step{
		0:  {I: 0, J: 0, P: 0, Rows: 2, Cols: 2, Depth: 2, Loads: 8},
		1:  {I: 0, J: 0, P: 1, Rows: 2, Cols: 2, Depth: 1, Loads: 4},
		2:  {I: 0, J: 1, P: 0, Rows: 2, Cols: 2, Depth: 2, Loads: 8},
		6:  {I: 0, J: 3, P: 0, Rows: 2, Cols: 1, Depth: 2, Loads: 6},
		8:  {I: 1, J: 0, P: 0, Rows: 2, Cols: 2, Depth: 2, Loads: 8},
		16: {I: 2, J: 0, P: 0, Rows: 1, Cols: 2, Depth: 2, Loads: 6},
		23: {I: 2, J: 3, P: 1, Rows: 1, Cols: 1, Depth: 1, Loads: 2},
	} {
		if got[at] != want {
			t.Errorf("step %d is %+v, want %+v", at, got[at], want)
		}
	}
	if want := int64(4*5*3 + 3*3*7); loads != want {
		t.Errorf("the steps load %d, the closed form says %d", loads, want)
	}
	if again := Tiled(gemm(5, 3, 7), 2); again.Loads != loads {
		t.Errorf("the steps load %d, Tiled says %d", loads, again.Loads)
	}
}

func TestStepsCanStop(t *testing.T) {
	seen := 0
	for range mustSteps(t, 1_000_000, 1_000_000, 1_000_000, 10) {
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("%d steps before the break, want 3", seen)
	}
}

func TestTrafficErrors(t *testing.T) {
	for _, c := range []struct {
		g    roofline.GEMM
		tile int64
		want string
	}{
		{gemm(0, 1, 1), 1, "m is 0: it must be at least 1"},
		{gemm(1, -1, 1), 1, "k is -1: it must be at least 1"},
		{gemm(1, 1, 0), 1, "n is 0: it must be at least 1"},
		{roofline.Square(2, 0), 1, "element size is 0 bytes: it must be at least 1"},
		{gemm(1, 1, 1), 0, "tiling: tile is 0: it must be at least 1"},
		{gemm(1, 1, 1), -2, "tiling: tile is -2: it must be at least 1"},
	} {
		err := roofline.Maybe(func() { Tiled(c.g, c.tile) })
		refused(t, err, c.want)
		err = roofline.Maybe(func() { Steps(c.g, c.tile) })
		refused(t, err, c.want)
		if c.tile == 1 {
			err = roofline.Maybe(func() { Compulsory(c.g) })
			refused(t, err, c.want)
			err = roofline.Maybe(func() { Naive(c.g) })
			refused(t, err, c.want)
		}
	}

	for _, c := range []struct {
		traffic   Traffic
		elemBytes int64
		want      string
	}{
		{Traffic{1, 1, 1}, 0, "tiling: element size is 0 bytes: it must be at least 1"},
		{Traffic{1, 1, 1}, -8, "tiling: element size is -8 bytes: it must be at least 1"},
		{Traffic{-1, 1, 1}, 2, "tiling: loads is -1: it must be at least 0"},
		{Traffic{1, -1, 1}, 2, "tiling: stores is -1: it must be at least 0"},
		{Traffic{1, 1, -1}, 2, "tiling: FLOPs is -1: it must be at least 0"},
	} {
		err := roofline.Maybe(func() { c.traffic.Bytes(c.elemBytes) })
		refused(t, err, c.want)
		err = roofline.Maybe(func() { c.traffic.Intensity(c.elemBytes) })
		refused(t, err, c.want)
	}
	err := roofline.Maybe(func() { Traffic{FLOPs: 5}.Intensity(2) })
	refused(t, err, "tiling: traffic is 0 elements", "at least one load or store")
	if b, err := arg.Try(func() int64 { return (Traffic{}).Bytes(2) }); err != nil || b != 0 {
		t.Errorf("bytes of no traffic: %d, %v", b, err)
	}
	if i, err := arg.Try(func() float64 { return (Traffic{Stores: 6}).Intensity(2) }); err != nil || i != 0 {
		t.Errorf("intensity without work: %v, %v", i, err)
	}
}

// Where the counts of an n×n×n multiply leave int64.
func TestCountsLeaveInt64(t *testing.T) {
	const flopsLeave = 1_664_511
	for _, c := range []struct{ elemBytes, leaves int64 }{
		{1, flopsLeave}, // 2n³ loads and n² stores of 1 byte leave with the FLOPs
		{2, 1_321_123},
		{4, 1_048_576},
		{8, 832_256},
	} {
		naive := Naive(gemm(c.leaves-1, c.leaves-1, c.leaves-1))
		got, err := arg.Try(func() int64 { return naive.Bytes(c.elemBytes) })
		n := big.NewInt(c.leaves - 1)
		square := new(big.Int).Mul(n, n)
		want := new(big.Int).Mul(square, n)
		want.Lsh(want, 1).Add(want, square).Mul(want, big.NewInt(c.elemBytes))
		if err != nil || !want.IsInt64() || got != want.Int64() {
			t.Errorf("n = %d, s = %d: %d bytes, %v; want %v", c.leaves-1, c.elemBytes, got, err, want)
		}

		naive, err = arg.Try(func() Traffic { return Naive(gemm(c.leaves, c.leaves, c.leaves)) })
		if c.leaves == flopsLeave {
			refused(t, err, "work, 2mnk FLOPs", "fits up to 1664510")
		} else if err != nil {
			t.Errorf("n = %d: %v", c.leaves, err)
		} else {
			err = roofline.Maybe(func() { naive.Bytes(c.elemBytes) })
			refused(t, err, "tiling: bytes, (loads + stores)s,", "is about 9.22", "at most 9223372036854775807")
			if i, err := arg.Try(func() float64 { return naive.Intensity(c.elemBytes) }); err != nil || !(math.Abs(i*float64(c.elemBytes)-1) < 1e-6) {
				t.Errorf("n = %d, s = %d: intensity %v, %v, which needs no count of bytes", c.leaves, c.elemBytes, i, err)
			}
		}
		if !errors.Is(err, roofline.ErrOverflow) {
			t.Errorf("n = %d, s = %d: %v is not an overflow", c.leaves, c.elemBytes, err)
		}
	}

	// Every count is at most the FLOPs, so those are what leaves first.
	for _, g := range []roofline.GEMM{gemm(1<<32, 1, 1<<32), gemm(1, math.MaxInt64/2+1, 1), roofline.Square(1<<40, 1)} {
		for name, call := range map[string]func() error{
			"Compulsory": func() error { err := roofline.Maybe(func() { Compulsory(g) }); return err },
			"Naive":      func() error { err := roofline.Maybe(func() { Naive(g) }); return err },
			"Tiled":      func() error { err := roofline.Maybe(func() { Tiled(g, 1<<39) }); return err },
			"Steps":      func() error { err := roofline.Maybe(func() { Steps(g, 1<<39) }); return err },
		} {
			err := call()
			refused(t, err, "work, 2mnk FLOPs")
			if !errors.Is(err, roofline.ErrOverflow) {
				t.Errorf("%s %+v: %v is not an overflow", name, g, err)
			}
		}
	}
	const most = math.MaxInt64 / 2
	if got := Tiled(gemm(1, most, 1), math.MaxInt64); got != (Traffic{Loads: 2 * most, Stores: 1, FLOPs: 2 * most}) {
		t.Errorf("the longest k: %+v", got)
	}
}

// Nothing wraps: every count is that of arbitrary precision, or an error.
// Loads never rise as the tile grows.
func FuzzTraffic(f *testing.F) {
	f.Add(int64(4096), int64(4096), int64(4096), int64(64), int64(1), int64(2))
	f.Add(int64(1_664_511), int64(1_664_511), int64(1_664_511), int64(1), int64(0), int64(2))
	f.Add(int64(1_321_123), int64(1_321_123), int64(1_321_123), int64(1), int64(5), int64(2))
	f.Add(int64(37), int64(23), int64(41), int64(8), int64(math.MaxInt64), int64(8))
	f.Add(int64(math.MaxInt64), int64(1), int64(1), int64(3), int64(1), int64(1))
	f.Add(int64(1), int64(math.MaxInt64/2), int64(1), int64(7), int64(1), int64(1))
	f.Fuzz(func(t *testing.T, m, k, n, tile, more, elemBytes int64) {
		g := gemm(m, k, n)
		tiled, err := arg.Try(func() Traffic { return Tiled(g, tile) })
		least, err2 := arg.Try(func() Traffic { return Compulsory(g) })
		naive, err3 := arg.Try(func() Traffic { return Naive(g) })
		if m < 1 || k < 1 || n < 1 {
			if err == nil || err2 == nil || err3 == nil {
				t.Errorf("%+v is taken", g)
			}
			return
		}
		if tile < 1 {
			if err == nil {
				t.Errorf("tile %d is taken", tile)
			}
			return
		}
		number := big.NewInt
		mul := func(a ...*big.Int) *big.Int {
			p := number(1)
			for _, x := range a {
				p.Mul(p, x)
			}
			return p
		}
		add := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
		tiles := func(n int64) *big.Int { // ⌈n/tile⌉ as (n + tile − 1)/tile
			q := add(number(n), number(tile))
			q.Sub(q, number(1))
			return q.Quo(q, number(tile))
		}
		M, K, N := number(m), number(k), number(n)
		work := mul(number(2), M, K, N)
		stores := mul(M, N)
		for _, c := range []struct {
			what  string
			got   Traffic
			err   error
			loads *big.Int
		}{
			{"tiled", tiled, err, add(mul(tiles(n), M, K), mul(tiles(m), K, N))},
			{"compulsory", least, err2, add(mul(M, K), mul(K, N))},
			{"naive", naive, err3, work},
		} {
			if fits := work.IsInt64() && c.loads.IsInt64() && stores.IsInt64(); !fits {
				if !errors.Is(c.err, roofline.ErrOverflow) {
					t.Errorf("%s %+v: %+v, %v; want an overflow", c.what, g, c.got, c.err)
				}
				continue
			}
			if want := (Traffic{c.loads.Int64(), stores.Int64(), work.Int64()}); c.err != nil || c.got != want {
				t.Errorf("%s %+v: %+v, %v; want %+v", c.what, g, c.got, c.err, want)
				continue
			}
			bytes, err := arg.Try(func() int64 { return c.got.Bytes(elemBytes) })
			intensity, err2 := arg.Try(func() float64 { return c.got.Intensity(elemBytes) })
			if elemBytes < 1 {
				if err == nil || err2 == nil {
					t.Errorf("element size %d is taken", elemBytes)
				}
				continue
			}
			want := mul(add(c.loads, stores), number(elemBytes))
			if want.IsInt64() {
				if err != nil || bytes != want.Int64() {
					t.Errorf("%s %+v: %d bytes, %v; want %v", c.what, g, bytes, err, want)
				}
			} else if !errors.Is(err, roofline.ErrOverflow) {
				t.Errorf("%s %+v: %d bytes, %v; want an overflow", c.what, g, bytes, err)
			}
			exact, _ := new(big.Rat).SetFrac(work, want).Float64()
			if err2 != nil || intensity != exact {
				t.Errorf("%s %+v: intensity %v, %v; want %v", c.what, g, intensity, err2, exact)
			}
		}
		if err != nil {
			return
		}
		if tile == 1 && tiled != naive {
			t.Errorf("%+v: a tile of 1 moves %+v, without reuse it is %+v", g, tiled, naive)
		}
		if tile >= max(m, n) && tiled != least {
			t.Errorf("%+v: a tile of %d moves %+v, compulsory is %+v", g, tile, tiled, least)
		}
		if more > 0 && tile <= math.MaxInt64-more {
			if larger := Tiled(g, tile+more); larger.Loads > tiled.Loads {
				t.Errorf("%+v: loads rise from %d to %d as the tile grows from %d to %d", g, tiled.Loads, larger.Loads, tile, tile+more)
			}
		}
	})
}
