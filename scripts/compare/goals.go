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
// ratio, for some of the rows.
type goal struct {
	work, what string
	of         which
	ratio      func(Row) float64 // NaN where it was not measured
	min        float64
	short      []reason // if it falls short
}

// A reason says why a goal is missed, by a figure that the run itself measured, over the
// goal's own rows or over others.
type reason struct {
	text   string
	figure func(Row) float64
	of     *which // nil for the goal's
}

// which says what rows are meant: those of an operation and types, and of all threads
// and sizes or of some.
type which struct {
	op      string
	dtypes  []string
	threads int   // 1, or 2 for all cores
	square  []int // m = n = k
	m       []int // of another number than n
	n       int
}

func (w which) has(r Row) bool {
	return r.Op == w.op && (w.dtypes == nil || slices.Contains(w.dtypes, r.DType)) &&
		(w.threads == 0 || (w.threads == 1) == (r.Threads == 1)) &&
		(w.square == nil || r.M == r.N && r.N == r.K && slices.Contains(w.square, r.M)) &&
		(w.m == nil || r.N != r.M && slices.Contains(w.m, r.M)) && (w.n == 0 || w.n == r.N)
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func toOpenBLAS(r Row) float64   { return orNaN(r.RatioOpenBLAS) }
func toGonum(r Row) float64      { return r.Ours / orNaN(r.Gonum) }
func toBeside(r Row) float64     { return orNaN(r.RatioBeside) }
func toPeak(r Row) float64       { return r.RatioPeak }
func toAttainable(r Row) float64 { return r.RatioAttainable }
func toBandwidth(r Row) float64  { return r.OursGBps / r.ReadGBps }

const (
	overBLAS = "× OpenBLAS"
	ofPeak   = "of the FMA peak"
	ofRoof   = "of attainable"
	ofRead   = "of the read bandwidth"

	overLlama  = "× llama.cpp"
	ofRoofInt8 = "of its roof with 8-bit activations"
)

// What the loop itself reaches of what is attainable, on weights that stay in L2.
func loopOfRoof(r Row) float64 { return orNaN(r.InCache) / r.Attainable }

// What is attainable where the loop's time on weights in L2 and that of reading them
// from memory do not overlap.
func apartOfRoof(r Row) float64 {
	return 1 / (1/loopOfRoof(r) + r.Attainable*r.OursGBps/r.Ours/r.ReadGBps)
}

func openBLASOfPeak(r Row) float64 { return orNaN(r.OpenBLAS) / r.Peak }

// meetingMicros is how long the threads of a chain take to meet, once.
func meetingMicros(r Row) float64 {
	return 2 * float64(r.M*r.N*r.K) / r.OursMedian * 1e-3 * (1 - toBeside(r))
}

func goals() []goal {
	var all []goal
	add := func(work, what string, of which, ratio func(Row) float64, min float64, short ...reason) {
		all = append(all, goal{work, what, of, ratio, min, short})
	}
	blas := reason{"of the peak by OpenBLAS", openBLASOfPeak, nil}
	loop := reason{"of attainable by the loop without memory: one thread's on weights that stay in L2, times the threads", loopOfRoof, nil}
	apart := reason{"of attainable where that loop and reading the weights do not overlap", apartOfRoof, nil}
	onThreads := []string{1: "one thread", 2: "all cores"}
	for _, dtype := range []string{"float32", "float64"} {
		for threads := 1; threads <= 2; threads++ {
			of := which{op: "gemm", dtypes: []string{dtype}, threads: threads, square: []int{512, 1024, 2048, 4096}}
			work := fmt.Sprintf("%s, n = 512 to 4096, %s", dtype, onThreads[threads])
			microkernel := reason{"of the same peak, which is that of a loop without a load, by the microkernel on matrices in L1 (n = 64), on one thread",
				toPeak, &which{op: "gemm", dtypes: []string{dtype}, threads: 1, square: []int{64}}}
			add(work, overBLAS, of, toOpenBLAS, 1, blas)
			add(work, ofPeak, of, toPeak, 0.90, microkernel, blas)
			of.square = []int{255, 1000, 1023}
			add(fmt.Sprintf("%s, n = 255, 1000, 1023, %s", dtype, onThreads[threads]), overBLAS, of, toOpenBLAS, 1, blas)
		}
	}
	few := func(op string, dtypes []string, m ...int) which { return which{op: op, dtypes: dtypes, m: m, n: 4096} }
	f32 := []string{"float32"}
	both := []string{"float32", "float64"}
	add("float32, n = 16, 32, 64, 96", overBLAS, which{op: "gemm", dtypes: f32, square: []int{16, 32, 64, 96}}, toOpenBLAS, 1.05, blas)
	add("many products of n = 4, 8, 16 in one call, one thread", "× one by one", which{op: "batch", threads: 1}, toBeside, 1.5)
	add("many products of n = 16, 32, 64, 96 in one call, all cores", "× one by one", which{op: "batch", threads: 2}, toBeside, 1.6)
	add("m = 1, 2, 4 with 4096×4096 weights, all cores", ofRead, few("gemm", both, 1, 2, 4), toBandwidth, 0.92, loop, apart)
	add("the same", overBLAS, few("gemm", both, 1, 2, 4), toOpenBLAS, 1)
	add("m = 8, 16", ofRoof, few("gemm", both, 8, 16), toAttainable, 0.75, loop, apart)
	add("m = 32, 64", ofRoof, few("gemm", both, 32, 64), toAttainable, 0.80, loop, apart)
	add("matrix–vector, 4096, one thread", ofRead, which{op: "gemv", threads: 1}, toBandwidth, 0.92)
	add("matrix–vector, 4096, all cores", ofRead, which{op: "gemv", threads: 2}, toBandwidth, 0.92)
	add("the same", overBLAS, which{op: "gemv", threads: 2}, toOpenBLAS, 1, reason{"of the read bandwidth by ours", toBandwidth, nil})
	add("float32, n = 1024, all cores", "× gonum", which{op: "gemm", dtypes: f32, threads: 2, square: []int{1024}}, toGonum, 0)
	for _, types := range [][]string{{"BFloat16", "Float16"}, {"Q8_0", "Q8_0 int8"}, {"Q4_0", "Q4_1"}, {"Q4_0 int8", "Q4_1 int8"}} {
		name := strings.Join(types, ", ")
		one := 0.85
		if types[0] == "Q4_0" {
			one = 0 // its float32 arithmetic takes longer than its bytes
		}
		add(name+", m = 1", ofRead, which{op: "weights", dtypes: types, m: []int{1}, n: 4096}, toBandwidth, one, loop, apart)
		add(name+", m = 1, 1536×576", ofRead, which{op: "weights", dtypes: types, m: []int{1}, n: 1536}, toBandwidth, one, loop, apart)
		add(name+", m = 4, 16", ofRoof, few("weights", types, 4, 16), toAttainable, 0.75, loop, apart)
		add(name+", m = 64", "× float32", few("weights", types, 64), toBeside, 0.85)
	}
	add("ten products of 576×576 in a row, on a team", "of the same without meeting", which{op: "chain", dtypes: []string{"float32 team"}}, toBeside, 0.90, reason{"microseconds for the threads to meet, once", meetingMicros, nil})
	model := func(what string, tokens int, batches ...int) which {
		return which{op: modelGroup, dtypes: []string{what}, n: tokens, m: batches}
	}
	outside := func(part func(ModelRow) float64) func(Row) float64 {
		return func(r Row) float64 {
			if r.model == nil || r.model.Products == 0 {
				return math.NaN()
			}
			return part(*r.model)
		}
	}
	missing := []reason{
		{"of that roof if the products with the weights were all", outside(ModelRow.productsOfRoof), nil},
		{"of the time for attention", outside(func(r ModelRow) float64 { return r.Attention }), nil},
		{"of the time for norms, activations, the threads to meet", outside(func(r ModelRow) float64 { return 1 - r.Products - r.Attention }), nil},
	}
	times := func(count float64) func(Row) float64 { return func(r Row) float64 { return r.Ours * count } }
	add("the model is opened", "times in 0.3 s", model("load", 0), times(0.3), 1)
	add("the model reads 200 tokens", "times in a second", model("prefill", 200), times(1./200), 1)
	add("the model reads 512 tokens", overLlama, model("prefill", 512), toOpenBLAS, 2)
	add("the same", "of its roof in float32", model("prefill", 512), toAttainable, 0.60)
	add("the model writes, one sequence", overLlama, model("decode", 64, 1), toOpenBLAS, 2)
	add("the same", ofRoofInt8, model("decode", 64, 1), toAttainable, 0.70, missing...)
	add("the model writes, 2 to 16 sequences", overLlama, model("decode", 64, 2, 4, 8, 16), toOpenBLAS, 0)
	add("the same", ofRoofInt8, model("decode", 64, 2, 4, 8, 16), toAttainable, 0.60, missing...)
	return all
}

// A column of the table is what the stored runs of one machine reached with one
// instruction set.
type column struct {
	about []string
	rows  []Row
}

// columnsOf puts the runs together, by machine and instruction set, in their order.
func columnsOf(runs []Report) []*column {
	var all []*column
	byKey := map[string]*column{}
	for _, r := range runs {
		rows := r.Rows
		if r.Model != nil {
			for _, x := range r.Model.Rows {
				rows = append(rows, Row{Op: modelGroup, DType: x.What, M: x.Batch, N: x.Tokens, Threads: x.Threads, ISA: r.Model.ISA, Ours: x.Ours, RatioOpenBLAS: x.Ratio, RatioAttainable: x.ofRoof(), model: &x})
			}
		}
		for _, row := range rows {
			key := fmt.Sprint(r.Host.CPU, r.Host.Caches, row.ISA)
			c := byKey[key]
			if c == nil {
				c = &column{about: []string{r.Host.String(), "Kernels: " + row.ISA}}
				byKey[key], all = c, append(all, c)
			}
			if beside := r.beside(); !slices.Contains(c.about, beside) {
				c.about = append(c.about, beside)
			}
			c.rows = append(c.rows, row)
		}
	}
	return all
}

// beside names what the run was compared with.
func (r Report) beside() string {
	if r.Model == nil {
		return "OpenBLAS: " + strings.Join(strings.Fields(r.OpenBLAS), " ")
	}
	var builds []string
	for _, b := range r.Model.LlamaCPP {
		build, _, _ := strings.Cut(b, ",")
		builds = append(builds, build)
	}
	return "llama.cpp: " + strings.Join(builds, ", ")
}

// none stands for what a run did not measure.
const none = "–"

// span returns the range of a figure over some of the rows, its least, and whether one of
// them is doubtful; the text is none where there is no such row.
func span(rows []Row, of which, figure func(Row) float64) (text string, low float64, doubtful bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		if v := figure(row); of.has(row) && !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
			doubtful = doubtful || row.Doubt != ""
		}
	}
	if low > high {
		return none, low, false
	}
	text = fmt.Sprintf("%.2f", low)
	if top := fmt.Sprintf("%.2f", high); top != text {
		text += " to " + top
	}
	return text, low, doubtful
}

