package machine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"memorywall/pkg/machine"
	"memorywall/pkg/roofline"
)

// The roofs of this machine: measured once, and kept in a file that all chapters read.
func ExampleMeasure() {
	mine, err := machine.Measure(context.Background(), machine.Options{Time: machine.QuickTime / 8, Threads: 1, MaxBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "machine")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, machine.FileName)
	if err := machine.Save(path, mine); err != nil {
		log.Fatal(err)
	}
	again, err := machine.Load(path)
	fmt.Println(again.Peak == mine.Peak, again.Ridge() > 0, err)
	// Output:
	// true true <nil>
}

// A program is held against the roof of the level of memory that has room for its data.
func ExampleMachine_RoofFor() {
	mine := machine.Machine{
		Machine: roofline.Machine{Name: "a laptop", Format: "FP32", ElemBytes: 4, Peak: 100e9, Bandwidth: 20e9},
		Measured: &machine.Measured{
			Peaks:  []machine.ComputePeak{{ISA: "avx2", Format: "FP32", ElemBytes: 4, Threads: 1, FLOPS: 100e9}},
			Levels: []machine.Level{{Name: "L2", Threads: 1, Reported: 1 << 20, Bandwidth: 80e9}, {Name: "memory", Threads: 1, Bandwidth: 20e9}},
		},
	}
	for _, bytes := range []int64{1 << 20, 3 << 20} {
		roof := mine.RoofFor(1, "FP32", "", bytes)
		fmt.Printf("%d bytes: %s, %.3g GB/s, ridge at %.3g FLOP/byte\n", bytes, roof.Name, roof.Bandwidth/1e9, roof.Ridge())
	}
	// Output:
	// 1048576 bytes: L2, one core, 80 GB/s, ridge at 1.25 FLOP/byte
	// 3145728 bytes: memory, one core, 20 GB/s, ridge at 5 FLOP/byte
}
