package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/matmul"
	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

var quick = Options{MinTime: time.Microsecond, Samples: 2}

func TestClimb(t *testing.T) {
	for _, names := range [][]string{nil, {"tiled"}, {"parallel", "loops"}} {
		var calls, total int
		o := quick
		o.Progress = func(done, n int) { calls, total = done, n }
		const n = 40
		l, err := Climb(n, o, names...)
		if err != nil {
			t.Fatal(err)
		}
		if calls != total || total == 0 {
			t.Errorf("%v: progress ends at %d of %d", names, calls, total)
		}
		rungs, err := rungsOf(names)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Results) != len(rungs) || names != nil && len(rungs) != len(names) {
			t.Fatalf("%v: %d results for %d rungs", names, len(l.Results), len(rungs))
		}
		for i, r := range l.Results {
			traffic := rungs[i].Work(roofline.Square(n, 4))
			bytes := traffic.Bytes(4)
			if want := (Work{FLOPs: 2 * n * n * n, Bytes: float64(bytes)}); r.Work != want {
				t.Errorf("%s: work is %+v; want %+v", r.Name, r.Work, want)
			}
			if r.Name != rungs[i].Name || names != nil && r.Name != names[i] {
				t.Errorf("result %d is %s; want %s", i, r.Name, rungs[i].Name)
			}
			want := 1
			if r.Name == "parallel" {
				want = l.Threads
			}
			if r.Threads != want { // gonum stays on one thread at this size
				t.Errorf("%s: %d threads; want %d", r.Name, r.Threads, want)
			}
			if !(r.GFLOPS() > 0) || names == nil && !strings.Contains(l.String(), r.Name) {
				t.Errorf("%s: %v GFLOP/s, %q", r.Name, r.GFLOPS(), l)
			}
			if roof := l.Roof(r); r.Threads == 1 && roof.Name != l.One.Name || r.Threads > 1 && roof.Name != l.All.Name {
				t.Errorf("%s: held against the roof %q", r.Name, roof.Name)
			}
		}
		for _, m := range []roofline.Machine{l.One, l.All} {
			if err := m.Validate(); err != nil {
				t.Errorf("%v: roof %q: %v", names, m.Name, err)
			}
		}
		if l.ISA != matmul.ISAs()[0] || !strings.Contains(l.String(), "Kernels: "+l.ISA) || !strings.Contains(l.String(), "GOMAXPROCS") {
			t.Errorf("host and kernels are %q", l)
		}
	}
}

func TestDecode(t *testing.T) {
	const size = 96
	rows := []int{1, 3, 32}
	l, err := Decode(size, rows, quick)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Results) != len(rows) {
		t.Fatalf("%d results", len(l.Results))
	}
	for i, r := range l.Results {
		m := float64(rows[i])
		if want := (Work{FLOPs: 2 * m * size * size, Bytes: 4 * (2*m*size + size*size)}); r.Work != want || !(r.GFLOPS() > 0) {
			t.Errorf("%s: work is %+v; want %+v", r.Name, r.Work, want)
		}
		if r.Threads != l.Threads {
			t.Errorf("%s: %d threads; want %d", r.Name, r.Threads, l.Threads)
		}
	}
	if len(l.Notes) == 0 || !strings.Contains(l.Notes[0], "matri") {
		t.Errorf("notes do not say over how many matrices it goes: %q", l.Notes)
	}
}

func TestLadderErrors(t *testing.T) {
	for _, c := range []struct {
		run  func() (Ladder, error)
		want []string
	}{
		{func() (Ladder, error) { return Climb(0, quick) }, []string{"n is 0", "from 1 to 2048"}},
		{func() (Ladder, error) { return Climb(2049, quick) }, []string{"n is 2049"}},
		{func() (Ladder, error) { return Climb(8, quick, "lops") }, []string{`"lops"`, "loops, reordered", "gonum"}},
		{func() (Ladder, error) { return Climb(8, quick, "tiled", "tiled") }, []string{`"tiled"`, "another case"}},
		{func() (Ladder, error) { return Climb(8, Options{Samples: -1}) }, []string{"Options.Samples is -1"}},
		{func() (Ladder, error) { return Decode(0, []int{1}, quick) }, []string{"size is 0", "to 16384"}},
		{func() (Ladder, error) { return Decode(leastDecode(runtime.GOMAXPROCS(0))-1, []int{1}, quick) }, []string{"bench: size is", fmt.Sprintf("from %d to 16384 on %s", leastDecode(runtime.GOMAXPROCS(0)), plural(runtime.GOMAXPROCS(0), "thread"))}},
		{func() (Ladder, error) { return Decode(maxVector+1, []int{1}, quick) }, []string{"size is 16385"}},
		{func() (Ladder, error) { return Decode(64, nil, quick) }, []string{"rows is empty"}},
		{func() (Ladder, error) { return Decode(64, []int{4, 0}, quick) }, []string{"rows has 0", "from 1 to 1024"}},
	} {
		_, err := c.run()
		wantError(t, err, c.want...)
	}
}

