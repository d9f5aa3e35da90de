//go:build amd64 && !noasm

package matmul

import "memorywall/pkg/internal/host"

// haveAVX2 and haveAVX512 say what the CPU and the operating system offer, less
// what GODEBUG=cpu.avx=off, cpu.avx2=off and cpu.avx512f=off take away.
var (
	haveAVX2   = host.Has("avx", "avx2", "fma")
	haveAVX512 = haveAVX2 && host.Has("bmi2", "avx512f", "avx512dq", "avx512vl", "avx512bw")
)

// kernels32 and kernels64 list what this CPU can run, the best first.
func kernels32() []*kernel[float32] {
	var ks []*kernel[float32]
	if haveAVX512 {
		ks = append(ks, &kernel[float32]{
			isa: "avx512", mr: 14, nr: 32, tile: tileF32AVX512, dot: dotF32AVX512, dotRows: 8,
		})
	}
	if haveAVX2 {
		ks = append(ks, &kernel[float32]{
			isa: "avx2", mr: 6, nr: 16, tile: tileF32AVX2, dot: dotF32AVX2, dotRows: 8,
		})
	}
	return append(ks, goKernel[float32]())
}

func kernels64() []*kernel[float64] {
	var ks []*kernel[float64]
	if haveAVX512 {
		ks = append(ks, &kernel[float64]{
			isa: "avx512", mr: 14, nr: 16, tile: tileF64AVX512, dot: dotF64AVX512, dotRows: 8,
		})
	}
	if haveAVX2 {
		ks = append(ks, &kernel[float64]{
			isa: "avx2", mr: 6, nr: 8, tile: tileF64AVX2, dot: dotF64AVX2, dotRows: 8,
		})
	}
	return append(ks, goKernel[float64]())
}
