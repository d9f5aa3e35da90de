package serving

import (
	"fmt"
	"math"
	"strings"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// Ask is what is asked of a setup.
type Ask struct {
	Batch   int64 // requests that share a step
	Context int64 // tokens of each, the new one counted
	Prompt  int64 // tokens of a prompt; 0: no prefill is asked for
	Chunk   int64 // tokens of a chunk of it; 0: whole
}

// Answer is the whole count of a model on chips, in the form of the command's
// JSON. Counts are of the whole model, unless a key says "per chip".
type Answer struct {
	ParamsTotal  int64   `json:"params_total"`
	ParamsActive int64   `json:"params_active"` // that a token uses, the input table whole
	ParamsRead   float64 `json:"params_read"`   // in a step; of experts, those that the batch touches
	Touched      float64 `json:"experts_touched,omitempty"`

	WeightBytesStored  int64   `json:"weight_bytes_stored"`
	WeightBytes        float64 `json:"weight_bytes"` // read per step
	KVBytesPerToken    int64   `json:"kv_bytes_per_token"`
	KVBytesPerRequest  int64   `json:"kv_bytes_per_request"` // at this context
	ActivationBytes    float64 `json:"activation_bytes"`     // if no part handed them on; not in the times
	FLOPs              int64   `json:"flops"`                // of a step
	ChipWeightsStored  int64   `json:"weight_bytes_stored_per_chip"`
	ChipWeights        float64 `json:"weight_bytes_per_chip"`
	ChipKV             float64 `json:"kv_bytes_per_chip"`
	ChipSent           float64 `json:"network_bytes_per_chip"`
	ChipFLOPs          float64 `json:"flops_per_chip"`
	MemoryBytesPerChip int64   `json:"memory_bytes_per_chip"`
	MemoryFrom         string  `json:"memory_from"` // "known bytes" or "label × 10^9"

	Fits        bool   `json:"fits"`
	MaxRequests int64  `json:"max_requests"`
	MaxContext  *int64 `json:"max_context"` // null: the cache stops growing first

	TTFT       *float64 `json:"ttft_s"` // null: no prompt was given
	TTFTSerial *float64 `json:"ttft_serial_s"`
	TTFTBound  string   `json:"ttft_bound,omitempty"`
	TPOT       float64  `json:"tpot_s"`
	TPOTSerial float64  `json:"tpot_serial_s"`
	Each       float64  `json:"tokens_per_s_each"`
	All        float64  `json:"tokens_per_s_all"`
	Bound      string   `json:"bound"` // compute, memory, network or latency
	Compute    float64  `json:"compute_s"`
	Memory     float64  `json:"memory_s"`
	WeightTime float64  `json:"weights_s"` // of memory_s
	KVTime     float64  `json:"kv_s"`      // of memory_s
	Network    float64  `json:"network_s"`
	Latency    float64  `json:"latency_s"`

	RidgeBatch *int64   `json:"ridge_batch"` // null: no batch reaches it
	RidgeSays  string   `json:"ridge_batch_says"`
	Crossover  *float64 `json:"ridge_batch_without_attention_flops"`
	Ridge      float64  `json:"ridge_flop_per_byte"`

	Help string `json:"help"` // what would help most
}

// boundWord is the bound in one word.
func boundWord(b roofline.Bound) string { return strings.TrimSuffix(b.String(), "-bound") }

// Answer returns the whole count. It panics if the setup is invalid, batch or
// context below 1, or a count leaves int64.
func (s Setup) Answer(ask Ask) Answer {
	l := s.Decode(ask.Batch, ask.Context)
	t := s.times(l)
	m := s.Model
	p, pass := m.Params(), m.Decode(ask.Batch, ask.Context)
	bytes := pass.Bytes(s.Storage)
	a := Answer{
		ParamsTotal: p.Total, ParamsActive: p.Active, ParamsRead: m.ReadParams(ask.Batch),
		WeightBytesStored: s.Storage.Weights.Size(p.Total), WeightBytes: bytes.Weights,
		KVBytesPerToken: m.KVBytesPerToken(s.Storage.KV), KVBytesPerRequest: m.KVBytes(ask.Context, s.Storage.KV),
		ActivationBytes: bytes.Activations, FLOPs: pass.FLOPs(),
		ChipWeightsStored: s.Resident(), ChipWeights: l.Weights, ChipKV: l.KV, ChipSent: l.Sent, ChipFLOPs: l.FLOPs,
		MemoryBytesPerChip: s.Chip.Memory, MemoryFrom: "label × 10^9",
		MaxRequests: s.MaxRequests(ask.Context),
		TPOT:        t.Overlapped(), TPOTSerial: t.Serial(), Each: 1 / t.Overlapped(), All: float64(ask.Batch) / t.Overlapped(), Bound: boundWord(t.Bound()),
		Compute: t.Compute, Memory: t.Memory, WeightTime: l.Weights / s.Chip.Bandwidth, KVTime: l.KV / s.Chip.Bandwidth, Network: t.Network, Latency: t.Latency,
		Ridge: s.Chip.Peak / s.Chip.Bandwidth, Help: s.help(ask),
	}
	if s.Chip.MemoryKnown {
		a.MemoryFrom = "known bytes"
	}
	if m.Experts.Total > 0 {
		a.Touched = m.Touched(ask.Batch)
	}
	a.Fits = ask.Batch <= a.MaxRequests
	if c := s.MaxContext(ask.Batch); c != math.MaxInt64 {
		a.MaxContext = &c
	}
	if ask.Prompt != 0 {
		t := s.times(s.Prefill(ask.Prompt, ask.Chunk))
		overlapped, serial := t.Overlapped(), t.Serial()
		a.TTFT, a.TTFTSerial, a.TTFTBound = &overlapped, &serial, boundWord(t.Bound())
	}
	a.RidgeSays = "the FLOPs of attention itself are counted, and so is the cache; activations are not"
	if b, ok := s.RidgeBatch(ask.Context); ok {
		a.RidgeBatch = &b
	} else {
		one := s.loadOfOneMore(ask.Context)
		a.RidgeSays = fmt.Sprintf("none: one more request takes %s to read its cache and %s to compute its token (%s)",
			num.SI(one.KV/s.Chip.Bandwidth, "s"), num.SI(one.FLOPs/s.Chip.Peak, "s"), a.RidgeSays)
	}
	if m.Experts.Total == 0 {
		w := s.Storage.Weights.Bits() / 8
		if b, ok := Crossover(float64(p.Read), w, float64(a.KVBytesPerRequest)/float64(ask.Context), float64(ask.Context), s.Chip.Peak, s.Chip.Bandwidth); ok {
			a.Crossover = &b
		}
	}
	return a
}

// loadOfOneMore is what one more request adds where all weights are read anyway.
func (s Setup) loadOfOneMore(context int64) Load {
	u := s.unit(context-1, 1)
	const many = 1 << 40
	a, b := s.load(u, many), s.load(u, many+float64(s.Chips))
	n := float64(s.Chips)
	return Load{FLOPs: (b.FLOPs - a.FLOPs) / n, KV: (b.KV - a.KV) / n}
}

// help tries what one could change, one thing at a time, says which of them
// shortens a step most, and what another number of chips does.
func (s Setup) help(ask Ask) string {
	now := s.times(s.Decode(ask.Batch, ask.Context)).Overlapped()
	after := func(change func(*Setup)) float64 {
		other := s
		change(&other)
		if other.Validate() != nil {
			return now
		}
		return other.times(other.Decode(ask.Batch, ask.Context)).Overlapped()
	}
	best, name := now*(1-1e-9), "none of bits, arithmetic, links and latency alone"
	for _, c := range []struct {
		name   string
		change func(*Setup)
	}{
		{"half the bits of the weights", func(o *Setup) { o.Storage.Weights.Elems *= 2 }},
		{"half the bits of the cache", func(o *Setup) { o.Storage.KV.Elems *= 2 }},
		{"arithmetic twice as fast", func(o *Setup) { o.Chip.Peak *= 2 }},
		{"links twice as fast", func(o *Setup) { o.Chip.Link *= 2 }},
		{"half the latency", func(o *Setup) { o.Hop, o.Launch = o.Hop/2, o.Launch/2 }},
	} {
		if t := after(c.change); t < best {
			best, name = t, fmt.Sprintf("%s (%s)", c.name, num.SI(t, "s"))
		}
	}
	text := fmt.Sprintf("a step takes %s; what shortens it most: %s", num.SI(now, "s"), name)
	if t := after(func(o *Setup) { o.Chips *= 2 }); t != now {
		text += fmt.Sprintf("; %d chips: %s", 2*s.Chips, num.SI(t, "s"))
	}
	return text
}

// AboveRoofError says that a measured rate is more than a roof allows, which
// cannot be: the bytes or the FLOPs are not those that the program moved or did,
// or the roof is not that of its chip.
type AboveRoofError struct {
	What string  // "bandwidth" or "peak"
	Used float64 // per second
	Roof float64 // per second
}

func (e *AboveRoofError) Error() string {
	unit := "bytes/s"
	if e.What == "peak" {
		unit = "FLOP/s"
	}
	return fmt.Sprintf("serving: the rate needs %.4g %s, %.2f times the %s of %.4g: it is impossible; likely less is read or computed for a token than was counted (a mixture of experts, a cache of fewer heads, fewer bits), or the roof is that of fewer chips",
		e.Used, unit, e.Used/e.Roof, e.What, e.Roof)
}

// MBU returns the share of a bandwidth in bytes/s that a measured rate of steps
// (tokens of one request, per second) uses when each moves so many bytes: model
// bandwidth utilisation. Above 1 the error is an [*AboveRoofError], and the share
// is returned with it. It panics unless all arguments are positive.
func MBU(stepsPerS, bytesPerStep, bandwidth float64) (float64, error) {
	return use("bandwidth", "bytes of a step", stepsPerS, bytesPerStep, bandwidth)
}

// MFU returns the same of a peak in FLOP/s: model FLOPs utilisation.
func MFU(stepsPerS, flopsPerStep, peak float64) (float64, error) {
	return use("peak", "FLOPs of a step", stepsPerS, flopsPerStep, peak)
}

func use(what, each string, rate, amount, roof float64) (float64, error) {
	arg.Positive("serving", "rate", rate, "a second")
	arg.Positive("serving", each, amount, "")
	arg.Positive("serving", what, roof, "a second")
	if used := rate * amount; used > roof {
		return used / roof, &AboveRoofError{what, used, roof}
	}
	return rate * amount / roof, nil
}

// JoulesPerToken returns watts over tokens/s.
func JoulesPerToken(watts, tokensPerS float64) float64 {
	arg.Positive("serving", "power", watts, "W")
	arg.Positive("serving", "rate", tokensPerS, "tokens/s")
	j := watts / tokensPerS
	arg.Positive("serving", "energy of a token", j, "J")
	return j
}

// CostPerMillion returns the price of a million tokens at so much an hour.
func CostPerMillion(perHour, tokensPerS float64) float64 {
	arg.Positive("serving", "price", perHour, "an hour")
	arg.Positive("serving", "rate", tokensPerS, "tokens/s")
	cost := perHour / 3600 / tokensPerS * 1e6
	arg.Positive("serving", "cost", cost, "a million tokens")
	return cost
}
