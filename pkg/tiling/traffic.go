package tiling

import (
	"fmt"
	"math"

	"memorywall/pkg/roofline"
)

// Traffic is what a multiply moves across the boundary of slow and fast
// memory, and the work that it does.
type Traffic struct {
	Loads  int64 // elements, slow to fast
	Stores int64 // elements, fast to slow
	FLOPs  int64
}

// Bytes returns (loads + stores)·elemBytes.
func (t Traffic) Bytes(elemBytes int64) (int64, error) {
	if err := t.check(elemBytes); err != nil {
		return 0, err
	}
	sum := t.bytes(elemBytes)
	v, ok := sum.Int64()
	if !ok {
		return 0, overflow("bytes, (loads + stores)s,", sum, "loads = %d, stores = %d, element size %d", t.Loads, t.Stores, elemBytes)
	}
	return v, nil
}

// Intensity returns FLOPs over bytes, in FLOP/byte. With elemBytes = 1 it is
// FLOPs per number moved. It has a value also where Bytes leaves int64.
// Traffic of zero elements has no intensity: that is an error.
func (t Traffic) Intensity(elemBytes int64) (float64, error) {
	if err := t.check(elemBytes); err != nil {
		return 0, err
	}
	if t.Loads == 0 && t.Stores == 0 {
		return 0, fmt.Errorf("tiling: traffic is 0 elements: intensity needs at least one load or store")
	}
	return roofline.Ratio(roofline.Sum{{t.FLOPs}}, t.bytes(elemBytes)), nil
}

func (t Traffic) bytes(elemBytes int64) roofline.Sum {
	return roofline.Sum{{t.Loads, elemBytes}, {t.Stores, elemBytes}}
}

func (t Traffic) check(elemBytes int64) error {
	for _, c := range []struct {
		what  string
		value int64
	}{{"loads", t.Loads}, {"stores", t.Stores}, {"FLOPs", t.FLOPs}} {
		if c.value < 0 {
			return fmt.Errorf("tiling: %s is %d: it must be at least 0", c.what, c.value)
		}
	}
	return checkElemBytes(elemBytes)
}

// Tiled returns the traffic of the multiply with tile×tile tiles, in closed
// form: loads = ⌈n/b⌉·mk + ⌈m/b⌉·kn, stores = mn. Each element of A is loaded
// once for every column of output tiles, each element of B once for every row
// of them.
func Tiled(g roofline.GEMM, tile int64) (Traffic, error) {
	if err := check(g, tile); err != nil {
		return Traffic{}, err
	}
	return traffic(g, func() int64 {
		return ceilDiv(g.N, tile)*g.M*g.K + ceilDiv(g.M, tile)*g.K*g.N
	})
}

// Compulsory returns the least traffic of the multiply: each operand is loaded
// once, loads = mk + kn, and the result is stored once, stores = mn.
func Compulsory(g roofline.GEMM) (Traffic, error) {
	if err := g.Validate(); err != nil {
		return Traffic{}, err
	}
	return traffic(g, func() int64 { return g.M*g.K + g.K*g.N })
}

// Naive returns the traffic of the three loops without any reuse: every
// multiply-add loads both of its operands, loads = 2mnk, stores = mn.
func Naive(g roofline.GEMM) (Traffic, error) {
	if err := g.Validate(); err != nil {
		return Traffic{}, err
	}
	return traffic(g, func() int64 { return 2 * g.M * g.N * g.K })
}

// traffic returns the counts of g. Loads and stores are at most the FLOPs,
// 2mnk: there is at least one tile, and at most as many as elements. So where
// the FLOPs fit in int64, they all do.
func traffic(g roofline.GEMM, loads func() int64) (Traffic, error) {
	flops, err := g.FLOPs()
	if err != nil {
		return Traffic{}, err
	}
	return Traffic{Loads: loads(), Stores: g.M * g.N, FLOPs: flops}, nil
}

func check(g roofline.GEMM, tile int64) error {
	if err := g.Validate(); err != nil {
		return err
	}
	return checkTile(tile)
}

func checkTile(tile int64) error {
	if tile < 1 {
		return fmt.Errorf("tiling: tile is %d: it must be at least 1", tile)
	}
	return nil
}

func checkElemBytes(s int64) error {
	if s < 1 {
		return fmt.Errorf("tiling: element size is %d bytes: it must be at least 1", s)
	}
	return nil
}

func checkSize(what string, v int64) error {
	if v < 1 {
		return fmt.Errorf("tiling: %s is %d: it must be at least 1", what, v)
	}
	return nil
}

func checkRidge(ridge float64) error {
	if ridge > 0 && !math.IsInf(ridge, 1) {
		return nil
	}
	return fmt.Errorf("tiling: ridge is %g FLOP/byte: it must be positive and finite", ridge)
}

func overflow(what string, v roofline.Sum, format string, args ...any) error {
	return fmt.Errorf("tiling: %s at %s is about %.6g: %w", what, fmt.Sprintf(format, args...), v.Float64(), roofline.ErrOverflow)
}

// ceilDiv returns ⌈n/b⌉ for n, b ≥ 1.
func ceilDiv(n, b int64) int64 { return (n-1)/b + 1 }
