package cache

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// missesOf returns the misses of a fully associative cache of so many lines.
func missesOf(t *testing.T, g roofline.GEMM, lines, lineElems int64, send func(Layout, Sink)) int64 {
	t.Helper()
	h := mustBuild(t, fewWays, FullyAssociative("F", lines, lineElems*g.ElemBytes))
	send(mustPlace(t, g), h)
	return h.Memory().Misses()
}

// At the capacity that is derived, and with one line less.
func TestNaiveLines(t *testing.T) {
	for _, lineElems := range []int64{1, 2, 4, 8} {
		for _, s := range []struct{ m, k, n int64 }{{5, 1, 3}, {4, 3, 2}, {3, 2, 5}, {7, 4, 3}, {2, 3, 3}} {
			g := gemm(s.m, s.k*lineElems, s.n*lineElems, 4)
			if g.K < 2 {
				continue
			}
			what := fmt.Sprintf("%+v, %d elements a line", g, lineElems)
			fits := NaiveLines(g, lineElems)
			wk, wn := s.k, s.n
			at := func(lines int64) int64 { return missesOf(t, g, lines, lineElems, Layout.Naive) }

			once := g.M*wk + g.M*g.K*wn + g.M*wn // A once a row of C, B once a row of C, C once
			if got := at(fits.Inner); got != once {
				t.Errorf("%s: %d misses with %d lines, want %d", what, got, fits.Inner, once)
			}
			less := g.M*wk + g.M*g.N*g.K + g.M*g.N
			if lineElems == 1 {
				less = 2*g.M*g.N*g.K + g.M*g.N
			}
			if got := at(fits.Inner - 1); got != less {
				t.Errorf("%s: %d misses with %d lines, want %d", what, got, fits.Inner-1, less)
			}
			all := g.M*wk + g.K*wn + g.M*wn
			if got := at(fits.All); got != all {
				t.Errorf("%s: %d misses with %d lines, want the compulsory %d", what, got, fits.All, all)
			}
			if got := at(fits.All - 1); got <= all {
				t.Errorf("%s: %d misses with %d lines, want more than %d", what, got, fits.All-1, all)
			}
		}
	}
}

// The misses of the tiled multiply are the model's loads and the first touch of
// C, from the capacity that is derived on, and not with one line less.
func TestTiledLines(t *testing.T) {
	for _, lineElems := range []int64{1, 2, 4} {
		for bm := int64(1); bm <= 6; bm++ {
			for wn := int64(1); wn <= 4; wn++ {
				for wk := int64(1); wk <= 4; wk++ {
					r := tiling.Rect{BM: bm, BN: wn * lineElems, BK: wk * lineElems}
					for _, steps := range []int64{2, 3} {
						g := gemm(2*bm, steps*r.BK, 2*r.BN, 4)
						checkTiledLines(t, g, r, lineElems)
					}
				}
			}
		}
	}
}

func checkTiledLines(t *testing.T, g roofline.GEMM, r tiling.Rect, lineElems int64) {
	t.Helper()
	what := fmt.Sprintf("%+v in %+v, %d elements a line", g, r, lineElems)
	lines := TiledLines(g, r, lineElems)
	model := tiling.TiledRect(g, r)
	want := (model.Loads + model.Stores) / lineElems
	at := func(lines int64) int64 {
		return missesOf(t, g, lines, lineElems, func(l Layout, to Sink) { l.Tiled(to, r) })
	}
	if got := at(lines); got != want {
		t.Errorf("%s: %d misses with %d lines, want %d", what, got, lines, want)
	}
	if got := at(lines - 1); got <= want {
		t.Errorf("%s: %d misses with %d lines, want more than %d", what, got, lines-1, want)
	}
}

