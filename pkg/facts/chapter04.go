package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on a tile by hand.
func init() {
	register(func(add func(key string, value float64)) {
		loads := func(g roofline.GEMM, tile int64) int64 { return tiling.Tiled(g, tile).Loads }
		add("ch04.n", size)
		add("ch04.sweep_n", countedN)

		edge := roofline.GEMM{M: 5, N: 7, K: 3, ElemBytes: 1}
		add("ch04.edge_m", float64(edge.M))
		add("ch04.edge_n", float64(edge.N))
		add("ch04.edge_k", float64(edge.K))
		add("ch04.edge_elements_a", float64(edge.M*edge.K))
		add("ch04.edge_elements_b", float64(edge.K*edge.N))
		add("ch04.edge_loads", float64(loads(edge, 2)))

		four := roofline.Square(4, 1)
		add("ch04.q2_loads_b1", float64(loads(four, 1)))
		add("ch04.q2_loads_b4", float64(loads(four, 4)))

		twelve := roofline.Square(12, 1)
		threes := tiling.Tiled(twelve, 3)
		add("ch04.q4_n", float64(twelve.N))
		add("ch04.q4_loads", float64(threes.Loads))
		add("ch04.q4_stores", float64(threes.Stores))
		add("ch04.q4_flops", float64(threes.FLOPs))
		add("ch04.q4_per_element", threes.Intensity(1))

		row := roofline.GEMM{M: 1, N: 64, K: 64, ElemBytes: 1}
		add("ch04.q5_n", float64(row.N))
		add("ch04.q5_loads_b1", float64(loads(row, 1)))
		add("ch04.q5_loads_b64", float64(loads(row, row.N)))

		sixty := roofline.Square(60, 1)
		naive := tiling.Naive(sixty).Loads
		tenth, less := int64(1), int64(1)
		for 10*loads(sixty, tenth) > naive {
			tenth++
		}
		for 10*loads(sixty, less) >= naive {
			less++
		}
		add("ch04.q6_n", float64(sixty.N))
		add("ch04.q6_tile_of_a_tenth", float64(tenth))
		add("ch04.q6_tile_before", float64(less-1))
		add("ch04.q6_tile", float64(less))
	})
}
