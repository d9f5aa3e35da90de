package llama

import "math"

// The operators of a transformer between its products of matrices. Each works
// on slices, and is written to be read beside its formula.

// rmsNorm writes x / √(mean(x²) + eps) · scale to dst.
func rmsNorm(dst, x, scale []float32, eps float32) {
	var sum [4]float32 // four sums, so that one addition need not wait for the last
	i := 0
	for ; i+4 <= len(x); i += 4 {
		v := x[i : i+4 : i+4]
		sum[0] += v[0] * v[0]
		sum[1] += v[1] * v[1]
		sum[2] += v[2] * v[2]
		sum[3] += v[3] * v[3]
	}
	for ; i < len(x); i++ {
		sum[0] += x[i] * x[i]
	}
	mean := (sum[0] + sum[1] + sum[2] + sum[3]) / float32(len(x))
	r := 1 / float32(math.Sqrt(float64(mean+eps)))
	dst, scale = dst[:len(x)], scale[:len(x)]
	for i, v := range x {
		dst[i] = v * r * scale[i]
	}
}

// add adds x to dst.
func add(dst, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += x[i]
	}
}

// swiGLU writes silu(gate)·up to gate, where silu(g) = g / (1 + e^-g).
func swiGLU(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + exp(-g)) * up[i]
	}
}

// largest returns the largest of x, which is not empty.
func largest(x []float32) float32 {
	top := [4]float32{x[0], x[0], x[0], x[0]}
	for ; len(x) >= 4; x = x[4:] {
		for k := range top {
			if x[k] > top[k] {
				top[k] = x[k]
			}
		}
	}
	for _, v := range x {
		if v > top[0] {
			top[0] = v
		}
	}
	return max(max(top[0], top[1]), max(top[2], top[3]))
}

// expSum turns each x into e^(x - top) and returns their sum.
func expSum(x []float32, top float32) float32 {
	var sum float32
	for i, v := range x {
		x[i] = exp(v - top)
		sum += x[i]
	}
	return sum
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
