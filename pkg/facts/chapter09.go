package facts

import (
	"math"

	"memorywall/pkg/cache"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter that holds the model against caches. Nothing
// measured is here.
func chapter09(f *Group) {
	simulate := func(l cache.Layout, run func(cache.Layout, cache.Sink), levels ...cache.Config) []cache.Stats {
		h := cache.New(levels...)
		run(l, h)
		h.Flush()
		return h.Stats()
	}
	tiled := func(b int64) func(cache.Layout, cache.Sink) {
		return func(l cache.Layout, to cache.Sink) { l.Tiled(to, tiling.SquareTile(b)) }
	}

	// A fast memory of 768 elements, one element a line.
	const n, room = 128, 768
	g := roofline.Square(n, float32s)
	small := cache.FullyAssociative("", room, float32s)
	bound := tiling.LoadLowerBound(g, room)
	model := tiling.LargestTile(room, 1)
	lru := model
	for cache.TiledLines(g, tiling.SquareTile(lru), 1) > room {
		lru--
	}
	f.add("n", n, "room", room, "mn", bound.Stores, "model_tile", model, "lru_tile", lru)
	f.add("lru_tile_plus", lru+1, "lru_need", cache.TiledLines(g, tiling.SquareTile(lru), 1))
	f.add("lru_need_plus", cache.TiledLines(g, tiling.SquareTile(lru+1), 1))
	f.add("lru_need_model_tile", cache.TiledLines(g, tiling.SquareTile(model), 1))
	f.add("leading", bound.Leading, "bound", bound.Loads, "compulsory", bound.Compulsory)
	f.add("model_loads", tiling.Tiled(g, model).Loads)
	f.add("lru_tile_loads", tiling.Tiled(g, lru).Loads)
	place := cache.Place(g)
	fits := simulate(place, tiled(lru), small)[0]
	over := simulate(place, tiled(model), small)[0]
	f.add("lru_misses", fits.Misses(), "lru_write_backs", fits.WriteBacks)
	f.add("over_misses", over.Misses(), "over_write_backs", over.WriteBacks)
	f.add("over_factor", float64(over.Misses()-bound.Stores)/float64(tiling.Tiled(g, model).Loads))
	through := small
	through.Policy = cache.WriteThrough
	f.add("through_out", simulate(place, tiled(lru), through)[0].BytesOut/float32s)
	f.add("sqrt3", math.Sqrt(3))
	f.add("model_over_leading", float64(tiling.Tiled(g, model).Loads)/bound.Leading)

	thin, traffic := tiling.BestRect(g, room)
	f.add("thin_bm", thin.BM, "thin_bn", thin.BN, "thin_loads", traffic.Loads)
	f.add("thin_elems", thin.FastElems(), "thin_lru_need", cache.TiledLines(g, thin, 1))
	f.add("thin_misses", simulate(place, func(l cache.Layout, to cache.Sink) { l.Tiled(to, thin) }, small)[0].Misses())

	// In and out together: the least of the tiles that are drawn.
	both := int64(math.MaxInt64)
	for _, b := range []int64{1, 2, 4, 8, 10, 12, 13, 14, 16, 20, 24, 32, 64, 128} {
		got := simulate(place, tiled(b), small)[0]
		both = min(both, got.Fills+got.WriteBacks)
	}
	f.add("both_min", both)

	// Lines: the plain loops in 12 KiB.
	naiveBytes := map[int64]int64{}
	for _, line := range []int64{64, 128} {
		c := cache.FullyAssociative("", 12*kib/line, line)
		naiveBytes[line] = simulate(place, cache.Layout.Naive, c)[0].BytesIn
		prefix := map[int64]string{64: "line64_", 128: "line128_"}[line]
		f.add(prefix+"bytes", line, prefix+"lines", c.Lines(), prefix+"elems", line/float32s)
		f.add(prefix+"need", cache.NaiveLines(g, line/float32s).Inner)
		f.add(prefix+"naive_bytes", naiveBytes[line])
	}
	f.add("line_kib", 12, "line_factor", float64(naiveBytes[128])/float64(naiveBytes[64]))

	// Two levels as many processors have them, and rows of 1024 or 1040.
	l1 := cache.Config{Name: "L1", SizeBytes: 48 * kib, LineBytes: 64, Ways: 12}
	l2 := cache.Config{Name: "L2", SizeBytes: 2048 * kib, LineBytes: 64, Ways: 16}
	f.add("l1_kib", l1.SizeBytes/kib, "l1_ways", l1.Ways, "l1_sets", l1.Sets())
	f.add("l1_lines", l1.Lines(), "l2_ways", l2.Ways)
	const wide, padded, strip = 1024, 1040, 256
	f.add("ld", wide, "ld_padded", padded, "strip", strip)
	f.add("ld_lines", wide*float32s/l1.LineBytes)
	f.add("ld_padded_lines", padded*float32s/l1.LineBytes)
	for name, ld := range map[string]int64{"wide": wide, "padded": padded} {
		per := func(m int64, run func(cache.Layout, cache.Sink), level int) float64 {
			l := cache.PlaceLD(roofline.GEMM{M: m, N: strip, K: wide, ElemBytes: float32s}, ld, ld, ld)
			return 1000 * float64(simulate(l, run, l1, l2)[level].Misses()) / float64(m*strip*wide)
		}
		f.add(name+"_tiled_l1", per(32, tiled(32), 0))
		f.add(name+"_naive_l2", per(4, cache.Layout.Naive, 1))
		f.add(name+"_packed_l1", per(32, func(l cache.Layout, to cache.Sink) { l.Packed(to, packedBlocks) }, 0))
	}
	f.add("conflict_b", 32, "conflict_tile_bytes", tiling.FastBytes(32, float32s))

	// The sweep in bytes.
	sweep := roofline.Square(256, float32s)
	f.add("sweep_n", sweep.N, "sweep_ld_padded", 272)
	f.add("sweep_model_tile", tiling.LargestTile(l1.SizeBytes, float32s))
	const fits48 = 48
	f.add("sweep_b", fits48)
	f.add("sweep_lines", cache.TiledLines(sweep, tiling.SquareTile(fits48), l1.LineBytes/float32s))
	f.add("sweep_model_tile_lines", cache.TiledLines(sweep, tiling.SquareTile(64), l1.LineBytes/float32s))
	for what, ld := range map[string]int64{"wide": sweep.N, "padded": 272} {
		l := cache.PlaceLD(sweep, ld, ld, ld)
		f.add("sweep_"+what+"_mb", float64(simulate(l, tiled(fits48), l1)[0].BytesIn)/1e6)
	}

	// Rectangles, at the size of the chapter on tile sizes.
	large := roofline.Square(size, 2)
	const elems = 64 * kib / 2
	square := tiling.Tiled(large, tiling.LargestTile(elems, 1))
	best, bestTraffic := tiling.BestRect(large, elems)
	lower := tiling.LoadLowerBound(large, elems)
	f.add("large_n", size, "large_room", elems, "large_square_b", tiling.LargestTile(elems, 1))
	f.add("large_square_loads", square.Loads, "large_bm", best.BM, "large_bn", best.BN)
	f.add("large_best_loads", bestTraffic.Loads, "large_bound", lower.Loads)
	f.add("large_square_over_bound", float64(square.Loads)/float64(lower.Loads))
	f.add("large_best_over_bound", float64(bestTraffic.Loads)/float64(lower.Loads))
	f.add("large_square_intensity", square.Intensity(2))
	f.add("large_best_intensity", bestTraffic.Intensity(2))

	// The packed kernel at two boundaries.
	const pn = packedSide
	packed := cache.Place(roofline.Square(pn, float32s))
	half := l2
	half.SizeBytes /= 4
	levels := simulate(packed, func(l cache.Layout, to cache.Sink) { l.Packed(to, packedBlocks) }, l1, half)
	f.add("packed_n", pn, "packed_l2_kib", half.SizeBytes/kib)
	for i, c := range []cache.Config{l1, half} {
		lower := tiling.LoadLowerBound(packed.GEMM, c.SizeBytes/float32s)
		name := []string{"packed_l1_", "packed_l2_"}[i]
		f.add(name+"loads", levels[i].BytesIn/float32s, name+"bound", lower.Loads)
		f.add(name+"over", float64(levels[i].BytesIn/float32s)/float64(lower.Loads))
	}

	f.add("large_best_percent", 100*(float64(bestTraffic.Loads)/float64(lower.Loads)-1))
	f.add("arxiv", 1702.02017, "try_n", 192)

	// Questions.
	f.add("q4_rows", 100, "q7_step", l1.LineBytes/float32s)
	whole := l1
	whole.Ways = 0
	bytesIn := func(ld int64, c cache.Config) int64 {
		return simulate(cache.PlaceLD(roofline.Square(192, float32s), ld, ld, ld), tiled(48), c)[0].BytesIn
	}
	free := int64(256) // the first leading dimension without conflicts
	for bytesIn(free, l1) > bytesIn(free, whole) {
		free += l1.LineBytes / float32s
	}
	f.add("q7_ld", free, "q7_lines", free*float32s/l1.LineBytes, "q2_b", 32)
	f.add("q2_model", tiling.SquareTile(32).FastElems())
	f.add("q2_lru", cache.TiledLines(roofline.Square(1024, float32s), tiling.SquareTile(32), 1))
	const q3room = n * n // its root is a whole number
	q3 := tiling.LoadLowerBound(roofline.Square(1024, float32s), q3room)
	q3b := tiling.LargestTile(q3room, 1)
	f.add("q3_n", 1024, "q3_room", q3room, "q3_bound", q3.Loads, "q3_b", q3b)
	f.add("q3_loads", tiling.Tiled(roofline.Square(1024, float32s), q3b).Loads)
	f.add("q3_factor", float64(tiling.Tiled(roofline.Square(1024, float32s), q3b).Loads)/float64(q3.Loads))
	r := fewestElements(large, roofline.A100().Ridge())
	f.add("q6_elems", r.FastElems(), "q6_bm", r.BM, "q6_bn", r.BN)
	f.add("q6_kib", float64(2*r.FastElems())/kib)
}

// packedBlocks is the blocking of the packed multiply in that chapter.
var packedBlocks = cache.Blocking{MR: 6, NR: 16, KC: packedSide / 2, MC: packedSide, NC: packedSide}

const packedSide = 3 * 128
