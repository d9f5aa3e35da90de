package probe_test

import (
	"fmt"
	"log"

	"memorywall/pkg/probe"
)

// Multiply-adds in registers: timed, they give the peak of a core.
func ExampleCompute() {
	loop, err := probe.NewCompute[float32](probe.Go) // "" is the widest that this CPU has
	if err != nil {
		log.Fatal(err)
	}
	loop.Run(1000)
	fmt.Println(loop.ISA(), "does", loop.FLOPs(), "FLOPs a round")
	// Output:
	// go does 16 FLOPs a round
}

// Loops over arrays: timed, they give the bandwidths of a core.
func ExampleMemory() {
	loops, err := probe.NewMemory("")
	if err != nil {
		log.Fatal(err)
	}
	p, free, err := probe.Alloc(3 * probe.RoundBytes)
	if err != nil {
		log.Fatal(err)
	}
	defer free()
	probe.Fill(p)
	a, b, c := p[:probe.RoundBytes], p[probe.RoundBytes:][:probe.RoundBytes], p[2*probe.RoundBytes:]
	if err := loops.Triad(a, b, c, 2, 1, false); err != nil { // a = b + 2·c
		log.Fatal(err)
	}
	fmt.Println(probe.Numbers(a)[0] == probe.Numbers(b)[0]+2*probe.Numbers(c)[0])
	fmt.Println(loops.Copy(a, a, 1, false))
	// Output:
	// true
	// probe: arrays 0 and 1 overlap: they must be disjoint
}

// A chain of adds, one a cycle: timed, it gives the clock.
func ExampleAddChain() {
	sum, adds := probe.AddChain(2, 5, 3)
	fmt.Println(sum, "after", adds, "adds")
	// Output:
	// 389 after 128 adds
}
