//go:build arm64 && !noasm

package matmul

// Every arm64 CPU has NEON.

func kernels32() []*kernel[float32] {
	return []*kernel[float32]{
		{
			isa: "neon", mr: 8, nr: 8, tall: 4, few: 4, tile: tileF32NEON, dot: dotF32NEON, dotRows: 4,
		},
		goKernel[float32](),
	}
}

func kernels64() []*kernel[float64] {
	return []*kernel[float64]{
		{
			isa: "neon", mr: 8, nr: 4, tall: 4, few: 4, tile: tileF64NEON, dot: dotF64NEON, dotRows: 4,
		},
		goKernel[float64](),
	}
}

// weightKernels: weights are decoded and multiplied in plain Go; products with
// many activations go through the microkernel of the name.
func weightKernels() []*weightKernel {
	neon := goWeightKernel()
	neon.isa = "neon"
	return []*weightKernel{neon, goWeightKernel()}
}
