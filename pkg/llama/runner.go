package llama

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/matmul"
)

// A Runner computes with a model: it has the threads and the buffers. It serves
// one call at a time, and allocates nothing for a token once it has served a
// batch of the same size. Close it when it is no longer needed.
type Runner struct {
	model  *Model
	team   *matmul.Team
	chunk  int
	mul    []matmul.Option // for the products of this step: one of the next two
	exact  []matmul.Option // in float32, for prompts
	quick  []matmul.Option // for single tokens
	adding []matmul.Option // that add to what is there

	rows  []row  // of this step
	tasks []task // attention's in this step
	order []part // in which they are worked on

	x, h, q, k, v, att, gate, up []float32 // one row for each token
	cos, sin                     []float32
	out                          []float32 // rows that go into the output layer
	logits                       []float32
	results                      []float32 // of attention's parts, before they are put together
	scratch                      []scratch // of each thread

	shares *Shares // where the time goes

	// What the threads work on, and their parts of it: made once, since making a
	// function allocates.
	layer                                    int
	norm                                     []float32
	stage                                    func(row int)
	attend, someRows                         func(part, thread int)
	normalise, place, combine, activate, add func(row int)
}

// A row is a token in this step: which cache it belongs to, and where; and which
// of attention's tasks it is in, as which of their rows.
type row struct {
	cache       *Cache
	position    int
	first, last int
	at          int
}

// byRows calls f for each row, on all threads where there are more than a few.
func (r *Runner) byRows(f func(row int)) {
	r.stage = f
	r.team.Do(num.CeilDiv(len(r.rows), rowsTogether), r.someRows)
}

// rowsTogether is how many rows a thread takes at a time.
const rowsTogether = 4

func (r *Runner) rowsOf(part, _ int) {
	for i := part * rowsTogether; i < min((part+1)*rowsTogether, len(r.rows)); i++ {
		r.stage(i)
	}
}

// Options choose how a [Runner] computes.
type Options struct {
	Threads int // 0 is GOMAXPROCS
	Chunk   int // tokens of a prompt that go through the layers together; 0 is [DefaultChunk]
	// Float32 keeps activations in float32 in Decode too. Otherwise kernels round
	// them to 8 bits there, where it is quicker ([matmul.Int8Activations]). A
	// prompt is read in float32 in either case: a rounded one would be read twice as
	// fast, but it moves the first logits by up to 1.2, and the lesson's model then
	// answers the question for the capital of France with other words.
	Float32 bool
}

// DefaultChunk is how many tokens of a prompt go through the layers together.
const DefaultChunk = 512

const maxChunk = 1 << 14

// NewRunner returns a runner. It returns an error for options below 0, and for a
// chunk of more than 16384 tokens.
func (m *Model) NewRunner(o Options) (*Runner, error) {
	if o.Threads < 0 || o.Threads > matmul.MaxThreads {
		return nil, fmt.Errorf("llama: threads is %d: it must be from 1 to %d, or 0 for all cores", o.Threads, matmul.MaxThreads)
	}
	if o.Chunk < 0 || o.Chunk > maxChunk {
		return nil, fmt.Errorf("llama: chunk is %d: it must be from 1 to %d, or 0 for 512", o.Chunk, maxChunk)
	}
	r := &Runner{model: m, team: matmul.NewTeam(o.Threads), chunk: cmp.Or(o.Chunk, DefaultChunk), shares: &Shares{}}
	r.exact = []matmul.Option{matmul.OnTeam(r.team)}
	r.quick = r.exact
	if !o.Float32 {
		r.quick = []matmul.Option{matmul.OnTeam(r.team), matmul.Int8Activations()}
	}
	r.adding = []matmul.Option{matmul.Beta(1)}
	r.scratch = make([]scratch, r.team.Threads())
	r.attend, r.someRows = r.attendChunk, r.rowsOf
	r.normalise, r.place, r.combine, r.activate, r.add = r.normaliseRow, r.placeRow, r.combineRow, r.activateRow, r.addRow
	return r, nil
}

