package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

func gemm(m, k, n, elemBytes int64) roofline.GEMM {
	return roofline.GEMM{M: m, N: n, K: k, ElemBytes: elemBytes}
}

func mustPlace(t testing.TB, g roofline.GEMM) Layout {
	t.Helper()
	return Place(g)
}

// recorder keeps every single access.
type recorder struct{ seen []Access }

func (r *recorder) Loop(count int64, body []Access) {
	for round := range count {
		for _, a := range body {
			r.seen = append(r.seen, Access{Addr: a.Addr + round*a.Stride, Bytes: a.Bytes, Write: a.Write})
		}
	}
}

// The accesses of the loops, written out plainly element by element.
func TestLoopsSendTheirAccesses(t *testing.T) {
	l := PlaceLD(gemm(5, 3, 7, 4), 4, 9, 8)
	var want []Access
	use := func(addr int64, write bool) { want = append(want, Access{Addr: addr, Bytes: 4, Write: write}) }
	a := func(i, p int64) int64 { return 0 + (i*4+p)*4 }
	b := func(p, j int64) int64 { return 4096 + (p*9+j)*4 }
	c := func(i, j int64) int64 { return 8192 + (i*8+j)*4 }
	tile := func(i0, i1, j0, j1, p0, p1 int64) {
		for i := i0; i < i1; i++ {
			for p := p0; p < p1; p++ {
				use(a(i, p), false)
				for j := j0; j < j1; j++ {
					use(b(p, j), false)
					use(c(i, j), false)
					use(c(i, j), true)
				}
			}
		}
	}
	zero := func(i0, i1, j0, j1 int64) {
		for i := i0; i < i1; i++ {
			for j := j0; j < j1; j++ {
				use(c(i, j), true)
			}
		}
	}
	check := func(what string, send func(Sink)) {
		t.Helper()
		var got recorder
		send(&got)
		if len(got.seen) != len(want) {
			t.Errorf("%s: %d accesses, want %d", what, len(got.seen), len(want))
		}
		for i := range min(len(got.seen), len(want)) {
			if got.seen[i] != want[i] {
				t.Errorf("%s: access %d is %+v, want %+v", what, i, got.seen[i], want[i])
				break
			}
		}
		want = nil
	}

	for i := range int64(5) {
		for j := range int64(7) {
			for p := range int64(3) {
				use(a(i, p), false)
				use(b(p, j), false)
			}
			use(c(i, j), true)
		}
	}
	check("naive", l.Naive)

	zero(0, 5, 0, 7)
	tile(0, 5, 0, 7, 0, 3)
	check("reordered", l.Reordered)

	for i := int64(0); i < 5; i += 2 {
		for j := int64(0); j < 7; j += 4 {
			zero(i, min(i+2, 5), j, min(j+4, 7))
			for p := range int64(3) {
				tile(i, min(i+2, 5), j, min(j+4, 7), p, p+1)
			}
		}
	}
	check("tiled", func(m Sink) { l.Tiled(m, tiling.Rect{BM: 2, BN: 4, BK: 1}) })

	// Packed with MR = 2, NR = 3, KC = 2, MC = 4, NC = 5: panels behind the
	// matrices, A's on one page and B's on the next.
	pa := func(kc, r, p int64) int64 { return 12288 + (r*kc+p)*4 }
	pb := func(kc, jr, p, j int64) int64 { return 16384 + (jr*kc+p*3+j)*4 }
	for jc := int64(0); jc < 7; jc += 5 {
		nc := min(5, 7-jc)
		for ic := int64(0); ic < 5; ic += 4 {
			mc := min(4, 5-ic)
			for pc := int64(0); pc < 3; pc += 2 {
				kc := min(2, 3-pc)
				for jr := int64(0); jr < nc; jr += 3 {
					for p := range kc {
						for j := range min(3, nc-jr) {
							use(b(pc+p, jc+jr+j), false)
							use(pb(kc, jr, p, j), true)
						}
					}
				}
				for ir := int64(0); ir < mc; ir += 2 {
					rows := min(2, mc-ir)
					for r := range rows {
						for p := range kc {
							use(a(ic+ir+r, pc+p), false)
							use(pa(kc, r, p), true)
						}
					}
					for jr := int64(0); jr < nc; jr += 3 {
						for p := range kc {
							for r := range rows {
								use(pa(kc, r, p), false)
							}
							for j := range min(3, nc-jr) {
								use(pb(kc, jr, p, j), false)
							}
						}
						for r := range rows {
							for j := range min(3, nc-jr) {
								if pc > 0 {
									use(c(ic+ir+r, jc+jr+j), false)
								}
								use(c(ic+ir+r, jc+jr+j), true)
							}
						}
					}
				}
			}
		}
	}
	check("packed", func(m Sink) { l.Packed(m, Blocking{MR: 2, NR: 3, KC: 2, MC: 4, NC: 5}) })
}

