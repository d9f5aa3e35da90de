package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"memorywall/pkg/bench"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
)

// A shape is one line of the comparison: what is done (op, one of ops), in which
// type, in which size.
type shape struct {
	op, dtype string
	m, n, k   int
	threads   int
	weights   bool // meant to be bound by memory: rotates over many matrices of weights
}

func (s shape) String() string {
	return fmt.Sprintf("%s %s %d×%d×%d, %s", s.op, s.dtype, s.m, s.n, s.k, bench.Plural(s.threads, "thread"))
}

// A job is how a shape is measured.
type job struct {
	ours  bench.Case  // its Verify checks the whole product, and its work is that of the model
	gonum *bench.Case // nil where there is none
	// beside is another way of ours to the same, measured in turn; nil where there is none.
	beside *bench.Case
	// blas is the command that makes OpenBLAS ready for the same; "" where it has no
	// such operation. first is the first element of its result with one of the copies.
	blas  string
	first func(copy int) float64
	// read returns what a call reads from memory, nil where it reads nothing again and again.
	read     func() []byte
	copies   int  // matrices in rotation
	resident bool // they may stay in the last-level cache
}

// ops are the operations by name, which are also the groups that --only takes. To
// add one, say here how a shape of it is measured, and add its shapes to allShapes.
var ops = map[string]func(*meter, shape) (job, error){
	"gemm":    byType(gemm[float32], gemm[float64]),   // C[m×n] = A[m×k]·B[k×n]
	"gemv":    byType(gemv[float32], gemv[float64]),   // y = A·x with A of m×k; n = 1
	"weights": fewBits,                                // y[m×n] = x[m×k]·wᵀ with n×k weights of few bits
	"batch":   byType(batch[float32], batch[float64]), // many products of n×n matrices in one call
	"chain":   chain,                                  // so many products in a row as a layer of a model has
}

// byType chooses by the type of a shape.
func byType(f32, f64 func(*meter, shape) (job, error)) func(*meter, shape) (job, error) {
	return func(m *meter, s shape) (job, error) {
		if s.dtype == "float64" {
			return f64(m, s)
		}
		return f32(m, s)
	}
}

// allShapes returns the shapes of a run, or of a quick one, on up to so many cores.
func allShapes(quick bool, cores int) []shape {
	f32, f64 := []string{"float32"}, []string{"float64"}
	one, all, each := []int{1}, []int{cores}, []int{1, cores}
	square := func(n int) shape { return shape{m: n, n: n, k: n} }
	few := func(m int) shape { return shape{m: m, n: 4096, k: 4096, weights: true} }
	narrow := func(m int) shape { return shape{m: m, n: 1536, k: 576, weights: true} }
	vector := func(m int) shape { return shape{m: m, n: 1, k: 4096, weights: true} }
	layer := func(m int) shape { return shape{m: m, n: 576, k: 576} }
	type group struct {
		op           string
		dtypes       []string
		threads      []int
		of           func(size int) shape
		sizes, quick []int
	}
	groups := []group{
		{"gemm", f32, each, square, []int{512, 1024, 2048, 4096}, []int{512, 1024}},
		{"gemm", f64, each, square, []int{512, 1024, 2048, 4096}, []int{512}},
		{"gemm", f32, each, square, []int{255, 1000, 1023}, []int{255}},
		{"gemm", f64, each, square, []int{255, 1000, 1023}, nil},
		{"gemm", f32, one, square, []int{16, 32, 64, 96}, []int{16, 32}},
		{"gemm", f64, one, square, []int{64}, nil},
		{"batch", f32, one, square, []int{4, 8, 16}, []int{16}},
		{"batch", f32, all, square, []int{16, 32, 64, 96}, []int{16}},
		{"gemm", f32, all, few, []int{1, 2, 4, 8, 16, 32, 64}, []int{1, 4, 16, 32}},
		{"gemm", f64, all, few, []int{1, 4, 16, 64}, nil},
		{"gemv", f32, one, vector, []int{4096}, nil},
		{"gemv", f32, all, vector, []int{4096}, []int{4096}},
		{"gemv", f64, all, vector, []int{4096}, nil},
	}
	for _, f := range matmul.WeightFormats() {
		types, short := []string{f.String()}, []int(nil)
		if strings.HasPrefix(f.String(), "Q") {
			types = append(types, f.String()+withInt8)
		}
		if f == matmul.Q4_1 {
			short = []int{1}
		}
		groups = append(groups, group{"weights", types, all, few, []int{1, 4, 16, 64}, short}, group{"weights", types, all, narrow, []int{1}, nil})
	}
	groups = append(groups, group{"chain", []string{"float32", "float32 team"}, all, layer, []int{1}, []int{1}})
	var shapes []shape
	for _, g := range groups {
		if quick {
			g.sizes = g.quick
		}
		for _, dtype := range g.dtypes {
			for _, t := range g.threads {
				for _, size := range g.sizes {
					s := g.of(size)
					s.op, s.dtype, s.threads = g.op, dtype, t
					if !slices.Contains(shapes, s) { // on one core, one is all
						shapes = append(shapes, s)
					}
				}
			}
		}
	}
	return shapes
}

