package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/speak"
	"memorywall/scripts/internal/command"
)

// The rows of --only model: the lesson's language model against llama.cpp, in turn,
// and against the roofs that the same turns find.

//go:embed helper/llamacpp.py
var llamaHelper string

const (
	// modelGroup is what --only takes for these rows.
	modelGroup = "model"
	// behind is how many tokens there are before those that are written.
	behind = 224
)

// llamaBuilds are the packages that bring llama.cpp, as the helper knows them.
var llamaBuilds = []string{"llama-cpp-python", "xllamacpp"}

// A ModelRow is the model reading a prompt, sequences writing an answer, or the model
// being opened. Rates are in tokens/s, those of "load" in files/s, from the best turn.
type ModelRow struct {
	What    string `json:"what"`   // "prefill", "decode" or "load"
	Tokens  int    `json:"tokens"` // of each sequence
	Batch   int    `json:"batch"`  // sequences
	Threads int    `json:"threads"`

	Ours       float64    `json:"ours_per_s"`
	OursMedian float64    `json:"ours_median_per_s"`
	Peers      []PeerRate `json:"llamacpp"`       // of each build that is there
	Ratio      *float64   `json:"ratio_llamacpp"` // to the fastest of them

	// Roof is what bytes and FLOPs allow with float32 arithmetic, RoofInt8 with products
	// of bytes, both from the turns of this row; 0 for "load".
	Roof     float64 `json:"roof_per_s,omitempty"`
	RoofInt8 float64 `json:"roof_int8_per_s,omitempty"`
	ReadGBps float64 `json:"read_gbps,omitempty"`

	// Where the time of decoding goes, in parts of the whole, by a turn of its own.
	Products  float64 `json:"products,omitempty"` // with the weights, the output layer's among them
	Attention float64 `json:"attention,omitempty"`
}

// A PeerRate is what one build of llama.cpp does.
type PeerRate struct {
	Build  string  `json:"build"`
	Rate   float64 `json:"per_s"`
	Median float64 `json:"median_per_s"`
}

// ofRoof is the part of the roof that a row reaches: of that of bytes for decoding,
// whose activations are rounded to 8 bits.
func (r ModelRow) ofRoof() float64 {
	roof := r.Roof
	if r.What == "decode" {
		roof = r.RoofInt8
	}
	if roof == 0 {
		return math.NaN()
	}
	return r.Ours / roof
}

// productsOfRoof is what it would be if the products with the weights were all.
func (r ModelRow) productsOfRoof() float64 { return r.ofRoof() / r.Products }

// A ModelReport is what a [Report] has of them.
type ModelReport struct {
	ISA      string     `json:"isa"`
	Model    string     `json:"model"`
	LlamaCPP []string   `json:"llamacpp"` // versions, or why they are missing
	Rows     []ModelRow `json:"rows"`
}

