package speak

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
)

// Model returns the lesson's model. Where there is none it returns random weights
// of the same shape, which compute at the same speed and say nothing; the text
// says which of both it is.
func Model() (*llama.Model, string, error) {
	path, err := llama.FindModel()
	if err == nil {
		m, err := llama.Load(path)
		return m, "SmolLM2-135M-Instruct", err
	}
	m, failed := llama.Random(llama.Lesson(), matmul.Q4_1, matmul.Q8_0, 1)
	return m, fmt.Sprintf("random weights of the shape of SmolLM2-135M (%v)", err), failed
}

// Ask has the lesson's model answer a question with the likeliest tokens, at most
// so many, and writes them to w as they come.
func Ask(w io.Writer, question string, tokens int) error {
	m, name, err := Model()
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Tokens == nil {
		_, err := fmt.Fprintf(w, "There is no answer: %s.\n", name)
		return err
	}
	prompt, err := m.Tokens.Chat(llama.Message{Role: "user", Content: question})
	if err != nil {
		return err
	}
	r, err := m.NewRunner(llama.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	kv, err := m.NewCache(len(prompt)+tokens, matmul.Float16)
	if err != nil {
		return err
	}
	u, err := r.Generate(context.Background(), kv, prompt, []*llama.Sampler{llama.Greedy()}, tokens, func(_ int, text string) {
		io.WriteString(w, text) //nolint:errcheck // the last line reports it
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n\n%s read %d tokens in %.0f ms and wrote %d more at %.0f tokens/s.\n",
		name, u.Prompt, 1e3*u.Prefill.Seconds(), u.Written, u.DecodeRate())
	return err
}

// Case is a step of decoding to be timed. What is zero is the usual: one
// sequence, a context of one token, all cores, a cache in float16.
type Case struct {
	Model   *llama.Model
	Batch   int
	Context int // tokens of each sequence, the new one counted
	Threads int
}

func (c Case) complete() Case {
	c.Batch, c.Context = max(c.Batch, 1), max(c.Context, 1)
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	return c
}

// Roof returns the roof of a measured machine for the case's model and threads.
func (c Case) Roof(m machine.Machine) (Roof, error) {
	return RoofOf(m, c.complete().Threads, c.Model.WeightBytes())
}

// Step returns what the step reads and computes.
func (c Case) Step() Step {
	c = c.complete()
	return Decode(c.Model, c.Batch, c.Context, matmul.Float16)
}

// Time takes the step again and again.
func (c Case) Time(o bench.Options) (bench.Result, error) {
	r, caches, next, err := c.start()
	if err != nil {
		return bench.Result{}, err
	}
	defer r.Close()
	var failed error
	result, err := bench.Run(fmt.Sprintf("a step of %d", len(caches)), bench.Work{FLOPs: c.Step().FLOPs, Bytes: c.Step().Bytes()}, o, func() {
		if err := again(r, caches, next); err != nil {
			failed = err
		}
	})
	if failed != nil {
		return result, failed
	}
	return result, err
}

// Shares takes the step for about so long and returns where its time went.
func (c Case) Shares(d time.Duration) (llama.Shares, error) {
	var s llama.Shares
	r, caches, next, err := c.start()
	if err != nil {
		return s, err
	}
	defer r.Close()
	if err := again(r, caches, next); err != nil {
		return s, err
	}
	r.Watch(&s)
	for start := time.Now(); time.Since(start) < d; {
		if err := again(r, caches, next); err != nil {
			return s, err
		}
	}
	return s, nil
}

// start returns a runner, and caches that are one token short of the context.
func (c Case) start() (*llama.Runner, []*llama.Cache, []llama.Token, error) {
	c = c.complete()
	r, err := c.Model.NewRunner(llama.Options{Threads: c.Threads})
	if err != nil {
		return nil, nil, nil, err
	}
	var caches []*llama.Cache
	for range c.Batch {
		kv, err := c.Model.NewCache(c.Context, matmul.Float16)
		if err != nil {
			r.Close()
			return nil, nil, nil, err
		}
		kv.Fill(c.Context - 1)
		caches = append(caches, kv)
	}
	return r, caches, make([]llama.Token, c.Batch), nil
}

// again writes one token behind each sequence and takes it back.
func again(r *llama.Runner, caches []*llama.Cache, next []llama.Token) error {
	_, err := r.Decode(context.Background(), caches, next)
	for _, kv := range caches {
		kv.Truncate(kv.Cap() - 1)
	}
	return err
}

// TimeFirstToken times the reading of a prompt of so many tokens.
func TimeFirstToken(m *llama.Model, tokens int, o bench.Options) (bench.Result, error) {
	r, err := m.NewRunner(llama.Options{})
	if err != nil {
		return bench.Result{}, err
	}
	defer r.Close()
	kv, err := m.NewCache(tokens, matmul.Float16)
	if err != nil {
		return bench.Result{}, err
	}
	prompt := make([]llama.Token, tokens)
	for i := range prompt {
		prompt[i] = llama.Token(i * 7 % m.Vocab)
	}
	var failed error
	result, err := bench.Run(fmt.Sprintf("a prompt of %d", tokens), bench.Work{}, o, func() {
		kv.Truncate(0)
		if _, err := r.Prefill(context.Background(), kv, prompt); err != nil {
			failed = err
		}
	})
	if failed != nil {
		return result, failed
	}
	return result, err
}
