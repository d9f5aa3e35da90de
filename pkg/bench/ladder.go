package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"memorywall/pkg/matmul"
	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

// Ladder is a set of multiplies, timed in one run with the roofs of this
// machine, which loops in registers and over memory find.
type Ladder struct {
	Host Host   `json:"host"`
	ISA  string `json:"isa"` // instruction set of the SIMD kernels and of the roofs
	// One and All are the roofs of one thread and of Threads threads, in float32.
	One     roofline.Machine `json:"one"`
	All     roofline.Machine `json:"all"`
	Threads int              `json:"threads"`
	// Results are the multiplies in the order asked for. Their work counts
	// the FLOPs and the bytes of the model.
	Results []Result `json:"results"`
	// Roofs are the loops that found the roofs.
	Roofs []Result `json:"roofs"`
	// Notes say how to read the figures: what was read, where it lies.
	Notes []string `json:"notes,omitempty"`
	// Warnings are those of the machine; each result has its own.
	Warnings []string `json:"warnings,omitempty"`
}

const maxClimb = 2048 // side: above it the plain loops take minutes

// Climb times rungs of [matmul.Rungs], by name, or all of them without names:
// C = A·B for n×n matrices of float32. The bytes of each result are those of
// the rung's model. Every product is verified before it is timed.
func Climb(n int, o Options, names ...string) (Ladder, error) {
	if n < 1 || n > maxClimb {
		return Ladder{}, fmt.Errorf("bench: n is %d: it must be from 1 to %d", n, maxClimb)
	}
	rungs, err := rungsOf(names)
	if err != nil {
		return Ladder{}, err
	}
	l := newLadder()
	p := &problems{random: rand.New(rand.NewPCG(1, 2))}
	g := roofline.Square(int64(n), 4)
	var cases []Case
	for _, r := range rungs {
		bytes := r.Work(g).Bytes(g.ElemBytes)
		threads := 1
		switch {
		case r.Name == "gonum":
			threads = gonumThreads(n, n, l.Threads)
		case r.Parallel:
			threads = l.Threads
		}
		c := gemmCase(p, r.Name, n, threads, r.F32)
		c.Work.Bytes = float64(bytes)
		cases = append(cases, c)
	}
	return l.time(o, p, nil, cases)
}

// rungsOf returns the rungs with these names, in the order of the names.
func rungsOf(names []string) ([]matmul.Rung, error) {
	all := matmul.Rungs()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, r := range all {
		known = append(known, r.Name)
	}
	var rungs []matmul.Rung
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("bench: rung is %q: it must be one of %s", name, strings.Join(known, ", "))
		}
		rungs = append(rungs, all[i])
	}
	return rungs, nil
}

const maxDecodeRows = 1024

// Decode times the multiply of m rows with a weight matrix of size×size
// elements of float32, on all cores, for each m in rows: C[m,n] = A[m,k]·B[k,n].
// Its bytes are the compulsory ones. The calls go over enough weight matrices to
// make four times the last-level cache where memory allows, so that they come
// from memory; the notes and warnings say how far that held. Every product is
// verified before it is timed.
func Decode(size int, rows []int, o Options) (Ladder, error) {
	l := newLadder()
	if least := leastDecode(l.Threads); size < least || size > maxVector {
		return Ladder{}, fmt.Errorf("bench: size is %d: it must be from %d to %d on %s", size, least, maxVector, plural(l.Threads, "thread"))
	}
	if len(rows) == 0 {
		return Ladder{}, fmt.Errorf("bench: rows is empty: give at least one number of rows")
	}
	for _, m := range rows {
		if m < 1 || m > maxDecodeRows {
			return Ladder{}, fmt.Errorf("bench: rows has %d: each must be from 1 to %d", m, maxDecodeRows)
		}
	}
	count, notes, warnings, err := rotation(size, l.Threads, l.Host)
	if err != nil {
		return Ladder{}, err
	}
	l.Notes, l.Warnings = notes, warnings
	p := &problems{random: rand.New(rand.NewPCG(1, 2))}
	weights, free, err := newRotating(smallInts[float32](p, size*size), size, count)
	if err != nil {
		return Ladder{}, err
	}
	defer free()
	var cases []Case
	for _, m := range rows {
		c, err := decodeCase(p, m, l.Threads, weights)
		if err != nil {
			return Ladder{}, err
		}
		cases = append(cases, c)
	}
	return l.time(o, p, weights, cases)
}

// leastDecode is the least side of a weight matrix of which each of so many
// threads can read a part.
func leastDecode(threads int) int {
	side := 1
	for side*side/threads < probe.RoundBytes/4 {
		side++
	}
	return side
}

// rotating is a ring of equal size×size matrices.
type rotating struct {
	size int
	all  [][]float32
	at   int
}