// All loops, access by access, on real caches in small: the fast simulator and
// the plain one agree.
func TestLoopsOnTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for name, levels := range hierarchies {
		t.Run(name, func(t *testing.T) {
			for range 4 {
				m, k, n := 1+rng.Int64N(13), 1+rng.Int64N(13), 1+rng.Int64N(13)
				l := PlaceLD(gemm(m, k, n, 1<<rng.IntN(4)), k+rng.Int64N(3), n+rng.Int64N(3), n+rng.Int64N(3))
				l.BaseB += rng.Int64N(9) // elements that span lines, too
				for what, send := range map[string]func(Sink){
					"naive":     l.Naive,
					"reordered": l.Reordered,
					"tiled":     func(to Sink) { l.Tiled(to, tiling.Rect{BM: 3, BN: 5, BK: 2}) },
					"packed":    func(to Sink) { l.Packed(to, Blocking{MR: 2, NR: 3, KC: 4, MC: 5, NC: 6}) },
				} {
					h, r := mustBuild(t, fewWays, levels...), newReference(levels...)
					send(h)
					send(r)
					h.Flush()
					r.flush()
					if !same(t, fmt.Sprintf("%s %+v", what, l), h, r) {
						return
					}
				}
			}
		})
	}
}

// With room for everything each line of A, B and C comes in once, and each of C
// goes out once: compulsory traffic, and mn for the first touch of C.
func TestRoomForEverything(t *testing.T) {
	g := gemm(16, 24, 32, 4)
	l := mustPlace(t, g)
	least := tiling.Compulsory(g)
	for _, lineBytes := range []int64{4, 32} {
		perLine := lineBytes / g.ElemBytes
		for what, send := range map[string]func(Sink){
			"naive":     l.Naive,
			"reordered": l.Reordered,
			"tiled":     func(to Sink) { l.Tiled(to, tiling.SquareTile(8)) },
		} {
			h := mustBuild(t, fewWays, FullyAssociative("F", 4096, lineBytes))
			send(h)
			h.Flush()
			got := h.Memory()
			if want := (least.Loads + least.Stores) / perLine; got.Misses() != want || got.Fills != want {
				t.Errorf("%s, lines of %d bytes: %d misses and %d fills, want %d", what, lineBytes, got.Misses(), got.Fills, want)
			}
			if want := least.Stores / perLine; got.WriteBacks != want {
				t.Errorf("%s, lines of %d bytes: %d lines written back, want %d", what, lineBytes, got.WriteBacks, want)
			}
		}
		// Without write-allocate C never comes in if it is never read.
		h := mustBuild(t, fewWays, Config{SizeBytes: 4096 * lineBytes, LineBytes: lineBytes, Policy: WriteThrough})
		l.Naive(h)
		h.Flush()
		if got := h.Memory(); got.Fills != least.Loads/perLine || got.BytesOut != least.Stores*g.ElemBytes {
			t.Errorf("written through: %+v, want %d fills and %d bytes out", got, least.Loads/perLine, least.Stores*g.ElemBytes)
		}
	}
}

