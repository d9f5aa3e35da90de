package probe

import "unsafe"

// goNumbers is how many numbers the plain loop keeps in registers.
const goNumbers = 8

func goCompute[T Number]() compute[T] {
	return compute[T]{isa: Go, form: steps, numbers: goNumbers, loop: loopGo[T]}
}

// loopGo is stepsGo for eight numbers in local variables. Plain Go may round the
// multiply and the add separately; adding one product to each number would let the
// compiler multiply once.
func loopGo[T Number](n int, p *T) {
	s := unsafe.Slice(p, 2+goNumbers)
	x, y := s[0], s[1]
	s0, s1, s2, s3, s4, s5, s6, s7 := s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]
	for range n {
		s0 = s0*x + y
		s1 = s1*x + y
		s2 = s2*x + y
		s3 = s3*x + y
		s4 = s4*x + y
		s5 = s5*x + y
		s6 = s6*x + y
		s7 = s7*x + y
	}
	s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9] = s0, s1, s2, s3, s4, s5, s6, s7
}

func goMemory() memory {
	return memory{isa: Go, load: loadGo, copy: copyGo, triad: triadGo}
}

// loadGo reads what every load loop reads. It stores the exclusive or of all, as
// the compiler leaves out reads that lead to nothing.
func loadGo(p *byte, rounds, passes int, out *uint64) {
	all := unsafe.Slice((*[RoundBytes / 8]uint64)(unsafe.Pointer(p)), rounds)
	var x0, x1, x2, x3 uint64
	for range passes {
		for i := range all {
			w := &all[i]
			for j := 0; j < len(w); j += 8 {
				x0 ^= w[j] ^ w[j+4]
				x1 ^= w[j+1] ^ w[j+5]
				x2 ^= w[j+2] ^ w[j+6]
				x3 ^= w[j+3] ^ w[j+7]
			}
		}
	}
	*out = x0 ^ x1 ^ x2 ^ x3
}

// copyGo is the meaning of every copy loop.
func copyGo(dst, src *byte, rounds, passes int) {
	to := unsafe.Slice((*[RoundBytes / 8]uint64)(unsafe.Pointer(dst)), rounds)
	from := unsafe.Slice((*[RoundBytes / 8]uint64)(unsafe.Pointer(src)), rounds)
	for range passes {
		for i := range to {
			d, s := &to[i], &from[i]
			for j := 0; j < len(d); j += 4 {
				d[j], d[j+1], d[j+2], d[j+3] = s[j], s[j+1], s[j+2], s[j+3]
			}
		}
	}
}

// triadGo is the meaning of every triad loop.
func triadGo(a, b, c, s *float64, rounds, passes int) {
	as := unsafe.Slice((*[RoundBytes / 8]float64)(unsafe.Pointer(a)), rounds)
	bs := unsafe.Slice((*[RoundBytes / 8]float64)(unsafe.Pointer(b)), rounds)
	cs := unsafe.Slice((*[RoundBytes / 8]float64)(unsafe.Pointer(c)), rounds)
	factor := *s
	for range passes {
		for i := range as {
			x, y, z := &as[i], &bs[i], &cs[i]
			for j := 0; j < len(x); j += 4 {
				x[j] = y[j] + factor*z[j]
				x[j+1] = y[j+1] + factor*z[j+1]
				x[j+2] = y[j+2] + factor*z[j+2]
				x[j+3] = y[j+3] + factor*z[j+3]
			}
		}
	}
}

// addChainGo is the meaning of addChain. Inlined, it could lose adds whose result
// nobody reads.
//
//go:noinline
func addChainGo(n int, x, y uint64) uint64 {
	for range n {
		for range chainAdds / 8 {
			x += y
			x += y
			x += y
			x += y
			x += y
			x += y
			x += y
			x += y
		}
	}
	return x
}
