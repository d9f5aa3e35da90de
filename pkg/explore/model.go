package explore

import (
	"fmt"
	"math"
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
	at := slices.IndexFunc(models, func(o Option) bool { return o.Value == "llama-3-8b" })
	models[0], models[at] = models[at], models[0]
	model, _ := r.choice("model", "Model", "a published model", models)
	chip := r.servingChip()
	var numbers []Option
	for _, n := range []string{"1", "2", "4", "8", "16", "32", "64"} {
		numbers = append(numbers, Option{Value: n, Label: n})
	}
	text, _ := r.choice("chips", "Chips", "how many share the work", numbers)
	n, _ := strconv.ParseInt(text, 10, 64) // one of these
	split, _ := r.choice("split", "Split", "how the model is spread over several chips", []Option{
		{Value: "tensor", Label: "tensor: every matrix cut"}, {Value: "pipeline", Label: "pipeline: layers in turn"},
		{Value: "expert", Label: "expert: experts spread"}, {Value: "data", Label: "data: whole models"}})
	var formats []Option
	for _, name := range []string{"FP16", "FP8", "INT8", "Q8_0", "Q4_1", "Q4_0", "INT4", "FP32"} {
		formats = append(formats, Option{Value: name, Label: fmt.Sprintf("%s, %s bits", name, num.Short(transformer.Named(name).Bits()))})
	}
	weightFormat, _ := r.choice("weights", "Weights in", "number format of the weights in memory", formats)
	kv, _ := r.choice("kv", "KV cache in", "number format of the cache", formats)
	tokens := func(key, label, usual string) int64 {
		n, _ := r.integer(field{key: key, label: label, measure: count, least: power(10, 0), most: big.NewInt(1 << 24), usual: usual, examples: "1 or 4096", scale: octaves{1, 1 << 20}})
		return n
	}
	batch, _ := r.integer(field{key: "batch", label: "Batch, requests that share a step", measure: count, least: power(10, 0), most: big.NewInt(1 << 24),
		usual: "8", examples: "1 or 64", scale: octaves{1, 1 << 14}})
	ask := serving.Ask{Batch: batch, Context: tokens("context", "Context of each request, tokens", "4096"), Prompt: tokens("prompt", "Prompt, tokens", "2048")}
	var hops []Option
	for _, us := range []string{"0", "1", "2", "5", "10"} {
		hops = append(hops, Option{Value: us, Label: us + " µs"})
	}
	text, _ = r.choice("hop", "Latency of a hop, µs", "time from chip to chip before the first byte; 0 leaves it out", hops)
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
	var options []Option
	reference := slug(roofline.A100().Name)
	for _, c := range chips.All() {
		if len(c.Rates) > 0 {
			options = append(options, Option{Value: slug(c.Name), Label: c.Name, Sets: map[string]string{"format": ""}})
		}
	}
	at := slices.IndexFunc(options, func(o Option) bool { return o.Value == reference })
	options[0], options[at] = options[at], options[0]
	name, _ := r.choice("chip", "Chip", "a chip of the catalogue", options)
	all := chips.All()
	chip := all[slices.IndexFunc(all, func(c chips.Chip) bool { return slug(c.Name) == name })]
	var formats []Option
	for _, rate := range chip.Rates {
		formats = append(formats, Option{Value: rate.Format, Label: rate.Format + ", " + num.SI(rate.Dense.Value, "FLOP/s")})
	}
	usual := slices.IndexFunc(formats, func(o Option) bool { return o.Value == usualFormat(chip) })
	formats[0], formats[usual] = formats[usual], formats[0]
	format, _ := r.choice("format", "Arithmetic in", "number format of the arithmetic, whose rate is the peak", formats)
	return serving.On(chip, format)
}

func modelPicture(v *View, s serving.Setup, ask serving.Ask, a serving.Answer, width float64) string {
	high := min(max(0.42*width, 190), 280)
	d := newDrawing(width, 30+high+40+128)
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
	x := logAxis{start: 46, stop: width - 14, from: min(-1, floorDecade(lo)), to: max(4, ceilDecade(hi))}
	y := logAxis{start: 30 + high, stop: 30}
	y.from = floorDecade(s.Chip.Bandwidth * math.Pow10(x.from))
	y.to = max(ceilDecade(s.Chip.Peak), y.from+1)
	if y.at(s.Chip.Peak) < y.stop+18 {
		y.to++ // room for the name of the roof
	}
	d.chart(x, y, "arithmetic intensity, FLOP/byte", "attainable by one chip, FLOP/s")
	roof := y.at(s.Chip.Peak)
	d.Line("series-0", 2.5, false, x.start, y.at(s.Chip.Bandwidth*math.Pow10(x.from)), x.at(ridge), roof, x.stop, roof)
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
	room := width - 14 - start - 78
	type piece struct {
		seconds float64
		fill    string
	}
	for i, bar := range []struct {
		name   string
		pieces []piece
	}{
		{"memory", []piece{{a.WeightTime, "series-0"}, {a.KVTime, "series-1"}}},
		{"compute", []piece{{a.Compute, "series-2"}}},
		{"network", []piece{{a.Network, "series-3"}}},
		{"latency", []piece{{a.Latency, "series-4"}}},
	} {
		at := top + 22*float64(i)
		d.Text(start-6, at+12, "end", "muted", bar.name)
		sum, left := 0.0, start
		for _, p := range bar.pieces {
			length := room * p.seconds / a.TPOT
			if length > 0 {
				d.Rect(left, at, max(length, 1), 15, p.fill)
			}
			sum, left = sum+p.seconds, left+length
		}
		d.Text(left+6, at+12, "start", "text", num.SI(sum, "s"))
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
