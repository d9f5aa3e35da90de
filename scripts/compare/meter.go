package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"memorywall/pkg/bench"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/probe"
)

// A shape is one line of the comparison: C[m×n] = A[m×k]·B[k×n], or y = A·x
// with A of m×k (then n = 1).
type shape struct {
	op, dtype string
	m, n, k   int
	threads   int
	weights   bool // meant to be bound by memory: rotate over many B (or A)
	copies    int  // at least so many
}

func (s shape) String() string {
	return fmt.Sprintf("%s %s %d×%d×%d, %s", s.op, s.dtype, s.m, s.n, s.k, counted(s.threads, "thread"))
}

func allShapes(quick bool, cores int) []shape {
	var all []shape
	threads := []int{1}
	if cores > 1 {
		threads = append(threads, cores)
	}
	square := func(dtype string, t int, sizes ...int) {
		for _, n := range sizes {
			all = append(all, shape{op: "gemm", dtype: dtype, m: n, n: n, k: n, threads: t, copies: 1})
		}
	}
	for _, dtype := range []string{"float32", "float64"} {
		for _, t := range threads {
			switch {
			case !quick:
				square(dtype, t, 512, 1024, 2048, 4096)
			case dtype == "float32":
				square(dtype, t, 512, 1024)
			default:
				square(dtype, t, 512)
			}
		}
	}
	for _, t := range threads {
		if quick {
			square("float32", t, 255)
			continue
		}
		square("float32", t, 255, 1000, 1023)
	}
	for _, n := range []int{16, 32, 64, 96} {
		if quick && n > 32 {
			break
		}
		all = append(all, shape{op: "gemm", dtype: "float32", m: n, n: n, k: n, threads: 1, copies: 2})
	}
	for _, m := range []int{1, 2, 4, 8, 16, 32, 64} {
		if quick && (m == 2 || m == 8 || m == 64) {
			continue
		}
		all = append(all, shape{op: "gemm", dtype: "float32", m: m, n: 4096, k: 4096, threads: cores, weights: true, copies: 1})
	}
	for _, t := range threads {
		if quick && t < cores {
			continue
		}
		all = append(all, shape{op: "gemv", dtype: "float32", m: 4096, n: 1, k: 4096, threads: t, weights: true, copies: 1})
	}
	return all
}

// A meter measures shapes.
type meter struct {
	isa    string
	blas   *openBLAS // nil if missing
	quick  bool
	memory int64 // most bytes of weights on each side
	host   machine.Host
	load   func(p []byte, passes int) error // of the fastest loop
	read   map[int]float64                  // bandwidth of so many threads, GB/s

	// The weights of the last shape: filling them takes longer than a turn.
	kept32 kept[float32]
	kept64 kept[float64]
}

// kept is an operand that stays from shape to shape; multiplies only read it.
type kept[T matmul.Float] struct {
	x    []T
	free func()
}

// weights returns n elements.
func (k *kept[T]) weights(n int) ([]T, error) {
	if len(k.x) == n {
		return k.x, nil
	}
	if k.free != nil {
		k.free()
	}
	var err error
	*k = kept[T]{}
	k.x, k.free, err = allocate[T](n)
	return k.x, err
}

// A turn runs some calls and returns the seconds they took.
type turn func(reps int) (float64, error)

func (m *meter) measure(s shape) (Row, error) {
	if s.dtype == "float64" {
		return measure(m, s, &m.kept64)
	}
	return measure(m, s, &m.kept32)
}

