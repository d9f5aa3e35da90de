//go:build !unix

package llama

import (
	"io"
	"os"
)

// mapFile reads the first n bytes of a file, where the system maps none.
func mapFile(h *os.File, n int) ([]byte, func() error, error) {
	data := make([]byte, n)
	_, err := io.ReadFull(h, data)
	return data, func() error { return nil }, err
}
