package facts

import (
	"fmt"
	"math"
	"slices"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// What the lesson asks about. All the rest of the report follows from it.
const (
	size       = 4096 // n of the large multiply
	countedN   = 128  // n of the sweep that runs the loops
	exampleB   = 2    // tile of the 4×4 example
	float32s   = 4    // bytes
	kib        = 1024 // bytes
	modelSize  = 7e9  // parameters
	questionKB = 48   // KiB of fast memory in the capacity question
)

var (
	bestCaseSizes = []int64{2, 16, 256, 4096}
	countedTiles  = []int64{4, 8, 16, 32, 64, 128}
	sweepTiles    = []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}
	capacitiesKiB = []int64{16, 64, 256, 1024}

	// Batches on both sides of the ridge; the two next to it are added.
	fewTokens  = []int64{1, 2, 8, 16, 32, 64, 128}
	manyTokens = []int64{256, 512, 1024, 4096}
)

// exampleA and exampleRight are the matrices of the 4×4 example.
var (
	exampleA = [][]int64{
		{1, 2, 0, 1},
		{3, 1, 2, 0},
		{0, 1, 1, 2},
		{2, 0, 1, 1},
	}
	exampleRight = [][]int64{
		{1, 2, 2, 1},
		{0, 1, 1, 0},
		{2, 1, 0, 1},
		{1, 2, 1, 0},
	}
)

// large is the large multiply on the reference chip.
func large() roofline.GEMM { return roofline.Square(size, roofline.A100().ElemBytes) }

func chip(f *Group) {
	m := roofline.A100()
	f.show("name", m.Name, "chip", "")
	f.show("source", m.Source, "source", "")
	f.show("peak_flops", m.Peak, "peak", "FLOP/s")
	f.show("bandwidth_bytes_per_s", m.Bandwidth, "bandwidth", "B/s")
	f.show("elem_bytes", m.ElemBytes, "element size", "bytes")
	f.show("ridge_flop_per_byte", m.Ridge(), "ridge", "FLOP/byte")
}

func twoByTwo(f *Group) {
	g := roofline.Square(2, float32s)
	f.show("flops", g.FLOPs(), "work", "FLOPs")
	f.show("min_bytes", g.MinBytes(), "compulsory traffic", "bytes")
	f.show("intensity", g.Intensity(), "intensity", "FLOP/byte")
}

func bestCase(f *Group) {
	for i, n := range bestCaseSizes {
		row := fmt.Sprintf("[%d].", i)
		f.show(row+"n", n, "n", "")
		f.show(row+"intensity", roofline.Square(n, float32s).Intensity(), "intensity", "FLOP/byte")
	}
}

func naiveVersusIdeal(f *Group) {
	m, g := roofline.A100(), large()
	naive, compulsory := tiling.Naive(g), tiling.Compulsory(g)
	attainable := m.Attainable(naive.Intensity(g.ElemBytes))
	slow := m.Times(float64(naive.FLOPs), float64(naive.Bytes(g.ElemBytes)))
	fast := m.Times(float64(compulsory.FLOPs), float64(compulsory.Bytes(g.ElemBytes)))
	f.show("flops", naive.FLOPs, "work", "FLOPs")
	f.show("naive_loads", naive.Loads, "loads without reuse", "elements")
	f.show("naive_stores", naive.Stores, "stores", "elements")
	f.show("naive_bytes", naive.Bytes(g.ElemBytes), "traffic without reuse", "bytes")
	f.show("naive_intensity", naive.Intensity(g.ElemBytes), "intensity without reuse", "FLOP/byte")
	f.show("min_bytes", compulsory.Bytes(g.ElemBytes), "compulsory traffic", "bytes")
	f.show("min_intensity", compulsory.Intensity(g.ElemBytes), "best-case intensity", "FLOP/byte")
	f.show("naive_attainable_flops", attainable, "attainable without reuse", "FLOP/s")
	f.show("naive_percent_of_peak", 100*attainable/m.Peak, "that is, of the peak", "%")
	f.show("floor_math_s", slow.Compute, "compute time", "s")
	f.show("floor_naive_traffic_s", slow.Memory, "memory time without reuse", "s")
	f.show("floor_min_traffic_s", fast.Memory, "memory time of the compulsory traffic", "s")
	f.show("naive_over_math", slow.Memory/slow.Compute, "memory time without reuse over compute time", "times")
}

func workedExample(f *Group) {
	matrix := func(key string, m tiling.Matrix[int64]) {
		for i, row := range m.ToRows() {
			for j, v := range row {
				f.show(fmt.Sprintf("%s[%d][%d]", key, i, j), v, "", "")
			}
		}
	}
	a, b := tiling.FromRows(exampleA), tiling.FromRows(exampleRight)
	c, counted := tiling.Multiply(a, b, exampleB)
	matrix("A", a)
	matrix("B", b)
	matrix("C", c)
	g := roofline.GEMM{M: int64(a.Rows), N: int64(b.Cols), K: int64(a.Cols), ElemBytes: 1} // 1: per number moved
	naive := tiling.Naive(g)
	steps, parts := 0, 0
	for s := range tiling.Steps(g, exampleB) {
		for i, v := range []int64{s.I, s.J, s.P, s.Loads} {
			f.show(fmt.Sprintf("steps[%d][%d]", steps, i), v, []string{"tile row", "tile column", "tile along k", "loads"}[i], "")
		}
		steps++
	}
	f.show("loads", counted.Loads, "loads", "elements")
	f.show("stores", counted.Stores, "stores", "elements")
	f.show("flops", counted.FLOPs, "work", "FLOPs")
	f.show("naive_loads", naive.Loads, "loads without reuse", "elements")
	f.show("naive_intensity_per_number", naive.Intensity(1), "intensity without reuse", "FLOPs per number moved")
	f.show("tiled_intensity_per_number", counted.Intensity(1), "intensity in tiles", "FLOPs per number moved")
	for s := range tiling.Steps(g, exampleB) {
		if s.I == 0 && s.J == 0 {
			matrix(fmt.Sprintf("top_left_partial_products[%d]", parts), tiling.PartialProduct(a, b, exampleB, 0, 0, int(s.P)))
			parts++
		}
	}
}

