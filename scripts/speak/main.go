// Speak has a language model answer a question, on the kernels of this lesson,
// and holds its speed against the roof of this machine.
//
//	go run ./scripts/speak "What is the capital of France?"
//	go run ./scripts/speak --greedy --tokens 64 "Why is the sky blue?"
//	go run ./scripts/speak --batch 8 "Name a colour."   eight answers in step
//	go run ./scripts/speak --json "…"                   figures for a program
//	go run ./scripts/speak --model FILE.gguf "…"        another model of the Llama family
//
// The answer appears as it is written; Ctrl-C ends it between two tokens, with
// the figures so far. The roof comes from my-roof.json, and is measured for some
// seconds where there is none of this machine.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/speak"
	"memorywall/scripts/internal/command"
)

func main() {
	command.Main(func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, stdout, stderr, machine.Mine)
	})
}

type choice struct {
	question string
	model    string
	tokens   int
	threads  int
	batch    int
	greedy   bool
	seed     uint64
	heat     float64
	json     bool
}

const usage = "usage: go run ./scripts/speak [--model FILE] [--tokens N] [--threads N] [--batch B] [--greedy | --seed N] [--json] QUESTION"

const (
	defaultTokens = 256
	defaultHeat   = 0.2 // as the model's authors advise, with mass 0.9
	topTokens     = 40
	topMass       = 0.9
	maxBatch      = 256
)

func parse(args []string, help io.Writer) (choice, error) {
	var c choice
	f := flag.NewFlagSet("speak", flag.ContinueOnError)
	f.StringVar(&c.model, "model", "", "the GGUF `file` of another model: Llama, Mistral, Qwen2, Qwen3, SmolLM (default: the lesson's)")
	f.IntVar(&c.tokens, "tokens", defaultTokens, "write at most so many tokens")
	f.IntVar(&c.threads, "threads", 0, "use so many threads (default: as many as may run at once)")
	f.IntVar(&c.batch, "batch", 1, "write so many answers in step; the first is shown")
	f.BoolVar(&c.greedy, "greedy", false, "always take the likeliest token instead of drawing one")
	f.Uint64Var(&c.seed, "seed", 1, "of the draws: the same seed, model and machine give the same answer")
	f.Float64Var(&c.heat, "temperature", defaultHeat, "of the draws: the higher, the more surprising")
	f.BoolVar(&c.json, "json", false, "print the answer and its figures as JSON")
	if err := command.Parse(f, args, help, usage, ""); err != nil {
		return c, err
	}
	c.question = strings.TrimSpace(strings.Join(f.Args(), " "))
	for _, flag := range []struct {
		name     string
		v, least int
		most     int
	}{{"tokens", c.tokens, 1, 1 << 20}, {"threads", c.threads, 0, matmul.MaxThreads}, {"batch", c.batch, 1, maxBatch}} {
		if flag.v < flag.least || flag.v > flag.most {
			return c, fmt.Errorf("--%s is %d: it must be from %d to %d", flag.name, flag.v, max(flag.least, 1), flag.most)
		}
	}
	if c.question == "" {
		return c, errors.New(`there is no question; for instance: go run ./scripts/speak "What is the capital of France?"`)
	}
	return c, nil
}

// run returns the exit code; see [command.Run].
func run(ctx context.Context, args []string, stdout, stderr io.Writer, roof func(context.Context, machine.Options) (machine.Machine, error)) int {
	return command.Run("speak", stderr, func() (choice, error) { return parse(args, stdout) }, func(c choice) error {
		err := answer(ctx, c, stdout, stderr, roof)
		if errors.Is(err, context.Canceled) {
			return command.Stop{Code: 130, Why: "stopped"}
		}
		return err
	})
}

// A report is what --json prints. Rates are in tokens per second: the roof's and
// that of decoding are those of all answers together.
type report struct {
	Text         string   `json:"text"`
	Texts        []string `json:"texts,omitempty"` // of all answers, where there are several
	Ended        bool     `json:"ended"`           // by the model; otherwise it was cut
	Model        string   `json:"model"`
	Threads      int      `json:"threads"`
	Batch        int      `json:"batch"`
	PromptTokens int      `json:"prompt_tokens"`
	Tokens       int      `json:"tokens"` // of the first answer

	PrefillRate float64 `json:"prefill_tokens_per_s"`
	DecodeRate  float64 `json:"decode_tokens_per_s"`
	RoofRate    float64 `json:"roof_tokens_per_s"`
	FirstToken  float64 `json:"first_token_s"`
	FirstRoof   float64 `json:"roof_first_token_s"`

	Level    string  `json:"roof_level"` // of memory, that holds the weights
	ReadBps  float64 `json:"roof_read_bytes_per_s"`
	StepByte float64 `json:"bytes_per_step"` // on average
	Measured string  `json:"roof_date"`
}

