package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"memorywall/pkg/matmul"
)

// Sizes are the sides of the square matrices of [FiveRates].
type Sizes struct {
	Small  int `json:"small"`  // plain loop and library, float64
	Large  int `json:"large"`  // library, float32
	Vector int `json:"vector"` // matrix–vector, float32
}

// DefaultSizes returns 96, 1024 and 4096.
func DefaultSizes() Sizes { return Sizes{Small: 96, Large: 1024, Vector: 4096} }

// The largest sizes: above them a single call takes minutes on a slow machine.
const (
	maxSmall  = 1024
	maxLarge  = 4096
	maxVector = 16384
)

func (s Sizes) validate() error {
	for _, f := range []struct {
		name        string
		value, most int
	}{{"Small", s.Small, maxSmall}, {"Large", s.Large, maxLarge}, {"Vector", s.Vector, maxVector}} {
		if f.value < 1 || f.value > f.most {
			return fmt.Errorf("bench: Sizes.%s is %d: it must be from 1 to %d", f.name, f.value, f.most)
		}
	}
	return nil
}

// Keys of the rates of [FiveRates].
const (
	KeyPlainSmall   = "plain_small_f64"
	KeyLibrarySmall = "library_small_f64"
	KeyLibraryLarge = "library_large_f32"
	KeyMatVecFLOPs  = "library_matvec_f32_flops"
	KeyMatVecBytes  = "library_matvec_f32_bytes"
)

// RateSamples is the number of samples that FiveRates takes by default: best
// of three.
const RateSamples = 3

// Rate is one measured rate of this machine.
type Rate struct {
	Key  string `json:"key"`  // does not depend on the sizes
	Name string `json:"name"` // says what ran, its size and its element type
	Quantity
	// Threads is the number of threads that the function uses at most.
	Threads int  `json:"threads"`
	Work    Work `json:"work"` // of one call
	// Footprint is the number of bytes that the calls go through before any of
	// them comes round again.
	Footprint int64 `json:"footprint_bytes"`
	// Notes say how to read the figure: what it counts, where its data live.
	Notes []string `json:"notes,omitempty"`
	// Warnings are those of Result, and what the machine adds to them.
	Warnings []string `json:"warnings,omitempty"`
	Result   Result   `json:"result"` // every sample
}

// String returns one line, for instance
// "gonum, 96×96 float64: 3.21 GFLOP/s (best of 3, median +1.2%), 2 threads".
func (r Rate) String() string {
	s := fmt.Sprintf("%s: %.3g %s (best of %d, median +%.1f%%)", r.Name, r.Value, r.Unit, len(r.Result.Samples), 100*r.Result.Spread)
	s += threads(r.Threads)
	if n := len(r.Warnings); n > 0 {
		s += ", " + plural(n, "warning")
	}
	return s
}

// FiveRates measures five rates of this machine, in one interleaved run:
//
//   - the plain loop on s.Small × s.Small matrices of float64, GFLOP/s;
//   - the library (gonum) on the same, GFLOP/s;
//   - the library on s.Large × s.Large matrices of float32, GFLOP/s;
//   - the library's matrix–vector multiply M·x with M of s.Vector × s.Vector
//     float32, GFLOP/s;
//   - the same in GB/s of matrix bytes read (one measurement, two units).
//
// Every product is verified exactly before it is timed. A matrix multiply of
// side n counts 2n³ FLOPs and 3n² elements (each matrix once); M·x counts 2n²
// FLOPs and the n² elements of M.
//
// The matrix–vector multiply goes from one matrix to the next, over enough of
// them to make four times the last-level cache where memory allows, so that it
// reads memory and not a cache; the rate's notes and warnings say how far that
// held.
//
// o.Samples = 0 means [RateSamples] here. It returns an error that names the
// size which is out of range or needs more memory than is free.
func FiveRates(s Sizes, o Options) ([]Rate, error) {
	return fiveRates(s, o, ReadHost())
}

