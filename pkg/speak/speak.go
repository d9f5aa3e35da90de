// Package speak holds a language model against the roof of the machine that it
// runs on: what each step must read and compute, as pkg/transformer counts it,
// and how fast that can be at best (speak.go, which runs nothing), and how fast it
// is (measure.go).
package speak

import (
	"fmt"
	"math"
	"slices"

	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/transformer"
)

// Roof is what bounds a model on a machine.
type Roof struct {
	Level   string  // of memory, that holds the weights: "L3", "memory", …
	Read    float64 // bytes/s that all threads together read from it
	Peak    float64 // FLOP/s in float32
	Int8    float64 // with bytes that are summed in 32 bits; 0 in older machine files
	Threads int
}

// RoofOf returns the roof of a measured machine for a number of threads and for
// weights of so many bytes, which lie in the innermost level that has room for
// them. It returns an error where the machine has no figures for that number of
// threads, which are 1 and as many as it was measured with.
func RoofOf(m machine.Machine, threads int, bytes int64) (Roof, error) {
	if m.Measured == nil {
		return Roof{}, fmt.Errorf("speak: %s was not measured: go run ./scripts/roof does so", m.Name)
	}
	peak, err := m.Measured.Peak(threads, "FP32", "")
	if err != nil {
		return Roof{}, err
	}
	r := Roof{Peak: peak.FLOPS, Threads: threads}
	if peak, err := m.Measured.Peak(threads, "INT8", ""); err == nil {
		r.Int8 = peak.FLOPS
	}
	for _, l := range m.Measured.Levels {
		if l.Threads != threads {
			continue
		}
		r.Level, r.Read = l.Name, l.Rates[machine.LoadLoop]
		room := l.Reported
		if room == 0 {
			room = l.To
		}
		if bytes <= room {
			break
		}
	}
	if !(r.Read > 0) {
		return Roof{}, fmt.Errorf("speak: %s has no read bandwidth for %d threads", m.Name, threads)
	}
	return r, nil
}

// Step is one pass of a model over its weights.
type Step struct {
	Tokens  int64   // that come out of it
	Weights float64 // bytes read of them, norms included
	KV      float64 // bytes of the cache, read and written
	FLOPs   float64
	Int8    bool // the activations are rounded to bytes where they meet weights
}

// Bytes returns all that a step must move.
func (s Step) Bytes() float64 { return s.Weights + s.KV }

// Intensity returns its FLOPs for each byte.
func (s Step) Intensity() float64 { return s.FLOPs / s.Bytes() }

// Seconds returns the least time of the step: that of the bytes or that of the
// FLOPs, whichever is longer.
func (r Roof) Seconds(s Step) float64 { return max(s.Bytes()/r.Read, s.FLOPs/r.peak(s)) }

func (r Roof) peak(s Step) float64 {
	if s.Int8 && r.Int8 > 0 {
		return r.Int8
	}
	return r.Peak
}

// RidgeBatch returns how many sequences, of which s is the step of one, can share a
// read of the weights until the FLOPs of all take as long.
func (r Roof) RidgeBatch(s Step) float64 { return s.Weights / r.Read / (s.FLOPs / r.peak(s)) }

// Float32 returns the roof without the peak for bytes: that of float32 arithmetic.
func (r Roof) Float32() Roof {
	r.Int8 = 0
	return r
}

// Ridge returns the intensity where both take the same time in float32, in
// FLOP/byte.
func (r Roof) Ridge() float64 { return r.Peak / r.Read }

// Format returns the name that pkg/transformer has for a format of weights.
func Format(f matmul.WeightFormat) transformer.Format {
	switch f {
	case matmul.Float32:
		return transformer.Named("FP32")
	case matmul.Float16:
		return transformer.Named("FP16")
	case matmul.BFloat16:
		return transformer.Named("BF16")
	}
	return transformer.Named(f.String())
}

// Decode returns one step of decoding of a batch of sequences, each with so many
// tokens when the new one is counted, and a cache in the format kv.
func Decode(m *llama.Model, batch, context int, kv matmul.WeightFormat) Step {
	s := step(m, m.Shape().Decode(int64(batch), int64(context)), kv, int64(batch))
	matrices, _ := m.Formats()
	s.Int8 = matrices != matmul.Float32 && matrices != matmul.Float16 && matrices != matmul.BFloat16
	return s
}

// Prefill returns the steps that read a prompt of so many tokens in chunks. Only
// its last token goes through the output layer.
func Prefill(m *llama.Model, tokens, chunk int, kv matmul.WeightFormat) []Step {
	var steps []Step
	passes := m.Shape().PrefillChunks(int64(tokens), int64(chunk))
	for i, p := range passes {
		out := int64(0)
		if i == len(passes)-1 {
			out = 1
		}
		steps = append(steps, step(m, p, kv, out))
	}
	return steps
}

// step counts a pass of which out tokens go through the output layer.
func step(m *llama.Model, p transformer.Pass, kv matmul.WeightFormat, out int64) Step {
	matrices, table := m.Formats()
	s := Step{Tokens: out}
	for _, w := range p.Parts {
		f, flops := Format(matrices), float64(w.FLOPs)
		switch w.Name {
		case transformer.NormPart:
			f = transformer.Named("FP32")
		case transformer.OutputLayer:
			f, flops = Format(table), flops*float64(out)/float64(p.Tokens)
			if out == 0 {
				continue
			}
		}
		s.Weights += float64(f.Size(int64(math.Round(w.Weights))))
		s.KV += float64(Format(kv).Size(w.KV))
		s.FLOPs += flops
	}
	return s
}

// DecodeRate returns the most tokens per second that a batch of sequences can
// get while each writes so many behind so many: an average over the contexts.
func (r Roof) DecodeRate(m *llama.Model, batch, behind, tokens int, kv matmul.WeightFormat) float64 {
	seconds := 0.0
	for i := range tokens {
		seconds += r.Seconds(Decode(m, batch, behind+i+1, kv))
	}
	return float64(batch*tokens) / seconds
}

// FirstToken returns the least time to the first token of an answer to a prompt.
func (r Roof) FirstToken(m *llama.Model, tokens, chunk int, kv matmul.WeightFormat) float64 {
	seconds := 0.0
	for _, s := range Prefill(m, tokens, chunk, kv) {
		seconds += r.Seconds(s)
	}
	return seconds
}

// Threads returns the numbers of threads that a machine has figures for.
func Threads(m machine.Machine) []int {
	var all []int
	if m.Measured != nil {
		for _, l := range m.Measured.Levels {
			if !slices.Contains(all, l.Threads) {
				all = append(all, l.Threads)
			}
		}
	}
	return all
}