func answer(ctx context.Context, c choice, stdout, stderr io.Writer, mine func(context.Context, machine.Options) (machine.Machine, error)) error {
	path := c.model
	if path == "" {
		var err error
		if path, err = llama.FindModel(); err != nil {
			return err
		}
	}
	m, err := llama.Load(path)
	if err != nil {
		return err
	}
	defer m.Close()
	prompt, err := m.Tokens.Chat(llama.Message{Role: "user", Content: c.question})
	if errors.Is(err, llama.ErrNoTemplate) {
		fmt.Fprintln(stderr, "speak: the model has no form for conversations: it continues the text")
		prompt, err = m.Tokens.Encode(c.question)
	}
	if err != nil {
		return err
	}
	if len(prompt) >= m.Context {
		return fmt.Errorf("the question has %d tokens: this model can look back on %d", len(prompt), m.Context)
	}
	tokens := min(c.tokens, m.Context-len(prompt))
	threads := cmp.Or(c.threads, runtime.GOMAXPROCS(0))
	roof, date, err := roofFor(ctx, m, threads, stderr, mine)
	if err != nil {
		return err
	}
	samplers, err := c.samplers()
	if err != nil {
		return command.Mistake(err.Error())
	}
	r, err := m.NewRunner(llama.Options{Threads: threads})
	if err != nil {
		return err
	}
	defer r.Close()
	kv, err := m.NewCache(len(prompt)+tokens, matmul.Float16)
	if err != nil {
		return err
	}
	show := func(i int, text string) {
		if i == 0 && !c.json {
			io.WriteString(stdout, visible(stdout, text)) //nolint:errcheck // the end of the run reports it
		}
	}
	u, stopped := r.Generate(ctx, kv, prompt, samplers, tokens, show)
	if stopped != nil && !errors.Is(stopped, context.Canceled) {
		return stopped
	}
	rep := figures(c, m, path, roof, u)
	rep.Measured = date
	if c.json {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		return cmp.Or(out.Encode(rep), stopped)
	}
	_, err = fmt.Fprintf(stdout, "\n\n%s", command.Line(rep.lines()))
	return cmp.Or(err, stopped)
}

// visible returns what a model writes as a terminal may have it: a file of a
// stranger must not steer the reader's. Elsewhere it stays as it is.
func visible(stdout io.Writer, text string) string {
	if command.Terminal(stdout) {
		return command.Text(text)
	}
	return text
}

func (c choice) samplers() ([]*llama.Sampler, error) {
	var all []*llama.Sampler
	for i := range c.batch {
		if c.greedy {
			all = append(all, llama.Greedy())
			continue
		}
		s, err := llama.NewSampler(c.heat, topTokens, topMass, c.seed+uint64(i))
		if err != nil {
			return nil, fmt.Errorf("--%s", strings.TrimPrefix(err.Error(), "llama: "))
		}
		all = append(all, s)
	}
	return all, nil
}

// roofFor returns this machine's roof for a model. With a number of threads that
// it was not measured with, that of the most threads counts.
func roofFor(ctx context.Context, m *llama.Model, threads int, stderr io.Writer, mine func(context.Context, machine.Options) (machine.Machine, error)) (speak.Roof, string, error) {
	if mac, err := machine.Load(machine.Path()); err != nil || machine.Other(mac, machine.ReadHost()) != "" {
		fmt.Fprintf(stderr, "speak: measuring the roof of this machine first, for %v …\n", machine.QuickTime)
	}
	mac, err := mine(ctx, machine.Options{})
	if err != nil {
		return speak.Roof{}, "", err
	}
	date := ""
	if mac.Measured != nil {
		date = mac.Measured.Date
	}
	if known := speak.Threads(mac); len(known) > 0 && !slices.Contains(known, threads) {
		threads = slices.Max(known)
	}
	roof, err := speak.RoofOf(mac, threads, m.WeightBytes())
	return roof, date, err
}

func figures(c choice, m *llama.Model, path string, roof speak.Roof, u llama.Run) report {
	first := u.Answers[0]
	rep := report{Text: first.Text, Ended: first.Ended, Model: path, Threads: cmp.Or(c.threads, roof.Threads), Batch: c.batch, PromptTokens: u.Prompt,
		Tokens: len(first.Tokens), PrefillRate: u.PrefillRate(), DecodeRate: u.DecodeRate(), FirstToken: u.Prefill.Seconds(),
		FirstRoof: roof.FirstToken(m, u.Prompt, llama.DefaultChunk, matmul.Float16), Level: roof.Level, ReadBps: roof.Read}
	if c.batch > 1 {
		for _, a := range u.Answers {
			rep.Texts = append(rep.Texts, a.Text)
		}
	}
	if u.Steps > 0 {
		rep.RoofRate = roof.DecodeRate(m, c.batch, u.Prompt, u.Steps, matmul.Float16)
		rep.StepByte = speak.Decode(m, c.batch, u.Prompt+(u.Steps+1)/2, matmul.Float16).Bytes()
	}
	return rep
}

func (r report) lines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "read %d tokens at %.0f tokens/s: %.0f ms to the first token, at best %.0f ms\n", r.PromptTokens, r.PrefillRate, 1e3*r.FirstToken, 1e3*r.FirstRoof)
	if r.RoofRate == 0 {
		return b.String()
	}
	each := ""
	if r.Batch > 1 {
		each = fmt.Sprintf(" of %d answers together", r.Batch)
	}
	fmt.Fprintf(&b, "wrote %.1f tokens/s%s; the roof allows %.1f: %.0f%% (%.1f MB a step at %.1f GB/s from %s, %s, measured %s)\n",
		r.DecodeRate, each, r.RoofRate, 100*r.DecodeRate/r.RoofRate, r.StepByte/1e6, r.ReadBps/1e9, r.Level, machine.Threads(r.Threads), r.Measured)
	if !r.Ended {
		fmt.Fprintf(&b, "cut after %d tokens\n", r.Tokens)
	}
	return b.String()
}
