package host

import "testing"

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		Read()
	}
}
