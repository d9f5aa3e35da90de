package bench_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"memorywall/pkg/bench"
)

// Time one function, with the work that it does in a call.
func ExampleRun() {
	x := make([]float64, 1000)
	r, err := bench.Run("add one", bench.Work{FLOPs: 1000, Bytes: 16 * 1000}, bench.Options{Samples: 3}, func() {
		for i := range x {
			x[i]++
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Name, "has", len(r.Samples), "samples")
	fmt.Println("a rate above 0:", r.GFLOPS() > 0, r.GBps() > 0)
	// Output:
	// add one has 3 samples
	// a rate above 0: true true
}

// Time two ways to the same sum in one run, and say how they compare.
func ExampleCompare() {
	x := make([]float64, 1000)
	var one, four float64
	results, err := bench.Compare(bench.Options{Samples: 3},
		bench.Case{Name: "one sum", Work: bench.Work{FLOPs: 1000}, Threads: 1, Run: func() {
			one = 0
			for _, v := range x {
				one += v
			}
		}},
		bench.Case{Name: "four sums", Work: bench.Work{FLOPs: 1000}, Threads: 1, Run: func() {
			var a, b, c, d float64
			for i := 0; i < len(x); i += 4 {
				a += x[i]
				b += x[i+1]
				c += x[i+2]
				d += x[i+3]
			}
			four = a + b + c + d
		}},
	)
	if err != nil {
		log.Fatal(err)
	}
	s := bench.Speedups(results[0], results[1])
	fmt.Println(s.Other, "against", s.Base+":", len(s.Rounds), "rounds")
	fmt.Println("same sum:", one == four)
	// Output:
	// four sums against one sum: 3 rounds
	// same sum: true
}

// A mistake is an error that says what would be right.
func ExampleRun_error() {
	_, err := bench.Run("nothing", bench.Work{}, bench.Options{Samples: -1}, func() {})
	fmt.Println(err)
	// Output:
	// bench: Options.Samples is -1: it must be from 0 (which means the default) to 10000
}

// Measure five rates of this machine, here on small matrices.
func ExampleFiveRates() {
	rates, err := bench.FiveRates(bench.Sizes{Small: 8, Large: 16, Vector: 32}, bench.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rates {
		fmt.Printf("%s: above 0 %s: %v\n", r.Name, r.Unit, r.Value > 0)
	}
	// Output:
	// plain loop, 8×8 float64: above 0 GFLOP/s: true
	// gonum, 8×8 float64: above 0 GFLOP/s: true
	// gonum, 16×16 float32: above 0 GFLOP/s: true
	// gonum matrix–vector, 32×32 float32: above 0 GFLOP/s: true
	// gonum matrix–vector, 32×32 float32: above 0 GB/s: true
}

// Time alternatives that have nothing to do with each other, each until its best was
// found at two times of the run.
func ExampleSample() {
	x := make([]float64, 1000)
	sum := 0.0
	results, err := bench.Sample(context.Background(), bench.Options{MinTime: time.Millisecond, Time: 50 * time.Millisecond},
		bench.Case{Name: "sum", Work: bench.Work{FLOPs: 1000}, Run: func() {
			for _, v := range x {
				sum += v
			}
		}})
	if err != nil {
		log.Fatal(err)
	}
	r := results[0]
	fmt.Println(r.Name, len(r.Visits) >= 1, len(r.Samples) >= 3, r.GFLOPS() > 0)
	// Output:
	// sum true true true
}
