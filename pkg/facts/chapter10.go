package facts

import "memorywall/pkg/roofline"

// The numbers of the chapter on few rows. Its machines are invented; nothing
// measured is here.
func chapter10(f *Group) {
	rows := func(m int64) roofline.GEMM { return roofline.GEMM{M: m, N: size, K: size, ElemBytes: float32s} }
	f.add("n", size, "weights_mib", size*size*float32s/(kib*kib))

	machine := roofline.Machine{Name: "example", ElemBytes: float32s, Peak: 400e9, Bandwidth: 30e9}
	eight := rows(8)
	flops, bytes := float64(eight.FLOPs()), float64(eight.MinBytes())
	times := machine.Times(flops, bytes)
	f.add("example_peak", machine.Peak, "example_bandwidth", machine.Bandwidth)
	f.add("example_flops", flops, "example_bytes", bytes, "example_compute", times.Compute)
	f.add("example_memory", times.Memory, "example_serial", times.Serial())
	f.add("example_attainable", flops/times.Overlapped())

	hand := func(m int64) roofline.GEMM { return roofline.GEMM{M: m, N: 3, K: 2, ElemBytes: 1} }
	for m, at := range map[int64]string{1: "one", 2: "two"} {
		f.add("hand_flops_"+at, hand(m).FLOPs(), "hand_elements_"+at, hand(m).MinBytes())
	}

	// Questions.
	machine.Peak, machine.Bandwidth = 100e9, 20e9
	m := roofline.BatchToRidge(machine, size, size)
	f.add("q2_peak", machine.Peak/1e9, "q2_bandwidth", machine.Bandwidth/1e9, "q2_m", m)
	f.add("q2_ridge", machine.Ridge(), "q2_below", rows(m-1).Intensity())
	const overheadNS, rate = 50, 10 // ns, GFLOP/s
	n := first(func(n int64) bool { return roofline.Square(n, float32s).FLOPs() >= overheadNS*rate }) - 1
	f.add("q4_overhead", overheadNS, "q4_rate", rate, "q4_flops", overheadNS*rate, "q4_n", n)
	f.add("q4_at", roofline.Square(n, float32s).FLOPs())
	f.add("q4_above", roofline.Square(n+1, float32s).FLOPs())
	f.add("q6_at_sixty_four", rows(64).Intensity(), "q6_at_twice", rows(128).Intensity())
}
