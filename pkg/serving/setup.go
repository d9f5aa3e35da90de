package serving

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"memorywall/pkg/chips"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/transformer"
)

// Chip is a chip as far as serving needs it.
type Chip struct {
	Name        string
	Peak        float64 // in the format of the arithmetic, FLOP/s
	Bandwidth   float64 // of its memory, bytes/s
	Memory      int64   // bytes
	MemoryKnown bool    // Memory is its bytes; otherwise the label × 10⁹
	Link        float64 // to the other chips, one way, bytes/s; 0 if it is unknown
	Domain      int64   // chips that its links join; 0 if it is unknown
	Watts       float64 // 0 if they are unknown
}

// On returns a chip of the catalogue that computes in a number format. It
// panics as [chips.Chip.Rate] does.
func On(c chips.Chip, format string) Chip {
	memory, known := c.Capacity()
	return Chip{Name: c.Name, Peak: c.Rate(format).Dense.Value, Bandwidth: c.Bandwidth.Value, Memory: memory, MemoryKnown: known,
		Link: c.Link.Value, Domain: int64(c.Domain.Value), Watts: c.Watts.Value}
}

// Split is how a model is spread over chips.
type Split int

const (
	// Tensor: every matrix is cut into as many parts as there are chips. All
	// work on each token, and add up their parts twice in a layer (all-reduce).
	Tensor Split = iota
	// Pipeline: each chip has some of the layers. A batch goes through them in as
	// many groups as there are chips, so that all have work.
	Pipeline
	// Expert: the experts are spread; all else is on every chip, which has
	// requests of its own. Tokens go to their experts and back (all-to-all).
	Expert
	// Data: every chip has the whole model and requests of its own.
	Data
)

var splitNames = []string{"tensor", "pipeline", "expert", "data"}

// String returns "tensor", "pipeline", "expert" or "data".
func (s Split) String() string {
	if s < 0 || int(s) >= len(splitNames) {
		return fmt.Sprintf("Split(%d)", int(s))
	}
	return splitNames[s]
}

// ParseSplit returns the split of a name. The error lists the names.
func ParseSplit(name string) (Split, error) {
	for i, n := range splitNames {
		if strings.EqualFold(n, name) {
			return Split(i), nil
		}
	}
	return 0, arg.Errorf("split", name, "serving: split is %q: it must be one of %s", name, strings.Join(splitNames, ", "))
}

// Setup is a model on chips.
type Setup struct {
	Model   transformer.Model
	Storage transformer.Storage
	Chip    Chip
	Chips   int64
	Split   Split
	Hop     float64 // latency of a hop from chip to chip, s
	Launch  float64 // latency of a launch, one for each layer, s
}

// Validate returns an error that names the first thing which cannot be right:
// figures of the chip, a split that does not go up, chips without a link.
func (s Setup) Validate() error {
	return arg.Maybe(func() {
		arg.Check(s.Model.Validate())
		for _, f := range []transformer.Format{s.Storage.Weights, s.Storage.KV, s.Storage.Activations} {
			f.Bits()
		}
		arg.Positive("serving", "peak", s.Chip.Peak, "FLOP/s")
		arg.Positive("serving", "bandwidth", s.Chip.Bandwidth, "bytes/s")
		arg.Size("serving", "memory", s.Chip.Memory)
		arg.Size("serving", "chips", s.Chips)
		for _, t := range []struct {
			name string
			v    float64
		}{{"hop", s.Hop}, {"launch", s.Launch}} {
			if !(t.v >= 0) || math.IsInf(t.v, 1) {
				arg.Refuse(t.name, t.v, "serving: %s is %g s: it must be finite and not negative", t.name, t.v)
			}
		}
		s.checkSplit()
	})
}

func (s Setup) checkSplit() {
	m, p := s.Model, s.Chips
	divides := func(name string, v int64) {
		if v%p != 0 {
			arg.Refuse("chips", p, "serving: chips is %d: a %v split needs a number that divides the %s, %d", p, s.Split, name, v)
		}
	}
	switch s.Split {
	case Tensor:
		divides("heads", m.Heads)
		if m.FFN > 0 {
			divides("feed-forward width", m.FFN)
		}
		divides("width of an expert", m.Experts.Width)
		if m.Latent.KVRank == 0 && m.KVHeads%p != 0 && p%m.KVHeads != 0 {
			arg.Refuse("chips", p, "serving: chips is %d: a tensor split needs a number that divides the KV heads, %d, or that they divide", p, m.KVHeads)
		}
	case Pipeline:
		if p > m.Layers {
			arg.Refuse("chips", p, "serving: chips is %d: a pipeline split needs at most as many as there are layers, %d", p, m.Layers)
		}
	case Expert:
		if m.Experts.Total == 0 {
			arg.Refuse("split", "expert", "serving: split is expert: %s has no experts: choose tensor, pipeline or data", m.Name)
		}
		divides("experts", m.Experts.Total)
	case Data:
	default:
		arg.Refuse("split", int(s.Split), "serving: split is %d: it must be one of %s", int(s.Split), strings.Join(splitNames, ", "))
	}
	if p == 1 || s.Split == Data {
		return
	}
	if s.Chip.Link == 0 {
		arg.Refuse("link", 0, "serving: link is unknown: no source gives the bandwidth that joins one %s to another: give it, in bytes/s one way", s.Chip.Name)
	}
	arg.Positive("serving", "link", s.Chip.Link, "bytes/s")
}

