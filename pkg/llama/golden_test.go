package llama

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/text/unicode/norm"

	"memorywall/pkg/matmul"
)

// unzip reads a gzipped file of testdata.
func unzip(t testing.TB, name string) []byte {
	t.Helper()
	h, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	z, err := gzip.NewReader(h)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func golden(t testing.TB, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(unzip(t, name), v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

var loadOnce = sync.OnceValues(func() (*Model, error) {
	path, err := FindModel()
	if err != nil {
		return nil, err
	}
	return Load(path)
})

// lessonModel returns the lesson's model, one for all tests. They are skipped
// without it, unless MEMORYWALL_MODEL says that it must be there, and with
// -short: with 32 bits, and under the race detector, they take many minutes.
func lessonModel(t testing.TB) *Model {
	t.Helper()
	if testing.Short() {
		t.Skip("a whole model takes too long with -short")
	}
	m, err := loadOnce()
	if errors.Is(err, ErrNoModel) && os.Getenv("MEMORYWALL_MODEL") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func runner(t testing.TB, m *Model, o Options) *Runner {
	t.Helper()
	r, err := m.NewRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func cache(t testing.TB, m *Model, n int, f matmul.WeightFormat) *Cache {
	t.Helper()
	c, err := m.NewCache(n, f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tokenized is a text with the tokens that the reference gives it.
type tokenized struct {
	text   string
	tokens []Token
}

func (p *tokenized) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&p.text, &p.tokens})
}

func checkTokens(t *testing.T, tok *Tokenizer, texts []tokenized) {
	t.Helper()
	bad := 0
	for _, want := range texts {
		if text := norm.NFC.String(want.text); tok.words.composed && text != want.text {
			// llama.cpp does not compose.
			got, err := tok.Encode(want.text)
			composed, _ := tok.Encode(text)
			if err != nil || !slices.Equal(got, composed) || tok.Decode(got) != text {
				t.Errorf("%q: tokens %v (%v), composed %v", want.text, got, err, composed)
			}
			continue
		}
		got, err := tok.Encode(want.text)
		if err != nil || !slices.Equal(got, want.tokens) {
			if bad++; bad < 10 {
				t.Errorf("%q: tokens %v (%v), want %v", want.text, got, err, want.tokens)
			}
		}
		if back := tok.Decode(got); err == nil && back != want.text {
			t.Errorf("%q came back as %q", want.text, back)
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d texts differ from llama.cpp", bad, len(texts))
	}
}

// TestTokensEqualReference holds 3000 texts of every kind against llama.cpp.
func TestTokensEqualReference(t *testing.T) {
	m := lessonModel(t)
	var texts []tokenized
	golden(t, "tokens.json.gz", &texts)
	if len(texts) < 3000 {
		t.Fatalf("%d texts", len(texts))
	}
	checkTokens(t, m.Tokens, texts)
}

type goldenPrompt struct {
	Tokens    []Token
	Every     int
	Logits    []float32 // of every Every-th token
	Top       []Token
	TopLogits []float32 `json:"top_logits"`
	Answer    []Token
	Gaps      []float32 // between the two largest logits where each token of the answer was chosen
}

type goldenLogits struct {
	Prompts []goldenPrompt
	NLL     float64 `json:"nll1024"`
}

// A precision is how a runner computes, and how far it may lie from transformers in
// float32: a logit, and a token of the answer where the reference's two largest
// logits are farther apart than gap. The largest difference seen is printed by go
// test -v.
type precision struct {
	name       string
	options    Options
	cache      matmul.WeightFormat
	logit, gap float64
	single     bool // read token by token where that is what is tested
}

var precisions = []precision{
	{"float32", Options{Float32: true}, matmul.Float32, 5e-4, 1e-3, false}, // both round
	{"activations of 8 bits, cache in float16", Options{}, matmul.Float16, 1.5, 0.5, true},
}

func (p goldenPrompt) distance(logits []float32) float64 {
	worst := 0.0
	for i, want := range p.Logits {
		worst = max(worst, math.Abs(float64(logits[i*p.Every]-want)))
	}
	for i, k := range p.Top {
		worst = max(worst, math.Abs(float64(logits[k]-p.TopLogits[i])))
	}
	return worst
}

// TestLogitsEqualReference holds a dozen prompts and their continuations, and
// the perplexity of a text, against transformers.
func TestLogitsEqualReference(t *testing.T) {
	m := lessonModel(t)
	var want goldenLogits
	golden(t, "logits.json.gz", &want)
	for _, p := range precisions {
		t.Run(p.name, func(t *testing.T) { testLogits(t, m, want, p) })
	}
}

func testLogits(t *testing.T, m *Model, want goldenLogits, at precision) {
	r := runner(t, m, at.options)
	worst := 0.0
	ctx := context.Background()
	for i, p := range want.Prompts {
		if at.single && i%4 != 3 { // some are enough: it takes its time
			continue
		}
		c := cache(t, m, len(p.Tokens)+len(p.Answer), at.cache)
		done := 0
		if len(p.Tokens) == 2000 {
			done = 1023
			nll := 0.0
			each := func(i int, logits []float32) { nll -= logProb(logits, p.Tokens[i+1]) }
			together := done
			if at.single {
				together = 1
			}
			err := r.Logits(ctx, c, p.Tokens[:together], each)
			for i := together; i < done && err == nil; i++ {
				var logits []float32
				if logits, err = r.Decode(ctx, []*Cache{c}, p.Tokens[i:i+1]); err == nil {
					each(i, logits)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			got, ref := math.Exp(nll/1023), math.Exp(want.NLL)
			t.Logf("perplexity %.4f, transformers %.4f", got, ref)
			if !(math.Abs(got/ref-1) < 0.005) {
				t.Errorf("perplexity %.4f: transformers has %.4f", got, ref)
			}
		}
		last := len(p.Tokens)
		if at.single {
			last--
		}
		logits, err := r.Prefill(ctx, c, p.Tokens[done:last])
		if err == nil && at.single {
			logits, err = r.Decode(ctx, []*Cache{c}, p.Tokens[last:])
		}
		if err != nil {
			t.Fatal(err)
		}
		d := p.distance(logits)
		worst = max(worst, d)
		if !(d <= at.logit) {
			t.Errorf("prompt %d: a logit differs by %g from transformers'", i, d)
		}
		next := func(j int, logits []float32) {
			best, err := Greedy().Next(logits)
			if err != nil {
				t.Fatal(err)
			}
			if token := p.Answer[j]; best != token && float64(p.Gaps[j]) > at.gap {
				t.Fatalf("prompt %d: token %d of the answer is %d %q, transformers has %d %q", i, j, best, m.Tokens.Piece(best), token, m.Tokens.Piece(token))
			}
		}
		next(0, logits)
		given := p.Answer[:len(p.Answer)-1]
		if i%4 != 3 { // all at once, as a question is read
			if err := r.Logits(ctx, c, given, func(j int, logits []float32) { next(j+1, logits) }); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for j, token := range given {
			if logits, err = r.Decode(ctx, []*Cache{c}, []Token{token}); err != nil {
				t.Fatal(err)
			}
			next(j+1, logits)
		}
	}
	t.Logf("largest difference of a logit: %g", worst)
}

// logProb is the natural logarithm of the probability of a token.
func logProb(logits []float32, token Token) float64 {
	top := slices.Max(logits)
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v - top))
	}
	return float64(logits[token]-top) - math.Log(sum)
}

type goldenTiny struct {
	Name   string
	Tokens []Token
	Texts  []tokenized
	Rows   []int
	Logits [][]float32
}

// parseModel makes a model of a GGUF file that lies in memory.
func parseModel(t testing.TB, data []byte) *Model {
	t.Helper()
	f, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModel(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestArchitecturesEqualReference holds small models of each architecture, with
// their tokenizers, against llama.cpp.
func TestArchitecturesEqualReference(t *testing.T) {
	var all []goldenTiny
	golden(t, "tiny.json.gz", &all)
	for _, want := range all {
		t.Run(want.Name, func(t *testing.T) {
			m := parseModel(t, unzip(t, "tiny-"+want.Name+".gguf.gz"))
			checkTokens(t, m.Tokens, want.Texts)
			r := runner(t, m, Options{Float32: true})
			worst := 0.0
			err := r.Logits(context.Background(), cache(t, m, len(want.Tokens), matmul.Float32), want.Tokens, func(i int, logits []float32) {
				if at := slices.Index(want.Rows, i); at >= 0 {
					for j, v := range want.Logits[at] {
						worst = max(worst, math.Abs(float64(logits[j]-v)))
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("largest difference of a logit: %g", worst)
			if !(worst < 1e-3) {
				t.Errorf("a logit differs by %g from llama.cpp's", worst)
			}
		})
	}
}
