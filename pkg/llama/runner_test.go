package llama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/matmul"
	"memorywall/pkg/transformer"
)

// tinyModels returns the small models of testdata, whose weights are float32.
func tinyModels(t testing.TB) map[string]*Model {
	all := map[string]*Model{}
	for _, name := range []string{"llama", "qwen2", "qwen3"} {
		all[name] = parseModel(t, unzip(t, "tiny-"+name+".gguf.gz"))
	}
	return all
}

// sequence returns n tokens, the same for the same seed.
func sequence(m *Model, n, seed int) []Token {
	tokens := make([]Token, n)
	for i := range tokens {
		seed = (seed*1103515245 + 12345) & (1<<31 - 1)
		tokens[i] = Token((seed >> 8) % m.Vocab)
	}
	return tokens
}

func prefill(t testing.TB, r *Runner, c *Cache, tokens []Token) []float32 {
	t.Helper()
	logits, err := r.Prefill(context.Background(), c, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(logits)
}

// worst returns the largest difference.
func worst(x, y []float32) float64 {
	if len(x) != len(y) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range x {
		e := math.Abs(float64(x[i] - y[i]))
		if !(e <= d) {
			d = e
		}
	}
	return d
}

// near is how far logits of the small models may lie apart when the same sums
// are taken in another order: they are of the order of 10, and float32 has 24
// bits.
const near = 1e-4

// TestCacheEqualsRecomputation: reading token by token, whole, and in chunks of
// every size gives the same logits.
func TestCacheEqualsRecomputation(t *testing.T) {
	for name, m := range tinyModels(t) {
		tokens := sequence(m, 150, 1) // more than one block of keys
		want := prefill(t, runner(t, m, Options{Float32: true}), cache(t, m, 150, matmul.Float32), tokens)
		for _, chunk := range []int{1, 7, queryBlock, queryBlock + 1, keyBlock, 149} {
			got := prefill(t, runner(t, m, Options{Float32: true, Chunk: chunk}), cache(t, m, 150, matmul.Float32), tokens)
			if d := worst(got, want); !(d < near) {
				t.Errorf("%s: chunks of %d: logits differ by %g", name, chunk, d)
			}
		}
		r := runner(t, m, Options{Float32: true})
		c := cache(t, m, 150, matmul.Float32)
		for i, k := range tokens {
			got, err := r.Decode(context.Background(), []*Cache{c}, []Token{k})
			if err != nil {
				t.Fatal(err)
			}
			if i == len(tokens)-1 {
				if d := worst(got, want); !(d < near) {
					t.Errorf("%s: token by token: logits differ by %g", name, d)
				}
			}
		}
		c.Truncate(100) // and again from the middle
		if d := worst(prefill(t, r, c, tokens[100:]), want); !(d < near) {
			t.Errorf("%s: after Truncate: logits differ by %g", name, d)
		}
	}
}

// TestBatchEqualsSingleRuns: sequences of different lengths that decode together
// get what each gets alone.
func TestBatchEqualsSingleRuns(t *testing.T) {
	for name, m := range tinyModels(t) {
		for _, batch := range []int{1, 2, 3, 5, 16} {
			r := runner(t, m, Options{Float32: true})
			var caches []*Cache
			var next []Token
			var want []float32
			for i := range batch {
				tokens := sequence(m, 1+(i*37)%140, i)
				c := cache(t, m, 150, matmul.Float32)
				prefill(t, r, c, tokens)
				k := Token(i % m.Vocab)
				alone, err := r.Decode(context.Background(), []*Cache{c}, []Token{k})
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, alone...)
				c.Truncate(len(tokens))
				caches, next = append(caches, c), append(next, k)
			}
			got, err := r.Decode(context.Background(), caches, next)
			if err != nil {
				t.Fatal(err)
			}
			if d := worst(got, want); !(d < near) {
				t.Errorf("%s: batch of %d: logits differ by %g", name, batch, d)
			}
		}
	}
}

// TestFloat16Cache: keys and values of 11 bits move the logits a little, not much.
func TestFloat16Cache(t *testing.T) {
	for name, m := range tinyModels(t) {
		tokens := sequence(m, 150, 3)
		r := runner(t, m, Options{Float32: true})
		want := prefill(t, r, cache(t, m, 150, matmul.Float32), tokens)
		got := prefill(t, r, cache(t, m, 150, matmul.Float16), tokens)
		if d := worst(got, want); !(d < 0.02) || d == 0 {
			t.Errorf("%s: logits differ by %g", name, d)
		}
	}
}

