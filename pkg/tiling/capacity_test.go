package tiling

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

func TestFastBytes(t *testing.T) {
	for _, c := range []struct{ tile, elemBytes, want int64 }{
		{1, 1, 3},
		{2, 2, 24},
		{64, 4, 49152},
		{1_753_413_056, 1, 3 * 1_753_413_056 * 1_753_413_056},
	} {
		if got, err := arg.Try(func() int64 { return FastBytes(c.tile, c.elemBytes) }); err != nil || got != c.want {
			t.Errorf("FastBytes(%d, %d) = %d, %v; want %d", c.tile, c.elemBytes, got, err, c.want)
		}
	}
	err := roofline.Maybe(func() { FastBytes(0, 2) })
	refused(t, err, "tiling: tile is 0: it must be at least 1")
	err = roofline.Maybe(func() { FastBytes(2, -1) })
	refused(t, err, "tiling: element size is -1 bytes: it must be at least 1")
	err = roofline.Maybe(func() { FastBytes(1<<31, 2) }) // 3·2^63
	refused(t, err, "tiling: fast bytes, 3b²s,", "b = 2147483648, element size 2", "is about 2.76701e+19")
	if !errors.Is(err, roofline.ErrOverflow) {
		t.Errorf("%v is not an overflow", err)
	}
}

func TestLargestTile(t *testing.T) {
	for _, c := range []struct{ capacity, elemBytes, want int64 }{
		{3, 1, 1},
		{6, 2, 1},
		{11, 1, 1},
		{12, 1, 2},
		{64 << 10, 2, 104}, // two tiles would give 128, and rounding up 105
		{48 << 10, 4, 64},  // the whole of it
		{48<<10 - 1, 4, 63},
		{math.MaxInt64, 1, 1_753_413_056},
	} {
		if got, err := arg.Try(func() int64 { return LargestTile(c.capacity, c.elemBytes) }); err != nil || got != c.want {
			t.Errorf("LargestTile(%d, %d) = %d, %v; want %d", c.capacity, c.elemBytes, got, err, c.want)
		}
	}
	for _, c := range []struct {
		capacity, elemBytes int64
		want                []string
	}{
		{5, 2, []string{"tiling: capacity is 5 bytes", "at 2 bytes needs at least 6"}},
		{0, 1, []string{"capacity is 0 bytes", "needs at least 3"}},
		{-64, 1, []string{"capacity is -64 bytes", "needs at least 3"}},
		{math.MinInt64, 1, []string{"capacity is -9223372036854775808 bytes"}},
		{math.MaxInt64, math.MaxInt64, []string{"needs at least 27670116110564327421"}},
		{100, 0, []string{"tiling: element size is 0 bytes: it must be at least 1"}},
	} {
		err := roofline.Maybe(func() { LargestTile(c.capacity, c.elemBytes) })
		refused(t, err, c.want...)
	}
}

// The direct root is the last tile that a search finds.
func TestLargestTileIsTheLast(t *testing.T) {
	for elemBytes := int64(1); elemBytes <= 8; elemBytes++ {
		for capacity := int64(0); capacity < 3000; capacity++ {
			want := int64(0)
			for FastBytes(want+1, elemBytes) <= capacity {
				want++
			}
			got, err := arg.Try(func() int64 { return LargestTile(capacity, elemBytes) })
			if want == 0 && err == nil || want > 0 && (err != nil || got != want) {
				t.Errorf("LargestTile(%d, %d) = %d, %v; want %d", capacity, elemBytes, got, err, want)
			}
		}
	}
}

func FuzzLargestTile(f *testing.F) {
	f.Add(int64(64<<10), int64(2))
	f.Add(int64(math.MaxInt64), int64(1))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64/3))
	f.Add(int64(3*94_906_267*94_906_267-1), int64(1)) // √ of about 2^53
	f.Fuzz(func(t *testing.T, capacity, elemBytes int64) {
		got, err := arg.Try(func() int64 { return LargestTile(capacity, elemBytes) })
		if elemBytes < 1 {
			if err == nil {
				t.Errorf("element size %d is taken", elemBytes)
			}
			return
		}
		need := func(b int64) *big.Int {
			n := big.NewInt(b)
			n.Mul(n, n).Mul(n, big.NewInt(elemBytes))
			return n.Mul(n, big.NewInt(3))
		}
		have := big.NewInt(capacity)
		if err != nil {
			got = 0
		} else if got < 1 {
			t.Errorf("LargestTile(%d, %d) = %d", capacity, elemBytes, got)
		}
		if got > 0 && need(got).Cmp(have) > 0 || need(got+1).Cmp(have) <= 0 {
			t.Errorf("LargestTile(%d, %d) = %d, %v: needs %v, the next needs %v", capacity, elemBytes, got, err, need(got), need(got+1))
		}
	})
}

