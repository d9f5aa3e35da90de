package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

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
	Ratio    *float64 `json:"ratio_llamacpp"`
	Roof     float64  `json:"roof_tokens_per_s"`
	OfRoof   float64  `json:"ratio_roof"`
}

// A ModelReport is a run of them.
type ModelReport struct {
	Host     machine.Host `json:"host"`
	Model    string       `json:"model"`
	LlamaCPP string       `json:"llamacpp"` // version, or why it is missing
	Roof     string       `json:"roof"`     // level, bandwidth, date
	Rows     []ModelRow   `json:"rows"`
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
	rep := ModelReport{Host: c.host, Model: lab.Name, Roof: fmt.Sprintf("%s, read at %.1f GB/s, float32 peak %.0f GFLOP/s, measured %s",
		roof.Level, roof.Read/1e9, roof.Peak/1e9, lab.Machine.Measured.Date)}
	peer, err := startLlama(ctx, c.python, threads)
	if err != nil {
		rep.LlamaCPP = "missing: " + err.Error()
	} else {
		defer peer.stop()
		rep.LlamaCPP = peer.version
	}
	turns := 5
	if c.quick {
		turns = 3
	}
	for _, r := range []ModelRow{{What: "prefill", Tokens: 200}, {What: "prefill", Tokens: 512}, {What: "decode", Tokens: 64}} {
		r.Threads = threads
		if err := r.measure(ctx, lab.Model, roof, peer, turns); err != nil {
			return err
		}
		rep.Rows = append(rep.Rows, r)
	}
	if c.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", " ")
		return e.Encode(rep)
	}
	fmt.Fprintf(stdout, "%s\nmodel: %s\nllama.cpp: %s\nroof: %s\n\n%-14s %8s %12s %12s %8s %12s %8s\n", rep.Host, rep.Model, rep.LlamaCPP, rep.Roof,
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

// measure takes turns: ours, theirs, ours, … The peer is stopped while we run.
func (r *ModelRow) measure(ctx context.Context, m *llama.Model, roof speak.Roof, peer *llamaCPP, turns int) error {
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
	ours := func() (time.Duration, error) {
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
	best, theirs := time.Duration(0), 0.0
	for range turns {
		t, err := ours()
		if err != nil {
			return err
		}
		if best == 0 || t < best {
			best = t
		}
		if peer == nil {
			continue
		}
		s, err := peer.run(r.What, r.Tokens)
		if err != nil {
			return err
		}
		if theirs == 0 || s < theirs {
			theirs = s
		}
	}
	n := float64(r.Tokens)
	r.Ours, r.Roof = n/best.Seconds(), n/roof.FirstToken(m, r.Tokens, llama.DefaultChunk, matmul.Float16)
	if r.What == "decode" {
		r.Roof = roof.DecodeRate(m, 1, behind, r.Tokens, matmul.Float16)
	}
	r.OfRoof = r.Ours / r.Roof
	if theirs > 0 {
		rate, ratio := n/theirs, r.Ours*theirs/n
		r.LlamaCPP, r.Ratio = &rate, &ratio
	}
	return nil
}

// llamaCPP is llama.cpp in a process of its own.
type llamaCPP struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	version string
}

// startLlama starts the helper with a Python that has llama-cpp-python.
func startLlama(ctx context.Context, python string, threads int) (*llamaCPP, error) {
	path, err := llama.FindModel()
	if err != nil {
		return nil, err
	}
	l := &llamaCPP{cmd: exec.CommandContext(ctx, cmp.Or(python, "python3"), "-c", llamaHelper, path, strconv.Itoa(threads))}
	var said strings.Builder
	l.cmd.Stderr = &said
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	l.out = bufio.NewScanner(out)
	if !l.out.Scan() {
		err := l.cmd.Wait()
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%s: %w (it needs llama-cpp-python; --python names one that has it)", lines[len(lines)-1], err)
	}
	l.version = l.out.Text()
	return l, l.cmd.Process.Signal(syscall.SIGSTOP)
}

// run has llama.cpp do one thing and returns the seconds.
func (l *llamaCPP) run(what string, tokens int) (float64, error) {
	if err := l.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(l.in, "%s %d\n", what, tokens); err != nil {
		return 0, err
	}
	if !l.out.Scan() {
		return 0, errors.Join(errors.New("llama.cpp ended"), l.out.Err())
	}
	s, err := strconv.ParseFloat(l.out.Text(), 64)
	return s, errors.Join(err, l.cmd.Process.Signal(syscall.SIGSTOP))
}

func (l *llamaCPP) stop() {
	l.in.Close()
	l.cmd.Process.Kill() //nolint:errcheck // it may have ended
	l.cmd.Wait()         //nolint:errcheck // killed
}
