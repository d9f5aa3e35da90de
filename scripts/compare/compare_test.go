package main

import (
	"encoding/json"
	"math"
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
