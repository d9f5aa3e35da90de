package explore

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"memorywall/pkg/chips"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/internal/svg"
	"memorywall/pkg/roofline"
	"memorywall/pkg/serving"
	"memorywall/pkg/transformer"
)

// drawModel asks what a whole model can do on one chip or several: what a step
// of decoding reads and takes, what fits, when the first token comes.
func drawModel(r *reader, v *View, width float64) {
	var models []Option
	for _, m := range transformer.Presets() {
		models = append(models, Option{Value: m.ID, Label: m.Name})
	}
	model, _ := r.choice("model", "Model", "a published model", first(models, "llama-3-8b"))
	chip := r.servingChip()
	text, _ := r.choice("chips", "Chips", "how many share the work", options(func(n string) string { return n }, "1", "2", "4", "8", "16", "32", "64"))
	n, _ := strconv.ParseInt(text, 10, 64) // one of these
	split, _ := r.choice("split", "Split", "how the model is spread over several chips", []Option{
		{Value: "tensor", Label: "tensor: every matrix cut"}, {Value: "pipeline", Label: "pipeline: layers in turn"},
		{Value: "expert", Label: "expert: experts spread"}, {Value: "data", Label: "data: whole models"}})
	formats := options(func(name string) string { return name + ", " + num.Short(transformer.Named(name).Bits()) + " bits" },
		"FP16", "FP8", "INT8", "Q8_0", "Q4_1", "Q4_0", "INT4", "FP32")
	weightFormat, _ := r.choice("weights", "Weights in", "number format of the weights in memory", formats)
	kv, _ := r.choice("kv", "KV cache in", "number format of the cache", formats)
	tokens := func(key, label, usual string) int64 {
		n, _ := r.integer(field{key: key, label: label, measure: count, least: power(10, 0), most: big.NewInt(1 << 24), usual: usual, examples: "1 or 4096", scale: octaves(1, 1<<20, coarsely)})
		return n
	}
	batch, _ := r.integer(field{key: "batch", label: "Batch, requests that share a step", measure: count, least: power(10, 0), most: big.NewInt(1 << 24),
		usual: "8", examples: "1 or 64", scale: octaves(1, 1<<14, coarsely)})
	ask := serving.Ask{Batch: batch, Context: tokens("context", "Context of each request, tokens", "4096"), Prompt: tokens("prompt", "Prompt, tokens", "2048")}
	text, _ = r.choice("hop", "Latency of a hop, µs", "time from chip to chip before the first byte; 0 leaves it out",
		options(func(us string) string { return us + " µs" }, "0", "1", "2", "5", "10"))
	hop, _ := strconv.ParseFloat(text, 64) // one of these
	if !r.well() {
		return
	}

	s := serving.Setup{Model: transformer.Preset(model), Chip: chip, Chips: n, Hop: hop * 1e-6,
		Storage: transformer.Storage{Weights: transformer.Named(weightFormat), KV: transformer.Named(kv), Activations: transformer.Named("FP16")}}
	s.Split, _ = serving.ParseSplit(split) // one of the choices
	if n > 1 && s.Split != serving.Data && chip.Domain > 0 && n > chip.Domain {
		r.fail("chips", "chips is %d: the links of %s join %d", n, chip.Name, chip.Domain)
		return
	}
	if err := s.Validate(); err != nil {
		key := "chips"
		if strings.HasPrefix(err.Error(), "serving: split ") {
			key = "split"
		}
		r.failed(key, err)
		return
	}
	var a serving.Answer
	if err := arg.Maybe(func() { a = s.Answer(ask) }); err != nil {
		r.failed("batch", err)
		return
	}

	fits := "fits"
	if !a.Fits {
		fits = "does not fit"
	}
	v.Summary = fmt.Sprintf("%s on %s: at most %s tokens/s for each request, %s for all; a step takes at least %s, %s-bound. The batch %s: at most %s.",
		s.Model.Name, num.Join(fmt.Sprint(n), chip.Name), num.Short(a.Each), num.Short(a.All), num.SI(a.TPOT, "s"), a.Bound, fits, num.Join(num.Group(fmt.Sprint(a.MaxRequests)), "requests"))
	v.Alt = fmt.Sprintf("Roofline of one %s with the parts of the model: those of decode and those of prefill. Below, the times of a step as bars: weights %s, cache %s, compute %s, network %s, latency %s.",
		chip.Name, num.SI(a.WeightTime, "s"), num.SI(a.KVTime, "s"), num.SI(a.Compute, "s"), num.SI(a.Network, "s"), num.SI(a.Latency, "s"))
	ridge := Value{Key: "ridge", Label: "batch from which computing takes longest", Unit: "requests", None: true, Text: a.RidgeSays}
	if a.RidgeBatch != nil {
		ridge = whole("ridge", ridge.Label, big.NewInt(*a.RidgeBatch), "requests")
	}
	longest := Value{Key: "longest", Label: "longest context of this batch", Unit: "tokens", None: true, Text: "any: the cache stops growing"}
	if a.MaxContext != nil {
		longest = whole("longest", longest.Label, big.NewInt(*a.MaxContext), "tokens")
	}
	v.Values = []Value{
		number("stored", "weights in memory, whole model", float64(a.WeightBytesStored), num.SI(float64(a.WeightBytesStored), "bytes"), "bytes"),
		number("read", "weights read in a step, whole model", a.WeightBytes, num.SI(a.WeightBytes, "bytes"), "bytes"),
		number("activations", "activations of a step, if all were stored", a.ActivationBytes, num.SI(a.ActivationBytes, "bytes"), "bytes"),
		whole("kvtoken", "cache for each token", big.NewInt(a.KVBytesPerToken), "bytes"),
		whole("requests", "requests of this context that fit", big.NewInt(a.MaxRequests), "requests"),
		longest,
		number("first", "time to first token, at least", *a.TTFT, num.SI(*a.TTFT, "s"), "s"),
		number("step", "time per output token, at least", a.TPOT, num.SI(a.TPOT, "s"), "s"),
		number("serial", "the same if nothing overlaps", a.TPOTSerial, num.SI(a.TPOTSerial, "s"), "s"),
		{Key: "bound", Label: "the step is", Text: a.Bound + "-bound"},
		number("each", "tokens per second for each, at most", a.Each, num.Short(a.Each)+" tokens/s", "tokens/s"),
		number("all", "tokens per second for all, at most", a.All, num.Short(a.All)+" tokens/s", "tokens/s"),
		ridge,
	}
	v.Notes = append(v.Notes, "A chip's memory is taken as "+num.SI(float64(s.Chip.Memory), "bytes")+" ("+a.MemoryFrom+"), all of it for weights and cache. Activations are left out of the times, for they can stay on the chip.")
	v.SVG = modelPicture(v, s, ask, a, width)
}

