//go:build amd64

package matmul

import (
	"testing"

	"memorywall/internal/generated"
)

func TestAssemblyIsGenerated(t *testing.T) { generated.Check(t, "matmul") }
