package facts

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"sync"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// A Fact is a number that the lesson says, or one of the few names beside them.
type Fact struct {
	Key        string // behind that of its group: "loads", "[6].loads", "C[0][1]"
	Value      any    // a float64 or a string
	Name, Unit string // for the eye, in the groups of the report
}

// Text returns a fact as it is printed: its value in the unit in which the
// lesson gives such a quantity, and that unit.
func (f Fact) Text() (value, unit string) {
	v, number := f.Value.(float64)
	if !number {
		return f.Value.(string), ""
	}
	switch f.Unit {
	case "FLOP/s":
		return num.Plain(v / 1e12), "TFLOP/s"
	case "B/s":
		return num.Plain(v / 1e9), "GB/s"
	case "s":
		return num.Plain(v * 1e3), "ms"
	}
	return num.Plain(v), f.Unit
}

// A Group is the facts of a section of the report ("chip"), or of a chapter
// ("ch03"), in order. Title says in words what the section shows; a chapter
// has none.
type Group struct {
	Key, Title string
	Facts      []Fact

	fill func(*Group)
}

// report is what `go run ./scripts/report` prints first. Each function adds its
// facts, all computed.
var report = []Group{
	{"chip", "The reference chip", nil, chip},
	{"two_by_two_float32", "A 2×2 by 2×2 multiply, float32", nil, twoByTwo},
	{"best_case_intensity_float32", "Best-case intensity of an n×n×n multiply, float32: 2n/3s", nil, bestCase},
	{"naive_vs_ideal_4096_fp16", "No reuse against the best case: n = 4096, FP16, on the reference chip", nil, naiveVersusIdeal},
	{"worked_example_4x4_tile_2", "The 4×4 example in 2×2 tiles", nil, workedExample},
	{"counted_sweep_128_fp16", "Counted by running the tiled loops: n = 128, FP16", nil, countedSweep},
	{"tile_sweep_4096_fp16", "Tile sizes: n = 4096, FP16", nil, tileSweep},
	{"capacity_fp16_4096", "Largest tile for a fast memory: n = 4096, FP16", nil, capacity},
	{"ridge_tile_4096_fp16", "Tile size that reaches the ridge: n = 4096, FP16", nil, ridgeTile},
	{"decode_vs_prefill_4096_fp16", "Decode and prefill: (m×4096)·(4096×4096), FP16", nil, decode},
	{"seven_billion_params_fp16", "Seven billion parameters, FP16", nil, sevenBillion},
	{"check_yourself_48kib_float32_4096", "Check yourself: 48 KiB, float32, n = 4096", nil, checkYourself},
}

// chapters add the numbers of one chapter each: ch00, ch01 and so on.
var chapters = []func(*Group){
	chapter00, chapter01, chapter02, chapter03, chapter04, chapter05, chapter06,
	chapter07, chapter08, chapter09, chapter10, chapter11, chapter12, chapter13,
}

// show adds a fact of the report: any whole or real number, or a string.
func (g *Group) show(key string, value any, name, unit string) {
	switch v := value.(type) {
	case int:
		value = float64(v)
	case int64:
		value = float64(v)
	}
	g.Facts = append(g.Facts, Fact{key, value, name, unit})
}

// add adds facts of a chapter, keys and values in turn.
func (g *Group) add(keysAndValues ...any) {
	for pair := range slices.Chunk(keysAndValues, 2) {
		g.show(pair[0].(string), pair[1], "", "")
	}
}

// first returns the smallest n, from 1 on, that is ok.
func first(ok func(n int64) bool) int64 {
	n := int64(1)
	for !ok(n) {
		n++
	}
	return n
}

// Groups returns the facts of the report, group by group, and then those of
// the chapters. They are shared: do not change them.
func Groups() ([]Group, error) {
	c, err := all()
	return c.groups, err
}

// All returns every number by its key, that of its group before that of the
// fact:
//
//	chip.ridge_flop_per_byte
//	ch05.ridge_tiles_in_l2
//	tile_sweep_4096_fp16[6].intensity        the row with this index
//	tile_sweep_4096_fp16[b=64].intensity     the same, by the row's first fact
//	worked_example_4x4_tile_2.C[0][1]
//
// A key that comes twice and a value that is NaN or infinite are errors. The
// map is the caller's own.
func All() (map[string]float64, error) {
	c, err := all()
	return maps.Clone(c.byKey), err
}

type collected struct {
	groups []Group
	byKey  map[string]float64
}

var all = sync.OnceValues(func() (collected, error) {
	groups := slices.Clone(report)
	for i, fill := range chapters {
		groups = append(groups, Group{Key: fmt.Sprintf("ch%02d", i), fill: fill})
	}
	return collect(groups)
})

var (
	// goodKey holds no * and no /, which Check takes for a scale.
	goodKey = regexp.MustCompile(`^\w+[.\[][A-Za-z0-9_.=\[\]-]+$`)
	inRow   = regexp.MustCompile(`^(.*)\[\d+\]\.(\w+)$`)
)

// Path is the whole key of a fact of g.
func (g Group) Path(f Fact) string {
	if f.Key != "" && f.Key[0] == '[' {
		return g.Key + f.Key
	}
	return g.Key + "." + f.Key
}

func collect(groups []Group) (collected, error) {
	c := collected{groups, map[string]float64{}}
	for i := range groups {
		g := &groups[i]
		if err := roofline.Maybe(func() { g.fill(g) }); err != nil {
			return collected{}, fmt.Errorf("facts: %w", err)
		}
		column, row := "", "" // the first of the row, and what it says: "b", "[b=64]"
		for _, f := range g.Facts {
			key := g.Path(f)
			if _, name := f.Value.(string); name {
				continue
			}
			v, ok := f.Value.(float64)
			_, duplicate := c.byKey[key]
			switch {
			case !ok:
				return collected{}, fmt.Errorf("facts: %s is a %T: it must be a number", key, f.Value)
			case !goodKey.MatchString(key):
				return collected{}, fmt.Errorf("facts: key is %q: it must be like ch03.name, of letters, digits and . _ - = [ ]", key)
			case duplicate:
				return collected{}, fmt.Errorf("facts: duplicate key %q", key)
			case math.IsNaN(v) || math.IsInf(v, 0):
				return collected{}, fmt.Errorf("facts: %s is %g: it must be finite", key, v)
			}
			c.byKey[key] = v
			if m := inRow.FindStringSubmatch(key); m != nil {
				if column == "" || column == m[2] {
					column, row = m[2], fmt.Sprintf("[%s=%v]", m[2], v)
				}
				c.byKey[m[1]+row+"."+m[2]] = v
			}
		}
	}
	return c, nil
}
