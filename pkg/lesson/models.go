package lesson

import (
	"fmt"
	"slices"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
	"memorywall/pkg/serving"
	"memorywall/pkg/transformer"
)

// Throughput is the figure of tokens per second for all requests together
// against the batch, a line for each context, in tokens. A line ends where no
// more requests fit.
func Throughput(id, title string, s serving.Setup, contexts ...int64) Figure {
	f := Figure{
		ID: id, Title: title, Alt: "Tokens per second for all, at most, against the batch.",
		X:     Axis{Name: "batch", Unit: "requests", Log: true},
		Y:     Axis{Name: "tokens/s for all, at most", Log: true},
		Table: &Table{Columns: []string{"context, tokens", "batch", "time per output token", "tokens/s for each", "tokens/s for all", "bound"}},
	}
	for _, context := range contexts {
		most := s.MaxRequests(context)
		if most == 0 {
			f.hints = append(f.hints, fmt.Sprintf("Not one request of %d tokens fits beside the weights.", context))
			continue
		}
		batches := Doubling(1, min(most, 4096))
		if most <= 4096 {
			batches = sortedWith(batches, most)
		}
		line := Series{Name: fmt.Sprintf("%d tokens", context)}
		for _, b := range batches {
			a := s.Answer(serving.Ask{Batch: b, Context: context})
			line.Points = append(line.Points, Point{X: float64(b), Y: a.All})
			f.Table.Rows = append(f.Table.Rows, []any{context, b, SI(a.TPOT, "s"), num.Short(a.Each), num.Short(a.All), a.Bound})
		}
		last := line.Points[len(line.Points)-1]
		f.Alt += fmt.Sprintf(" With %d tokens of context it reaches %s at a batch of %.0f.", context, num.Short(last.Y), last.X)
		f.Series = append(f.Series, line)
	}
	if len(f.Series) == 0 {
		Check(fmt.Errorf("%s on %d × %s: nothing fits: use more chips, fewer bits, a smaller model or a shorter context", s.Model.Name, s.Chips, s.Chip.Name))
	}
	return f
}

// Phases is the figure of the parts of a model on the roof of its chip: those of
// a prefill and those of a step of decoding, each as a multiply of its own.
func Phases(id, title string, s serving.Setup, prompt, batch, context int64) Figure {
	chip := roofline.Machine{Name: s.Chip.Name, ElemBytes: 1, Peak: s.Chip.Peak, Bandwidth: s.Chip.Bandwidth}
	var dots []Dot
	alt := "Roofline of the " + chip.Name + "."
	for _, phase := range []struct {
		name string
		pass transformer.Pass
	}{{"prefill", s.Model.Prefill(prompt)}, {"decode", s.Model.Decode(batch, context)}} {
		for _, w := range phase.pass.Parts {
			if intensity := w.Intensity(s.Storage); intensity > 0 && w.Name != transformer.Router {
				dots = append(dots, Dot{Name: phase.name + ": " + w.Name, Intensity: intensity})
				alt += fmt.Sprintf(" In %s, %s stands at %s FLOP/byte.", phase.name, w.Name, num.Short(intensity))
			}
		}
	}
	return Roofline(id, title, alt, []roofline.Machine{chip}, dots)
}

// StepByChips is the figure of the time of a step of decoding against the number
// of chips that share it, and of what each term of it takes. Numbers that the
// split does not allow are left out. It ends the cell if a hop takes over a second.
func StepByChips(id, title string, s serving.Setup, batch, context int64, chips ...int64) Figure {
	Between("hop", s.Hop, 0, 1)
	f := Figure{
		ID: id, Title: title,
		Alt:   fmt.Sprintf("Time of a step of decoding for a batch of %d against the number of chips.", batch),
		X:     Axis{Name: "chips", Log: true, Base: 2},
		Y:     Axis{Name: "time", Unit: "s", Log: true},
		Table: &Table{Columns: []string{"chips", "at least", "serial", "compute", "memory", "network", "latency", "bound"}},
	}
	series := []Series{{Name: "a step, overlapped"}, {Name: "memory", Dashed: true}, {Name: "network", Dashed: true}, {Name: "latency", Dashed: true}}
	slices.Sort(chips)
	for _, p := range slices.Compact(chips) {
		s.Chips = p
		if s.Validate() != nil {
			continue
		}
		a := s.Answer(serving.Ask{Batch: batch, Context: context})
		for i, v := range []float64{a.TPOT, a.Memory, a.Network, a.Latency} {
			if v > 0 {
				series[i].Points = append(series[i].Points, Point{X: float64(p), Y: v})
			}
		}
		f.Alt += fmt.Sprintf(" With %d it takes at least %s, %s-bound.", p, SI(a.TPOT, "s"), a.Bound)
		f.Table.Rows = append(f.Table.Rows, []any{p, SI(a.TPOT, "s"), SI(a.TPOTSerial, "s"), SI(a.Compute, "s"), SI(a.Memory, "s"), SI(a.Network, "s"), SI(a.Latency, "s"), a.Bound})
	}
	for _, line := range series {
		if len(line.Points) > 0 {
			f.Series = append(f.Series, line)
		}
	}
	if len(f.Series) == 0 {
		Check(s.Validate())
	}
	return f
}
