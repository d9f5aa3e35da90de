package bench

import (
	"fmt"
	"testing"
	"time"
)

// What the harness itself costs.

// BenchmarkCall is one call of an empty function in the timed loop: the floor
// of what can be timed, and what a warning is held against.
func BenchmarkCall(b *testing.B) {
	t := machineTimer()
	f := func() {}
	const calls = 1000
	for b.Loop() {
		t.run(calls, f)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
}

// BenchmarkSample is one sample of a single empty call: two readings of the
// clock and two of the CPU time.
func BenchmarkSample(b *testing.B) {
	t := machineTimer()
	f := func() {}
	for b.Loop() {
		t.used()
		t.run(1, f)
		t.used()
	}
}

// BenchmarkRun is a whole run of samples of 1 ms, beyond the time that the
// samples themselves take.
func BenchmarkRun(b *testing.B) {
	for _, samples := range []int{1, 10} {
		b.Run(fmt.Sprintf("samples=%d", samples), func(b *testing.B) {
			o := Options{MinTime: time.Millisecond, Samples: samples}
			var inside time.Duration
			for b.Loop() {
				r, err := Run("f", Work{}, o, func() {})
				if err != nil {
					b.Fatal(err)
				}
				for _, s := range r.Samples {
					inside += time.Duration(s * float64(r.Calls) * 1e9)
				}
			}
			b.ReportMetric(float64((b.Elapsed()-inside).Nanoseconds())/float64(b.N), "outside-ns/op")
		})
	}
}

// BenchmarkFiveRates is the whole self-test at its default sizes.
func BenchmarkFiveRates(b *testing.B) {
	for b.Loop() {
		rates, err := FiveRates(DefaultSizes(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range rates {
			b.ReportMetric(r.Value, r.Key+"_"+r.Unit)
		}
	}
}