// options say how long a shape is measured.
func options(quick bool) bench.Options {
	o := bench.Options{MinTime: turn, Samples: 5, Time: 2500 * time.Millisecond, SpreadLimit: spread}
	if quick {
		o.Time = 800 * time.Millisecond
	}
	return o
}

// turn is how long a turn takes at least.
const turn = 30 * time.Millisecond

// A meter measures shapes.
type meter struct {
	ctx     context.Context
	isa     string
	tuning  matmul.Tuning
	blas    *peer // OpenBLAS, nil if missing
	options bench.Options
	memory  int64 // maximum bytes of weights on each side
	host    machine.Host

	crews bench.Crews
	team  *matmul.Team        // of the rows that have one
	rings map[string]keptRing // the weights of the last shape, by use: filling them takes longer than a turn
}

// A keptRing is a [bench.Ring] of any type, and what it is for.
type keptRing struct {
	key  string
	ring interface{ Close() }
}

func (m *meter) close() {
	if m.team != nil {
		m.team.Close()
	}
	m.crews.Close()
	for _, r := range m.rings {
		r.ring.Close()
	}
}

// weights returns rows×cols matrices for a use: enough to leave the caches of so many
// threads, or one for 0.
func weights[T matmul.Float](m *meter, use string, rows, cols, threads int) (*bench.Ring[T], error) {
	key := fmt.Sprintf("%T %d×%d on %d", T(0), rows, cols, threads)
	if r := m.rings[use]; r.ring != nil {
		if r.key == key {
			return r.ring.(*bench.Ring[T]), nil
		}
		r.ring.Close()
		delete(m.rings, use)
	}
	r, err := bench.NewRing[T](rows, cols, threads, m.memory, m.host)
	if err != nil {
		return nil, err
	}
	if m.rings == nil {
		m.rings = map[string]keptRing{}
	}
	m.rings[use] = keptRing{key, r}
	return r, nil
}

func gemm[T matmul.Float](m *meter, s shape) (job, error) {
	mul, err := matmul.New[T](matmul.ISA(m.isa), matmul.Threads(s.threads))
	if err != nil {
		return job{}, err
	}
	b, err := weights[T](m, "ours", s.k, s.n, rotating(s))
	if err != nil {
		return job{}, err
	}
	j := rotated(b, s)
	j.ours = bench.Multiply("ours", s.m, s.n, s.k, s.threads, mul, b)
	if side := max(s.m, s.n, s.k); side <= 1024 && s.threads != 1 { // it uses all cores by itself
		c := bench.Multiply("gonum", s.m, s.n, s.k, bench.GonumThreads(s.m, s.n, s.threads), matmul.Gonum[T], b)
		j.gonum = &c
	}
	if tunable := s.weights || s.m <= inCache && s.threads > 1; tunable && m.tuning != matmul.DefaultTuning() {
		if mul, err = matmul.New[T](matmul.ISA(m.isa), matmul.Threads(s.threads), matmul.Tuned(m.tuning)); err != nil {
			return job{}, err
		}
		c := bench.Multiply("tuned", s.m, s.n, s.k, s.threads, mul, b)
		j.beside = &c
	}
	j.blas = fmt.Sprintf("gemm %s %d %d %d %d", letter(s.dtype), s.m, s.n, s.k, j.copies)
	j.first = func(copy int) (sum float64) {
		for p := range s.k {
			sum += filled(p) * filled(copy*s.k*s.n+p*s.n)
		}
		return sum
	}
	return j, nil
}

func gemv[T matmul.Float](m *meter, s shape) (job, error) {
	mul, err := matmul.NewVec[T](matmul.ISA(m.isa), matmul.Threads(s.threads))
	if err != nil {
		return job{}, err
	}
	a, err := weights[T](m, "ours", s.m, s.k, rotating(s))
	if err != nil {
		return job{}, err
	}
	j := rotated(a, s)
	j.ours = bench.MultiplyVec("ours", s.m, s.k, s.threads, mul, a)
	j.ours.Work.Bytes += float64(unsafe.Sizeof(T(0))) * float64(s.m+s.k) // x and y
	if s.threads == 1 {                                                  // it uses one
		c := bench.MultiplyVec("gonum", s.m, s.k, 1, matmul.GonumMatVec[T], a)
		j.gonum = &c
	}
	j.blas = fmt.Sprintf("gemv %s %d %d %d", letter(s.dtype), s.m, s.k, j.copies)
	j.first = func(copy int) (sum float64) {
		for p := range s.k {
			sum += filled(copy*s.m*s.k+p) * filled(p)
		}
		return sum
	}
	return j, nil
}

