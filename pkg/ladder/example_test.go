package ladder_test

import (
	"fmt"
	"log"

	"memorywall/pkg/bench"
	"memorywall/pkg/ladder"
	"memorywall/pkg/machine"
	"memorywall/pkg/roofline"
)

// Rungs are held against a machine's roofs: here those of a data sheet, in a lesson those
// of machine.Mine.
func ExampleClimb() {
	chip := machine.Machine{Machine: roofline.Machine{Name: "a chip", Source: "its data sheet", Format: "FP32", ElemBytes: 4, Peak: 1e15, Bandwidth: 1e12}}
	l, err := ladder.Climb(chip, 64, bench.Options{Samples: 1, MinTime: 1}, "loops", "simd")
	if err != nil {
		log.Fatal(err)
	}
	dots, _ := l.Dots()
	for _, d := range dots {
		fmt.Printf("%s: %.2f FLOP/byte under %q\n", d.Name, d.Intensity, d.On)
	}
	// Output:
	// loops: 0.25 FLOP/byte under "a chip"
	// simd: 10.67 FLOP/byte under "a chip"
}