func TestIntensity(t *testing.T) {
	// By the counts, wherever those fit.
	for _, n := range []int64{1, 2, 7, 64, 100, 4096} {
		for _, tile := range []int64{1, 2, 3, 7, 8, 63, 64, 65, 4096, math.MaxInt64} {
			for _, s := range []int64{1, 2, 4, 8} {
				got := Intensity(n, tile, s)
				if want := Tiled(gemm(n, n, n), tile).Intensity(s); got != want {
					t.Errorf("Intensity(%d, %d, %d) = %v, the counts say %v", n, tile, s, got, want)
				}
			}
		}
	}

	// What the lesson says of n = 4096, FP16.
	at := func(tile int64) float64 { return Intensity(4096, tile, 2) }
	last := 0.0
	for _, tile := range []int64{1, 4, 16, 64, 256} {
		if !(at(tile) > last) {
			t.Errorf("intensity does not rise to b = %d: %v after %v", tile, at(tile), last)
		}
		last = at(tile)
	}
	if !(math.Abs(at(1)-0.5) < 1e-4) {
		t.Errorf("intensity at b = 1 is %v, want about 0.5", at(1))
	}
	if !(math.Abs(at(64)/(64.0/2)-1) < 0.02) {
		t.Errorf("intensity at b = 64 is %v, want b/s within 2%%", at(64))
	}
	if best := roofline.Square(4096, 2).Intensity(); at(4096) != best {
		t.Errorf("intensity at b = n is %v, the best case is %v", at(4096), best)
	}

	// Beyond the counts.
	for _, n := range []int64{1e9, 1e15, math.MaxInt64} {
		if got, want := Intensity(n, n, 2), float64(n)/3; !(math.Abs(got/want-1) < 1e-12) {
			t.Errorf("intensity at b = n = %d is %v, want %v", n, got, want)
		}
		if got := Intensity(n, 1, 1); !(math.Abs(got-1) < 1e-8) {
			t.Errorf("intensity at b = 1, n = %d is %v, want 1", n, got)
		}
	}
	if got := Intensity(math.MaxInt64, 1, math.MaxInt64); !(got > 0 && got < 1.1e-19) {
		t.Errorf("intensity is %v", got)
	}
}

func TestTilesPerSide(t *testing.T) {
	for _, c := range []struct{ n, tile, want int64 }{{4096, 342, 12}, {4096, 341, 13}, {1, 1, 1}, {5, math.MaxInt64, 1}, {math.MaxInt64, 1, math.MaxInt64}} {
		if got, err := arg.Try(func() int64 { return TilesPerSide(c.n, c.tile) }); err != nil || got != c.want {
			t.Errorf("TilesPerSide(%d, %d) = %d, %v; want %d", c.n, c.tile, got, err, c.want)
		}
	}
}

func TestCapacityErrors(t *testing.T) {
	call := func(n, tile, s int64) []error {
		err := roofline.Maybe(func() { Intensity(n, tile, s) })
		return []error{err}
	}
	for _, err := range append(call(0, 1, 1), func() error { err := roofline.Maybe(func() { TilesPerSide(0, 1) }); return err }()) {
		refused(t, err, "tiling: n is 0: it must be at least 1")
	}
	for _, err := range append(call(1, -1, 1), func() error { err := roofline.Maybe(func() { TilesPerSide(1, -1) }); return err }()) {
		refused(t, err, "tiling: tile is -1: it must be at least 1")
	}
	refused(t, call(1, 1, 0)[0], "tiling: element size is 0 bytes: it must be at least 1")

	for _, c := range []struct {
		n, s  int64
		ridge float64
		want  string
	}{
		{0, 2, 1, "tiling: n is 0: it must be at least 1"},
		{-3, 2, 1, "tiling: n is -3: it must be at least 1"},
		{4096, 0, 1, "tiling: element size is 0 bytes: it must be at least 1"},
		{4096, -2, 1, "tiling: element size is -2 bytes: it must be at least 1"},
		{4096, 2, 0, "tiling: ridge is 0 FLOP/byte: it must be positive and finite"},
		{4096, 2, -153, "tiling: ridge is -153 FLOP/byte: it must be positive and finite"},
		{4096, 2, nan, "tiling: ridge is NaN FLOP/byte: it must be positive and finite"},
		{4096, 2, inf, "tiling: ridge is +Inf FLOP/byte: it must be positive and finite"},
		{4096, 2, -inf, "tiling: ridge is -Inf FLOP/byte: it must be positive and finite"},
	} {
		err := roofline.Maybe(func() { RidgeTile(c.n, c.s, c.ridge) })
		refused(t, err, c.want)
		err = roofline.Maybe(func() { FractionalRidgeTile(c.n, c.s, c.ridge) })
		refused(t, err, c.want)
		if c.n > 0 {
			err = roofline.Maybe(func() { RuleOfThumbTile(c.ridge, c.s) })
			refused(t, err, c.want)
		}
	}
	err := roofline.Maybe(func() { RuleOfThumbTile(math.MaxFloat64, 2) })
	refused(t, err, "tiling: ridge is 1.79", "beyond float64")
}