// servingChip reads the chip and the number format of its arithmetic.
func (r *reader) servingChip() serving.Chip {
	var list []Option
	for _, c := range chips.All() {
		if len(c.Rates) > 0 {
			list = append(list, Option{Value: slug(c.Name), Label: c.Name, Sets: map[string]string{"format": ""}})
		}
	}
	name, _ := r.choice("chip", "Chip", "a chip of the catalogue", first(list, slug(roofline.A100().Name)))
	all := chips.All()
	chip := all[slices.IndexFunc(all, func(c chips.Chip) bool { return slug(c.Name) == name })]
	var formats []Option
	for _, rate := range chip.Rates {
		formats = append(formats, Option{Value: rate.Format, Label: rate.Format + ", " + num.SI(rate.Dense.Value, "FLOP/s")})
	}
	format, _ := r.choice("format", "Arithmetic in", "number format of the arithmetic, whose rate is the peak", first(formats, usualFormat(chip)))
	return serving.On(chip, format)
}

// options lists values to choose from, each with its label.
func options(label func(value string) string, values ...string) (list []Option) {
	for _, v := range values {
		list = append(list, Option{Value: v, Label: label(v)})
	}
	return list
}

// first puts the option of a value, which is there, into the first place.
func first(list []Option, value string) []Option {
	at := slices.IndexFunc(list, func(o Option) bool { return o.Value == value })
	list[0], list[at] = list[at], list[0]
	return list
}

func modelPicture(v *View, s serving.Setup, ask serving.Ask, a serving.Answer, width float64) string {
	high := min(max(0.42*width, 190), 280)
	ridge := s.Chip.Peak / s.Chip.Bandwidth
	type dot struct {
		intensity float64
		series    string
	}
	var dots []dot
	lo, hi := ridge, ridge
	for series, pass := range map[string]transformer.Pass{"1": s.Model.Decode(ask.Batch, ask.Context), "2": s.Model.Prefill(ask.Prompt)} {
		for _, w := range pass.Parts {
			if i := w.Intensity(s.Storage); i > 0 {
				dots = append(dots, dot{i, series})
				lo, hi = min(lo, i), max(hi, i)
			}
		}
	}
	slices.SortFunc(dots, func(a, b dot) int { return strings.Compare(a.series, b.series) })
	d, x, y, roof := roofChart(width, high, 128, lo, hi, s.Chip.Peak, s.Chip.Bandwidth, "attainable by one chip, FLOP/s")
	d.Text(x.stop, roof-7, "end", "ink-0", "peak "+num.SI(s.Chip.Peak, "FLOP/s"))
	for _, p := range dots {
		d.Dot(x.at(p.intensity), y.at(min(s.Chip.Peak, s.Chip.Bandwidth*p.intensity)), "series-"+p.series)
	}
	key := y.start - 10.0
	for i, name := range []string{"prefill", "decode"} {
		at := x.stop - svg.Wide("prefill") - 8
		d.Dot(at, key-18*float64(i)-4, "series-"+fmt.Sprint(2-i))
		d.Text(at+8, key-18*float64(i), "start", "ink-"+fmt.Sprint(2-i), name)
	}

	// The times of a step as bars on one scale, memory in its two parts.
	top := y.start + 54
	start := x.start + 26
	pixels := (width - 14 - start - 78) / a.TPOT
	d.bar(start, top, 15, pixels, "memory", piece{a.WeightTime, "series-0"}, piece{a.KVTime, "series-1"})
	for i, one := range []struct {
		name    string
		seconds float64
	}{{"compute", a.Compute}, {"network", a.Network}, {"latency", a.Latency}} {
		d.bar(start, top+22*float64(i+1), 15, pixels, one.name, piece{one.seconds, "series-" + fmt.Sprint(i+2)})
	}
	words := start
	for i, name := range []string{"weights", "cache"} {
		at := top + 22*4 + 4
		d.Rect(words, at, 10, 10, "series-"+fmt.Sprint(i))
		d.Text(words+14, at+9, "start", "ink-"+fmt.Sprint(i), name)
		words += svg.Wide(name) + 34
	}
	return d.SVG(v.Title, v.Alt)
}
