//go:build amd64 && !noasm

package llama

import "memorywall/pkg/internal/host"

//go:generate sh -c "cd ../_asm && go run ./llama ../llama"

// vectorSets returns what this CPU can run, the best first.
func vectorSets() []vectors {
	var all []vectors
	if host.Has("avx", "avx2", "fma") {
		all = append(all, vectors{8, rmsNormAVX2, swiGLUAVX2, largestAVX2, expSumAVX2, addScaledAVX2, toFloat16sAVX2})
	}
	if len(all) > 0 && host.Has("avx512f", "avx512dq", "avx512vl", "avx512bw") {
		all = append([]vectors{{16, rmsNormAVX512, swiGLUAVX512, largestAVX512, expSumAVX512, addScaledAVX512, toFloat16sAVX512}}, all...)
	}
	return all
}
