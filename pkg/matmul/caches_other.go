//go:build !linux && !darwin

package matmul

func readCaches() Caches { return Caches{} }
