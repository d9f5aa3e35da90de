package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on naive and compulsory traffic.
func chapter03(f *Group) {
	chip := roofline.A100()
	attainable := func(t tiling.Traffic) float64 { return chip.Attainable(t.Intensity(chip.ElemBytes)) }

	few := tiling.Naive(roofline.Square(2, chip.ElemBytes))
	f.add("small_naive_loads", few.Loads, "small_naive_elements", few.Loads+few.Stores)

	const n = 4096
	multiply := roofline.Square(n, chip.ElemBytes)
	naive := tiling.Naive(multiply)
	compulsory := tiling.Compulsory(multiply)
	f.add("n", n, "loads_of_each_element", float64(naive.Loads)/float64(compulsory.Loads))
	f.add("bandwidth_for_naive_tb_s", chip.Peak/naive.Intensity(chip.ElemBytes)/1e12)

	double := attainable(tiling.Naive(roofline.Square(2*n, chip.ElemBytes)))
	f.add("double_n", 2*n, "double_n_percent", 100*double/chip.Peak)

	speed := attainable(tiling.Tiled(multiply, 2))
	f.add("reuse_two_tflops", speed/1e12, "reuse_two_percent", 100*speed/chip.Peak)

	const small = 64
	f.add("small_n", small, "small_n_intensity", roofline.Square(small, chip.ElemBytes).Intensity())
}
