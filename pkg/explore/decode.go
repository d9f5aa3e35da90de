package explore

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/internal/svg"
	"memorywall/pkg/roofline"
)

// drawDecode asks what a batch of requests can get from a chip. A step of
// decoding brings one token to each request. It reads every weight once and
// does one multiply-add with it for each request; nothing else is counted.
func drawDecode(r *reader, v *View, width float64) {
	const mostBatch = 1_000_000_000
	batch, _ := r.integer(field{key: "batch", label: "Batch, requests that share a step", measure: count, least: power(10, 0), most: big.NewInt(mostBatch),
		usual: "8", examples: "1 or 256", scale: octaves(1, 1<<16, coarsely)})
	params, _ := r.float(field{key: "params", label: "Weights of the model", measure: weights, least: power(10, 0), most: power(10, 18),
		usual: "7e9", examples: "7B or 7e9", scale: decades(6, 14)})
	layer, _ := r.integer(side("width", "Rows and columns of a weight matrix"))
	machine, notes := r.machine()
	if !r.well() {
		return
	}
	var s step
	var alone, enough, bytes float64
	if err := arg.Maybe(func() {
		s = decodeStep(machine, params, batch)
		alone, bytes = roofline.TokensPerSecond(machine, params), roofline.WeightBytes(machine, params)
		enough = weightsBatch(machine, s.ridge)
	}); err != nil {
		r.failed("params", err)
		return
	}

	v.Notes = append(notes, "Only the reads of the weights are counted: an upper bound of what a program can get. The KV cache takes time of its own.")
	v.Summary = fmt.Sprintf("Batch %s: at most %s tokens/s for all, %s for each request; a step takes at least %s. %s of the peak, %s; the ridge point is at a batch of %s.",
		num.Group(fmt.Sprint(batch)), num.Short(s.all), num.Short(s.each), num.SI(s.times.Overlapped(), "s"), num.Percent(s.share), s.bound, num.Short(enough))
	v.Alt = fmt.Sprintf("Tokens per second against the batch, on log–log axes, for %s on %s. All requests together: in proportion to the batch up to %s, level at %s tokens/s from there. Each request: level at %s tokens/s up to there, then falling. The dots stand at a batch of %d: %s and %s tokens/s.",
		num.Join(num.SI(params, ""), "weights"), machine.Name, num.Join(num.Short(enough), "requests"), num.Short(s.most), num.Short(alone), batch, num.Short(s.all), num.Short(s.each))
	v.Values = []Value{
		number("weights", "bytes of weights", bytes, num.SI(bytes, "bytes"), "bytes"),
		number("intensity", "arithmetic intensity, 2m/s", s.intensity, num.Short(s.intensity)+" FLOP/byte", "FLOP/byte"),
		number("ridge", "ridge point", s.ridge, num.Short(s.ridge)+" FLOP/byte", "FLOP/byte"),
		{Key: "bound", Label: "the step is", Number: float64(s.bound), Text: s.bound.String()},
		number("compute-time", "compute time of a step", s.times.Compute, num.SI(s.times.Compute, "s"), "s"),
		number("memory-time", "memory time of a step", s.times.Memory, num.SI(s.times.Memory, "s"), "s"),
		number("step", "a step, and so each token, takes at least", s.times.Overlapped(), num.SI(s.times.Overlapped(), "s"), "s"),
		number("all", "tokens per second for all, at most", s.all, num.Short(s.all)+" tokens/s", "tokens/s"),
		number("each", "tokens per second for each request, at most", s.each, num.Short(s.each)+" tokens/s", "tokens/s"),
		number("alone", "the same for a request alone", alone, num.Short(alone)+" tokens/s", "tokens/s"),
		number("share", "share of the peak", s.share, num.Percent(s.share), ""),
		number("enough", "batch at the ridge point, ⌈s·ridge/2⌉", enough, num.Join(num.Short(enough), "requests"), "requests"),
		withRows(machine, layer),
	}
	v.SVG = decodePicture(v, machine, params, batch, s, enough, width)
}

// step is what one step of decoding takes and gives at most.
type step struct {
	placed
	all, each float64 // tokens/s
	most      float64 // tokens/s of all, however large the batch
}

func decodeStep(machine roofline.Machine, params float64, batch int64) step {
	intensity := weightsIntensity(machine, float64(batch))
	p := under(machine, intensity, 2*params*float64(batch), roofline.WeightBytes(machine, params))
	seconds := p.times.Overlapped()
	return step{placed: p, all: float64(batch) / seconds, each: 1 / seconds, most: machine.Peak / (2 * params)}
}