// batchElems is how many elements all matrices of a batch have: of one thread they stay
// in a second-level cache, of several in a third, and take long enough to wake them.
func batchElems(threads int) int {
	if threads == 1 {
		return 3 << 16
	}
	return 3 << 20
}

func batch[T matmul.Float](m *meter, s shape) (job, error) {
	opts := []matmul.Option{matmul.ISA(m.isa), matmul.Threads(s.threads)}
	mul, err := matmul.New[T](opts...)
	if err != nil {
		return job{}, err
	}
	n, count := s.n, batchElems(s.threads)/(3*s.n*s.n)
	a, b, c := bench.SmallInts(make([]T, count*n*n)), bench.SmallInts(make([]T, count*n*n)), make([]T, count*n*n)
	each := func(f func(a, b, c []T) error) (err error) {
		for at := 0; at < len(c) && err == nil; at += n * n {
			err = f(a[at:][:n*n], b[at:][:n*n], c[at:][:n*n])
		}
		return err
	}
	check := func() error {
		return each(func(a, b, c []T) error { return bench.CheckProduct(n, n, n, a, b, c) })
	}
	w := bench.Work{FLOPs: 2 * float64(count*n*n*n), Bytes: 3 * float64(unsafe.Sizeof(T(0))) * float64(count*n*n)}
	apart := bench.Checked("one by one", s.threads, w, func() error {
		return each(func(a, b, c []T) error { return mul(n, n, n, a, n, b, n, c, n) })
	}, check)
	return job{copies: 1, beside: &apart, ours: bench.Checked("ours", s.threads, w, func() error {
		return matmul.MultiplyBatch(count, n, n, n, a, b, c, opts...)
	}, check)}, nil
}

func letter(dtype string) string { return map[string]string{"float32": "s", "float64": "d"}[dtype] }

// filled is element i of a matrix of the helper, or of its copies one after the other.
func filled(i int) float64 { return float64(i%7) - 3 }

// rotating returns the threads whose caches the weights of a shape are to leave.
func rotating(s shape) int {
	if s.weights {
		return s.threads
	}
	return 0
}

// rotated returns a job whose weights are a ring's.
func rotated[T matmul.Float](r *bench.Ring[T], s shape) job {
	j := job{copies: r.Len(), resident: r.Doubt != ""}
	if s.weights {
		j.read = func() []byte { return rawBytes(r.Next()) }
	}
	return j
}

func rawBytes[T matmul.Float](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
}

// measure times a shape's multiplies and roofs, in turn. Each product is verified as a
// whole before it is timed.
func (m *meter) measure(s shape) (Row, error) {
	j, err := ops[s.op](m, s)
	if err != nil {
		return Row{}, err
	}
	roof := machine.Peak[float32]
	switch {
	case s.dtype == "float64":
		roof = machine.Peak[float64]
	case strings.HasSuffix(s.dtype, withInt8):
		roof = machine.Peak[int32]
	}
	peak, _, err := roof(m.crews.Of(s.threads), m.isa)
	if err != nil {
		return Row{}, err
	}
	cases := []bench.Case{j.ours, peak}
	if j.beside != nil {
		cases = append(cases, *j.beside)
	}
	if j.read == nil { // whatever lies in memory
		r, err := weights[float64](m, "read", 1024, 1024, m.host.GOMAXPROCS)
		if err != nil {
			return Row{}, err
		}
		j.read = func() []byte { return rawBytes(r.Next()) }
	}
	read, err := machine.Read(m.crews.Of(s.threads), j.read)
	if err != nil {
		return Row{}, err
	}
	cases = append(cases, read)
	if j.blas != "" && m.blas != nil {
		theirs, err := blasCase(m.blas, j, s.threads)
		if err != nil {
			return Row{}, err
		}
		cases = append(cases, theirs)
	}
	// The roofs are those of samples as long as a multiply's: what other machines leave
	// of the memory changes from millisecond to millisecond.
	for i := range cases {
		cases[i].MinTime = 0
	}
	results, err := bench.CompareContext(m.ctx, m.options, cases...)
	if err != nil {
		return Row{}, err
	}
	ours, top := results[0], results[1]
	row := Row{Op: s.op, DType: s.dtype, M: s.m, N: s.n, K: s.k, Threads: s.threads, ISA: m.isa, Copies: j.copies, Resident: j.resident,
		weights: s.weights, Turns: len(ours.Samples), Ours: ours.GFLOPS(), OursMedian: median(ours), OursGBps: ours.GBps(), Peak: top.GFLOPS()}
	row.results = []bench.Result{ours}
	for _, r := range results[2:] {
		switch {
		case j.beside != nil && r.Name == j.beside.Name:
			ratio := bench.Speedups(r, ours).Median * ours.Work.FLOPs / r.Work.FLOPs
			row.Beside, row.RatioBeside = r.Name, &ratio
		case r.Name == openBLASName:
			row.results = append(row.results, r)
			ratio := r.Min / ours.Min
			best, middle := row.Ours/ratio, row.Ours*ours.Min/r.Median
			row.OpenBLAS, row.OpenBLASMedian, row.RatioOpenBLAS = &best, &middle, &ratio
		default:
			row.ReadGBps = r.GBps()
		}
	}
	mathT, memT := ours.Work.FLOPs/(row.Peak*1e9), ours.Work.Bytes/(row.ReadGBps*1e9)
	if !s.weights && s.n <= inCache || s.op == "chain" {
		memT = 0
	}
	row.Attainable = ours.Work.FLOPs / max(mathT, memT) * 1e-9
	row.Serial = ours.Work.FLOPs / (mathT + memT) * 1e-9
	row.RatioPeak = row.Ours / row.Peak
	row.RatioAttainable = row.Ours / row.Attainable
	if s.weights && s.op != "gemv" {
		rate, err := m.loop(s, len(j.read()))
		if err != nil {
			return Row{}, err
		}
		row.InCache = &rate
	}
	if j.gonum != nil {
		r, err := bench.CompareContext(m.ctx, bench.Options{MinTime: 1, Samples: 3}, *j.gonum)
		if err != nil {
			return Row{}, err
		}
		best := r[0].GFLOPS()
		row.Gonum = &best
	}
	return row, nil
}

