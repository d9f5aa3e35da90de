package facts

import "memorywall/pkg/roofline"

// The numbers of the chapter on the roofline.
func chapter02(f *Group) {
	chip := roofline.A100()
	ridge := chip.Ridge()
	f.add("n", 4096)

	toy := roofline.Machine{Name: "toy", ElemBytes: 4, Peak: 8, Bandwidth: 2}
	small := roofline.Square(2, toy.ElemBytes)
	f.add("toy_traffic_floor_s", toy.Times(float64(small.FLOPs()), float64(small.MinBytes())).Overlapped())

	// One GB, so many FLOPs for each byte, on the A100.
	const gigabyte, intensity = 1e9, 10
	worked := chip.Times(intensity*gigabyte, gigabyte)
	f.add("worked_intensity", intensity, "worked_math_ms", worked.Compute*1e3)
	f.add("worked_traffic_ms", worked.Memory*1e3)
	f.add("worked_tflops", intensity*gigabyte/worked.Overlapped()/1e12)

	f.add("one_flop_per_byte_tflops", chip.Attainable(1)/1e12)
	fifty := chip.Attainable(50)
	f.add("fifty_tflops", fifty/1e12, "fifty_percent", 100*fifty/chip.Peak)
	f.add("smallest_compute_bound_n", smallestSquare(chip.ElemBytes, ridge))

	quarter := chip.Times(ridge/4, 1)
	f.add("quarter_ridge_percent", 100*quarter.Overlapped()/quarter.Serial())

	const n = 256
	two := roofline.Square(n, 2).Intensity()
	f.add("n256", n, "n256_fp16_intensity", two, "n256_fp16_percent", 100*chip.Attainable(two)/chip.Peak)
	f.add("n256_one_byte_intensity", roofline.Square(n, 1).Intensity())
}