// compareModel measures the rows and prints them.
func compareModel(ctx context.Context, c choice, stdout io.Writer) error {
	path, err := llama.FindModel()
	if err != nil {
		return err
	}
	m := &modelMeter{meter: &meter{ctx: ctx, isa: matmul.ISAs()[0], options: bench.Options{MinTime: time.Millisecond, Samples: 5, SpreadLimit: spread}, memory: c.memory, host: c.host},
		path: path, threads: c.host.GOMAXPROCS}
	defer m.close()
	if c.quick {
		m.options.Samples = 3
	}
	if m.model, err = llama.Load(path); err != nil {
		return err
	}
	defer m.model.Close()
	if m.runner, err = m.model.NewRunner(llama.Options{Threads: m.threads}); err != nil {
		return err
	}
	defer m.runner.Close()
	rep := ModelReport{ISA: m.isa, Model: filepath.Base(path)}
	for _, build := range llamaBuilds {
		p, err := startPeer(exec.CommandContext(ctx, cmp.Or(c.python, "python3"), "-c", llamaHelper, path, strconv.Itoa(m.threads), build))
		if err != nil {
			rep.LlamaCPP = append(rep.LlamaCPP, fmt.Sprintf("%s is missing: %v", build, err))
			continue
		}
		defer p.stop()
		m.peers, m.builds = append(m.peers, p), append(m.builds, build)
		rep.LlamaCPP = append(rep.LlamaCPP, p.is)
	}
	if !c.json {
		fmt.Fprintf(stdout, "%s\nmodel: %s\nllama.cpp: %s\n\n%-18s %8s %10s %8s %s\n", c.host, rep.Model, strings.Join(rep.LlamaCPP, "; "),
			"", "ours/s", "llama.cpp", "×", "roof with float32 (int8), of it, read GB/s")
	}
	rows := []ModelRow{{What: "load"}, {What: "prefill", Tokens: 200, Batch: 1}, {What: "prefill", Tokens: 512, Batch: 1}}
	for _, batch := range []int{1, 2, 4, 8, 16} {
		if !c.quick || batch == 1 || batch == 16 {
			rows = append(rows, ModelRow{What: "decode", Tokens: 64, Batch: batch})
		}
	}
	for _, r := range rows {
		r.Threads = m.threads
		if err := m.row(&r); err != nil {
			return err
		}
		rep.Rows = append(rep.Rows, r)
		if !c.json {
			fmt.Fprintln(stdout, r)
		}
	}
	if c.json {
		return command.PrintJSON(stdout, Report{Host: c.host, Model: &rep})
	}
	return nil
}

func (r ModelRow) String() string {
	theirs, ratio, roof := "–", "–", ""
	if r.Ratio != nil {
		var all []string
		for _, p := range r.Peers {
			all = append(all, fmt.Sprintf("%.1f", p.Rate))
		}
		theirs, ratio = strings.Join(all, ", "), fmt.Sprintf("%.2f", *r.Ratio)
	}
	if r.Roof > 0 {
		roof = fmt.Sprintf("%.1f (%.1f), %.2f, %.1f", r.Roof, r.RoofInt8, r.ofRoof(), r.ReadGBps)
	}
	if r.Products > 0 {
		roof += fmt.Sprintf("; products %.0f%%, attention %.0f%% of the time", 100*r.Products, 100*r.Attention)
	}
	return fmt.Sprintf("%-8s%4d × %-3d %8.1f %10s %8s %s", r.What, r.Batch, r.Tokens, r.Ours, theirs, ratio, roof)
}

// A modelMeter measures these rows.
type modelMeter struct {
	*meter
	path    string
	model   *llama.Model
	runner  *llama.Runner
	threads int
	peers   []*peer
	builds  []string
}

