package speak

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/transformer"
)

// A Lab is the lesson's model on the reader's machine.
type Lab struct {
	Model   *llama.Model
	Name    string // of the model; it says so where the weights are random
	Machine machine.Machine
}

// Open returns the lesson's model and the roofs of this machine, which are
// measured where the machine file has none ([machine.Mine]). Where there is no
// model the weights are random, of the same shape: they compute at the same speed
// and say nothing.
func Open(o machine.Options) (*Lab, error) {
	mine, err := machine.Mine(context.Background(), o)
	if err != nil {
		return nil, err
	}
	m, name, err := open()
	if err != nil {
		return nil, err
	}
	return &Lab{m, name, mine}, nil
}

// Close gives the model back.
func (l *Lab) Close() error { return l.Model.Close() }

func open() (*llama.Model, string, error) {
	path, err := llama.FindModel()
	if err == nil {
		m, err := llama.Load(path)
		return m, "SmolLM2-135M-Instruct", err
	}
	m, failed := llama.Random(llama.Lesson(), matmul.Q4_1, matmul.Q8_0, 1)
	return m, fmt.Sprintf("random weights of the shape of SmolLM2-135M (%v)", err), failed
}

// Roof returns the roof under which a case runs. It panics where the machine has
// no figures for its number of threads: they are 1 and that of all cores.
func (l *Lab) Roof(c Case) Roof {
	c = l.complete(c)
	r, err := RoofOf(l.Machine, c.Threads, c.Model.WeightBytes())
	if err != nil {
		panic(arg.Errorf("threads", c.Threads, "%w", err))
	}
	return r
}

// Seconds returns the least time of a case's step, by counts and roof alone. It
// panics as Roof does.
func (l *Lab) Seconds(c Case) float64 { return l.Roof(c).Seconds(l.complete(c).Step()) }

// Time takes the step of a case again and again.
func (l *Lab) Time(c Case, o bench.Options) (bench.Result, error) { return l.complete(c).Time(o) }

// Shares is [Case.Shares].
func (l *Lab) Shares(c Case, d time.Duration) (llama.Shares, error) { return l.complete(c).Shares(d) }

// InCache returns what the products of a case's step would take if their weights lay
// in a cache: the time of the kernels, unpacking and all, without any waiting. One
// core is timed, on weights that fill a quarter of its L2, and all share the work.
func (l *Lab) InCache(c Case) (float64, error) {
	c = l.complete(c)
	return inCache(c.Model, c.Batch, c.Batch, c.Threads, matmul.Int8Activations())
}

// Where says where the time of a case's step goes: its shares, and that of the kernels.
func (l *Lab) Where(c Case) (string, error) {
	s, err := l.Shares(c, 200*time.Millisecond)
	if err != nil {
		return "", err
	}
	kernels, err := l.InCache(c)
	return where(s, kernels), err
}

// PromptWhere says the same of reading a prompt of so many tokens.
func (l *Lab) PromptWhere(tokens int) (string, error) {
	s, err := l.promptShares(tokens)
	if err != nil {
		return "", err
	}
	kernels := 0.0
	for left := tokens; left > 0 && err == nil; left -= llama.DefaultChunk {
		chunk, out := 0.0, 0
		if left <= llama.DefaultChunk {
			out = 1 // the last token alone
		}
		chunk, err = inCache(l.Model, min(left, llama.DefaultChunk), out, l.complete(Case{}).Threads)
		kernels += chunk
	}
	return where(s, kernels), err
}

func where(s llama.Shares, kernels float64) string {
	return fmt.Sprintf("%s. With their weights in a cache, the products would take %.0f%% of the time", s, 100*kernels/(s.All.Seconds()/float64(s.Steps)))
}

// inCache is as InCache, for so many rows of activations in the layers and in the
// output layer.
func inCache(m *llama.Model, rows, out, threads int, options ...matmul.Option) (float64, error) {
	layers, output := int64(0), int64(0) // weights
	for _, p := range m.Shape().Parts() {
		if p.Name == transformer.OutputLayer {
			output = p.Matrix
		} else {
			layers += p.Matrix
		}
	}
	matrices, table := m.Formats()
	perLayer, err := secondsInCache(matrices, m.Width, rows, options...)
	if err != nil || out == 0 {
		return float64(layers) * perLayer / float64(threads), err
	}
	perOutput, err := secondsInCache(table, m.Width, out, options...)
	return (float64(layers)*perLayer + float64(output)*perOutput) / float64(threads), err
}

// secondsInCache returns what one weight costs one core, with n rows of activations.
func secondsInCache(f matmul.WeightFormat, cols, n int, options ...matmul.Option) (float64, error) {
	size, err := f.RowBytes(cols)
	if err != nil {
		return 0, err
	}
	rows := max(32, int(matmul.HostCaches().L2)/4/size&^31)
	w, err := matmul.NewWeights(f, rows, cols, make([]byte, rows*size))
	if err != nil {
		return 0, err
	}
	x, y := make([]float32, n*cols), make([]float32, n*rows)
	options = append(options, matmul.Threads(1))
	quick := bench.Options{Samples: 5, MinTime: 4 * time.Millisecond}
	result, err := timed(fmt.Sprintf("%v in a cache, %d rows", f, n), bench.Work{}, quick, func() error {
		return w.Mul(y, x, n, options...)
	})
	return result.Min / float64(rows) / float64(cols), err
}

