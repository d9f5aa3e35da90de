//go:build amd64 && !noasm

package probe

import "memorywall/pkg/internal/host"

// What the CPU and the operating system offer, less what GODEBUG=cpu.avx2=off,
// cpu.fma=off and cpu.avx512f=off take away.
var (
	haveFMA    = host.Has("avx", "fma")
	haveAVX2   = haveFMA && host.Has("avx2")
	haveAVX512 = haveAVX2 && host.Has("avx512f")
)

// The numbers that a loop keeps in so many bytes of registers.
const (
	fusedChains  = 12
	mulAddChains = 2 * 7
)

func computes32() []compute[float32] {
	var all []compute[float32]
	if haveAVX512 {
		all = append(all, compute[float32]{AVX512, sums, fusedChains * 16, fmaF32AVX512})
	}
	if haveAVX2 {
		all = append(all, compute[float32]{AVX2, sums, fusedChains * 8, fmaF32AVX2})
	}
	all = append(all, compute[float32]{SSE2, mulAdd, mulAddChains * 4, mulAddF32SSE2})
	if haveFMA {
		all = append(all, compute[float32]{Scalar, sums, fusedChains, fmaF32Scalar})
	} else {
		all = append(all, compute[float32]{Scalar, mulAdd, mulAddChains, mulAddF32Scalar})
	}
	return append(all, goCompute[float32]())
}

func computes64() []compute[float64] {
	var all []compute[float64]
	if haveAVX512 {
		all = append(all, compute[float64]{AVX512, sums, fusedChains * 8, fmaF64AVX512})
	}
	if haveAVX2 {
		all = append(all, compute[float64]{AVX2, sums, fusedChains * 4, fmaF64AVX2})
	}
	all = append(all, compute[float64]{SSE2, mulAdd, mulAddChains * 2, mulAddF64SSE2})
	if haveFMA {
		all = append(all, compute[float64]{Scalar, sums, fusedChains, fmaF64Scalar})
	} else {
		all = append(all, compute[float64]{Scalar, mulAdd, mulAddChains, mulAddF64Scalar})
	}
	return append(all, goCompute[float64]())
}

func memories() []memory {
	var all []memory
	if haveAVX512 {
		all = append(all, memory{AVX512, loadAVX512, copyAVX512, copyStreamAVX512, triadAVX512, triadStreamAVX512})
	}
	if haveAVX2 {
		all = append(all, memory{AVX2, loadAVX2, copyAVX2, copyStreamAVX2, triadAVX2, triadStreamAVX2})
	}
	return append(all, memory{SSE2, loadSSE2, copySSE2, copyStreamSSE2, triadSSE2, triadStreamSSE2}, goMemory())
}
