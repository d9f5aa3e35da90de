//go:build !linux

package probe

import (
	"slices"
	"unsafe"
)

func alloc(bytes int) ([]byte, func(), error) {
	return aligned(make([]byte, bytes+AlignBytes), bytes), func() {}, nil
}

// aligned cuts p so that it begins at a multiple of AlignBytes.
func aligned(p []byte, bytes int) []byte {
	skip := int(-uintptr(unsafe.Pointer(&p[0])) % AlignBytes)
	return slices.Clip(p[skip : skip+bytes])
}