// The placement of the model, told tile by tile, is the closed form, and needs
// the room that the model says: to the element.
func TestScratchpadIsTheModel(t *testing.T) {
	for _, s := range []struct {
		m, k, n int64
		r       tiling.Rect
	}{
		{8, 8, 8, tiling.SquareTile(2)},
		{37, 23, 41, tiling.SquareTile(8)},
		{1, 33, 17, tiling.SquareTile(8)},
		{7, 5, 3, tiling.SquareTile(1)},
		{9, 11, 13, tiling.SquareTile(64)},
		{5, 3, 7, tiling.SquareTile(2)},
		{12, 10, 20, tiling.Rect{BM: 4, BN: 7, BK: 1}},
		{12, 10, 20, tiling.Rect{BM: 1, BN: 20, BK: 3}},
	} {
		checkScratchpad(t, gemm(s.m, s.k, s.n, 4), s.r)
	}
}

func checkScratchpad(t *testing.T, g roofline.GEMM, r tiling.Rect) {
	t.Helper()
	l := PlaceLD(g, g.K+1, g.N, g.N+2)
	need := tiling.Rect{BM: min(r.BM, g.M), BN: min(r.BN, g.N), BK: min(r.BK, g.K)}.FastElems()
	s := NewScratchpad(need)
	got := l.TiledIn(s, r)
	if want := tiling.TiledRect(g, r); got != want {
		t.Errorf("%+v, %+v: moved %+v, the closed form says %+v", g, r, got, want)
	}
	if now, most := s.Held(); now != 0 || most != need {
		t.Errorf("%+v, %+v: holds %d at the end and %d at most, want 0 and %d", g, r, now, most, need)
	}
	if total := s.Traffic(); total.Loads != got.Loads || total.Stores != got.Stores {
		t.Errorf("%+v, %+v: the scratchpad counted %+v, the multiply %+v", g, r, total, got)
	}
	small := NewScratchpad(max(need-1, 1))
	err := roofline.Maybe(func() { l.TiledIn(small, r) })
	refused(t, err, "does not fit: the scratchpad holds")
}

func FuzzScratchpad(f *testing.F) {
	f.Add(uint8(8), uint8(8), uint8(8), uint8(2), uint8(3), uint8(4))
	f.Fuzz(func(t *testing.T, m, k, n, bm, bn, bk uint8) {
		checkScratchpad(t, gemm(int64(m)%20+1, int64(k)%20+1, int64(n)%20+1, 4), tiling.Rect{BM: int64(bm)%24 + 1, BN: int64(bn)%24 + 1, BK: int64(bk)%24 + 1})
	})
}

func TestScratchpadErrors(t *testing.T) {
	err := roofline.Maybe(func() { NewScratchpad(0) })
	refused(t, err, "cache: capacity is 0: it must be at least 1")
	s := NewScratchpad(12)
	b := block{Addr: 64, Rows: 2, Cols: 3, LD: 5, ElemBytes: 4}
	refused(t, roofline.Maybe(func() { s.store(b) }), "the scratchpad does not hold it")
	refused(t, roofline.Maybe(func() { s.drop(b) }), "the scratchpad does not hold it")
	s.load(b)
	for addr, held := range map[int64]bool{60: false, 64: true, 72: true, 76: false, 80: false, 84: true, 92: true, 96: false, 104: false} {
		if err := roofline.Maybe(func() { s.Loop(1, []Access{{Addr: addr, Bytes: 4}}) }); (err == nil) != held {
			t.Errorf("address %d: %v", addr, err)
		}
	}
	refused(t, roofline.Maybe(func() { s.Loop(2, []Access{{Addr: 72, Stride: 4, Bytes: 4}}) }), "address 76: the scratchpad does not hold them")
	refused(t, roofline.Maybe(func() { s.Loop(-1, nil) }), "cache: count is -1")
	refused(t, roofline.Maybe(func() { s.Loop(1, []Access{{Addr: -4, Bytes: 4}}) }), "cache: address is -4")
	refused(t, roofline.Maybe(func() { s.load(block{Rows: 7, Cols: 1, LD: 1, ElemBytes: 4}) }), "7×1 elements does not fit: the scratchpad holds 6 of 12")
	if now, most := s.Held(); now != 6 || most != 6 {
		t.Errorf("holds %d, at most %d, want 6", now, most)
	}
	err = roofline.Maybe(func() { mustPlace(t, gemm(1, 1, 1, 4)).TiledIn(s, tiling.SquareTile(1)) })
	refused(t, err, "cache: the scratchpad holds 6 elements: it must be empty")
	// Rounds that are all the same are looked at once: 2^63 of them would take years.
	s.Loop(math.MaxInt64, []Access{{Addr: 64, Bytes: 4}})
	refused(t, roofline.Maybe(func() { s.Loop(math.MaxInt64, []Access{{Addr: 60, Bytes: 4}}) }), "address 60: the scratchpad does not hold them")
	if err := roofline.Maybe(func() { s.Loop(0, []Access{{Addr: 60, Bytes: 4}}) }); err != nil {
		t.Errorf("no rounds: %v", err)
	}
}

