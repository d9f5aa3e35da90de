package matmul

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// requireISA names an environment variable: a comma-separated list of
// instruction sets that must be there, so that a skipped one fails.
const requireISA = "MATMUL_REQUIRE_ISA"

func TestRequiredISAs(t *testing.T) {
	have := ISAs()
	t.Logf("kernels: %s", strings.Join(have, ", "))
	if have[len(have)-1] != "go" {
		t.Errorf("ISAs() = %v: the plain Go kernel must be last", have)
	}
	want := os.Getenv(requireISA)
	if want == "" {
		t.Skipf("%s is not set", requireISA)
	}
	for _, isa := range strings.Split(want, ",") {
		isa = strings.TrimSpace(isa)
		if !slices.Contains(have, isa) {
			t.Errorf("no %s kernel here: %s", isa, strings.Join(have, ", "))
		}
	}
}

// Blocks that are asked for are used for few rows too: B is packed.
func TestBlocksForFewRows(t *testing.T) {
	const m, n = 40, 64
	p, _, err := choose[float32]([]Option{ISA("go"), Blocks(Blocking{MR: 4, NR: 4, KC: 32, NC: 16, MC: 40})})
	if err != nil {
		t.Fatal(err)
	}
	e, ws, x := *p.engine, workspace[float32]{}, make([]float32, n*n)
	e.directElems = 0 // as if L2 were smaller than B
	e.multiply(&ws, false, m, n, n, x, n, x, n, make([]float32, m*n), n)
	if len(ws.b) != 32*16 {
		t.Errorf("%d elements of B are packed at a time: want a block of 32×16", len(ws.b))
	}
}

func TestNew(t *testing.T) {
	blocks := func(mr, nr, kc, nc, mc int) []Option {
		return []Option{ISA("go"), Blocks(Blocking{MR: mr, NR: nr, KC: kc, NC: nc, MC: mc})}
	}
	for _, tc := range []struct {
		opts []Option
		want string
	}{
		{[]Option{Threads(-1)}, "threads is -1"},
		{[]Option{Threads(MaxThreads + 1)}, "threads is 1025: it must be from 1 to 1024, or 0 for all cores"},
		{[]Option{Threads(math.MaxInt)}, "it must be from 1 to 1024"},
		{[]Option{ISA("vax")}, `ISA is "vax"`},
		{blocks(4, 4, 0, 4, 4), "KC is 0"},
		{blocks(4, 4, 8, 6, 4), "NC is 6"},
		{blocks(4, 4, 8, 8, 6), "MC is 6"},
		{blocks(5, 4, 8, 8, 5), "tiles of 5×4"},
		{[]Option{Tuned(Tuning{Streams: 8, Ahead: 4})}, "tuning depth is 0: it must be from 1 to 8"},
		{[]Option{Tuned(Tuning{Streams: 8, Ahead: 4, Reuse: 8, Depth: 3})}, "tuning depth is 3: it must be 1, 2, 4 or 8"},
		{[]Option{Tuned(Tuning{Rows: 65, Streams: 8, Ahead: 4, Reuse: 8, Depth: 8})}, "tuning rows is 65"},
	} {
		if _, err := New[float32](tc.opts...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want %q", tc.opts, err, tc.want)
		}
	}
	team := NewTeam(2)
	defer team.Close()
	for _, isa := range ISAs() {
		for _, beta := range []float64{0, 1, -2} {
			for _, o := range []Option{Threads(2), OnTeam(team)} {
				mul, err := New[float64](ISA(isa), Beta(beta), o)
				if err != nil {
					t.Fatal(err)
				}
				c := []float64{7}
				if err := mul(1, 1, 1, []float64{2}, 1, []float64{3}, 1, c, 1); err != nil || c[0] != 6+7*beta {
					t.Errorf("%s: 2·3 + %v·7 = %v, %v", isa, beta, c[0], err)
				}
				if err := mul(1, 1, 0, nil, 0, nil, 1, c, 1); err != nil || c[0] != beta*(6+7*beta) {
					t.Errorf("%s: %v·(6 + %v·7) = %v, %v", isa, beta, beta, c[0], err)
				}
			}
		}
	}
}

