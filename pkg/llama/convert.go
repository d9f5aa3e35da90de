package llama

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memorywall/pkg/matmul"
)

// Convert returns the same model with all matrices in another format, made of
// the decoded weights. It shares the tokenizer and the norms with m, and needs
// the file only while it runs.
func (m *Model) Convert(f matmul.WeightFormat) (*Model, error) {
	c := *m
	c.file, c.path = nil, ""
	c.layers = slices.Clone(m.layers)
	all := []*matmul.Weights{&c.embed}
	if !c.Tied {
		all = append(all, &c.output)
	}
	for i := range c.layers {
		all = append(all, c.layers[i].matrices()...)
	}
	err := m.guard(func() (err error) {
		for _, w := range all {
			if *w, err = converted(*w, f); err != nil {
				return err
			}
		}
		return nil
	})
	if c.Tied {
		c.output = c.embed
	}
	return &c, err
}

// matrices returns all of a layer's.
func (l *layer) matrices() []*matmul.Weights {
	return []*matmul.Weights{&l.q, &l.k, &l.v, &l.o, &l.gate, &l.up, &l.down}
}

// WeightBytes returns what the matrices of the model take: all that a step reads
// of its weights but the norms.
func (m *Model) WeightBytes() int64 {
	n := int64(m.output.Bytes())
	for i := range m.layers {
		for _, w := range m.layers[i].matrices() {
			n += int64(w.Bytes())
		}
	}
	return n
}

func converted(w matmul.Weights, f matmul.WeightFormat) (matmul.Weights, error) {
	size, err := f.RowBytes(w.Cols())
	if err != nil {
		return matmul.Weights{}, fmt.Errorf("llama: %w", err)
	}
	data, row := make([]byte, size*w.Rows()), make([]float32, w.Cols())
	for i := range w.Rows() {
		w.Row(row, i)
		encode(f, data[i*size:][:size], row)
	}
	return matmul.NewWeights(f, w.Rows(), w.Cols(), data)
}

// encode writes a row of numbers in a format. Blocks of 32 are rounded as ggml's
// reference does (quantize_row_*_ref in ggml-quants.c): Q8_0 to multiples of the
// largest magnitude over 127, Q4_0 to multiples of the value of largest magnitude
// over -8, Q4_1 to 16 steps from the smallest to the largest.
func encode(f matmul.WeightFormat, dst []byte, x []float32) {
	switch f {
	case matmul.Float32:
		store(dst, x, 4)
	case matmul.Float16:
		store(dst, x, 2)
	case matmul.BFloat16:
		for i, v := range x {
			binary.LittleEndian.PutUint16(dst[2*i:], toBFloat16(v))
		}
	default:
		size := len(dst) / (len(x) / matmul.QuantBlock)
		for ; len(x) > 0; dst, x = dst[size:], x[matmul.QuantBlock:] {
			encodeBlock(f, dst, x[:matmul.QuantBlock])
		}
	}
}

// toBFloat16 rounds to the nearest bfloat16, ties to even.
func toBFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 1<<6
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func encodeBlock(f matmul.WeightFormat, dst []byte, x []float32) {
	low, high, most := x[0], x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
		if math.Abs(float64(v)) > math.Abs(float64(most)) {
			most = v
		}
	}
	var step, base float32 // a weight is base + step·q
	levels := float32(15)
	switch f {
	case matmul.Q8_0:
		step = float32(math.Abs(float64(most))) / 127
	case matmul.Q4_0:
		step = most / -8
		base = -8 * step
	case matmul.Q4_1:
		step, base = (high-low)/15, low
		binary.LittleEndian.PutUint16(dst[2:], toFloat16(base))
	}
	inverse := float32(0)
	if step != 0 {
		inverse = 1 / step
	}
	binary.LittleEndian.PutUint16(dst, toFloat16(step))
	if f == matmul.Q8_0 {
		for i, v := range x {
			dst[2+i] = byte(int8(math.RoundToEven(float64(v * inverse))))
		}
		return
	}
	q := dst[2:18]
	if f == matmul.Q4_1 {
		q = dst[4:20]
	}
	for i := range q {
		lo := min((x[i]-base)*inverse+0.5, levels)
		hi := min((x[i+16]-base)*inverse+0.5, levels)
		q[i] = byte(lo) | byte(hi)<<4
	}
}

// Lesson returns the shape of the lesson's model, SmolLM2-135M
// (huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct, config.json).
func Lesson() Config {
	return Config{Architecture: "llama", Layers: 30, Width: 576, Heads: 9, KVHeads: 3, HeadDim: 64, FFN: 1536,
		Vocab: 49152, Context: 8192, Tied: true, Epsilon: 1e-5, RopeBase: 100000, Interleaved: true}
}

// Random returns a model of a shape with random weights, the matrices of its
// layers in one format and its table in another. It computes as a real one does,
// at the same speed, and says nothing. The same seed gives the same weights.
func Random(c Config, matrices, table matmul.WeightFormat, seed uint64) (*Model, error) {
	if err := c.Shape().Validate(); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	m := &Model{Config: c, ropes: ropeFrequencies(c.RopeBase, c.HeadDim)}
	var failed error
	matrix := func(f matmul.WeightFormat, rows, cols int) (w matmul.Weights) {
		size, err := f.RowBytes(cols)
		if err == nil {
			w, err = matmul.NewWeights(f, rows, cols, randomRows(random, f, rows, size, cols))
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("llama: %w", err)
		}
		return w
	}
	ones := func(n int) []float32 { return slices.Repeat([]float32{1}, n) }
	m.embed, m.norm = matrix(table, c.Vocab, c.Width), ones(c.Width)
	if m.output = m.embed; !c.Tied {
		m.output = matrix(table, c.Vocab, c.Width)
	}
	for range c.Layers {
		l := layer{
			attnNorm: ones(c.Width), ffnNorm: ones(c.Width),
			q: matrix(matrices, c.Heads*c.HeadDim, c.Width), o: matrix(matrices, c.Width, c.Heads*c.HeadDim),
			k: matrix(matrices, c.kvWidth(), c.Width), v: matrix(matrices, c.kvWidth(), c.Width),
			gate: matrix(matrices, c.FFN, c.Width), up: matrix(matrices, c.FFN, c.Width), down: matrix(matrices, c.Width, c.FFN),
		}
		if c.QKVBias {
			l.qBias, l.kBias, l.vBias = ones(c.Heads*c.HeadDim), ones(c.kvWidth()), ones(c.kvWidth())
		}
		if c.QKNorm {
			l.qNorm, l.kNorm = ones(c.HeadDim), ones(c.HeadDim)
		}
		m.layers = append(m.layers, l)
	}
	return m, failed
}

// randomRows returns rows of weights of the order of 1/√cols: the first 64 are
// random, and the others each one of these, drawn at random, so that a hundred
// megabytes take milliseconds.
func randomRows(random *rand.Rand, f matmul.WeightFormat, rows, size, cols int) []byte {
	x, row := make([]float32, cols), make([]byte, size)
	data := make([]byte, 0, rows*size)
	for i := range rows {
		if i < 64 {
			for j := range x {
				x[j] = float32(random.NormFloat64()) * inverseRoot(cols)
			}
			encode(f, row, x)
			data = append(data, row...)
			continue
		}
		at := random.IntN(64)
		data = append(data, data[at*size:][:size]...)
	}
	return data
}

// Formats returns how the matrices of the layers are stored, the first of them
// for all, and the table that is read as the output layer.
func (m *Model) Formats() (matrices, table matmul.WeightFormat) {
	return m.layers[0].q.Format(), m.output.Format()
}
