package matmul

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// A WeightFormat is how the numbers of a matrix of weights are stored, byte for
// byte as in a GGUF file (ggml-common.h of llama.cpp: block_q8_0, block_q4_0,
// block_q4_1), all little-endian:
//
//	format    block  bytes  a weight
//	Float32       1      4  IEEE 754 binary32
//	BFloat16      1      2  the upper half of a binary32
//	Float16       1      2  IEEE 754 binary16
//	Q8_0         32     34  d·q       d binary16, then 32 signed bytes q
//	Q4_0         32     18  d·(q-8)   d binary16, then 16 bytes: q of weight i in the low half of byte i, of weight 16+i in the high half
//	Q4_1         32     20  d·q + m   d and m binary16, then 16 bytes as in Q4_0
type WeightFormat uint8

const (
	Float32 WeightFormat = iota
	BFloat16
	Float16
	Q8_0
	Q4_0
	Q4_1
	weightFormats // how many there are
)

// QuantBlock is how many weights of a quantised row share a scale.
const QuantBlock = 32

// layout is a format's name and the size of its blocks.
type layout struct {
	name           string
	weights, bytes int // of a block
	decode         func(dst []float32, src []byte)
}

var layouts = [weightFormats]layout{
	Float32:  {"Float32", 1, 4, decodeFloat32},
	BFloat16: {"BFloat16", 1, 2, decodeBFloat16},
	Float16:  {"Float16", 1, 2, decodeFloat16},
	Q8_0:     {"Q8_0", QuantBlock, 34, decodeQ8_0},
	Q4_0:     {"Q4_0", QuantBlock, 18, decodeQ4_0},
	Q4_1:     {"Q4_1", QuantBlock, 20, decodeQ4_1},
}

// WeightFormats returns every format.
func WeightFormats() []WeightFormat {
	all := make([]WeightFormat, weightFormats)
	for i := range all {
		all[i] = WeightFormat(i)
	}
	return all
}

// quantised reports whether blocks of the format share a scale.
func (f WeightFormat) quantised() bool { return layouts[f].weights == QuantBlock }

func (f WeightFormat) String() string {
	if f >= weightFormats {
		return fmt.Sprintf("WeightFormat(%d)", uint8(f))
	}
	return layouts[f].name
}

// RowBytes returns the bytes of a row of cols weights. It returns an error for
// an unknown format, for cols that is below 1 or no whole number of blocks, and
// for a row that an int cannot count.
func (f WeightFormat) RowBytes(cols int) (int, error) {
	if f >= weightFormats {
		return 0, fmt.Errorf("matmul: weight format is %d: it must be below %d", uint8(f), weightFormats)
	}
	l := layouts[f]
	if cols < 1 {
		return 0, fmt.Errorf("matmul: cols is %d: it must be 1 or more", cols)
	}
	if cols%l.weights != 0 {
		return 0, fmt.Errorf("matmul: cols is %d: a row of %s must be a multiple of %d weights", cols, f, l.weights)
	}
	hi, n := bits.Mul(uint(cols/l.weights), uint(l.bytes))
	if hi != 0 || n > math.MaxInt {
		return 0, fmt.Errorf("matmul: cols is %d: a row of %s has more bytes than an int can count", cols, f)
	}
	return int(n), nil
}

// Weights is a matrix of rows×cols weights, one row after the other. It points
// to its data and copies nothing.
type Weights struct {
	format     WeightFormat
	rows, cols int
	rowBytes   int
	data       []byte
}

// NewWeights returns the matrix of rows×cols weights that data holds in a
// format. It returns an error in the cases of [WeightFormat.RowBytes], and where
// rows is below 1 or data has another length than rows rows.
func NewWeights(f WeightFormat, rows, cols int, data []byte) (Weights, error) {
	rowBytes, err := f.RowBytes(cols)
	if err != nil {
		return Weights{}, err
	}
	if rows < 1 {
		return Weights{}, fmt.Errorf("matmul: rows is %d: it must be 1 or more", rows)
	}
	if hi, n := bits.Mul(uint(rows), uint(rowBytes)); hi != 0 || uint(len(data)) != n {
		return Weights{}, fmt.Errorf("matmul: data has %d bytes: %d rows of %d %s weights have %d each", len(data), rows, cols, f, rowBytes)
	}
	return Weights{format: f, rows: rows, cols: cols, rowBytes: rowBytes, data: data}, nil
}