const ridgeA100 = 312e12 / 2039e9

func TestRidgeTile(t *testing.T) {
	for _, c := range []struct {
		n, s  int64
		ridge float64
		want  int64
	}{
		{4096, 2, ridgeA100, 342}, // 12 tiles per side reach it, 13 do not
		{1, 1, 0.1, 1},
		{4096, 2, 1e-300, 1},
		{4096, 2, 4096.0 / 3, 4096}, // a tie with the best case
	} {
		if got, err := arg.Try(func() int64 { return RidgeTile(c.n, c.s, c.ridge) }); err != nil || got != c.want {
			t.Errorf("RidgeTile(%d, %d, %v) = %d, %v; want %d", c.n, c.s, c.ridge, got, err, c.want)
		}
	}
	for _, n := range []int64{1e9, 1e12, 1e15, 1e18, math.MaxInt64} {
		for _, ridge := range []float64{1e-6, 0.4999999999999999, 0.5, 1, ridgeA100, float64(n) / 1e3, float64(n) / 3.0000001} {
			checkRidgeTile(t, n, 2, ridge)
		}
		// Where many tile counts round to one intensity, and on both sides.
		for _, tile := range []int64{1, 2, 3, 5, 7, 10, 1000} {
			i := Intensity(n, tile, 1)
			checkRidgeTile(t, n, 1, math.Nextafter(i, 0))
			checkRidgeTile(t, n, 1, i)
			checkRidgeTile(t, n, 1, math.Nextafter(i, inf))
		}
	}
}

// checkRidgeTile fails unless RidgeTile's answer reaches the ridge and the
// tile before it does not, or no tile does and the error says so.
func checkRidgeTile(t *testing.T, n, s int64, ridge float64) {
	t.Helper()
	reaches := func(b int64) bool { return Intensity(n, b, s) >= ridge }
	got, err := arg.Try(func() int64 { return RidgeTile(n, s, ridge) })
	if err != nil {
		var none *roofline.UnreachableError
		if !errors.As(err, &none) || reaches(n) || none.Ridge != ridge || none.Best != Intensity(n, n, s) {
			t.Errorf("RidgeTile(%d, %d, %v): %v", n, s, ridge, err)
		}
		return
	}
	if got < 1 || got > n || !reaches(got) {
		t.Errorf("RidgeTile(%d, %d, %v) = %d, which does not reach it", n, s, ridge, got)
	} else if got > 1 && reaches(got-1) {
		t.Errorf("RidgeTile(%d, %d, %v) = %d, but %d reaches it too", n, s, ridge, got, got-1)
	}
}

// The direct answer is the first that a scan finds: at ridges that are the
// intensity of a tile exactly, one float to either side of it, and between.
func TestRidgeTileIsTheFirst(t *testing.T) {
	for _, s := range []int64{1, 2, 3, 8} {
		for n := int64(1); n <= 70; n++ {
			intensity := make([]float64, n+1)
			for b := int64(1); b <= n; b++ {
				intensity[b] = Intensity(n, b, s)
			}
			for b := int64(1); b <= n; b++ {
				i := intensity[b]
				for _, ridge := range []float64{i, math.Nextafter(i, 0), math.Nextafter(i, inf), i * 1.01, i * 0.99} {
					want := int64(1)
					for want <= n && intensity[want] < ridge {
						want++
					}
					got, err := arg.Try(func() int64 { return RidgeTile(n, s, ridge) })
					if want > n && err == nil || want <= n && (err != nil || got != want) {
						t.Errorf("RidgeTile(%d, %d, %v) = %d, %v; a scan finds %d", n, s, ridge, got, err, want)
					}
				}
			}
		}
	}
}

func TestRidgeTileUnreachable(t *testing.T) {
	err := roofline.Maybe(func() { RidgeTile(128, 2, ridgeA100) })
	refused(t, err, "tiling: no tile reaches the ridge of 153.016 FLOP/byte", "n = 128, element size 2", "b = 128, with 42.6667 FLOP/byte")
	err2 := roofline.Maybe(func() { FractionalRidgeTile(128, 2, ridgeA100) })
	for _, err := range []error{err, err2} {
		var none *roofline.UnreachableError
		if !errors.As(err, &none) || none.Best != 128.0/3 || none.Ridge != ridgeA100 {
			t.Errorf("%v", err)
		}
	}
	checkRidgeTile(t, 128, 2, math.Nextafter(128.0/3, 100))
	checkRidgeTile(t, 128, 2, math.MaxFloat64)
}

