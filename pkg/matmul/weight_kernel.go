package matmul

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// A weightKernel multiplies with weights of every format on one instruction
// set. Its functions take whole blocks of [QuantBlock] weights.
type weightKernel struct {
	isa string

	// The most rows of activations that dot and dotInt8 take at a time, powers of two.
	wide, wideInt8 int

	// decode is what the layouts hold.
	decode [weightFormats]func(blocks int, w *byte, dst *float32)

	// dot computes y[i*ldy+r] = Σ x[i*ldx+j]·w[r, j] over the blocks, for
	// r < rows, rowBytes apart, and m rows of activations: a power of two up to
	// wide. With add it adds to y.
	dot [weightFormats]func(blocks int, w *byte, rowBytes, rows int, x *float32, ldx int, y *float32, ldy, m int, add bool)

	// dotInt8 is the same with activations as quantize lays them out, ldx bytes
	// apart, for the formats that have a bias: those for Q4_1 as triples does, where
	// an instruction set has that.
	dotInt8 [weightFormats]func(blocks int, w *byte, rowBytes, rows int, x *byte, ldx int, y *float32, ldy, m int, add bool)
	triples func(blocks int, src, dst *byte) // is triplesGo

	// For several rows of activations of 8 bits, where an instruction set has them:
	// unpack makes blocks of up to four rows of weights a four, at dst and every
	// stride bytes, Q8_0's with the bits of flip turned; spread completes a panel of
	// activations, each of which is to stand 1<<shift times; tileInt8 adds to sums
	// the products of a panel and some fours. The panel has width rows of
	// activations: twice the lanes, or half as many once, twice or three times.
	// From tileLeast rows of activations on that is best.
	lanes, flip int
	tileLeast   [weightFormats]int
	unpack      [weightFormats]func(blocks int, w *byte, rowBytes, rows int, dst *byte, stride, flip int)
	spread      func(blocks int, x *byte, vecs, shift, bias int)
	tileInt8    [weightFormats]func(blocks int, x, w *byte, fours int, sums *float32, width int)

	// turned computes y[i*ldy+j] = Σ x[i*ldx+r]·w[r, j], and adds what was in y
	// with add, for m one of turnedRows, the most first. Where it is nil there is
	// none but [Weights.turnedGo].
	turned     [weightFormats]func(blocks int, w *byte, rowBytes, rows int, x *float32, ldx int, y *float32, ldy, m int, add bool)
	turnedRows []int

	// quantize rounds activations to 8 bits, as [quantizeGo] does, for dst at a
	// multiple of 64.
	quantize func(blocks int, x *float32, dst *byte, bias int)

	// transpose is what [transposeGo] is.
	transpose func(blocks int, src *float32, lds int, dst *float32, ldd int)
}

func goWeightKernel() *weightKernel {
	k := &weightKernel{isa: "go", wide: 4, wideInt8: 4, quantize: quantizeGo, transpose: transposeGo}
	for f := range weightFormats {
		decode, size := layouts[f].decode, layouts[f].blockBytes()
		k.decode[f] = func(blocks int, w *byte, dst *float32) {
			decode(unsafe.Slice(dst, blocks*QuantBlock), unsafe.Slice(w, blocks*size))
		}
		k.dot[f] = func(blocks int, w *byte, rowBytes, rows int, x *float32, ldx int, y *float32, ldy, m int, add bool) {
			dotWeightsGo(f, blocks, w, rowBytes, rows, x, ldx, y, ldy, m, add)
		}
		k.dotInt8[f] = func(blocks int, w *byte, rowBytes, rows int, x *byte, ldx int, y *float32, ldy, m int, add bool) {
			dotInt8Go(f, blocks, w, rowBytes, rows, x, ldx, y, ldy, m, add)
		}
	}
	return k
}

// blockBytes is what [QuantBlock] weights take.
func (l layout) blockBytes() int { return QuantBlock / l.weights * l.bytes }

func dotWeightsGo(f WeightFormat, blocks int, w *byte, rowBytes, rows int, x *float32, ldx int, y *float32, ldy, m int, add bool) {
	size := layouts[f].blockBytes()
	ws := unsafe.Slice(w, (rows-1)*rowBytes+blocks*size)
	xs := unsafe.Slice(x, (m-1)*ldx+blocks*QuantBlock)
	ys := unsafe.Slice(y, (m-1)*ldy+rows)
	for r := range rows {
		for i := 0; i < m && !add; i++ {
			ys[i*ldy+r] = 0
		}
		for b := range blocks {
			var block [QuantBlock]float32
			decodeBlock(f, &block, QuantBlock, ws[r*rowBytes+b*size:][:size])
			for i := range m {
				v := xs[i*ldx+b*QuantBlock:][:QuantBlock]
				var s0, s1 float32
				for j := 0; j < QuantBlock; j += 2 {
					s0 += block[j] * v[j]
					s1 += block[j+1] * v[j+1]
				}
				ys[i*ldy+r] += s0 + s1
			}
		}
	}
}