// cell returns what the rows reached of a goal and, where it falls short, why, by the
// numbers of reasons, to which it adds.
func (g goal) cell(rows []Row, reasons *[]string) string {
	text, low, doubtful := span(rows, g.of, g.ratio)
	if doubtful {
		text += " (doubtful)"
	}
	if text == none || math.Round(low*100)/100 >= g.min {
		return text
	}
	text += " (short"
	for _, r := range g.short {
		of := g.of
		if r.of != nil {
			of = *r.of
		}
		figure, _, _ := span(rows, of, r.figure)
		if figure == none {
			continue
		}
		if !slices.Contains(*reasons, r.text) {
			*reasons = append(*reasons, r.text)
		}
		text += fmt.Sprintf("; %s [%d]", figure, slices.Index(*reasons, r.text)+1)
	}
	return text + ")"
}

// table returns the goals and what the runs reached, in Markdown.
func table(runs ...Report) string {
	var b strings.Builder
	columns := columnsOf(runs)
	head, line := "| work | figure | to reach |", "|---|---|---:|"
	for i, c := range columns {
		fmt.Fprintf(&b, "- **%c**: %s.\n", 'A'+i, strings.Join(c.about, ". "))
		head += fmt.Sprintf(" %c |", 'A'+i)
		line += "---:|"
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", head, line)
	var reasons []string
	for _, g := range goals() {
		want := none
		if g.min > 0 {
			want = fmt.Sprintf("%.2f", g.min)
		}
		cells, measured := "", false
		for _, c := range columns {
			text := g.cell(c.rows, &reasons)
			measured = measured || text != none
			cells += " " + text + " |"
		}
		if measured {
			fmt.Fprintf(&b, "| %s | %s | %s |%s\n", g.work, g.what, want, cells)
		}
	}
	if len(reasons) > 0 {
		b.WriteString("\nBeside what falls short, the same run measured:\n\n")
	}
	for i, reason := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, reason)
	}
	return b.String()
}

// readReports reads stored runs.
func readReports(paths ...string) ([]Report, error) {
	all := make([]Report, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r := &all[i]
		if err = json.Unmarshal(text, r); err == nil {
			switch {
			case r.Host.Arch == "":
				err = errors.New("it has no host")
			case len(r.Rows) == 0 && r.Model == nil:
				err = errors.New("it has no rows")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not a stored run of compare (%w): go run ./scripts/compare --json > FILE makes one", path, err)
		}
	}
	return all, nil
}
