package serving

import (
	"math"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
	"memorywall/pkg/transformer"
)

// Load is what the busiest chip does in a step.
type Load struct {
	FLOPs   float64
	Weights float64 // bytes read
	KV      float64 // bytes read and written
	Sent    float64 // bytes to other chips
	Hops    float64 // one after the other
	Layers  float64 // launches
}

// AllReduce returns what each of p chips sends so that all have the sum of p
// messages of so many bytes: 2(p−1)/p of it round a ring, in 2(p−1) hops.
func AllReduce(bytes float64, p int64) (sent float64, hops int64) {
	arg.Size("serving", "chips", p)
	return 2 * float64(p-1) / float64(p) * bytes, 2 * (p - 1)
}

// AllToAll returns what each of p chips sends of a message of so many bytes that
// goes to all chips alike: (p−1)/p of it, in one hop.
func AllToAll(bytes float64, p int64) (sent float64, hops int64) {
	arg.Size("serving", "chips", p)
	return float64(p-1) / float64(p) * bytes, min(p-1, 1)
}

// Times returns the times of this load.
func (s Setup) times(l Load) roofline.Times {
	t := roofline.Times{Compute: l.FLOPs / s.Chip.Peak, Memory: (l.Weights + l.KV) / s.Chip.Bandwidth, Latency: l.Hops*s.Hop + l.Layers*s.Launch}
	if l.Sent > 0 {
		t.Network = l.Sent / s.Chip.Link
	}
	return t
}

// Decode returns what the busiest chip does in one step of decoding for so many
// requests, each with context tokens when the new one is counted. With a
// pipeline that is all of the turns in which every request gets a token. It
// panics if the setup is invalid or an argument below 1.
func (s Setup) Decode(batch, context int64) Load {
	arg.Check(s.Validate())
	arg.Size("serving", "batch", batch)
	arg.Size("serving", "context", context)
	return s.load(s.unit(context-1, 1), float64(batch))
}

const maxChunks = 4096

// Prefill returns the same for the prompt of one request, in chunks of so many
// tokens, or whole where chunk is 0. Where chips have requests of their own,
// each has such a prompt.
func (s Setup) Prefill(tokens, chunk int64) Load {
	arg.Check(s.Validate())
	arg.Size("serving", "prompt", tokens)
	arg.AtLeast("serving", "chunk", chunk, 0)
	if chunk == 0 {
		chunk = tokens
	}
	requests := 1.0
	if s.apart() {
		requests = float64(s.Chips)
	}
	var sum Load
	if n := num.CeilDiv(tokens, chunk); n > maxChunks {
		arg.Refuse("chunk", chunk, "serving: chunk is %d: a prompt of %d tokens has %d such chunks: make them larger, at most %d are counted", chunk, tokens, n, maxChunks)
	}
	for at := int64(0); at < tokens; at += min(chunk, tokens-at) {
		l := s.load(s.unit(at, min(chunk, tokens-at)), requests)
		sum.FLOPs += l.FLOPs
		sum.Weights += l.Weights
		sum.KV += l.KV
		sum.Sent += l.Sent
		sum.Hops += l.Hops
		sum.Layers += l.Layers
	}
	return sum
}

// unit is the pass of one request.
type unit struct {
	new  int64
	pass transformer.Pass
}

func (s Setup) unit(before, n int64) unit {
	return unit{n, s.Model.Pass(transformer.Span{Requests: 1, Before: before, New: n})}
}

// load is the work of the busiest chip: in proportion to the requests but for
// the weights, which are read once. In a pipeline the requests go in groups, as
// many as there are chips where there are enough: in each turn of a step every
// stage has one of them, and the slowest stage sets the pace. But no group is
// through before all stages are, one after the other, which takes longer where
// there are few groups: a lone request waits for no other.
func (s Setup) load(u unit, requests float64) Load {
	own := requests // that one chip, or one group of a pipeline, has
	if s.Split != Tensor {
		own = math.Ceil(requests / float64(s.Chips))
	}
	turns := 1.0
	if s.Split == Pipeline {
		turns = math.Ceil(requests / own)
	}
	var slowest Load
	for _, sh := range s.shares() {
		slowest = s.slower(slowest, s.loadOf(sh, u, requests, own, turns))
	}
	if s.Split == Pipeline {
		slowest = s.slower(slowest, s.loadOf(whole, u, requests, own, 1))
	}
	return slowest
}

// slower returns the load that takes longer, b of equal ones.
func (s Setup) slower(a, b Load) Load {
	if s.times(b).Overlapped() >= s.times(a).Overlapped() {
		return b
	}
	return a
}

