package matmul

import "fmt"

// Tuning is what no fact of the host decides: how a product with few rows of A, at
// most 64, walks through a B that is too large for the caches. It changes how fast
// the product is, and results by the rounding of sums in another order.
type Tuning struct {
	// Rows is how many rows A may have for B to be read along whole rows, the sums
	// being kept in C, and Depth how many of B's rows at a time: a power of two up
	// to 8.
	Rows  int `json:"rows"`
	Depth int `json:"depth"`

	// Streams is how many rows of B to walk along at a time where at most two tiles
	// of C are as high as A: few enough for the hardware to follow each.
	Streams int `json:"streams"`

	// Ahead is how many cache lines to ask for along each of them before they are
	// needed.
	Ahead int `json:"ahead"`

	// Reuse is how many rows of B to take at a time when more tiles of C use them
	// again: more, since each visit to a tile of C costs a read and a write of it.
	// Rows spaced by a large power of two fall into few sets of a cache, and still
	// more of them would push each other out.
	Reuse int `json:"reuse"`
}

// DefaultTuning returns what a product uses that is not told otherwise.
func DefaultTuning() Tuning { return Tuning{Rows: 2, Depth: 8, Streams: 16, Ahead: 4, Reuse: 32} }

// Validate refuses numbers outside 1 to 256.
func (t Tuning) Validate() error {
	for _, f := range []struct {
		name string
		v    int
	}{{"Streams", t.Streams}, {"Ahead", t.Ahead}, {"Reuse", t.Reuse}} {
		if f.v < 1 || f.v > maxTuning {
			return fmt.Errorf("matmul: tuning %s is %d: it must be from 1 to %d", f.name, f.v, maxTuning)
		}
	}
	if t.Rows < 0 || t.Rows > 64 {
		return fmt.Errorf("matmul: tuning Rows is %d: it must be from 0 to 64", t.Rows)
	}
	if t.Depth < 1 || t.Depth > 8 || t.Depth&(t.Depth-1) != 0 {
		return fmt.Errorf("matmul: tuning Depth is %d: it must be 1, 2, 4 or 8", t.Depth)
	}
	return nil
}

const maxTuning = 256

// Tuned runs products with few rows as t says, not as [DefaultTuning] does.
func Tuned(t Tuning) Option { return Option{tuning: t} }
