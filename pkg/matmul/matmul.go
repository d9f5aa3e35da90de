// Package matmul holds multiplies that run: the ladder from three plain loops
// upwards, each rung with one signature and one idea more than the one before.
//
// All matrices are row-major with a leading dimension: element (i, j) of an
// r×c matrix x with leading dimension ld is x[i*ld+j], and ld ≥ c. The slice
// must hold (r-1)*ld+c elements, or none at all where r or c is 0.
package matmul

import (
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// Float is an element type that the multiplies work in.
type Float interface{ float32 | float64 }

// Func computes C = A·B (or C += A·B, where it says so) with A of m×k, B of
// k×n and C of m×n. Any of m, n and k may be 0: with k = 0 the product is zero.
// It returns an error, and leaves C alone, when a size is negative, a leading
// dimension is smaller than the row it spans, a slice is too short, or C shares
// memory with A or B. It can be called by several goroutines at once.
//
// The order in which the products of an element are added up is each rung's own,
// so results differ by rounding. NaN and Inf go where the three plain loops take
// them, 0·Inf being NaN; [Gonum] alone skips zeros in A. The sign of an element
// that is zero is not promised.
type Func[T Float] func(m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error

// Rung is one step of the ladder.
type Rung struct {
	Name  string // short, stable, for benchmarks and tables
	Title string
	Idea  string // the one idea that this rung adds, in one sentence

	F32 Func[float32] // C = A·B
	F64 Func[float64]

	Add32 Func[float32] // C += A·B
	Add64 Func[float64]

	// Parallel says that the rung may use all of GOMAXPROCS by itself.
	Parallel bool

	// Work is the model's count for this rung: FLOPs, and the elements that
	// cross between slow and fast memory for C = A·B.
	Work func(roofline.GEMM) tiling.Traffic
}

// Rungs returns the ladder in climbing order; the library comes last.
func Rungs() []Rung {
	return []Rung{
		{
			Name:  "loops",
			Title: "Three plain loops",
			Idea:  "Each element of C is the dot product of a row of A and a column of B.",
			F32:   Naive[float32], F64: Naive[float64],
			Add32: AddNaive[float32], Add64: AddNaive[float64],
			Work: tiling.Naive,
		},
		{
			Name:  "reordered",
			Title: "The loops reordered",
			Idea:  "Walk B and C along their rows, so that the innermost loop touches neighbours in memory.",
			F32:   Reordered[float32], F64: Reordered[float64],
			Add32: AddReordered[float32], Add64: AddReordered[float64],
			Work: reorderedWork,
		},
		{
			Name:  "tiled",
			Title: "Tiled loops",
			Idea:  "Work on tiles small enough that one of A, one of B and one of C stay in fast memory together.",
			F32:   Tiled[float32], F64: Tiled[float64],
			Add32: AddTiled[float32], Add64: AddTiled[float64],
			Work: func(g roofline.GEMM) tiling.Traffic { return tiling.Tiled(g, DefaultTile) },
		},
		{
			Name:  "packed",
			Title: "Packed panels",
			Idea:  "Copy the block of B and the panel of A that are used again into the order in which they are read, one cache level for each.",
			F32:   Packed[float32], F64: Packed[float64],
			Add32: AddPacked[float32], Add64: AddPacked[float64],
			Work: func(g roofline.GEMM) tiling.Traffic { return goBlocking(g.ElemBytes).Work(g) },
		},
		{
			Name:  "simd",
			Title: "Packed panels and a SIMD microkernel",
			Idea:  "Keep a tile of C in the vector registers and multiply-add whole vectors into it.",
			F32:   SIMD[float32], F64: SIMD[float64],
			Add32: AddSIMD[float32], Add64: AddSIMD[float64],
			Work: func(g roofline.GEMM) tiling.Traffic { return bestBlocking(g.ElemBytes).Work(g) },
		},
		{
			Name:  "parallel",
			Title: "The same on all cores",
			Idea:  "Cut C into blocks and let every core take the next one.",
			F32:   Multiply[float32], F64: Multiply[float64],
			Add32: AddMultiply[float32], Add64: AddMultiply[float64],
			Parallel: true,
			Work:     func(g roofline.GEMM) tiling.Traffic { return bestBlocking(g.ElemBytes).Work(g) },
		},
		{
			Name:  "gonum",
			Title: "The library: gonum",
			Idea:  "A tuned library does the same tiles with hand-written inner loops, on all cores.",
			F32:   Gonum[float32], F64: Gonum[float64],
			Add32: AddGonum[float32], Add64: AddGonum[float64],
			Parallel: true,
			Work:     func(g roofline.GEMM) tiling.Traffic { return tiling.Tiled(g, gonumTile) },
		},
	}
}

// Of returns the rung's C = A·B for the element type T.
func Of[T Float](r Rung) Func[T] { return pick[T](r.F32, r.F64) }

// AddOf returns the rung's C += A·B for the element type T.
func AddOf[T Float](r Rung) Func[T] { return pick[T](r.Add32, r.Add64) }

func pick[T Float](f32 Func[float32], f64 Func[float64]) Func[T] {
	if f, ok := any(f32).(Func[T]); ok {
		return f
	}
	return any(f64).(Func[T])
}

// reorderedWork: A is read once, the row of C stays in fast memory while k is
// walked, and every row of B comes in again for each row of A.
func reorderedWork(g roofline.GEMM) tiling.Traffic {
	naive := tiling.Naive(g) // 2·mkn loads: refuses bad sizes and overflow
	return tiling.Traffic{
		Loads:  g.M*g.K + naive.Loads/2,
		Stores: naive.Stores,
		FLOPs:  naive.FLOPs,
	}
}

func bestBlocking(elemBytes int64) Blocking {
	if elemBytes <= 4 {
		return pools32()[0].engine.blk
	}
	return pools64()[0].engine.blk
}

func goBlocking(elemBytes int64) Blocking {
	if elemBytes <= 4 {
		return goPool[float32]().engine.blk
	}
	return goPool[float64]().engine.blk
}