// Blocks as large as the matrices, and products on a team, give what others give.
func TestBlocksAndTeams(t *testing.T) {
	team := NewTeam(3)
	defer team.Close()
	rng := rand.New(rand.NewPCG(31, 32))
	const m, n, k = 95, 130, 170
	a := newFrame(m, k, k+3, smallInts[float32](rng))
	b := newFrame(k, n, n+5, smallInts[float32](rng))
	want := make([]float32, m*n)
	if err := Reordered(m, n, k, a.x, a.ld, b.x, b.ld, want, n); err != nil {
		t.Fatal(err)
	}
	for _, isa := range ISAs() {
		blk, err := BlockingOf[float32](isa)
		if err != nil {
			t.Fatal(err)
		}
		whole := Blocking{MR: blk.MR, NR: blk.NR, KC: k, NC: roundUp(n, blk.NR), MC: roundUp(m, blk.MR)}
		for _, o := range [][]Option{{Blocks(whole), Threads(1)}, {Blocks(whole), Threads(2)}, {OnTeam(team)}, {OnTeam(team), Blocks(whole)}} {
			f, err := New[float32](append(o, ISA(isa))...)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, m*n)
			for range 3 {
				if err := f(m, n, k, a.x, a.ld, b.x, b.ld, got, n); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: another product, %v", isa, err)
				}
			}
		}
	}
}

// Results for a number of threads are the same bit for bit from run to run,
// whichever thread takes which block, and no goroutine outlives its call.
func TestParallelIsRepeatable(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, isa := range ISAs() {
		const m, n, k = 150, 210, 301
		rng := rand.New(rand.NewPCG(13, 14))
		a := newFrame(m, k, k, anything[float32](rng))
		b := newFrame(k, n, n, anything[float32](rng))
		for _, threads := range []int{1, 2, 3, 5} {
			f, err := New[float32](ISA(isa), Threads(threads))
			if err != nil {
				t.Fatal(err)
			}
			var first []float32
			for run := range 5 {
				c := make([]float32, m*n)
				if err := f(m, n, k, a.x, k, b.x, n, c, n); err != nil {
					t.Fatal(err)
				}
				if run == 0 {
					first = c
				} else if !slices.Equal(first, c) {
					t.Errorf("%s: run %d with %d threads differs from the first", isa, run, threads)
				}
			}
		}
	}
	noMoreGoroutines(t, before)
}

