package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/speak"
)

// The rows of --only model: the lesson's language model against llama.cpp, in turn,
// and against the roof of this machine.

//go:embed helper/llamacpp.py
var llamaHelper string

// modelGroup is what --only takes for these rows.
const modelGroup = "model"

// A ModelRow is the model reading a prompt or writing an answer. Rates are in
// tokens/s, from the best turn; those of llama.cpp are null where it did not run.
type ModelRow struct {
	What     string   `json:"what"` // "prefill" or "decode"
	Tokens   int      `json:"tokens"`
	Threads  int      `json:"threads"`
	Ours     float64  `json:"ours_tokens_per_s"`
	LlamaCPP *float64 `json:"llamacpp_tokens_per_s"`

	OursMedian     float64  `json:"ours_median_tokens_per_s"`
	LlamaCPPMedian *float64 `json:"llamacpp_median_tokens_per_s"`

	Ratio  *float64 `json:"ratio_llamacpp"`
	Roof   float64  `json:"roof_tokens_per_s"`
	OfRoof float64  `json:"ratio_roof"`
}

// A ModelReport is what a [Report] has of them.
type ModelReport struct {
	ISA      string     `json:"isa"`
	Model    string     `json:"model"`
	LlamaCPP string     `json:"llamacpp"` // version, or why it is missing
	Roof     string     `json:"roof"`     // level, bandwidth, date
	Rows     []ModelRow `json:"rows"`
}

// compareModel measures the rows and prints them.
func compareModel(ctx context.Context, c choice, stdout io.Writer) error {
	lab, err := speak.Open(machine.Options{})
	if err != nil {
		return err
	}
	defer lab.Close()
	threads := slices.Max(speak.Threads(lab.Machine))
	roof := lab.Roof(speak.Case{})
	rep := ModelReport{ISA: matmul.ISAs()[0], Model: lab.Name, Roof: fmt.Sprintf("%s, read at %.1f GB/s, float32 peak %.0f GFLOP/s, measured %s",
		roof.Level, roof.Read/1e9, roof.Peak/1e9, lab.Machine.Measured.Date)}
	theirs, err := startLlama(ctx, c.python, threads)
	if err != nil {
		rep.LlamaCPP = "missing: " + err.Error()
	} else {
		defer theirs.stop()
		rep.LlamaCPP = theirs.is
	}
	turns := 5
	if c.quick {
		turns = 3
	}
	for _, r := range []ModelRow{{What: "prefill", Tokens: 200}, {What: "prefill", Tokens: 512}, {What: "decode", Tokens: 64}} {
		r.Threads = threads
		if err := r.measure(ctx, lab.Model, roof, theirs, turns); err != nil {
			return err
		}
		rep.Rows = append(rep.Rows, r)
	}
	if c.json {
		return encode(stdout, Report{Host: c.host, Model: &rep})
	}
	fmt.Fprintf(stdout, "%s\nmodel: %s\nllama.cpp: %s\nroof: %s\n\n%-14s %8s %12s %12s %8s %12s %8s\n", c.host, rep.Model, rep.LlamaCPP, rep.Roof,
		"tokens/s", "threads", "ours", "llama.cpp", "×", "roof", "of roof")
	for _, r := range rep.Rows {
		theirs, ratio := "–", "–"
		if r.LlamaCPP != nil {
			theirs, ratio = fmt.Sprintf("%.1f", *r.LlamaCPP), fmt.Sprintf("%.2f", *r.Ratio)
		}
		if _, err := fmt.Fprintf(stdout, "%-8s%6d %8d %12.1f %12s %8s %12.1f %8.2f\n", r.What, r.Tokens, r.Threads, r.Ours, theirs, ratio, r.Roof, r.OfRoof); err != nil {
			return err
		}
	}
	return nil
}

// measure takes turns: ours, theirs, ours, …
func (r *ModelRow) measure(ctx context.Context, m *llama.Model, roof speak.Roof, llamaCPP *peer, turns int) error {
	const behind = 128 // tokens that an answer follows
	run, err := m.NewRunner(llama.Options{Threads: r.Threads})
	if err != nil {
		return err
	}
	defer run.Close()
	kv, err := m.NewCache(behind+r.Tokens, matmul.Float16)
	if err != nil {
		return err
	}
	prompt := make([]llama.Token, r.Tokens)
	for i := range prompt {
		prompt[i] = llama.Token(i * 7 % m.Vocab)
	}
	once := func() (time.Duration, error) {
		kv.Truncate(0)
		if r.What == "prefill" {
			start := time.Now()
			_, err := run.Prefill(ctx, kv, prompt)
			return time.Since(start), err
		}
		kv.Fill(behind)
		start := time.Now()
		for range r.Tokens {
			if _, err := run.Decode(ctx, []*llama.Cache{kv}, []llama.Token{5}); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
	cases := []bench.Case{timed("ours", once)}
	if llamaCPP != nil {
		cases = append(cases, timed("llama.cpp", func() (d time.Duration, err error) {
			var seconds float64
			err = llamaCPP.turn(func() error { return llamaCPP.ask([]any{&seconds}, "%s %d", r.What, r.Tokens) })
			return time.Duration(seconds * 1e9), err
		}))
	}
	results, err := bench.CompareContext(ctx, bench.Options{MinTime: time.Millisecond, Samples: turns, SpreadLimit: spread}, cases...)
	if err != nil {
		return err
	}
	n := float64(r.Tokens)
	r.Ours, r.OursMedian, r.Roof = n/results[0].Min, n/results[0].Median, n/roof.FirstToken(m, r.Tokens, llama.DefaultChunk, matmul.Float16)
	if r.What == "decode" {
		r.Roof = roof.DecodeRate(m, 1, behind, r.Tokens, matmul.Float16)
	}
	r.OfRoof = r.Ours / r.Roof
	for _, theirs := range results[1:] {
		rate, median, ratio := n/theirs.Min, n/theirs.Median, theirs.Min/results[0].Min
		r.LlamaCPP, r.LlamaCPPMedian, r.Ratio = &rate, &median, &ratio
	}
	return nil
}

// timed returns a case of what keeps its own time.
func timed(name string, once func() (time.Duration, error)) bench.Case {
	return bench.Case{Name: name, Warm: func() {}, Timed: func(calls int) (sum time.Duration, err error) {
		for range calls {
			d, err := once()
			if err != nil {
				return 0, err
			}
			sum += d
		}
		return sum, nil
	}}
}

// startLlama starts llama.cpp with a Python that has llama-cpp-python.
func startLlama(ctx context.Context, python string, threads int) (*peer, error) {
	path, err := llama.FindModel()
	if err != nil {
		return nil, err
	}
	p, err := startPeer(exec.CommandContext(ctx, cmp.Or(python, "python3"), "-c", llamaHelper, path, strconv.Itoa(threads)))
	if err != nil {
		return nil, fmt.Errorf("%w (it needs llama-cpp-python; --python names one that has it)", err)
	}
	return p, nil
}