// weightsIntensity returns 2m/s, the FLOP/byte of a step where the weights are
// all the traffic.
func weightsIntensity(machine roofline.Machine, batch float64) float64 {
	return 2 * batch / float64(machine.ElemBytes)
}

// weightsBatch returns the smallest whole batch whose intensity reaches the
// ridge, ⌈s·ridge/2⌉. Rounding may have moved the product by one.
func weightsBatch(machine roofline.Machine, ridge float64) float64 {
	batch := max(1, math.Ceil(float64(machine.ElemBytes)*ridge/2))
	if batch > 1 && weightsIntensity(machine, batch-1) >= ridge {
		return batch - 1
	}
	if weightsIntensity(machine, batch) < ridge {
		return batch + 1
	}
	return batch
}

// withRows is the batch at the ridge point where the rows of X and Y are
// counted too, as in a single multiply of the layer.
func withRows(machine roofline.Machine, width int64) Value {
	v := Value{Key: "enough-with-rows", Label: "the same with the rows of X and Y", Unit: "requests"}
	batch, err := arg.Try(func() int64 { return roofline.BatchToRidge(machine, width, width) })
	var none *roofline.UnreachableError
	switch {
	case errors.As(err, &none):
		v.None, v.Text = true, "none: the intensity stays below "+num.Short(none.Best)+" FLOP/byte"
	case err != nil:
		v.None, v.Text = true, "more than can be counted"
	default:
		v = whole(v.Key, v.Label, big.NewInt(batch), v.Unit)
	}
	return v
}

func decodePicture(v *View, machine roofline.Machine, params float64, batch int64, s step, enough, width float64) string {
	high := min(max(0.5*width, 220), 330)
	d := newDrawing(width, 30+high+40)
	x := logAxis{from: 0, start: 46, stop: width - 14}
	x.to = max(4, ceilDecade(max(float64(batch), enough)))
	last := math.Pow10(x.to)
	fewest := machine.Bandwidth / (params * float64(machine.ElemBytes)) // a request alone, while memory-bound
	slowest := min(fewest, s.most/last)
	y := logAxis{start: 30 + high, stop: 30, from: floorDecade(slowest), to: max(ceilDecade(max(s.most, s.each)), floorDecade(slowest)+1)}
	y.makeRoom(max(s.most, s.each))
	d.chart(x, y, "batch m, requests that share a step", "tokens/s, at most")

	// Both lines bend where computing takes as long as reading.
	bend := min(max(float64(machine.ElemBytes)*machine.Peak/machine.Bandwidth/2, 1), last)
	one := min(fewest, s.most)
	bendX := x.at(bend)
	knee := x.at(min(max(enough, 1), last))
	dotX := x.at(float64(batch))
	d.Line("muted", 1, true, knee, y.start, knee, y.stop)
	d.Line("muted", 1, true, dotX, y.start, dotX, y.at(s.all))
	d.beside(x, knee-6, y.start-8, "text", "ridge m = "+num.Short(enough))
	level := y.at(min(one*bend, s.most))
	d.Line("series-0", 2.5, false, x.at(1), y.at(one), bendX, level, x.stop, level)
	d.Line("series-1", 2.5, false, x.at(1), y.at(one), bendX, y.at(one), x.stop, y.at(one*bend/last))
	if width >= 420 { // elsewhere the words at the dots must do
		d.Text(x.stop, level-8, "end", "ink-0", "all requests together")
		// Above the falling line, where it is at the beginning of the words.
		const each = "each request"
		share := max(0, (x.stop-svg.Wide(each)-bendX)/max(x.stop-bendX, 1))
		d.Text(x.stop, y.at(one)+share*(y.at(one*bend/last)-y.at(one))-8, "end", "ink-1", each)
	}

	d.Dot(dotX, y.at(s.each), "series-1")
	d.Dot(dotX, y.at(s.all), "series-0")
	d.beside(x, dotX, y.at(s.all)+19, "ink-0", num.Short(s.all)+" tokens/s for all")
	if below := y.at(s.each); s.bound == roofline.ComputeBound && below-y.at(s.all) > 44 {
		d.beside(x, dotX, below-9, "ink-1", num.Short(s.each)+" for each")
	} else if below-y.at(s.all) > 24 {
		d.beside(x, dotX, below+19, "ink-1", num.Short(s.each)+" for each")
	}
	return d.SVG(v.Title, v.Alt)
}
