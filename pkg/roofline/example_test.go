package roofline_test

import (
	"errors"
	"fmt"

	"memorywall/pkg/roofline"
)

func Example() {
	chip := roofline.A100()
	ridge := chip.Ridge()
	intensity := roofline.Square(4096, chip.ElemBytes).Intensity()
	bound := chip.Classify(intensity)
	fmt.Printf("ridge %.1f FLOP/byte, intensity %.1f FLOP/byte: %v\n", ridge, intensity, bound)
	// Output: ridge 153.0 FLOP/byte, intensity 1365.3 FLOP/byte: compute-bound
}

func ExampleGEMM() {
	g := roofline.Square(2, 4) // 2×2 matrices of float32
	flops := g.FLOPs()
	bytes := g.MinBytes()
	fmt.Println(flops, "FLOPs,", bytes, "bytes")
	// Output: 16 FLOPs, 48 bytes
}

func ExampleGEMM_FLOPs_overflow() {
	err := roofline.Maybe(func() { roofline.Square(2_000_000, 2).FLOPs() })
	fmt.Println(errors.Is(err, roofline.ErrOverflow))
	fmt.Println(err)
	// Output:
	// true
	// roofline: work, 2mnk FLOPs, at m = 2000000, n = 2000000, k = 2000000, element size 2 is about 1.6e+19: a count must be at most 9223372036854775807 (int64); for m = n = k it fits up to 1664510
}

func ExampleMachine_Times() {
	chip := roofline.A100()
	times := chip.Times(137e9, 275e9)
	fmt.Printf("compute %.2f ms, memory %.2f ms: overlapped %.2f ms, %v\n",
		times.Compute*1e3, times.Memory*1e3, times.Overlapped()*1e3, times.Bound())
	// Output: compute 0.44 ms, memory 134.87 ms: overlapped 134.87 ms, memory-bound
}

func ExampleMachine_Validate() {
	chip := roofline.A100()
	chip.Peak = -1
	fmt.Println(chip.Validate())
	// Output: roofline: peak is -1 FLOP/s: it must be positive and finite (machine "NVIDIA A100 80GB SXM")
}

func ExampleBatchToRidge() {
	fmt.Println(roofline.BatchToRidge(roofline.A100(), 4096, 4096))

	err := roofline.Maybe(func() { roofline.BatchToRidge(roofline.A100(), 128, 128) })
	var none *roofline.UnreachableError
	if errors.As(err, &none) {
		fmt.Printf("k = n = 128: none; the intensity stays below %.0f FLOP/byte\n", none.Best)
	}
	// Output:
	// 166
	// k = n = 128: none; the intensity stays below 64 FLOP/byte
}

func ExampleTokensPerSecond() {
	rate := roofline.TokensPerSecond(roofline.A100(), 7e9)
	fmt.Printf("at most %.1f tokens/s\n", rate)
	// Output: at most 145.6 tokens/s
}
