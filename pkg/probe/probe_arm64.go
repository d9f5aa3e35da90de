//go:build arm64 && !noasm

package probe

import "memorywall/pkg/internal/host"

// Every arm64 CPU has NEON. One number at a time is what plain Go does: its
// compiler fuses the multiply and the add there.

const neonChains = 20

func computes32() []compute[float32] {
	return []compute[float32]{{NEON, sums, neonChains * 4, fmaF32NEON}, goCompute[float32]()}
}

func computes64() []compute[float64] {
	return []compute[float64]{{NEON, sums, neonChains * 2, fmaF64NEON}, goCompute[float64]()}
}

func computes8() []compute[int32] {
	if !host.Has("asimddp") {
		return []compute[int32]{goCompute[int32]()}
	}
	return []compute[int32]{{NEON, dots, neonChains * 4, dotsNEON}, goCompute[int32]()}
}

func memories() []memory {
	return []memory{{isa: NEON, load: loadNEON, copy: copyNEON, triad: triadNEON}, goMemory()}
}