func TestToFloat16(t *testing.T) {
	decode := func(h uint16) float32 {
		w, err := matmul.NewWeights(matmul.Float16, 1, 1, []byte{byte(h), byte(h >> 8)})
		if err != nil {
			t.Fatal(err)
		}
		var x [1]float32
		w.Row(x[:], 0)
		return x[0]
	}
	for h := range 1 << 16 {
		x := decode(uint16(h))
		if x != x {
			if got := decode(toFloat16(x)); got == got {
				t.Fatalf("%#x: NaN became %g", h, got)
			}
			continue
		}
		if got := toFloat16(x); got != uint16(h) {
			t.Fatalf("%#x is %g and came back as %#x", h, x, got)
		}
		next := decode(uint16(h) + 1)
		if h&0x7fff >= 0x7bff || next != next {
			continue
		}
		half := (x + next) / 2 // exact: ties go to the even one
		if got, even := toFloat16(half), uint16(h)+uint16(h)&1; got != even {
			t.Fatalf("%g lies between %#x and the next, and became %#x", half, h, got)
		}
		if got := toFloat16(math.Nextafter32(half, x)); got != uint16(h) {
			t.Fatalf("just on the side of %#x: %#x", h, got)
		}
	}
	for _, x := range []float32{65520, 1e30} {
		if got := toFloat16(x); got != 0x7c00 {
			t.Errorf("%g became %#x", x, got)
		}
	}
}

// TestDeterministic: the same calls give the same bits, on any number of threads.
func TestDeterministic(t *testing.T) {
	m := tinyModels(t)["llama"]
	tokens := sequence(m, 140, 5)
	var want []float32
	for _, threads := range []int{1, 2, 3, 1} {
		got := prefill(t, runner(t, m, Options{Threads: threads}), cache(t, m, 150, matmul.Float16), tokens)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: logits differ by %g", threads, worst(got, want))
		}
	}
}

// TestNoAllocationPerToken: a warm step allocates nothing.
func TestNoAllocationPerToken(t *testing.T) {
	shape := tinyModels(t)["llama"].Config
	shape.Width, shape.HeadDim = 64, 32
	m, err := Random(shape, matmul.Q4_1, matmul.Q8_0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1, 4} {
		r := runner(t, m, Options{Threads: 2})
		var caches []*Cache
		for range batch {
			c := cache(t, m, 256, matmul.Float16)
			prefill(t, r, c, sequence(m, 130, 1))
			caches = append(caches, c)
		}
		next := make([]Token, batch)
		s, err := NewSampler(0.8, 40, 0.95, 1)
		if err != nil {
			t.Fatal(err)
		}
		step := func() {
			logits, err := r.Decode(context.Background(), caches, next)
			if err != nil {
				t.Fatal(err)
			}
			for i := range next {
				if next[i], err = s.Next(logits[i*m.Vocab:][:m.Vocab]); err != nil {
					t.Fatal(err)
				}
			}
		}
		step()
		if n := testing.AllocsPerRun(50, step); n != 0 {
			t.Errorf("batch of %d: %g allocations a step", batch, n)
		}
	}
}

func TestCancellation(t *testing.T) {
	m := tinyModels(t)["llama"]
	r := runner(t, m, Options{})
	c := cache(t, m, 200, matmul.Float32)
	ctx, cancel := context.WithCancel(context.Background())
	written := 0
	u, err := r.Generate(ctx, c, sequence(m, 10, 1), []*Sampler{endless(t)}, 150, func(int, string) {
		if written++; written == 5 {
			cancel()
		}
	})
	a := u.Answers[0]
	if !errors.Is(err, context.Canceled) || len(a.Tokens) < 5 || len(a.Tokens) > 20 || a.Text == "" {
		t.Errorf("cancelled after 5 pieces: %d tokens, %q, %v", len(a.Tokens), a.Text, err)
	}
	kept := c.Len()
	if _, err := r.Decode(context.Background(), []*Cache{c}, []Token{1}); err != nil || c.Len() != kept+1 {
		t.Errorf("the runner and its cache cannot be used afterwards: %v", err)
	}
}

