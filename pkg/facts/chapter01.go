package facts

import "memorywall/pkg/roofline"

// The numbers of the chapter on FLOPs and bytes that its questions ask for.
func chapter01(f *Group) {
	for key, g := range map[string]roofline.GEMM{
		"two_by_two_float64": roofline.Square(2, 8),
		"ragged":             {M: 3, N: 2, K: 5, ElemBytes: 4},
	} {
		f.add(key+"_flops", g.FLOPs(), key+"_bytes", g.MinBytes())
		f.add(key+"_elements", g.MinBytes()/g.ElemBytes, key+"_intensity", g.Intensity())
	}

	const wanted = 10 // FLOP/byte
	n := smallestSquare(4, wanted)
	f.add("smallest_n_for_ten", n, "intensity_one_below", roofline.Square(n-1, 4).Intensity())

	row := roofline.GEMM{M: 1, N: 4096, K: 4096, ElemBytes: 2}
	f.add("one_row_n", row.N, "one_row_intensity_fp16", row.Intensity())
	// The limit of one row is that of a batch as B grows, with the parts of
	// A and B changed over: 2mn/((n+m)s) for k without end, then n.
	f.add("one_row_limit_float32", roofline.BatchLimit(1, 1<<60, 4))
}

// smallestSquare returns the smallest n for which the best-case intensity of an
// n×n multiply is enough.
func smallestSquare(elemBytes int64, enough float64) int64 {
	return first(func(n int64) bool { return roofline.Square(n, elemBytes).Intensity() >= enough })
}
