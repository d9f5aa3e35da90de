package matmul

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// One block of each format by hand.
func TestWeightFormats(t *testing.T) {
	le := func(v ...uint16) []byte {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint16(b, x)
		}
		return b
	}
	nibbles := make([]byte, 16) // weight i is i, weight 16+i is 15-i
	var q8 []byte
	var wantQ8, wantQ40, wantQ41 []float32
	for i := range 16 {
		nibbles[i] = byte(i | (15-i)<<4)
	}
	for i := range 32 {
		q8 = append(q8, byte(8*i-128))
		wantQ8 = append(wantQ8, float32(8*i-128)*0.5)
		q := i
		if i >= 16 {
			q = 31 - i
		}
		wantQ40 = append(wantQ40, float32(q-8)*-2)
		wantQ41 = append(wantQ41, float32(q)*0.25-3)
	}
	const half, minusTwo, quarter, minusThree = 0x3800, 0xc000, 0x3400, 0xc200
	for _, tc := range []struct {
		f    WeightFormat
		data []byte
		want []float32
	}{
		{Float32, le(0, 0x3f80, 0, 0xc000), []float32{1, -2}},
		{BFloat16, le(0x3f80, 0xc049), []float32{1, -3.140625}},
		{Float16, le(0x3c00, 0xc248, 0x0001, 0x8400, 0x7bff, 0x83ff), []float32{1, -3.140625, 0x1p-24, -0x1p-14, 65504, -1023 * 0x1p-24}},
		{Q8_0, append(le(half), q8...), wantQ8},
		{Q4_0, append(le(minusTwo), nibbles...), wantQ40},
		{Q4_1, append(le(quarter, minusThree), nibbles...), wantQ41},
	} {
		w, err := NewWeights(tc.f, 1, len(tc.want), tc.data)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(tc.want))
		w.Row(got, 0)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.f, got, tc.want)
		}
	}
}

func TestNewWeightsErrors(t *testing.T) {
	for _, tc := range []struct {
		f                 WeightFormat
		rows, cols, bytes int
		want              string
	}{
		{99, 1, 1, 4, "weight format is 99"},
		{Float32, 0, 1, 4, "rows is 0"},
		{Float32, 1, 0, 4, "cols is 0"},
		{Q8_0, 1, 33, 34, "cols is 33: a row of Q8_0 must be a multiple of 32"},
		{Q4_1, 2, 64, 79, "data has 79 bytes: 2 rows of 64 Q4_1 weights have 40 each"},
		{Q4_1, 2, 64, 81, "data has 81 bytes"},
		{Float32, 1, math.MaxInt, 4, "more bytes than an int"},
		{Float32, math.MaxInt, 8, 4, "data has 4 bytes"},
	} {
		if _, err := NewWeights(tc.f, tc.rows, tc.cols, make([]byte, tc.bytes)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v", tc, err)
		}
	}
	w, err := NewWeights(Float32, 3, 2, make([]byte, 24))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]float32, 20)
	for _, tc := range []struct {
		m    int
		y, x []float32
		opts []Option
		want string
	}{
		{-1, buf[:9], buf[9:], nil, "m is -1"},
		{3, buf[:8], buf[9:], nil, "y has 8 elements"},
		{3, buf[:9], buf[15:], nil, "x has 5 elements"},
		{3, buf[:9], buf[8:], nil, "y shares memory with x"},
		{math.MaxInt, buf[:9], buf[9:], nil, "x has 11 elements"},
		{3, buf[:9], buf[9:], []Option{Threads(-1)}, "threads is -1"},
		{3, buf[:9], buf[9:], []Option{Threads(MaxThreads + 1)}, "threads is 1025"},
	} {
		if err := w.Mul(tc.y, tc.x, tc.m, tc.opts...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("m=%d: error %v, want %q", tc.m, err, tc.want)
		}
	}
	if err := (Weights{}).Mul(nil, nil, 1); err == nil {
		t.Error("no error for weights of nothing")
	}
	if err := w.Mul(nil, nil, 0); err != nil {
		t.Error(err)
	}
}

