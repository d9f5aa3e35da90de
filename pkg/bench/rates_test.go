package bench

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	_, err = fiveRates(Sizes{8, 8, 4096}, Options{}, Host{GOMAXPROCS: 1, Free: 32 << 20})
	wantError(t, err, "Sizes.Vector is 4096", "64 MiB", "at most 16 MiB", "choose 2048 or less")
}

func TestFiveRatesQuota(t *testing.T) {
	h := Host{GOMAXPROCS: 4, Quota: 1.5}
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

func TestRotation(t *testing.T) {
	const mib = 1 << 20
	l3 := func(sizes ...int64) Host { return Host{LastLevels: sizes} }
	free := func(h Host, bytes int64) Host {
		h.Free = bytes
		return h
	}
	for _, c := range []struct {
		name    string
		n       int
		threads int
		h       Host
		count   int
		warning string
	}{
		{"four times the cache", 2048, 1, l3(32 * mib), 8, ""},
		{"rounded up", 2048, 1, l3(31 * mib), 8, ""},
		{"one is enough", 4096, 1, l3(16 * mib), 1, ""},
		{"one thread reaches one of eight", 2048, 1, l3(slices.Repeat([]int64{32 * mib}, 8)...), 8, ""},
		{"two threads reach two", 2048, 2, l3(slices.Repeat([]int64{32 * mib}, 8)...), 16, ""},
		{"more than the limit", 2048, 1, l3(200 * mib), 32, "at most 512 MiB, 2.6 times the last-level caches of 200 MiB and not 4 times"},
		{"hopeless: one, and a warning", 2048, 1, l3(1024 * mib), 1, "resident in cache"},
		{"small matrices stay in the cache", 32, 1, l3(8 * mib), 1, "resident in cache"},
		{"little memory", 2048, 1, free(l3(32*mib), 192*mib), 3, "1.5 times"},
		{"very little memory", 2048, 1, free(l3(32*mib), 32*mib), 1, "resident in cache"},
		{"cache unknown", 2048, 1, Host{}, 16, "last-level cache is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if math.MaxInt == math.MaxInt32 && c.name == "more than the limit" {
				t.Skip("the budget is smaller in a 32-bit address space")
			}
			count, notes, warnings, err := rotation(c.n, c.threads, c.h)
			if err != nil {
				t.Fatal(err)
			}
			if count != c.count {
				t.Errorf("count is %d; want %d", count, c.count)
			}
			if len(notes) != 1 || !strings.Contains(notes[0], matrices(count)) {
				t.Errorf("notes are %q: they do not say %q", notes, matrices(count))
			}
			if c.warning == "" {
				wantWarnings(t, warnings)
			} else {
				wantWarnings(t, warnings, c.warning)
			}
		})
	}
}

// The matrix–vector case takes its matrices in turn, each with memory of its own.
func TestMatricesInTurn(t *testing.T) {
	p := &problems{random: rand.New(rand.NewPCG(7, 8))}
	var order []*float32
	c := matVecCase(p, 4, func(m, n int, a []float32, lda int, x, y []float32) error {
		order = append(order, &a[0])
		return nil
	})
	const count = 3
	p.fill(count, newSteps(count, nil))
	for range 2 * count {
		c.Run()
	}
	seen := make(map[*float32]bool)
	for i, a := range order[:count] {
		seen[a] = true
		if order[count+i] != a {
			t.Errorf("call %d does not come back to the matrix of call %d", count+i, i)
		}
	}
	if len(seen) != count {
		t.Errorf("%d calls went over %d matrices", count, len(seen))
	}
}

func TestGonumThreads(t *testing.T) {
	for _, c := range []struct{ m, n, procs, want int }{
		{1, 1, 8, 1}, {64, 64, 8, 1}, {65, 64, 8, 1}, {64, 192, 8, 1}, // 1, 1, 2 and 3 blocks
		{65, 65, 8, 4}, {96, 96, 8, 4}, {96, 96, 2, 2}, {96, 96, 1, 1}, {64, 193, 8, 4}, {1024, 1024, 8, 8}, {1024, 1024, 512, 256},
	} {
		if got := gonumThreads(c.m, c.n, c.procs); got != c.want {
			t.Errorf("gonumThreads(%d, %d, %d) is %d; want %d", c.m, c.n, c.procs, got, c.want)
		}
	}
}

// What gonumThreads says is read from gonum's source: this test holds it to the
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
	p := &problems{random: rand.New(rand.NewPCG(1, 2))}
	seen := make(map[float32]int)
	for _, x := range smallInts[float32](p, 1000) {
		seen[x]++
	}
	if len(seen) != 4 || seen[-2] == 0 || seen[-1] == 0 || seen[1] == 0 || seen[2] == 0 {
		t.Errorf("values are %v; want -2, -1, 1 and 2", seen)
	}
}

func TestCheckProduct(t *testing.T) {
	const n = 9
	p := &problems{random: rand.New(rand.NewPCG(3, 4))}
	a, b, c := smallInts[float64](p, n*n), smallInts[float64](p, n*n), make([]float64, n*n)
	if err := matmul.Naive(n, n, n, a, n, b, n, c, n); err != nil {
		t.Fatal(err)
	}
	if err := checkProduct(p.random, n, a, b, c); err != nil {
		t.Fatalf("a right product is refused: %v", err)
	}
	for i, right := range c {
		for _, wrong := range []float64{right + 1, right - 1, right + 0.5, -1e9, math.NaN(), math.Inf(1), math.Inf(-1), right + 1e-9} {
			c[i] = wrong
			if err := checkProduct(p.random, n, a, b, c); err == nil {
				t.Errorf("element %d is %v and not %v: no error", i, wrong, right)
			}
		}
		c[i] = right
	}
}

// A multiply that is wrong, or that fails, is not timed.
func TestWrongMultiplyIsNotTimed(t *testing.T) {
	p := &problems{random: rand.New(rand.NewPCG(5, 6))}
	c := gemmCase(p, "wrong", 8, 1, func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) error {
		err := matmul.Naive(m, n, k, a, lda, b, ldb, c, ldc)
		c[63]++
		return err
	})
	_, err := Compare(Options{MinTime: time.Microsecond}, c)
	wantError(t, err, `"wrong"`, "row 7")

	p = &problems{random: p.random}
	c = gemmCase(p, "failing", 8, 1, func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) error {
		return matmul.Naive(-1, n, k, a, lda, b, ldb, c, ldc)
	})
	_, err = Compare(Options{MinTime: time.Microsecond}, c)
	wantError(t, err, `"failing"`, "m is -1")

	p = &problems{random: p.random}
	v := matVecCase(p, 8, func(m, n int, a []float32, lda int, x, y []float32) error {
		err := matmul.MatVec(m, n, a, lda, x, y)
		y[3]++
		return err
	})
	p.fill(2, newSteps(2, nil))
	_, err = Compare(Options{MinTime: time.Microsecond}, v)
	wantError(t, err, "matrix–vector", "element 3")
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
