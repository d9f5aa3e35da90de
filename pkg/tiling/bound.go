package tiling

import (
	"math/big"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

// LoadBound is what no schedule of a multiply can go below, in elements.
type LoadBound struct {
	Compulsory int64   // mk + kn: every operand comes in once
	Leading    float64 // 2mnk/√S, what the loads tend to when m, n and k are large next to √S
	Reuse      int64   // ⌈2mnk/√S⌉ − 2S − mn, or 0 where that is below 0
	Loads      int64   // the larger of Compulsory and Reuse: the bound
	Stores     int64   // mn: every result goes out once
}

// LoadLowerBound returns a number of loads below which no schedule of the
// multiply-adds goes with a fast memory of S = capacity elements, whatever its
// order, its tiles and what it keeps:
//
//	loads ≥ max(mk + kn, ⌈2mnk/√S⌉ − 2S − mn).
//
// It panics if the capacity is below 3 elements: no multiply-add can be done in
// it.
//
// Source: T. M. Smith, B. Lowery, J. Langou, R. A. van de Geijn, "A Tight I/O
// Lower Bound for Matrix Multiplication", arXiv:1702.02017v2 (2019). They count
// C := A·B + C, in which C is read like A and B, and get 2mnk/√S − 2S reads.
// Here an element of C begins as 0 in fast memory without being loaded. At
// most mn do so, hence the term mn; without it the line would be wrong. (With
// m = 11, n = 2, k = 1 and S = 4: hold both elements of B, one of A and one of
// C. That is 13 loads, and 2mnk/√S − 2S is 14.)
//
// Proof. A multiply-add needs an element each of A, B and C in fast memory.
// Call a load, and the beginning of an element of C, an arrival. Cut the
// schedule into phases of 2S arrivals each; the last may have fewer. In a
// phase, at most S elements are there at its start and 2S arrive, so its a
// elements of A, b of B and c of C are a + b + c ≤ 3S. Between them these name
// at most √(abc) triples (i, j, p) (Loomis and Whitney 1949), and that is at
// most S√S, when all three are S. So there are at least ⌊mnk/S√S⌋ whole phases,
// and arrivals ≥ 2S(mnk/S√S − 1) = 2mnk/√S − 2S. Of the arrivals at most mn are
// beginnings: a second partial sum of the same element of C would have to be
// added to the first one day, and that costs the load that going on with the
// first would have cost.
func LoadLowerBound(g roofline.GEMM, capacity int64) LoadBound {
	arg.AtLeast("tiling", "capacity", capacity, 3)
	compulsory := Compulsory(g)
	b := LoadBound{Compulsory: compulsory.Loads, Stores: compulsory.Stores}

	// 2mnk/√S = √(f²/S) with f = 2mnk, rounded up: the least t with t²S ≥ f².
	s := big.NewInt(capacity)
	f := big.NewInt(compulsory.FLOPs)
	f2 := new(big.Int).Mul(f, f)
	t := new(big.Int).Sqrt(new(big.Int).Quo(f2, s))
	if reach := new(big.Int).Mul(t, t); reach.Mul(reach, s).Cmp(f2) < 0 {
		t.Add(t, big.NewInt(1))
	}
	root := new(big.Float).SetPrec(128).SetInt64(capacity)
	root.Sqrt(root)
	b.Leading, _ = new(big.Float).SetPrec(128).Quo(new(big.Float).SetInt(f), root).Float64()

	t.Sub(t, s).Sub(t, s).Sub(t, big.NewInt(b.Stores)) // 2S may leave int64
	if t.Sign() > 0 {
		b.Reuse = t.Int64()
	}
	b.Loads = max(b.Compulsory, b.Reuse)
	return b
}
