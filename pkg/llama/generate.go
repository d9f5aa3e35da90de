package llama

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Sampler chooses the next token from logits. It is not safe for use by
// several goroutines.
type Sampler struct {
	temperature float32
	top         int
	mass        float32
	random      *rand.Rand
	best        []candidate
}

type candidate struct {
	token Token
	logit float32
}

// Greedy returns the sampler that always takes the likeliest token, the one with
// the lowest number of several.
func Greedy() *Sampler { return &Sampler{} }

// NewSampler returns a sampler that draws a token at random: of the top likeliest
// those that together have at least the given mass of probability, each with the
// weight e^(logit/temperature). The same seed gives the same draws. It returns an
// error unless temperature is above 0 and finite, top from 1 to 1024 and mass
// above 0 and at most 1.
func NewSampler(temperature float64, top int, mass float64, seed uint64) (*Sampler, error) {
	switch {
	case !(temperature > 0 && temperature <= 1e6):
		return nil, fmt.Errorf("llama: temperature is %g: it must be above 0; Greedy takes the likeliest token", temperature)
	case top < 1 || top > 1024:
		return nil, fmt.Errorf("llama: top is %d: it must be from 1 to 1024", top)
	case !(mass > 0 && mass <= 1):
		return nil, fmt.Errorf("llama: mass is %g: it must be above 0 and at most 1", mass)
	}
	return &Sampler{float32(temperature), top, float32(mass), rand.New(rand.NewPCG(seed, 0)), make([]candidate, 0, top+1)}, nil
}

// Next returns the next token. It returns an error where a logit is NaN or all
// are -Inf, which a damaged file can bring about.
func (s *Sampler) Next(logits []float32) (Token, error) {
	best := Token(0)
	for i, v := range logits {
		if v != v {
			return 0, fmt.Errorf("llama: the logit of token %d is NaN: the weights are damaged", i)
		}
		if v > logits[best] {
			best = Token(i)
		}
	}
	if math.IsInf(float64(logits[best]), 0) {
		return 0, fmt.Errorf("llama: the largest logit is %g: the weights are damaged", logits[best])
	}
	if s.random == nil {
		return best, nil
	}
	s.pick(logits)
	sum, kept := float32(0), 0
	for i := range s.best { // from logits to weights
		s.best[i].logit = exp((s.best[i].logit - logits[best]) / s.temperature)
		sum += s.best[i].logit
	}
	mass := float32(0)
	for kept < len(s.best) && mass < s.mass*sum {
		mass += s.best[kept].logit
		kept++
	}
	at := s.random.Float32() * mass
	for _, c := range s.best[:kept] {
		if at -= c.logit; at < 0 {
			return c.token, nil
		}
	}
	return s.best[0].token, nil
}

// pick collects the likeliest tokens, in falling order.
func (s *Sampler) pick(logits []float32) {
	s.best = s.best[:0]
	for i, v := range logits {
		if len(s.best) == s.top {
			if v <= s.best[s.top-1].logit {
				continue
			}
			s.best = s.best[:s.top-1]
		}
		at, _ := slices.BinarySearchFunc(s.best, v, func(c candidate, v float32) int {
			if c.logit >= v {
				return -1
			}
			return 1
		})
		s.best = slices.Insert(s.best, at, candidate{Token(i), v})
	}
}

// An Answer is what a model wrote for one sequence.
type Answer struct {
	Text   string
	Tokens []Token // without the one that ended it
	Ended  bool    // by the model; otherwise it was cut at the most tokens, or cancelled

	held []byte // the beginning of a letter whose other bytes are yet to come
}

// A Run is a prompt and the answers to it, and how long they took.
type Run struct {
	Answers []Answer
	Prompt  int           // tokens read
	Prefill time.Duration // until the logits of the first token
	Decode  time.Duration
	Steps   int // passes over the weights in Decode
	Written int // tokens that these brought: the first of each answer comes out of the prompt
}

// PrefillRate returns the tokens read per second.
func (u Run) PrefillRate() float64 { return float64(u.Prompt) / u.Prefill.Seconds() }

// DecodeRate returns the tokens written per second, of all answers together, or 0
// where there was no step.
func (u Run) DecodeRate() float64 {
	if u.Steps == 0 {
		return 0
	}
	return float64(u.Written) / u.Decode.Seconds()
}

