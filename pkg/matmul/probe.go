package matmul

import (
	"fmt"
	"unsafe"
)

// FMALoop does rounds of fused multiply-adds in registers with the instruction
// set ("" for the best of [ISAs]), on the calling thread, and returns how many
// FLOPs they were. Timed, it gives the compute roof of one core. The "go" loop
// is what plain Go reaches, which may round the multiply and the add apart.
func FMALoop[T Float](isa string, rounds int) (flops float64, err error) {
	if rounds < 1 {
		return 0, fmt.Errorf("matmul: rounds is %d: it must be 1 or more", rounds)
	}
	p, err := poolOf[T](isa)
	if err != nil {
		return 0, err
	}
	k := p.engine.kern
	k.fma(rounds)
	return float64(rounds) * float64(k.fmaFLOPs), nil
}

// ReadLoop loads every byte of p, less a last part under 512 bytes, with the
// instruction set ("" for the best of [ISAs]), on the calling thread, and
// returns how many bytes that were. Timed, over more than the caches hold, it
// gives the read bandwidth of one core.
func ReadLoop(isa string, p []byte) (bytes int, err error) {
	pool, err := poolOf[float32](isa)
	if err != nil {
		return 0, err
	}
	rounds := len(p) / readBytes
	if rounds > 0 {
		pool.engine.kern.read(unsafe.SliceData(p), rounds)
	}
	return rounds * readBytes, nil
}