// newRotating returns count copies of a matrix, each with memory of its own, in
// large pages where the system gives them, and a function that gives it back.
func newRotating(matrix []float32, size, count int) (*rotating, func(), error) {
	each := (len(matrix)*4-1)/probe.AlignBytes*probe.AlignBytes + probe.AlignBytes
	p, free, err := probe.Alloc(int64(each) * int64(count))
	if err != nil {
		return nil, nil, err
	}
	r := &rotating{size: size}
	for i := range count {
		x := unsafe.Slice((*float32)(unsafe.Pointer(&p[i*each])), len(matrix))
		copy(x, matrix)
		r.all = append(r.all, x)
	}
	return r, free, nil
}

func (r *rotating) next() []float32 {
	x := r.all[r.at]
	r.at = (r.at + 1) % len(r.all)
	return x
}

func decodeCase(p *problems, m, threads int, weights *rotating) (Case, error) {
	n := weights.size
	g := roofline.GEMM{M: int64(m), N: int64(n), K: int64(n), ElemBytes: 4}
	flops := g.FLOPs()
	bytes := g.MinBytes()
	a, c := smallInts[float32](p, m*n), make([]float32, m*n)
	return Case{
		Name:    fmt.Sprintf("m = %d", m),
		Work:    Work{FLOPs: float64(flops), Bytes: float64(bytes)},
		Threads: threads,
		Run:     func() { p.note(matmul.Multiply(m, n, n, a, n, weights.next(), n, c, n)) },
		Verify: func() error {
			if p.err != nil {
				return p.err
			}
			return checkColumns(p.random, m, n, a, weights.all[0], c)
		},
	}, nil
}

// checkColumns computes some columns of the m×n product of a and the n×n matrix
// b anew, in int64, where small integers are exact.
func checkColumns(random *rand.Rand, m, n int, a, b, c []float32) error {
	const columns = 4
	for range columns {
		j := random.IntN(n)
		for i := range m {
			var want int64
			for k := range n {
				want += int64(a[i*n+k]) * int64(b[k*n+j])
			}
			if got := c[i*n+j]; float64(got) != float64(want) {
				return fmt.Errorf("element (%d, %d) is %v: it must be %d", i, j, got, want)
			}
		}
	}
	return nil
}

func newLadder() Ladder {
	l := Ladder{Host: ReadHost(), ISA: matmul.ISAs()[0]}
	l.Threads = l.Host.GOMAXPROCS
	return l
}

// time times the roofs and the cases in one run. What the loop over memory reads
// is the weights where there are some, else an array of its own.
func (l Ladder) time(o Options, p *problems, weights *rotating, cases []Case) (Ladder, error) {
	counts := []int{1}
	if l.Threads > 1 {
		counts = append(counts, l.Threads)
	}
	next, free, note, warning, err := l.readable(weights)
	if err != nil {
		return Ladder{}, err
	}
	defer free()
	if note != "" {
		l.Notes = append(l.Notes, note)
	}
	if warning != "" {
		l.Warnings = append(l.Warnings, warning)
	}
	var roofs []Case
	for _, threads := range counts {
		peak, err := peakCase(p, l.ISA, threads)
		if err != nil {
			return Ladder{}, err
		}
		read, err := readCase(p, threads, next)
		if err != nil {
			return Ladder{}, err
		}
		roofs = append(roofs, peak, read)
	}
	all := append(slices.Clip(cases), roofs...)
	o, err = check(o, all)
	if err != nil {
		return Ladder{}, err
	}
	// A roof is the best that was ever seen, so its loops run on their own too,
	// in short samples, of which some are undisturbed even on a busy machine.
	short := o
	short.Samples, short.MinTime = min(3*o.Samples, maxSamples), o.MinTime/4
	progress := newSteps(stepsOf(o, all)+stepsOf(short, roofs), o.Progress)
	alone, err := compare(short, roofs, progress)
	if err != nil {
		return Ladder{}, err
	}
	results, err := compare(o, all, progress)
	if err == nil {
		err = p.err
	}
	if err != nil {
		return Ladder{}, err
	}
	l.Results, l.Roofs = results[:len(cases)], results[len(cases):]
	for i, r := range alone {
		if r.Min < l.Roofs[i].Min {
			l.Roofs[i] = r
		}
	}
	for i := 0; i < len(l.Roofs); i += 2 {
		peak, read := l.Roofs[i], l.Roofs[i+1]
		m := roofline.Machine{
			Name: plural(peak.Threads, "thread") + " of this machine", Source: "measured: " + l.Host.String(), Format: "float32", ElemBytes: 4,
			Peak: peak.GFLOPS() * 1e9, Bandwidth: read.GBps() * 1e9,
		}
		if i == 0 {
			l.One = m
		}
		l.All = m
	}
	if l.Host.Quota > 0 && l.Host.Quota < float64(l.Threads) {
		l.Warnings = append(l.Warnings, fmt.Sprintf("the CPU quota of %.4g cores is less than the %d threads", l.Host.Quota, l.Threads))
	}
	return l, nil
}

// maxReadable bounds the array that the loop over memory reads: memory that was
// never touched is slow to get on a virtual machine.
const maxReadable = 256 << 20