// Shares is where the time of steps went.
type Shares struct {
	Products  time.Duration // of activations with the weights of the layers
	Output    time.Duration // the product with the output layer
	Attention time.Duration // of queries with keys and of weights with values
	All       time.Duration // of the steps as a whole
	Steps     int           // a prompt is one
}

// String says it in parts of the whole.
func (s Shares) String() string {
	part := func(d time.Duration) float64 { return 100 * d.Seconds() / s.All.Seconds() }
	return fmt.Sprintf("products with the layers' weights %.0f%%, the output layer %.0f%%, attention %.0f%%, all else %.0f%%",
		part(s.Products), part(s.Output), part(s.Attention), part(s.All-s.Products-s.Output-s.Attention))
}

// Watch adds the time of each step's parts to s from now on; nil ends that.
func (r *Runner) Watch(s *Shares) { r.shares = cmp.Or(s, &Shares{}) }

// since adds the time since start to a part.
func since(start time.Time, part *time.Duration) { *part += time.Since(start) }

// whole adds the time of a call, and counts its step.
func (r *Runner) whole(start time.Time) {
	since(start, &r.shares.All)
	r.shares.Steps++
}

// Close ends the runner's threads.
func (r *Runner) Close() { r.team.Close() }

// Prefill reads the tokens of a prompt, in chunks, behind what the cache holds
// already, and returns the logits of the token after the last: one number for
// each token of the vocabulary, valid until the next call. Where the context
// ends or the cache has too little room it returns an error, and the cache keeps
// the chunks that were read.
func (r *Runner) Prefill(ctx context.Context, c *Cache, tokens []Token) ([]float32, error) {
	if err := r.fits(c, len(tokens)); err != nil {
		return nil, err
	}
	defer r.whole(time.Now())
	for len(tokens) > 0 {
		n := min(len(tokens), r.chunk)
		if err := r.read(ctx, c, tokens[:n]); err != nil {
			return nil, err
		}
		tokens = tokens[n:]
	}
	return r.emit(len(r.rows)-1, len(r.rows))
}

// read takes one chunk through the layers.
func (r *Runner) read(ctx context.Context, c *Cache, tokens []Token) error {
	r.rows, r.mul = r.rows[:0], r.exact
	for i := range tokens {
		r.rows = append(r.rows, row{cache: c, position: c.length + i})
	}
	return r.step(ctx, tokens)
}

// Decode writes one token behind each of the sequences, all in one pass over the
// weights, and returns the logits of the tokens after them: the vocabulary's for
// the first sequence, then for the second, and so on. They are valid until the
// next call. A cache must not occur twice.
func (r *Runner) Decode(ctx context.Context, caches []*Cache, tokens []Token) ([]float32, error) {
	if len(caches) != len(tokens) || len(caches) == 0 || len(caches) > maxChunk {
		return nil, fmt.Errorf("llama: %d sequences and %d tokens: there must be one token for each, and 1 to %d of them", len(caches), len(tokens), maxChunk)
	}
	r.rows, r.mul = r.rows[:0], r.quick
	defer r.whole(time.Now())
	for i, c := range caches {
		if err := r.fits(c, 1); err != nil {
			return nil, err
		}
		if slices.Contains(caches[:i], c) {
			return nil, fmt.Errorf("llama: sequences %d and %d share a cache", slices.Index(caches, c), i)
		}
		r.rows = append(r.rows, row{cache: c, position: c.length})
	}
	if err := r.step(ctx, tokens); err != nil {
		return nil, err
	}
	return r.emit(0, len(r.rows))
}

