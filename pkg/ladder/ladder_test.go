package ladder

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/host"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

var quick = bench.Options{MinTime: time.Microsecond, Samples: 2}

// mine returns a machine with two levels for one thread and for so many.
func mine(threads int) machine.Machine {
	h := machine.ReadHost()
	m := machine.Machine{
		Machine:  roofline.Machine{Name: "mine", Source: "planted", Format: "FP32", ElemBytes: 4, Peak: 1e15, Bandwidth: 1e12},
		Measured: &machine.Measured{Host: machine.MeasuredHost{Host: h, Threads: threads}},
	}
	for _, t := range slices.Compact([]int{1, threads}) {
		m.Measured.Peaks = append(m.Measured.Peaks, machine.ComputePeak{ISA: "x", Format: "FP32", ElemBytes: 4, Threads: t, FLOPS: 1e15})
		m.Measured.Levels = append(m.Measured.Levels,
			machine.Level{Name: "L2", Threads: t, From: 1, To: 1 << 14, Bandwidth: 1e13}, machine.Level{Name: "memory", Threads: t, From: 1 << 15, To: 1 << 16, Bandwidth: 1e12})
	}
	return m
}

func TestClimb(t *testing.T) {
	threads := runtime.GOMAXPROCS(0)
	for _, names := range [][]string{nil, {"tiled"}, {"parallel", "loops"}} {
		var calls, total int
		o := quick
		o.Progress = func(done, n int) { calls, total = done, n }
		const n = 40
		l, err := Climb(mine(threads), n, o, names...)
		if err != nil {
			t.Fatal(err)
		}
		if calls != total || total == 0 {
			t.Errorf("%v: progress ends at %d of %d", names, calls, total)
		}
		rungs, err := named(names)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Results) != len(rungs) || names != nil && len(rungs) != len(names) {
			t.Fatalf("%v: %d results for %d rungs", names, len(l.Results), len(rungs))
		}
		dots, roofs := l.Dots()
		for i, r := range l.Results {
			bytes := rungs[i].Traffic(roofline.Square(n, 4)).Bytes(4)
			if want := (bench.Work{FLOPs: 2 * n * n * n, Bytes: float64(bytes)}); r.Work != want || r.Rows != n || r.Footprint != 3*n*n*4 {
				t.Errorf("%s: work is %+v; want %+v; %d rows, %d bytes in all", r.Name, r.Work, want, r.Rows, r.Footprint)
			}
			if r.Name != rungs[i].Name || names != nil && r.Name != names[i] {
				t.Errorf("result %d is %s; want %s", i, r.Name, rungs[i].Name)
			}
			want := 1
			if r.Name == "parallel" {
				want = threads
			}
			if r.Threads != want { // gonum stays on one thread at this size
				t.Errorf("%s: %d threads; want %d", r.Name, r.Threads, want)
			}
			// 19,200 bytes are more than what the first level has room for.
			on := "memory, " + machine.Threads(want)
			if roof := l.Roof(r); roof.Name != on || dots[i] != (roofline.Dot{Name: r.Name, Intensity: r.Work.Intensity(), FLOPS: r.FLOPS(), On: on}) || !(r.FLOPS() > 0) {
				t.Errorf("%s: held against the roof %q, as %+v; want %q", r.Name, roof.Name, dots[i], on)
			}
		}
		if one := len(names) == 1 || threads == 1; len(roofs) != map[bool]int{true: 1, false: 2}[one] {
			t.Errorf("%v: roofs %v", names, roofs)
		}
		if l.ISA != matmul.ISAs()[0] || !strings.Contains(l.Tag(), "kernels "+l.ISA) || l.One.Bandwidth != 1e12 {
			t.Errorf("host and kernels are %q", l.Tag())
		}
	}
}

// Slow rungs compute a band of C if n is large, in whole tiles, and the result says so.
func TestBands(t *testing.T) {
	for i, s := range climb(Rungs(), 4096, 2) {
		r := Rungs()[i]
		g := roofline.GEMM{M: int64(s.Rows), N: 4096, K: 4096, ElemBytes: 4}
		if (s.Rows < 4096) != (r.rate > 0) || r.band > 0 && s.Rows%r.band != 0 || s.Bytes != r.Traffic(g).Bytes(4) {
			t.Errorf("%s: %d rows, %d bytes", r.Name, s.Rows, s.Bytes)
		}
		if got := r.rows(40, bandSeconds); got != 40 {
			t.Errorf("%s: %d rows of 40", r.Name, got)
		}
	}
	const n = 50
	l, err := Time(mine(1), n, quick, Step{Name: "some", Multiply: matmul.Tiled[float32], Threads: 1, Rows: 7, Bytes: 123})
	if err != nil {
		t.Fatal(err)
	}
	if r := l.Results[0]; r.Rows != 7 || r.Work != (bench.Work{FLOPs: 2 * 7 * n * n, Bytes: 123}) || r.Footprint != 4*n*(n+2*7) || !strings.Contains(l.Tag(), "rows of C computed, over all of B: 7") {
		t.Errorf("%+v, %q", r, l.Tag())
	}
}

