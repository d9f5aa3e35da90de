package facts

import (
	"math"
	"strings"
	"testing"

	"memorywall/pkg/roofline"
)

func TestAll(t *testing.T) {
	m, err := All()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Quoted()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		"chip.ridge_flop_per_byte":                                     r.Chip.Ridge,
		"chip.elem_bytes":                                              float64(r.Chip.ElemBytes),
		"tile_sweep_4096_fp16[6].intensity":                            r.TileSweep[6].Intensity,
		"tile_sweep_4096_fp16[b=64].intensity":                         r.TileSweep[6].Intensity,
		"tile_sweep_4096_fp16[b=64].b":                                 64,
		"best_case_intensity_float32[n=4096].intensity":                r.BestCase[3].Intensity,
		"capacity_fp16_4096[kib=64].max_tile":                          float64(r.Capacity[1].MaxTile),
		"decode_vs_prefill_4096_fp16.rows[m=166].intensity":            r.Decode.Rows[8].Intensity,
		"worked_example_4x4_tile_2.A[1][0]":                            float64(r.WorkedExample.A[1][0]),
		"worked_example_4x4_tile_2.top_left_partial_products[1][1][0]": float64(r.WorkedExample.TopLeft[1][1][0]),
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

func TestChapters(t *testing.T) {
	m, err := Chapters()
	if err != nil {
		t.Fatal(err)
	}
	for key := range m {
		if !chapterKey.MatchString(key) {
			t.Errorf("%q is not a chapter's", key)
		}
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for key := range all {
		if _, ok := m[key]; !ok && chapterKey.MatchString(key) {
			t.Errorf("%q is left out", key)
		}
	}
}

func TestCollect(t *testing.T) {
	r, err := Quoted()
	if err != nil {
		t.Fatal(err)
	}
	one := func(key string, v float64) chapter {
		return func(add func(string, float64)) { add(key, v) }
	}
	m, err := collect(r, []chapter{one("ch09.a", 1), one("ch09.b[2].c=3-x", 2)})
	if err != nil || m["ch09.a"] != 1 || m["ch09.b[2].c=3-x"] != 2 || m["ridge_tile_4096_fp16.exact"] == 0 {
		t.Errorf("%v, %v", m, err)
	}
	for name, c := range map[string]struct {
		chapters []chapter
		want     string
	}{
		"twice":        {[]chapter{one("ch09.a", 1), one("ch09.a", 1)}, `facts: duplicate key "ch09.a"`},
		"no chapter":   {[]chapter{one("chip.a", 1)}, `facts: key is "chip.a": it must be like ch03.name`},
		"scale in key": {[]chapter{one("ch09.a/b", 1)}, `facts: key is "ch09.a/b": it must be like ch03.name`},
		"space in key": {[]chapter{one("ch09.a b", 1)}, `facts: key is "ch09.a b": it must be like ch03.name`},
		"empty key":    {[]chapter{one("ch09.", 1)}, `facts: key is "ch09.": it must be like ch03.name`},
		"NaN":          {[]chapter{one("ch09.a", math.NaN())}, "facts: ch09.a is NaN: it must be finite"},
		"infinite":     {[]chapter{one("ch09.a", math.Inf(-1))}, "facts: ch09.a is -Inf: it must be finite"},
		"refused":      {[]chapter{func(add func(string, float64)) { add("ch09.a", roofline.A100().Attainable(0)) }}, "facts: roofline: intensity is 0 FLOP/byte"},
	} {
		m, err := collect(r, c.chapters)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || m != nil {
			t.Errorf("%s: %v, %v; want %q", name, m, err, c.want)
		}
	}
}
