package transformer

import (
	"fmt"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Model is a decoder-only transformer as its published shape. Sizes are in
// elements. A zero Experts, Latent or Window means that the model has none.
type Model struct {
	ID     string // short name: "llama-3-8b"
	Name   string // in full: "Llama 3 8B"
	Source string // where the shape is published

	Layers  int64
	Width   int64 // of the vector that goes from layer to layer
	Heads   int64 // of queries
	KVHeads int64 // of keys and values; fewer than Heads: grouped heads
	HeadDim int64 // of a query or key head

	FFN   int64 // inner width of a feed-forward block
	Gated bool  // three matrices (gate, up, down) instead of two (up, down)

	Vocab     int64 // rows of the input table and of the output layer
	Tied      bool  // the two are one table
	Positions int64 // rows of a learned table of positions, 0 for rotations

	Norms    int64 // norm vectors in a layer, each of the model's width
	NormBias bool  // a norm has a bias beside its scale
	QKNorm   bool  // one more norm each for the queries and keys of a head
	QKVBias  bool
	OutBias  bool // of attention's output matrix
	FFNBias  bool

	Experts Experts
	Latent  Latent

	Window       int64 // tokens that a layer with a sliding window looks back on
	WindowLayers int64 // layers that have one
}

// Experts is the shape of a mixture of experts: a router picks Active of Total
// feed-forward blocks for each token.
type Experts struct {
	Total, Active int64
	Shared        int64 // further experts that every token uses
	Width         int64 // inner width of one expert
	DenseLayers   int64 // layers at the beginning with a block of width FFN instead
	RouterBias    bool
}

// Latent is the shape of multi-head latent attention (MLA): of each token a
// layer keeps one vector of KVRank + RopeDim elements for all heads.
type Latent struct {
	QRank   int64 // rank of the query's two factors, 0 for one whole matrix
	KVRank  int64 // of the kept vector, before the rotated part
	NopeDim int64 // of a query or key head, not rotated
	RopeDim int64 // of a query or key head, rotated
	Value   int64 // dimension of a value head
}

// Validate returns an error that names the first size which cannot be right.
func (m Model) Validate() error {
	for _, s := range []struct {
		name string
		v    int64
		min  int64
	}{
		{"layers", m.Layers, 1}, {"width", m.Width, 1}, {"heads", m.Heads, 1}, {"KV heads", m.KVHeads, 1},
		{"head dimension", m.HeadDim, 1}, {"vocabulary", m.Vocab, 1}, {"positions", m.Positions, 0}, {"norms", m.Norms, 0},
		{"feed-forward width", m.FFN, 0}, {"experts", m.Experts.Total, 0}, {"active experts", m.Experts.Active, 0},
		{"shared experts", m.Experts.Shared, 0}, {"expert width", m.Experts.Width, 0}, {"dense layers", m.Experts.DenseLayers, 0},
		{"query rank", m.Latent.QRank, 0}, {"latent rank", m.Latent.KVRank, 0}, {"unrotated dimension", m.Latent.NopeDim, 0},
		{"rotated dimension", m.Latent.RopeDim, 0}, {"value dimension", m.Latent.Value, 0},
		{"window", m.Window, 0}, {"window layers", m.WindowLayers, 0},
	} {
		if s.v < s.min {
			return m.bad(s.name, s.v, fmt.Sprintf("it must be at least %d", s.min))
		}
	}
	e, l := m.Experts, m.Latent
	switch {
	case m.KVHeads > m.Heads:
		return m.bad("KV heads", m.KVHeads, fmt.Sprintf("it must be at most the %d heads", m.Heads))
	case m.Heads%m.KVHeads != 0:
		return m.bad("heads", m.Heads, fmt.Sprintf("the %d KV heads must divide it", m.KVHeads))
	case e.Active > e.Total:
		return m.bad("active experts", e.Active, fmt.Sprintf("it must be at most the %d experts", e.Total))
	case e.Total > 0 && e.Active == 0:
		return m.bad("active experts", 0, "a model with experts must use at least 1")
	case e.Total > 0 && e.Width == 0:
		return m.bad("expert width", 0, "a model with experts needs one of at least 1")
	case e.Total == 0 && e != (Experts{}):
		return m.bad("experts", 0, "it must be at least 1 where other figures of experts are given")
	case e.DenseLayers > m.Layers:
		return m.bad("dense layers", e.DenseLayers, fmt.Sprintf("it must be at most the %d layers", m.Layers))
	case m.FFN == 0 && m.denseLayers() > 0:
		return m.bad("feed-forward width", 0, "it must be at least 1")
	case l.KVRank == 0 && l != (Latent{}):
		return m.bad("latent rank", 0, "it must be at least 1 where other figures of latent attention are given")
	case l.KVRank > 0 && l.Value == 0:
		return m.bad("value dimension", 0, "latent attention needs one of at least 1")
	case l.KVRank > 0 && l.NopeDim+l.RopeDim != m.HeadDim:
		return m.bad("head dimension", m.HeadDim, fmt.Sprintf("with latent attention it must be the sum of its parts, %d + %d", l.NopeDim, l.RopeDim))
	case m.WindowLayers > m.Layers:
		return m.bad("window layers", m.WindowLayers, fmt.Sprintf("it must be at most the %d layers", m.Layers))
	case (m.Window == 0) != (m.WindowLayers == 0):
		return m.bad("window", m.Window, fmt.Sprintf("%d layers have one: both must be 0, or neither", m.WindowLayers))
	}
	return nil
}

func (m Model) bad(name string, v int64, want string) *arg.Error {
	if m.Name != "" {
		want += fmt.Sprintf(" (model %q)", m.Name)
	}
	return arg.Errorf(name, v, "transformer: %s is %d: %s", name, v, want)
}

// check panics unless the model can be right.
func (m Model) check() { arg.Check(m.Validate()) }

// denseLayers returns how many layers have one feed-forward block, not experts.
func (m Model) denseLayers() int64 {
	if m.Experts.Total == 0 {
		return m.Layers
	}
	return m.Experts.DenseLayers
}

// expertLayers returns how many layers have experts.
func (m Model) expertLayers() int64 { return m.Layers - m.denseLayers() }

// count returns an exact count, or panics if it leaves int64.
func count(name string, s num.Sum) int64 {
	v, ok := s.Int64()
	if !ok {
		arg.Panic(arg.Overflow("transformer", name, s.Float64()))
	}
	return v
}
