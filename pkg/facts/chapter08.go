package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on the kernel ladder: blocks for stated caches, and
// counts. Nothing measured is here.
func chapter08(f *Group) {
	const s = float32s
	const mr, nr = 6, 16 // the tile of the AVX2 microkernel in float32
	const l1, l2, l3 = 32 * kib, 1024 * kib, 16 * 1024 * kib
	multiple := func(v, of int64) int64 { return v - v%of }

	// The largest blocks with (MR·KC + KC·NR + MR·NR)·s ≤ L1,
	// (2·KC·NC + MR·KC)·s ≤ ¾·L2 and (MC·NC + MC·KC)·s ≤ L3/2.
	kcOf := func(l1 int64) int64 { return multiple((l1/s-mr*nr)/(mr+nr), 8) }
	kc := kcOf(l1)
	nc := multiple((l2/4*3/s-mr*kc)/(2*kc), nr)
	mc := multiple(l3/2/s/(nc+kc), mr)
	f.add("l1_kib", l1/kib, "l2_mib", l2/kib/kib, "l3_mib", l3/kib/kib, "l1_elements", l1/s)
	f.add("mr", mr, "nr", nr, "tile_elements", mr*nr, "mr_plus_nr", mr+nr, "kc", kc, "nc", nc)
	f.add("mc", mc, "kc_limit", float64(l1/s-mr*nr)/(mr+nr), "l1_bytes", ((mr+nr)*kc+mr*nr)*s)
	f.add("l2_bytes", (2*kc*nc+mr*kc)*s, "l2_limit", l2/4*3, "l3_bytes", mc*(nc+kc)*s)
	f.add("l3_limit", l3/2)
	for key, capacity := range map[string]int64{"l1": l1, "l2": l2, "l3": l3} {
		f.add("square_"+key, tiling.LargestTile(capacity, s))
	}
	f.add("uses_c_tile", kc, "uses_a_panel", nc/nr, "uses_b_block", mc/mr)

	// One step of the microkernel: a column of A's panel, a row of B's.
	step := func(rows, cols int64) (loads, flops int64, intensity float64) {
		t := tiling.Compulsory(roofline.GEMM{M: rows, N: cols, K: 1, ElemBytes: s})
		return t.Loads, t.FLOPs, float64(t.FLOPs) / float64(t.Loads*s)
	}
	loads, flops, intensity := step(mr, nr)
	f.add("step_loads", loads, "step_flops", flops, "step_bytes", loads*s)
	f.add("step_intensity", intensity)
	f.add("naive_step_intensity", func() float64 { _, _, i := step(1, 1); return i }())
	const avx2Bytes, avx2Registers = 32, 16
	f.add("vector_elements", avx2Bytes/s, "sums", mr*nr*s/avx2Bytes, "registers", avx2Registers)
	f.add("registers_used", mr*nr*s/avx2Bytes+nr*s/avx2Bytes+1)
	loads, flops, _ = step(2, 3)
	f.add("hand_loads", loads, "hand_flops", flops, "hand_naive_loads", flops)

	// The rungs in the model, two sizes.
	const tile = 64
	f.add("tile", tile)
	for _, n := range []int64{1024, 2048} {
		g := roofline.Square(n, s)
		compulsory := tiling.Compulsory(g)
		naive := tiling.Naive(g)
		reordered := tiling.Traffic{Loads: n*n + naive.Loads/2, Stores: naive.Stores, FLOPs: naive.FLOPs}
		tiled := tiling.Tiled(g, tile)
		across, down := (n-1)/nc+1, (n-1)/mc+1
		packed := tiling.Traffic{Loads: (across + down) * n * n, Stores: compulsory.Stores, FLOPs: compulsory.FLOPs}
		at := map[int64]string{1024: "1024", 2048: "2048"}[n]
		f.add("n_"+at, n)
		for key, t := range map[string]tiling.Traffic{
			"naive": naive, "reordered": reordered, "tiled": tiled, "packed": packed, "least": compulsory,
		} {
			f.add(key+"_loads_"+at, t.Loads, key+"_intensity_"+at, t.Intensity(s))
		}
		f.add("reordered_saves_"+at, float64(naive.Loads)/float64(reordered.Loads))
		f.add("tiled_saves_"+at, float64(reordered.Loads)/float64(tiled.Loads))
		narrow := tiling.Traffic{Loads: (n/nr + 1) * n * n, Stores: compulsory.Stores, FLOPs: compulsory.FLOPs}
		f.add("narrow_intensity_"+at, narrow.Intensity(s), "narrow_blocks_"+at, n/nr)
	}

	const mib = kib * kib
	f.add("n", size, "weights_mib", size*size*s/mib, "half_mib", size/2*size/2*s/mib)

	// Questions.
	f.add("q2_kib", 48, "q2_kc", kcOf(48*kib), "q2_quotient", float64(48*kib/s-mr*nr)/(mr+nr))
	const avx512MR, avx512NR, avx512Bytes = 14, 32, 64
	loads, _, intensity = step(avx512MR, avx512NR)
	f.add("q3_mr", avx512MR, "q3_nr", avx512NR, "q3_vector", avx512Bytes/s)
	f.add("q3_sums", avx512MR*avx512NR*s/avx512Bytes)
	f.add("q3_left", 32-avx512MR*avx512NR*s/avx512Bytes, "q3_registers", 32, "q3_loads", loads)
	f.add("q3_intensity", intensity)

	machine := roofline.Machine{Name: "some", ElemBytes: s, Peak: 100e9, Bandwidth: 20e9}
	f.add("q4_bandwidth", machine.Bandwidth/1e9)
	// Without blocks all of B comes by for each MR rows of A.
	f.add("q4_peak", machine.Peak/1e9, "q4_ridge", machine.Ridge())
	noBlocks := tiling.Traffic{Loads: size*size + ((size-1)/mr+1)*size*size, Stores: size * size, FLOPs: 2 * size * size * size}
	f.add("q4_intensity", noBlocks.Intensity(s))
	f.add("q4_attainable", machine.Attainable(noBlocks.Intensity(s))/1e9)
}
