package transformer

import (
	"math"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Part is a part of a model, with its parameters.
type Part struct {
	Name string
	// Params is how many there are; Active those that a token uses, in the
	// sense of published figures, which count the input table whole.
	Params, Active int64
	// Read is how many a step for one token reads: of the input table it reads
	// one row, which is left out. With tied embeddings the same table is read as
	// the output layer, where it has no parameters of its own.
	Read int64
	// Matrix is those of Read that stand in matrices: each is a multiply-add for
	// a token, 2 FLOPs.
	Matrix int64
}

// Names of the parts.
const (
	InputTable  = "input table"
	Attention   = "attention"
	FeedForward = "feed-forward"
	Router      = "router"
	ExpertPart  = "experts"
	NormPart    = "norms and biases"
	OutputLayer = "output layer"
)

// Parts returns the parts of a model: the tables at both ends, and for all
// layers together attention, the dense and shared feed-forward blocks, the
// router, the experts that it chooses from, the norms and biases. Parts that a
// model lacks are there with zeros.
//
// It panics if the model cannot be right or a count leaves int64.
func (m Model) Parts() []Part {
	m.check()
	whole := func(name string, s num.Sum) Part {
		n := count("parameters of "+name, s)
		return Part{Name: name, Params: n, Active: n, Read: n, Matrix: n}
	}
	table := count("parameters of the input table", num.Sum{{m.Vocab, m.Width}, {m.Positions, m.Width}})
	out := whole(OutputLayer, num.Sum{{m.Vocab, m.Width}})
	if m.Tied {
		out.Params, out.Active = 0, 0
	}
	router := whole(Router, num.Sum{{m.expertLayers(), m.Width, m.Experts.Total}})
	if m.Experts.RouterBias {
		bias := num.Sum{{m.expertLayers(), m.Experts.Total}}
		n := count("parameters of the router", append(bias, []int64{router.Params}))
		router.Params, router.Active, router.Read = n, n, n
	}
	experts := Part{Name: ExpertPart, Params: count("parameters of the experts", num.Sum{{m.expertLayers(), m.Experts.Total, m.ExpertParams()}})}
	n := count("active parameters of the experts", num.Sum{{m.expertLayers(), m.Experts.Active, m.ExpertParams()}})
	experts.Active, experts.Read, experts.Matrix = n, n, n
	norms := whole(NormPart, m.vectors())
	norms.Matrix = 0
	return []Part{
		{Name: InputTable, Params: table, Active: table},
		whole(Attention, m.attention()),
		whole(FeedForward, num.Sum{
			{m.denseLayers(), m.ffnMatrices(), m.Width, m.FFN},
			{m.expertLayers(), m.Experts.Shared, m.ExpertParams()},
		}),
		router, experts, norms, out,
	}
}

// ExpertParams returns the parameters of one expert in one layer.
func (m Model) ExpertParams() int64 {
	return count("parameters of an expert", num.Sum{{m.ffnMatrices(), m.Width, m.Experts.Width}})
}

func (m Model) ffnMatrices() int64 {
	if m.Gated {
		return 3
	}
	return 2
}

// attention counts the matrices of attention in all layers.
func (m Model) attention() num.Sum {
	L, D, H := m.Layers, m.Width, m.Heads
	if l := m.Latent; l.KVRank > 0 {
		s := num.Sum{
			{L, D, l.KVRank}, {L, D, l.RopeDim}, // down to the kept vector
			{L, l.KVRank, H, l.NopeDim}, {L, l.KVRank, H, l.Value}, // up to the heads
			{L, H, l.Value, D},
		}
		if l.QRank == 0 {
			return append(s, []int64{L, D, H, m.HeadDim})
		}
		return append(s, []int64{L, D, l.QRank}, []int64{L, l.QRank, H, m.HeadDim})
	}
	return num.Sum{{2, L, D, H, m.HeadDim}, {2, L, D, m.KVHeads, m.HeadDim}}
}

// vectors counts norms and biases.
func (m Model) vectors() num.Sum {
	L, D := m.Layers, m.Width
	vectors := int64(1)
	if m.NormBias {
		vectors = 2
	}
	s := num.Sum{{vectors, L, m.Norms, D}, {vectors, D}} // one more at the end
	if m.QKNorm {
		s = append(s, []int64{2, L, m.HeadDim})
	}
	if m.QKVBias {
		s = append(s, []int64{L, m.Heads, m.HeadDim}, []int64{2, L, m.KVHeads, m.HeadDim})
	}
	if m.OutBias {
		s = append(s, []int64{L, D})
	}
	if m.FFNBias {
		s = append(s, []int64{m.ffnMatrices() - 1, L, m.FFN}, []int64{L, D})
	}
	if l := m.Latent; l.KVRank > 0 { // norms of the two compressed vectors
		s = append(s, []int64{L, l.KVRank}, []int64{L, l.QRank})
	}
	return s
}

// Params is how many parameters a model has.
type Params struct {
	Total  int64 // that must be in memory
	Active int64 // that a token uses, the input table whole: the published "active"
	Read   int64 // that a step for one token reads, the input table left out
	Matrix int64 // those of Read in matrices
}

// Params returns the sums over [Model.Parts]. It panics as Parts does.
func (m Model) Params() Params {
	var total, active, read, matrix num.Sum
	for _, p := range m.Parts() {
		total = append(total, []int64{p.Params})
		active = append(active, []int64{p.Active})
		read = append(read, []int64{p.Read})
		matrix = append(matrix, []int64{p.Matrix})
	}
	return Params{count("parameters", total), count("active parameters", active),
		count("parameters read", read), count("parameters in matrices", matrix)}
}

// Touched returns how many of the experts of a layer a batch of tokens reads
// when routing is even and tokens choose alike and apart by chance:
// E·(1 − (1 − k/E)^B) of E experts, k a token. It is an expected value, exactly
// k for one token. It panics if tokens is below 1 or the model is dense.
func (m Model) Touched(tokens int64) float64 {
	m.check()
	arg.Size("transformer", "tokens", tokens)
	arg.Size("transformer", "experts", m.Experts.Total)
	E, k := float64(m.Experts.Total), float64(m.Experts.Active)
	if tokens == 1 {
		return k
	}
	return E * -math.Expm1(float64(tokens)*math.Log1p(-k/E))
}

// ReadParams returns how many parameters a step for so many tokens reads: all
// of [Params].Read but the experts, and of these [Model.Touched] in each layer.
// Of a dense model that is Read, a whole number, for any tokens.
func (m Model) ReadParams(tokens int64) float64 {
	read := float64(m.Params().Read)
	if m.Experts.Total == 0 {
		arg.Size("transformer", "tokens", tokens)
		return read
	}
	more := m.Touched(tokens) - float64(m.Experts.Active)
	return read + more*float64(m.ExpertParams())*float64(m.expertLayers())
}