func measure[T matmul.Float](m *meter, s shape, k *kept[T]) (Row, error) {
	size := int64(unsafe.Sizeof(T(0)))
	weights := s.k * s.n
	left, out := s.m*s.k, s.m*s.n
	if s.op == "gemv" {
		weights, left, out = s.m*s.k, s.k, s.m
	}
	copies := s.copies
	resident := false
	if s.weights {
		set, doubt := m.host.MemorySet(s.threads, m.memory)
		copies = int(max(int64(copies), set/(int64(weights)*size)))
		resident = doubt != ""
	}
	w, err := k.weights(weights * copies)
	if err != nil {
		return Row{}, err
	}
	a, freeA, err := allocate[T](left)
	if err != nil {
		return Row{}, err
	}
	defer freeA()
	c, freeC, err := allocate[T](out)
	if err != nil {
		return Row{}, err
	}
	defer freeC()

	isa, threads := matmul.ISA(m.isa), matmul.Threads(s.threads)
	mul, err := matmul.New[T](isa, threads)
	if err != nil {
		return Row{}, err
	}
	vec, err := matmul.NewVec[T](isa, threads)
	if err != nil {
		return Row{}, err
	}
	next := 0
	timed := func(f func(w []T) error) turn {
		return func(reps int) (float64, error) {
			start := time.Now()
			for range reps {
				if err := f(w[next*weights:][:weights]); err != nil {
					return 0, err
				}
				next = (next + 1) % copies
			}
			return time.Since(start).Seconds(), nil
		}
	}
	ours := timed(func(w []T) error {
		if s.op == "gemv" {
			return vec(s.m, s.k, w, s.k, a, c)
		}
		return mul(s.m, s.n, s.k, a, s.k, w, s.n, c, s.n)
	})
	gonum := timed(func(w []T) error {
		if s.op == "gemv" {
			return matmul.GonumMatVec(s.m, s.k, w, s.k, a, c)
		}
		return matmul.Gonum(s.m, s.n, s.k, a, s.k, w, s.n, c, s.n)
	})
	theirs := turn(func(reps int) (float64, error) {
		if err := m.blas.resume(); err != nil {
			return 0, err
		}
		if reps > 1 {
			if _, _, err := m.blas.run(1); err != nil {
				return 0, err
			}
		}
		t, _, err := m.blas.run(reps)
		return t, errors.Join(err, m.blas.pause())
	})

	// Verify before timing: small integers, so that both are exact.
	if _, err := ours(1); err != nil {
		return Row{}, err
	}
	got := float64(c[0])
	if m.blas != nil {
		if err := m.blas.resume(); err != nil {
			return Row{}, err
		}
		if err := m.blas.prepare(s, copies); err != nil {
			return Row{}, err
		}
		_, want, err := m.blas.run(1)
		if err != nil {
			return Row{}, err
		}
		if got != want {
			return Row{}, fmt.Errorf("our result begins with %v, OpenBLAS's with %v", got, want)
		}
		if err := m.blas.pause(); err != nil {
			return Row{}, err
		}
	}

	flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
	bytes := float64(size) * (float64(weights) + float64(left) + float64(out))
	row := Row{Op: s.op, DType: s.dtype, M: s.m, N: s.n, K: s.k, Threads: s.threads, ISA: m.isa, Copies: copies, Resident: resident, weights: s.weights}

	reps, err := calibrate(ours)
	if err != nil {
		return Row{}, err
	}
	budget := 2500 * time.Millisecond
	if m.quick {
		budget = 800 * time.Millisecond
	}
	const fewest, most = 3, 25
	var oursT, theirsT []float64
	var peak, read float64
	// The roofs are the best of these turns, and of some before them: the clock
	// and what other machines leave of the memory change within a run.
	for range 4 {
		p, err := m.peak(s, float64(size))
		if err != nil {
			return Row{}, err
		}
		peak = max(peak, p)
	}
	for start := time.Now(); len(oursT) < fewest || len(oursT) < most && time.Since(start) < budget; {
		p, err := m.peak(s, float64(size))
		if err != nil {
			return Row{}, err
		}
		peak = max(peak, p)
		if s.weights {
			r, err := m.bandwidth(s.threads, func(pass int) []byte {
				return rawBytes(w[(next+pass)%copies*weights:][:weights])
			})
			if err != nil {
				return Row{}, err
			}
			read = max(read, r)
			next = (next + passes) % copies
		}
		if reps > 1 {
			if _, err := ours(1); err != nil {
				return Row{}, err
			}
		}
		t, err := ours(reps)
		if err != nil {
			return Row{}, err
		}
		oursT = append(oursT, t/float64(reps))
		if m.blas == nil {
			continue
		}
		if t, err = theirs(reps); err != nil {
			return Row{}, err
		}
		theirsT = append(theirsT, t/float64(reps))
	}
	row.Turns = len(oursT)
	row.Peak = peak
	row.Ours, row.OursMedian = rates(flops, oursT)
	if s.weights {
		row.ReadGBps = read
	} else if row.ReadGBps, err = m.bandwidthOnce(s.threads); err != nil {
		return Row{}, err
	}
	row.OursGBps = row.Ours * bytes / flops
	mathT, memT := flops/(row.Peak*1e9), bytes/(row.ReadGBps*1e9)
	if !s.weights && s.n <= inCache {
		memT = 0
	}
	row.Attainable = flops / max(mathT, memT) * 1e-9
	row.AtLeast = flops / (mathT + memT) * 1e-9
	row.RatioPeak = row.Ours / row.Peak
	row.RatioAttainable = row.Ours / row.Attainable
	if len(theirsT) > 0 {
		best, median := rates(flops, theirsT)
		ratio := row.Ours / best
		row.OpenBLAS, row.OpenBLASMedian, row.RatioOpenBLAS = &best, &median, &ratio
	}
	if max(s.m, s.n, s.k) <= 1024 && s.threads != 1 || s.op == "gemv" && s.threads == 1 {
		// gonum uses all cores by itself, and one for a vector.
		var ts []float64
		for range 3 {
			t, err := gonum(1)
			if err != nil {
				return Row{}, err
			}
			ts = append(ts, t)
		}
		best, _ := rates(flops, ts)
		row.Gonum = &best
	}
	return row, nil
}

