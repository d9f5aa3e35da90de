package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"memorywall/pkg/matmul"
)

// A shape measured without OpenBLAS: every figure is there and makes sense, and
// the row's JSON has the keys that readers of a stored run rely on.
func TestMeasure(t *testing.T) {
	m := &meter{isa: matmul.ISAs()[0], quick: true, memory: 1 << 20, lastLevel: 1 << 20}
	for _, s := range []shape{
		{op: "gemm", dtype: "float32", m: 48, n: 48, k: 48, threads: 1, copies: 2},
		{op: "gemm", dtype: "float64", m: 4, n: 128, k: 128, threads: 2, weights: true, copies: 1},
		{op: "gemv", dtype: "float32", m: 128, n: 1, k: 128, threads: 1, weights: true, copies: 1},
	} {
		r, err := m.measure(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if !(r.Ours > 0 && r.Ours >= r.OursMedian && r.Peak > 0 && r.Attainable > 0) {
			t.Errorf("%s: %+v", s, r)
		}
		if !(r.AtLeast <= r.Attainable && r.Attainable <= r.Peak*(1+1e-12)) {
			t.Errorf("%s: attainable %v, as a sum %v, peak %v", s, r.Attainable, r.AtLeast, r.Peak)
		}
		if !(math.Abs(r.RatioPeak-r.Ours/r.Peak) <= 1e-12) || r.RatioOpenBLAS != nil || r.OpenBLAS != nil {
			t.Errorf("%s: %+v", s, r)
		}
		if s.weights && (r.Copies < 2 || !r.Resident) {
			t.Errorf("%s: %d copies, resident %t: 1 MiB of weights where 4 MiB are asked for", s, r.Copies, r.Resident)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(text, &keys); err != nil {
			t.Fatal(err)
		}
		for _, k := range strings.Fields("op dtype m n k threads ours_gflops openblas_gflops gonum_gflops peak_gflops " +
			"attainable_gflops ratio_openblas ratio_peak ratio_attainable isa") {
			if _, ok := keys[k]; !ok {
				t.Errorf("no key %s in %s", k, text)
			}
		}
		if line := r.String(); !strings.Contains(line, r.DType) || !strings.Contains(line, "–") {
			t.Errorf("row %q: no type, or no dash for what is missing", line)
		}
	}
}

// The README's table is what the stored run reached.
func TestREADME(t *testing.T) {
	r, err := readReport("../../pkg/matmul/testdata/compare.json")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := table(r)
	if !strings.Contains(string(readme), want) {
		t.Errorf("README.md has not this, which `go run ./scripts/compare --table pkg/matmul/testdata/compare.json` prints:\n%s", want)
	}
	if strings.Contains(want, "not measured") {
		t.Errorf("the stored run lacks shapes:\n%s", want)
	}
}

func TestTable(t *testing.T) {
	half, two := 0.5, 2.0
	got := table(Report{Rows: []Row{
		{Op: "gemm", DType: "float32", M: 512, N: 512, K: 512, Threads: 1, RatioOpenBLAS: &two, RatioPeak: 0.95},
		{Op: "gemm", DType: "float32", M: 1024, N: 1024, K: 1024, Threads: 1, RatioOpenBLAS: &half, RatioPeak: 0.951},
	}})
	for _, want := range []string{
		"| float32, n = 512 to 4096, one thread | × OpenBLAS | 1.00 | 0.50 to 2.00 | short: ",
		"| float32, n = 512 to 4096, one thread | of the FMA peak | 0.92 | 0.95 | |\n",
		"| float64, n = 512 to 4096, one thread | × OpenBLAS | 1.00 | not measured | |\n",
	} {
		if !strings.Contains(strings.ReplaceAll(got, "|  |", "| |"), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, cores := range []int{1, 2, 8} {
		quick, all := allShapes(true, cores), allShapes(false, cores)
		if len(quick) == 0 || len(quick) >= len(all) {
			t.Errorf("%d cores: %d quick shapes of %d", cores, len(quick), len(all))
		}
		seen := map[string]bool{}
		for _, s := range all {
			if seen[s.String()] {
				t.Errorf("%s twice", s)
			}
			seen[s.String()] = true
			if s.threads < 1 || s.threads > cores {
				t.Errorf("%s on %d cores", s, cores)
			}
		}
		for _, s := range quick {
			if !seen[s.String()] {
				t.Errorf("%s is only in the quick run", s)
			}
		}
	}
}