func TestLayoutErrors(t *testing.T) {
	g := gemm(5, 3, 7, 4)
	for _, c := range []struct {
		lda, ldb, ldc int64
		want          string
	}{
		{2, 7, 7, "cache: lda is 2: it must be at least k = 3"},
		{3, 6, 7, "cache: ldb is 6: it must be at least n = 7"},
		{3, 7, -1, "cache: ldc is -1: it must be at least n = 7"},
		{math.MaxInt64, 7, 7, "cache: a ends at address 184467440737095516140: it must end before 2^62"},
		{3, 1 << 60, 7, "cache: b ends at address"},
		{3, 7, 1 << 60, "cache: c ends at address"},
	} {
		err := roofline.Maybe(func() { PlaceLD(g, c.lda, c.ldb, c.ldc) })
		refused(t, err, c.want)
	}
	err := roofline.Maybe(func() { Place(gemm(0, 1, 1, 4)) })
	refused(t, err, "m is 0")
	l := mustPlace(t, g)
	h := mustBuild(t, fewWays, FullyAssociative("F", 4, 4))
	for _, send := range map[string]func(Layout){
		"naive":     func(l Layout) { l.Naive(h) },
		"reordered": func(l Layout) { l.Reordered(h) },
		"tiled":     func(l Layout) { l.Tiled(h, tiling.SquareTile(2)) },
		"packed":    func(l Layout) { l.Packed(h, Blocking{1, 1, 1, 1, 1}) },
		"in":        func(l Layout) { l.TiledIn(NewScratchpad(12), tiling.SquareTile(2)) },
	} {
		send(l)
		bad := l
		bad.LDB = 1
		refused(t, roofline.Maybe(func() { send(bad) }), "cache: ldb is 1")
		bad = l
		bad.BaseC = -64
		refused(t, roofline.Maybe(func() { send(bad) }), "cache: base of c is -64: it must be at least 0")
	}
	refused(t, roofline.Maybe(func() { l.Tiled(h, tiling.Rect{BM: 2, BN: 0, BK: 2}) }), "bn is 0: it must be at least 1")
	for _, c := range []struct {
		b    Blocking
		want string
	}{
		{Blocking{0, 1, 1, 1, 1}, "cache: blocking MR is 0: it must be at least 1"},
		{Blocking{1, -1, 1, 1, 1}, "cache: blocking NR is -1: it must be at least 1"},
		{Blocking{1, 1, 0, 1, 1}, "KC is 0"},
		{Blocking{1, 1, 1, 0, 1}, "MC is 0"},
		{Blocking{1, 1, 1, 1, 0}, "NC is 0"},
	} {
		refused(t, roofline.Maybe(func() { l.Packed(h, c.b) }), c.want)
	}
	const huge = math.MaxInt64
	if err := roofline.Maybe(func() { l.Packed(h, Blocking{huge, huge, huge, huge, huge}) }); err != nil {
		t.Errorf("blocks larger than the matrices: %v", err)
	}
}
