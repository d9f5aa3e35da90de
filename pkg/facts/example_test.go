package facts_test

import (
	"fmt"

	"memorywall/pkg/facts"
)

func ExampleCheck() {
	fmt.Println(facts.Check("0.4405", "naive_vs_ideal_4096_fp16.floor_math_s*1e3"))
	fmt.Println(facts.Check("153.1", "chip.ridge_flop_per_byte"))
	// Output:
	// <nil>
	// facts: chip.ridge_flop_per_byte is 153.01618440411966: the text says 153.1, which is not that rounded to the digits shown
}

func ExampleValue() {
	fmt.Println(facts.Value("tile_sweep_4096_fp16[b=64].fast_bytes/1024"))
	// Output: 24 <nil>
}