// Activations of 8 bits lie in pairs of blocks: 64 of them; for each four in
// turn -bias·Σq as an int32, where bias is what makes a weight a number without
// a sign; the scale s, so that an activation is about s·q; and s·Σq. Where the
// number of blocks is odd the last half pair is all zeros.
const (
	quantPair  = 256
	quantStart = 64
	quantScale = 128
	quantSum   = 192
)

// bias is what a format's integers are below those of the kernels.
func (f WeightFormat) bias() int {
	switch f {
	case Q8_0:
		return 128
	case Q4_0:
		return 8
	}
	return 0
}

// quantBlock is one block of activations of 8 bits.
type quantBlock struct {
	q     *[QuantBlock]int8
	start *[QuantBlock / 4]int32
	scale *[QuantBlock / 4]float32
	sum   *[QuantBlock / 4]float32
}

func quantBlockAt(x *byte, b int) quantBlock {
	p := unsafe.Add(unsafe.Pointer(x), b/2*quantPair+b%2*QuantBlock)
	return quantBlock{
		(*[QuantBlock]int8)(p),
		(*[QuantBlock / 4]int32)(unsafe.Add(p, quantStart)),
		(*[QuantBlock / 4]float32)(unsafe.Add(p, quantScale)),
		(*[QuantBlock / 4]float32)(unsafe.Add(p, quantSum)),
	}
}

func quantizeGo(blocks int, x *float32, dst *byte, bias int) {
	for b := range blocks {
		xs := (*[QuantBlock]float32)(unsafe.Add(unsafe.Pointer(x), b*QuantBlock*4))
		z := quantBlockAt(dst, b)
		most, finite := float32(0), true
		for _, v := range xs {
			finite = finite && v-v == 0
			most = max(most, float32(math.Abs(float64(v))))
		}
		scale := most / 127
		if !finite {
			scale = float32(math.NaN())
		} else if scale < 0x1p-126 { // subnormal
			scale = 0
		}
		*z.q = [QuantBlock]int8{}
		if scale > 0 {
			for i, v := range xs {
				z.q[i] = int8(math.RoundToEven(float64(v / scale)))
			}
		}
		for l := range z.scale {
			sum := 0
			for _, q := range z.q[4*l:][:4] {
				sum += int(q)
			}
			z.start[l], z.scale[l], z.sum[l] = int32(-bias*sum), scale, scale*float32(sum)
		}
	}
}

// triplesGo lays activations of 8 bits out as blocks of Q4_1 lie in memory, three
// in 60 bytes and 4 bytes of nothing. Below the scale and the minimum of a block
// are 4 zeros, below its bytes the activations of the low halves, and 64 bytes
// on those of the high halves; at 128 come, as 4-byte numbers for each four bytes,
// Σq of the block below its scale and minimum and else 0, and at 192 the scale.
func triplesGo(blocks int, src, dst *byte) {
	for b := range blocks {
		x := quantBlockAt(src, b)
		group := (*[quantPair]byte)(unsafe.Add(unsafe.Pointer(dst), b/3*quantPair))
		if b%3 == 0 {
			*group = [quantPair]byte{}
		}
		at, sum := b%3*20, int32(0)
		for i, q := range x.q {
			group[i/16*64+at+4+i%16] = byte(q)
			sum += int32(q)
		}
		binary.LittleEndian.PutUint32(group[128+at:], uint32(sum))
		for i := range 5 {
			binary.LittleEndian.PutUint32(group[192+at+4*i:], math.Float32bits(x.scale[0]))
		}
	}
}

// dotInt8Go is exact within a block, in integers; over the blocks it sums in
// float32.
func dotInt8Go(f WeightFormat, blocks int, w *byte, rowBytes, rows int, x *byte, ldx int, y *float32, ldy, m int, add bool) {
	size := layouts[f].blockBytes()
	ws := unsafe.Slice(w, (rows-1)*rowBytes+blocks*size)
	ys := unsafe.Slice(y, (m-1)*ldy+rows)
	for r := range rows {
		for i := range m {
			xi := (*byte)(unsafe.Add(unsafe.Pointer(x), i*ldx))
			var total float32
			if add {
				total = ys[i*ldy+r]
			}
			for b := range blocks {
				total += dotBlockGo(f, ws[r*rowBytes+b*size:][:size], quantBlockAt(xi, b))
			}
			ys[i*ldy+r] = total
		}
	}
}

func dotBlockGo(f WeightFormat, w []byte, x quantBlock) float32 {
	dot, minimum := int32(0), float32(0)
	for _, s := range x.start {
		dot += s
	}
	switch f {
	case Q8_0:
		for i, v := range x.q {
			dot += int32(w[2+i]^0x80) * int32(v)
		}
	default:
		for i, v := range w[len(w)-16:] {
			dot += int32(v&15)*int32(x.q[i]) + int32(v>>4)*int32(x.q[i+16])
		}
		if f == Q4_1 {
			for _, s := range x.sum {
				minimum += float16(w[2:]) * s
			}
		}
	}
	return float16(w)*x.scale[0]*float32(dot) + minimum
}
