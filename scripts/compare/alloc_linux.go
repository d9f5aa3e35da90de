package main

import (
	"fmt"
	"syscall"
	"unsafe"

	"memorywall/pkg/matmul"
)

// allocate maps n elements, in huge pages where the system gives them, as numpy
// and the helper do, and fills them.
func allocate[T matmul.Float](n int) (x []T, free func(), err error) {
	const huge = 2 << 20
	bytes := (n*int(unsafe.Sizeof(T(0))) + huge - 1) / huge * huge
	p, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot map %d bytes: %w", bytes, err)
	}
	const madvHugepage = 14              // linux/mman.h
	_ = syscall.Madvise(p, madvHugepage) // a wish: small pages work too
	x = unsafe.Slice((*T)(unsafe.Pointer(&p[0])), n)
	fill(x)
	return x, func() { _ = syscall.Munmap(p) }, nil
}