// countedSweep runs the tiled loops. The counts do not depend on what the
// matrices hold.
func countedSweep(f *Group) {
	a := tiling.New[int32](countedN, countedN)
	g := roofline.Square(countedN, roofline.A100().ElemBytes)
	for i, b := range countedTiles {
		_, counted := tiling.Multiply(a, a, int(b))
		row := fmt.Sprintf("[%d].", i)
		f.show(row+"b", b, "b", "")
		f.show(row+"loads", counted.Loads, "loads", "elements")
		f.show(row+"formula", g.FLOPs()/b, "2n³/b", "elements")
		f.show(row+"stores", counted.Stores, "stores", "elements")
		f.show(row+"flops", counted.FLOPs, "work", "FLOPs")
		f.show(row+"intensity", counted.Intensity(g.ElemBytes), "intensity", "FLOP/byte")
	}
}

func tileSweep(f *Group) {
	g := large()
	compulsory := float64(tiling.Compulsory(g).Bytes(g.ElemBytes))
	for i, b := range sweepTiles {
		t := tiling.Tiled(g, b)
		row := fmt.Sprintf("[%d].", i)
		f.show(row+"b", b, "b", "")
		f.show(row+"loads", t.Loads, "loads", "elements")
		f.show(row+"bytes_over_min", float64(t.Bytes(g.ElemBytes))/compulsory, "traffic over compulsory", "times")
		f.show(row+"intensity", t.Intensity(g.ElemBytes), "intensity", "FLOP/byte")
		f.show(row+"fast_bytes", tiling.FastBytes(b, g.ElemBytes), "fast memory", "bytes")
	}
}

func capacity(f *Group) {
	s := large().ElemBytes
	for i, c := range capacitiesKiB {
		b := tiling.LargestTile(c*kib, s)
		row := fmt.Sprintf("[%d].", i)
		f.show(row+"kib", c, "fast memory", "KiB")
		f.show(row+"max_tile", b, "largest b", "")
		f.show(row+"intensity", tiling.Intensity(size, b, s), "intensity", "FLOP/byte")
	}
}

// ridgeTile has the three answers to: how large a tile reaches the ridge?
func ridgeTile(f *Group) {
	s, ridge := roofline.A100().ElemBytes, roofline.A100().Ridge()
	b := tiling.RidgeTile(size, s, ridge)
	fractional := tiling.FractionalRidgeTile(size, s, ridge)
	f.show("rule_of_thumb", tiling.RuleOfThumbTile(ridge, s), "rule of thumb, s·ridge", "elements")
	f.show("with_store_term_fractional", fractional, "with the stores of C", "elements")
	f.show("with_store_term_ceil", math.Ceil(fractional), "the same, rounded up", "elements")
	f.show("exact", b, "with whole tiles: smallest b", "elements")
	f.show("intensity_at_exact", tiling.Intensity(size, b, s), "intensity at that b", "FLOP/byte")
	f.show("tiles_per_side_at_exact", tiling.TilesPerSide(size, b), "tiles per side at that b", "")
	f.show("intensity_one_smaller", tiling.Intensity(size, b-1, s), "intensity at b − 1", "FLOP/byte")
	f.show("tiles_per_side_one_smaller", tiling.TilesPerSide(size, b-1), "tiles per side at b − 1", "")
	f.show("fast_bytes_at_exact", tiling.FastBytes(b, s), "fast memory at that b", "bytes")
}

func decode(f *Group) {
	m := roofline.A100()
	batch := roofline.BatchToRidge(m, size, size)
	for i, tokens := range slices.Concat(fewTokens, []int64{batch - 1, batch}, manyTokens) {
		intensity := roofline.GEMM{M: tokens, N: size, K: size, ElemBytes: m.ElemBytes}.Intensity()
		row := fmt.Sprintf("rows[%d].", i)
		f.show(row+"m", tokens, "m", "")
		f.show(row+"intensity", intensity, "intensity", "FLOP/byte")
		f.show(row+"bound", m.Classify(intensity).String(), "bound", "")
		f.show(row+"attainable_flops", m.Attainable(intensity), "attainable", "FLOP/s")
		f.show(row+"percent_of_peak", 100*m.Attainable(intensity)/m.Peak, "of the peak", "%")
	}
	f.show("batch_to_reach_ridge", batch, "smallest batch at the ridge", "")
}

func sevenBillion(f *Group) {
	m := roofline.A100()
	f.show("params", modelSize, "parameters", "")
	f.show("weight_bytes", roofline.WeightBytes(m, modelSize), "weights", "bytes")
	f.show("weight_read_s", roofline.WeightReadTime(m, modelSize), "time to read them once", "s")
	f.show("max_tokens_per_s", roofline.TokensPerSecond(m, modelSize), "decode rate at batch 1, at most", "tokens/s")
}

func checkYourself(f *Group) {
	b := tiling.LargestTile(questionKB*kib, float32s)
	f.show("max_tile", b, "largest b", "")
	f.show("intensity", tiling.Intensity(size, b, float32s), "intensity", "FLOP/byte")
}
