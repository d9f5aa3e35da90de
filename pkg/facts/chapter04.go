package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on a tile by hand.
func chapter04(f *Group) {
	loads := func(g roofline.GEMM, tile int64) int64 { return tiling.Tiled(g, tile).Loads }
	f.add("n", size, "sweep_n", countedN)

	edge := roofline.GEMM{M: 5, N: 7, K: 3, ElemBytes: 1}
	f.add("edge_m", edge.M, "edge_n", edge.N, "edge_k", edge.K)
	f.add("edge_elements_a", edge.M*edge.K, "edge_elements_b", edge.K*edge.N)
	f.add("edge_loads", loads(edge, 2))

	four := roofline.Square(4, 1)
	f.add("q2_loads_b1", loads(four, 1), "q2_loads_b4", loads(four, 4))

	twelve := roofline.Square(12, 1)
	threes := tiling.Tiled(twelve, 3)
	f.add("q4_n", twelve.N, "q4_loads", threes.Loads, "q4_stores", threes.Stores)
	f.add("q4_flops", threes.FLOPs, "q4_per_element", threes.Intensity(1))

	row := roofline.GEMM{M: 1, N: 64, K: 64, ElemBytes: 1}
	f.add("q5_n", row.N, "q5_loads_b1", loads(row, 1), "q5_loads_b64", loads(row, row.N))

	sixty := roofline.Square(60, 1)
	naive := tiling.Naive(sixty).Loads
	less := first(func(tile int64) bool { return 10*loads(sixty, tile) < naive })
	f.add("q6_tile_of_a_tenth", first(func(tile int64) bool { return 10*loads(sixty, tile) <= naive }))
	f.add("q6_n", sixty.N, "q6_tile_before", less-1, "q6_tile", less)
}
