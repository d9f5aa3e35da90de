package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/matmul"
)

// A Choice is a number of [matmul.Tuning] that was tried in some values on this
// machine, the default first. Nothing that multiplies reads it: who does gives
// [Machine.TuningFor] to [matmul.Tuned].
type Choice struct {
	Name  string  `json:"name" min:"1"` // instruction set and number: "avx512.streams"
	Value int     `json:"value"`
	Tried []Trial `json:"tried"` // none where the value was asked for
}

// Trial is one of the values of a [Choice], with the seconds of its samples; those
// of one index were taken in turn.
type Trial struct {
	Value   int       `json:"value"`
	Samples []float64 `json:"samples_s" min:"1"`
}

// String tells the choice and how fast the other values are beside it:
// "avx512.streams: 8 (16: 0.8 times as fast, 32: 0.7)".
func (c Choice) String() string {
	others, fast := []string(nil), " times as fast"
	at := slices.IndexFunc(c.Tried, func(t Trial) bool { return t.Value == c.Value })
	for i, t := range c.Tried {
		if i != at {
			others = append(others, fmt.Sprintf("%d: %.2f%s", t.Value, num.Median(gains(c.Tried[at], t)), fast))
			fast = ""
		}
	}
	if len(others) == 0 {
		others = []string{"asked for"}
	}
	return fmt.Sprintf("%s: %d (%s)", c.Name, c.Value, strings.Join(others, ", "))
}

// gains returns how many times as fast t is as base, turn by turn.
func gains(base, t Trial) []float64 {
	all := make([]float64, min(len(base.Samples), len(t.Samples)))
	for i := range all {
		all[i] = base.Samples[i] / t.Samples[i]
	}
	return all
}

// TuningFor returns what was chosen on a machine for an instruction set of
// [matmul.ISAs], and the default where nothing was. A name that this program does not
// know changes nothing.
func (m Machine) TuningFor(isa string) matmul.Tuning {
	t := matmul.DefaultTuning()
	if m.Measured == nil {
		return t
	}
	for _, c := range m.Measured.Tuning {
		if name, ok := strings.CutPrefix(c.Name, isa+"."); ok {
			if with, err := t.With(name, c.Value); err == nil {
				t = with
			}
		}
	}
	return t
}

// A knob is a number of [matmul.Tuning], the values to try beside the default, and
// the products that show it.
type knob struct {
	name     string
	values   []int
	products []product
}

// A product is that of an A of so many rows and a B from memory, or with square of two
// matrices with that side from the caches.
type product struct {
	rows   int
	square bool
}

func few(rows ...int) (all []product) {
	for _, m := range rows {
		all = append(all, product{rows: m})
	}
	return all
}

var knobs = []knob{
	{"rows", []int{1, 2, 4}, few(2, 4)},
	{"depth", []int{4, 8}, few(1)},
	{"streams", []int{8, 16, 32}, few(8)},
	{"ahead", []int{2, 4, 8}, few(8)},
	{"reuse", []int{16, 32, 64}, few(mostRows)},
	{"serial", []int{25, 50, 100}, []product{{128, true}, {160, true}, {192, true}}},
}

const (
	mostRows    = 32
	squareCalls = 8 // of one sample: a call takes some 10 µs
)

const (
	tuneTime  = 400 * time.Millisecond // for all knobs
	tuneTurns = 25                     // of each value, if there is time
	// Another value than the default is chosen if it is so many times as fast in the
	// middle one of at least so many turns, and faster in three quarters of them.
	tuneGain = 1.05
	minTurns = 5

	// The products that are tried have a B of so many rows and columns: long rows, a
	// power of two apart, as weights of a model have. With a quarter of the depth what
	// is read twice may come from a cache, and other values look better.
	tuneDepth, tuneColumns = 4096, 4096
)

