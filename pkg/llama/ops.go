package llama

import (
	"encoding/binary"
	"math"
)

// The operators of a transformer between its products of matrices. Each works
// on slices, and is written to be read beside its formula. Where the CPU can, whole
// vectors of it go through assembly, which sums in another order.

// vectors is the operators of that name on whole vectors.
type vectors struct {
	lanes      int // numbers in a vector
	rmsNorm    func(n int, dst, x, scale *float32, eps float32)
	swiGLU     func(n int, gate, up *float32)
	largest    func(n int, x *float32) float32
	expSum     func(n int, x *float32, top float32) float32
	addScaled  func(n int, dst, x *float32, a float32)
	toFloat16s func(n int, dst *byte, x *float32)
}

// simd is the best of them, without lanes where there are none.
var simd vectors

func init() {
	if sets := vectorSets(); len(sets) > 0 {
		simd = sets[0]
	}
}

// whole is how many of n numbers are whole vectors.
func (v *vectors) whole(n int) int {
	if v.lanes == 0 {
		return 0
	}
	return n / v.lanes * v.lanes
}

// rmsNorm writes x / √(mean(x²) + eps) · scale to dst.
func rmsNorm(dst, x, scale []float32, eps float32) {
	dst, scale = dst[:len(x)], scale[:len(x)]
	if n := simd.whole(len(x)); n > 0 && n == len(x) {
		simd.rmsNorm(n, &dst[0], &x[0], &scale[0], eps)
		return
	}
	var sum float32
	for _, v := range x {
		sum += v * v
	}
	r := 1 / float32(math.Sqrt(float64(sum/float32(len(x))+eps)))
	for i, v := range x {
		dst[i] = v * r * scale[i]
	}
}

// add adds x to dst.
func add(dst, x []float32) { addScaled(dst, x, 1) }

// addScaled adds a·x to dst.
func addScaled(dst, x []float32, a float32) {
	x = x[:len(dst)]
	n := simd.whole(len(x))
	if n > 0 {
		simd.addScaled(n, &dst[0], &x[0], a)
	}
	for i := n; i < len(x); i++ {
		dst[i] += a * x[i]
	}
}

// swiGLU writes silu(gate)·up to gate, where silu(g) = g / (1 + e^-g).
func swiGLU(gate, up []float32) {
	up = up[:len(gate)]
	n := simd.whole(len(gate))
	if n > 0 {
		simd.swiGLU(n, &gate[0], &up[0])
	}
	for i := n; i < len(gate); i++ {
		gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i]
	}
}

// largest returns the largest of x, which is not empty.
func largest(x []float32) float32 {
	top := x[0]
	n := simd.whole(len(x))
	if n > 0 {
		top = simd.largest(n, &x[0])
	}
	for _, v := range x[n:] {
		if v > top {
			top = v
		}
	}
	return top
}

// expSum turns each x into e^(x - top) and returns their sum.
func expSum(x []float32, top float32) float32 {
	var sum float32
	n := simd.whole(len(x))
	if n > 0 {
		sum = simd.expSum(n, &x[0], top)
	}
	for i, v := range x[n:] {
		x[n+i] = exp(v - top)
		sum += x[n+i]
	}
	return sum
}

// toFloat16s writes x as binary16 numbers, little-endian.
func toFloat16s(dst []byte, x []float32) {
	dst = dst[:2*len(x)]
	n := simd.whole(len(x))
	if n > 0 {
		simd.toFloat16s(n, &dst[0], &x[0])
	}
	for i, v := range x[n:] {
		binary.LittleEndian.PutUint16(dst[2*(n+i):], toFloat16(v))
	}
}

// exp is e^x to about two units in the last place: x = n·ln 2 + r with the whole
// number n nearest to x/ln 2, and a polynomial for e^r (the coefficients of
// Cephes, expf.c). Adding 1.5·2²³ rounds to a whole number and leaves it in the
// low bits.
func exp(x float32) float32 {
	if !(x > -87) {
		if x != x {
			return x
		}
		return 0
	}
	if x > 88 {
		return float32(math.Inf(1))
	}
	const round = 3 << 22
	t := x*1.44269504 + round
	n := t - round
	r := x - n*0.693359375 + n*2.12194440e-4
	r2 := r * r
	low := 1 + r + r2*(5.0000001201e-1+r*1.6666665459e-1)
	high := 4.1665795894e-2 + r*8.3334519073e-3 + r2*(1.3981999507e-3+r*1.9875691500e-4)
	return (low + r2*r2*high) * math.Float32frombits((math.Float32bits(t)+127)<<23)
}

// rotation is what RoPE turns a head by at one position: the cosine and sine of
// position · frequency for each pair of the head's elements.
func rotation(cos, sin []float32, position int, frequencies []float64) {
	for i, f := range frequencies {
		s, c := math.Sincos(float64(position) * f)
		cos[i], sin[i] = float32(c), float32(s)
	}
}

// ropeFrequencies returns base^(-2i/d) for each pair i of a head of d elements.
func ropeFrequencies(base float64, d int) []float64 {
	fs := make([]float64, d/2)
	for i := range fs {
		fs[i] = math.Pow(base, -2*float64(i)/float64(d))
	}
	return fs
}

// rotate turns the pairs of a head. The two elements of pair i stand side by
// side (interleaved, as GGUF files of architecture llama have them) or half a
// head apart.
func rotate(head, cos, sin []float32, interleaved bool) {
	half := len(head) / 2
	cos, sin = cos[:half], sin[:half]
	if interleaved {
		for i, c := range cos {
			a, b, s := head[2*i], head[2*i+1], sin[i]
			head[2*i], head[2*i+1] = a*c-b*s, a*s+b*c
		}
		return
	}
	lo, hi := head[:half], head[half:][:half]
	for i, c := range cos {
		a, b, s := lo[i], hi[i], sin[i]
		lo[i], hi[i] = a*c-b*s, a*s+b*c
	}
}