// Logits reads tokens as Prefill does, and hands to each the logits of the token
// after every one of them. They are valid during the call.
func (r *Runner) Logits(ctx context.Context, c *Cache, tokens []Token, each func(i int, logits []float32)) error {
	if err := r.fits(c, len(tokens)); err != nil {
		return err
	}
	const most = 32 // rows of logits at a time
	for done := 0; done < len(tokens); {
		n := min(len(tokens)-done, r.chunk)
		if err := r.read(ctx, c, tokens[done:done+n]); err != nil {
			return err
		}
		for i := 0; i < n; i += most {
			k := min(most, n-i)
			logits, err := r.emit(i, i+k)
			if err != nil {
				return err
			}
			for j := range k {
				each(done+i+j, logits[j*r.model.Vocab:][:r.model.Vocab])
			}
		}
		done += n
	}
	return nil
}

// fits checks that the cache is one of this model and has room for n tokens.
func (r *Runner) fits(c *Cache, n int) error {
	switch {
	case c == nil || c.config != r.model.Config:
		return fmt.Errorf("llama: the cache was made for another model")
	case n < 1:
		return fmt.Errorf("llama: no tokens: there must be at least one")
	case c.length+n > c.capacity:
		return fmt.Errorf("llama: the cache holds %d tokens and has room for %d: %d more do not fit", c.length, c.capacity, n)
	}
	return nil
}

// step takes one token for each row through all layers. At the end the caches
// hold the tokens, and r.x the last layer's result.
func (r *Runner) step(ctx context.Context, tokens []Token) error {
	m := r.model
	if m.file != nil && m.file.intact != nil {
		if err := m.file.intact(); err != nil {
			return err
		}
	}
	return m.guard(func() error { return r.forward(ctx, tokens) })
}

// forward is the model: what the lesson's formulas count, in their order.
func (r *Runner) forward(ctx context.Context, tokens []Token) error {
	m, n := r.model, len(tokens)
	r.reserve(n)
	for i, t := range tokens {
		if t < 0 || int(t) >= m.Vocab {
			return fmt.Errorf("llama: token is %d: the vocabulary has 0 to %d", t, m.Vocab-1)
		}
		m.embed.Row(r.x[i*m.Width:][:m.Width], int(t))
		half := m.HeadDim / 2
		rotation(r.cos[i*half:][:half], r.sin[i*half:][:half], r.rows[i].position, m.ropes)
	}
	r.plan()
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.layer = i
		if err := r.attention(&m.layers[i], n); err != nil {
			return err
		}
		if err := r.feedForward(&m.layers[i], n); err != nil {
			return err
		}
	}
	for _, w := range r.rows {
		w.cache.length = max(w.cache.length, w.position+1)
	}
	return nil
}

// attention lets each token look back: x += O·attend(Q·h, K·h, V·h), h = norm(x).
func (r *Runner) attention(l *layer, n int) error {
	r.norm = l.attnNorm
	r.byRows(r.normalise)
	if err := r.multiply(r.h, n, matmul.Product{Y: r.q, W: l.q}, matmul.Product{Y: r.k, W: l.k}, matmul.Product{Y: r.v, W: l.v}); err != nil {
		return err
	}
	r.byRows(r.place)
	start := time.Now()
	r.team.Do(r.chunks(), r.attend)
	r.byRows(r.combine)
	since(start, &r.shares.Attention)
	if err := r.multiply(r.att, n, matmul.Product{Y: r.h, W: l.o}); err != nil {
		return err
	}
	r.byRows(r.add)
	return nil
}

// feedForward works on each token alone: x += Down·(silu(Gate·h) ⊙ Up·h), h = norm(x).
func (r *Runner) feedForward(l *layer, n int) error {
	r.norm = l.ffnNorm
	r.byRows(r.normalise)
	if err := r.multiply(r.h, n, matmul.Product{Y: r.gate, W: l.gate}, matmul.Product{Y: r.up, W: l.up}); err != nil {
		return err
	}
	r.byRows(r.activate)
	if err := r.multiply(r.gate, n, matmul.Product{Y: r.h, W: l.down}); err != nil {
		return err
	}
	r.byRows(r.add)
	return nil
}

