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

// An Answer is what a model wrote, and how long it took.
type Answer struct {
	Text    string
	Tokens  []Token // without the one that ended it
	Ended   bool    // the model ended it; otherwise it was cut at the most tokens, or cancelled
	Prompt  int     // tokens read
	Prefill time.Duration
	Decode  time.Duration
	Steps   int // decode steps in that time: one less than the tokens chosen
}

// PrefillRate returns the tokens read per second.
func (a Answer) PrefillRate() float64 { return float64(a.Prompt) / a.Prefill.Seconds() }

// DecodeRate returns the tokens written per second, or 0 where there was no
// step: the first token comes out of reading the prompt.
func (a Answer) DecodeRate() float64 {
	if a.Steps == 0 {
		return 0
	}
	return float64(a.Steps) / a.Decode.Seconds()
}

// Generate reads a prompt into the cache and writes an answer of at most most
// tokens behind it. It hands each piece of text to emit as soon as it is whole
// letters. Cancelling ctx ends it between two tokens: the answer so far comes
// with the context's error.
func (r *Runner) Generate(ctx context.Context, c *Cache, prompt []Token, s *Sampler, most int, emit func(text string)) (Answer, error) {
	a := Answer{Prompt: len(prompt)}
	tok := r.model.Tokens
	if tok == nil {
		return a, fmt.Errorf("llama: the model has random weights and no vocabulary: it cannot write")
	}
	if most < 1 {
		return a, fmt.Errorf("llama: most is %d: it must be 1 or more", most)
	}
	if room := c.Cap() - c.Len() - len(prompt); room < most-1 {
		return a, fmt.Errorf("llama: the cache has room for %d tokens: %d of the prompt and %d more do not fit", c.Cap()-c.Len(), len(prompt), most-1)
	}
	start := time.Now()
	logits, err := r.Prefill(ctx, c, prompt)
	a.Prefill = time.Since(start)
	a.Tokens = make([]Token, 0, most)
	held := make([]byte, 0, 16)
	start = time.Now()
	for err == nil {
		var next Token
		if next, err = s.Next(logits); err != nil {
			break
		}
		if tok.Ends(next) {
			a.Ended = true
			break
		}
		a.Tokens = append(a.Tokens, next)
		held = append(held, tok.Piece(next)...)
		if n := whole(string(held)); n > 0 && emit != nil {
			emit(string(held[:n]))
			held = append(held[:0], held[n:]...)
		}
		if len(a.Tokens) == most {
			break
		}
		if logits, err = r.Decode(ctx, []*Cache{c}, []Token{next}); err == nil {
			a.Steps++
		}
	}
	a.Decode = time.Since(start)
	if len(held) > 0 && emit != nil {
		emit(string(held))
	}
	a.Text = tok.Decode(a.Tokens)
	return a, err
}
