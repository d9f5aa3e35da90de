package tiling

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

func TestLoadLowerBound(t *testing.T) {
	// √S is whole: 2·8³/4 = 256; less 2·16 and 8·8.
	got := LoadLowerBound(gemm(8, 8, 8), 16)
	if want := (LoadBound{Compulsory: 128, Leading: 256, Reuse: 160, Loads: 160, Stores: 64}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// With room for everything only the compulsory loads are left.
	for _, capacity := range []int64{200, math.MaxInt64} {
		got = LoadLowerBound(gemm(8, 8, 8), capacity)
		if got.Loads != 128 || got.Reuse != 0 {
			t.Errorf("capacity %d: %+v", capacity, got)
		}
	}
	// The product with one column of B in two rows that needs the term mn: 13
	// loads are enough (11 + 2, all of them compulsory).
	if got = LoadLowerBound(gemm(11, 1, 2), 4); got.Loads != 13 || got.Leading-2*4 <= 13 {
		t.Errorf("%+v: want 13, which 2mnk/√S − 2S = %g exceeds", got, got.Leading-8)
	}
	for _, capacity := range []int64{2, 0, -1, math.MinInt64} {
		err := roofline.Maybe(func() { LoadLowerBound(gemm(8, 8, 8), capacity) })
		refused(t, err, "tiling: capacity is", "it must be at least 3")
	}
	err := roofline.Maybe(func() { LoadLowerBound(gemm(8, 8, 0), 3) })
	refused(t, err, "n is 0: it must be at least 1")
	err = roofline.Maybe(func() { LoadLowerBound(gemm(1<<32, 1, 1<<32), 3) })
	if !errors.Is(err, roofline.ErrOverflow) {
		t.Errorf("%v is not an overflow", err)
	}
}

// The rounding up is exact, for any size: Reuse is the least whole number that
// is not below 2mnk/√S − 2S − mn.
func FuzzLoadLowerBound(f *testing.F) {
	f.Add(int64(4096), int64(4096), int64(4096), int64(32768))
	f.Add(int64(1_664_510), int64(1_664_510), int64(1_664_510), int64(3))
	f.Add(int64(8), int64(8), int64(8), int64(16))
	f.Add(int64(1), int64(math.MaxInt64/2), int64(1), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, m, k, n, capacity int64) {
		g := gemm(m, k, n)
		got, err := arg.Try(func() LoadBound { return LoadLowerBound(g, capacity) })
		least, err2 := arg.Try(func() Traffic { return Compulsory(g) })
		if capacity < 3 || err2 != nil {
			if err == nil {
				t.Errorf("%+v, capacity %d is taken", g, capacity)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.Compulsory != least.Loads || got.Stores != least.Stores || got.Loads != max(got.Reuse, least.Loads) {
			t.Errorf("%+v: %+v, compulsory is %+v", g, got, least)
		}
		// x = Reuse + 2S + mn is the least with x²S ≥ (2mnk)².
		reaches := func(reuse int64) bool {
			x := new(big.Int).Mul(big.NewInt(2), big.NewInt(capacity))
			x.Add(x, big.NewInt(reuse)).Add(x, big.NewInt(least.Stores))
			if x.Sign() < 0 {
				return false
			}
			f := big.NewInt(least.FLOPs)
			return x.Mul(x, x).Mul(x, big.NewInt(capacity)).Cmp(f.Mul(f, f)) >= 0
		}
		if !reaches(got.Reuse) || got.Reuse > 0 && reaches(got.Reuse-1) {
			t.Errorf("%+v, capacity %d: %+v is not the bound rounded up", g, capacity, got)
		}
		if want := float64(least.FLOPs) / math.Sqrt(float64(capacity)); !(math.Abs(got.Leading/want-1) < 1e-14) {
			t.Errorf("leading term is %v, want %v", got.Leading, want)
		}
		if _, best := BestRect(g, capacity); best.Loads < got.Loads {
			t.Errorf("%+v, capacity %d: the best tiles load %d, less than the bound %d", g, capacity, best.Loads, got.Loads)
		}
	})
}

// An order is any order of the multiply-adds. loadsOf returns the loads that it
// needs in a fast memory of capacity elements that gives up what is used again
// last of all: no choice of what to keep loads less (Belady 1966). An element
// of C begins without a load.
func loadsOf(order [][3]int, capacity int) (loads int64) {
	type element struct{ matrix, row, col int }
	uses := map[element][]int{}
	touched := make([][3]element, len(order))
	for at, o := range order {
		i, j, p := o[0], o[1], o[2]
		touched[at] = [3]element{{'A', i, p}, {'B', p, j}, {'C', i, j}}
		for _, e := range touched[at] {
			uses[e] = append(uses[e], at)
		}
	}
	const never = math.MaxInt
	next := map[element]int{} // of what is in fast memory
	started := map[element]bool{}
	for _, three := range touched {
		for _, e := range three {
			if _, ok := next[e]; !ok && (e.matrix != 'C' || started[e]) {
				loads++
			}
			started[e] = true
			uses[e] = uses[e][1:]
			next[e] = never
			if len(uses[e]) > 0 {
				next[e] = uses[e][0]
			}
		}
		for len(next) > capacity {
			var last element
			for e, u := range next {
				if e != three[0] && e != three[1] && e != three[2] && (last.matrix == 0 || u > next[last]) {
					last = e
				}
			}
			delete(next, last)
		}
	}
	return loads
}

// No order beats the bound: not at random, not in tiles, not on the diagonal.
func TestNoOrderBeatsTheBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	said := 0 // how often the term of reuse is the larger one
	for _, s := range []struct{ m, n, k int }{{6, 6, 6}, {10, 10, 10}, {4, 5, 40}, {12, 3, 9}, {11, 2, 1}} {
		for _, capacity := range []int{3, 4, 8, 15, 24} {
			bound := LoadLowerBound(gemm(int64(s.m), int64(s.k), int64(s.n)), int64(capacity))
			if bound.Reuse > bound.Compulsory {
				said++
			}
			best, _ := BestRect(gemm(int64(s.m), int64(s.k), int64(s.n)), int64(capacity))
			for name, order := range map[string][][3]int{
				"loops":  inTiles(s.m, s.n, s.k, 1, 1, 1),
				"tiled":  inTiles(s.m, s.n, s.k, 2, 2, 2),
				"best":   inTiles(s.m, s.n, s.k, int(best.BM), int(best.BN), 1),
				"whole":  inTiles(s.m, s.n, s.k, s.m, s.n, 1),
				"random": shuffled(rng, inTiles(s.m, s.n, s.k, 1, 1, 1)),
			} {
				if got := loadsOf(order, capacity); got < bound.Loads {
					t.Errorf("%+v, capacity %d, %s: %d loads, the bound is %d", s, capacity, name, got, bound.Loads)
				}
			}
		}
	}
	if said == 0 {
		t.Error("the compulsory loads are the larger term everywhere: the bound is not tried")
	}
}

func inTiles(m, n, k, bm, bn, bk int) (order [][3]int) {
	for i0 := 0; i0 < m; i0 += bm {
		for j0 := 0; j0 < n; j0 += bn {
			for p0 := 0; p0 < k; p0 += bk {
				for i := i0; i < min(i0+bm, m); i++ {
					for j := j0; j < min(j0+bn, n); j++ {
						for p := p0; p < min(p0+bk, k); p++ {
							order = append(order, [3]int{i, j, p})
						}
					}
				}
			}
		}
	}
	return order
}

func shuffled(rng *rand.Rand, order [][3]int) [][3]int {
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// Every order there is, of the smallest multiplies: the fewest loads of all, by
// a search over what can be in fast memory and what is done.
func TestNoScheduleAtAllBeatsTheBound(t *testing.T) {
	for _, s := range []struct{ m, n, k, capacity int }{
		{2, 2, 1, 3}, {2, 2, 1, 4}, {2, 2, 2, 3}, {2, 2, 2, 4}, {2, 2, 2, 5}, {3, 2, 1, 4},
	} {
		fewest := fewestLoads(s.m, s.n, s.k, s.capacity)
		g := gemm(int64(s.m), int64(s.k), int64(s.n))
		bound := LoadLowerBound(g, int64(s.capacity))
		_, best := BestRect(g, int64(s.capacity))
		if !(bound.Loads <= fewest && fewest <= best.Loads) {
			t.Errorf("%+v: the bound is %d, the fewest loads are %d, the best tiles load %d", s, bound.Loads, fewest, best.Loads)
		}
		if s.capacity == 3 && s.k == 1 && fewest == bound.Loads {
			t.Errorf("%+v: with 3 elements something must come in twice", s)
		}
	}
}

// fewestLoads walks from state to state by loads. A state is what is in fast
// memory and which multiply-adds are done, both as bits.
func fewestLoads(m, n, k, capacity int) int64 {
	elems := m*k + k*n + m*n
	a := func(i, p int) uint32 { return 1 << (i*k + p) }
	b := func(p, j int) uint32 { return 1 << (m*k + p*n + j) }
	c := func(i, j int) uint32 { return 1 << (m*k + k*n + i*n + j) }
	type state struct{ fast, done uint32 }
	type triple struct{ needs, bit, c uint32 }
	var triples []triple
	begun := map[uint32]uint32{} // by the bit of an element of C: the multiply-adds that begin it
	for i := range m {
		for j := range n {
			for p := range k {
				x := triple{a(i, p) | b(p, j) | c(i, j), 1 << len(triples), c(i, j)}
				triples = append(triples, x)
				begun[x.c] |= x.bit
			}
		}
	}
	all := uint32(1)<<len(triples) - 1
	bits := func(x uint32) (n int) {
		for ; x != 0; x &= x - 1 {
			n++
		}
		return n
	}
	seen := map[state]bool{}
	now := []state{{}}
	for loads := int64(0); ; loads++ {
		var later []state
		for len(now) > 0 {
			s := now[len(now)-1]
			now = now[:len(now)-1]
			for _, x := range triples {
				if x.needs&^s.fast == 0 {
					s.done |= x.bit // free, and never a mistake
				}
			}
			if seen[s] {
				continue
			}
			seen[s] = true
			if s.done == all {
				return loads
			}
			full := bits(s.fast) == capacity
			for e := range elems {
				bit := uint32(1) << e
				if s.fast&bit != 0 {
					if full {
						now = append(now, state{s.fast &^ bit, s.done}) // given up, no sooner than it must be
					}
				} else if !full {
					t := state{s.fast | bit, s.done}
					if work, isC := begun[bit]; isC && s.done&work == 0 {
						now = append(now, t)
					} else {
						later = append(later, t)
					}
				}
			}
		}
		now = later
	}
}