// Square tiles: 4b² − b + 1 where the model needs 3b².
func TestSquareTilesNeedMore(t *testing.T) {
	for b := int64(3); b <= 20; b++ {
		got := TiledLines(gemm(4*b, 4*b, 4*b, 4), tiling.SquareTile(b), 1)
		if got != 4*b*b-b+1 {
			t.Errorf("b = %d: %d lines, want %d", b, got, 4*b*b-b+1)
		}
	}
	checkTiledLines(t, gemm(32, 32, 32, 4), tiling.SquareTile(8), 1)
	checkTiledLines(t, gemm(32, 32, 32, 4), tiling.SquareTile(16), 8)

	// With the model's own 3b² the tile of C does not stay.
	const b = 8
	g := gemm(32, 32, 32, 4)
	model := tiling.Tiled(g, b)
	got := missesOf(t, g, 3*b*b, 1, func(l Layout, to Sink) { l.Tiled(to, tiling.SquareTile(b)) })
	if got <= model.Loads+model.Stores {
		t.Errorf("%d misses with 3b² elements, want more than %d", got, model.Loads+model.Stores)
	}
}

// One step along k: enough, for any shape; and needed where nothing else can
// stay, with a single tile of C.
func TestTiledLinesOfOneStep(t *testing.T) {
	for _, lineElems := range []int64{1, 2, 4} {
		for bm := int64(1); bm <= 5; bm++ {
			for wn := int64(1); wn <= 3; wn++ {
				for wk := int64(1); wk <= 3; wk++ {
					r := tiling.Rect{BM: bm, BN: wn * lineElems, BK: wk * lineElems}
					checkTiledLines(t, gemm(bm, r.BK, r.BN, 4), r, lineElems)
				}
			}
		}
	}
}

// Ragged edges need no more.
func TestTiledLinesAreEnough(t *testing.T) {
	for _, s := range []struct{ m, k, n, b int64 }{{13, 11, 9, 4}, {7, 15, 10, 3}, {5, 7, 5, 5}, {20, 9, 20, 7}} {
		g := gemm(s.m, s.k, s.n, 4)
		r := tiling.SquareTile(s.b)
		lines := TiledLines(g, r, 1)
		model := tiling.TiledRect(g, r)
		got := missesOf(t, g, lines, 1, func(l Layout, to Sink) { l.Tiled(to, r) })
		if got > model.Loads+model.Stores {
			t.Errorf("%+v: %d misses with %d elements, want at most %d", s, got, lines, model.Loads+model.Stores)
		}
	}
}

func TestLinesErrors(t *testing.T) {
	g := gemm(8, 8, 8, 4)
	for _, c := range []struct {
		g         roofline.GEMM
		lineElems int64
		want      string
	}{
		{g, 0, "cache: line is 0: it must be at least 1"},
		{gemm(8, 8, 0, 4), 1, "n is 0"},
		{gemm(8, 8, 9, 4), 8, "cache: n is 9: it must be a multiple of the 8 elements of a line"},
		{gemm(8, 9, 8, 4), 8, "cache: k is 9: it must be a multiple of the 8 elements of a line"},
	} {
		err := roofline.Maybe(func() { NaiveLines(c.g, c.lineElems) })
		refused(t, err, c.want)
		err = roofline.Maybe(func() { TiledLines(c.g, tiling.SquareTile(8), c.lineElems) })
		refused(t, err, c.want)
	}
	// The longest k that has FLOPs in int64: two rows of A and one of B are more.
	longest := gemm(1, 1<<62-1, 1, 1)
	err := roofline.Maybe(func() { NaiveLines(longest, 1) })
	if !errors.Is(err, roofline.ErrOverflow) {
		t.Errorf("%v is no overflow", err)
	}
	if got, err := arg.Try(func() int64 { return TiledLines(gemm(1<<62-1, 1, 1, 1), tiling.SquareTile(1<<62), 1) }); err != nil || got != math.MaxInt64 {
		t.Errorf("the tallest tile needs %d lines, %v; want %d", got, err, int64(math.MaxInt64))
	}
	err = roofline.Maybe(func() { TiledLines(g, tiling.Rect{BM: 1, BN: 8, BK: 1}, 4) })
	refused(t, err, "cache: bk is 1: it must be a multiple of the 4 elements of a line")
	err = roofline.Maybe(func() { TiledLines(g, tiling.Rect{BM: 1, BN: 3, BK: 4}, 4) })
	refused(t, err, "cache: bn is 3")
	err = roofline.Maybe(func() { TiledLines(g, tiling.Rect{BM: 0, BN: 4, BK: 4}, 4) })
	refused(t, err, "bm is 0")
}
