package llama

import (
	"math"

	"memorywall/pkg/matmul"
)

// Attention is computed in blocks of keys, as in FlashAttention: a block's
// scores, the weights e^(score - the largest so far) and the weighted values,
// with what was summed before scaled down whenever a larger score turns up. So
// no matrix of scores of the whole context is ever needed.

const (
	keyBlock   = 128 // keys that are worked on together, at most
	queryBlock = 32  // tokens of a prompt that share them
)

// A task is a stretch of rows of one sequence that looks back on a stretch of its
// keys; each KV head makes a part of its own of it.
type task struct {
	row, rows int // of the step
	from, to  int // keys
	part      int // where its result goes, in results of one row and KV head
}

// A part is a task for one KV head.
type part struct{ task, head int }

// scratch is what a thread needs for its part.
type scratch struct {
	q, scores []float32
	top, sum  []float32 // of each query
	acc       []float32 // weighted values, not yet divided by sum
}

// plan cuts this step's attention into tasks: for a prompt, blocks of tokens over
// all of their keys; for single tokens, their keys in blocks of their own, so
// that a long context is shared by all threads.
func (r *Runner) plan() {
	r.tasks, r.order = r.tasks[:0], r.order[:0]
	results := 0
	for i := 0; i < len(r.rows); {
		first, n := r.rows[i], 1
		for i+n < len(r.rows) && n < queryBlock && r.rows[i+n].cache == first.cache {
			n++
		}
		keys := r.rows[i+n-1].position + 1
		step := keys
		if n == 1 {
			// A divisor of keyBlock, so small that there is enough for all threads.
			for step = keyBlock; step > matmul.QuantBlock && 2*step > keys; step /= 2 {
			}
		}
		before := len(r.tasks)
		for from := 0; from < keys; from += step {
			to := min(from+step, keys)
			r.tasks = append(r.tasks, task{i, n, from, to, results})
			results += n
		}
		for at := range n {
			w := &r.rows[i+at]
			w.first, w.last, w.at = before, len(r.tasks)-1, at
		}
		for head := range r.model.KVHeads { // a head's keys lie one behind the other
			for t := before; t < len(r.tasks); t++ {
				r.order = append(r.order, part{t, head})
			}
		}
		i += n
	}
	r.results = grow(r.results, results*r.model.KVHeads*r.resultSize())
}

// chunks is how many pieces of neighbouring parts there are: a few for each thread.
func (r *Runner) chunks() int { return min(len(r.order), 8*r.team.Threads()) }

// attendChunk computes the parts of one piece.
func (r *Runner) attendChunk(chunk, thread int) {
	n := r.chunks()
	for _, p := range r.order[chunk*len(r.order)/n : (chunk+1)*len(r.order)/n] {
		r.attendPart(&r.tasks[p.task], p.head, &r.scratch[thread])
	}
}

// resultSize is the floats of one result: for each query of a group the largest
// score, the sum of weights, and the weighted values.
func (r *Runner) resultSize() int {
	return r.model.Heads / r.model.KVHeads * (2 + r.model.HeadDim)
}

// attendPart computes one task for one KV head.
func (r *Runner) attendPart(t *task, kv int, s *scratch) {
	m := r.model
	d, group := m.HeadDim, m.Heads/m.KVHeads
	nq := t.rows * group // queries: of each row the heads that share this KV head
	s.reserve(nq, d)
	r.gather(s.q, t, kv)
	for i := range nq {
		s.top[i], s.sum[i] = float32(math.Inf(-1)), 0
	}
	clear(s.acc[:nq*d])
	cache := r.rows[t.row].cache
	for from := t.from; from < t.to; from += keyBlock {
		to := min(from+keyBlock, t.to)
		keys, values := cache.block(r.layer, kv, from, to)
		n, columns := to-from, keys.Cols()
		if err := keys.MulT(s.scores[:nq*columns], s.q[:nq*d], nq); err != nil {
			panic(err) // the sizes are ours
		}
		for i := range nq {
			seen := min(max(r.rows[t.row+i/group].position+1-from, 0), n)
			copy(s.scores[i*n:][:seen], s.scores[i*columns:])
			s.weigh(i, s.scores[i*n:][:n], seen, d)
		}
		if err := values.MulT(s.acc[:nq*d], s.scores[:nq*n], nq, r.adding...); err != nil {
			panic(err)
		}
	}
	size := r.resultSize()
	for i := range nq {
		out := r.results[((t.part+i/group)*m.KVHeads+kv)*size:][i%group*(2+d):][:2+d]
		out[0], out[1] = s.top[i], s.sum[i]
		copy(out[2:], s.acc[i*d:][:d])
	}
}

// gather copies the queries of a task for one KV head.
func (r *Runner) gather(dst []float32, t *task, kv int) {
	m := r.model
	width := m.Heads / m.KVHeads * m.HeadDim
	for i := range t.rows {
		copy(dst[i*width:][:width], r.q[(t.row+i)*m.Heads*m.HeadDim+kv*width:])
	}
}

// weigh turns the scores of query i into weights: those that it may see into
// e^(score - top), the others into zero. Sums from before are scaled to the new
// top.
func (s *scratch) weigh(i int, x []float32, seen, d int) {
	clear(x[seen:])
	if seen == 0 {
		return
	}
	top := max(s.top[i], largest(x[:seen]))
	if top > s.top[i] {
		if s.sum[i] != 0 {
			down := exp(s.top[i] - top)
			s.sum[i] *= down
			for j, v := range s.acc[i*d:][:d] {
				s.acc[i*d+j] = v * down
			}
		}
		s.top[i] = top
	}
	s.sum[i] += expSum(x[:seen], top)
}

// combineRow puts the results of a row together: for each head a weighted mean of
// its values.
func (r *Runner) combineRow(i int) {
	m, w := r.model, &r.rows[i]
	d, group, size := m.HeadDim, m.Heads/m.KVHeads, r.resultSize()
	for head := range m.Heads {
		result := func(task int) []float32 {
			at := (r.tasks[task].part+w.at)*m.KVHeads + head/group
			return r.results[at*size:][head%group*(2+d):][:2+d]
		}
		top := float32(math.Inf(-1))
		for t := w.first; t <= w.last; t++ {
			top = max(top, result(t)[0])
		}
		sum := float32(0)
		for t := w.first; t <= w.last; t++ {
			sum += exp(result(t)[0]-top) * result(t)[1]
		}
		out := r.att[(i*m.Heads+head)*d:][:d]
		clear(out)
		for t := w.first; t <= w.last; t++ {
			addScaled(out, result(t)[2:], exp(result(t)[0]-top)/sum)
		}
	}
}

func (s *scratch) reserve(nq, d int) {
	s.q, s.acc = grow(s.q, nq*d), grow(s.acc, nq*d)
	s.scores = grow(s.scores, nq*keyBlock)
	s.top, s.sum = grow(s.top, nq), grow(s.sum, nq)
}
