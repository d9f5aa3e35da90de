package llama

import (
	"fmt"
	"math"
	"strings"

	"memorywall/pkg/matmul"
	"memorywall/pkg/transformer"
)

// Config is what the computation needs to know of a model beside its weights.
type Config struct {
	Architecture string // as the file names it: llama, qwen2, qwen3
	Layers       int
	Width        int // of the vector that goes from layer to layer
	Heads        int // of queries
	KVHeads      int // of keys and values; Heads/KVHeads queries share one
	HeadDim      int
	FFN          int // inner width of the feed-forward block
	Vocab        int
	Context      int // tokens that the model was trained to look back on
	Tied         bool
	Epsilon      float32 // of RMSNorm
	RopeBase     float64
	Interleaved  bool // how a head's elements are paired in RoPE
	QKVBias      bool
	QKNorm       bool
}

// kvWidth is the elements of the keys, or of the values, of one token and layer.
func (c Config) kvWidth() int { return c.KVHeads * c.HeadDim }

// Shape returns the model as pkg/transformer counts it.
func (c Config) Shape() transformer.Model {
	return transformer.Model{
		ID: c.Architecture, Name: c.Architecture, Source: "GGUF file",
		Layers: int64(c.Layers), Width: int64(c.Width), Heads: int64(c.Heads), KVHeads: int64(c.KVHeads),
		HeadDim: int64(c.HeadDim), FFN: int64(c.FFN), Gated: true, Vocab: int64(c.Vocab), Tied: c.Tied,
		Norms: 2, QKVBias: c.QKVBias, QKNorm: c.QKNorm,
	}
}

// A Model is a decoder-only transformer of the Llama family with its weights.
// It can be used by several [Runner]s at once.
type Model struct {
	Config
	Tokens *Tokenizer // nil where the weights are random

	embed  matmul.Weights
	layers []layer
	norm   []float32
	output matmul.Weights // the embedding again where they are tied
	ropes  []float64
	file   *File // nil where the weights lie in memory of their own
	path   string
}

// A layer is attention and a feed-forward block, each behind a norm.
type layer struct {
	attnNorm, ffnNorm   []float32
	q, k, v, o          matmul.Weights
	gate, up, down      matmul.Weights
	qBias, kBias, vBias []float32 // nil without
	qNorm, kNorm        []float32 // nil without
}

// An architecture is what its files have beyond those of the others.
type architecture struct {
	interleaved, qkvBias, qkNorm bool
}

var architectures = map[string]architecture{
	"llama": {interleaved: true}, // Llama, Mistral, SmolLM
	"qwen2": {qkvBias: true},
	"qwen3": {qkNorm: true},
}

// Load opens a GGUF file and makes a model of it. The weights stay where they
// are, in the mapped file. What the file asks for and this package does not do
// is refused by name: other architectures, rope scaling, sliding windows,
// experts, tensors that have no place, and types without a kernel.
func Load(path string) (*Model, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	var m *Model
	err = guard(path, func() (err error) {
		m, err = newModel(f)
		return err
	})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	m.path = path
	return m, nil
}

// Close gives the file back. No Runner of the model may be in use.
func (m *Model) Close() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}

func newModel(f *File) (*Model, error) {
	c, err := f.config()
	if err != nil {
		return nil, err
	}
	m := &Model{Config: c, file: f, ropes: ropeFrequencies(c.RopeBase, c.HeadDim)}
	if m.Tokens, err = f.Tokenizer(); err != nil {
		return nil, err
	}
	m.Vocab = m.Tokens.Vocab()
	return m, m.bind(f)
}

