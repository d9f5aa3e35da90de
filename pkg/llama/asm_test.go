//go:build amd64

package llama

import (
	"testing"

	"memorywall/pkg/internal/generated"
)

func TestAssemblyIsGenerated(t *testing.T) { generated.Check(t, "llama") }
