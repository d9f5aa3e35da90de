// Package ladder times the lesson's multiplies, from three plain loops to the last
// rung and with few rows, under the roofs of this machine.
package ladder

import (
	"fmt"
	"slices"
	"strings"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/matmul"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// Rung is one step of the ladder.
type Rung struct {
	Name  string // short, stable, for benchmarks and tables
	Title string
	Idea  string // the one idea that this rung adds, in one sentence

	F32 matmul.Func[float32] // C = A·B
	F64 matmul.Func[float64]

	// Parallel says that the rung may use all of GOMAXPROCS by itself.
	Parallel bool

	// Traffic is the model's count for this rung: FLOPs, and the elements that
	// cross between slow and fast memory for C = A·B.
	Traffic func(roofline.GEMM) tiling.Traffic

	// rate in FLOP/s is about that of a large multiply, and band the rows that it
	// works on at once; 0 is fast.
	rate float64
	band int
}

// gonumTile is the side of gonum's tiles; see [bench.GonumThreads].
const gonumTile = 64

// Rungs returns the ladder in climbing order; the library comes last.
func Rungs() []Rung {
	return []Rung{
		{
			Name:  "loops",
			Title: "Three plain loops",
			Idea:  "Each element of C is the dot product of a row of A and a column of B.",
			F32:   matmul.Naive[float32], F64: matmul.Naive[float64],
			Traffic: tiling.Naive, rate: 0.5e9, band: 1,
		},
		{
			Name:  "reordered",
			Title: "The loops reordered",
			Idea:  "Walk B and C along their rows, so that the innermost loop touches neighbours in memory.",
			F32:   matmul.Reordered[float32], F64: matmul.Reordered[float64],
			Traffic: reordered, rate: 3e9, band: 1,
		},
		{
			Name:  "tiled",
			Title: "Tiled loops",
			Idea:  "Work on tiles small enough that one of A, one of B and one of C stay in fast memory together.",
			F32:   matmul.Tiled[float32], F64: matmul.Tiled[float64],
			Traffic: func(g roofline.GEMM) tiling.Traffic { return tiling.Tiled(g, matmul.DefaultTile) },
			rate:    3e9, band: matmul.DefaultTile,
		},
		{
			Name:  "packed",
			Title: "Packed panels",
			Idea:  "Copy the block of B and the panel of A that are used again into the order in which they are read, one cache level for each.",
			F32:   matmul.Packed[float32], F64: matmul.Packed[float64],
			Traffic: blocked("go"), rate: 3e9, band: 64,
		},
		{
			Name:  "simd",
			Title: "Packed panels and a SIMD microkernel",
			Idea:  "Keep a tile of C in the vector registers and multiply-add whole vectors into it.",
			F32:   matmul.SIMD[float32], F64: matmul.SIMD[float64],
			Traffic: blocked(""), rate: 100e9, band: 64,
		},
		{
			Name:  "parallel",
			Title: "The same on all cores",
			Idea:  "Cut C into blocks and let every core take the next one.",
			F32:   matmul.Multiply[float32], F64: matmul.Multiply[float64],
			Parallel: true,
			Traffic:  blocked(""), rate: 200e9, band: 64,
		},
		{
			Name:  "gonum",
			Title: "The library: gonum",
			Idea:  "A tuned library does the same tiles with hand-written inner loops, on all cores.",
			F32:   matmul.Gonum[float32], F64: matmul.Gonum[float64],
			Parallel: true,
			Traffic:  func(g roofline.GEMM) tiling.Traffic { return tiling.Tiled(g, gonumTile) },
			rate:     20e9, band: gonumTile,
		},
	}
}

// named returns the rungs with these names, in the order of the names, or all.
func named(names []string) ([]Rung, error) {
	all := Rungs()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, r := range all {
		known = append(known, r.Name)
	}
	var rungs []Rung
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("ladder: rung is %q: it must be one of %s", name, strings.Join(known, ", "))
		}
		rungs = append(rungs, all[i])
	}
	return rungs, nil
}

// rows returns how many rows of C a call of the rung computes, so that a large n does
// not take minutes: all of them, or a band that takes about so many seconds.
func (r Rung) rows(n int, seconds float64) int {
	if r.rate == 0 {
		return n
	}
	rows := int(seconds * r.rate / 2 / float64(n) / float64(n))
	return min(n, max(r.band, rows/r.band*r.band))
}

// reordered: A is read once, the row of C stays in fast memory while k is
// walked, and every row of B comes in again for each row of A.
func reordered(g roofline.GEMM) tiling.Traffic {
	t := tiling.Naive(g) // 2·mkn loads: refuses bad sizes and overflow
	t.Loads = g.M*g.K + t.Loads/2
	return t
}

func blocked(isa string) func(roofline.GEMM) tiling.Traffic {
	return func(g roofline.GEMM) tiling.Traffic {
		of := matmul.BlockingOf[float64]
		if g.ElemBytes <= 4 {
			of = matmul.BlockingOf[float32]
		}
		b, err := of(isa)
		if err != nil {
			arg.Refuse("isa", isa, "ladder: %w", err)
		}
		return Blocked(g, b)
	}
}

// Blocked is the model's count for C = A·B in blocks, in elements that cross
// between memory and the last-level cache: A is read once for each block of NC
// columns, B once for each block of MC rows, and C is stored once, since its
// block stays in the cache while the depth is walked. It panics if g or b is
// invalid, or a count does not fit in int64.
func Blocked(g roofline.GEMM, b matmul.Blocking) tiling.Traffic {
	if err := b.Validate(); err != nil {
		arg.Refuse("blocking", b, "ladder: %w", err)
	}
	t := tiling.Naive(g) // no less than this count: where it fits in int64, so does this one
	across, down := (g.N-1)/int64(b.NC)+1, (g.M-1)/int64(b.MC)+1
	t.Loads = across*g.M*g.K + down*g.K*g.N
	return t
}