// row takes turns: ours, each build of llama.cpp, the roofs, ours, …
func (m *modelMeter) row(r *ModelRow) error {
	ours, err := m.ours(*r)
	if err != nil {
		return err
	}
	cases := []bench.Case{timed("ours", ours)}
	request, count := r.What, 1.0
	switch r.What {
	case "prefill":
		request, count = fmt.Sprintf("prefill %d", r.Tokens), float64(r.Tokens)
	case "decode":
		request, count = fmt.Sprintf("decode %d %d", r.Batch, r.Tokens), float64(r.Batch*r.Tokens)
	}
	for i, p := range m.peers {
		once := func() (time.Duration, error) {
			var seconds float64
			err := p.turn(func() error { return p.ask([]any{&seconds}, "%s", request) })
			return time.Duration(seconds * 1e9), err
		}
		switch _, err := once(); {
		case err == nil:
			cases = append(cases, timed(m.builds[i], once))
		case !errors.Is(err, errCannot):
			return err
		}
	}
	peers := cases[1:]
	if r.What != "load" {
		roofs, err := m.roofs()
		if err != nil {
			return err
		}
		cases = append(cases, roofs...)
	}
	results, err := bench.CompareContext(m.ctx, m.options, cases...)
	if err != nil {
		return err
	}
	r.Ours, r.OursMedian = count/results[0].Min, count/results[0].Median
	for _, theirs := range results[1 : 1+len(peers)] {
		r.Peers = append(r.Peers, PeerRate{theirs.Name, count / theirs.Min, count / theirs.Median})
		if ratio := theirs.Min / results[0].Min; r.Ratio == nil || ratio < *r.Ratio {
			r.Ratio = &ratio
		}
	}
	if r.What == "load" {
		return nil
	}
	top := results[1+len(peers):]
	r.ReadGBps = top[0].GBps()
	bound := func(peak float64) float64 {
		roof := speak.Roof{Read: r.ReadGBps * 1e9, Peak: peak * 1e9, Threads: m.threads}
		if r.What == "prefill" {
			return count / roof.FirstToken(m.model, r.Tokens, llama.DefaultChunk, matmul.Float16)
		}
		return roof.DecodeRate(m.model, r.Batch, behind, r.Tokens, matmul.Float16)
	}
	r.Roof, r.RoofInt8 = bound(top[1].GFLOPS()), bound(top[2].GFLOPS())
	if r.What == "decode" {
		var shares llama.Shares
		m.runner.Watch(&shares)
		defer m.runner.Watch(nil)
		if _, err := ours(); err != nil {
			return err
		}
		all := shares.All.Seconds()
		r.Products, r.Attention = (shares.Products+shares.Output).Seconds()/all, shares.Attention.Seconds()/all
	}
	return nil
}

// ours returns what does the work of a row, and its time.
func (m *modelMeter) ours(r ModelRow) (func() (time.Duration, error), error) {
	since := func(f func() error) (time.Duration, error) {
		start := time.Now()
		err := f()
		return time.Since(start), err
	}
	if r.What == "load" {
		return func() (time.Duration, error) {
			var again *llama.Model
			d, err := since(func() (err error) { again, err = llama.Load(m.path); return err })
			if err == nil {
				err = again.Close()
			}
			return d, err
		}, nil
	}
	caches, next, prompt := make([]*llama.Cache, r.Batch), make([]llama.Token, r.Batch), make([]llama.Token, r.Tokens)
	for i := range caches {
		var err error
		if caches[i], err = m.model.NewCache(behind+r.Tokens, matmul.Float16); err != nil {
			return nil, err
		}
		next[i] = llama.Token(5 + i)
	}
	for i := range prompt {
		prompt[i] = llama.Token(i * 7 % m.model.Vocab)
	}
	return func() (time.Duration, error) {
		for _, kv := range caches {
			kv.Truncate(0)
			if r.What == "decode" {
				kv.Fill(behind)
			}
		}
		return since(func() (err error) {
			if r.What == "prefill" {
				_, err = m.runner.Prefill(m.ctx, caches[0], prompt)
				return err
			}
			for i := 0; i < r.Tokens && err == nil; i++ {
				_, err = m.runner.Decode(m.ctx, caches, next)
			}
			return err
		})
	}, nil
}

// roofs returns cases of reading as many bytes as the model has, from where they stay
// between the turns, and of multiply-adds in float32 and of bytes.
func (m *modelMeter) roofs() ([]bench.Case, error) {
	info, err := os.Stat(m.path)
	if err != nil {
		return nil, err
	}
	crew := m.crews.Of(m.threads)
	ring, err := weights[float32](m.meter, "model", 1, int(info.Size()/4), 0)
	if err != nil {
		return nil, err
	}
	read, err := machine.Read(crew, func() []byte { return rawBytes(ring.Next()) })
	if err != nil {
		return nil, err
	}
	f32, _, err := machine.Peak[float32](crew, m.isa)
	if err != nil {
		return nil, err
	}
	int8, _, err := machine.Peak[int32](crew, m.isa)
	read.Warm = func() {}
	all := []bench.Case{read, f32, int8}
	for i := range all {
		all[i].MinTime = 20 * time.Millisecond
	}
	all[2].Name += " bytes"
	return all, err
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
