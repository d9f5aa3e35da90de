//go:build unix

package matmul

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// mostRows is how many rows of weights and of activations there are: more than any
// kernel takes at a time, and enough for the panels.
const mostRows = panelRows

// An arena is memory between two pages that nobody may touch.
type arena []byte

func newArena(t *testing.T, bytes int) arena {
	page := syscall.Getpagesize()
	inner := roundUp(bytes, page)
	all, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) }) //nolint:errcheck // the test is over
	for _, guard := range [][]byte{all[:page], all[page+inner:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[page:][:inner]
}

// ending returns so many bytes that end so far before the page that nobody may read.
func (a arena) ending(before, bytes int) []byte {
	end := len(a) - before
	return a[end-bytes : end : end]
}

// beginning returns so many bytes right behind such a page.
func (a arena) beginning(bytes int) []byte { return a[:bytes:bytes] }

func floats(p []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/4)
}

// wholeWeights fills data with rows of random whole numbers, which it returns, with
// scales of 1: every product of them with whole numbers is exact in any order.
func wholeWeights(rng *rand.Rand, f WeightFormat, cols int, data []byte) []int64 {
	const one, minus3 = 0x3c00, 0xc200 // as binary16
	l := layouts[f]
	var all []int64
	for at := 0; at < len(data); at += l.bytes {
		b := data[at:][:l.bytes]
		put := binary.LittleEndian.PutUint16
		v := rng.IntN(17) - 8
		switch f {
		case Float32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
			all = append(all, int64(v))
		case BFloat16:
			put(b, uint16(math.Float32bits(float32(v))>>16))
			all = append(all, int64(v))
		case Float16:
			put(b, halfOf(v))
			all = append(all, int64(v))
		case Q8_0:
			put(b, one)
			for i := range QuantBlock {
				b[2+i] = byte(rng.Uint32())
				all = append(all, int64(int8(b[2+i])))
			}
		default:
			put(b, one)
			offset := -8
			if f == Q4_1 {
				put(b[2:], minus3)
				offset = -3
			}
			low, high := make([]int64, 16), make([]int64, 16)
			for i := range low {
				q := int(rng.Uint32() & 255)
				b[l.bytes-16+i] = byte(q)
				low[i], high[i] = int64(q&15+offset), int64(q>>4+offset)
			}
			all = append(append(all, low...), high...)
		}
	}
	return all
}

// halfOf returns a whole number from -8 to 8 as binary16.
func halfOf(v int) uint16 {
	b := math.Float32bits(float32(v))
	if v == 0 {
		return 0
	}
	return uint16(b>>16&0x8000 | (b>>23&255-112)<<10 | b>>13&1023)
}

// wholeActivations fills x with random whole numbers, one of each block being 127 or
// -127: rounded to 8 bits they stay what they are.
func wholeActivations(rng *rand.Rand, x []float32, cols int) {
	for i := range x {
		x[i] = float32(rng.IntN(255) - 127)
	}
	for row := 0; row < len(x); row += cols {
		for b := 0; b < cols; b += QuantBlock {
			x[row+b+rng.IntN(min(QuantBlock, cols-b))] = float32(254*rng.IntN(2) - 127)
		}
	}
}

// Every instruction set and format, any number of rows of weights and of activations, all
// lengths of a tail, on data of any alignment: products of whole numbers are exact, and
// nothing beside the operands is read, for they end or begin at pages that nobody may
// touch, or written.
func TestWeightsConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	const mostCols = 3 * QuantBlock
	arenas := [3]arena{newArena(t, mostRows*mostCols*4+8), newArena(t, mostRows*mostCols*4), newArena(t, mostRows*mostCols*4)}
	for _, f := range WeightFormats() {
		sizes := []int{32, 64, 96}
		if !f.quantised() {
			sizes = []int{1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95}
		}
		for n, cols := range sizes {
			rowBytes, err := f.RowBytes(cols)
			if err != nil {
				t.Fatal(err)
			}
			for rows := 1; rows <= mostRows; rows++ {
				// In turn: at the end, after the beginning, and a few bytes before the end.
				side := (n + rows) % 4
				place := func(a arena, bytes int) []byte {
					if side == 1 {
						return a.beginning(bytes)
					}
					return a.ending(0, bytes)
				}
				data := place(arenas[0], rows*rowBytes)
				if side >= 2 {
					data = arenas[0].ending(2*side-3, rows*rowBytes)
				}
				whole := wholeWeights(rng, f, cols, data)
				w, err := NewWeights(f, rows, cols, data)
				if err != nil {
					t.Fatal(err)
				}
				for r := range rows {
					row := floats(place(arenas[1], 4*cols))
					for _, k := range weightPool() {
						k.row(w, row, r)
						for j, v := range row {
							if float64(v) != float64(whole[r*cols+j]) {
								t.Fatalf("%s %s of %d: weight (%d, %d) is %v, want %d", k.isa, f, cols, r, j, v, whole[r*cols+j])
							}
						}
					}
				}
				for m := 1; m <= mostRows; m++ {
					if testing.Short() && (rows+m)%4 != 0 {
						continue
					}
					checkWhole(t, rng, w, whole, m, func(i, bytes int) []byte { return place(arenas[i], bytes) })
				}
			}
		}
	}
}