func fiveRates(s Sizes, o Options, h Host) ([]Rate, error) {
	if o.Samples == 0 {
		o.Samples = RateSamples
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	count, notes, warnings, err := rotation(s.Vector, 1, h)
	if err != nil {
		return nil, err
	}
	p := &problems{random: rand.New(rand.NewPCG(1, 2))}
	cases := []Case{
		gemmCase(p, fmt.Sprintf("plain loop, %d×%d float64", s.Small, s.Small), s.Small, 1, matmul.Naive[float64]),
		gemmCase(p, fmt.Sprintf("gonum, %d×%d float64", s.Small, s.Small), s.Small, gonumThreads(s.Small, s.Small, h.GOMAXPROCS), matmul.Gonum[float64]),
		gemmCase(p, fmt.Sprintf("gonum, %d×%d float32", s.Large, s.Large), s.Large, gonumThreads(s.Large, s.Large, h.GOMAXPROCS), matmul.Gonum[float32]),
		matVecCase(p, s.Vector, matmul.GonumMatVec[float32]),
	}
	if o, err = check(o, cases); err != nil {
		return nil, err
	}
	// Writing the matrices takes time: each is a step.
	progress := newSteps(count+stepsOf(o, cases), o.Progress)
	p.fill(count, progress)
	results, err := compare(o, cases, progress)
	if err == nil {
		err = p.err
	}
	if err != nil {
		return nil, err
	}

	square := func(n int, elem int64) int64 { return 3 * int64(n) * int64(n) * elem }
	matVecFootprint := int64(count) * int64(s.Vector) * int64(s.Vector) * 4
	rates := make([]Rate, 0, 5)
	add := func(key string, r Result, q Quantity, footprint int64, notes, warnings []string) {
		rate := Rate{
			Key: key, Name: r.Name, Quantity: q, Threads: r.Threads, Work: r.Work, Footprint: footprint,
			Notes: notes, Warnings: append(append([]string(nil), r.Warnings...), warnings...), Result: r,
		}
		if r.Threads > 1 && h.Quota > 0 && h.Quota < float64(r.Threads) {
			rate.Warnings = append(rate.Warnings, fmt.Sprintf("the CPU quota of %.4g cores is less than the %d threads", h.Quota, r.Threads))
		}
		rates = append(rates, rate)
	}
	flops := func(r Result) Quantity { return Quantity{r.GFLOPS(), "GFLOP/s", Higher} }
	add(KeyPlainSmall, results[0], flops(results[0]), square(s.Small, 8), nil, nil)
	add(KeyLibrarySmall, results[1], flops(results[1]), square(s.Small, 8), nil, nil)
	add(KeyLibraryLarge, results[2], flops(results[2]), square(s.Large, 4), nil, nil)
	add(KeyMatVecFLOPs, results[3], flops(results[3]), matVecFootprint, notes, warnings)
	add(KeyMatVecBytes, results[3], Quantity{results[3].GBps(), "GB/s", Higher}, matVecFootprint, notes, warnings)
	return rates, nil
}

// gonum v0.17.0, blas/gonum/gonum.go (constants blockSize and minParBlock),
// dgemm.go and sgemm.go: C is cut into blocks of 64×64; below 4 blocks one
// goroutine does all, else up to GOMAXPROCS goroutines take a block each.
// Sgemv and Dgemv (level2float32.go, level2float64.go) start none.
const (
	gonumBlock     = 64
	gonumMinBlocks = 4
)

// gonumThreads returns how many threads gonum's Dgemm and Sgemm use at most for
// a result of m×n.
func gonumThreads(m, n, procs int) int {
	blocks := ceilDiv(m, gonumBlock) * ceilDiv(n, gonumBlock)
	if blocks < gonumMinBlocks {
		return 1
	}
	return min(procs, blocks)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// problems makes the inputs of the cases, and keeps the first error of a
// multiply.
type problems struct {
	random *rand.Rand
	err    error
	// fill writes the matrices of M·x; it is called before their case runs.
	fill func(count int, progress *steps)
}

func (p *problems) note(err error) {
	if err != nil && p.err == nil {
		p.err = err
	}
}

// smallInts returns n numbers from −2, −1, 1 and 2. Sums of up to 2^22 products
// of these are exact in float32, in any order. There is no zero among them:
// gonum skips zeros.
func smallInts[T matmul.Float](p *problems, n int) []T {
	x := make([]T, n)
	values := [4]T{-2, -1, 1, 2}
	for i := range x {
		x[i] = values[p.random.Uint32()>>30]
	}
	return x
}

func gemmCase[T matmul.Float](p *problems, name string, n, threads int, multiply matmul.Func[T]) Case {
	a, b, c := smallInts[T](p, n*n), smallInts[T](p, n*n), make([]T, n*n)
	var elem float64 = 8
	if _, ok := any(a).([]float32); ok {
		elem = 4
	}
	side := float64(n)
	return Case{
		Name:    name,
		Work:    Work{FLOPs: 2 * side * side * side, Bytes: 3 * side * side * elem},
		Threads: threads,
		Run:     func() { p.note(multiply(n, n, n, a, n, b, n, c, n)) },
		Verify: func() error {
			if p.err != nil {
				return p.err
			}
			return checkProduct(p.random, n, a, b, c)
		},
	}
}

// checkProduct compares C·x with A·(B·x) for a random vector x of integers, all
// exact in int64: n² work instead of n³. A wrong C passes with a chance below
// one in a million (Freivalds 1979).
func checkProduct[T matmul.Float](random *rand.Rand, n int, a, b, c []T) error {
	x := make([]int64, n)
	for i := range x {
		x[i] = random.Int64N(1 << 20)
	}
	times := func(m []T, v []int64) ([]int64, error) {
		out := make([]int64, n)
		for i := range out {
			for j, e := range m[i*n:][:n] {
				f := float64(e)
				if f != math.Trunc(f) || math.Abs(f) > 1<<24 { // NaN fails too
					return nil, fmt.Errorf("element (%d, %d) is %v: a product of these matrices holds integers", i, j, e)
				}
				out[i] += int64(f) * v[j]
			}
		}
		return out, nil
	}
	got, err := times(c, x)
	if err != nil {
		return err
	}
	bx, err := times(b, x)
	if err != nil {
		return err
	}
	want, err := times(a, bx)
	if err != nil {
		return err
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("row %d of the product is wrong", i)
		}
	}
	return nil
}

const (
	// maxRotation bounds the matrices; smaller ones would need thousands.
	maxRotation = 64
)

func matrices(n int) string {
	if n == 1 {
		return "one matrix"
	}
	return fmt.Sprintf("%d matrices", n)
}

// most is how much memory the matrices may take together, in bytes. Memory that was
// never touched is slow to get on a virtual machine: more would take seconds.
const most = min(512<<20, math.MaxInt/8)

// rotation returns over how many n×n float32 matrices a multiply goes that reads
// them on so many threads, with what is to be said about it.
func rotation(n, threads int, h Host) (count int, notes, warnings []string, err error) {
	matrix := int64(n) * int64(n) * 4
	one := int64(math.MaxInt / 4)
	if free := cmp.Or(h.Free, h.Memory/2); free > 0 {
		one = min(one, free/2)
	}
	if matrix > one {
		return 0, nil, nil, fmt.Errorf("bench: Sizes.Vector is %d: its matrix takes %s and at most %s may be used: choose %d or less",
			n, binarySize(matrix), binarySize(one), int(math.Sqrt(float64(one/4))))
	}
	set, doubt := h.MemorySet(threads, min(most, maxRotation*matrix))
	last := h.LastLevel(threads)
	count = int(max(1, set/matrix))
	if doubt == "" {
		count = int((set + matrix - 1) / matrix)
	}
	if total := int64(count) * matrix; last > 0 && total <= last {
		count = 1
		doubt = fmt.Sprintf("resident in cache: the matrix takes %s and the last-level caches are %s: this is not the rate of memory", binarySize(matrix), binarySize(last))
	}
	notes = append(notes, fmt.Sprintf("goes over %s, %s in all; last-level caches %s", matrices(count), binarySize(int64(count)*matrix), cmp.Or(sizeOf(last), "unknown")))
	if doubt != "" {
		warnings = append(warnings, doubt)
	}
	return count, notes, warnings, nil
}

func sizeOf(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return binarySize(bytes)
}

func matVecCase(p *problems, n int, multiply matmul.VecFunc[float32]) Case {
	x, y := smallInts[float32](p, n), make([]float32, n)
	var all [][]float32
	next := 0
	p.fill = func(count int, progress *steps) {
		first := smallInts[float32](p, n*n)
		all = append(all, first)
		progress.step()
		for len(all) < count {
			// Equal content: what counts is that each has memory of its own.
			all = append(all, append([]float32(nil), first...))
			progress.step()
		}
	}
	side := float64(n)
	return Case{
		Name:    fmt.Sprintf("gonum matrix–vector, %d×%d float32", n, n),
		Work:    Work{FLOPs: 2 * side * side, Bytes: 4 * side * side},
		Threads: 1,
		Run: func() {
			m := all[next]
			if next++; next == len(all) {
				next = 0
			}
			p.note(multiply(n, n, m, n, x, y))
		},
		Verify: func() error {
			if p.err != nil {
				return p.err
			}
			for i, got := range y {
				var want int64
				for j, e := range all[0][i*n:][:n] {
					want += int64(e) * int64(x[j])
				}
				if float64(got) != float64(want) {
					return fmt.Errorf("element %d is %v: it must be %d", i, got, want)
				}
			}
			return nil
		},
	}
}
