//go:build amd64 && !noasm

package probe

import (
	"unsafe"

	"memorywall/pkg/internal/host"
)

// What the CPU and the operating system offer, less what GODEBUG=cpu.avx2=off,
// cpu.fma=off and cpu.avx512f=off take away.
var (
	haveFMA    = host.Has("avx", "fma")
	haveAVX2   = haveFMA && host.Has("avx2")
	haveAVX512 = haveAVX2 && host.Has("avx512f")
	haveVNNI   = haveAVX512 && host.Has("avx512vnni")
)

// The numbers that a loop keeps in so many bytes of registers.
const (
	fusedChains  = 12
	mulAddChains = 2 * 7
	dotsChains   = 12
)

func computes32() []compute[float32] {
	return computesOf(fmaF32AVX512, fmaF32AVX2, mulAddF32SSE2, fmaF32Scalar, mulAddF32Scalar)
}

func computes64() []compute[float64] {
	return computesOf(fmaF64AVX512, fmaF64AVX2, mulAddF64SSE2, fmaF64Scalar, mulAddF64Scalar)
}

// computes8 has what the CPU does with products of bytes; where a set of instructions
// has none of its own, that of the next narrower vectors.
func computes8() []compute[int32] {
	var all []compute[int32]
	narrow := compute[int32]{AVX2, dotsApart, dotsChains * 8, dotsAVX2}
	switch {
	case haveVNNI:
		all = append(all, compute[int32]{AVX512, dots, dotsChains * 16, dotsAVX512})
	case haveAVX512:
		all = append(all, narrow)
		all[0].isa = AVX512
	}
	if haveAVX2 {
		all = append(all, narrow)
	}
	return append(all, goCompute[int32]())
}

func computesOf[T Float](avx512, avx2, sse2, fused, scalar func(n int, p *T)) []compute[T] {
	in := func(bytes int) int { return bytes / int(unsafe.Sizeof(T(0))) }
	var all []compute[T]
	if haveAVX512 {
		all = append(all, compute[T]{AVX512, sums, fusedChains * in(64), avx512})
	}
	if haveAVX2 {
		all = append(all, compute[T]{AVX2, sums, fusedChains * in(32), avx2})
	}
	all = append(all, compute[T]{SSE2, mulAdd, mulAddChains * in(16), sse2})
	if haveFMA {
		all = append(all, compute[T]{Scalar, sums, fusedChains, fused})
	} else {
		all = append(all, compute[T]{Scalar, mulAdd, mulAddChains, scalar})
	}
	return append(all, goCompute[T]())
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
