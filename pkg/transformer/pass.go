package transformer

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Storage is the number formats of a model in memory. That of the arithmetic,
// and so of a chip's peak, is another matter: weights of 8 bits may well be
// multiplied as 16.
type Storage struct{ Weights, KV, Activations Format }

// Same returns one format for all three.
func Same(name string) Storage { f := Named(name); return Storage{f, f, f} }

// KVElems returns how many elements a token adds to the cache:
// 2 · layers · KV heads · head dimension, or with latent attention
// layers · (rank + rotated dimension).
func (m Model) KVElems() int64 {
	m.check()
	return count("KV elements of a token", num.Sum{{m.Layers, m.kvOfLayer()}})
}

func (m Model) kvOfLayer() int64 {
	if l := m.Latent; l.KVRank > 0 {
		return count("KV elements of a layer", num.Sum{{l.KVRank}, {l.RopeDim}})
	}
	return count("KV elements of a layer", num.Sum{{2, m.KVHeads, m.HeadDim}})
}

// KVBytesPerToken returns the bytes of [Model.KVElems].
func (m Model) KVBytesPerToken(f Format) int64 { return f.Size(m.KVElems()) }

// KVBytes returns the bytes of the cache of one request with so many tokens. A
// layer with a sliding window keeps no more tokens than that.
func (m Model) KVBytes(context int64, f Format) int64 {
	m.check()
	arg.Size("transformer", "context", context)
	return f.Size(count("elements of the cache", m.perLayer(context, m.kvOfLayer(), func(tokens, window int64) int64 {
		return min(tokens, window)
	})))
}

// perLayer sums what grows with the context over all layers: layers without a
// window have one that is never full.
func (m Model) perLayer(context, each int64, tokens func(context, window int64) int64) num.Sum {
	s := num.Sum{{m.Layers - m.WindowLayers, each, tokens(context, 1<<62)}}
	if m.WindowLayers > 0 {
		s = append(s, []int64{m.WindowLayers, each, tokens(context, m.Window)})
	}
	return s
}

// Span is Requests requests that each add New tokens to the Before tokens that
// they have in the cache. New = 1 is a step of decoding, Before = 0 a prefill.
type Span struct{ Requests, Before, New int64 }

// PassPart is what one part of a model does in a pass. Reads and writes are in
// elements; see [Pass.Bytes] for bytes.
type PassPart struct {
	Name    string
	FLOPs   int64
	Weights float64 // read: of the experts an expected number, of all else exact
	KV      int64   // of the cache, read and written
	// Activations is what goes into and comes out of each matrix, or each
	// attention head, when every one of them is a multiply of its own.
	Activations int64
}

// AttentionItself is the part of a [Pass] that has no weights: queries times
// keys and weights times values, over the cache.
const AttentionItself = "attention itself"

// Pass is one pass of some tokens through a model.
type Pass struct {
	Tokens int64
	Parts  []PassPart
}

// Decode returns the pass of one step of decoding: batch requests, each with
// context tokens when the new one is counted. It panics if either is below 1.
func (m Model) Decode(batch, context int64) Pass {
	arg.Size("transformer", "batch", batch)
	arg.Size("transformer", "context", context)
	return m.Pass(Span{batch, context - 1, 1})
}

// Prefill returns the pass of a prompt of so many tokens.
func (m Model) Prefill(tokens int64) Pass {
	arg.Size("transformer", "prompt", tokens)
	return m.Pass(Span{1, 0, tokens})
}

// PrefillChunks returns the passes of a prompt in chunks of so many tokens, the
// last of them with what is left. Each reads the weights, and the cache of the
// chunks before it.
func (m Model) PrefillChunks(tokens, chunk int64) []Pass {
	arg.Size("transformer", "prompt", tokens)
	arg.Size("transformer", "chunk", chunk)
	var passes []Pass
	for at := int64(0); at < tokens; at += min(chunk, tokens-at) {
		passes = append(passes, m.Pass(Span{1, at, min(chunk, tokens-at)}))
	}
	return passes
}

