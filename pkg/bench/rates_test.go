package bench

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/internal/host"
	"memorywall/pkg/matmul"
)

func TestFiveRates(t *testing.T) {
	for _, n := range []int{8, 16, 32} {
		var done, total []int
		rates, err := FiveRates(Sizes{Small: n, Large: n, Vector: n}, Options{
			MinTime:  time.Microsecond,
			Progress: func(d, n int) { done = append(done, d); total = append(total, n) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(rates) != 5 {
			t.Fatalf("%d rates at size %d; want 5", len(rates), n)
		}
		side := strconv.Itoa(n) + "×" + strconv.Itoa(n)
		side64 := float64(n)
		for i, want := range []struct {
			key, unit, element string
			work               Work
		}{
			{KeyPlainSmall, "GFLOP/s", "float64", Work{2 * side64 * side64 * side64, 24 * side64 * side64}},
			{KeyLibrarySmall, "GFLOP/s", "float64", Work{2 * side64 * side64 * side64, 24 * side64 * side64}},
			{KeyLibraryLarge, "GFLOP/s", "float32", Work{2 * side64 * side64 * side64, 12 * side64 * side64}},
			{KeyMatVecFLOPs, "GFLOP/s", "float32", Work{2 * side64 * side64, 4 * side64 * side64}},
			{KeyMatVecBytes, "GB/s", "float32", Work{2 * side64 * side64, 4 * side64 * side64}},
		} {
			r := rates[i]
			if r.Key != want.key || r.Unit != want.unit || r.Better != Higher {
				t.Errorf("rate %d is %s in %s, better %s; want %s in %s, better higher", i, r.Key, r.Unit, r.Better, want.key, want.unit)
			}
			if !(r.Value > 0) || math.IsInf(r.Value, 0) {
				t.Errorf("%s at size %d is %v; want a positive number", r.Key, n, r.Value)
			}
			if !strings.Contains(r.Name, side) || !strings.Contains(r.Name, want.element) {
				t.Errorf("name %q does not say %s and %s", r.Name, side, want.element)
			}
			if r.Work != want.work {
				t.Errorf("work of %s is %+v; want %+v", r.Key, r.Work, want.work)
			}
			// All three sizes are a single block of gonum's.
			if r.Threads != 1 {
				t.Errorf("%s uses %d threads at size %d; want 1", r.Key, r.Threads, n)
			}
			if len(r.Result.Samples) != RateSamples || r.Footprint < int64(want.work.Bytes) {
				t.Errorf("%s has %d samples and a footprint of %d bytes", r.Key, len(r.Result.Samples), r.Footprint)
			}
		}
		// The last two are one measurement in two units.
		if a, b := rates[3], rates[4]; !reflect.DeepEqual(a.Result, b.Result) || !(math.Abs(a.Value/b.Value*2-1) <= 1e-12) {
			t.Errorf("matrix–vector rates are %v and %v: 2 bytes a FLOP", a, b)
		}
		for i := range done {
			if done[i] != i || total[i] != total[0] {
				t.Fatalf("progress is %v of %v", done, total)
			}
		}
		if done[len(done)-1] != total[0] {
			t.Errorf("progress ends at %d of %d", done[len(done)-1], total[0])
		}
		b, err := json.Marshal(rates)
		if err != nil {
			t.Fatal(err)
		}
		var back []map[string]any
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"key", "name", "value", "unit", "better", "threads", "work", "result"} {
			if _, ok := back[4][key]; !ok {
				t.Errorf("JSON of a rate has no %q: %s", key, b)
			}
		}
	}
}

func TestFiveRatesBadArguments(t *testing.T) {
	good := Sizes{8, 8, 8}
	for _, c := range []struct {
		sizes Sizes
		parts []string
	}{
		{Sizes{}, []string{"Sizes.Small is 0", "1024"}},
		{Sizes{-3, 8, 8}, []string{"Sizes.Small is -3"}},
		{Sizes{maxSmall + 1, 8, 8}, []string{"Sizes.Small is 1025"}},
		{Sizes{8, 0, 8}, []string{"Sizes.Large is 0"}},
		{Sizes{8, 102400, 8}, []string{"Sizes.Large is 102400", "4096"}},
		{Sizes{8, 8, -1}, []string{"Sizes.Vector is -1"}},
		{Sizes{8, 8, 1 << 30}, []string{"Sizes.Vector is 1073741824", "16384"}},
	} {
		_, err := FiveRates(c.sizes, Options{})
		wantError(t, err, c.parts...)
	}
	_, err := FiveRates(good, Options{Samples: -1})
	wantError(t, err, "Options.Samples is -1")

	// A machine with little memory.
	_, err = fiveRates(Sizes{8, 8, 4096}, Options{}, host.Host{GOMAXPROCS: 1, Free: 32 << 20})
	wantError(t, err, "Sizes.Vector is 4096", "64 MiB", "at most 16 MiB", "choose 2048 or less")
}

func TestFiveRatesQuota(t *testing.T) {
	h := host.Host{GOMAXPROCS: 4, Quota: 1.5}
	rates, err := fiveRates(Sizes{Small: 65, Large: 64, Vector: 8}, Options{MinTime: time.Microsecond, Samples: 1}, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rates {
		warned := strings.Contains(strings.Join(r.Warnings, "\n"), "CPU quota of 1.5 cores is less than the 4 threads")
		if want := r.Key == KeyLibrarySmall; warned != want {
			t.Errorf("%s with %d threads: quota warning is %v, want %v: %q", r.Key, r.Threads, warned, want, r.Warnings)
		}
	}
}

func TestRing(t *testing.T) {
	const mib = 1 << 20
	l3 := func(sizes ...int64) host.Host { return host.Host{LastLevels: sizes} }
	free := func(h host.Host, bytes int64) host.Host {
		h.Free = bytes
		return h
	}
	for _, c := range []struct {
		name    string
		n       int64
		threads int
		limit   int64
		h       host.Host
		count   int
		doubt   string
	}{
		{"four times the cache", 2048, 1, 512 * mib, l3(32 * mib), 8, ""},
		{"rounded up", 2048, 1, 512 * mib, l3(31 * mib), 8, ""},
		{"one is enough", 4096, 1, 512 * mib, l3(16 * mib), 1, ""},
		{"one thread reaches one of eight", 2048, 1, 512 * mib, l3(slices.Repeat([]int64{32 * mib}, 8)...), 8, ""},
		{"two threads reach two", 2048, 2, 512 * mib, l3(slices.Repeat([]int64{32 * mib}, 8)...), 16, ""},
		{"more than the limit", 2048, 1, 512 * mib, l3(200 * mib), 32, "at most 512 MiB, 2.6 times the last-level caches of 200 MiB and not 4 times"},
		{"hopeless: one, and a warning", 2048, 1, 512 * mib, l3(1024 * mib), 1, "resident in cache"},
		{"small matrices stay in the cache", 32, 1, 512 * mib, l3(64 * mib), 1, "resident in cache"},
		{"little memory", 2048, 1, 512 * mib, free(l3(32*mib), 192*mib), 3, "1.5 times"},
		{"very little memory", 2048, 1, 512 * mib, free(l3(32*mib), 32*mib), 1, "resident in cache"},
		{"cache unknown", 2048, 1, 512 * mib, host.Host{}, 16, "last-level cache is unknown"},
	} {
		var r Ring[float32]
		if count := r.count(c.n*c.n*4, c.threads, c.limit, c.h); count != c.count {
			t.Errorf("%s: count is %d; want %d", c.name, count, c.count)
		}
		if want := strconv.Itoa(c.count) + " matrices"; c.count > 1 && !strings.Contains(r.Note, want) {
			t.Errorf("%s: note is %q: it does not say %q", c.name, r.Note, want)
		}
		if !strings.Contains(r.Doubt, c.doubt) || (r.Doubt == "") != (c.doubt == "") {
			t.Errorf("%s: doubt is %q; want %q", c.name, r.Doubt, c.doubt)
		}
	}
}

// A case takes the matrices of a ring in turn, each with memory of its own.
func TestMatricesInTurn(t *testing.T) {
	r, err := NewRing[float32](300, 100, 1, 4*300*100*3, host.Host{LastLevels: []int64{100_000}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Len() != 3 || r.Bytes() != 360_000 {
		t.Fatalf("%d matrices of %d bytes", r.Len(), r.Bytes())
	}
	var order []*float32
	c := MultiplyVec("v", 300, 100, 1, func(m, n int, a []float32, lda int, x, y []float32) error {
		order = append(order, &a[0])
		return nil
	}, r)
	for range 6 {
		c.Run()
	}
	seen := make(map[*float32]bool)
	for i, a := range order[:3] {
		seen[a] = true
		if order[3+i] != a {
			t.Errorf("call %d does not come back to the matrix of call %d", 3+i, i)
		}
	}
	if len(seen) != 3 {
		t.Errorf("3 calls went over %d matrices", len(seen))
	}
}

func TestGonumThreads(t *testing.T) {
	for _, c := range []struct{ m, n, procs, want int }{
		{1, 1, 8, 1}, {64, 64, 8, 1}, {65, 64, 8, 1}, {64, 192, 8, 1}, // 1, 1, 2 and 3 blocks
		{65, 65, 8, 4}, {96, 96, 8, 4}, {96, 96, 2, 2}, {96, 96, 1, 1}, {64, 193, 8, 4}, {1024, 1024, 8, 8}, {1024, 1024, 512, 256},
	} {
		if got := GonumThreads(c.m, c.n, c.procs); got != c.want {
			t.Errorf("GonumThreads(%d, %d, %d) is %d; want %d", c.m, c.n, c.procs, got, c.want)
		}
	}
}

// What GonumThreads says is read from gonum's source: this test holds it to the
// version in use.
func TestGonumSource(t *testing.T) {
	pkg, err := build.Import("gonum.org/v1/gonum/blas/gonum", ".", 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := make(map[string]string)
	parallel := make(map[string]bool) // files that start goroutines
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				parallel[name] = true
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if i < len(n.Values) {
						if lit, ok := n.Values[i].(*ast.BasicLit); ok {
							constants[id.Name] = lit.Value
						}
					}
				}
			}
			return true
		})
	}
	if got := constants["blockSize"]; got != strconv.Itoa(gonumBlock) {
		t.Errorf("gonum's blockSize is %s; gonumBlock is %d", got, gonumBlock)
	}
	if got := constants["minParBlock"]; got != strconv.Itoa(gonumMinBlocks) {
		t.Errorf("gonum's minParBlock is %s; gonumMinBlocks is %d", got, gonumMinBlocks)
	}
	if want := map[string]bool{"dgemm.go": true, "sgemm.go": true}; !reflect.DeepEqual(parallel, want) {
		t.Errorf("gonum starts goroutines in %v; want only %v", parallel, want)
	}
}

func TestSmallInts(t *testing.T) {
	seen := make(map[float32]int)
	for _, x := range SmallInts(make([]float32, 1000)) {
		seen[x]++
	}
	if len(seen) != 4 || seen[-2] == 0 || seen[-1] == 0 || seen[1] == 0 || seen[2] == 0 {
		t.Errorf("values are %v; want -2, -1, 1 and 2", seen)
	}
}

// A single wrong element is found wherever it stands, in every shape.
func TestCheckProduct(t *testing.T) {
	for _, shape := range [][3]int{{9, 9, 9}, {1, 7, 5}, {7, 1, 5}, {4, 6, 1}} {
		m, n, k := shape[0], shape[1], shape[2]
		a, b, c := SmallInts(make([]float64, m*k)), SmallInts(make([]float64, k*n)), make([]float64, m*n)
		if err := matmul.Naive(m, n, k, a, k, b, n, c, n); err != nil {
			t.Fatal(err)
		}
		if err := CheckProduct(m, n, k, a, b, c); err != nil {
			t.Fatalf("%v: a right product is refused: %v", shape, err)
		}
		for i, right := range c {
			for _, wrong := range []float64{right + 1, right - 1, right + 0.5, -1e9, math.NaN(), math.Inf(1), math.Inf(-1), right + 1e-9} {
				c[i] = wrong
				if err := CheckProduct(m, n, k, a, b, c); err == nil {
					t.Errorf("%v: element %d is %v and not %v: no error", shape, i, wrong, right)
				}
			}
			c[i] = right
		}
	}
}

// A multiply that is wrong, or that fails, is not timed.
func TestWrongMultiplyIsNotTimed(t *testing.T) {
	r, err := NewRing[float32](8, 8, 0, 0, host.Host{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = Compare(Options{MinTime: time.Microsecond}, Multiply("wrong", 8, 8, 8, 1, func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) error {
		err := matmul.Naive(m, n, k, a, lda, b, ldb, c, ldc)
		c[63]++
		return err
	}, r))
	wantError(t, err, `"wrong"`, "row 7")
	_, err = Compare(Options{MinTime: time.Microsecond}, Multiply("failing", 8, 8, 8, 1, func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) error {
		return matmul.Naive(-1, n, k, a, lda, b, ldb, c, ldc)
	}, r))
	wantError(t, err, `"failing"`, "m is -1")
	_, err = Compare(Options{MinTime: time.Microsecond}, MultiplyVec("vector", 8, 8, 1, func(m, n int, a []float32, lda int, x, y []float32) error {
		err := matmul.MatVec(m, n, a, lda, x, y)
		y[3]++
		return err
	}, r))
	wantError(t, err, "vector", "row 3")
}

func TestRateString(t *testing.T) {
	r := Rate{
		Name: "gonum, 96×96 float64", Quantity: Quantity{3.214, "GFLOP/s", Higher}, Threads: 2,
		Result: Result{Samples: []float64{1, 2, 3}, Spread: 0.012}, Warnings: []string{"x", "y"},
	}
	if got, want := r.String(), "gonum, 96×96 float64: 3.21 GFLOP/s (best of 3, median +1.2%), 2 threads, 2 warnings"; got != want {
		t.Errorf("String is %q; want %q", got, want)
	}
	if DefaultSizes() != (Sizes{96, 1024, 4096}) {
		t.Errorf("default sizes are %+v", DefaultSizes())
	}
}
