package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on naive and compulsory traffic.
func init() {
	register(func(add func(key string, value float64)) {
		chip := roofline.A100()
		attainable := func(t tiling.Traffic) float64 { return chip.Attainable(t.Intensity(chip.ElemBytes)) }

		few := tiling.Naive(roofline.Square(2, chip.ElemBytes))
		add("ch03.small_naive_loads", float64(few.Loads))
		add("ch03.small_naive_elements", float64(few.Loads+few.Stores))

		const n = 4096
		multiply := roofline.Square(n, chip.ElemBytes)
		naive := tiling.Naive(multiply)
		least := tiling.Compulsory(multiply)
		add("ch03.n", n)
		add("ch03.loads_of_each_element", float64(naive.Loads)/float64(least.Loads))
		intensity := naive.Intensity(chip.ElemBytes)
		add("ch03.bandwidth_for_naive_tb_s", chip.Peak/intensity/1e12)

		double := tiling.Naive(roofline.Square(2*n, chip.ElemBytes))
		speed := attainable(double)
		add("ch03.double_n", 2*n)
		add("ch03.double_n_percent", 100*speed/chip.Peak)

		twice := tiling.Tiled(multiply, 2)
		speed = attainable(twice)
		add("ch03.reuse_two_tflops", speed/1e12)
		add("ch03.reuse_two_percent", 100*speed/chip.Peak)

		const small = 64
		intensity = roofline.Square(small, chip.ElemBytes).Intensity()
		add("ch03.small_n", small)
		add("ch03.small_n_intensity", intensity)
	})
}