func TestFractionalRidgeTile(t *testing.T) {
	for _, c := range []struct {
		n, s  int64
		ridge float64
	}{{4096, 2, ridgeA100}, {4096, 2, 0.5}, {4096, 4, 600}, {1e9, 2, ridgeA100}, {math.MaxInt64, 1, 1}} {
		b := FractionalRidgeTile(c.n, c.s, c.ridge)
		if back := (b / float64(c.s)) / (1 + b/(2*float64(c.n))); !(math.Abs(back/c.ridge-1) < 1e-12) {
			t.Errorf("%+v: b = %v gives %v FLOP/byte", c, b, back)
		}
		thumb := RuleOfThumbTile(c.ridge, c.s)
		if thumb != float64(c.s)*c.ridge || !(thumb <= b) {
			t.Errorf("%+v: rule of thumb %v, with the stores %v", c, thumb, b)
		}
		if exact := RidgeTile(c.n, c.s, c.ridge); !(float64(exact) >= b*(1-1e-12)) {
			t.Errorf("%+v: whole tiles give %d, fractional ones %v", c, exact, b)
		}
	}
	// Up to where RidgeTile has an answer, and never above n.
	for _, s := range []int64{1, 2, 3, 8} {
		for n := int64(1); n < 3000; n++ {
			best := Intensity(n, n, s)
			if got, err := arg.Try(func() float64 { return FractionalRidgeTile(n, s, best) }); err != nil || !(got <= float64(n) && got > float64(n)*(1-1e-12)) {
				t.Errorf("FractionalRidgeTile(%d, %d, %v) = %v, %v; want %d", n, s, best, got, err, n)
			}
			above := math.Nextafter(best, inf)
			err := roofline.Maybe(func() { FractionalRidgeTile(n, s, above) })
			err2 := roofline.Maybe(func() { RidgeTile(n, s, above) })
			if err == nil || err2 == nil || err.Error() != err2.Error() {
				t.Errorf("n = %d, s = %d, just above the best: %v and %v", n, s, err, err2)
			}
		}
	}
	// There is an answer up to sr = 2n/3, where it is n.
	if got, err := arg.Try(func() float64 { return FractionalRidgeTile(3, 1, 2) }); err != nil || !(math.Abs(got-3) < 1e-12) || got > 3 {
		t.Errorf("at the end: %v, %v; want 3", got, err)
	}
	err := roofline.Maybe(func() { FractionalRidgeTile(3, 1, math.Nextafter(2, 3)) })
	var none *roofline.UnreachableError
	if !errors.As(err, &none) || none.Best != 2 {
		t.Errorf("just above the end: %v", err)
	}
}

func FuzzRidgeTile(f *testing.F) {
	f.Add(int64(4096), int64(2), ridgeA100)
	f.Add(int64(1e9), int64(2), ridgeA100)
	f.Add(int64(math.MaxInt64), int64(1), 1.0)
	f.Add(int64(math.MaxInt64), int64(1), math.Nextafter(1, 0))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), 1e-19)
	f.Add(int64(1<<41), int64(3), 0.3)
	f.Add(int64(128), int64(2), 128.0/3)
	f.Fuzz(func(t *testing.T, n, s int64, ridge float64) {
		if n < 1 || s < 1 || !(ridge > 0) || math.IsInf(ridge, 1) {
			if b, err := arg.Try(func() int64 { return RidgeTile(n, s, ridge) }); err == nil {
				t.Errorf("RidgeTile(%d, %d, %v) = %d is taken", n, s, ridge, b)
			}
			return
		}
		checkRidgeTile(t, n, s, ridge)

		// And with a ridge that is the intensity of some tile, or the next
		// float to either side of it.
		tile := int64(math.Float64bits(ridge) >> 1)
		for _, tile := range []int64{1 + tile%n, 1 + tile%min(n, 1_000_000), num.CeilDiv(n, 1+tile%min(n, 1_000_000))} {
			i := Intensity(n, tile, s)
			checkRidgeTile(t, n, s, math.Nextafter(i, 0))
			checkRidgeTile(t, n, s, i)
			checkRidgeTile(t, n, s, math.Nextafter(i, inf))
		}

		b, err := arg.Try(func() float64 { return FractionalRidgeTile(n, s, ridge) })
		if err == nil && !(b > 0 && b <= float64(n)) {
			t.Errorf("FractionalRidgeTile(%d, %d, %v) = %v", n, s, ridge, b)
		}
	})
}

func BenchmarkRidgeTile(b *testing.B) {
	for _, n := range []int64{4096, 1e9, 1e18} {
		b.Run(fmt.Sprintf("n=%g", float64(n)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := roofline.Maybe(func() { RidgeTile(n, 2, ridgeA100) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
