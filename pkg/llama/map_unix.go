//go:build unix

package llama

import (
	"os"
	"syscall"
)

// mapFile maps the first n bytes of a file, to be read only.
func mapFile(h *os.File, n int) ([]byte, func() error, error) {
	data, err := syscall.Mmap(int(h.Fd()), 0, n, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return os.NewSyscallError("munmap", syscall.Munmap(data)) }, nil
}
