package transformer

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// DecodeIntensity returns the arithmetic intensity of attention itself in a
// step of decoding, in FLOP/byte of the cache, however long it is. Each element
// of the cache is read once for all heads that share it, and in each of them is
// 2 FLOPs: in 2 bytes that is 1 for heads of their own, Heads/KVHeads for
// grouped ones, and Heads · (2·rank + rotated)/(rank + rotated) for latent.
func (m Model) DecodeIntensity(kv Format) float64 {
	m.check()
	kv.check()
	flops := num.Sum{{4, m.Heads, m.HeadDim, kv.Elems}}
	if l := m.Latent; l.KVRank > 0 {
		flops = num.Sum{{4, m.Heads, l.KVRank, kv.Elems}, {2, m.Heads, l.RopeDim, kv.Elems}}
	}
	return num.Ratio(flops, num.Sum{{m.kvOfLayer(), kv.Bytes}})
}

// PrefillAttention is attention itself over a whole prompt in one head.
type PrefillAttention struct {
	Tokens, HeadDim int64
	Causal          bool // a token looks at itself and at those before it
	// Spilled: the scores and the weights that softmax makes of them, tokens ×
	// tokens each, are written to slow memory and read again. FlashAttention
	// leaves them on the chip.
	Spilled bool
}

// Intensity returns FLOPs over bytes: 4 · HeadDim for each query and key, and
// queries, keys, values and output once.
func (a PrefillAttention) Intensity(f Format) float64 {
	arg.Size("transformer", "prompt", a.Tokens)
	arg.Size("transformer", "head dimension", a.HeadDim)
	f.check()
	n, d := a.Tokens, a.HeadDim
	pairs := num.Sum{{4, d, f.Elems, n, n}}
	if a.Causal {
		pairs = num.Sum{{2, d, f.Elems, n, n}, {2, d, f.Elems, n}}
	}
	bytes := num.Sum{{4, n, d, f.Bytes}}
	if a.Spilled {
		bytes = append(bytes, []int64{4, n, n, f.Bytes})
	}
	return num.Ratio(pairs, bytes)
}

// MatrixBatch returns the batch at which one matrix of k×n weights reaches a
// ridge in FLOP/byte, as a real number, when its input and its output come from
// slow memory and go there: B with
//
//	2·B·k·n = ridge · (k·n·w + B·(k + n)·a)
//
// for w and a bytes of a weight and of an activation. There is none, and ok is
// false, where the activations alone keep the intensity below the ridge.
func MatrixBatch(ridge float64, k, n int64, weights, activations Format) (batch float64, ok bool) {
	arg.Positive("transformer", "ridge", ridge, "FLOP/byte")
	arg.Size("transformer", "k", k)
	arg.Size("transformer", "n", n)
	w, a := weights.Bits()/8, activations.Bits()/8
	K, N := float64(k), float64(n)
	// Divided by k·n, so that neither product leaves float64.
	left := 2 - ridge*a*(1/K+1/N)
	if left <= 0 {
		return 0, false
	}
	return ridge * w / left, true
}
