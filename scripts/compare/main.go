// Command compare times the multiplies of pkg/matmul against OpenBLAS (the one
// that numpy bundles) and gonum, in turn within one run, and against this
// machine's own roofs, measured in the same run.
//
//	go run ./scripts/compare                about five minutes
//	go run ./scripts/compare --quick        half a minute, fewer shapes and turns
//	go run ./scripts/compare --only gemv    one group of rows
//	go run ./scripts/compare --json > FILE  store a run
//	go run ./scripts/compare --bench > FILE the samples, for benchstat
//	go run ./scripts/compare --table FILE…  print what stored runs reached
//
// The last form prints the table in README.md. --help tells the other flags and
// what the columns are. Rows that other work on the machine or a changing clock
// may have spoilt are marked as doubtful.
//
// OpenBLAS is driven from C, so it needs a C compiler (cc, or $CC) and a Python
// that has numpy (by default .venv/bin/python, then python3), as
// scripts/requirements-compare.txt pins it. Where either is missing its columns
// stay empty, and the first line says why.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/scripts/internal/command"
)

// A Row is one shape, measured. Rates are in GFLOP/s, from the best turn; those
// of gonum and OpenBLAS are null where they did not run.
type Row struct {
	Op      string `json:"op"` // "gemm" or "gemv"
	DType   string `json:"dtype"`
	M       int    `json:"m"`
	N       int    `json:"n"`
	K       int    `json:"k"`
	Threads int    `json:"threads"`
	ISA     string `json:"isa"` // of our kernel

	Ours     float64  `json:"ours_gflops"`
	OpenBLAS *float64 `json:"openblas_gflops"`
	Gonum    *float64 `json:"gonum_gflops"`
	Peak     float64  `json:"peak_gflops"` // of so many threads

	// Attainable is min(peak, read bandwidth · intensity); Serial is the rate
	// when arithmetic and traffic do not overlap at all. Real code lands between.
	Attainable float64 `json:"attainable_gflops"`
	Serial     float64 `json:"attainable_sum_gflops"`

	RatioOpenBLAS   *float64 `json:"ratio_openblas"`
	RatioPeak       float64  `json:"ratio_peak"`
	RatioAttainable float64  `json:"ratio_attainable"`

	OursMedian     float64  `json:"ours_median_gflops"`
	OpenBLASMedian *float64 `json:"openblas_median_gflops"`
	ReadGBps       float64  `json:"read_gbps"` // bandwidth of so many threads
	OursGBps       float64  `json:"ours_gbps"` // compulsory traffic over our time
	Copies         int      `json:"copies"`    // weight matrices in rotation
	Resident       bool     `json:"resident"`  // they may stay in the last-level cache
	Turns          int      `json:"turns"`     // of each side

	// Beside is another way of ours to the same result, and RatioBeside how many times
	// as fast ours is in the middle turn; null where there is none.
	Beside      string   `json:"beside,omitempty"`
	RatioBeside *float64 `json:"ratio_beside,omitempty"`

	// InCache is what the loop reaches without memory: one thread on weights that stay in
	// its L2, times the threads; null where they do not rotate.
	InCache *float64 `json:"in_cache_gflops,omitempty"`

	Doubt string `json:"doubt,omitempty"` // why the row may be wrong

	model   *ModelRow      // what this was made of, in a table
	weights bool           // meant to be bound by memory
	results []bench.Result // ours, and OpenBLAS's
}

// A Report is a whole run.
type Report struct {
	Host     machine.Host `json:"host"`
	OpenBLAS string       `json:"openblas"` // version and kernel, or why it is missing
	ISAs     []string     `json:"isas"`
	Rows     []Row        `json:"rows"`
	Model    *ModelReport `json:"model,omitempty"`
}

func main() { command.Main(run) }

// run returns the exit code; see [command.Run].
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("compare", stderr, func() (choice, error) { return parse(args, stdout) }, func(c choice) error {
		if c.table != nil {
			runs, err := readReports(c.table...)
			if err == nil {
				_, err = io.WriteString(stdout, table(runs...))
			}
			return err
		}
		return compare(ctx, c, stdout, stderr)
	})
}

type choice struct {
	quick, json       bool
	bench             bool
	isa, python, core string
	only              string
	table             []string // files
	memory            int64
	tuning            matmul.Tuning
	host              machine.Host
	shapes            []shape
}

const usage = "usage: go run ./scripts/compare [--quick] [--json | --bench] [--only NAME] [--isa NAME] [--python PATH]\n" +
	"                                [--openblas-core NAME] [--memory SIZE] [--tuning LIST]\n" +
	"       go run ./scripts/compare --table FILE…"