// randomWeights returns weights of any bytes, the scales such that all is finite.
func randomWeights(t testing.TB, rng *rand.Rand, f WeightFormat, rows, cols int) Weights {
	size, err := f.RowBytes(cols)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, rows*size)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	put := func(at int, v uint16) { binary.LittleEndian.PutUint16(data[at:], v) }
	half := func() uint16 { return uint16(rng.IntN(2)<<15 | (8+rng.IntN(8))<<10 | rng.IntN(1024)) }
	for at := 0; at < len(data); at += layouts[f].bytes {
		switch f {
		case Float32:
			binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(rng.NormFloat64())))
		case BFloat16:
			put(at, uint16(math.Float32bits(float32(rng.NormFloat64()))>>16))
		case Q4_1:
			put(at+2, half())
			put(at, half())
		default:
			put(at, half())
		}
	}
	w, err := NewWeights(f, rows, cols, data)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Every format, many shapes, within the bound of a float32 sum of the exact
// product of the decoded weights; with activations of 8 bits, within what
// [Int8Activations] promises as well. On any number of threads the result is the
// same.
func TestWeightsMul(t *testing.T) {
	team := NewTeam(3)
	defer team.Close()
	rng := rand.New(rand.NewPCG(21, 22))
	const long = 450 // blocks of which not even one row stays in L1
	sizes := [][]int{{1, 2, 7, 33}, {1, 2, 3, 5, 18, long}}
	if raceEnabled || testing.Short() {
		sizes = [][]int{{33}, {2}}
	}
	for _, f := range WeightFormats() {
		for _, rows := range sizes[0] {
			for _, blocks := range sizes[1] {
				if blocks == long && rows != 7 {
					continue
				}
				cols := blocks * QuantBlock
				if layouts[f].weights == 1 {
					cols += blocks - 2
				}
				w := randomWeights(t, rng, f, rows, cols)
				was := slices.Clone(w.data)
				decoded := newFrame(rows, cols, cols, func() float32 { return 0 })
				for r := range rows {
					w.Row(decoded.x[r*cols:], r)
				}
				for _, m := range []int{1, 2, 3, 5, 8, 16, 17, 70} {
					if blocks == long && m > 8 {
						break
					}
					x := newFrame(m, cols, cols, anything[float32](rng))
					for _, int8 := range []bool{false, true} {
						var opts []Option
						if int8 {
							opts = append(opts, Int8Activations())
						}
						name := fmt.Sprintf("%s rows=%d cols=%d m=%d int8=%t", f, rows, cols, m, int8)
						y := newFrame(m, rows, rows, func() float32 { return 5 })
						for _, isa := range ISAs() {
							name := name + " " + isa
							if err := w.Mul(y.x, x.x, m, append(opts, Threads(1), ISA(isa))...); err != nil {
								t.Fatal(name, err)
							}
							y.guardsHold(t, name)
							checkWeights(t, name, y, x, decoded, int8 && layouts[f].weights > 1)
						}
						if err := w.Mul(y.x, x.x, m, append(opts, Threads(1))...); err != nil {
							t.Fatal(name, err)
						}
						for _, o := range []Option{Threads(2), OnTeam(team)} {
							again := make([]float32, m*rows)
							if err := w.Mul(again, x.x, m, append(opts, o)...); err != nil {
								t.Fatal(name, err)
							}
							if !slices.Equal(again, y.x) {
								t.Fatalf("%s: other results on other threads", name)
							}
						}
					}
					x.unchanged(t, "x")
				}
				if !bytes.Equal(was, w.data) {
					t.Fatalf("%s: the weights have changed", f)
				}
			}
		}
	}
}

