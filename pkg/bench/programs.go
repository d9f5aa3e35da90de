package bench

import (
	"errors"
	"fmt"
	"math"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/matmul"
	"memorywall/pkg/roofline"
)

// Program is one of the lesson's kernels, measured to be held against a roof.
type Program struct {
	Name    string
	Threads int
	// Work is that of one call: its FLOPs, and the least bytes that must cross
	// into the level of memory below the one that holds the data.
	Work Work
	// Footprint is the bytes of all data that the calls go through before any of
	// them comes round again: it decides which level of memory holds them.
	Footprint int64
	Result    Result
}

// FLOPS returns the rate of the best sample in FLOP/s.
func (p Program) FLOPS() float64 { return p.Result.GFLOPS() * 1e9 }

// maxSide bounds the sizes of programs: a call of the plain loops takes minutes
// above it.
const maxSide = 4096

// LadderPrograms measures every step of the ladder of package matmul that runs
// on one thread, on n×n matrices of float32. Each product is verified first.
func LadderPrograms(n int, o Options) ([]Program, error) {
	if n < 1 || n > maxSide {
		return nil, fmt.Errorf("bench: n is %d: it must be from 1 to %d", n, maxSide)
	}
	g := roofline.Square(int64(n), 4)
	work, err := leastWork(g)
	if err != nil {
		return nil, err
	}
	a, b, want := smallFloats(n*n, 5), smallFloats(n*n, 7), make([]float32, n*n)
	if err := matmul.Reordered(n, n, n, a, n, b, n, want, n); err != nil {
		return nil, err
	}
	var cases []Case
	var failed error
	for _, r := range matmul.Rungs() {
		if r.Parallel {
			continue
		}
		c := make([]float32, n*n)
		cases = append(cases, Case{
			Name: r.Name, Work: work, Threads: 1,
			Run: func() { failed = errors.Join(failed, r.F32(n, n, n, a, n, b, n, c, n)) },
			Verify: func() error {
				for i, v := range c {
					if v != want[i] {
						return fmt.Errorf("element %d is %v: it must be %v", i, v, want[i])
					}
				}
				return failed
			},
		})
	}
	results, err := Compare(o, cases...)
	if err != nil {
		return nil, err
	}
	var programs []Program
	for _, r := range results {
		programs = append(programs, Program{Name: r.Name, Threads: 1, Work: work, Footprint: int64(work.Bytes), Result: r})
	}
	return programs, failed
}

// DecodePrograms measures, on all cores, the shapes of decode: a matrix–vector
// multiply with a k×n matrix of float32, and the product of an m×k matrix with
// it for each m of batches. The calls go from one k×n matrix to the next over
// enough of them to leave the last-level cache, as far as memory allows; the
// footprint says how far. Each product is checked at a few places first.
func DecodePrograms(k, n int, batches []int, o Options) ([]Program, error) {
	if k < 1 || n < 1 || k > 4*maxSide || n > 4*maxSide {
		return nil, fmt.Errorf("bench: k and n are %d and %d: they must be from 1 to %d", k, n, 4*maxSide)
	}
	h := ReadHost()
	matrix := int64(k) * int64(n) * 4
	set, _ := h.MemorySet(h.GOMAXPROCS, 128<<20)
	count := max(1, set/matrix)
	var weights [][]float32
	for range min(count, maxRotation) {
		weights = append(weights, smallFloats(k*n, 7))
	}
	next := 0
	turn := func() []float32 {
		next = (next + 1) % len(weights)
		return weights[next]
	}
	var failed error
	x, y := smallFloats(n, 5), make([]float32, k)
	vector := Work{FLOPs: 2 * float64(k) * float64(n), Bytes: 4 * (float64(k)*float64(n) + float64(k) + float64(n))}
	cases := []Case{{
		Name: "matrix–vector", Work: vector, Threads: h.GOMAXPROCS,
		Run: func() { failed = errors.Join(failed, matmul.MultiplyVec(k, n, turn(), n, x, y)) },
		Verify: func() error {
			return errors.Join(failed, spots(k, 1, func(i, _ int) (got, want float64) {
				for j, v := range x {
					want += float64(weights[0][i*n+j]) * float64(v)
				}
				return float64(y[i]), want
			}))
		},
	}}
	for _, m := range batches {
		if m < 1 || m > maxSide {
			return nil, fmt.Errorf("bench: batch is %d: it must be from 1 to %d", m, maxSide)
		}
		work, err := leastWork(roofline.GEMM{M: int64(m), N: int64(n), K: int64(k), ElemBytes: 4})
		if err != nil {
			return nil, err
		}
		a, c := smallFloats(m*k, 5), make([]float32, m*n)
		cases = append(cases, Case{
			Name: fmt.Sprintf("decode, m = %d", m), Work: work, Threads: h.GOMAXPROCS,
			Run: func() { failed = errors.Join(failed, matmul.Multiply(m, n, k, a, k, turn(), n, c, n)) },
			Verify: func() error {
				return errors.Join(failed, spots(m, n, func(i, j int) (got, want float64) {
					for p := range k {
						want += float64(a[i*k+p]) * float64(weights[0][p*n+j])
					}
					return float64(c[i*n+j]), want
				}))
			},
		})
	}
	results, err := Compare(o, cases...)
	if err != nil {
		return nil, err
	}
	var programs []Program
	for i, r := range results {
		programs = append(programs, Program{
			Name: r.Name, Threads: r.Threads, Work: cases[i].Work, Footprint: int64(len(weights)) * matrix, Result: r,
		})
	}
	return programs, failed
}

// leastWork returns the FLOPs and the least bytes of a multiply.
func leastWork(g roofline.GEMM) (Work, error) {
	flops := g.FLOPs()
	bytes, err := arg.Try(g.MinBytes)
	return Work{FLOPs: float64(flops), Bytes: float64(bytes)}, err
}

// smallFloats returns n whole numbers around zero, whose products and sums are
// exact in float32.
func smallFloats(n, period int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%period - period/2)
	}
	return x
}

// spots compares some elements of an r×c result with what they must be.
func spots(r, c int, element func(i, j int) (got, want float64)) error {
	for s := range 8 {
		i, j := s*(r-1)/7, (7-s)*(c-1)/7
		if got, want := element(i, j); !(math.Abs(got-want) <= 0) {
			return fmt.Errorf("element (%d, %d) is %v: it must be %v", i, j, got, want)
		}
	}
	return nil
}