// FirstToken returns the least time to read a prompt of so many tokens.
func (l *Lab) FirstToken(tokens int) float64 {
	return l.Roof(Case{}).FirstToken(l.Model, tokens, llama.DefaultChunk, matmul.Float16)
}

// promptShares returns where the time of reading a prompt of so many tokens goes.
func (l *Lab) promptShares(tokens int) (llama.Shares, error) {
	var s llama.Shares
	r, read, err := prompt(l.Model, tokens)
	if err != nil {
		return s, err
	}
	defer r.Close()
	if err := read(); err != nil {
		return s, err
	}
	r.Watch(&s)
	return s, read()
}

// Sweep is what was predicted and what was measured, case by case, in ms. Measured
// is the best sample. Doubts are the warnings of all cases.
type Sweep struct {
	Predicted, Measured []float64
	Doubts              []string
}

func (s *Sweep) add(predicted float64, result bench.Result) {
	s.Predicted, s.Measured = append(s.Predicted, 1e3*predicted), append(s.Measured, 1e3*result.Min)
	for _, w := range result.Warnings {
		s.Doubts = append(s.Doubts, result.Name+": "+w)
	}
}

// Rates returns tokens per second for batches of these sizes.
func (s Sweep) Rates(batches ...int) (predicted, measured []float64) {
	for i, b := range batches {
		predicted, measured = append(predicted, 1e3*float64(b)/s.Predicted[i]), append(measured, 1e3*float64(b)/s.Measured[i])
	}
	return predicted, measured
}

// sweep is how long the cases of a sweep are timed.
var sweep = bench.Options{Samples: 7, MinTime: 20 * time.Millisecond}

// Steps times the step of each case. It shows on progress, which may be nil, how
// far it is.
func (l *Lab) Steps(progress func(done, total int), cases ...Case) (Sweep, error) {
	return each(progress, cases, func(c Case) (float64, bench.Result, error) {
		result, err := l.Time(c, sweep)
		return l.Seconds(c), result, err
	})
}

// Prompts times the reading of prompts of so many tokens.
func (l *Lab) Prompts(progress func(done, total int), tokens ...int) (Sweep, error) {
	return each(progress, tokens, func(n int) (float64, bench.Result, error) {
		result, err := TimeFirstToken(l.Model, n, sweep)
		return l.FirstToken(n), result, err
	})
}

func each[T any](progress func(done, total int), all []T, time func(T) (float64, bench.Result, error)) (Sweep, error) {
	var s Sweep
	for i, c := range all {
		if progress != nil {
			progress(i, len(all))
		}
		predicted, result, err := time(c)
		if err != nil {
			return s, err
		}
		s.add(predicted, result)
	}
	if progress != nil {
		progress(len(all), len(all))
	}
	return s, nil
}

func (l *Lab) complete(c Case) Case {
	if c.Model == nil {
		c.Model = l.Model
	}
	if c.Threads == 0 {
		c.Threads = slices.Max(Threads(l.Machine))
	}
	return c.complete()
}

// Ask has the lesson's model answer a question with the likeliest tokens, at most
// so many, and writes them to w as they come.
func Ask(w io.Writer, question string, tokens int) error {
	m, name, err := open()
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

// Case is a step of decoding. What is zero is the usual: the lab's model, one
// sequence, a context of one token, all cores. The cache is in float16.
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
	work := bench.Work{FLOPs: c.Step().FLOPs, Bytes: c.Step().Bytes()}
	return timed(fmt.Sprintf("a batch of %d at context %d", len(caches), c.complete().Context), work, o, func() error {
		return again(r, caches, next)
	})
}

// timed is [bench.Run] for what can fail.
func timed(name string, work bench.Work, o bench.Options, f func() error) (bench.Result, error) {
	var failed error
	result, err := bench.Run(name, work, o, func() { failed = cmp.Or(f(), failed) })
	return result, cmp.Or(failed, err)
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
	r, read, err := prompt(m, tokens)
	if err != nil {
		return bench.Result{}, err
	}
	defer r.Close()
	return timed(fmt.Sprintf("a prompt of %d", tokens), bench.Work{}, o, read)
}

// prompt returns a runner, and what reads a prompt of so many tokens with it.
func prompt(m *llama.Model, tokens int) (*llama.Runner, func() error, error) {
	r, err := m.NewRunner(llama.Options{})
	if err != nil {
		return nil, nil, err
	}
	kv, err := m.NewCache(tokens, matmul.Float16)
	if err != nil {
		r.Close()
		return nil, nil, err
	}
	text := make([]llama.Token, tokens)
	for i := range text {
		text[i] = llama.Token(i * 7 % m.Vocab)
	}
	return r, func() error {
		kv.Truncate(0)
		_, err := r.Prefill(context.Background(), kv, text)
		return err
	}, nil
}
