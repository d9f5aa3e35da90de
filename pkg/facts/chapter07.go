package facts

import (
	"fmt"
	"slices"

	"memorywall/pkg/roofline"
)

// The numbers of the chapter on measuring. Its timings are invented; what
// follows from them is computed. Nothing measured is here.
func chapter07(f *Group) {
	const (
		smallMS, largeMS, vectorMS = 2, 20, 5

		milli, giga = 1e-3, 1e9
		vectorN     = 4096
	)
	small, large := roofline.Square(96, 8), roofline.Square(1024, 4)
	rate := func(work, ms float64) float64 { return work / (ms * milli) / giga }

	smallRate := rate(float64(small.FLOPs()), smallMS)
	largeRate := rate(float64(large.FLOPs()), largeMS)
	f.add("small_n", small.N, "small_flops", small.FLOPs(), "small_ms", smallMS)
	f.add("small_gflops", smallRate, "large_n", large.N, "large_flops", large.FLOPs())
	f.add("large_ms", largeMS, "large_gflops", largeRate)
	f.add("library_over_loops", largeRate/smallRate)

	// M·x: a multiply-add for each element of the matrix, each read once.
	const vectorFLOPs, vectorBytes = 2 * vectorN * vectorN, vectorN * vectorN * float32s
	f.add("vector_n", vectorN, "vector_flops", vectorFLOPs, "vector_bytes", vectorBytes)
	f.add("vector_ms", vectorMS, "vector_gflops", rate(vectorFLOPs, vectorMS))
	f.add("vector_gbps", rate(vectorBytes, vectorMS))
	invented := roofline.Machine{Name: "invented", ElemBytes: float32s, Peak: largeRate * giga, Bandwidth: rate(vectorBytes, vectorMS) * giga}
	f.add("ridge", invented.Ridge())

	samples := []float64{2.0, 2.1, 2.0, 7.9, 2.2}
	sum := 0.0
	for i, t := range samples {
		f.add(fmt.Sprintf("q1_samples[%d]", i), t)
		sum += t
	}
	f.add("q1_min", slices.Min(samples))
	f.add("q1_median", slices.Sorted(slices.Values(samples))[len(samples)/2])
	f.add("q1_mean", sum/float64(len(samples)))

	const questionMS = 16
	question := roofline.Square(200, 8)
	f.add("q2_n", question.N, "q2_ms", questionMS, "q2_flops", question.FLOPs())
	f.add("q2_gflops", rate(float64(question.FLOPs()), questionMS))

	const measured = 6 // GFLOP/s of M·x in float32
	gbps := measured * float64(vectorBytes) / vectorFLOPs
	f.add("q3_gflops", measured, "q3_gbps", gbps)
	f.add("q3_gflops_f64", gbps*vectorFLOPs/(vectorN*vectorN*8))

	some := roofline.Machine{Name: "some", ElemBytes: 8, Peak: 100 * giga, Bandwidth: 12.5 * giga}
	intensity := small.Intensity()
	f.add("q4_peak", some.Peak/giga, "q4_bandwidth", some.Bandwidth/giga)
	f.add("q4_intensity", intensity, "q4_ridge", some.Ridge())

	const dot = 40 // GFLOP/s
	some.Bandwidth = 4 * giga
	f.add("q5_bandwidth", some.Bandwidth/giga, "q5_measured", dot)
	f.add("q5_roof", some.Attainable(intensity)/giga, "q5_needed", dot/intensity)

	some.ElemBytes, some.Bandwidth = 2, gbps*giga
	f.add("q6_tokens", roofline.TokensPerSecond(some, modelSize))

	core := roofline.Machine{Name: "one core", ElemBytes: float32s, Peak: 200 * giga}
	f.add("q7_peak", core.Peak/giga)
	for _, level := range []struct {
		key       string
		bandwidth float64
	}{{"l1", 400}, {"l2", 160}, {"memory", 20}} {
		core.Bandwidth = level.bandwidth * giga
		f.add("q7_"+level.key, level.bandwidth, "q7_ridge_"+level.key, core.Ridge())
	}
	f.add("q7_attainable", core.Attainable(2)/giga) // from memory

	f.add("q9_n", 256)

	const copied = 10 // GB/s as the program sees it
	f.add("q8_seen", copied, "q8_crossing", copied*roofline.WriteAllocate(1, 1))
}
