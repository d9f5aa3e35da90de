//go:build amd64

package probe

import (
	"testing"

	"memorywall/internal/generated"
)

func TestAssemblyIsGenerated(t *testing.T) { generated.Check(t, "probe") }
