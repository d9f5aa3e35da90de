package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/matmul"
	"memorywall/pkg/probe"
)

// planted returns a cost model: a second, times what the values of some numbers cost,
// and some noise that is another one in each call.
func planted(noise float64, costs map[string]map[int]float64) func(matmul.Tuning, product) (float64, error) {
	calls := 0
	return func(t matmul.Tuning, _ product) (float64, error) {
		calls++
		s := 1 + noise*math.Abs(math.Sin(float64(calls*calls)))
		for name, of := range costs {
			v, known := t.Get(name)
			if !known {
				return 0, fmt.Errorf("no %q", name)
			}
			if c, ok := of[v]; ok {
				s *= c
			}
		}
		return s, nil
	}
}

func turns(n int) func(int, int) bool { return func(_, turn int) bool { return turn < n } }

// The choices are those of the machine whose costs are planted, and the defaults where
// it makes no difference, noise hides it, or there was no time to see it.
func TestTune(t *testing.T) {
	usual := matmul.DefaultTuning()
	other := func(name string) (int, int) { // two values that are not the default
		v, _ := usual.Get(name)
		for _, k := range knobs {
			if k.name == name {
				k.values = slices.DeleteFunc(slices.Clone(k.values), func(x int) bool { return x == v })
				return k.values[0], k.values[len(k.values)-1]
			}
		}
		t.Fatalf("no knob %q", name)
		return 0, 0
	}
	streams, more := other("streams")
	reuse, _ := other("reuse")
	for _, c := range []struct {
		name  string
		noise float64
		costs map[string]map[int]float64
		turns int
		want  map[string]int
	}{
		{"all alike", 0.2, nil, 25, nil},
		{"one better", 0.02, map[string]map[int]float64{"streams": {streams: 0.8}}, 25, map[string]int{"streams": streams}},
		{"the best of two", 0.02, map[string]map[int]float64{"streams": {streams: 0.9, more: 0.8}}, 25, map[string]int{"streams": more}},
		{"two numbers", 0.02, map[string]map[int]float64{"streams": {streams: 0.8}, "reuse": {reuse: 0.7}}, 25, map[string]int{"streams": streams, "reuse": reuse}},
		{"a hair better", 0, map[string]map[int]float64{"streams": {streams: 0.98}}, 25, nil},
		{"worse", 0, map[string]map[int]float64{"streams": {streams: 1.5, more: 1.2}}, 25, nil},
		{"few turns", 0, map[string]map[int]float64{"streams": {streams: 0.5}}, minTurns - 1, nil},
		{"no turn", 0, map[string]map[int]float64{"streams": {streams: 0.5}}, 0, nil},
	} {
		got, err := tune("x", knobs, turns(c.turns), planted(c.noise, c.costs))
		if err != nil {
			t.Fatal(err)
		}
		if c.turns > 0 && len(got) != len(knobs) {
			t.Errorf("%s: %d choices for %d knobs", c.name, len(got), len(knobs))
		}
		for _, choice := range got {
			name := strings.TrimPrefix(choice.Name, "x.")
			want, chosen := c.want[name]
			if !chosen {
				want, _ = usual.Get(name)
			}
			if choice.Value != want {
				t.Errorf("%s: %s, want %d", c.name, choice, want)
			}
			for _, tried := range choice.Tried {
				if len(tried.Samples) != c.turns {
					t.Errorf("%s: %d samples of %s %d", c.name, len(tried.Samples), name, tried.Value)
				}
			}
		}
	}
	failing := errors.New("broken")
	if _, err := tune("x", knobs, turns(9), func(matmul.Tuning, product) (float64, error) { return 0, failing }); !errors.Is(err, failing) {
		t.Errorf("error %v", err)
	}
}

// Every value that may be chosen is one that the multiplies take, and gives the same
// product of whole numbers as the default.
func TestTunedProducts(t *testing.T) {
	const n, depth = 259, 70
	for _, isa := range matmul.ISAs() {
		for _, k := range knobs {
			for _, v := range k.values {
				d := Machine{Measured: &Measured{Tuning: []Choice{{Name: isa + "." + k.name, Value: v}, {Name: isa + ".later", Value: 7}, {Name: "other." + k.name, Value: 1 << 20}}}}
				tuned, err := matmul.New[float32](matmul.Tuned(d.TuningFor(isa)), matmul.ISA(isa), matmul.Threads(2))
				if err != nil {
					t.Fatalf("%s %d: %v", k.name, v, err)
				}
				for _, m := range []int{1, 2, 3, 4, 8, 32, 40} {
					a, b, c := bench.SmallInts(make([]float32, m*depth)), bench.SmallInts(make([]float32, depth*n)), make([]float32, m*n)
					if err := tuned(m, n, depth, a, depth, b, n, c, n); err != nil {
						t.Fatal(err)
					}
					if err := bench.CheckProduct(m, n, depth, a, b, c); err != nil {
						t.Errorf("%s %s %d, m = %d: %v", isa, k.name, v, m, err)
					}
				}
			}
		}
	}
}

func TestChoiceString(t *testing.T) {
	c := Choice{Name: "avx512.streams", Value: 8, Tried: []Trial{{16, []float64{2, 4, 3}}, {8, []float64{1, 2, 1}}, {32, []float64{4, 4, 4}}}}
	if got, want := c.String(), "avx512.streams: 8 (16: 0.50 times as fast, 32: 0.25)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (Choice{Name: "neon.ahead", Value: 4}).String(), "neon.ahead: 4 (asked for)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is asked for is kept, and nothing is tried.
func TestTuningIsForced(t *testing.T) {
	want, err := matmul.DefaultTuning().With("streams", 9)
	if err != nil {
		t.Fatal(err)
	}
	m := meter{o: Options{Tuning: want}}
	d := &Measured{}
	if got := (Machine{}).TuningFor("go"); got != matmul.DefaultTuning() {
		t.Errorf("not measured: %v", got)
	}
	if d.Tuning, err = m.tune(); err != nil || len(d.Tuning) != len(knobs) {
		t.Fatalf("%v (%v)", d.Tuning, err)
	}
	for _, c := range d.Tuning {
		v, known := want.Get(c.Name[strings.Index(c.Name, ".")+1:])
		if !known || c.Value != v || c.Tried != nil {
			t.Errorf("%+v", c)
		}
	}
	if got := (Machine{Measured: d}).TuningFor(matmul.ISAs()[0]); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	bad := want
	bad.Ahead = 0
	if _, err := (Options{Tuning: bad}).complete(Host{Cores: 1, Usable: 1, GOMAXPROCS: 1}); err == nil || !strings.Contains(err.Error(), "tuning ahead is 0") {
		t.Errorf("error %v", err)
	}
}

// Real products are tried where the matrices lie in memory, and nowhere else.
func TestTuneMeasures(t *testing.T) {
	m := meter{ctx: t.Context(), o: Options{Time: time.Second, Threads: 1}, inCache: "so"}
	if got, err := m.tune(); got != nil || err != nil {
		t.Errorf("%v (%v)", got, err)
	}
	p, free, err := probe.Alloc(2 * tuneDepth * tuneColumns * 4)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	m.buffer, m.inCache = p, ""
	got, err := m.tune()
	if measures := matmul.ISAs()[0] != "go"; err != nil || len(got) > 0 != measures {
		t.Errorf("%v (%v)", got, err)
	}
	for _, c := range got {
		for _, tried := range c.Tried {
			if len(tried.Samples) == 0 || !(slices.Min(tried.Samples) > 0) {
				t.Errorf("%+v", c)
			}
		}
	}
}
