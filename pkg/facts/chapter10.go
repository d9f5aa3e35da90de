package facts

import "memorywall/pkg/roofline"

// The numbers of the chapter on few rows. Its machines are invented; nothing
// measured is here.
func init() {
	register(func(add func(key string, value float64)) {
		rows := func(m int64) roofline.GEMM { return roofline.GEMM{M: m, N: size, K: size, ElemBytes: float32s} }
		add("ch10.n", size)
		add("ch10.weights_mib", size*size*float32s/(kib*kib))

		machine := roofline.Machine{Name: "example", ElemBytes: float32s, Peak: 400e9, Bandwidth: 30e9}
		eight := rows(8)
		flops, bytes := float64(eight.FLOPs()), float64(eight.MinBytes())
		times := machine.Times(flops, bytes)
		add("ch10.example_peak", machine.Peak)
		add("ch10.example_bandwidth", machine.Bandwidth)
		add("ch10.example_flops", flops)
		add("ch10.example_bytes", bytes)
		add("ch10.example_compute", times.Compute)
		add("ch10.example_memory", times.Memory)
		add("ch10.example_serial", times.Serial())
		add("ch10.example_attainable", flops/times.Overlapped())

		hand := func(m int64) roofline.GEMM { return roofline.GEMM{M: m, N: 3, K: 2, ElemBytes: 1} }
		for m, at := range map[int64]string{1: "one", 2: "two"} {
			add("ch10.hand_flops_"+at, float64(hand(m).FLOPs()))
			add("ch10.hand_elements_"+at, float64(hand(m).MinBytes()))
		}

		// Questions.
		machine.Peak, machine.Bandwidth = 100e9, 20e9
		m := roofline.BatchToRidge(machine, size, size)
		add("ch10.q2_peak", machine.Peak/1e9)
		add("ch10.q2_bandwidth", machine.Bandwidth/1e9)
		add("ch10.q2_m", float64(m))
		add("ch10.q2_ridge", machine.Ridge())
		add("ch10.q2_below", rows(m-1).Intensity())
		const overheadNS, rate = 50, 10 // ns, GFLOP/s
		n := int64(1)
		for float64(roofline.Square(n+1, float32s).FLOPs()) < overheadNS*rate {
			n++
		}
		add("ch10.q4_overhead", overheadNS)
		add("ch10.q4_rate", rate)
		add("ch10.q4_flops", overheadNS*rate)
		add("ch10.q4_n", float64(n))
		add("ch10.q4_at", float64(roofline.Square(n, float32s).FLOPs()))
		add("ch10.q4_above", float64(roofline.Square(n+1, float32s).FLOPs()))
		add("ch10.q6_at_sixty_four", rows(64).Intensity())
		add("ch10.q6_at_twice", rows(128).Intensity())
	})
}