// Generate reads a prompt into the cache, once, and writes an answer behind it
// for each of the samplers, all in step: with several the weights are read once
// for a token of each. An answer has at most most tokens. It hands each piece of
// text to emit, with the number of its answer, as soon as it is whole letters.
// Cancelling ctx ends it between two layers: what was written so far comes with
// the context's error.
func (r *Runner) Generate(ctx context.Context, c *Cache, prompt []Token, samplers []*Sampler, most int, emit func(answer int, text string)) (Run, error) {
	u := Run{Prompt: len(prompt), Answers: make([]Answer, len(samplers))}
	switch {
	case r.model.Tokens == nil:
		return u, fmt.Errorf("llama: the model has random weights and no vocabulary: it cannot write")
	case most < 1:
		return u, fmt.Errorf("llama: most is %d: it must be 1 or more", most)
	case len(samplers) < 1 || len(samplers) > maxChunk:
		return u, fmt.Errorf("llama: %d samplers: there must be 1 to %d, one for each answer", len(samplers), maxChunk)
	case c.Cap()-c.Len()-len(prompt) < most-1:
		return u, fmt.Errorf("llama: the cache has room for %d tokens: %d of the prompt and %d more do not fit", c.Cap()-c.Len(), len(prompt), most-1)
	}
	start := time.Now()
	logits, err := r.Prefill(ctx, c, prompt)
	if u.Prefill = time.Since(start); err != nil {
		return u, err
	}
	w := writing{run: &u, vocabulary: r.model.Tokens, most: most, emit: emit}
	for i, s := range samplers {
		own := c
		if i > 0 {
			own = c.clone()
		}
		u.Answers[i].Tokens = make([]Token, 0, most)
		w.add(own, s, i)
		if err := w.take(len(w.caches)-1, logits); err != nil {
			return u, err
		}
	}
	w.drop()
	start = time.Now()
	for err == nil && len(w.caches) > 0 {
		if logits, err = r.Decode(ctx, w.caches, w.next); err != nil {
			break
		}
		u.Steps++
		u.Written += len(w.caches)
		for i := range w.caches {
			if err = w.take(i, logits[i*r.model.Vocab:][:r.model.Vocab]); err != nil {
				break
			}
		}
		w.drop()
	}
	u.Decode = time.Since(start)
	for i := range u.Answers {
		a := &u.Answers[i]
		if len(a.held) > 0 && emit != nil {
			emit(i, string(a.held))
		}
		a.Text = r.model.Tokens.Decode(a.Tokens)
	}
	return u, err
}

// writing is the answers that are being written: of each its cache, its sampler,
// its number and the token that it goes on with.
type writing struct {
	run        *Run
	vocabulary *Tokenizer
	most       int
	emit       func(int, string)

	caches   []*Cache
	samplers []*Sampler
	answers  []int // -1: complete
	next     []Token
}

func (w *writing) add(c *Cache, s *Sampler, answer int) {
	w.caches, w.samplers = append(w.caches, c), append(w.samplers, s)
	w.answers, w.next = append(w.answers, answer), append(w.next, 0)
}

// take chooses the next token of the i-th sequence and hands its text on.
func (w *writing) take(i int, logits []float32) error {
	token, err := w.samplers[i].Next(logits)
	if err != nil {
		return err
	}
	a := &w.run.Answers[w.answers[i]]
	if a.Ended = w.vocabulary.Ends(token); a.Ended {
		w.answers[i] = -1
		return nil
	}
	a.Tokens = append(a.Tokens, token)
	a.held = append(a.held, w.vocabulary.Piece(token)...)
	if n := whole(a.held); n > 0 {
		if w.emit != nil {
			w.emit(w.answers[i], string(a.held[:n]))
		}
		a.held = append(a.held[:0], a.held[n:]...)
	}
	if w.next[i] = token; len(a.Tokens) == w.most {
		w.answers[i] = -1
	}
	return nil
}

// drop takes out the sequences whose answers are complete.
func (w *writing) drop() {
	kept := 0
	for i, answer := range w.answers {
		if answer >= 0 {
			w.caches[kept], w.samplers[kept], w.answers[kept], w.next[kept] = w.caches[i], w.samplers[i], answer, w.next[i]
			kept++
		}
	}
	w.caches, w.samplers, w.answers, w.next = w.caches[:kept], w.samplers[:kept], w.answers[:kept], w.next[:kept]
}
