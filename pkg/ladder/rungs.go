// Package ladder times the lesson's multiplies, from three plain loops to the last
// rung and with few rows, under the roofs of this machine.
package ladder

import (
	"fmt"
	"slices"
	"strings"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/matmul"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// Rung is one step of the ladder.
type Rung struct {
	Name     string // short, stable, for benchmarks and tables
	Multiply matmul.Func[float32]

	// Parallel says that the rung may use all of GOMAXPROCS by itself.
	Parallel bool

	// Traffic is the model's count for this rung: FLOPs, and the elements that
	// cross between slow and fast memory for C = A·B.
	Traffic func(roofline.GEMM) tiling.Traffic

	// rate in FLOP/s is about that of a large multiply, and band the rows that it
	// works on at once.
	rate float64
	band int
}

// gonumTile is the side of gonum's tiles; see [bench.GonumThreads].
const gonumTile = 64

// Rungs returns the ladder in climbing order, each with the one idea that it adds;
// the library comes last.
func Rungs() []Rung {
	return []Rung{
		// Each element of C is the dot product of a row of A and a column of B.
		{"loops", matmul.Naive[float32], false, tiling.Naive, 0.5e9, 1},
		// Walk B and C along their rows, so that the innermost loop touches neighbours
		// in memory.
		{"reordered", matmul.Reordered[float32], false, reordered, 3e9, 1},
		// Work on tiles small enough that one of A, one of B and one of C stay in fast
		// memory together.
		{"tiled", matmul.Tiled[float32], false, tiled(matmul.DefaultTile), 3e9, matmul.DefaultTile},
		// Copy the block of B and the panel of A that are used again into the order in
		// which they are read, one cache level for each. Up to 64 rows are not packed.
		{"packed", matmul.Packed[float32], false, blocked("go"), 3e9, 68},
		// Keep a tile of C in the vector registers and multiply-add whole vectors into it.
		{"simd", matmul.SIMD[float32], false, blocked(""), 100e9, 64},
		// Cut C into blocks and let every core take the next one.
		{"parallel", matmul.Multiply[float32], true, blocked(""), 200e9, 64},
		// A tuned library does the same tiles with hand-written inner loops, on all cores.
		{"gonum", matmul.Gonum[float32], true, tiled(gonumTile), 20e9, gonumTile},
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

func tiled(tile int64) func(roofline.GEMM) tiling.Traffic {
	return func(g roofline.GEMM) tiling.Traffic { return tiling.Tiled(g, tile) }
}

func blocked(isa string) func(roofline.GEMM) tiling.Traffic {
	return func(g roofline.GEMM) tiling.Traffic {
		b, err := matmul.BlockingOf[float32](isa)
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
	t.Loads = num.CeilDiv(g.N, int64(b.NC))*g.M*g.K + num.CeilDiv(g.M, int64(b.MC))*g.K*g.N
	return t
}
