package facts

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// quoted returns testdata/quoted_numbers.json by the keys of its values: float64
// and text.
func quoted(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "quoted_numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	byKey := map[string]any{}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, under := range v {
				walk(strings.TrimPrefix(key+"."+k, "."), under)
			}
		case []any:
			for i, under := range v {
				walk(fmt.Sprintf("%s[%d]", key, i), under)
			}
		default:
			byKey[key] = v
		}
	}
	walk("", root)
	return byKey
}

// ours returns the facts of the report by key.
func ours(t *testing.T) map[string]any {
	t.Helper()
	groups, err := Groups()
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]any{}
	for _, g := range groups[:len(report)] {
		for _, f := range g.Facts {
			byKey[g.Path(f)] = f.Value
		}
	}
	return byKey
}

// differences compares facts by key, in both directions: text and whole numbers
// exactly, others within 1e-12.
func differences(got, want map[string]any) (all []string) {
	for key, g := range got {
		w, ok := want[key]
		a, _ := g.(float64)
		b, number := w.(float64)
		switch {
		case !ok:
			all = append(all, fmt.Sprintf("the key %q is not quoted", key))
		case g == w, number && b != math.Trunc(b) && math.Abs(a-b) <= 1e-12*math.Abs(b):
		default:
			all = append(all, fmt.Sprintf("%s is %v, want %v", key, g, w))
		}
	}
	for key := range want {
		if _, ok := got[key]; !ok {
			all = append(all, fmt.Sprintf("no key %q", key))
		}
	}
	return all
}

func TestQuotedNumbers(t *testing.T) {
	for _, d := range differences(ours(t), quoted(t)) {
		t.Error(d)
	}
}

// The comparison sees a number that is off by a little, a key too many and a
// key too few.
func TestDifferencesSee(t *testing.T) {
	for name, change := range map[string]func(m map[string]any){
		"real off by 1e-11":       func(m map[string]any) { m["chip.ridge_flop_per_byte"] = 153.016184405649 },
		"integer off by one":      func(m map[string]any) { m["ridge_tile_4096_fp16.exact"] = 341.0 },
		"integer off by a little": func(m map[string]any) { m["ridge_tile_4096_fp16.exact"] = 342.0000000000001 },
		"text":                    func(m map[string]any) { m["chip.name"] = "another" },
		"text for a number":       func(m map[string]any) { m["chip.peak_flops"] = "312e12" },
		"key too many":            func(m map[string]any) { m["chip.colour"] = "green" },
		"key too few":             func(m map[string]any) { delete(m, "chip.peak_flops") },
	} {
		got := ours(t)
		change(got)
		if d := differences(got, quoted(t)); len(d) != 1 {
			t.Errorf("%s: differences are %q, want one", name, d)
		}
	}
}

// Rates and counts that the lesson puts in words.
func TestLessonSays(t *testing.T) {
	for key, shown := range map[string]string{
		"chip.ridge_flop_per_byte":                                "153.0",
		"naive_vs_ideal_4096_fp16.naive_percent_of_peak":          "0.327",
		"naive_vs_ideal_4096_fp16.naive_over_math":                "306.07",
		"naive_vs_ideal_4096_fp16.min_bytes":                      "100,663,296",
		"worked_example_4x4_tile_2.C[1][1]":                       "9",
		"worked_example_4x4_tile_2.steps[7][3]":                   "8",
		"ridge_tile_4096_fp16.rule_of_thumb":                      "306",
		"ridge_tile_4096_fp16.with_store_term_ceil":               "318",
		"ridge_tile_4096_fp16.exact":                              "342",
		"ridge_tile_4096_fp16.fast_bytes_at_exact":                "701,784",
		"decode_vs_prefill_4096_fp16.rows[m=165].percent_of_peak": "99.8",
		"decode_vs_prefill_4096_fp16.batch_to_reach_ridge":        "166",
		"seven_billion_params_fp16.weight_read_s*1e3":             "6.866",
		"capacity_fp16_4096[kib=64].max_tile":                     "104",
		"check_yourself_48kib_float32_4096.max_tile":              "64",
	} {
		if err := Check(shown, key); err != nil {
			t.Error(err)
		}
	}
}

// No number that follows from others is typed into the code that computes it.
func TestNothingQuotedIsTyped(t *testing.T) {
	m, err := All()
	if err != nil {
		t.Fatal(err)
	}
	inputs := []string{
		"chip.peak_flops", "chip.bandwidth_bytes_per_s", "chip.elem_bytes",
		"seven_billion_params_fp16.params",
	}
	given := map[float64]bool{100: true} // a percentage of 100, and the 100 of per cent
	derived := map[float64]string{}
	for key, v := range m {
		last := key[strings.LastIndex(key, ".")+1:]
		if slices.Contains(inputs, key) || last == "n" || last == "b" || last == "kib" || last == "m" {
			given[v] = true
		}
	}
	// The batches next to the ridge are computed.
	batch := m["decode_vs_prefill_4096_fp16.batch_to_reach_ridge"]
	delete(given, batch)
	delete(given, batch-1)
	for key, v := range m {
		if !strings.HasPrefix(key, "ch0") && !strings.HasPrefix(key, "ch1") && !given[v] && (math.Abs(v) >= 100 || v != math.Trunc(v)) {
			derived[v] = key
		}
	}
	if len(derived) < 80 {
		t.Fatalf("only %d numbers to look for", len(derived))
	}
	files := 0
	for _, dir := range []string{".", "../roofline", "../tiling", "../../scripts/report"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.INT && lit.Kind != token.FLOAT {
					return true
				}
				v, err := strconv.ParseFloat(strings.ReplaceAll(lit.Value, "_", ""), 64)
				if key, ok := derived[v]; ok && err == nil {
					t.Errorf("%s: %s is typed: compute it, for it is %s", set.Position(lit.Pos()), lit.Value, key)
				}
				return true
			})
		}
	}
	if files < 12 {
		t.Errorf("only %d files looked at", files)
	}
}
