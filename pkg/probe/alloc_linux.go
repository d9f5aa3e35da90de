package probe

import (
	"fmt"
	"syscall"
)

// alloc maps whole huge pages.
func alloc(bytes int) ([]byte, func(), error) {
	const huge = 2 << 20
	const madvHugepage = 14 // linux/mman.h
	size := (bytes + huge - 1) / huge * huge
	p, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("probe: bytes is %d: the system does not give them: %w", bytes, err)
	}
	_ = syscall.Madvise(p, madvHugepage) // a wish: small pages work too
	return p[:bytes:bytes], func() { _ = syscall.Munmap(p) }, nil
}