// inCache is the side of square matrices that stay in a core's own caches from
// call to call, so that memory is no roof of theirs.
const inCache = 256

// rates returns the best and the median rate in GFLOP/s.
func rates(flops float64, seconds []float64) (best, median float64) {
	s := slices.Sorted(slices.Values(seconds))
	return flops / s[0] * 1e-9, flops / s[len(s)/2] * 1e-9
}

// calibrate returns how many calls make a turn of some hundredths of a second.
// Before a turn of more than one call, on either side, stands a call that is
// not timed: it wakes the threads and gets the caches back from the other side.
func calibrate(f turn) (int, error) {
	for reps := 1; ; reps *= 2 {
		t, err := f(reps)
		if err != nil || t > 0.03 {
			return reps, err
		}
	}
}

// peak measures the compute roof of so many threads, GFLOP/s.
func (m *meter) peak(s shape, size float64) (float64, error) {
	if size == 8 {
		return peak[float64](m.isa, s.threads)
	}
	return peak[float32](m.isa, s.threads)
}

func peak[T probe.Float](isa string, threads int) (float64, error) {
	crew := bench.NewCrew(threads)
	defer crew.Close()
	c, _, err := machine.Peak[T](crew, isa)
	if err != nil {
		return 0, err
	}
	return once(c, c.Work.FLOPs)
}

// once returns the rate of the best of some samples of a roof, in 10^9 a second.
func once(c bench.Case, work float64) (float64, error) {
	r, err := bench.Compare(bench.Options{Samples: 3}, c)
	if err != nil {
		return 0, err
	}
	return work / r[0].Min * 1e-9, nil
}

// passes is how many arrays a turn of bandwidth reads: as with a multiply, the
// rate of a turn is that of some calls on end.
const passes = 8

// bandwidth measures how fast so many threads read arrays together, GB/s. All
// that array returns must be equally long.
func (m *meter) bandwidth(threads int, array func(pass int) []byte) (float64, error) {
	crew := bench.NewCrew(threads)
	defer crew.Close()
	pass := 0
	c, err := machine.Read(crew, func() []byte {
		pass++
		return array(pass - 1)
	})
	if err != nil {
		return 0, err
	}
	return once(c, c.Work.Bytes)
}

// bandwidthOnce measures the memory roof of so many threads for the shapes that
// compute holds back: once a run.
func (m *meter) bandwidthOnce(threads int) (float64, error) {
	if v, ok := m.read[threads]; ok {
		return v, nil
	}
	p, free, err := allocate[float64](32 << 20)
	if err != nil {
		return 0, err
	}
	defer free()
	var best float64
	for range 8 {
		v, err := m.bandwidth(threads, func(int) []byte { return rawBytes(p) })
		if err != nil {
			return 0, err
		}
		best = max(best, v)
	}
	if m.read == nil {
		m.read = map[int]float64{}
	}
	m.read[threads] = best
	return best, nil
}

func rawBytes[T matmul.Float](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
}

// allocate returns n elements, in huge pages where the system gives them, as
// numpy and the helper have, filled.
func allocate[T matmul.Float](n int) (x []T, free func(), err error) {
	p, free, err := probe.Alloc(int64(n) * int64(unsafe.Sizeof(T(0))))
	if err != nil {
		return nil, nil, err
	}
	x = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p))), n)
	fill(x)
	return x, free, nil
}

// fill writes the same small integers as the helper does.
func fill[T matmul.Float](x []T) {
	for i := range x {
		x[i] = T(i%7) - 3
	}
}