// readable returns what the loop over memory reads in each call, and a function
// that gives it back.
func (l Ladder) readable(weights *rotating) (next func() []float32, free func(), note, warning string, err error) {
	if weights != nil {
		return weights.next, func() {}, "", "", nil
	}
	size, warning := l.Host.MemorySet(l.Threads, maxReadable)
	size = max(size, 1<<20)
	// In large pages where the system gives them: in small ones the search for
	// pages would hold the loop back, not the memory.
	p, free, err := probe.Alloc(size)
	if err != nil {
		return nil, nil, "", "", err
	}
	probe.Fill(p)
	array := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/4)
	note = fmt.Sprintf("the bandwidth is that of reading %s", binarySize(size))
	return func() []float32 { return array }, free, note, warning, nil
}

// peakCase is a loop of multiply-adds in registers on each thread.
func peakCase(p *problems, isa string, threads int) (Case, error) {
	const rounds = 400_000
	loops := make([]*probe.Compute[float32], threads)
	for i := range loops {
		var err error
		if loops[i], err = probe.NewCompute[float32](isa); err != nil {
			return Case{}, err
		}
	}
	loop := together(threads, func(i int) error {
		loops[i].Run(rounds)
		return nil
	})
	return Case{
		Name:    "multiply-adds in registers, " + plural(threads, "thread"),
		Work:    Work{FLOPs: float64(loops[0].FLOPs()) * rounds * float64(threads)},
		Threads: threads,
		Run:     func() { p.note(loop()) },
	}, nil
}

// readCase reads what next returns, a part on each thread.
func readCase(p *problems, threads int, next func() []float32) (Case, error) {
	array := next()
	memory, err := FastestLoad(rawFloats(part(array, 0, 1)))
	if err != nil {
		return Case{}, err
	}
	read := 4 * len(part(array, 0, threads))
	loop := together(threads, func(i int) error { return memory.Load(rawFloats(part(array, i, threads)), 1) })
	return Case{
		Name:    "loads from memory, " + plural(threads, "thread"),
		Work:    Work{Bytes: float64(read) * float64(threads)},
		Threads: threads,
		Run: func() {
			array = next()
			p.note(loop())
		},
	}, nil
}

// part returns part i of so many equal ones, of whole rounds of the loops that
// read memory.
func part(x []float32, i, parts int) []float32 {
	const round = probe.RoundBytes / 4
	size := len(x) / parts / round * round
	return x[i*size:][:size]
}

func rawFloats(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// together returns a function that runs f on so many threads at once, with the
// number of each, and returns when all are done.
func together(threads int, f func(i int) error) func() error {
	errs := make([]error, threads)
	return func() error {
		var done sync.WaitGroup
		for i := range threads - 1 {
			done.Go(func() { errs[i+1] = f(i + 1) })
		}
		errs[0] = f(0)
		done.Wait()
		return errors.Join(errs...)
	}
}

// Roof returns the roof that a result is held against: that of as many threads.
func (l Ladder) Roof(r Result) roofline.Machine {
	if r.Threads > 1 {
		return l.All
	}
	return l.One
}

// String returns what a figure needs beside it: the host, the instruction set
// that runs, and the threads of the results.
func (l Ladder) String() string {
	var parts []string
	same := true
	for _, r := range l.Results {
		parts = append(parts, fmt.Sprintf("%s %d", r.Name, r.Threads))
		same = same && r.Threads == l.Results[0].Threads
	}
	if same && len(parts) > 0 {
		parts = []string{fmt.Sprint(l.Results[0].Threads)}
	}
	s := fmt.Sprintf("%s. Kernels: %s. Threads: %s.", l.Host, l.ISA, strings.Join(parts, ", "))
	for _, n := range l.Notes {
		s += " " + strings.ToUpper(n[:1]) + n[1:] + "."
	}
	return s
}

// aboveRoof is how far above the level part of its roof a rate may stand before
// the roof is doubted: the loop that finds it is disturbed as any other.
const aboveRoof = 1.02

// Doubts returns in one line why the figures may be doubted, or "none". Of
// results with warnings it gives the spread; the warnings are in the results.
func (l Ladder) Doubts() string {
	all := slices.Clone(l.Warnings)
	var disturbed []string
	for _, r := range slices.Concat(l.Results, l.Roofs) {
		if len(r.Warnings) > 0 {
			disturbed = append(disturbed, fmt.Sprintf("%s (median %.0f%% above the best)", r.Name, 100*r.Spread))
		}
	}
	if len(disturbed) > 0 {
		all = append(all, "other programs or the clock disturbed "+strings.Join(disturbed, ", "))
	}
	for _, r := range l.Results {
		if roof := l.Roof(r); roof.Peak > 0 && r.GFLOPS()*1e9 > aboveRoof*roof.Peak {
			all = append(all, r.Name+" stands above the peak, so the peak was measured too low: run it again")
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, "; ")
}
