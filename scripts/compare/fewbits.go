package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"memorywall/pkg/bench"
	"memorywall/pkg/matmul"
)

// withInt8 ends the type of a row whose activations are rounded to 8 bits.
const withInt8 = " int8"

// fewBits measures a product with weights of few bits.
func fewBits(m *meter, s shape) (job, error) {
	name, int8 := strings.CutSuffix(s.dtype, withInt8)
	format := matmul.Float32
	for _, f := range matmul.WeightFormats() {
		if f.String() == name {
			format = f
		}
	}
	row, err := format.RowBytes(s.k)
	if err != nil {
		return job{}, err
	}
	ring, err := weights[float32](m, "ours", 1, s.n*row/4, rotating(s)) // as many bytes
	if err != nil {
		return job{}, err
	}
	j := rotated(ring, s)
	all := make([]matmul.Weights, ring.Len())
	for i := range all {
		data := rawBytes(ring.Next())
		fillWeights(format, data)
		if all[i], err = matmul.NewWeights(format, s.n, s.k, data); err != nil {
			return job{}, err
		}
	}
	opts := []matmul.Option{matmul.ISA(m.isa), matmul.Threads(s.threads)}
	exact := opts
	if int8 {
		opts = append(opts[:2:2], matmul.Int8Activations())
	}
	x, y := bench.SmallInts(make([]float32, s.m*s.k)), make([]float32, s.m*s.n)
	next := 0
	j.ours = bench.Checked("ours", s.threads,
		bench.Work{FLOPs: 2 * float64(s.m) * float64(s.n) * float64(s.k), Bytes: float64(all[0].Bytes()) + 4*float64(len(x)+len(y))},
		func() error {
			next = (next + 1) % len(all)
			return all[next].Mul(y, x, s.m, opts...)
		},
		func() error { return checkFewBits(all[0], s.m, x, y, int8, exact) })
	if s.m < packedRows || format == matmul.Float32 {
		return j, nil
	}
	plain, err := matmul.New[float32](opts[:2]...)
	if err != nil {
		return job{}, err
	}
	b, err := weights[float32](m, "float32", s.k, s.n, 0)
	if err != nil {
		return job{}, err
	}
	c := bench.Multiply("float32", s.m, s.n, s.k, s.threads, plain, b)
	j.beside = &c
	return j, nil
}

// packedRows is how many rows of activations make the weights worth decoding once for
// all of them: a product in float32 is what that is held against.
const packedRows = 64

// checkFewBits verifies a whole product: exactly, or with activations of 8 bits against
// the exact one, from which each may be off by M/254 times its weights.
func checkFewBits(w matmul.Weights, m int, x, y []float32, int8 bool, exact []matmul.Option) error {
	n, k := w.Rows(), w.Cols()
	decoded := make([]float32, n*k)
	for i := range n {
		w.Row(decoded[i*k:][:k], i)
	}
	want := y
	if int8 {
		want = make([]float32, len(y))
		if err := w.Mul(want, x, m, exact...); err != nil {
			return err
		}
	}
	// (x·wᵀ)ᵀ = w·xᵀ
	if err := bench.CheckProduct(n, m, k, decoded, transposed(x, m, k), transposed(want, m, n)); err != nil {
		return err
	}
	for i := range n {
		sum := 0.0
		for _, v := range decoded[i*k:][:k] {
			sum += math.Abs(float64(v))
		}
		for r := range m {
			const largest = 2 // of the activations
			if got, want := float64(y[r*n+i]), float64(want[r*n+i]); !(math.Abs(got-want) <= 1.01*sum*largest/254) {
				return fmt.Errorf("element (%d, %d) is %v: it must be about %v", r, i, got, want)
			}
		}
	}
	return nil
}

func transposed(x []float32, rows, cols int) []float32 {
	t := make([]float32, len(x))
	for i := range rows {
		for j := range cols {
			t[j*rows+i] = x[i*cols+j]
		}
	}
	return t
}

// fillWeights writes small whole numbers in a format: blocks of 32 with the scale 1 and,
// in Q4_1, the minimum −8.
func fillWeights(f matmul.WeightFormat, data []byte) {
	const one, minus8 = 0x3c00, 0xc800 // as float16
	switch f {
	case matmul.Float32: // as the ring is
	case matmul.BFloat16, matmul.Float16:
		for i := range len(data) / 2 {
			v := []uint16{0xc000, 0xbf80, 0x3f80, 0x4000}[i%7%4]
			if f == matmul.Float16 {
				v = []uint16{0xc000, 0xbc00, 0x3c00, 0x4000}[i%7%4]
			}
			binary.LittleEndian.PutUint16(data[2*i:], v)
		}
	default:
		block, head := map[matmul.WeightFormat]int{matmul.Q8_0: 34, matmul.Q4_0: 18, matmul.Q4_1: 20}[f], 2
		if f == matmul.Q4_1 {
			head = 4
		}
		for at := 0; at < len(data); at += block {
			b := data[at:][:block]
			binary.LittleEndian.PutUint16(b, one)
			if f == matmul.Q4_1 {
				binary.LittleEndian.PutUint16(b[2:], minus8)
			}
			for i := head; i < block; i++ {
				b[i] = byte((at + i) * 37 % 251)
				if f == matmul.Q8_0 {
					b[i] = byte(int8((at+i)%5 - 2))
				}
			}
		}
	}
}

// chainLength is how many products a layer of a decoder has, about.
const chainLength = 10

// chain measures products that follow each other, on threads that are started for each
// or on a team that stays awake.
func chain(m *meter, s shape) (job, error) {
	opts := []matmul.Option{matmul.ISA(m.isa), matmul.Threads(s.threads)}
	if strings.HasSuffix(s.dtype, " team") {
		if m.team == nil {
			m.team = matmul.NewTeam(s.threads)
		}
		opts = append(opts, matmul.OnTeam(m.team))
	}
	mul, err := matmul.New[float32](opts...)
	if err != nil {
		return job{}, err
	}
	b, err := weights[float32](m, "ours", s.k, s.n, 0)
	if err != nil {
		return job{}, err
	}
	j := job{ours: bench.Multiply("ours", s.m, s.n, s.k, s.threads, mul, b), copies: 1}
	once := j.ours.Run
	j.ours.Run = func() {
		for range chainLength {
			once()
		}
	}
	j.ours.Work.FLOPs *= chainLength
	j.ours.Work.Bytes *= chainLength
	if s.threads == 1 || m.team == nil {
		return j, nil
	}
	// The same work, each thread with columns of its own in all products: they meet at
	// the end alone.
	part := s.n / s.threads
	alone, err := matmul.New[float32](matmul.ISA(m.isa), matmul.Threads(1))
	if err != nil {
		return job{}, err
	}
	a, w, c := bench.SmallInts(make([]float32, s.m*s.k)), b.Next(), make([]float32, s.m*s.n)
	errs := make([]error, s.threads)
	j.beside = &bench.Case{Name: "without meeting", Threads: s.threads, Work: bench.Work{FLOPs: 2 * chainLength * float64(s.m) * float64(part*s.threads) * float64(s.k)},
		Run: func() {
			m.team.Do(s.threads, func(i, _ int) {
				for range chainLength {
					errs[i] = alone(s.m, part, s.k, a, s.k, w[i*part:], s.n, c[i*part:], s.n)
				}
			})
		},
		Verify: func() error { return errors.Join(errs...) },
	}
	return j, nil
}
