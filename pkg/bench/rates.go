package bench

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/host"
	"memorywall/pkg/internal/num"
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

// Validate returns an error that names the size which is out of range.
func (s Sizes) Validate() error {
	for _, f := range []struct {
		name       string
		value, max int
	}{{"Small", s.Small, maxSmall}, {"Large", s.Large, maxLarge}, {"Vector", s.Vector, maxVector}} {
		if f.value < 1 || f.value > f.max {
			return fmt.Errorf("bench: Sizes.%s is %d: it must be from 1 to %d", f.name, f.value, f.max)
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
	return s + tail(r.Threads, len(r.Warnings))
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
func FiveRates(s Sizes, o Options) ([]Rate, error) { return fiveRates(s, o, host.Read()) }

func fiveRates(s Sizes, o Options, h host.Host) ([]Rate, error) {
	if o.Samples == 0 {
		o.Samples = RateSamples
	}
	if _, err := o.complete(); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	small, err := NewRing[float64](s.Small, s.Small, 0, 0, h)
	if err != nil {
		return nil, err
	}
	defer small.Close()
	large, err := NewRing[float32](s.Large, s.Large, 0, 0, h)
	if err != nil {
		return nil, err
	}
	defer large.Close()
	matrices, err := NewRing[float32](s.Vector, s.Vector, 1, RingBytes, h)
	if err != nil {
		return nil, fmt.Errorf("bench: Sizes.Vector is %d: %w: choose %d or less", s.Vector, err, int(math.Sqrt(float64(max(h.Free, h.Memory/2)/8))))
	}
	defer matrices.Close()
	square := func(library, format string, n int) string { return fmt.Sprintf("%s, %d×%d %s", library, n, n, format) }
	results, err := Compare(o,
		Multiply(square("plain loop", "float64", s.Small), s.Small, s.Small, s.Small, 1, matmul.Naive[float64], small),
		Multiply(square("gonum", "float64", s.Small), s.Small, s.Small, s.Small, GonumThreads(s.Small, s.Small, h.GOMAXPROCS), matmul.Gonum[float64], small),
		Multiply(square("gonum", "float32", s.Large), s.Large, s.Large, s.Large, GonumThreads(s.Large, s.Large, h.GOMAXPROCS), matmul.Gonum[float32], large),
		MultiplyVec(square("gonum matrix–vector", "float32", s.Vector), s.Vector, s.Vector, 1, matmul.GonumMatVec[float32], matrices))
	if err != nil {
		return nil, err
	}

	rate := func(key string, r Result, bytes int64) Rate {
		rate := Rate{
			Key: key, Name: r.Name, Quantity: Quantity{r.GFLOPS(), "GFLOP/s", Higher}, Threads: r.Threads, Work: r.Work,
			Footprint: bytes, Warnings: append([]string(nil), r.Warnings...), Result: r,
		}
		if r.Threads > 1 && h.Quota > 0 && h.Quota < float64(r.Threads) {
			rate.Warnings = append(rate.Warnings, fmt.Sprintf("the CPU quota of %.4g cores is less than the %d threads", h.Quota, r.Threads))
		}
		return rate
	}
	rates := []Rate{
		rate(KeyPlainSmall, results[0], int64(results[0].Work.Bytes)),
		rate(KeyLibrarySmall, results[1], int64(results[1].Work.Bytes)),
		rate(KeyLibraryLarge, results[2], int64(results[2].Work.Bytes)),
		rate(KeyMatVecFLOPs, results[3], matrices.Bytes()),
	}
	vector := &rates[3]
	vector.Notes = []string{matrices.Note}
	if matrices.Doubt != "" {
		vector.Warnings = append(vector.Warnings, matrices.Doubt)
	}
	bytes := *vector
	bytes.Key, bytes.Quantity = KeyMatVecBytes, Quantity{results[3].GBps(), "GB/s", Higher}
	return append(rates, bytes), nil
}

// gonum v0.17.0, blas/gonum/gonum.go (constants blockSize and minParBlock),
// dgemm.go and sgemm.go: C is cut into blocks of 64×64; below 4 blocks one
// goroutine does all, else up to GOMAXPROCS goroutines take a block each.
// Sgemv and Dgemv (level2float32.go, level2float64.go) start none.
const (
	gonumBlock     = 64
	gonumMinBlocks = 4
)

// GonumThreads returns how many threads gonum's Dgemm and Sgemm use at most for
// a result of m×n.
func GonumThreads(m, n, procs int) int {
	blocks := num.CeilDiv(m, gonumBlock) * num.CeilDiv(n, gonumBlock)
	if blocks < gonumMinBlocks {
		return 1
	}
	return min(procs, blocks)
}
