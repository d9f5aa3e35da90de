//go:build arm64 && !noasm

package matmul

import "memorywall/pkg/internal/host"

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

// haveDotProduct says whether there are sums of products of bytes.
var haveDotProduct = host.Has("asimddp")

func weightKernels() []*weightKernel {
	neon := goWeightKernel() // rounds, transposes and multiplies turned weights
	neon.isa = "neon"
	neon.decode = [weightFormats]func(int, *byte, *float32){
		Float32:  decodeFloat32NEON,
		BFloat16: decodeBFloat16NEON,
		Float16:  decodeFloat16NEON,
		Q8_0:     decodeQ8_0NEON,
		Q4_0:     decodeQ4_0NEON,
		Q4_1:     decodeQ4_1NEON,
	}
	neon.dot = [weightFormats]func(int, *byte, int, int, *float32, int, *float32, int, int, bool){
		Float32:  dotFloat32NEON,
		BFloat16: dotBFloat16NEON,
		Float16:  dotFloat16NEON,
		Q8_0:     dotQ8_0NEON,
		Q4_0:     dotQ4_0NEON,
		Q4_1:     dotQ4_1NEON,
	}
	if haveDotProduct {
		neon.dotInt8 = [weightFormats]func(int, *byte, int, int, *byte, int, *float32, int, int, bool){
			Q8_0: dotInt8Q8_0NEON,
			Q4_0: dotInt8Q4_0NEON,
			Q4_1: dotInt8Q4_1NEON,
		}
	}
	return []*weightKernel{neon, goWeightKernel()}
}