// loadOf is the work, in so many turns, of a chip with this share.
func (s Setup) loadOf(sh share, u unit, requests, own, turns float64) Load {
	tokens := own * float64(u.new)
	l := Load{Layers: float64(s.Model.Layers)}
	if s.Split == Pipeline {
		l.Layers = math.Ceil(float64(s.Model.Layers)*sh.layers) * turns
	}
	elems := 0.0
	for _, w := range u.pass.Parts {
		f := sh.of(w.Name)
		together, flops := tokens, own*float64(w.FLOPs)
		if w.Name == transformer.ExpertPart && s.Split == Expert {
			together, flops = requests*float64(u.new), requests*float64(w.FLOPs)
		}
		weights := w.Weights
		if w.Name == transformer.ExpertPart && s.Model.Experts.Total > 0 {
			weights = s.Model.Touched(int64(together)) * float64(s.Model.ExpertParams()) * s.expertLayers()
		}
		l.FLOPs += flops * f * turns
		elems += weights * f * turns
		l.KV += own * float64(s.Storage.KV.Size(w.KV)) * sh.kv * turns
	}
	l.Weights = elems * float64(s.Storage.Weights.Bytes) / float64(s.Storage.Weights.Elems)
	s.send(&l, tokens)
	return l
}

// send adds what a chip sends in a step.
func (s Setup) send(l *Load, tokens float64) {
	if s.Chips == 1 {
		return
	}
	message := tokens * float64(s.Model.Width) * s.Storage.Activations.Bits() / 8
	switch s.Split {
	case Tensor: // behind attention and behind the feed-forward block
		sent, hops := AllReduce(message, s.Chips)
		l.Sent, l.Hops = 2*float64(s.Model.Layers)*sent, 2*float64(s.Model.Layers)*float64(hops)
	case Pipeline: // at each border of two stages
		l.Sent, l.Hops = float64(s.Chips-1)*message, float64(s.Chips-1)
	case Expert: // to the experts and back
		sent, hops := AllToAll(message*float64(s.Model.Experts.Active), s.Chips)
		l.Sent, l.Hops = 2*s.expertLayers()*sent, 2*s.expertLayers()*float64(hops)
	}
}

func (s Setup) expertLayers() float64 {
	return float64(s.Model.Layers - s.Model.Experts.DenseLayers)
}

// RidgeBatch returns the smallest batch at a context for which computing takes
// at least as long as reading weights and cache, with the FLOPs of attention
// itself counted. There is none, and ok is false, where reading one more
// request's cache takes at least as long as computing its token.
func (s Setup) RidgeBatch(context int64) (batch int64, ok bool) {
	s.Decode(1, context) // panics if it must
	u := s.unit(context-1, 1)
	reached := func(b float64) bool {
		t := s.times(s.load(u, b))
		return t.Compute >= t.Memory
	}
	// Where chips or stages have requests of their own, in groups of as many.
	p := 1.0
	if s.Split != Tensor {
		p = float64(s.Chips)
	}
	const far = 1 << 50 // here all weights count for nothing beside the cache
	low, high := 0.0, 1.0
	for !reached(high * p) {
		if low, high = high, 2*high; high > far {
			return 0, false
		}
	}
	for high-low > 1 {
		if mid := math.Floor((low + high) / 2); reached(mid * p) {
			high = mid
		} else {
			low = mid
		}
	}
	b := low*p + 1
	for !reached(b) {
		b++
	}
	return int64(b), true
}

// Crossover is RidgeBatch in closed form for a count of weights and cache alone,
// as others publish it: P parameters that are all read and multiplied, attention's
// own FLOPs left out. The batch, a real number, is
//
//	B = w·P/W ÷ (2P/C − K·S/W)
//
// for w bytes a weight, K of cache a token, S tokens of context, C FLOP/s and W
// bytes/s. There is none if the denominator is not positive.
func Crossover(params, weightBytes, kvBytes, context, peak, bandwidth float64) (batch float64, ok bool) {
	arg.Positive("serving", "parameters", params, "parameters")
	arg.Positive("serving", "bytes of a weight", weightBytes, "bytes")
	arg.Positive("serving", "peak", peak, "FLOP/s")
	arg.Positive("serving", "bandwidth", bandwidth, "bytes/s")
	for name, v := range map[string]float64{"cache of a token": kvBytes, "context": context} {
		if !(v >= 0) || math.IsInf(v, 1) {
			arg.Refuse(name, v, "serving: %s is %g: it must be finite and not negative", name, v)
		}
	}
	gain := 2*params/peak - kvBytes*context/bandwidth
	if gain <= 0 {
		return 0, false
	}
	return weightBytes * params / bandwidth / gain, true
}

// NetworkChips returns the smallest number of chips from which on a step of
// decoding is network-bound, of those from 2 to maxChips that the split allows, or 0
// if it is at none of them.
func (s Setup) NetworkChips(batch, context, maxChips int64) int64 {
	for p := int64(2); p <= maxChips; p++ {
		s.Chips = p
		if s.Validate() != nil {
			continue
		}
		if s.times(s.Decode(batch, context)).Bound() == roofline.NetworkBound {
			return p
		}
	}
	return 0
}
