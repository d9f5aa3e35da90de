package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/roofline"
)

// Ladder is a set of multiplies in float32, timed in one run, and the machine whose
// roofs they stand under.
type Ladder struct {
	Host    machine.Host
	Machine machine.Machine
	ISA     string // instruction set of the SIMD kernels
	Threads int    // of the multiplies that use all cores
	// One and All are the roofs of memory for one thread and for all threads.
	One, All roofline.Machine
	// Results are the multiplies in the order asked for.
	Results []Result
	// Notes say how to read the figures: what was read, where it lies.
	Notes []string
	// Warnings are those of the machine; each result has its own.
	Warnings []string
}

// Result is a multiply, measured. Its work counts the FLOPs and the bytes of the model.
type Result struct {
	bench.Result
	Rows int // of C that a call computes
	// Footprint is the bytes of all data that the calls go through before any of
	// them comes round again: it decides which level of memory holds them.
	Footprint int64
}

// FLOPS returns the rate of the best sample in FLOP/s.
func (r Result) FLOPS() float64 { return r.GFLOPS() * 1e9 }

// Step is a multiply to time: C = A·B in float32.
type Step struct {
	Name     string
	Multiply matmul.Func[float32]
	Threads  int // that it uses at most
	// Rows is how many rows of C a call computes, the first ones, over the whole of B;
	// 0 is all of them.
	Rows int
	// Bytes is the traffic of a call as the model counts it; 0 counts each matrix once.
	Bytes int64
}

const (
	maxSide = 4096 // above it the plain loops take minutes
	// bandSeconds is about how long a call of a slow rung takes.
	bandSeconds = 0.3
	quickBand   = 0.05 // of a band, where figures need not be any good
)

// Climb times rungs of [Rungs], by name, or all of them without names: C = A·B for
// n×n matrices of float32, of which the slow rungs compute a band of rows if n is
// large; a note says how many. The bytes of each result are those of the rung's
// traffic. Every product is verified before it is timed. mine is the machine whose
// roofs the results are held against, see [machine.Mine].
func Climb(mine machine.Machine, n int, o bench.Options, names ...string) (Ladder, error) {
	rungs, err := named(names)
	if err != nil {
		return Ladder{}, err
	}
	if n < 1 || n > maxSide {
		return Ladder{}, fmt.Errorf("ladder: n is %d: it must be from 1 to %d", n, maxSide)
	}
	return Time(mine, n, o, climb(rungs, n, machine.ReadHost().GOMAXPROCS)...)
}

// inBand returns what a call on a band of rows takes, of what it usually does.
func inBand(usual float64) float64 {
	if bench.Quick() {
		return quickBand * usual
	}
	return usual
}

// climb returns the steps of rungs on so many threads.
func climb(rungs []Rung, n, threads int) []Step {
	var steps []Step
	for _, r := range rungs {
		s := Step{Name: r.Name, Multiply: r.Multiply, Threads: 1, Rows: r.rows(n, inBand(bandSeconds))}
		s.Bytes = r.Traffic(roofline.GEMM{M: int64(s.Rows), N: int64(n), K: int64(n), ElemBytes: 4}).Bytes(4)
		switch {
		case r.Name == "gonum":
			s.Threads = bench.GonumThreads(n, n, threads)
		case r.Parallel:
			s.Threads = threads
		}
		steps = append(steps, s)
	}
	return steps
}

// Time times steps for n×n matrices as [Climb] does.
func Time(mine machine.Machine, n int, o bench.Options, steps ...Step) (Ladder, error) {
	if n < 1 || n > maxSide {
		return Ladder{}, fmt.Errorf("ladder: n is %d: it must be from 1 to %d", n, maxSide)
	}
	var bands [][2]string       // name, rows
	steps = slices.Clone(steps) // they stay the caller's
	for i := range steps {
		s := &steps[i]
		if s.Rows < 0 || s.Rows > n {
			return Ladder{}, fmt.Errorf("ladder: Rows of %q is %d: it must be from 1 to n = %d, or 0 for all", s.Name, s.Rows, n)
		}
		s.Rows = cmp.Or(s.Rows, n)
		if s.Rows < n {
			bands = append(bands, [2]string{s.Name, fmt.Sprint(s.Rows)})
		}
	}
	l, err := under(mine)
	if err == nil {
		err = l.time(n, 0, o, steps)
	}
	if len(bands) > 0 {
		l.Notes = append(l.Notes, "rows of C computed, over all of B: "+together(bands, len(steps)))
	}
	return l, err
}