// loop measures a shape on one thread, with so few of its columns that the weights, of so
// many bytes for all columns, stay in L2, and returns the rate of all threads at that pace.
func (m *meter) loop(s shape, bytes int) (float64, error) {
	few, threads := *m, s.threads
	few.rings, few.crews, few.team = nil, nil, nil
	defer few.close()
	columns := matmul.HostCaches().L2 / 4 * int64(s.n) / int64(bytes) &^ 31
	s.n, s.threads, s.weights = int(min(max(32, columns), int64(s.n))), 1, false
	j, err := ops[s.op](&few, s)
	if err != nil {
		return 0, err
	}
	o := m.options
	o.Time /= 5
	results, err := bench.CompareContext(m.ctx, o, j.ours)
	if err != nil {
		return 0, err
	}
	return float64(threads) * results[0].GFLOPS(), nil
}

// inCache is the side of square matrices that stay in a core's own caches from
// call to call, so that memory is no roof of theirs.
const inCache = 256

func median(r bench.Result) float64 { return r.GFLOPS() * r.Min / r.Median }

const (
	// spread: a median of the times so far above the best, which is 20% below the best
	// rate, says that turns were disturbed.
	spread = 0.25
	// Several threads on idle cores of their own do at least so many times the work of one,
	// however the clock falls when more cores are busy.
	minGain = 1.3
	// A rate so far above the peak says that the peak was disturbed.
	abovePeak = 1.02
)

// doubt returns why a row may be wrong, or nothing. The rows are those that were
// measured before it.
func doubt(r Row, before []Row) string {
	var all []string
	low := func(name string, median, best float64) {
		if median < best/(1+spread) {
			all = append(all, fmt.Sprintf("the median of %s is %.0f%% below its best", name, 100*(1-median/best)))
		}
	}
	low("ours", r.OursMedian, r.Ours)
	if r.OpenBLAS != nil && r.OpenBLASMedian != nil {
		low("openblas", *r.OpenBLASMedian, *r.OpenBLAS)
	}
	one := 0.0
	for _, b := range before {
		if b.DType == r.DType && b.ISA == r.ISA && b.Threads == 1 {
			one = max(one, b.Peak)
		}
	}
	if r.Threads > 1 && r.Peak < minGain*one {
		all = append(all, fmt.Sprintf("the peak of %d threads is %.2f times that of one", r.Threads, r.Peak/one))
	}
	if r.RatioPeak > abovePeak {
		all = append(all, fmt.Sprintf("ours is %.2f times the peak", r.RatioPeak))
	}
	return strings.Join(all, ", ")
}

// summary returns a line on the doubtful rows, or nothing if there are none.
func summary(rows []Row) string {
	n := 0
	for _, r := range rows {
		if r.Doubt != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	is := "are"
	if n == 1 {
		is = "is"
	}
	return fmt.Sprintf("%d of %s %s doubtful: a median lies more than 20%% below its best, or several threads have a peak below 1.3 times that of one; "+
		"other work on the machine, a changing clock or threads that share a core do that: run it again when the machine is quiet\n", n, bench.Plural(len(rows), "row"), is)
}