const legend = `
Rates are in GFLOP/s. "ours" and "openblas" are the best turn and "median" is the
median turn; peak is the best of the turns of a loop without loads, on as many
threads, in the arithmetic of the row: float32, float64, or bytes where activations
are rounded to 8 bits ("int8"). attainable is min(peak, read bandwidth × intensity), and its sum is the
rate if arithmetic and traffic did not overlap. ×openblas, of peak and of
attainable are ratios of the best turns.

The shapes that are meant to be bound by memory rotate over several matrices of
weights. Their rows end, for instance, with "25.5 of 29.9 GB/s, 16 matrices": our
best turn moved its operands once at 25.5 GB/s, and reading the weights alone, on
as many threads, reached 29.9 GB/s. "resident in cache" says that the matrices
are fewer than 4 times the last-level cache, so that some may stay in it. "170.0
GFLOP/s from L2" is the loop without memory: one thread's rate on weights that stay in
its L2, times the threads. "1.05 ×
float32" says that ours, in the middle turn, is so many times as fast as another
way of ours: weights in float32, a chain whose threads never meet, products one by
one, or the tuning that go run ./scripts/roof found, where it is not the default.

A row is doubtful if a median lies more than 20% below its best, or if the peak of
several threads is below 1.3 times that of one thread before it, or below our rate: other work on
the machine, a changing clock and threads that share a core do that. A ?? marks
such a row, in JSON the field "doubt", and in the table of --table "(doubtful)".`

func parse(args []string, help io.Writer) (choice, error) {
	c := choice{host: machine.ReadHost(), memory: 1 << 30, tuning: matmul.DefaultTuning()}
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.BoolVar(&c.quick, "quick", false, "fewer shapes and turns: under a minute instead of about five")
	f.BoolVar(&c.json, "json", false, "print the run as JSON, for --table to read")
	f.BoolVar(&c.bench, "bench", false, "print the samples in the Go benchmark format, for benchstat to read")
	f.StringVar(&c.isa, "isa", "", "instruction set of our kernels, a `name` of: "+strings.Join(matmul.ISAs(), ", ")+" (default: the best)")
	f.StringVar(&c.python, "python", "", "the `path` of a Python that has numpy (default: .venv/bin/python, then python3)")
	f.StringVar(&c.core, "openblas-core", "", "the `name` of the kernel that OpenBLAS uses, its OPENBLAS_CORETYPE (default: its own choice)")
	f.StringVar(&c.only, "only", "", "run only the shapes with this in their `name`, for instance \"float32 512x512x512, 1 thread\", or a group of them: "+strings.Join(slices.Sorted(maps.Keys(ops)), ", ")+"; \"model\" times the language model against llama.cpp, in tokens/s")
	stored := f.String("table", "", "print what the runs in this `file` and those named after it reached, in Markdown, and measure nothing")
	f.Var(&c.tuning, "tuning", "numbers of the multiplies of few rows to try beside the default, a `list` such as streams=8,ahead=4 (default: what the machine file holds)")
	f.Var((*command.Size)(&c.memory), "memory", "the most memory for weights on each side, a `size` such as 512MiB (default: 1GiB); at most a quarter of what is free")
	if err := command.Parse(f, args, help, usage, legend); err != nil {
		return c, err
	}
	if *stored != "" {
		if f.NFlag() > 1 {
			return c, errors.New("--table goes with no other flag")
		}
		c.table = append([]string{*stored}, f.Args()...)
		return c, nil
	}
	if err := command.OnlyFlags(f, []string{"json", "bench"}); err != nil {
		return c, err
	}
	if c.isa == "" {
		c.isa = matmul.ISAs()[0]
	}
	if !slices.Contains(matmul.ISAs(), c.isa) {
		return c, fmt.Errorf("--isa is %q: here it must be one of %s", c.isa, strings.Join(matmul.ISAs(), ", "))
	}
	if c.only == modelGroup {
		return c, nil
	}
	if mine, err := machine.Load(machine.Path()); err == nil && machine.Other(mine, c.host) == "" && c.tuning == matmul.DefaultTuning() {
		c.tuning = mine.TuningFor(c.isa)
	}
	all := allShapes(c.quick, c.host.GOMAXPROCS)
	var err error
	c.shapes, err = choose(all, c.only)
	return c, err
}

// choose returns the shapes with a text in their names; an x stands for × too.
func choose(all []shape, only string) ([]shape, error) {
	var chosen []shape
	names := ""
	for _, s := range all {
		if strings.Contains(s.String(), strings.ReplaceAll(only, "x", "×")) {
			chosen = append(chosen, s)
		}
		names += "\n  " + s.String()
	}
	if chosen == nil {
		return nil, fmt.Errorf("--only is %q: no shape of this run has that in its name; the names are%s", only, names)
	}
	return chosen, nil
}

