package facts

import (
	"maps"
	"math"
	"strings"
	"testing"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

func TestAll(t *testing.T) {
	m, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		"chip.ridge_flop_per_byte":                                     roofline.A100().Ridge(),
		"ch05.n":                                                       size,
		"tile_sweep_4096_fp16[6].intensity":                            tiling.Intensity(size, 64, 2),
		"tile_sweep_4096_fp16[b=64].intensity":                         tiling.Intensity(size, 64, 2),
		"tile_sweep_4096_fp16[b=64].b":                                 64,
		"best_case_intensity_float32[n=4096].intensity":                roofline.Square(size, 4).Intensity(),
		"capacity_fp16_4096[kib=64].max_tile":                          float64(tiling.LargestTile(64<<10, 2)),
		"decode_vs_prefill_4096_fp16.rows[m=166].m":                    166,
		"worked_example_4x4_tile_2.A[1][0]":                            3,
		"worked_example_4x4_tile_2.top_left_partial_products[1][1][0]": 4,
	} {
		if got, ok := m[key]; !ok || got != want {
			t.Errorf("%s = %v, %v; want %v", key, got, ok, want)
		}
	}
	for key, v := range m {
		if math.Abs(v) >= 1<<53 {
			t.Errorf("%s = %v is too large to be exact", key, v)
		}
		if strings.ContainsAny(key, "*/ ;<>") {
			t.Errorf("key %q cannot stand in a text", key)
		}
		if got, err := Value(key); err != nil || got != v {
			t.Errorf("Value(%q) = %v, %v; want %v", key, got, err, v)
		}
	}

	// The map is the caller's own.
	clear(m)
	if again, err := All(); err != nil || len(again) == 0 {
		t.Errorf("%d numbers after the first map was cleared, %v", len(again), err)
	}
}

// The groups hold the facts of All under the same keys, those of the report
// with a title and, but for matrices, with names.
func TestGroups(t *testing.T) {
	m, err := All()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := Groups()
	if err != nil || len(groups) != len(report)+len(chapters) {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	for i, g := range groups {
		if chapter := strings.HasPrefix(g.Key, "ch0") || strings.HasPrefix(g.Key, "ch1"); chapter != (g.Title == "") || chapter != (i >= len(report)) {
			t.Errorf("group %d is %s with the title %q", i, g.Key, g.Title)
		}
		for _, f := range g.Facts {
			v, number := f.Value.(float64)
			if got, ok := m[g.Path(f)]; ok != number || got != v {
				t.Errorf("%s is %v in its group, and %v, %v", g.Path(f), f.Value, got, ok)
			}
			if g.Title != "" && f.Name == "" && !strings.HasSuffix(f.Key, "]") {
				t.Errorf("%s has no name", g.Path(f))
			}
		}
	}
}

func TestCollect(t *testing.T) {
	one := func(keysAndValues ...any) Group {
		return Group{Key: "ch09", fill: func(f *Group) { f.add(keysAndValues...) }}
	}
	c, err := collect([]Group{one("a", 1, "name", "x"), one("b[2].c-x", 2.5, "b[2].d", int64(3))})
	want := map[string]float64{"ch09.a": 1, "ch09.b[2].c-x": 2.5, "ch09.b[2].d": 3, "ch09.b[d=3].d": 3}
	if err != nil || !maps.Equal(c.byKey, want) {
		t.Errorf("%v, %v; want %v", c.byKey, err, want)
	}
	for name, bad := range map[string]struct {
		group Group
		want  string
	}{
		"twice":        {one("a", 1, "a", 1), `facts: duplicate key "ch09.a"`},
		"scale in key": {one("a/b", 1), `facts: key is "ch09.a/b": it must be like ch03.name`},
		"space in key": {one("a b", 1), `facts: key is "ch09.a b": it must be like ch03.name`},
		"empty key":    {one("", 1), `facts: key is "ch09.": it must be like ch03.name`},
		"no number":    {one("a", []int{1}), "facts: ch09.a is a []int: it must be a number"},
		"NaN":          {one("a", math.NaN()), "facts: ch09.a is NaN: it must be finite"},
		"infinite":     {one("a", math.Inf(-1)), "facts: ch09.a is -Inf: it must be finite"},
		"refused":      {Group{fill: func(*Group) { roofline.A100().Attainable(0) }}, "facts: roofline: intensity is 0 FLOP/byte"},
	} {
		c, err := collect([]Group{bad.group})
		if err == nil || !strings.HasPrefix(err.Error(), bad.want) || c.byKey != nil {
			t.Errorf("%s: %v, %v; want %q", name, c, err, bad.want)
		}
	}
}
