package tiling

import (
	"fmt"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// Traffic is what a multiply moves across the boundary of slow and fast
// memory, and the work that it does.
type Traffic struct {
	Loads  int64 // elements, slow to fast
	Stores int64 // elements, fast to slow
	FLOPs  int64
}

// Bytes returns (loads + stores)·elemBytes. It panics with
// [roofline.ErrOverflow] beyond int64.
func (t Traffic) Bytes(elemBytes int64) int64 {
	t.check(elemBytes)
	return fits(t.bytes(elemBytes), "bytes, (loads + stores)s,", "loads = %d, stores = %d, element size %d", t.Loads, t.Stores, elemBytes)
}

// Intensity returns FLOPs over bytes, in FLOP/byte. With elemBytes = 1 it is
// FLOPs per number moved. It has a value also where Bytes leaves int64.
// It panics if no element is moved: then there is no intensity.
func (t Traffic) Intensity(elemBytes int64) float64 {
	t.check(elemBytes)
	if t.Loads == 0 && t.Stores == 0 {
		arg.Refuse("traffic", t, "tiling: traffic is 0 elements: intensity needs at least one load or store")
	}
	return num.Ratio(num.Sum{{t.FLOPs}}, t.bytes(elemBytes))
}

func (t Traffic) bytes(elemBytes int64) num.Sum {
	return num.Sum{{t.Loads, elemBytes}, {t.Stores, elemBytes}}
}

func (t Traffic) check(elemBytes int64) {
	arg.AtLeast("tiling", "loads", t.Loads, 0)
	arg.AtLeast("tiling", "stores", t.Stores, 0)
	arg.AtLeast("tiling", "FLOPs", t.FLOPs, 0)
	arg.ElemBytes("tiling", elemBytes)
}

// Tiled returns the traffic of the multiply with tile×tile tiles, in closed
// form: loads = ⌈n/b⌉·mk + ⌈m/b⌉·kn, stores = mn. Each element of A is loaded
// once for every column of output tiles, each element of B once for every row
// of them.
func Tiled(g roofline.GEMM, tile int64) Traffic {
	arg.Check(g.Validate())
	arg.Size("tiling", "tile", tile)
	return TiledRect(g, SquareTile(tile))
}

// Compulsory returns the least traffic of the multiply: each operand is loaded
// once, loads = mk + kn, and the result is stored once, stores = mn.
func Compulsory(g roofline.GEMM) Traffic {
	arg.Check(g.Validate())
	return traffic(g, func() int64 { return g.M*g.K + g.K*g.N })
}

// Naive returns the traffic of the three loops without any reuse: every
// multiply-add loads both of its operands, loads = 2mnk, stores = mn.
func Naive(g roofline.GEMM) Traffic {
	arg.Check(g.Validate())
	return traffic(g, func() int64 { return 2 * g.M * g.N * g.K })
}

// traffic returns the counts of g. Loads and stores are at most the FLOPs,
// 2mnk: there is at least one tile, and at most as many as elements. So where
// the FLOPs fit in int64, they all do.
func traffic(g roofline.GEMM, loads func() int64) Traffic {
	flops := g.FLOPs()
	return Traffic{Loads: loads(), Stores: g.M * g.N, FLOPs: flops}
}

// fits returns the value of v, which is described by what and by its arguments.
func fits(v num.Sum, what, format string, args ...any) int64 {
	value, ok := v.Int64()
	if !ok {
		arg.Panic(arg.Overflow("tiling", what+" at "+fmt.Sprintf(format, args...), v.Float64()))
	}
	return value
}