// OneCore times the rungs that run on one core, all with the compulsory traffic: each
// matrix crosses once. So they stand above each other under a roof.
func OneCore(mine machine.Machine, n int, o bench.Options) (Ladder, error) {
	var steps []Step
	for _, r := range Rungs() {
		if !r.Parallel {
			steps = append(steps, Step{Name: r.Name, Multiply: r.Multiply, Threads: 1})
		}
	}
	return Time(mine, n, o, steps...)
}

const (
	maxDecodeRows = 1024
	maxDecodeSide = 16384
)

// Decode times the multiply of m rows with a weight matrix of size×size elements of
// float32, on all cores, for each m in rows: C[m,n] = A[m,k]·B[k,n]. Its bytes are
// the compulsory ones. The calls go over enough weight matrices to make four times
// the last-level caches where memory allows, so that they come from memory; the notes
// and warnings say how far that held. Otherwise it is as [Climb].
func Decode(mine machine.Machine, size int, rows []int, o bench.Options) (Ladder, error) {
	if size < 1 || size > maxDecodeSide {
		return Ladder{}, fmt.Errorf("ladder: size is %d: it must be from 1 to %d", size, maxDecodeSide)
	}
	if len(rows) == 0 {
		return Ladder{}, fmt.Errorf("ladder: rows is empty: give at least one number of rows")
	}
	for _, m := range rows {
		if m < 1 || m > maxDecodeRows {
			return Ladder{}, fmt.Errorf("ladder: rows has %d: each must be from 1 to %d", m, maxDecodeRows)
		}
	}
	l, err := under(mine)
	if err != nil {
		return l, err
	}
	steps, err := fewRows(mine, rows, l.Threads)
	if err == nil {
		err = l.time(size, l.Threads, o, steps)
	}
	return l, err
}

// fewRows returns the steps of so many rows of the tuned multiply on so many threads.
func fewRows(mine machine.Machine, rows []int, threads int) (steps []Step, err error) {
	multiply, err := matmul.New[float32](matmul.Threads(threads), matmul.Tuned(mine.TuningFor(matmul.ISAs()[0])))
	for _, m := range rows {
		steps = append(steps, Step{Name: fmt.Sprintf("m = %d", m), Multiply: multiply, Threads: threads, Rows: m})
	}
	return steps, err
}

// cachedSide is the side of the weights of [Cached]: 256 KiB in float32.
const cachedSide = 256

// Cached times the multiply of [Decode] on one core, with weights of 256×256 elements
// that stay in a cache: what the kernel costs where nothing has to be waited for.
func Cached(mine machine.Machine, rows []int, o bench.Options) (Ladder, error) {
	steps, err := fewRows(mine, rows, 1)
	if err != nil {
		return Ladder{}, err
	}
	return Time(mine, cachedSide, o, steps...)
}

// under returns a ladder without results under a machine's roofs.
func under(mine machine.Machine) (l Ladder, err error) {
	l = Ladder{Host: machine.ReadHost(), Machine: mine, ISA: matmul.ISAs()[0]}
	l.Threads = l.Host.GOMAXPROCS
	err = arg.Maybe(func() {
		l.One, l.All = mine.Memory(1, "FP32", ""), mine.Memory(threadsOf(mine), "FP32", "")
	})
	if err != nil {
		return l, err
	}
	if other := machine.Other(mine, l.Host); other != "" {
		l.Warnings = append(l.Warnings, other)
	}
	return l, nil
}

