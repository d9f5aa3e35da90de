//go:build !amd64 || noasm

package llama

func vectorSets() []vectors { return nil }