// noMoreGoroutines fails if more than so many are there: one that has said that
// it is done may still be on its way out.
func noMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, s := range subjects[float32]() {
		if s.name == "gonum" {
			continue
		}
		for _, n := range []int{16, 200} {
			a, b, c := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
			run := func() {
				if err := s.mul(n, n, n, a, n, b, n, c, n); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if got := testing.AllocsPerRun(20, run); got != 0 {
				t.Errorf("%s, n = %d: %v allocations a call", s.name, n, got)
			}
		}
	}
	mul, err := New[float64](Threads(3))
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	a, b, c := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	run := func() {
		if err := mul(n, n, n, a, n, b, n, c, n); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if got := testing.AllocsPerRun(20, run); got != 0 {
		t.Errorf("3 threads: %v allocations a call", got)
	}
}

// The inequalities that the blocking must satisfy, on the caches of many CPUs.
func TestBlocking(t *testing.T) {
	tiles := []struct {
		mr, nr int
		size   int64
	}{{4, 4, 4}, {4, 4, 8}, {6, 16, 4}, {6, 8, 8}, {14, 32, 4}, {14, 16, 8}, {8, 8, 4}, {8, 4, 8}}
	for _, c := range []Caches{
		HostCaches(), defaultCaches,
		{32 << 10, 256 << 10, 2 << 20}, {32 << 10, 512 << 10, 4 << 20}, {32 << 10, 1 << 20, 1 << 20},
		{48 << 10, 1280 << 10, 3 << 20}, {48 << 10, 2 << 20, 2 << 20}, {64 << 10, 1 << 20, 0},
		{128 << 10, 12 << 20, 0}, {48 << 10, 2 << 20, 240 << 20},
	} {
		for _, x := range tiles {
			b, err := NewBlocking(x.mr, x.nr, x.size, c)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Validate(); err != nil {
				t.Errorf("%+v on %+v: %v", x, c, err)
			}
			l2 := max(c.L1, c.L2)
			l3 := max(l2, c.L3)
			if got := b.L1Bytes(x.size); got > c.L1 {
				t.Errorf("%+v on %+v: %+v needs %d bytes of L1", x, c, b, got)
			}
			if got := b.L2Bytes(x.size); got > l2/4*3 {
				t.Errorf("%+v on %+v: %+v needs %d bytes of ¾ of L2", x, c, b, got)
			}
			if got := b.L3Bytes(x.size); got > l3/2 {
				t.Errorf("%+v on %+v: %+v needs %d bytes of half of L3", x, c, b, got)
			}
			// No smaller than need be: one step more would not fit.
			more := b
			if more.KC += 8; b.KC < maxKC && more.L1Bytes(x.size) <= c.L1 {
				t.Errorf("%+v on %+v: KC = %d fits in L1 too", x, c, more.KC)
			}
			more = b
			if more.NC += b.NR; b.NC+b.NR <= maxNC && more.L2Bytes(x.size) <= l2/4*3 {
				t.Errorf("%+v on %+v: NC = %d fits in L2 too", x, c, more.NC)
			}
			more = b
			if more.MC += b.MR; b.MC+b.MR <= maxMC && more.L3Bytes(x.size) <= l3/2 {
				t.Errorf("%+v on %+v: MC = %d fits in L3 too", x, c, more.MC)
			}
			// For few rows: no deeper than a TLB reaches, and within L2 as well.
			thin := b.shallow(x.size, c)
			if err := thin.Validate(); err != nil {
				t.Errorf("%+v on %+v: %v", x, c, err)
			}
			if thin.KC > shallowKC || thin.KC > b.KC || thin.NC > max(shallowNC, thin.NR) || thin.L2Bytes(x.size) > l2/4*3 {
				t.Errorf("%+v on %+v: %+v for few rows", x, c, thin)
			}
		}
	}
	for _, tc := range []struct {
		mr, nr int
		size   int64
		c      Caches
		want   string
	}{
		{0, 4, 4, defaultCaches, "tile is 0×4"},
		{4, -1, 4, defaultCaches, "tile is 4×-1"},
		{4, 4, 0, defaultCaches, "element size is 0"},
		{4, 4, 4, Caches{L1: -1}, "caches are"},
	} {
		if _, err := NewBlocking(tc.mr, tc.nr, tc.size, tc.c); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
	// Nothing at all: a single tile.
	if b, err := NewBlocking(4, 4, 8, Caches{}); err != nil || b != (Blocking{MR: 4, NR: 4, KC: 1, NC: 4, MC: 4}) {
		t.Errorf("no cache: %+v, %v", b, err)
	}
}

// What a block needs is exact, or the largest number there is: it never wraps to
// something that seems to fit.
func TestBlockingBytesDoNotWrap(t *testing.T) {
	b := Blocking{MR: 2, NR: 3, KC: 5, NC: 6, MC: 4}
	if got, want := [3]int64{b.L1Bytes(8), b.L2Bytes(8), b.L3Bytes(8)}, [3]int64{8 * (10 + 15 + 6), 8 * (60 + 10), 8 * (24 + 20)}; got != want {
		t.Errorf("%+v needs %v bytes, want %v", b, got, want)
	}
	const huge = math.MaxInt
	b = Blocking{MR: huge, NR: huge, KC: huge, NC: huge, MC: huge}
	for _, elemBytes := range []int64{4, 1 << 32, math.MaxInt64} {
		if got := [3]int64{b.L1Bytes(elemBytes), b.L2Bytes(elemBytes), b.L3Bytes(elemBytes)}; got != [3]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64} {
			t.Errorf("%+v at %d bytes needs %v", b, elemBytes, got)
		}
	}
}

// Several goroutines multiply at once through one function, some on threads of
// their own, while the number of threads that the whole program may use changes
// and the sizes go up and down.
func TestManyAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const top = 190
	rng := rand.New(rand.NewPCG(15, 16))
	a := newFrame(top, top, top, smallInts[float32](rng))
	b := newFrame(top, top, top, smallInts[float32](rng))
	want := map[int][]float32{}
	sizes := []int{1, 17, 100, 150, top}
	for _, n := range sizes {
		want[n] = make([]float32, n*n)
		if err := Reordered(n, n, n, a.x, top, b.x, top, want[n], n); err != nil {
			t.Fatal(err)
		}
	}
	rounds := 15
	if raceEnabled || testing.Short() {
		rounds = 4
	}
	four, err := New[float32](Threads(4))
	if err != nil {
		t.Fatal(err)
	}
	for _, procs := range []int{1, 5, 2, 2 * MaxThreads} {
		runtime.GOMAXPROCS(procs)
		var all sync.WaitGroup
		for g := range 6 {
			all.Add(1)
			go func() {
				defer all.Done()
				if g%2 == 0 {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				f := Func[float32](Multiply[float32])
				if g%3 == 0 {
					f = four
				}
				c := make([]float32, top*top)
				for i := range rounds {
					n := sizes[(i*(g+1)+g)%len(sizes)]
					if err := f(n, n, n, a.x, top, b.x, top, c[:n*n], n); err != nil {
						t.Error(err)
					} else if !slices.Equal(c[:n*n], want[n]) {
						t.Errorf("GOMAXPROCS %d, goroutine %d, n = %d: a wrong product", procs, g, n)
					}
				}
			}()
		}
		all.Wait()
		if got := runtime.GOMAXPROCS(0); got != procs {
			t.Errorf("GOMAXPROCS has become %d, was %d", got, procs)
		}
	}
	a.unchanged(t, "a")
	b.unchanged(t, "b")
}

// What a multiply keeps for the next one is bounded by the blocking, not by the
// number or the sizes of the calls, and the garbage collector may take it.
func TestWhatIsKeptIsBounded(t *testing.T) {
	const top = 400
	a, b, c := make([]float32, top*top), make([]float32, top*top), make([]float32, top*top)
	f, err := New[float32](Threads(3))
	if err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		for range 3 { // a sync.Pool gives its things up at the second
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	calls := 4000
	if raceEnabled || testing.Short() {
		calls = 100
	}
	rng := rand.New(rand.NewPCG(17, 18))
	before := heap()
	for range calls {
		m, n, k := 1+rng.IntN(40), 1+rng.IntN(top), 1+rng.IntN(top)
		if err := f(m, n, k, a, k, b, n, c, n); err != nil {
			t.Fatal(err)
		}
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d calls left %d bytes behind", calls, after-before)
	}
	runtime.KeepAlive(f)
	// A job that has done everything keeps no more than its blocks.
	p := pools[float32]()[0]
	ws := &workspace[float32]{}
	for range min(calls, 400) / 4 {
		m, n, k := 1+rng.IntN(top), 1+rng.IntN(top), 1+rng.IntN(top)
		p.engine.multiply(ws, false, m, n, k, a, k, b, n, c, n)
	}
	blk, spare := p.engine.blk, lineBytes/4
	for _, x := range []struct {
		what string
		got  int
		most int
	}{
		{"A", cap(ws.a), max(blk.MR*blk.KC, p.engine.fewRows*max(p.engine.tuning.Streams, p.engine.tuning.Reuse))},
		{"B", cap(ws.b), max(blk.KC*(blk.NC+blk.NR), top)},
		{"C", cap(ws.c), max(p.engine.fewElems, p.engine.fewRows*blk.NR) + p.engine.fewRows*blk.NR},
	} {
		if x.got > x.most+spare {
			t.Errorf("the copy of %s has %d elements, want at most %d", x.what, x.got, x.most)
		}
	}
}

func TestParts(t *testing.T) {
	for n := 1; n <= 200; n++ {
		for size := 4; size <= 40; size += 4 {
			for _, unit := range []int{1, 4} {
				p := part(n, size, unit)
				if p < 1 || p > size || blocksOf(n, p) != blocksOf(n, size) {
					t.Fatalf("part(%d, %d, %d) = %d", n, size, unit, p)
				}
			}
		}
		for _, z := range []struct{ full, few int }{{1, 1}, {4, 8}, {6, 8}, {8, 4}, {12, 8}, {14, 8}, {16, 8}} {
			left, thin := n, n
			for left > 0 {
				r := tileRows(left, z.full, z.few)
				if r < 1 || r != z.full && r > min(z.full, z.few) {
					t.Fatalf("%d of %d rows left: a tile of %d", left, n, r)
				}
				left, thin = left-r, min(thin, r)
			}
			if thin < min(n, min(z.full, z.few)/2) {
				t.Fatalf("%d rows by %d: the thinnest tile has %d", n, z.full, thin)
			}
		}
	}
}
