package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on the kernel ladder: blocks for stated caches, and
// counts. Nothing measured is here.
func init() {
	register(func(add func(key string, value float64)) {
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
		add("ch08.l1_kib", l1/kib)
		add("ch08.l2_mib", l2/kib/kib)
		add("ch08.l3_mib", l3/kib/kib)
		add("ch08.l1_elements", l1/s)
		add("ch08.mr", mr)
		add("ch08.nr", nr)
		add("ch08.tile_elements", mr*nr)
		add("ch08.mr_plus_nr", mr+nr)
		add("ch08.kc", float64(kc))
		add("ch08.nc", float64(nc))
		add("ch08.mc", float64(mc))
		add("ch08.kc_limit", float64(l1/s-mr*nr)/(mr+nr))
		add("ch08.l1_bytes", float64(((mr+nr)*kc+mr*nr)*s))
		add("ch08.l2_bytes", float64((2*kc*nc+mr*kc)*s))
		add("ch08.l2_limit", l2/4*3)
		add("ch08.l3_bytes", float64(mc*(nc+kc)*s))
		add("ch08.l3_limit", l3/2)
		for key, capacity := range map[string]int64{"l1": l1, "l2": l2, "l3": l3} {
			add("ch08.square_"+key, float64(tiling.LargestTile(capacity, s)))
		}
		add("ch08.uses_c_tile", float64(kc))
		add("ch08.uses_a_panel", float64(nc/nr))
		add("ch08.uses_b_block", float64(mc/mr))

		// One step of the microkernel: a column of A's panel, a row of B's.
		step := func(rows, cols int64) (loads, flops int64, intensity float64) {
			t := tiling.Compulsory(roofline.GEMM{M: rows, N: cols, K: 1, ElemBytes: s})
			return t.Loads, t.FLOPs, float64(t.FLOPs) / float64(t.Loads*s)
		}
		loads, flops, intensity := step(mr, nr)
		add("ch08.step_loads", float64(loads))
		add("ch08.step_flops", float64(flops))
		add("ch08.step_bytes", float64(loads*s))
		add("ch08.step_intensity", intensity)
		add("ch08.naive_step_intensity", func() float64 { _, _, i := step(1, 1); return i }())
		const avx2Bytes, avx2Registers = 32, 16
		add("ch08.vector_elements", avx2Bytes/s)
		add("ch08.sums", mr*nr*s/avx2Bytes)
		add("ch08.registers", avx2Registers)
		add("ch08.registers_used", mr*nr*s/avx2Bytes+nr*s/avx2Bytes+1)
		loads, flops, _ = step(2, 3)
		add("ch08.hand_loads", float64(loads))
		add("ch08.hand_flops", float64(flops))
		add("ch08.hand_naive_loads", float64(flops))

		// The rungs in the model, two sizes.
		const tile = 64
		add("ch08.tile", tile)
		for _, n := range []int64{1024, 2048} {
			g := roofline.Square(n, s)
			least := tiling.Compulsory(g)
			naive := tiling.Naive(g)
			reordered := tiling.Traffic{Loads: n*n + naive.Loads/2, Stores: naive.Stores, FLOPs: naive.FLOPs}
			tiled := tiling.Tiled(g, tile)
			across, down := (n-1)/nc+1, (n-1)/mc+1
			packed := tiling.Traffic{Loads: (across + down) * n * n, Stores: least.Stores, FLOPs: least.FLOPs}
			at := map[int64]string{1024: "1024", 2048: "2048"}[n]
			add("ch08.n_"+at, float64(n))
			for key, t := range map[string]tiling.Traffic{
				"naive": naive, "reordered": reordered, "tiled": tiled, "packed": packed, "least": least,
			} {
				add("ch08."+key+"_loads_"+at, float64(t.Loads))
				add("ch08."+key+"_intensity_"+at, t.Intensity(s))
			}
			add("ch08.reordered_saves_"+at, float64(naive.Loads)/float64(reordered.Loads))
			add("ch08.tiled_saves_"+at, float64(reordered.Loads)/float64(tiled.Loads))
			narrow := tiling.Traffic{Loads: (n/nr + 1) * n * n, Stores: least.Stores, FLOPs: least.FLOPs}
			add("ch08.narrow_intensity_"+at, narrow.Intensity(s))
			add("ch08.narrow_blocks_"+at, float64(n/nr))
		}

		const mib = kib * kib
		add("ch08.n", size)
		add("ch08.weights_mib", size*size*s/mib)

		// Questions.
		add("ch08.q2_kib", 48)
		add("ch08.q2_kc", float64(kcOf(48*kib)))
		add("ch08.q2_quotient", float64(48*kib/s-mr*nr)/(mr+nr))
		const avx512MR, avx512NR, avx512Bytes = 14, 32, 64
		loads, _, intensity = step(avx512MR, avx512NR)
		add("ch08.q3_mr", avx512MR)
		add("ch08.q3_nr", avx512NR)
		add("ch08.q3_vector", avx512Bytes/s)
		add("ch08.q3_sums", avx512MR*avx512NR*s/avx512Bytes)
		add("ch08.q3_left", 32-avx512MR*avx512NR*s/avx512Bytes)
		add("ch08.q3_registers", 32)
		add("ch08.q3_loads", float64(loads))
		add("ch08.q3_intensity", intensity)

		machine := roofline.Machine{Name: "some", ElemBytes: s, Peak: 100e9, Bandwidth: 20e9}
		add("ch08.q4_bandwidth", machine.Bandwidth/1e9)
		// Without blocks all of B comes by for each MR rows of A.
		add("ch08.q4_peak", machine.Peak/1e9)
		add("ch08.q4_ridge", machine.Ridge())
		noBlocks := tiling.Traffic{Loads: size*size + ((size-1)/mr+1)*size*size, Stores: size * size, FLOPs: 2 * size * size * size}
		add("ch08.q4_intensity", noBlocks.Intensity(s))
		add("ch08.q4_attainable", machine.Attainable(noBlocks.Intensity(s))/1e9)
	})
}