// Columns returns the columns from..to, to not included, as weights that share the
// memory of w. It panics unless 0 ≤ from < to ≤ Cols and both are whole blocks of
// the format.
func (w Weights) Columns(from, to int) Weights {
	l := layouts[w.format]
	if from < 0 || from >= to || to > w.cols || from%l.weights != 0 || to%l.weights != 0 {
		panic(fmt.Sprintf("matmul: columns %d to %d: the weights have %d, in blocks of %d", from, to, w.cols, l.weights))
	}
	size := w.rowSize()
	first := from / l.weights * l.bytes
	w.cols = to - from
	w.data = w.data[first:][:len(w.data)-size+w.rowSize()]
	return w
}

// rowSize is the bytes of a row, without a gap that may follow.
func (w Weights) rowSize() int {
	l := layouts[w.format]
	return w.cols / l.weights * l.bytes
}

// Format returns how the weights are stored.
func (w Weights) Format() WeightFormat { return w.format }

// Rows returns the number of rows: of results for each row of activations.
func (w Weights) Rows() int { return w.rows }

// Cols returns the weights in a row.
func (w Weights) Cols() int { return w.cols }

// Bytes returns what the weights take in memory.
func (w Weights) Bytes() int { return len(w.data) }

// Row decodes row i into dst, which must hold at least Cols elements. Each is
// the float32 nearest to the weight. It panics if i is no row or dst is too
// short.
func (w Weights) Row(dst []float32, i int) {
	if i < 0 || i >= w.rows {
		panic(fmt.Sprintf("matmul: row is %d: the weights have %d rows", i, w.rows))
	}
	if len(dst) < w.cols {
		panic(fmt.Sprintf("matmul: dst has %d elements: a row has %d", len(dst), w.cols))
	}
	weightPool()[0].row(w, dst[:w.cols], i)
}

func (w Weights) row(i int) []byte { return w.data[i*w.rowBytes:][:w.rowSize()] }

func decodeFloat32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func decodeBFloat16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

func decodeFloat16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = float16(src[2*i:])
	}
}

func decodeQ8_0(dst []float32, src []byte) {
	for ; len(dst) >= QuantBlock; dst, src = dst[QuantBlock:], src[34:] {
		d := float16(src)
		for i, q := range src[2:34] {
			dst[i] = d * float32(int8(q))
		}
	}
}

func decodeQ4_0(dst []float32, src []byte) {
	for ; len(dst) >= QuantBlock; dst, src = dst[QuantBlock:], src[18:] {
		d := float16(src)
		for i, q := range src[2:18] {
			dst[i] = d * float32(int(q&15)-8)
			dst[i+16] = d * float32(int(q>>4)-8)
		}
	}
}

func decodeQ4_1(dst []float32, src []byte) {
	for ; len(dst) >= QuantBlock; dst, src = dst[QuantBlock:], src[20:] {
		d, m := float16(src), float16(src[2:])
		for i, q := range src[4:20] {
			// d·q is exact: 11 bits times 4. So the sum is rounded once, fused or not.
			dst[i] = d*float32(q&15) + m
			dst[i+16] = d*float32(q>>4) + m
		}
	}
}

// float16 is the IEEE 754 binary16 number at the start of src.
func float16(src []byte) float32 {
	h := uint32(binary.LittleEndian.Uint16(src))
	sign, exp, frac := h>>15<<31, h>>10&31, h&1023
	switch exp {
	case 0: // zero and subnormal: frac·2^-24
		return math.Float32frombits(math.Float32bits(float32(frac)*0x1p-24) | sign)
	case 31: // Inf and NaN
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
