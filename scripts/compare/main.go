// Command compare times the multiplies of pkg/matmul against OpenBLAS (the one
// that numpy bundles) and gonum, in turn within one run, and against this
// machine's own roofs, measured in the same run.
//
//	go run ./scripts/compare [--quick] [--json] [--isa NAME] [--python PATH]
//	go run ./scripts/compare --table FILE
//
// The second form prints what a run that was stored with --json reached, as the
// table in the README.
//
// OpenBLAS is driven from C, so it needs a C compiler (cc, or $CC) and a Python
// that has numpy (by default .venv/bin/python, then python3), as
// scripts/requirements-compare.txt pins it. Where either is missing its columns
// stay empty, and the first line says why.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/matmul"
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

	// Attainable is min(peak, read bandwidth · intensity); AtLeast is the rate
	// when arithmetic and traffic do not overlap at all. Real code lands between.
	Attainable float64 `json:"attainable_gflops"`
	AtLeast    float64 `json:"attainable_sum_gflops"`

	RatioOpenBLAS   *float64 `json:"ratio_openblas"`
	RatioPeak       float64  `json:"ratio_peak"`
	RatioAttainable float64  `json:"ratio_attainable"`

	OursMedian     float64  `json:"ours_median_gflops"`
	OpenBLASMedian *float64 `json:"openblas_median_gflops"`
	ReadGBps       float64  `json:"read_gbps"` // bandwidth of so many threads
	OursGBps       float64  `json:"ours_gbps"` // least traffic over our time
	Copies         int      `json:"copies"`    // weight matrices in rotation
	Resident       bool     `json:"resident"`  // they may stay in the last-level cache
	Turns          int      `json:"turns"`     // of each side
}

// A Report is a whole run.
type Report struct {
	Host     bench.Host `json:"host"`
	OpenBLAS string     `json:"openblas"` // version and kernel, or why it is missing
	ISAs     []string   `json:"isas"`
	Rows     []Row      `json:"rows"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run() error {
	quick := flag.Bool("quick", false, "fewer shapes and turns: under 40 seconds")
	asJSON := flag.Bool("json", false, "print the report as JSON")
	isa := flag.String("isa", "", "instruction set of our kernels: "+strings.Join(matmul.ISAs(), ", ")+" (default: the best)")
	python := flag.String("python", "", "a Python that has numpy")
	core := flag.String("openblas-core", "", "kernel for OpenBLAS to use (its OPENBLAS_CORETYPE); default: its own choice")
	only := flag.String("only", "", "run only the shapes whose name contains this")
	stored := flag.String("table", "", "print what this stored run reached, in Markdown, and measure nothing")
	memory := flag.Int64("memory", 1<<30, "most bytes of weight matrices on each side")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("argument %q is not understood", flag.Arg(0))
	}
	if *stored != "" {
		r, err := readReport(*stored)
		if err != nil {
			return err
		}
		fmt.Print(table(r))
		return nil
	}
	if *isa == "" {
		*isa = matmul.ISAs()[0]
	}
	if _, err := matmul.BlockingOf[float32](*isa); err != nil {
		return err
	}
	debug.SetGCPercent(-1) // a collection would fall into somebody's turn

	host := bench.ReadHost()
	report := Report{Host: host, ISAs: matmul.ISAs()}
	blas, err := startOpenBLAS(*python, *core)
	if err != nil {
		report.OpenBLAS = "missing: " + err.Error()
	} else {
		defer blas.stop()
		report.OpenBLAS = blas.config
	}
	if !*asJSON {
		fmt.Println(host)
		fmt.Println("OpenBLAS:", report.OpenBLAS)
	}
	var shapes []shape
	for _, s := range allShapes(*quick, host.GOMAXPROCS) {
		if strings.Contains(s.String(), *only) {
			shapes = append(shapes, s)
		}
	}
	m := &meter{isa: *isa, blas: blas, quick: *quick, memory: *memory, lastLevel: 32 << 20}
	if c, ok := host.LastLevel(); ok {
		m.lastLevel = c.Bytes
	}
	if host.Free > 0 {
		m.memory = min(m.memory, host.Free/4)
	}
	start := time.Now()
	if !*asJSON {
		fmt.Println(header)
	}
	for i, s := range shapes {
		fmt.Fprintf(os.Stderr, "\r%d of %d, %.0f s: %-60s", i+1, len(shapes), time.Since(start).Seconds(), s)
		row, err := m.measure(s)
		fmt.Fprintf(os.Stderr, "\r%-90s\r", "")
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		report.Rows = append(report.Rows, row)
		if !*asJSON {
			fmt.Println(row)
		}
	}
	if *asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", " ")
		return e.Encode(report)
	}
	fmt.Printf("%d shapes in %.0f s\n", len(shapes), time.Since(start).Seconds())
	return nil
}

const header = "op   type     m     n     k    threads   ours  median  openblas median  gonum    peak  attainable(…sum)  | ×openblas  of peak  of attainable"

func (r Row) String() string {
	opt := func(format string, v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf(format, *v)
	}
	note := ""
	if r.Copies > 1 || r.Resident {
		note = fmt.Sprintf("  %.1f of %.1f GB/s, %d matrices", r.OursGBps, r.ReadGBps, r.Copies)
		if r.Resident {
			note += ", resident in cache"
		}
	}
	return fmt.Sprintf("%-4s %-7s %5d %5d %5d %3d %-7s %8.1f %7.1f %8s %7s %6s %8.1f %9.1f (%.1f)  | %6s %8.2f %8.2f%s",
		r.Op, r.DType, r.M, r.N, r.K, r.Threads, r.ISA, r.Ours, r.OursMedian, opt("%.1f", r.OpenBLAS), opt("%.1f", r.OpenBLASMedian),
		opt("%.1f", r.Gonum), r.Peak, r.Attainable, r.AtLeast, opt("%.2f", r.RatioOpenBLAS), r.RatioPeak, r.RatioAttainable, note)
}