// Pass returns what the tokens of all spans do in one pass, which reads the
// weights once. Attention is causal: a token looks at itself and at those before
// it, with a sliding window at the last of these. The output layer is counted
// for every token. FLOPs are those of matrices and of attention; norms,
// activation functions and softmax are left out.
//
// With latent attention a step of decoding works on the kept vectors themselves
// (the factors up to the heads are multiplied into query and output); a span of
// more tokens expands them into keys and values first.
func (m Model) Pass(spans ...Span) Pass {
	m.check()
	var tokens num.Sum
	var pairs, kv, expand, io num.Sum
	H := m.Heads
	for _, s := range spans {
		arg.Size("transformer", "requests", s.Requests)
		arg.AtLeast("transformer", "tokens before", s.Before, 0)
		arg.Size("transformer", "new tokens", s.New)
		tokens = append(tokens, []int64{s.Requests, s.New})
		context := count("context", num.Sum{{s.Before}, {s.New}})

		// FLOPs of a query and a key: 2 for each element of the key, 2 of the value.
		perPair := count("FLOPs of a query and a key", num.Sum{{4, H, m.HeadDim}})
		out := m.HeadDim
		if l := m.Latent; l.KVRank > 0 {
			perPair = count("FLOPs of a query and a key", num.Sum{{2, H, m.HeadDim}, {2, H, l.Value}})
			out = l.Value
			if s.New == 1 {
				perPair = count("FLOPs of a query and a key", num.Sum{{4, H, l.KVRank}, {2, H, l.RopeDim}})
			} else {
				expand = append(expand, []int64{2, s.Requests, m.Layers, s.Before, l.KVRank, H, l.NopeDim}, []int64{2, s.Requests, m.Layers, s.Before, l.KVRank, H, l.Value})
			}
		}
		for _, row := range m.perLayer(context, perPair, func(context, window int64) int64 {
			return seen(context, window) - seen(s.Before, window)
		}) {
			pairs = append(pairs, append(row, s.Requests))
		}
		for _, row := range m.perLayer(context, m.kvOfLayer(), func(_, window int64) int64 {
			return min(s.Before, window-1) + s.New
		}) {
			kv = append(kv, append(row, s.Requests))
		}
		io = append(io, []int64{s.Requests, s.New, m.Layers, H, m.HeadDim}, []int64{s.Requests, s.New, m.Layers, H, out})
	}
	n := count("tokens", tokens)
	p := Pass{Tokens: n}
	for _, part := range m.Parts() {
		w := PassPart{Name: part.Name, Weights: float64(part.Read), FLOPs: count("FLOPs of "+part.Name, num.Sum{{2, n, part.Matrix}})}
		if part.Name == ExpertPart && m.Experts.Total > 0 {
			w.Weights = m.Touched(n) * float64(m.ExpertParams()) * float64(m.expertLayers())
		}
		w.Activations = count("activations of "+part.Name, m.activations(part.Name, n))
		p.Parts = append(p.Parts, w)
		if part.Name == Attention {
			p.Parts = append(p.Parts, PassPart{Name: AttentionItself, FLOPs: count("FLOPs of attention", append(pairs, expand...)),
				KV: count("elements of the cache", kv), Activations: count("activations of attention", io)})
		}
	}
	return p
}

// seen returns how many keys the first n tokens see together, each itself and
// those before it, at most a window: Σ min(i, window).
func seen(n, window int64) int64 {
	k := min(n, window)
	a, b := k, k+1
	if a%2 == 0 {
		a /= 2
	} else {
		b /= 2
	}
	return count("keys that queries see", num.Sum{{a, b}, {n - k, window}})
}

// activations counts what goes into and comes out of the matrices of a part for
// n tokens. Matrices that share their input read it once.
func (m Model) activations(part string, n int64) num.Sum {
	L, D, H := m.Layers, m.Width, m.Heads
	up := m.ffnMatrices() - 1 // and one down
	block := func(layers, blocks, width int64) num.Sum {
		return num.Sum{{n, layers, blocks, 2, D}, {n, layers, blocks, up + 1, width}}
	}
	switch part {
	case InputTable:
		return num.Sum{{n, 2, D}} // a row read and written
	case Attention:
		if l := m.Latent; l.KVRank > 0 {
			return num.Sum{{n, L, 2, D}, {n, L, 2, l.QRank}, {n, L, 2, l.KVRank}, {n, L, l.RopeDim},
				{n, L, H, m.HeadDim}, {n, L, H, l.NopeDim}, {n, L, 2, H, l.Value}}
		}
		return num.Sum{{n, L, 2, D}, {n, L, 2, H, m.HeadDim}, {n, L, 2, m.KVHeads, m.HeadDim}}
	case FeedForward:
		return append(block(m.denseLayers(), 1, m.FFN), block(m.expertLayers(), m.Experts.Shared, m.Experts.Width)...)
	case Router:
		if m.Experts.Total > 0 {
			return num.Sum{{n, m.expertLayers(), D}, {n, m.expertLayers(), m.Experts.Total}}
		}
	case ExpertPart:
		return block(m.expertLayers(), m.Experts.Active, m.Experts.Width)
	case OutputLayer:
		return num.Sum{{n, D}, {n, m.Vocab}}
	}
	return nil
}

// FLOPs returns the work of the whole pass.
func (p Pass) FLOPs() int64 {
	var s num.Sum
	for _, w := range p.Parts {
		s = append(s, []int64{w.FLOPs})
	}
	return count("FLOPs of a pass", s)
}

// Bytes is the traffic of a pass or of a part by what is moved.
type Bytes struct{ Weights, KV, Activations float64 }

// Bytes returns the bytes of a part in these formats.
func (w PassPart) Bytes(f Storage) Bytes {
	return Bytes{f.Weights.bytes(w.Weights), float64(f.KV.Size(w.KV)), float64(f.Activations.Size(w.Activations))}
}

// Bytes returns the bytes of the whole pass. Weights and cache must come from
// slow memory; activations need not, where a part hands them on to the next.
func (p Pass) Bytes(f Storage) Bytes {
	var sum Bytes
	var kv, activations num.Sum
	for _, w := range p.Parts {
		sum.Weights += w.Weights
		kv = append(kv, []int64{w.KV})
		activations = append(activations, []int64{w.Activations})
	}
	return Bytes{f.Weights.bytes(sum.Weights), float64(f.KV.Size(count("elements of the cache", kv))),
		float64(f.Activations.Size(count("activations", activations)))}
}

// Intensity returns the arithmetic intensity of a part alone, in FLOP/byte: its
// weights, cache and activations all come from slow memory and go there. It is
// 0 for a part without work.
func (w PassPart) Intensity(f Storage) float64 {
	b := w.Bytes(f)
	if w.FLOPs == 0 {
		return 0
	}
	return float64(w.FLOPs) / (b.Weights + b.KV + b.Activations)
}
