package facts

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The numbers of the chapter on naive and compulsory traffic.
func init() {
	register(func(add func(key string, value float64)) error {
		chip := roofline.A100()
		attainable := func(t tiling.Traffic) (float64, error) {
			intensity, err := t.Intensity(chip.ElemBytes)
			if err != nil {
				return 0, err
			}
			return chip.Attainable(intensity)
		}

		few, err := tiling.Naive(roofline.Square(2, chip.ElemBytes))
		if err != nil {
			return err
		}
		add("ch03.small_naive_loads", float64(few.Loads))
		add("ch03.small_naive_elements", float64(few.Loads+few.Stores))

		const n = 4096
		multiply := roofline.Square(n, chip.ElemBytes)
		naive, err := tiling.Naive(multiply)
		if err != nil {
			return err
		}
		least, err := tiling.Compulsory(multiply)
		if err != nil {
			return err
		}
		add("ch03.n", n)
		add("ch03.loads_of_each_element", float64(naive.Loads)/float64(least.Loads))
		intensity, err := naive.Intensity(chip.ElemBytes)
		if err != nil {
			return err
		}
		add("ch03.bandwidth_for_naive_tb_s", chip.Peak/intensity/1e12)

		double, err := tiling.Naive(roofline.Square(2*n, chip.ElemBytes))
		if err != nil {
			return err
		}
		speed, err := attainable(double)
		if err != nil {
			return err
		}
		add("ch03.double_n", 2*n)
		add("ch03.double_n_percent", 100*speed/chip.Peak)

		twice, err := tiling.Tiled(multiply, 2)
		if err != nil {
			return err
		}
		speed, err = attainable(twice)
		if err != nil {
			return err
		}
		add("ch03.reuse_two_tflops", speed/1e12)
		add("ch03.reuse_two_percent", 100*speed/chip.Peak)

		const small = 64
		intensity, err = roofline.Square(small, chip.ElemBytes).Intensity()
		if err != nil {
			return err
		}
		add("ch03.small_n", small)
		add("ch03.small_n_intensity", intensity)
		return nil
	})
}