// config reads the shape from the metadata, and refuses what is not supported.
func (f *File) config() (Config, error) {
	name, err := f.String("general.architecture")
	if err != nil {
		return Config{}, err
	}
	arch, ok := architectures[name]
	if !ok {
		return Config{}, fmt.Errorf("llama: the file's architecture is %q: known are %s", name, strings.Join(names(architectures), ", "))
	}
	c := Config{Architecture: name, Interleaved: arch.interleaved, QKVBias: arch.qkvBias, QKNorm: arch.qkNorm}
	keys := keyReader{f: f, prefix: name + "."}
	c.Layers = keys.size("block_count", 0, 1<<12)
	c.Context = keys.size("context_length", 0, 1<<24)
	c.Width = keys.size("embedding_length", 0, 1<<20)
	c.FFN = keys.size("feed_forward_length", 0, 1<<24)
	c.Heads = keys.size("attention.head_count", 0, 1<<14)
	c.KVHeads = keys.size("attention.head_count_kv", c.Heads, 1<<14)
	if keys.err != nil {
		return Config{}, keys.err
	}
	if c.Heads%c.KVHeads != 0 {
		return Config{}, fmt.Errorf("llama: %w: %d heads and %d KV heads: the second must divide the first", ErrMetadata, c.Heads, c.KVHeads)
	}
	if c.Width%c.Heads != 0 && !f.Has(keys.prefix+"attention.key_length") {
		return Config{}, fmt.Errorf("llama: %w: %d heads do not divide a width of %d", ErrMetadata, c.Heads, c.Width)
	}
	c.HeadDim = keys.size("attention.key_length", c.Width/c.Heads, 1<<12)
	value := keys.size("attention.value_length", c.HeadDim, 1<<12)
	rope := keys.size("rope.dimension_count", c.HeadDim, 1<<12)
	c.Epsilon = float32(keys.number("attention.layer_norm_rms_epsilon", -1))
	c.RopeBase = keys.number("rope.freq_base", 10000)
	if keys.err != nil {
		return Config{}, keys.err
	}
	switch {
	case c.HeadDim%2 != 0:
		return Config{}, fmt.Errorf("llama: %w: a head of %d elements: RoPE turns pairs", ErrMetadata, c.HeadDim)
	case value != c.HeadDim:
		return Config{}, fmt.Errorf("llama: values of %d elements beside keys of %d are not supported", value, c.HeadDim)
	case rope != c.HeadDim:
		return Config{}, fmt.Errorf("llama: RoPE over %d of the %d elements of a head is not supported", rope, c.HeadDim)
	case !(c.Epsilon > 0 && c.Epsilon < 1):
		return Config{}, fmt.Errorf("llama: %w: %sattention.layer_norm_rms_epsilon is %g: it must be between 0 and 1", ErrMetadata, keys.prefix, c.Epsilon)
	case !(c.RopeBase > 1):
		return Config{}, fmt.Errorf("llama: %w: %srope.freq_base is %g: it must be above 1", ErrMetadata, keys.prefix, c.RopeBase)
	}
	return c, f.refuse(keys.prefix)
}

// refuse names what would change the computation and is not done here.
func (f *File) refuse(prefix string) error {
	if key := prefix + "rope.scaling.type"; f.Has(key) {
		if kind, err := f.String(key); err != nil || kind != "none" {
			return fmt.Errorf("llama: rope scaling (%s = %q) is not supported", key, kind)
		}
	}
	for _, key := range []string{"rope.scale_linear", "rope.scaling.factor", "attention.sliding_window", "expert_count",
		"attention.scale", "logit_scale", "attn_logit_softcapping", "final_logit_softcapping", "residual_scale", "embedding_scale"} {
		if !f.Has(prefix + key) {
			continue
		}
		if v, err := f.Float(prefix + key); err != nil || v != 0 && !(v == 1 && strings.HasPrefix(key, "rope")) {
			return fmt.Errorf("llama: %s%s = %g is not supported", prefix, key, v)
		}
	}
	return nil
}

// A keyReader reads the shape, and keeps the first error.
type keyReader struct {
	f      *File
	prefix string
	err    error
}

// size reads a whole number from 1 to limit. A key that is missing has the
// value otherwise, unless that is 0.
func (k *keyReader) size(key string, otherwise int, limit int64) int {
	key = k.prefix + key
	if k.err != nil || otherwise != 0 && !k.f.Has(key) {
		return otherwise
	}
	n, err := k.f.Int(key)
	if err == nil && (n < 1 || n > limit) {
		err = fmt.Errorf("llama: %w: %s is %d: it must be from 1 to %d", ErrMetadata, key, n, limit)
	}
	k.err = err
	return int(n)
}

// number reads a number. A key that is missing has the value otherwise, unless
// that is negative.
func (k *keyReader) number(key string, otherwise float64) float64 {
	key = k.prefix + key
	if k.err != nil || otherwise >= 0 && !k.f.Has(key) {
		return otherwise
	}
	x, err := k.f.Float(key)
	k.err = err
	return x
}

// formats are the types whose products matmul computes.
var formats = map[TensorType]matmul.WeightFormat{
	0: matmul.Float32, 1: matmul.Float16, 2: matmul.Q4_0, 3: matmul.Q4_1, 8: matmul.Q8_0, 30: matmul.BFloat16,
}

