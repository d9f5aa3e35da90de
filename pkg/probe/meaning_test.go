package probe

import "unsafe"

// fusedGo is the meaning of every loop of fused multiply-adds over some numbers.
func fusedGo[T Float](n int, p *T, numbers int) {
	s := unsafe.Slice(p, 2+numbers)
	for range n {
		for i := range numbers {
			s[2+i] = s[2+i]*s[0] + s[1]
		}
	}
}

// apartGo is the meaning of every loop of multiplies and adds apart.
func apartGo[T Float](n int, p *T, numbers int) {
	s := unsafe.Slice(p, 2+numbers)
	for range n {
		for i := range numbers / 2 {
			s[2+i] *= s[0]
			s[2+numbers/2+i] += s[1]
		}
	}
}