// share is what one chip has: parts of the whole between 0 and 1.
type share struct {
	layers  float64 // matrices of attention, of dense and shared blocks, routers
	experts float64
	vectors float64 // norms and biases
	table   float64 // input table
	output  float64 // output layer
	kv      float64 // of each of its requests
	heads   float64 // of the work of attention itself
}

// whole is the share of a chip that has all.
var whole = share{1, 1, 1, 1, 1, 1, 1}

// shares returns those of the chips that may be the fullest or the slowest.
func (s Setup) shares() []share {
	p := float64(s.Chips)
	switch s.Split {
	case Tensor:
		kv := 1 / min(p, float64(s.Model.KVHeads))
		if s.Model.Latent.KVRank > 0 {
			kv = 1 // one vector for all heads: every chip keeps it
		}
		return []share{{1 / p, 1 / p, 1, 1 / p, 1 / p, kv, 1 / p}}
	case Pipeline:
		L := s.Model.Layers
		stage := func(layers int64, first, last bool) share {
			f := float64(layers) / float64(L)
			sh := share{layers: f, experts: f, vectors: f, kv: f, heads: f}
			if first {
				sh.table = 1
			}
			if last {
				sh.output = 1
				if s.Model.Tied {
					sh.table = 1 // the same table, on both ends
				}
			}
			return sh
		}
		long, short := num.CeilDiv(L, s.Chips), L/s.Chips
		switch s.Chips {
		case 1:
			return []share{stage(L, true, true)}
		case 2:
			return []share{stage(long, true, false), stage(short, false, true)}
		}
		return []share{stage(long, true, false), stage(long, false, false), stage(short, false, true)}
	case Expert:
		return []share{{1, 1 / p, 1, 1, 1, 1, 1}}
	}
	return []share{whole}
}

// of returns the share of a part, by its name in package transformer.
func (sh share) of(part string) float64 {
	switch part {
	case transformer.InputTable:
		return sh.table
	case transformer.OutputLayer:
		return sh.output
	case transformer.ExpertPart:
		return sh.experts
	case transformer.NormPart:
		return sh.vectors
	case transformer.AttentionItself:
		return sh.heads
	}
	return sh.layers
}

// Resident returns the bytes of weights in the memory of the fullest chip.
func (s Setup) Resident() int64 {
	arg.Check(s.Validate())
	fullest := int64(0)
	for _, sh := range s.shares() {
		fullest = max(fullest, s.resident(sh))
	}
	return fullest
}

func (s Setup) resident(sh share) int64 {
	elems := 0.0
	for _, p := range s.Model.Parts() {
		elems += float64(p.Params) * sh.of(p.Name)
	}
	return s.Storage.Weights.Size(int64(math.Ceil(elems)))
}

// apart reports whether every chip has requests of its own.
func (s Setup) apart() bool { return s.Split == Expert || s.Split == Data }

// MaxRequests returns how many requests with a context of so many tokens fit
// beside the weights, on all chips together. What activations and a program
// need is left out. It panics if the setup is invalid or context below 1.
func (s Setup) MaxRequests(context int64) int64 {
	arg.Check(s.Validate())
	kv := float64(s.Model.KVBytes(context, s.Storage.KV))
	each := int64(math.MaxInt64) // requests of the chip with the least room
	for _, sh := range s.shares() {
		free := max(0, s.Chip.Memory-s.resident(sh))
		each = min(each, free/max(1, int64(math.Ceil(kv*sh.kv))))
	}
	if s.apart() {
		all, ok := num.Sum{{each, s.Chips}}.Int64()
		if !ok {
			arg.Panic(arg.Overflow("serving", "requests", float64(each)*float64(s.Chips)))
		}
		return all
	}
	return each
}

// MaxContext returns the longest context of which a batch fits, 0 if there is
// none, and math.MaxInt64 if the cache stops growing before the memory is full. A
// model with a table of positions has no longer one than that.
func (s Setup) MaxContext(batch int64) int64 {
	arg.Size("serving", "batch", batch)
	fits := func(context int64) (ok bool) {
		err := arg.Maybe(func() { ok = s.MaxRequests(context) >= batch })
		if err != nil && !errors.Is(err, arg.ErrOverflow) { // a cache beyond int64 does not fit
			arg.Check(err)
		}
		return ok
	}
	if !fits(1) {
		return 0
	}
	low, high := int64(1), int64(1)<<40 // tokens: beyond any memory and any window
	if last := s.Model.Positions; last > 0 {
		if fits(last) {
			return last
		}
		high = last
	}
	if fits(high) {
		return math.MaxInt64
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