// A binder gives the tensors of a file their places in the model.
type binder struct {
	f    *File
	used map[string]bool
	err  error
}

// matrix returns the tensor of that name as rows×cols weights.
func (b *binder) matrix(name string, rows, cols int) matmul.Weights {
	return b.weights(rows, b.tensor(name, cols, rows))
}

// weights returns a tensor, nil after an error, as so many rows of weights.
func (b *binder) weights(rows int, t *Tensor) (w matmul.Weights) {
	if t == nil {
		return w
	}
	format, ok := formats[t.Type]
	if !ok {
		b.err = fmt.Errorf("llama: %q is stored as %v, which has no kernel: F32, F16, BF16, Q8_0, Q4_0 and Q4_1 have", t.Name, t.Type)
		return w
	}
	w, err := matmul.NewWeights(format, rows, t.Dims[0], t.Data)
	if err != nil {
		b.err = fmt.Errorf("llama: %q: %w", t.Name, err)
	}
	return w
}

// vector returns the tensor of that name as n numbers.
func (b *binder) vector(name string, n int) []float32 {
	w := b.weights(1, b.tensor(name, n))
	if b.err != nil {
		return nil
	}
	x := make([]float32, n)
	w.Row(x, 0)
	for _, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			b.err = fmt.Errorf("llama: %w: %q holds %g", ErrTensor, name, v)
			return nil
		}
	}
	return x
}

func (b *binder) tensor(name string, dims ...int) *Tensor {
	if b.err != nil {
		return nil
	}
	t, err := b.f.Tensor(name)
	if err != nil {
		b.err = err
		return nil
	}
	b.used[name] = true
	have := t.Dims
	for len(have) > len(dims) && have[len(have)-1] == 1 {
		have = have[:len(have)-1]
	}
	if fmt.Sprint(have) != fmt.Sprint(dims) {
		b.err = fmt.Errorf("llama: %w: %q has dimensions %v: the shape of the model asks for %v", ErrTensor, name, t.Dims, dims)
		return nil
	}
	return t
}

func (m *Model) bind(f *File) error {
	b := &binder{f: f, used: map[string]bool{}}
	m.embed = b.matrix("token_embd.weight", m.Vocab, m.Width)
	m.norm = b.vector("output_norm.weight", m.Width)
	m.output, m.Tied = m.embed, true
	if _, ok := f.byName["output.weight"]; ok {
		m.output, m.Tied = b.matrix("output.weight", m.Vocab, m.Width), false
	}
	qWidth := m.Heads * m.HeadDim
	for i := range m.Layers {
		name := func(part string) string { return fmt.Sprintf("blk.%d.%s", i, part) }
		l := layer{
			attnNorm: b.vector(name("attn_norm.weight"), m.Width),
			q:        b.matrix(name("attn_q.weight"), qWidth, m.Width),
			k:        b.matrix(name("attn_k.weight"), m.kvWidth(), m.Width),
			v:        b.matrix(name("attn_v.weight"), m.kvWidth(), m.Width),
			o:        b.matrix(name("attn_output.weight"), m.Width, qWidth),
			ffnNorm:  b.vector(name("ffn_norm.weight"), m.Width),
			gate:     b.matrix(name("ffn_gate.weight"), m.FFN, m.Width),
			up:       b.matrix(name("ffn_up.weight"), m.FFN, m.Width),
			down:     b.matrix(name("ffn_down.weight"), m.Width, m.FFN),
		}
		if m.QKVBias {
			l.qBias = b.vector(name("attn_q.bias"), qWidth)
			l.kBias = b.vector(name("attn_k.bias"), m.kvWidth())
			l.vBias = b.vector(name("attn_v.bias"), m.kvWidth())
		}
		if m.QKNorm {
			l.qNorm = b.vector(name("attn_q_norm.weight"), m.HeadDim)
			l.kNorm = b.vector(name("attn_k_norm.weight"), m.HeadDim)
		}
		if b.err != nil {
			return b.err
		}
		m.layers = append(m.layers, l)
	}
	for _, t := range f.Tensors {
		if !b.used[t.Name] {
			return fmt.Errorf("llama: the file has a tensor %q, for which the architecture %q has no place here", t.Name, m.Architecture)
		}
	}
	return nil
}
