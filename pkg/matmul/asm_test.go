//go:build amd64

package matmul

import (
	"testing"

	"memorywall/pkg/internal/generated"
)

func TestAssemblyIsGenerated(t *testing.T) { generated.Check(t, "matmul") }
