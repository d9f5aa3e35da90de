package serving

import (
	"fmt"

	"memorywall/pkg/internal/num"
)

// Row is a line of an answer as text.
type Row struct{ Label, Text string }

// Rows returns the answer in words, with units: GB is 10^9 bytes.
func (a Answer) Rows(s Setup, ask Ask) []Row {
	bytes := func(v float64) string { return num.SI(v, "B") }
	percent := func(part float64) string { return num.Percent(part / a.TPOT) }
	rows := []Row{
		{"parameters", fmt.Sprintf("%s; a token uses %s, a step reads %s", billions(float64(a.ParamsTotal)), billions(float64(a.ParamsActive)), billions(a.ParamsRead))},
	}
	if a.Touched > 0 {
		rows = append(rows, Row{"experts touched", fmt.Sprintf("%s of %d in a layer", num.Short(a.Touched), s.Model.Experts.Total)})
	}
	rows = append(rows,
		Row{"weights", fmt.Sprintf("%s in memory, %s read a step (%s of %s bits)", bytes(float64(a.WeightBytesStored)), bytes(a.WeightBytes), s.Storage.Weights.Name, num.Short(s.Storage.Weights.Bits()))},
		Row{"KV cache", fmt.Sprintf("%s B a token, %s a request of %s tokens (%s)", num.Group(fmt.Sprint(a.KVBytesPerToken)), bytes(float64(a.KVBytesPerRequest)), num.Group(fmt.Sprint(ask.Context)), s.Storage.KV.Name)},
	)
	fits := fmt.Sprintf("yes: at most %s requests of this context", num.Group(fmt.Sprint(a.MaxRequests)))
	if !a.Fits {
		fits = fmt.Sprintf("NO: at most %s requests of this context", num.Group(fmt.Sprint(a.MaxRequests)))
		if a.ChipWeightsStored > a.MemoryBytesPerChip {
			fits = fmt.Sprintf("NO: the weights on a chip are %s", bytes(float64(a.ChipWeightsStored)))
		}
	}
	longest := "any context"
	if a.MaxContext != nil {
		longest = fmt.Sprintf("%s tokens", num.Group(fmt.Sprint(*a.MaxContext)))
	}
	rows = append(rows, Row{"fits", fmt.Sprintf("%s; longest context of this batch: %s (%s a chip, %s)", fits, longest, bytes(float64(a.MemoryBytesPerChip)), a.MemoryFrom)})
	if a.TTFT != nil {
		rows = append(rows, Row{"time to first token", fmt.Sprintf("%s to %s for a prompt of %s tokens, %s-bound", num.SI(*a.TTFT, "s"), num.SI(*a.TTFTSerial, "s"), num.Group(fmt.Sprint(ask.Prompt)), a.TTFTBound)})
	}
	parts := fmt.Sprintf("weights %s, cache %s, compute %s", percent(a.WeightTime), percent(a.KVTime), percent(a.Compute))
	if a.Network > 0 {
		parts += fmt.Sprintf(", network %s", percent(a.Network))
	}
	if a.Latency > 0 {
		parts += fmt.Sprintf(", latency %s", percent(a.Latency))
	}
	rows = append(rows,
		Row{"time per output token", fmt.Sprintf("%s to %s: overlapped to serial", num.SI(a.TPOT, "s"), num.SI(a.TPOTSerial, "s"))},
		Row{"bound", fmt.Sprintf("%s (of that time: %s)", a.Bound, parts)},
		Row{"tokens per second", fmt.Sprintf("at most %s for each, %s for all", num.Short(a.Each), num.Short(a.All))},
	)
	if a.ChipSent > 0 {
		rows = append(rows, Row{"a chip sends", fmt.Sprintf("%s a step, at %s one way", bytes(a.ChipSent), num.SI(s.Chip.Link, "B/s"))})
	}
	ridge := a.RidgeSays
	if a.RidgeBatch != nil {
		ridge = fmt.Sprintf("%s requests (%s)", num.Group(fmt.Sprint(*a.RidgeBatch)), a.RidgeSays)
	}
	return append(rows,
		Row{"batch at the ridge", ridge},
		Row{"what would help", a.Help})
}

// billions writes a number of parameters.
func billions(v float64) string {
	if v >= 1e9 {
		return num.Short(v/1e9) + " billion"
	}
	return num.Short(v/1e6) + " million"
}