// compare measures the shapes and prints them.
func compare(ctx context.Context, c choice, stdout, stderr io.Writer) error {
	if c.only == modelGroup {
		return compareModel(ctx, c, stdout)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would fall into somebody's turn

	report := Report{Host: c.host, ISAs: matmul.ISAs()}
	blas, err := startOpenBLAS(ctx, c.python, c.core)
	if err != nil && c.python != "" {
		return command.Mistake(fmt.Sprintf("python is %q: %v", c.python, err)) // who names one wants OpenBLAS
	}
	if err != nil {
		report.OpenBLAS = "missing: " + err.Error()
	} else {
		defer blas.stop()
		report.OpenBLAS = blas.is
	}
	text := !c.json && !c.bench
	if text {
		fmt.Fprintf(stdout, "%s\nOpenBLAS: %s\n", c.host, report.OpenBLAS)
	}
	m := &meter{ctx: ctx, isa: c.isa, tuning: c.tuning, blas: blas, options: options(c.quick), memory: c.memory, host: c.host}
	defer m.close()
	start := time.Now()
	if text {
		fmt.Fprintln(stdout, header)
	}
	show := command.Terminal(stderr)
	for i, s := range c.shapes {
		if show {
			fmt.Fprintf(stderr, "\r%d of %d, %.0f s: %-60s", i+1, len(c.shapes), time.Since(start).Seconds(), s)
		}
		row, err := m.measure(s)
		if show {
			fmt.Fprintf(stderr, "\r%-90s\r", "")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, cmp.Or(ctx.Err(), err))
		}
		row.Doubt = doubt(row, report.Rows)
		report.Rows = append(report.Rows, row)
		if text {
			fmt.Fprintln(stdout, row)
		}
	}
	if c.bench {
		fmt.Fprint(stderr, summary(report.Rows))
		return bench.WriteBenchmarks(stdout, c.host.CPU, benchmarks(report.Rows)...)
	}
	if c.json {
		fmt.Fprint(stderr, summary(report.Rows))
		return command.PrintJSON(stdout, report)
	}
	_, err = fmt.Fprintf(stdout, "%s in %.0f s\n%s", bench.Plural(len(c.shapes), "shape"), time.Since(start).Seconds(), summary(report.Rows))
	return err
}

// benchmarks returns the results of rows under the names that benchstat shows.
func benchmarks(rows []Row) []bench.Result {
	var all []bench.Result
	for _, r := range rows {
		for _, x := range r.results {
			x.Name = fmt.Sprintf("%s/type=%s/m=%d/n=%d/k=%d/by=%s", r.Op, r.DType, r.M, r.N, r.K, x.Name)
			x.Work, x.Threads = r.results[0].Work, r.Threads
			all = append(all, x)
		}
	}
	return all
}

const header = "op      type             m     n     k    threads   ours  median  openblas median  gonum    peak  attainable(…sum)  | ×openblas  of peak  of attainable"

func (r Row) String() string {
	opt := func(format string, v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf(format, *v)
	}
	note := ""
	if r.weights {
		matrices := "1 matrix"
		if r.Copies > 1 {
			matrices = fmt.Sprintf("%d matrices", r.Copies)
		}
		note = fmt.Sprintf("  %.1f of %.1f GB/s, %s", r.OursGBps, r.ReadGBps, matrices)
		if r.Resident {
			note += ", resident in cache"
		}
	}
	if r.InCache != nil {
		note += fmt.Sprintf(", %.1f GFLOP/s from L2", *r.InCache)
	}
	if r.RatioBeside != nil {
		note += fmt.Sprintf("  %.2f × %s", *r.RatioBeside, r.Beside)
	}
	if r.Doubt != "" {
		note += "  ?? doubtful: " + r.Doubt
	}
	return fmt.Sprintf("%-7s %-12s %5d %5d %5d %3d %-7s %8.1f %7.1f %8s %7s %6s %8.1f %9.1f (%.1f)  | %6s %8.2f %8.2f%s",
		r.Op, r.DType, r.M, r.N, r.K, r.Threads, r.ISA, r.Ours, r.OursMedian, opt("%.1f", r.OpenBLAS), opt("%.1f", r.OpenBLASMedian),
		opt("%.1f", r.Gonum), r.Peak, r.Attainable, r.Serial, opt("%.2f", r.RatioOpenBLAS), r.RatioPeak, r.RatioAttainable, note)
}
