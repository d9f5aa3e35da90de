package facts

import (
	"bytes"
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

// tree decodes JSON and keeps its numbers as they are written.
func tree(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differences compares two trees: keys and lengths in both directions, text
// and integers exactly, other numbers within 1e-12.
func differences(path string, got, want any) (all []string) {
	differ := func(format string, args ...any) {
		all = append(all, path+": "+fmt.Sprintf(format, args...))
	}
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			differ("got %v, want an object", got)
			return all
		}
		for key := range g {
			if _, ok := want[key]; !ok {
				differ("the key %q is not quoted", key)
			}
		}
		for key, w := range want {
			if _, ok := g[key]; !ok {
				differ("no key %q", key)
				continue
			}
			all = append(all, differences(path+"."+key, g[key], w)...)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			differ("got %v, want a list of %d", got, len(want))
			return all
		}
		for i := range want {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), g[i], want[i])...)
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok {
			differ("got %v, want %v", got, want)
			return all
		}
		if !strings.ContainsAny(want.String(), ".eE") {
			if g != want {
				differ("got %v, want %v", g, want)
			}
			return all
		}
		a, err := g.Float64()
		b, err2 := want.Float64()
		if err != nil || err2 != nil || !(math.Abs(a-b) <= 1e-12*math.Abs(b)) {
			differ("got %v, want %v", g, want)
		}
	default:
		if got != want {
			differ("got %v, want %v", got, want)
		}
	}
	return all
}

func quotedTree(t *testing.T) any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "quoted_numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, data)
}

func reportTree(t *testing.T) any {
	t.Helper()
	r, err := Quoted()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, data)
}

func TestQuotedNumbers(t *testing.T) {
	for _, d := range differences("", reportTree(t), quotedTree(t)) {
		t.Error(d)
	}
}

// The comparison sees a number that is off by a little, a key too many and a
// key too few.
func TestDifferencesSee(t *testing.T) {
	for name, change := range map[string]func(root map[string]any){
		"real off by 1e-11": func(root map[string]any) {
			root["chip"].(map[string]any)["ridge_flop_per_byte"] = json.Number("153.016184405649")
		},
		"integer off by one": func(root map[string]any) {
			root["ridge_tile_4096_fp16"].(map[string]any)["exact"] = json.Number("341")
		},
		"integer in other digits": func(root map[string]any) {
			root["ridge_tile_4096_fp16"].(map[string]any)["exact"] = json.Number("342.0000000000001")
		},
		"text":         func(root map[string]any) { root["chip"].(map[string]any)["name"] = "another" },
		"key too many": func(root map[string]any) { root["chip"].(map[string]any)["colour"] = "green" },
		"key too few":  func(root map[string]any) { delete(root["chip"].(map[string]any), "peak_flops") },
		"row too few": func(root map[string]any) {
			root["capacity_fp16_4096"] = root["capacity_fp16_4096"].([]any)[:3]
		},
		"null": func(root map[string]any) { root["chip"].(map[string]any)["peak_flops"] = nil },
	} {
		got := reportTree(t).(map[string]any)
		change(got)
		if d := differences("", got, quotedTree(t)); len(d) != 1 {
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
		if !chapterKey.MatchString(key) && !given[v] && (math.Abs(v) >= 100 || v != math.Trunc(v)) {
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
