package matmul

import (
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The ladder's metadata: what a chapter prints beside each rung.
func TestRungs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rungs() {
		if r.Name == "" || r.Title == "" || r.Idea == "" || seen[r.Name] {
			t.Errorf("rung %+v: needs a name of its own, a title and an idea", r.Name)
		}
		seen[r.Name] = true
		if r.F32 == nil || r.F64 == nil || r.Add32 == nil || r.Add64 == nil || r.Work == nil {
			t.Errorf("rung %s: a function is missing", r.Name)
			continue
		}
		g := roofline.GEMM{M: 37, N: 41, K: 43, ElemBytes: 4}
		w := r.Work(g)
		least := tiling.Compulsory(g)
		naive := tiling.Naive(g)
		if w.FLOPs != least.FLOPs || w.Loads < least.Loads || w.Loads > naive.Loads || w.Stores < least.Stores {
			t.Errorf("rung %s: work %+v is not between compulsory %+v and naive %+v", r.Name, w, least, naive)
		}
		if err := roofline.Maybe(func() { r.Work(roofline.GEMM{M: 0, N: 1, K: 1, ElemBytes: 4}) }); err == nil {
			t.Errorf("rung %s: no error for m = 0", r.Name)
		}
		if err := roofline.Maybe(func() { r.Work(roofline.Square(1<<40, 4)) }); err == nil {
			t.Errorf("rung %s: no error for a count beyond int64", r.Name)
		}
	}
}

// Reordered by hand at 2×3×4: A once (8), B once for each row of A (2·12).
func TestReorderedWork(t *testing.T) {
	got, err := arg.Try(func() tiling.Traffic { return reorderedWork(roofline.GEMM{M: 2, N: 3, K: 4, ElemBytes: 4}) })
	if want := (tiling.Traffic{Loads: 8 + 24, Stores: 6, FLOPs: 48}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestTiledBy(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6}
	b := []float64{1, 0, 2, 1, 0, 3}
	for _, tile := range []int{1, 2, 3, 64, int(^uint(0) >> 1)} {
		c := make([]float64, 4)
		if err := TiledBy[float64](tile)(2, 2, 3, a, 3, b, 2, c, 2); err != nil {
			t.Fatal(err)
		}
		if want := [4]float64{5, 11, 14, 23}; [4]float64(c) != want {
			t.Errorf("tile %d: %v, want %v", tile, c, want)
		}
	}
	if err := TiledBy[float64](2)(int(^uint(0)>>1), 0, 0, nil, 0, nil, 0, nil, 0); err != nil {
		t.Error(err) // rows without elements take no time
	}
	c := make([]float64, 4)
	err := TiledBy[float64](0)(2, 2, 3, a, 3, b, 2, c, 2)
	if want := "matmul: tile is 0: it must be 1 or more"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Blocks by hand at 5×7×3, blocks of 2 rows and 4 columns of C: two columns of
// blocks read A (15) twice, three rows of blocks read B (21) three times.
func TestBlockingWork(t *testing.T) {
	b := Blocking{MR: 1, NR: 2, KC: 1, NC: 4, MC: 2}
	got, err := arg.Try(func() tiling.Traffic { return b.Work(roofline.GEMM{M: 5, N: 7, K: 3, ElemBytes: 4}) })
	if want := (tiling.Traffic{Loads: 2*15 + 3*21, Stores: 35, FLOPs: 210}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	// One block for all of it: nothing is read twice.
	g := roofline.GEMM{M: 2, N: 4, K: 9, ElemBytes: 8}
	got, err = arg.Try(func() tiling.Traffic { return b.Work(g) })
	if want, _ := arg.Try(func() tiling.Traffic { return tiling.Compulsory(g) }); err != nil || got != want {
		t.Errorf("got %+v, %v, want the least, %+v", got, err, want)
	}
	b.NC = 3
	if err := roofline.Maybe(func() { b.Work(g) }); err == nil || !strings.Contains(err.Error(), "NC is 3") {
		t.Errorf("error %v for blocks that are no whole number of panels", err)
	}
}