func TestDecode(t *testing.T) {
	threads := runtime.GOMAXPROCS(0)
	l, err := Decode(mine(threads), 256, []int{1, 5}, quick)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range []float64{1, 5} {
		r := l.Results[i]
		if r.Name != fmt.Sprintf("m = %.0f", m) || r.Threads != threads || r.Work.FLOPs != 2*m*256*256 || r.Work.Bytes != 4*(256*256+2*m*256) || r.Footprint < 4*256*256 {
			t.Errorf("%+v", r)
		}
	}
	if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "matri") {
		t.Errorf("notes do not say over how many matrices it goes: %q", l.Notes)
	}
	for _, m := range []int{1, 2} { // the smallest sizes
		if l, err := Decode(mine(threads), 1, []int{m}, quick); err != nil || len(l.Results) != 1 {
			t.Errorf("%+v, %v", l.Results, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	wrong := Step{Name: "wrong", Threads: 1, Multiply: func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) error {
		err := matmul.Naive(m, n, k, a, lda, b, ldb, c, ldc)
		c[len(c)-1]++
		return err
	}}
	failing := Step{Name: "failing", Threads: 1, Multiply: func(int, int, int, []float32, int, []float32, int, []float32, int) error { return errors.New("no way") }}
	many := wrong
	many.Rows = 9
	one := mine(1)
	for _, c := range []struct {
		run  func() (Ladder, error)
		want string
	}{
		{func() (Ladder, error) { return Climb(one, 0, quick) }, "ladder: n is 0: it must be from 1 to 4096"},
		{func() (Ladder, error) { return Climb(one, 4097, quick) }, "n is 4097"},
		{func() (Ladder, error) { return Climb(one, 8, quick, "lops") }, `rung is "lops": it must be one of loops, reordered`},
		{func() (Ladder, error) { return Climb(one, 8, quick, "tiled", "tiled") }, "another case"},
		{func() (Ladder, error) { return Climb(one, 8, bench.Options{Samples: -1}) }, "Options.Samples is -1"},
		{func() (Ladder, error) { return Climb(machine.Machine{}, 8, quick) }, "is known for"},
		{func() (Ladder, error) { return Time(one, 8, quick) }, "there are 0 cases"},
		{func() (Ladder, error) { return Time(one, 8, quick, many) }, `Rows of "wrong" is 9: it must be from 1 to n = 8, or 0 for all`},
		{func() (Ladder, error) { return Time(one, 8, quick, wrong) }, `"wrong" is not timed, its result is wrong: row 7`},
		{func() (Ladder, error) { return Time(one, 8, quick, failing) }, "no way"},
		{func() (Ladder, error) { return Decode(one, 0, []int{1}, quick) }, "size is 0: it must be from 1 to 16384"},
		{func() (Ladder, error) { return Decode(one, 16385, []int{1}, quick) }, "size is 16385"},
		{func() (Ladder, error) { return Decode(one, 64, nil, quick) }, "rows is empty"},
		{func() (Ladder, error) { return Decode(one, 64, []int{4, 0}, quick) }, "rows has 0: each must be from 1 to 1024"},
	} {
		if _, err := c.run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// A doubt says the reason that there is.
func TestDoubts(t *testing.T) {
	fast := Result{Result: bench.Result{Name: "simd", Work: bench.Work{FLOPs: 3e9}, Min: 1, Threads: 1}}
	noisy := Result{Result: bench.Result{Name: "tiled", Warnings: []string{"one sample only"}}}
	roof := func(peak float64) roofline.Machine { return roofline.Machine{Peak: peak} }
	for _, c := range []struct {
		l    Ladder
		want string
	}{
		{Ladder{}, ""},
		{Ladder{Results: []Result{fast}}, ""},
		{Ladder{Warnings: []string{"no memory"}, Results: []Result{fast, noisy}}, "no memory; tiled: one sample only"},
		{Ladder{Results: []Result{fast}, One: roof(2.95e9), All: roof(1)}, ""},
		{Ladder{Results: []Result{fast}, One: roof(2.9e9), All: roof(9e9)}, "simd stands above the peak, so the peak was measured too low: measure the roofs again"},
	} {
		if got := strings.Join(c.l.Doubts(), "; "); got != c.want {
			t.Errorf("doubts are %q; want %q", got, c.want)
		}
	}
	other := mine(1)
	other.Measured.Host.CPU = "another"
	if l, err := Climb(other, 8, quick, "simd"); err != nil || !strings.Contains(strings.Join(l.Doubts(), "; "), "the roofs are those of another machine: another") {
		t.Errorf("roofs of another machine: %q, %v", l.Doubts(), err)
	}
}

func TestTag(t *testing.T) {
	result := func(name string, threads int) Result {
		return Result{Result: bench.Result{Name: name, Threads: threads}}
	}
	l := Ladder{ISA: "avx2", Notes: []string{"reads much"}, Results: []Result{result("m = 1", 2), result("m = 2", 2)}}
	if got, want := l.Tag(), "kernels avx2; threads: 2; reads much"; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
	l.Results[1].Threads = 1
	if got, want := l.Tag(), "threads: m = 1 2, m = 2 1; reads much"; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
}

// Each rung has all its parts, computes the product, and its traffic is
// between the least and the naive count.
func TestRungs(t *testing.T) {
	const n = 70
	b, err := bench.NewRing[float32](n, n, 0, 0, host.Host{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	seen := map[string]bool{}
	for _, r := range Rungs() {
		if r.Name == "" || seen[r.Name] {
			t.Errorf("%+v", r)
		}
		seen[r.Name] = true
		c := bench.Multiply(r.Name, n, n, n, 1, r.Multiply, b)
		c.Run()
		if err := c.Verify(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		g := roofline.Square(200, 4)
		got, least, most := r.Traffic(g), tiling.Compulsory(g), tiling.Naive(g)
		if got.FLOPs != least.FLOPs || got.Stores != least.Stores || got.Loads < least.Loads || got.Loads > most.Loads {
			t.Errorf("%s: %+v is not between %+v and %+v", r.Name, got, least, most)
		}
		for _, bad := range []roofline.GEMM{{M: 0, N: 1, K: 1, ElemBytes: 4}, roofline.Square(1<<40, 4)} {
			if err := arg.Maybe(func() { r.Traffic(bad) }); err == nil {
				t.Errorf("%s: no error for %+v", r.Name, bad)
			}
		}
	}
	if got := reordered(roofline.Square(4, 4)); got.Loads != 16+64 {
		t.Errorf("reordered loads %d", got.Loads)
	}
}

func TestBlocked(t *testing.T) {
	b := matmul.Blocking{MR: 2, NR: 2, KC: 3, NC: 4, MC: 2}
	if got := Blocked(roofline.GEMM{M: 5, N: 7, K: 3, ElemBytes: 4}, b); got.Loads != 2*15+3*21 || got.Stores != 35 || got.FLOPs != 210 {
		t.Errorf("%+v", got)
	}
	b.NC = 3
	if err := arg.Maybe(func() { Blocked(roofline.Square(4, 4), b) }); err == nil || !strings.Contains(err.Error(), "NC is 3") {
		t.Errorf("error %v", err)
	}
	if v := (Result{Result: bench.Result{Work: bench.Work{FLOPs: 5}, Min: 2}}).FLOPS(); !(math.Abs(v-2.5) <= 1e-15) {
		t.Errorf("%v FLOP/s", v)
	}
}

// Blocks change the traffic and not the product; without them all of B comes in for
// each panel of A.
func TestInBlocks(t *testing.T) {
	const n = 70
	blocks, err := matmul.BlockingOf[float32]("")
	if err != nil {
		t.Fatal(err)
	}
	one := InBlocks("no blocks", n, Way{Threads: 1, NoBlocks: true})
	passes := (n + blocks.MR - 1) / blocks.MR
	if want := int64(4 * (n*n + passes*n*n + n*n)); one.Bytes != want || one.Rows != n {
		t.Errorf("without blocks: %d bytes, %d rows: want %d, %d", one.Bytes, one.Rows, want, n)
	}
	l, err := Time(mine(1), n, bench.Options{Samples: 1, MinTime: 1}, one,
		InBlocks("computed", n, Way{Threads: 1}), InBlocks("yours", n, Way{Threads: 1, Blocks: Panels(8, 1, 1)}),
		InBlocks("plain", n, Way{ISA: "go", Threads: 1}))
	if err != nil || len(l.Results) != 4 {
		t.Fatalf("%d results, %v", len(l.Results), err)
	}
	if computed, yours := l.Results[1].Work.Bytes, l.Results[2].Work.Bytes; yours <= computed {
		t.Errorf("blocks of one panel move %v bytes and the computed ones %v", yours, computed)
	}
	for want, call := range map[string]func(){
		"n is 0":        func() { InBlocks("", 0, Way{}) },
		"kc is 0":       func() { Panels(0, 1, 1) },
		"ncPanels is 0": func() { Panels(1, 0, 1) },
		"mcTiles is -1": func() { Panels(1, 1, -1) },
		"ISA is":        func() { InBlocks("", 1, Way{ISA: "mmx"}) },
	} {
		if err := arg.Maybe(call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
