package facts

import "memorywall/pkg/roofline"

// The numbers of the chapter on the roofline.
func init() {
	register(func(add func(key string, value float64)) error {
		chip := roofline.A100()
		ridge, err := chip.Ridge()
		if err != nil {
			return err
		}
		add("ch02.n", 4096)

		toy := roofline.Machine{Name: "toy", ElemBytes: 4, Peak: 8, Bandwidth: 2}
		small := roofline.Square(2, toy.ElemBytes)
		flops, err := small.FLOPs()
		if err != nil {
			return err
		}
		bytes, err := small.MinBytes()
		if err != nil {
			return err
		}
		floors, err := toy.TimeFloors(float64(flops), float64(bytes))
		if err != nil {
			return err
		}
		add("ch02.toy_traffic_floor_s", floors.AtLeast())

		// One GB, so many FLOPs for each byte, on the A100.
		const gigabyte, intensity = 1e9, 10
		worked, err := chip.TimeFloors(intensity*gigabyte, gigabyte)
		if err != nil {
			return err
		}
		add("ch02.worked_intensity", intensity)
		add("ch02.worked_math_ms", worked.Math*1e3)
		add("ch02.worked_traffic_ms", worked.Traffic*1e3)
		add("ch02.worked_tflops", intensity*gigabyte/worked.AtLeast()/1e12)

		one, err := chip.Attainable(1)
		if err != nil {
			return err
		}
		add("ch02.one_flop_per_byte_tflops", one/1e12)
		fifty, err := chip.Attainable(50)
		if err != nil {
			return err
		}
		add("ch02.fifty_tflops", fifty/1e12)
		add("ch02.fifty_percent", 100*fifty/chip.Peak)

		n, _, err := smallestSquare(chip.ElemBytes, func(intensity float64) (bool, error) {
			bound, err := chip.Classify(intensity)
			return bound == roofline.ComputeBound, err
		})
		if err != nil {
			return err
		}
		add("ch02.smallest_compute_bound_n", float64(n))

		quarter, err := chip.TimeFloors(ridge/4, 1)
		if err != nil {
			return err
		}
		add("ch02.quarter_ridge_percent", 100*quarter.AtLeast()/quarter.AtMost())

		const size = 256
		add("ch02.n256", size)
		two, err := roofline.Square(size, 2).Intensity()
		if err != nil {
			return err
		}
		speed, err := chip.Attainable(two)
		if err != nil {
			return err
		}
		oneByte, err := roofline.Square(size, 1).Intensity()
		if err != nil {
			return err
		}
		add("ch02.n256_fp16_intensity", two)
		add("ch02.n256_fp16_percent", 100*speed/chip.Peak)
		add("ch02.n256_one_byte_intensity", oneByte)
		return nil
	})
}
