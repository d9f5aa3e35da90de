package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A goal is one line of the table in README.md: what was to be reached, in a
// ratio, for some of the shapes.
type goal struct {
	work, what string
	of         func(Row) bool
	ratio      func(Row) float64 // NaN where it was not measured
	min        float64
	short      string // why, if it falls short
}

func square(dtype string, one bool, sizes ...int) func(Row) bool {
	return func(r Row) bool {
		for _, n := range sizes {
			if r.Op == "gemm" && r.DType == dtype && r.M == n && r.N == n && r.K == n && one == (r.Threads == 1) {
				return true
			}
		}
		return false
	}
}

func decode(rows ...int) func(Row) bool {
	return func(r Row) bool {
		for _, m := range rows {
			if r.Op == "gemm" && r.M == m && r.N == 4096 && r.K == 4096 {
				return true
			}
		}
		return false
	}
}

func toOpenBLAS(r Row) float64 {
	if r.RatioOpenBLAS == nil {
		return math.NaN()
	}
	return *r.RatioOpenBLAS
}

func toGonum(r Row) float64 {
	if r.Gonum == nil {
		return math.NaN()
	}
	return r.Ours / *r.Gonum
}

func toPeak(r Row) float64       { return r.RatioPeak }
func toAttainable(r Row) float64 { return r.RatioAttainable }
func toBandwidth(r Row) float64  { return r.OursGBps / r.ReadGBps }

const (
	overBLAS = "× OpenBLAS"
	ofPeak   = "of the FMA peak"
	ofRoof   = "of attainable"

	whyPeak = "the peak is the best of many loops of milliseconds without a single load, and half of those reach nine tenths of it; " +
		"loading A costs the tile about a tenth, packing and reading B from L2 the rest"
	whySmall = "a call costs some nanoseconds for checks, and the edge tiles are not full"
	whyKnee  = "arithmetic and traffic would have to overlap without a gap; each stretch of B is used for so few rows that their sums go to L2 and back"
)

func goals() []goal {
	var all []goal
	for _, dtype := range []string{"float32", "float64"} {
		for _, one := range []bool{true, false} {
			threads, peak := "all cores", 0.90
			if one {
				threads, peak = "one thread", 0.92
			}
			work := fmt.Sprintf("%s, n = 512 to 4096, %s", dtype, threads)
			of := square(dtype, one, 512, 1024, 2048, 4096)
			all = append(all,
				goal{work, overBLAS, of, toOpenBLAS, 1, "within the noise of a run of few turns"},
				goal{work, ofPeak, of, toPeak, peak, whyPeak})
		}
	}
	return append(all,
		goal{"float32, n = 255, 1000, 1023, one thread", overBLAS, square("float32", true, 255, 1000, 1023), toOpenBLAS, 1, "edge tiles are not full"},
		goal{"the same, all cores", overBLAS, square("float32", false, 255, 1000, 1023), toOpenBLAS, 1, "edge tiles are not full"},
		goal{"float32, n = 16, 32, 64, 96", overBLAS, square("float32", true, 16, 32, 64, 96), toOpenBLAS, 1, whySmall},
		goal{"m = 1, 2, 4 with 4096×4096 weights, all cores", ofRoof, decode(1, 2, 4), toAttainable, 0.90,
			"threads that start and end a call some hundredths of its time apart"},
		goal{"m = 4", overBLAS, decode(4), toOpenBLAS, 2.5, ""},
		goal{"m = 8, 16", ofRoof, decode(8, 16), toAttainable, 0.70, whyKnee},
		goal{"m = 32, 64", ofRoof, decode(32, 64), toAttainable, 0.90, whyKnee},
		goal{"matrix–vector, 4096, all cores", "of the read bandwidth", func(r Row) bool { return r.Op == "gemv" && r.Threads > 1 }, toBandwidth, 0.95,
			"threads that start and end a call some hundredths of its time apart"},
		goal{"the same", overBLAS, func(r Row) bool { return r.Op == "gemv" && r.Threads > 1 }, toOpenBLAS, 1,
			"OpenBLAS keeps its threads awake between calls; ours leave none behind"},
		goal{"float32, n = 1024, all cores", "× gonum", square("float32", false, 1024), toGonum, 0, ""},
	)
}

// table returns the goals and what a run reached, in Markdown.
func table(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Kernels: %s. OpenBLAS: %s.\n\n", r.Host, isasOf(r.Rows), strings.Join(strings.Fields(r.OpenBLAS), " "))
	b.WriteString("| work | figure | to reach | reached | |\n|---|---|---:|---:|---|\n")
	var reasons []string
	for _, g := range goals() {
		low, high, doubtful := math.Inf(1), math.Inf(-1), ""
		for _, row := range r.Rows {
			if v := g.ratio(row); g.of(row) && !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
				if row.Doubt != "" {
					doubtful = " (doubtful)"
				}
			}
		}
		want, got, note := "–", "not measured", ""
		if g.min > 0 {
			want = fmt.Sprintf("%.2f", g.min)
		}
		if low <= high {
			got = fmt.Sprintf("%.2f", low)
			if top := fmt.Sprintf("%.2f", high); top != got {
				got += " to " + top
			}
			got += doubtful
			if math.Round(low*100)/100 < g.min {
				note = "short"
				if g.short != "" {
					if !slices.Contains(reasons, g.short) {
						reasons = append(reasons, g.short)
					}
					note = fmt.Sprintf("short (%d)", slices.Index(reasons, g.short)+1)
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", g.work, g.what, want, got, note)
	}
	if len(reasons) > 0 {
		b.WriteString("\nWhy it falls short:\n\n")
	}
	for i, reason := range reasons {
		fmt.Fprintf(&b, "%d. %s.\n", i+1, strings.ToUpper(reason[:1])+reason[1:])
	}
	return b.String()
}

func isasOf(rows []Row) string {
	var all []string
	for _, r := range rows {
		if len(all) == 0 || all[len(all)-1] != r.ISA {
			all = append(all, r.ISA)
		}
	}
	return strings.Join(all, ", ")
}

// readReport reads a stored run.
func readReport(path string) (Report, error) {
	var r Report
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err = json.Unmarshal(text, &r); err == nil {
		switch {
		case r.Host.Arch == "":
			err = errors.New("it has no host")
		case len(r.Rows) == 0:
			err = errors.New("it has no rows")
		}
	}
	if err != nil {
		return r, fmt.Errorf("%s is not a stored run of compare (%w): go run ./scripts/compare --json > FILE makes one", path, err)
	}
	return r, nil
}