func (r *Runner) normaliseRow(i int) {
	d := r.model.Width
	rmsNorm(r.h[i*d:][:d], r.x[i*d:][:d], r.norm, r.model.Epsilon)
}

// placeRow turns a token's queries and keys to its position, scales the queries by
// 1/√d, and keeps the keys and values.
func (r *Runner) placeRow(i int) {
	m, w, l := r.model, &r.rows[i], &r.model.layers[r.layer]
	qWidth, kvWidth, half := m.Heads*m.HeadDim, m.kvWidth(), m.HeadDim/2
	q, k, v := r.q[i*qWidth:][:qWidth], r.k[i*kvWidth:][:kvWidth], r.v[i*kvWidth:][:kvWidth]
	if m.QKVBias {
		add(q, l.qBias)
		add(k, l.kBias)
		add(v, l.vBias)
	}
	cos, sin := r.cos[i*half:][:half], r.sin[i*half:][:half]
	r.turn(q, l.qNorm, cos, sin)
	r.turn(k, l.kNorm, cos, sin)
	scale := inverseRoot(m.HeadDim)
	for j := range q {
		q[j] *= scale
	}
	w.cache.put(r.layer, w.position, k, v)
}

// turn normalises the heads of a row, where the model does so, and rotates them.
func (r *Runner) turn(row, norm, cos, sin []float32) {
	for d := r.model.HeadDim; len(row) > 0; row = row[d:] {
		if norm != nil {
			rmsNorm(row[:d], row[:d], norm, r.model.Epsilon)
		}
		rotate(row[:d], cos, sin, r.model.Interleaved)
	}
}

func (r *Runner) activateRow(i int) {
	d := r.model.FFN
	swiGLU(r.gate[i*d:][:d], r.up[i*d:][:d])
}

func (r *Runner) addRow(i int) {
	d := r.model.Width
	add(r.x[i*d:][:d], r.h[i*d:][:d])
}

// multiply sets y = x·wᵀ for n rows and each product.
func (r *Runner) multiply(x []float32, n int, ps ...matmul.Product) error {
	defer since(time.Now(), &r.shares.Products)
	return matmul.MulAll(x, n, ps, r.mul...)
}

// emit computes the logits of the rows from..to of the last step.
func (r *Runner) emit(from, to int) ([]float32, error) {
	m, n := r.model, to-from
	r.out = grow(r.out, n*m.Width)
	r.logits = grow(r.logits, n*m.Vocab)
	for i := range n {
		rmsNorm(r.out[i*m.Width:][:m.Width], r.x[(from+i)*m.Width:][:m.Width], m.norm, m.Epsilon)
	}
	logits := r.logits[:n*m.Vocab]
	defer since(time.Now(), &r.shares.Output)
	return logits, m.guard(func() error { return m.output.Mul(logits, r.out[:n*m.Width], n, r.mul...) })
}

// reserve makes room for n rows.
func (r *Runner) reserve(n int) {
	m := r.model
	r.x, r.h = grow(r.x, n*m.Width), grow(r.h, n*m.Width)
	r.q, r.att = grow(r.q, n*m.Heads*m.HeadDim), grow(r.att, n*m.Heads*m.HeadDim)
	r.k, r.v = grow(r.k, n*m.kvWidth()), grow(r.v, n*m.kvWidth())
	r.gate, r.up = grow(r.gate, n*m.FFN), grow(r.up, n*m.FFN)
	r.cos, r.sin = grow(r.cos, n*m.HeadDim/2), grow(r.sin, n*m.HeadDim/2)
}

// grow returns x with room for n elements.
func grow[T any](x []T, n int) []T {
	if n <= cap(x) {
		return x[:n]
	}
	return make([]T, n)
}

// inverseRoot is 1/√d, by which scores are scaled.
func inverseRoot(d int) float32 { return float32(1 / math.Sqrt(float64(d))) }
