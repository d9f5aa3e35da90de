package facts

import (
	"fmt"
	"slices"

	"memorywall/pkg/roofline"
)

// The numbers of the chapter on measuring. Its timings are invented; what
// follows from them is computed. Nothing measured is here.
func init() {
	register(func(add func(key string, value float64)) {
		const (
			smallMS, largeMS, vectorMS = 2, 20, 5

			milli, giga = 1e-3, 1e9
			vectorN     = 4096
		)
		small, large := roofline.Square(96, 8), roofline.Square(1024, 4)
		rate := func(work, ms float64) float64 { return work / (ms * milli) / giga }

		smallRate := rate(float64(small.FLOPs()), smallMS)
		largeRate := rate(float64(large.FLOPs()), largeMS)
		add("ch07.small_n", float64(small.N))
		add("ch07.small_flops", float64(small.FLOPs()))
		add("ch07.small_ms", smallMS)
		add("ch07.small_gflops", smallRate)
		add("ch07.large_n", float64(large.N))
		add("ch07.large_flops", float64(large.FLOPs()))
		add("ch07.large_ms", largeMS)
		add("ch07.large_gflops", largeRate)
		add("ch07.library_over_loops", largeRate/smallRate)

		// M·x: a multiply-add for each element of the matrix, each read once.
		const vectorFLOPs, vectorBytes = 2 * vectorN * vectorN, vectorN * vectorN * float32s
		add("ch07.vector_n", vectorN)
		add("ch07.vector_flops", vectorFLOPs)
		add("ch07.vector_bytes", vectorBytes)
		add("ch07.vector_ms", vectorMS)
		add("ch07.vector_gflops", rate(vectorFLOPs, vectorMS))
		add("ch07.vector_gbps", rate(vectorBytes, vectorMS))
		invented := roofline.Machine{Name: "invented", ElemBytes: float32s, Peak: largeRate * giga, Bandwidth: rate(vectorBytes, vectorMS) * giga}
		add("ch07.ridge", invented.Ridge())

		samples := []float64{2.0, 2.1, 2.0, 7.9, 2.2}
		sum := 0.0
		for i, t := range samples {
			add(fmt.Sprintf("ch07.q1_samples[%d]", i), t)
			sum += t
		}
		add("ch07.q1_min", slices.Min(samples))
		add("ch07.q1_median", slices.Sorted(slices.Values(samples))[len(samples)/2])
		add("ch07.q1_mean", sum/float64(len(samples)))

		const questionMS = 16
		question := roofline.Square(200, 8)
		add("ch07.q2_n", float64(question.N))
		add("ch07.q2_ms", questionMS)
		add("ch07.q2_flops", float64(question.FLOPs()))
		add("ch07.q2_gflops", rate(float64(question.FLOPs()), questionMS))

		const measured = 6 // GFLOP/s of M·x in float32
		gbps := measured * float64(vectorBytes) / vectorFLOPs
		add("ch07.q3_gflops", measured)
		add("ch07.q3_gbps", gbps)
		add("ch07.q3_gflops_f64", gbps*vectorFLOPs/(vectorN*vectorN*8))

		some := roofline.Machine{Name: "some", ElemBytes: 8, Peak: 100 * giga, Bandwidth: 12.5 * giga}
		intensity := small.Intensity()
		add("ch07.q4_peak", some.Peak/giga)
		add("ch07.q4_bandwidth", some.Bandwidth/giga)
		add("ch07.q4_intensity", intensity)
		add("ch07.q4_ridge", some.Ridge())

		const dot = 40 // GFLOP/s
		some.Bandwidth = 4 * giga
		add("ch07.q5_bandwidth", some.Bandwidth/giga)
		add("ch07.q5_measured", dot)
		add("ch07.q5_roof", some.Attainable(intensity)/giga)
		add("ch07.q5_needed", dot/intensity)

		some.ElemBytes, some.Bandwidth = 2, gbps*giga
		add("ch07.q6_tokens", roofline.TokensPerSecond(some, modelSize))

		core := roofline.Machine{Name: "one core", ElemBytes: float32s, Peak: 200 * giga}
		add("ch07.q7_peak", core.Peak/giga)
		for _, level := range []struct {
			key       string
			bandwidth float64
		}{{"l1", 400}, {"l2", 160}, {"memory", 20}} {
			core.Bandwidth = level.bandwidth * giga
			add("ch07.q7_"+level.key, level.bandwidth)
			add("ch07.q7_ridge_"+level.key, core.Ridge())
		}
		add("ch07.q7_attainable", core.Attainable(2)/giga) // from memory

		add("ch07.q9_n", 256)

		const copied = 10 // GB/s as the program sees it
		add("ch07.q8_seen", copied)
		add("ch07.q8_crossing", copied*roofline.WriteAllocate(1, 1))
	})
}
