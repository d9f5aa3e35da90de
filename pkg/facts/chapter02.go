package facts

import (
	"memorywall/pkg/roofline"
)

// The numbers of the chapter on the roofline.
func init() {
	register(func(add func(key string, value float64)) {
		chip := roofline.A100()
		ridge := chip.Ridge()
		add("ch02.n", 4096)

		toy := roofline.Machine{Name: "toy", ElemBytes: 4, Peak: 8, Bandwidth: 2}
		small := roofline.Square(2, toy.ElemBytes)
		flops := small.FLOPs()
		bytes := small.MinBytes()
		floors := toy.Times(float64(flops), float64(bytes))
		add("ch02.toy_traffic_floor_s", floors.Overlapped())

		// One GB, so many FLOPs for each byte, on the A100.
		const gigabyte, intensity = 1e9, 10
		worked := chip.Times(intensity*gigabyte, gigabyte)
		add("ch02.worked_intensity", intensity)
		add("ch02.worked_math_ms", worked.Compute*1e3)
		add("ch02.worked_traffic_ms", worked.Memory*1e3)
		add("ch02.worked_tflops", intensity*gigabyte/worked.Overlapped()/1e12)

		one := chip.Attainable(1)
		add("ch02.one_flop_per_byte_tflops", one/1e12)
		fifty := chip.Attainable(50)
		add("ch02.fifty_tflops", fifty/1e12)
		add("ch02.fifty_percent", 100*fifty/chip.Peak)

		n, _ := smallestSquare(chip.ElemBytes, func(intensity float64) bool {
			return chip.Classify(intensity) == roofline.ComputeBound
		})
		add("ch02.smallest_compute_bound_n", float64(n))

		quarter := chip.Times(ridge/4, 1)
		add("ch02.quarter_ridge_percent", 100*quarter.Overlapped()/quarter.Serial())

		const size = 256
		add("ch02.n256", size)
		two := roofline.Square(size, 2).Intensity()
		speed := chip.Attainable(two)
		oneByte := roofline.Square(size, 1).Intensity()
		add("ch02.n256_fp16_intensity", two)
		add("ch02.n256_fp16_percent", 100*speed/chip.Peak)
		add("ch02.n256_one_byte_intensity", oneByte)
	})
}