func checkWeights(t *testing.T, name string, y, x, w *frame[float32], int8 bool) {
	t.Helper()
	cols := w.cols
	bound := gamma[float32](cols + 3)
	column := &frame[float32]{x: nil, ld: 1}
	for r := range w.rows {
		column.x = w.x[r*cols:][:cols]
		for i := range y.rows {
			want, abs := dot2(x, column, i, 0, cols)
			tol := bound * abs
			if int8 {
				tol = 0
				for b := 0; b < cols; b += QuantBlock {
					most, sum := 0.0, 0.0
					for j := b; j < b+QuantBlock; j++ {
						most = max(most, math.Abs(float64(x.at(i, j))))
						sum += math.Abs(float64(column.x[j]))
						tol += 4 * bound * math.Abs(float64(x.at(i, j))*float64(column.x[j]))
					}
					tol += most / 254 * (1 + 4*bound + 0x1p-16) * sum
				}
				tol += 64 * bound * abs // d and m of a block apart
			}
			if err := math.Abs(float64(y.at(i, r)) - want); !(err <= tol) {
				t.Fatalf("%s: y[%d, %d] = %v, want %v: off by %g, bound %g", name, i, r, y.at(i, r), want, err, tol)
			}
		}
	}
}

// The product with the weights turned, every format, on every instruction set.
func TestWeightsMulT(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	sizes := []int{1, 2, 7, 131}
	if raceEnabled {
		sizes = sizes[1:3] // few, each of which several threads share
	}
	for _, f := range WeightFormats() {
		for _, rows := range sizes {
			for _, cols := range []int{32, 64, 128} {
				if !f.quantised() {
					cols += rows%3 - 1
				}
				w := randomWeights(t, rng, f, rows, cols)
				decoded := newFrame(rows, cols, cols, func() float32 { return 0 })
				for r := range rows {
					w.Row(decoded.x[r*cols:], r)
				}
				for _, m := range []int{1, 2, 3, 4, 5, 7, 8, 13, 19} {
					x := newFrame(m, rows, rows, anything[float32](rng))
					for _, isa := range ISAs() {
						for _, beta := range []float64{0, 1, -0.5} {
							y := newFrame(m, cols, cols, anything[float32](rng))
							if beta == 0 {
								y = newFrame(m, cols, cols, func() float32 { return float32(math.NaN()) })
							}
							name := fmt.Sprintf("%s rows=%d cols=%d m=%d %s beta=%v", f, rows, cols, m, isa, beta)
							if err := w.MulT(y.x, x.x, m, ISA(isa), Beta(beta)); err != nil {
								t.Fatal(name, err)
							}
							y.guardsHold(t, name)
							bound := gamma[float32](rows + 2)
							for i := range m {
								for j := range cols {
									want, abs := dot2(x, decoded, i, j, rows)
									if beta != 0 {
										want += beta * float64(y.was(i, j))
										abs += math.Abs(beta * float64(y.was(i, j)))
									}
									if err := math.Abs(float64(y.at(i, j)) - want); !(err <= bound*abs) {
										t.Fatalf("%s: y[%d, %d] = %v, want %v: off by %g, bound %g", name, i, j, y.at(i, j), want, err, bound*abs)
									}
								}
							}
						}
					}
					x.unchanged(t, "x")
				}
			}
		}
	}
}

func TestWeightsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	team := NewTeam(2)
	defer team.Close()
	rng := rand.New(rand.NewPCG(27, 28))
	for _, f := range WeightFormats() {
		cols := 64
		if !f.quantised() {
			cols = 72
		}
		w := randomWeights(t, rng, f, 96, cols)
		for _, m := range []int{1, 3, 20} {
			x, y := make([]float32, m*96), make([]float32, m*96)
			run := func() {
				for _, o := range []Option{{}, OnTeam(team), Int8Activations()} {
					if err := w.Mul(y, x[:m*cols], m, o); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.MulT(y, x, m, Beta(1)); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if got := testing.AllocsPerRun(20, run); got != 0 {
				t.Errorf("%s, m = %d: %v allocations a call", f, m, got)
			}
		}
	}
}

// Rounding to 8 bits is the same, bit for bit, on every instruction set: ties,
// zeros, numbers that are subnormal or not finite, any number of blocks.
func TestQuantize(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, blocks := range []int{1, 2, 3, 8, 9} {
		for round := range 40 {
			x := make([]float32, blocks*QuantBlock)
			for i := range x {
				switch round {
				case 0:
				case 1:
					x[i] = float32(i%255 - 127) // the scale of a whole block of 127 is 1
				case 2:
					x[i] = (float32(rng.IntN(255)-127) + 0.5) * 0x1p-100
				case 3:
					x[i] = float32(rng.NormFloat64()) * 0x1p-122
				case 4:
					x[i] = float32(rng.NormFloat64()) * 0x1p+120
				default:
					x[i] = float32(rng.NormFloat64())
				}
			}
			if round > 20 {
				x[rng.IntN(len(x))] = []float32{nan, -nan, inf, -inf}[round%4]
			}
			for _, bias := range []int{0, 8, 128} {
				var want []byte
				for _, k := range slices.Backward(weightPool()) {
					got := room([]float32(nil), blocksOf(blocks, 2)*quantPair/4)
					k.quantize(blocks, &x[0], (*byte)(unsafe.Pointer(&got[0])), bias)
					for i, v := range got {
						if v != v {
							got[i] = nan // whatever its sign and payload
						}
					}
					if want == nil {
						want = slices.Clone(rawBytes(got))
					} else if at := firstDifference(want, rawBytes(got)); at >= 0 {
						t.Fatalf("%s, %d blocks, round %d, bias %d: byte %d is %d, want %d\n%v", k.isa, blocks, round, bias, at, rawBytes(got)[at], want[at], x)
					}
				}
			}
		}
	}
}

// The layout for one row of activations is the same on every instruction set, and
// several products at once are what each is alone.
func TestMulAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 30))
	for _, blocks := range []int{1, 2, 3, 4, 7, 18} {
		x := make([]float32, blocks*QuantBlock)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		for _, k := range weightPool() {
			if k.triples == nil {
				continue
			}
			pairs := room([]float32(nil), blocksOf(blocks, 2)*quantPair/4)
			k.quantize(blocks, &x[0], &rawBytes(pairs)[0], 0)
			got, want := room([]float32(nil), blocksOf(blocks, 3)*quantPair/4), room([]float32(nil), blocksOf(blocks, 3)*quantPair/4)
			k.triples(blocks, &rawBytes(pairs)[0], &rawBytes(got)[0])
			triplesGo(blocks, &rawBytes(pairs)[0], &rawBytes(want)[0])
			if at := firstDifference(rawBytes(want), rawBytes(got)); at >= 0 {
				t.Fatalf("%s, %d blocks: byte %d differs", k.isa, blocks, at)
			}
		}
		weights := []Weights{randomWeights(t, rng, Q4_1, 130, len(x)), randomWeights(t, rng, Q4_1, 5, len(x)), randomWeights(t, rng, Q8_0, 97, len(x))}
		for _, m := range []int{1, 2, 17} {
			all := slices.Repeat(x, m)
			for _, opts := range [][]Option{nil, {Int8Activations()}, {Int8Activations(), Threads(3)}} {
				var products []Product
				for _, w := range weights {
					products = append(products, Product{make([]float32, m*w.rows), w})
				}
				if err := MulAll(all, m, products, opts...); err != nil {
					t.Fatal(err)
				}
				for i, w := range weights {
					want := make([]float32, m*w.rows)
					if err := w.Mul(want, all, m, opts...); err != nil || !slices.Equal(want, products[i].Y) {
						t.Errorf("%d blocks, m = %d, product %d: not what it is alone (%v)", blocks, m, i, err)
					}
				}
			}
		}
	}
	w := randomWeights(t, rng, Q4_1, 4, 64)
	x, y := make([]float32, 64), []float32{7, 7, 7, 7}
	if err := MulAll(x, 1, []Product{{y, w}, {y[:3], w}}); err == nil || !strings.Contains(err.Error(), "y has 3 elements") || y[0] != 7 {
		t.Errorf("%v, %v", err, y)
	}
}

func firstDifference(p, q []byte) int {
	for i := range p {
		if p[i] != q[i] {
			return i
		}
	}
	return -1
}
