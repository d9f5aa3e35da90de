package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
)

// A shape measured without OpenBLAS: every figure is there and makes sense, and
// the row's JSON has the keys that readers of a stored run rely on.
func TestMeasure(t *testing.T) {
	tuning, err := matmul.DefaultTuning().With("streams", 5)
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{ctx: context.Background(), isa: matmul.ISAs()[0], tuning: tuning, options: bench.Options{MinTime: time.Millisecond, Samples: 2}, memory: 1 << 20, host: machine.Host{LastLevels: []int64{1 << 20, 1 << 20}}}
	defer m.close()
	for _, s := range []shape{
		{op: "gemm", dtype: "float32", m: 48, n: 48, k: 48, threads: 1},
		{op: "gemm", dtype: "float64", m: 4, n: 128, k: 128, threads: 2, weights: true},
		{op: "gemv", dtype: "float32", m: 128, n: 1, k: 128, threads: 1, weights: true},
		{op: "weights", dtype: "Q4_1", m: 2, n: 24, k: 64, threads: 1, weights: true},
		{op: "weights", dtype: "BFloat16", m: 64, n: 24, k: 64, threads: 2, weights: true},
		{op: "weights", dtype: "Q8_0 int8", m: 1, n: 24, k: 64, threads: 2, weights: true},
		{op: "batch", dtype: "float64", m: 5, n: 5, k: 5, threads: 2},
		{op: "chain", dtype: "float32 team", m: 1, n: 32, k: 32, threads: 2},
	} {
		r, err := m.measure(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if !(r.Ours > 0 && r.Ours >= r.OursMedian && r.Peak > 0 && r.Attainable > 0) {
			t.Errorf("%s: %+v", s, r)
		}
		if !(r.Serial <= r.Attainable && r.Attainable <= r.Peak*(1+1e-12)) {
			t.Errorf("%s: attainable %v, as a sum %v, peak %v", s, r.Attainable, r.Serial, r.Peak)
		}
		if !(math.Abs(r.RatioPeak-r.Ours/r.Peak) <= 1e-12) || r.RatioOpenBLAS != nil || r.OpenBLAS != nil {
			t.Errorf("%s: %+v", s, r)
		}
		beside := map[string]string{"gemm true": "tuned", "weights true": "float32", "batch false": "one by one", "chain false": "without meeting"}[fmt.Sprint(s.op, " ", s.weights)]
		if s.op == "weights" && s.m < packedRows {
			beside = ""
		}
		if r.Beside != beside || (r.RatioBeside != nil) != (beside != "") || !strings.Contains(r.String(), beside) {
			t.Errorf("%s: beside it is %q: %s", s, r.Beside, r)
		}
		if (r.InCache != nil) != (s.weights && s.op != "gemv") || r.InCache != nil && *r.InCache <= 0 {
			t.Errorf("%s: from L2 %v", s, r.InCache)
		}
		if s.weights && (!r.Resident) {
			t.Errorf("%s: %d copies, resident %t: 1 MiB of weights where 4 MiB or more are asked for", s, r.Copies, r.Resident)
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

// stored are the stored runs, in the order of the table.
func stored(t *testing.T) []string {
	paths, err := filepath.Glob("../../pkg/matmul/testdata/compare*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d stored runs (%v)", len(paths), err)
	}
	return paths
}

// The table in this folder's README is what the stored runs reached.
func TestREADME(t *testing.T) {
	runs, err := readReports(stored(t)...)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := table(runs...)
	if !strings.Contains(string(readme), want) {
		t.Errorf("README.md has not this, which `go run ./scripts/compare --table pkg/matmul/testdata/compare*.json` prints:\n%s", want)
	}
}

func TestTable(t *testing.T) {
	half, two, most := 0.5, 2.0, 128.0
	run := func(cpu string, rows ...Row) Report {
		return Report{Host: machine.Host{CPU: cpu}, OpenBLAS: "some", Rows: rows}
	}
	big := Row{Op: "gemm", DType: "float32", ISA: "wide", M: 1024, N: 1024, K: 1024, Threads: 1, RatioOpenBLAS: &half, RatioPeak: 0.95}
	other, narrow := big, big
	other.M, other.N, other.K, other.RatioOpenBLAS = 512, 512, 512, &two
	narrow.ISA, narrow.Doubt = "narrow", "so"
	few := Row{Op: "gemm", DType: "float32", ISA: "wide", M: 16, N: 4096, K: 4096, Threads: 2, Ours: 100, Attainable: 200, RatioAttainable: 0.5, OursGBps: 10, ReadGBps: 20, InCache: &most}
	model := Report{Host: machine.Host{CPU: "one"}, Model: &ModelReport{ISA: "wide", LlamaCPP: []string{"a 1, CPU: all", "b is missing: here"}, Rows: []ModelRow{{What: "decode", Tokens: 64, Batch: 1, Ratio: &two, Ours: 5, Roof: 20, RoofInt8: 10, Products: 0.625, Attention: 0.25}, {What: "load", Ours: 10}}}}
	got := table(run("one", big, few), run("one", other, narrow), run("two", other), model)
	for _, want := range []string{
		"- **A**: one", "Kernels: wide. OpenBLAS: some. llama.cpp: a 1, b is missing: here.\n- **B**: one", "\n- **C**: two",
		"| work | figure | to reach | A | B | C |\n|---|---|---:|---:|---:|---:|\n",
		"| float32, n = 512 to 4096, one thread | × OpenBLAS | 1.00 | 0.50 to 2.00 (short) | 0.50 (doubtful) (short) | 2.00 |\n",
		"| m = 8, 16 | of attainable | 0.75 | 0.50 (short; 0.64 [1]; 0.39 [2]) | – | – |\n",
		"\nBeside what falls short, the same run measured:\n\n1. of attainable by the loop",
		"| float32, n = 512 to 4096, one thread | of the FMA peak | 0.90 | 0.95 | 0.95 (doubtful) | 0.95 |\n",
		"| the model writes, one sequence | × llama.cpp | 2.00 | 2.00 | – | – |\n",
		"| the same | of its roof with 8-bit activations | 0.70 | 0.50 (short; 0.80 [3]; 0.25 [4]; 0.12 [5]) | – | – |\n",
		"| the model is opened | times in 0.3 s | 1.00 | 3.00 | – | – |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "matrix–vector") {
		t.Errorf("a line for what nobody measured:\n%s", got)
	}
}

// The reasons for doubt, and where they show.
func TestDoubt(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	one := Row{Op: "gemm", DType: "float32", ISA: "go", Threads: 1, Ours: 100, OursMedian: 81, Peak: 110}
	slower, other, wide := one, one, one
	slower.Peak, other.Peak = 90, 200
	other.DType = "float64"
	wide.ISA, wide.Peak = "avx2", 800
	before := []Row{one, slower, other, wide}
	for _, c := range []struct {
		name   string
		change func(*Row)
		want   string
	}{
		{"good", func(*Row) {}, ""},
		{"ours", func(r *Row) { r.OursMedian = 62 }, "the median of ours is 38% below its best"},
		{"openblas", func(r *Row) { r.OpenBLAS, r.OpenBLASMedian = value(100), value(75) }, "the median of openblas is 25% below its best"},
		{"openblas good", func(r *Row) { r.OpenBLAS, r.OpenBLASMedian = value(100), value(85) }, ""},
		{"gain", func(r *Row) { r.Threads, r.Peak = 2, 121 }, "the peak of 2 threads is 1.10 times that of one"},
		{"gain good", func(r *Row) { r.Threads, r.Peak = 2, 144 }, ""},
		{"above the peak", func(r *Row) { r.RatioPeak = 1.09 }, "ours is 1.09 times the peak"},
		{"alone", func(r *Row) { r.Threads, r.Peak, r.ISA = 2, 1, "avx512" }, ""},
		{"both", func(r *Row) { r.Threads, r.Peak, r.OursMedian = 2, 121, 50 },
			"the median of ours is 50% below its best, the peak of 2 threads is 1.10 times that of one"},
	} {
		r := one
		c.change(&r)
		r.Doubt = doubt(r, before)
		if r.Doubt != c.want {
			t.Errorf("%s: %q, want %q", c.name, r.Doubt, c.want)
		}
		if strings.Contains(r.String(), "?? doubtful: "+c.want) != (c.want != "") {
			t.Errorf("%s: the row is %q", c.name, r)
		}
		text, err := json.Marshal(r)
		if err != nil || strings.Contains(string(text), `"doubt"`) != (c.want != "") {
			t.Errorf("%s: %s (%v)", c.name, text, err)
		}
	}
	bad := one
	bad.Doubt = "so"
	for want, rows := range map[string][]Row{
		"":                           {one, one},
		"1 of 2 rows is doubtful: ":  {one, bad},
		"2 of 3 rows are doubtful: ": {bad, one, bad},
		"1 of 1 row is doubtful: ":   {bad},
	} {
		if got := summary(rows); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Only rows that are meant to be bound by memory tell a bandwidth.
func TestBandwidthInRow(t *testing.T) {
	r := Row{Op: "gemm", OursGBps: 37.9, ReadGBps: 12.6, Copies: 2}
	if s := r.String(); strings.Contains(s, "GB/s") {
		t.Errorf("row %q", s)
	}
	r.weights = true
	if s := r.String(); !strings.Contains(s, "37.9 of 12.6 GB/s, 2 matrices") {
		t.Errorf("row %q", s)
	}
}

func call(args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--fast"}, "compare: flag provided but not defined: -fast; --help tells the flags"},
		{[]string{"now"}, `compare: argument is "now": there are only flags`},
		{[]string{"--table", "a.json", "--json"}, "compare: --table goes with no other flag"},
		{[]string{"--isa", "mmx"}, `compare: --isa is "mmx": here it must be one of `},
		{[]string{"--memory", "0"}, `compare: invalid value "0" for flag -memory: it must be a size`},
		{[]string{"--only", "9x9"}, `compare: --only is "9x9": no shape of this run has that in its name; the names are` + "\n  gemm float32 512×512×512, 1 thread\n"},
	} {
		code, stdout, stderr := call(c.args...)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%q: exit %d, %q, %q; want 2 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
	code, stdout, stderr := call("--help")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "usage: go run ./scripts/compare") || !strings.Contains(stdout, "GFLOP/s") {
		t.Errorf("--help: exit %d, %q, %q", code, stdout, stderr)
	}
}

// Without OpenBLAS there is still much to see, but not for one who names a
// Python to have it from.
func TestNamedPythonMustWork(t *testing.T) {
	for _, python := range []string{"/nonexistent/python", "false"} {
		code, stdout, stderr := call("--quick", "--python", python)
		if code != 2 || stdout != "" || !strings.Contains(stderr, fmt.Sprintf("python is %q", python)) {
			t.Errorf("--python %s: code %d, prints %q and %q", python, code, stdout, stderr)
		}
		if asks := strings.Contains(stderr, python+" -m pip install"); asks != (python == "false") {
			t.Errorf("--python %s: advises %q", python, stderr)
		}
	}
}

func TestOnly(t *testing.T) {
	all := allShapes(false, 2)
	for only, want := range map[string]int{"": len(all), "512x512x512": 4, "512×512×512, 1 thread": 2, "gemv": 3, "4096x1x4096, 2": 2} {
		if got, err := choose(all, only); err != nil || len(got) != want {
			t.Errorf("%q: %d shapes, %v, want %d", only, len(got), err, want)
		}
	}
	// Every group has rows, in the quick run too, and every row has an operation.
	for _, quick := range []bool{true, false} {
		for group := range ops {
			if got, err := choose(allShapes(quick, 2), group); err != nil || len(got) == 0 {
				t.Errorf("--only %s, quick %t: %d rows, %v", group, quick, len(got), err)
			}
		}
		for _, s := range allShapes(quick, 2) {
			if ops[s.op] == nil {
				t.Errorf("%s: there is no operation %q", s, s.op)
			}
		}
	}
}

// The whole product is verified before it is timed: an element that is wrong anywhere
// ends the run.
func TestWrongProduct(t *testing.T) {
	m := &meter{ctx: context.Background(), isa: matmul.ISAs()[0], options: bench.Options{MinTime: time.Millisecond, Samples: 2}, memory: 1 << 20, tuning: matmul.DefaultTuning(), host: machine.Host{LastLevels: []int64{1 << 20}}}
	defer m.close()
	right := ops["gemm"]
	defer func() { ops["gemm"] = right }()
	ops["gemm"] = func(m *meter, s shape) (job, error) {
		j, err := right(m, s)
		b, _ := weights[float32](m, "ours", s.k, s.n, 0)
		j.ours = bench.Multiply("ours", s.m, s.n, s.k, 1, func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) error {
			err := matmul.Multiply(m, n, k, a, lda, b, ldb, c, ldc)
			c[len(c)-1]++
			return err
		}, b)
		return j, err
	}
	_, err := m.measure(shape{op: "gemm", dtype: "float32", m: 40, n: 30, k: 20, threads: 1})
	if err == nil || !strings.Contains(err.Error(), "its result is wrong: row 39") {
		t.Errorf("error %v", err)
	}
}

// The weights of every format are small whole numbers, a product of them is verified as
// a whole, and a wrong element of it is found.
func TestFewBits(t *testing.T) {
	m := &meter{ctx: context.Background(), isa: matmul.ISAs()[0], memory: 1 << 20, host: machine.Host{LastLevels: []int64{1 << 10}}}
	defer m.close()
	for _, s := range allShapes(false, 2) {
		if s.op != "weights" {
			continue
		}
		s.n, s.k = 12, 96
		j, err := fewBits(m, s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		j.ours.Run()
		if err := j.ours.Verify(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	data := make([]byte, 12*60)
	fillWeights(matmul.Q4_1, data)
	w, err := matmul.NewWeights(matmul.Q4_1, 12, 96, data)
	if err != nil {
		t.Fatal(err)
	}
	x, y := bench.SmallInts(make([]float32, 2*96)), make([]float32, 2*12)
	for _, int8 := range []bool{false, true} {
		if err := w.Mul(y, x, 2); err != nil {
			t.Fatal(err)
		}
		if err := checkFewBits(w, 2, x, y, int8, nil); err != nil {
			t.Error(err)
		}
		for i := range y {
			y[i] += 60
			if err := checkFewBits(w, 2, x, y, int8, nil); err == nil {
				t.Errorf("int8 %t: element %d is wrong and nothing is said", int8, i)
			}
			y[i] -= 60
		}
	}
}

// An interrupt ends a run between two samples, and what it made is cleaned away.
func TestInterrupt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, stderr strings.Builder
	if code := run(ctx, []string{"--quick", "--only", "gemm float32 16"}, &out, &stderr); code != 130 || stderr.String() != "compare: stopped, nothing was written\n" {
		t.Errorf("code %d, %q", code, stderr.String())
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("%d files are left (%v)", len(left), err)
	}
}

func TestBenchmarks(t *testing.T) {
	r := Row{Op: "gemv", DType: "float32", M: 8, N: 1, K: 4, Threads: 2, results: []bench.Result{
		{Name: "ours", Work: bench.Work{FLOPs: 64}, Samples: []float64{1}}, {Name: openBLASName, Samples: []float64{2}}}}
	got := benchmarks([]Row{r, r})
	if len(got) != 4 || got[1].Name != "gemv/type=float32/m=8/n=1/k=4/by=OpenBLAS" || got[1].Threads != 2 || got[0].Work.FLOPs != 64 {
		t.Errorf("%+v", got)
	}
	if got[1].Work.FLOPs != 64 {
		t.Errorf("OpenBLAS does %v FLOPs, and we 64", got[1].Work.FLOPs)
	}
}

// Another file than a stored run is refused.
func TestNoStoredRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.json")
	for text, want := range map[string]string{
		"module memorywall": "invalid character",
		"{}":                "it has no host",
		`{"rows": [{}]}`:    "it has no host",
		`{"host": {"arch": "amd64"}, "rows": []}`: "it has no rows",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call("--table", path)
		if code != 1 || stdout != "" || !strings.Contains(stderr, path+" is not a stored run of compare ("+want) ||
			!strings.HasSuffix(stderr, "go run ./scripts/compare --json > FILE makes one\n") {
			t.Errorf("%s: exit %d, %q, %q", text, code, stdout, stderr)
		}
	}
	code, stdout, stderr := call(append([]string{"--table"}, stored(t)...)...)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "| of the FMA peak |") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
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
