package matmul

import (
	"fmt"
	"strconv"
	"strings"
)

// Tuning is what no fact of the host decides: how a product with few rows of A, at
// most 64, walks through a B that is too large for the caches, and when a second
// thread is worth starting. It changes how fast a product is, and results by the
// rounding of sums in another order.
type Tuning struct {
	// Rows is how many rows A may have for B to be read along whole rows, the sums
	// being kept in C, and Depth how many of B's rows at a time: a power of two up
	// to 8.
	Rows  int `json:"rows"`
	Depth int `json:"depth"`

	// Streams is how many rows of B to walk along at a time where at most two tiles
	// of C are as high as A: few enough for the hardware to follow each. Where one that
	// is not full is enough, half as many.
	Streams int `json:"streams"`

	// Ahead is how many cache lines to ask for along each of them before they are
	// needed.
	Ahead int `json:"ahead"`

	// Reuse is how many rows of B to take at a time when more tiles of C use them
	// again: more, since each visit to a tile of C costs a read and a write of it.
	// Rows spaced by a large power of two fall into few sets of a cache, and still
	// more of them would push each other out.
	Reuse int `json:"reuse"`

	// Serial is how many microseconds a product takes one thread at least, at 3 GHz and
	// without a pause, for others to be started. With a team 300,000 FLOPs are enough.
	Serial int `json:"serial"`
}

// DefaultTuning returns what a product uses that is not told otherwise.
func DefaultTuning() Tuning {
	return Tuning{Rows: 4, Depth: 8, Streams: 16, Ahead: 4, Reuse: 32, Serial: 50}
}

// tuningFields are the numbers of a Tuning by their names in JSON, with what they may be.
var tuningFields = []struct {
	name        string
	of          func(*Tuning) *int
	least, most int
}{
	{"rows", func(t *Tuning) *int { return &t.Rows }, 0, 64},
	{"depth", func(t *Tuning) *int { return &t.Depth }, 1, 8},
	{"streams", func(t *Tuning) *int { return &t.Streams }, 1, 256},
	{"ahead", func(t *Tuning) *int { return &t.Ahead }, 1, 256},
	{"reuse", func(t *Tuning) *int { return &t.Reuse }, 1, 256},
	{"serial", func(t *Tuning) *int { return &t.Serial }, 0, 10_000},
}

// Validate returns an error that names the number which is out of range.
func (t Tuning) Validate() error {
	for _, f := range tuningFields {
		if v := *f.of(&t); v < f.least || v > f.most {
			return fmt.Errorf("matmul: tuning %s is %d: it must be from %d to %d", f.name, v, f.least, f.most)
		}
	}
	if t.Depth&(t.Depth-1) != 0 {
		return fmt.Errorf("matmul: tuning depth is %d: it must be 1, 2, 4 or 8", t.Depth)
	}
	return nil
}

// Get returns the number that has a name in JSON, and whether there is one.
func (t Tuning) Get(name string) (value int, known bool) {
	for _, f := range tuningFields {
		if f.name == name {
			return *f.of(&t), true
		}
	}
	return 0, false
}

// With returns t with another value of the number that has a name in JSON. It
// returns an error for an unknown name and for a value out of range.
func (t Tuning) With(name string, value int) (Tuning, error) {
	for _, f := range tuningFields {
		if f.name == name {
			*f.of(&t) = value
			return t, t.Validate()
		}
	}
	return t, fmt.Errorf("matmul: tuning has no %q: it has %s", name, t)
}

// String returns all numbers as [Tuning.Set] takes them: "rows=2,depth=8,…".
func (t Tuning) String() string {
	var all []string
	for _, f := range tuningFields {
		all = append(all, fmt.Sprintf("%s=%d", f.name, *f.of(&t)))
	}
	return strings.Join(all, ",")
}

// Set changes the numbers that a text such as "streams=8,ahead=4" names, as a
// flag does. It returns the errors of [Tuning.With].
func (t *Tuning) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		v, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("matmul: tuning is %q: it must be of the form %s", part, *t)
		}
		if *t, err = t.With(name, v); err != nil {
			return err
		}
	}
	return nil
}

// Tuned runs products with few rows as t says, not as [DefaultTuning] does.
func Tuned(t Tuning) Option { return Option{tuning: t} }