// time times steps over n×n matrices B: one, or as many as leave the caches of so many
// threads, where that is not 0.
func (l *Ladder) time(n, threads int, o bench.Options, steps []Step) error {
	b, err := bench.NewRing[float32](n, n, threads, bench.RingBytes, l.Host)
	if err != nil {
		return fmt.Errorf("ladder: %w", err)
	}
	defer b.Close()
	if threads > 0 {
		l.Notes = append(l.Notes, b.Note)
	}
	if b.Doubt != "" {
		l.Warnings = append(l.Warnings, b.Doubt)
	}
	if l.Host.Quota > 0 && l.Host.Quota < float64(l.Threads) {
		l.Warnings = append(l.Warnings, fmt.Sprintf("the CPU quota of %.4g cores is less than the %d threads", l.Host.Quota, l.Threads))
	}
	var cases []bench.Case
	for _, s := range steps {
		c := bench.Multiply(s.Name, s.Rows, n, n, s.Threads, s.Multiply, b)
		if s.Bytes > 0 {
			c.Work.Bytes = float64(s.Bytes)
		}
		cases = append(cases, c)
	}
	results, err := bench.Compare(o, cases...)
	for i, r := range results {
		l.Results = append(l.Results, Result{Result: r, Rows: steps[i].Rows, Footprint: b.Bytes() + 8*int64(steps[i].Rows)*int64(n)})
	}
	return err
}

// Roof returns the roof that a result is held against: that of as many threads, of the
// level of memory that has room for its data.
func (l Ladder) Roof(r Result) roofline.Machine {
	threads := 1
	if r.Threads > 1 {
		threads = threadsOf(l.Machine)
	}
	return l.Machine.RoofFor(threads, "FP32", "", r.Footprint)
}

// threadsOf returns what all cores are to a machine's roofs.
func threadsOf(m machine.Machine) int {
	if m.Measured == nil {
		return 1
	}
	return m.Measured.Host.Threads
}

// Dots returns the results as dots, and the roofs that they stand under, each once.
func (l Ladder) Dots() (dots []roofline.Dot, roofs []roofline.Machine) {
	for _, r := range l.Results {
		roof := l.Roof(r)
		dots = append(dots, roofline.Dot{Name: r.Name, Intensity: r.Work.FLOPs / r.Work.Bytes, FLOPS: r.FLOPS(), On: roof.Name})
		if !slices.ContainsFunc(roofs, func(m roofline.Machine) bool { return m.Name == roof.Name }) {
			roofs = append(roofs, roof)
		}
	}
	return dots, roofs
}

// Tag returns what a figure needs beside it in a few words: the host, the
// instruction set that ran, the threads of the results, and what the notes say.
func (l Ladder) Tag() string {
	var threads [][2]string
	for _, r := range l.Results {
		threads = append(threads, [2]string{r.Name, fmt.Sprint(r.Threads)})
	}
	parts := []string{l.Host.Tag(), "kernels " + l.ISA, "threads: " + together(threads, len(threads))}
	return strings.Join(append(parts, l.Notes...), "; ")
}

// together writes values with their names, or one value alone where all of so many
// have it.
func together(named [][2]string, all int) string {
	var parts []string
	same := len(named) == all
	for _, v := range named {
		parts = append(parts, v[0]+" "+v[1])
		same = same && v[1] == named[0][1]
	}
	if same && all > 0 {
		return named[0][1]
	}
	return strings.Join(parts, ", ")
}

// Rates returns the results and their rates: "loops 0.43 GFLOP/s, tiled 7.0
// GFLOP/s".
func (l Ladder) Rates() string {
	var rates []string
	for _, r := range l.Results {
		rates = append(rates, fmt.Sprintf("%s %s", r.Name, num.SI(r.FLOPS(), "FLOP/s")))
	}
	return strings.Join(rates, ", ")
}

// aboveRoof is how far above the level part of its roof a rate may stand before
// the roof is doubted: the loop that finds it is disturbed as any other.
const aboveRoof = 1.02

// Doubts returns why the figures may be doubted, each with its reason.
func (l Ladder) Doubts() []string {
	all := slices.Clone(l.Warnings)
	for _, r := range l.Results {
		if len(r.Result.Warnings) > 0 {
			all = append(all, r.Name+": "+strings.Join(r.Result.Warnings, ", "))
		}
		roof := l.One
		if r.Threads > 1 {
			roof = l.All
		}
		if roof.Peak > 0 && r.FLOPS() > aboveRoof*roof.Peak {
			all = append(all, r.Name+" stands above the peak, so the peak was measured too low: measure the roofs again")
		}
	}
	return all
}
