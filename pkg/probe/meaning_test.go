package probe

import "unsafe"

// sumsGo is the meaning of every loop of fused multiply-adds in assembly.
func sumsGo[T Float](n int, p *T, numbers int) {
	s := unsafe.Slice(p, 2+numbers)
	for range n {
		for i := range numbers {
			s[2+i] += s[0] * s[1]
		}
	}
}

// stepsGo is the meaning of the loop in plain Go.
func stepsGo[T Number](n int, p *T, numbers int) {
	s := unsafe.Slice(p, 2+numbers)
	for range n {
		for i := range numbers {
			s[2+i] = s[2+i]*s[0] + s[1]
		}
	}
}

// dotsGo is the meaning of every loop of products of bytes in assembly.
func dotsGo(n int, p *int32, numbers int) {
	s := unsafe.Slice(p, 2+numbers)
	for range n {
		for i := range numbers {
			for shift := 0; shift < 32; shift += 8 {
				s[2+i] += int32(int8(s[0]>>shift)) * int32(int8(s[1]>>shift))
			}
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
