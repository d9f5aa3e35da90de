package facts

import "memorywall/pkg/roofline"

// The numbers of the chapter on FLOPs and bytes that its questions ask for.
func init() {
	register(func(add func(key string, value float64)) {
		for _, w := range []struct {
			key      string
			multiply roofline.GEMM
		}{
			{"two_by_two_float64", roofline.Square(2, 8)},
			{"ragged", roofline.GEMM{M: 3, N: 2, K: 5, ElemBytes: 4}},
		} {
			g := w.multiply
			flops := g.FLOPs()
			bytes := g.MinBytes()
			intensity := g.Intensity()
			add("ch01."+w.key+"_flops", float64(flops))
			add("ch01."+w.key+"_bytes", float64(bytes))
			add("ch01."+w.key+"_elements", float64(bytes/g.ElemBytes))
			add("ch01."+w.key+"_intensity", intensity)
		}

		const wanted = 10 // FLOP/byte
		n, below := smallestSquare(4, func(intensity float64) bool { return intensity >= wanted })
		add("ch01.smallest_n_for_ten", float64(n))
		add("ch01.intensity_one_below", below)

		row := roofline.GEMM{M: 1, N: 4096, K: 4096, ElemBytes: 2}
		intensity := row.Intensity()
		add("ch01.one_row_n", float64(row.N))
		add("ch01.one_row_intensity_fp16", intensity)
		// The limit of one row is that of a batch as B grows, with the parts of
		// A and B changed over: 2mn/((n+m)s) for k without end, then n.
		limit := roofline.BatchLimit(1, 1<<60, 4)
		add("ch01.one_row_limit_float32", limit)
	})
}

// smallestSquare returns the smallest n for which the best-case intensity of
// an n×n multiply is enough, and the intensity of n−1.
func smallestSquare(elemBytes int64, enough func(intensity float64) bool) (n int64, below float64) {
	for n = 1; ; n++ {
		intensity := roofline.Square(n, elemBytes).Intensity()
		if enough(intensity) {
			return n, below
		}
		below = intensity
	}
}