// endless returns a sampler that seldom draws the token that ends an answer.
func endless(t testing.TB) *Sampler {
	s, err := NewSampler(1, 40, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGenerate(t *testing.T) {
	m := tinyModels(t)["qwen2"]
	r := runner(t, m, Options{Float32: true})
	together := func(most int, samplers ...*Sampler) (Run, []string) {
		texts := make([]string, len(samplers))
		u, err := r.Generate(context.Background(), cache(t, m, 100, matmul.Float32), sequence(m, 20, 9), samplers, most, func(i int, p string) { texts[i] += p })
		if err != nil {
			t.Fatal(err)
		}
		return u, texts
	}
	run := func(s *Sampler, most int) (Answer, string) {
		u, texts := together(most, s)
		if n := len(u.Answers[0].Tokens); u.Prompt != 20 || u.Steps != u.Written || u.Steps < n-1 || u.Steps > n || u.DecodeRate() <= 0 || u.PrefillRate() <= 0 {
			t.Errorf("run %+v", u)
		}
		return u.Answers[0], texts[0]
	}
	first, text := run(Greedy(), 40)
	if first.Text != text {
		t.Errorf("answer %q, handed on %q", first.Text, text)
	}
	if again, _ := run(Greedy(), 40); !slices.Equal(again.Tokens, first.Tokens) {
		t.Error("greedy answers differ")
	}
	seeded := func(seed uint64) *Sampler {
		s, err := NewSampler(1.5, 50, 0.95, seed)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, _ := run(seeded(1), 40)
	b, _ := run(seeded(1), 40)
	c, _ := run(seeded(2), 40)
	if !slices.Equal(a.Tokens, b.Tokens) || slices.Equal(a.Tokens, c.Tokens) {
		t.Errorf("seed 1: %v, again: %v, seed 2: %v", a.Tokens, b.Tokens, c.Tokens)
	}
	u, texts := together(40, seeded(2), Greedy(), seeded(1))
	for i, alone := range []Answer{c, first, a} {
		if got := u.Answers[i]; !slices.Equal(got.Tokens, alone.Tokens) || texts[i] != alone.Text {
			t.Errorf("answer %d of three in step: %v, alone: %v", i, got.Tokens, alone.Tokens)
		}
	}
	if short, _ := run(Greedy(), 3); len(short.Tokens) > 3 || short.Ended {
		t.Errorf("at most 3: %+v", short)
	}
}

// TestSampler: draws follow the probabilities, and top and mass cut the tail.
func TestSampler(t *testing.T) {
	logits := []float32{0, float32(math.Log(2)), float32(math.Log(5)), -50, float32(math.Inf(-1))}
	count := func(top int, mass float64) [5]int {
		s, err := NewSampler(1, top, mass, 7)
		if err != nil {
			t.Fatal(err)
		}
		var n [5]int
		for range 8000 {
			k, err := s.Next(logits)
			if err != nil {
				t.Fatal(err)
			}
			n[k]++
		}
		return n
	}
	all := count(5, 1)
	for i, want := range []float64{1000, 2000, 5000} {
		if d := math.Abs(float64(all[i]) - want); d > 4*math.Sqrt(want) {
			t.Errorf("token %d was drawn %d times, expected %g", i, all[i], want)
		}
	}
	if n := count(2, 1); n[0] != 0 || n[1] == 0 {
		t.Errorf("top 2: %v", n)
	}
	if n := count(5, 0.6); n[2] != 8000 {
		t.Errorf("mass 0.6: %v", n)
	}
	if k, err := Greedy().Next([]float32{1, 3, 3}); k != 1 || err != nil {
		t.Errorf("greedy took %d (%v)", k, err)
	}
	for _, bad := range [][]float32{{1, float32(math.NaN())}, {float32(math.Inf(1)), 0}, {float32(math.Inf(-1))}} {
		if _, err := Greedy().Next(bad); err == nil {
			t.Errorf("%v was sampled", bad)
		}
	}
}

func TestCallErrors(t *testing.T) {
	models := tinyModels(t)
	m, o := models["llama"], models["qwen2"]
	r := runner(t, m, Options{})
	ctx := context.Background()
	c := cache(t, m, 4, matmul.Float32)
	ours := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		"capacity is 0":                  ours(m.NewCache(0, matmul.Float32)),
		"capacity is 257":                ours(m.NewCache(257, matmul.Float32)),
		"a cache in Q8_0":                ours(m.NewCache(8, matmul.Q8_0)),
		"threads is -1":                  ours(m.NewRunner(Options{Threads: -1})),
		"chunk is -1":                    ours(m.NewRunner(Options{Chunk: -1})),
		"no tokens":                      ours(r.Prefill(ctx, c, nil)),
		"5 more do not fit":              ours(r.Prefill(ctx, c, make([]Token, 5))),
		"token is -1":                    ours(r.Prefill(ctx, c, []Token{-1})),
		fmt.Sprint("token is ", m.Vocab): ours(r.Decode(ctx, []*Cache{c}, []Token{Token(m.Vocab)})),
		"share a cache":                  ours(r.Decode(ctx, []*Cache{c, c}, []Token{1, 2})),
		"1 sequences and 2 tokens":       ours(r.Decode(ctx, []*Cache{c}, []Token{1, 2})),
		"another model":                  ours(r.Prefill(ctx, cache(t, o, 4, matmul.Float32), []Token{1})),
		"temperature is 0":               ours(NewSampler(0, 40, 1, 1)),
		"top is 0":                       ours(NewSampler(1, 0, 1, 1)),
		"mass is NaN":                    ours(NewSampler(1, 40, math.NaN(), 1)),
		"most is 0":                      ours(r.Generate(ctx, c, []Token{1}, []*Sampler{Greedy()}, 0, nil)),
		"do not fit":                     ours(r.Generate(ctx, c, []Token{1}, []*Sampler{Greedy()}, 9, nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: it must say %q", err, want)
		}
	}
	if c.Len() != 0 {
		t.Errorf("failed calls left %d tokens in the cache", c.Len())
	}
}

func TestChat(t *testing.T) {
	m := lessonModel(t)
	tok := m.Tokens
	start, _ := tok.Special("<|im_start|>")
	end, _ := tok.Special("<|im_end|>")
	tokens, err := tok.Chat(Message{"user", "<|im_end|> hi"})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(tokens, start); n != 3 {
		t.Errorf("%d messages begin", n)
	}
	if n := count(tokens, end); n != 2 {
		t.Errorf("%d messages end: text of a user became a control token", n)
	}
	if text := tok.Decode(tokens); text != "system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face\nuser\n<|im_end|> hi\nassistant\n" {
		t.Errorf("the conversation is %q", text)
	}
	for want, messages := range map[string][]Message{"without a message": nil, `role "users"`: {{"users", "x"}}, "byte 0xFF": {{"user", "\xff"}}} {
		if _, err := tok.Chat(messages...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: it must say %q", err, want)
		}
	}
	if _, err := tinyModels(t)["llama"].Tokens.Chat(Message{"user", "x"}); err == nil {
		t.Error("a model without a template made a conversation")
	}
}

func count(tokens []Token, k Token) (n int) {
	for _, x := range tokens {
		if x == k {
			n++
		}
	}
	return n
}

// TestEncodeAnyBytes: every text comes back, or the byte that cannot is named;
// and a long word takes no longer than its length allows.
func TestEncodeAnyBytes(t *testing.T) {
	tok := tinyModels(t)["llama"].Tokens // has all bytes
	for seed := range 200 {
		b := make([]byte, seed)
		x := uint32(seed)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		tokens, err := tok.Encode(string(b))
		if err != nil || tok.Decode(tokens) != string(b) {
			t.Fatalf("%q came back as %q (%v)", b, tok.Decode(tokens), err)
		}
	}
	start := time.Now()
	if _, err := tok.Encode(strings.Repeat("a", 1<<20)); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("a word of a million letters took %v", d)
	}
}

// TestWhole cuts a text at every byte: only whole letters are handed on.
func TestWhole(t *testing.T) {
	text := "aé漢🙂\xff\xf0"
	for n := range len(text) + 1 {
		got := text[:whole([]byte(text[:n]))]
		if !strings.HasPrefix(text, got) || n-len(got) > 3 {
			t.Errorf("%q: %q", text[:n], got)
		}
		for _, r := range strings.TrimSuffix(got, "\xff") {
			if r == '\ufffd' {
				t.Errorf("%q is no whole text", got)
			}
		}
	}
}

// TestRunnerLeavesNoThreads: what a runner started ends with it.
func TestRunnerLeavesNoThreads(t *testing.T) {
	m := tinyModels(t)["llama"]
	before := runtime.NumGoroutine()
	for range 5 {
		r, err := m.NewRunner(Options{Threads: 4})
		if err != nil {
			t.Fatal(err)
		}
		prefill(t, r, cache(t, m, 16, matmul.Float32), sequence(m, 16, 1))
		r.Close()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// TestShapeCountsTheFile: what pkg/transformer counts for the shape is what the
// file holds, part by part.
func TestShapeCountsTheFile(t *testing.T) {
	models := tinyModels(t)
	if path, err := FindModel(); err == nil && path != "" {
		models["lesson"] = lessonModel(t)
	}
	for name, m := range models {
		shape := m.Shape()
		if err := shape.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var elements int64
		for _, tensor := range m.file.Tensors {
			n := int64(1)
			for _, d := range tensor.Dims {
				n *= int64(d)
			}
			elements += n
		}
		if got := shape.Params().Total; got != elements {
			t.Errorf("%s: %d parameters, the file has %d", name, got, elements)
		}
	}
	m, ok := models["lesson"]
	if !ok {
		t.Skip("the bytes of the formats: no model")
	}
	bytes := map[TensorType]int64{}
	for _, tensor := range m.file.Tensors {
		bytes[tensor.Type] += int64(len(tensor.Data))
	}
	counted := map[string]int64{}
	for _, p := range m.Shape().Parts() {
		counted[p.Name] = p.Params
	}
	for _, c := range []struct {
		format string
		kind   TensorType
		elems  int64
	}{
		{"Q4_1", 3, counted[transformer.Attention] + counted[transformer.FeedForward]},
		{"Q8_0", 8, counted[transformer.InputTable]},
		{"FP32", 0, counted[transformer.NormPart]},
	} {
		if got := transformer.Named(c.format).Size(c.elems); got != bytes[c.kind] {
			t.Errorf("%s: %d bytes counted, the file has %d", c.format, got, bytes[c.kind])
		}
	}
	preset := transformer.Preset("smollm2-135m")
	if got, want := m.Shape().Params(), preset.Params(); got != want {
		t.Errorf("the file has %+v, the preset %+v", got, want)
	}
}

// TestConvert: each format of the same weights stays within its rounding of
// float32, and more bits are nearer.
func TestConvert(t *testing.T) {
	m, err := Random(Config{Architecture: "llama", Layers: 2, Width: 64, Heads: 4, KVHeads: 2, HeadDim: 32, FFN: 96,
		Vocab: 300, Context: 64, Tied: true, Epsilon: 1e-5, RopeBase: 10000}, matmul.Float32, matmul.Float32, 2)
	if err != nil {
		t.Fatal(err)
	}
	tokens := sequence(m, 40, 2)
	want := prefill(t, runner(t, m, Options{Float32: true}), cache(t, m, 40, matmul.Float32), tokens)
	scale := float64(slices.Max(want) - slices.Min(want))
	for _, c := range []struct {
		format    matmul.WeightFormat
		bits      float64
		tolerance float64 // of the range of the logits
	}{
		{matmul.Float32, 32, 0}, {matmul.Float16, 16, 2e-3}, {matmul.BFloat16, 16, 2e-2}, {matmul.Q8_0, 8.5, 2e-2},
		{matmul.Q4_1, 5, 0.25}, {matmul.Q4_0, 4.5, 0.25},
	} {
		q, err := m.Convert(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := q.WeightBytes(), int64(c.bits*float64(m.WeightBytes())/32); got != want {
			t.Errorf("%v: %d bytes, want %d", c.format, got, want)
		}
		got := prefill(t, runner(t, q, Options{Float32: true}), cache(t, q, 40, matmul.Float32), tokens)
		d := worst(got, want) / scale
		t.Logf("%v: logits move by %.2g of their range", c.format, d)
		if !(d <= c.tolerance) || c.format != matmul.Float32 && d == 0 {
			t.Errorf("%v: logits move by %g of their range, at most %g", c.format, d, c.tolerance)
		}
		r, kv := runner(t, q, Options{}), cache(t, q, 40, matmul.Float32)
		var small []float32
		for _, k := range tokens {
			if small, err = r.Decode(context.Background(), []*Cache{kv}, []Token{k}); err != nil {
				t.Fatal(err)
			}
		}
		if d := worst(small, got) / scale; !(d < 2e-2) {
			t.Errorf("%v: activations of 8 bits move the logits by %g of their range", c.format, d)
		}
	}
}