// The smallest matrix that is taken gives each thread one round of the loop that
// reads memory, and is timed.
func TestLeastDecode(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 64} {
		side := leastDecode(threads)
		if got := len(part(make([]float32, side*side), threads-1, threads)); got != probe.RoundBytes/4 {
			t.Errorf("%d threads: a side of %d gives each %d elements", threads, side, got)
		}
		if got := len(part(make([]float32, (side-1)*(side-1)), 0, threads)); got != 0 {
			t.Errorf("%d threads: a side of %d gives each %d elements already", threads, side-1, got)
		}
	}
	if l, err := Decode(leastDecode(runtime.GOMAXPROCS(0)), []int{1}, quick); err != nil || len(l.Results) != 1 {
		t.Errorf("%+v, %v", l.Results, err)
	}
}

// A wrong element in a column that is looked at is found, NaN too.
func TestCheckColumns(t *testing.T) {
	p := &problems{random: rand.New(rand.NewPCG(1, 2))}
	const m, n = 3, 2 // so few columns that each is looked at
	a, b, c := smallInts[float32](p, m*n), smallInts[float32](p, n*n), make([]float32, m*n)
	if err := matmul.Naive(m, n, n, a, n, b, n, c, n); err != nil {
		t.Fatal(err)
	}
	if err := checkColumns(rand.New(rand.NewPCG(1, 2)), m, n, a, b, c); err != nil {
		t.Error(err)
	}
	for _, v := range []float32{c[5] + 1, float32(math.NaN())} {
		for i := range c {
			wrong := slices.Clone(c)
			wrong[i] = v
			if v == c[i] {
				continue
			}
			random := rand.New(rand.NewPCG(1, 2))
			found := false
			for range 8 {
				found = found || checkColumns(random, m, n, a, b, wrong) != nil
			}
			if !found {
				t.Errorf("element %d is %v and nothing is said", i, v)
			}
		}
	}
}

func TestTogether(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		seen := make([]int, threads)
		run := together(threads, func(i int) error {
			seen[i]++
			if i == threads-1 && seen[i] == 2 {
				return errors.New("the last fails in its second call")
			}
			return nil
		})
		if err := run(); err != nil {
			t.Error(err)
		}
		if err := run(); err == nil || !strings.Contains(err.Error(), "second call") {
			t.Errorf("error is %v", err)
		}
		for i, n := range seen {
			if n != 2 {
				t.Errorf("%d threads: part %d ran %d times in two calls", threads, i, n)
			}
		}
	}
}

// What the loop over memory reads is said, and doubted where a cache may hold it.
func TestReadable(t *testing.T) {
	for _, c := range []struct {
		last    int64
		bytes   int
		warning string
	}{
		{1 << 20, 4 << 20, ""},
		{0, maxReadable, "unknown"},
		{128 << 20, maxReadable, "2 times the last-level caches"},
		{512 << 20, maxReadable, "0.5 times the last-level caches"},
	} {
		l := Ladder{Threads: 1, Host: Host{Free: 8 << 30}}
		if c.last > 0 {
			l.Host.LastLevels = []int64{c.last}
		}
		if math.MaxInt == math.MaxInt32 && c.bytes == maxReadable {
			continue // a smaller address space reads less
		}
		next, free, note, warning, err := l.readable(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := 4 * len(next()); got != c.bytes {
			t.Errorf("last-level cache of %d bytes: reads %d bytes; want %d", c.last, got, c.bytes)
		}
		if !strings.Contains(note, binarySize(int64(c.bytes))) || !strings.Contains(warning, c.warning) || (warning == "") != (c.warning == "") {
			t.Errorf("last-level cache of %d bytes: note %q, warning %q", c.last, note, warning)
		}
		free()
	}
}

func TestLadderDoubts(t *testing.T) {
	fast := Result{Name: "simd", Work: Work{FLOPs: 3e9}, Min: 1, Threads: 1}
	noisy := Result{Name: "tiled", Warnings: []string{"noisy"}, Spread: 0.25}
	roof := func(peak float64) roofline.Machine { return roofline.Machine{Peak: peak} }
	for _, c := range []struct {
		l    Ladder
		want string
	}{
		{Ladder{}, "none"},
		{Ladder{Results: []Result{{Name: "loops"}}}, "none"},
		{Ladder{Warnings: []string{"no memory"}, Results: []Result{{Name: "loops"}, noisy}},
			"no memory; other programs or the clock disturbed tiled (median 25% above the best)"},
		{Ladder{Roofs: []Result{noisy}}, "other programs or the clock disturbed tiled (median 25% above the best)"},
		{Ladder{Results: []Result{fast}, One: roof(2.95e9), All: roof(1)}, "none"},
		{Ladder{Results: []Result{fast}, One: roof(2.9e9), All: roof(9e9)},
			"simd stands above the peak, so the peak was measured too low: run it again"},
	} {
		if got := c.l.Doubts(); got != c.want {
			t.Errorf("doubts are %q; want %q", got, c.want)
		}
	}
}

func TestLadderString(t *testing.T) {
	l := Ladder{ISA: "avx2", Notes: []string{"reads much"}, Results: []Result{{Name: "m = 1", Threads: 2}, {Name: "m = 2", Threads: 2}}}
	if got, want := l.String(), "Kernels: avx2. Threads: 2. Reads much."; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
	l.Results[1].Threads = 1
	if got, want := l.String(), "Threads: m = 1 2, m = 2 1. Reads much."; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
}