// tune chooses the values of the knobs for an instruction set, one after the other.
// Each turn takes a sample of every value, while more says so; cost returns the
// seconds of a product.
func tune(isa string, knobs []knob, more func(knob, turn int) bool, cost func(matmul.Tuning, product) (float64, error)) ([]Choice, error) {
	var all []Choice
	tuning := matmul.DefaultTuning()
	for i, k := range knobs {
		usual, _ := tuning.Get(k.name)
		c := Choice{Name: isa + "." + k.name, Value: usual, Tried: []Trial{{Value: usual}}}
		for _, v := range k.values {
			if v != usual {
				c.Tried = append(c.Tried, Trial{Value: v})
			}
		}
		for turn := 0; more(i, turn); turn++ {
			for j := range c.Tried {
				t := &c.Tried[(turn+j)%len(c.Tried)] // nobody is always the first
				with, err := tuning.With(k.name, t.Value)
				if err != nil {
					return nil, err
				}
				sum := 0.0
				for _, p := range k.products {
					s, err := cost(with, p)
					if err != nil {
						return nil, err
					}
					sum += s
				}
				t.Samples = append(t.Samples, sum)
			}
		}
		if len(c.Tried[0].Samples) == 0 {
			continue // there was no time
		}
		best := tuneGain
		for _, t := range c.Tried[1:] {
			g := gains(c.Tried[0], t)
			slices.Sort(g)
			if middle := num.Median(g); len(g) >= minTurns && middle >= best && g[len(g)/4] > 1 {
				c.Value, best = t.Value, middle
			}
		}
		tuning, _ = tuning.With(k.name, c.Value)
		all = append(all, c)
	}
	return all, nil
}

// tune chooses for the best instruction set on all threads, or takes what was asked for. Where there is no such B, or no kernel that
// memory would hold back, nothing is chosen.
func (m *meter) tune() ([]Choice, error) {
	isa := matmul.ISAs()[0]
	if m.o.Tuning != (matmul.Tuning{}) {
		var all []Choice
		for _, k := range knobs {
			v, _ := m.o.Tuning.Get(k.name)
			all = append(all, Choice{Name: isa + "." + k.name, Value: v})
		}
		return all, nil
	}
	const size = tuneDepth * tuneColumns
	b := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(m.buffer))), len(m.buffer)/4)
	if m.inCache != "" || len(b) < 2*size || isa == "go" {
		return nil, nil
	}
	a, c := bench.SmallInts(make([]float32, mostRows*tuneDepth)), make([]float32, mostRows*tuneColumns)
	functions, at := map[matmul.Tuning]matmul.Func[float32]{}, 0
	cost := func(t matmul.Tuning, p product) (float64, error) {
		f, warm := functions[t]
		if !warm {
			var err error
			if f, err = matmul.New[float32](matmul.Tuned(t), matmul.Threads(m.o.Threads)); err != nil {
				return 0, err
			}
			functions[t] = f
			const short = 64 // its memory is all that the others need
			if err := f(mostRows, tuneColumns, short, a, tuneDepth, b, tuneColumns, c, tuneColumns); err != nil {
				return 0, err
			}
		}
		if n := p.rows; p.square {
			begin := time.Now()
			for range squareCalls {
				if err := f(n, n, n, a, n, b, n, c, n); err != nil {
					return 0, err
				}
			}
			return time.Since(begin).Seconds(), nil
		}
		at = (at + size) % (len(b) / size * size)
		begin := time.Now()
		err := f(p.rows, tuneColumns, tuneDepth, a, tuneDepth, b[at:], tuneColumns, c, tuneColumns)
		return time.Since(begin).Seconds(), err
	}
	begin, limit := time.Now(), min(tuneTime, m.o.Time/10)
	return tune(isa, knobs, func(knob, turn int) bool {
		return turn < tuneTurns && m.ctx.Err() == nil && time.Since(begin) < limit*time.Duration(knob+1)/time.Duration(len(knobs))
	}, cost)
}