// checkWhole multiplies m rows of activations with the weights, either way round.
func checkWhole(t *testing.T, rng *rand.Rand, w Weights, whole []int64, m int, place func(arena, bytes int) []byte) {
	for _, turned := range []bool{false, true} {
		nx, ny := w.cols, w.rows
		at := func(r, j int) int64 { return whole[r*w.cols+j] }
		if turned {
			nx, ny = w.rows, w.cols
			at = func(j, r int) int64 { return whole[r*w.cols+j] }
		}
		x, y := floats(place(1, 4*m*nx)), floats(place(2, 4*m*ny))
		wholeActivations(rng, x, nx)
		want := make([]float32, m*ny)
		for i := range m {
			for r := range ny {
				sum := int64(0)
				for j := range nx {
					sum += int64(x[i*nx+j]) * at(r, j)
				}
				want[i*ny+r] = float32(sum)
			}
		}
		for _, isa := range ISAs() {
			for _, opts := range [][]Option{{ISA(isa), Threads(1)}, {ISA(isa), Threads(1), Int8Activations()}} {
				multiply := w.Mul
				if turned {
					multiply = w.MulT
				}
				for i := range y {
					y[i] = float32(math.NaN())
				}
				if err := multiply(y, x, m, opts...); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(y, want) {
					t.Fatalf("%s %s %d×%d, m = %d, turned %t, %d options:\n%v\nwant\n%v", isa, w.format, w.rows, w.cols, m, turned, len(opts), y, want)
				}
			}
		}
	}
}

// A scale, a minimum, a weight or an activation that is not finite makes the results
// that it meets what IEEE 754 says, or NaN or Inf at least where activations are rounded
// to 8 bits, and leaves all others alone.
func TestWeightsNotFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	const rows, cols, bad = 5, 3 * QuantBlock, 3
	class := func(v float32) string {
		switch {
		case v != v:
			return "NaN"
		case math.IsInf(float64(v), 0):
			return fmt.Sprint(v)
		}
		return "finite"
	}
	for _, f := range WeightFormats() {
		rowBytes, err := f.RowBytes(cols)
		if err != nil {
			t.Fatal(err)
		}
		for _, half := range []uint16{0x7c00, 0xfc00, 0x7e00, 0xfe01} { // ±Inf and two NaN
			for _, at := range []int{0, 2} { // the scale, and the minimum or weights
				data := make([]byte, rows*rowBytes)
				wholeWeights(rng, f, cols, data)
				v, in := half, bad*rowBytes+rowBytes/3+at // in a block of its own
				switch {
				case at == 2 && f != Q4_1 && f != BFloat16 && f != Float16:
					continue
				case f == Float32:
					in += 2 // the upper half of a weight
					fallthrough
				case f == BFloat16:
					v = half&0x8000 | 0x7f80 | half&0x3ff>>3
				}
				binary.LittleEndian.PutUint16(data[in:], v)
				w, err := NewWeights(f, rows, cols, data)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range []int{1, 2, 4, 5, 8, 17} {
					x, y := make([]float32, m*cols), make([]float32, m*rows)
					wholeActivations(rng, x, cols)
					spec := make([]float32, m*rows)
					if err := w.Mul(spec, x, m, ISA("go")); err != nil {
						t.Fatal(err)
					}
					for _, isa := range ISAs() {
						for _, opts := range [][]Option{{ISA(isa)}, {ISA(isa), Int8Activations()}} {
							if err := w.Mul(y, x, m, opts...); err != nil {
								t.Fatal(err)
							}
							for i, got := range y {
								want := class(spec[i])
								if (want == "finite") != (i%rows != bad) {
									t.Fatalf("%s %#x: y[%d] is %v by the specification", f, half, i, spec[i])
								}
								if g := class(got); g != want && !(len(opts) == 2 && f.quantised() && want != "finite" && g != "finite") {
									t.Fatalf("%s %s %#x at %d, m = %d, %d options: y[%d] is %v, want %s", isa, f, half, at, m, len(opts), i, got, want)
								}
							}
						}
					}
				}
			}
		}
		// Activations.
		w := randomWeights(t, rng, f, rows, cols)
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			for _, m := range []int{1, 3, 17} {
				x, y, spec := make([]float32, m*cols), make([]float32, m*rows), make([]float32, m*rows)
				wholeActivations(rng, x, cols)
				hit := rng.IntN(m)
				x[hit*cols+rng.IntN(cols)] = v
				if err := w.Mul(spec, x, m, ISA("go")); err != nil {
					t.Fatal(err)
				}
				for _, isa := range ISAs() {
					for _, opts := range [][]Option{{ISA(isa)}, {ISA(isa), Int8Activations()}} {
						if err := w.Mul(y, x, m, opts...); err != nil {
							t.Fatal(err)
						}
						for i, got := range y {
							want := class(spec[i])
							if len(opts) == 2 && f.quantised() && i/rows == hit {
								want = "NaN"
							}
							if class(got) != want || (want == "finite") != (i/rows != hit) {
								t.Fatalf("%s %s, activation %v, m = %d, %d options: y[%d] is %v, want %s", isa, f, v, m, len(opts), i, got, want)
							}
						}
					}
				}
			}
		}
	}
}
