//go:build amd64

package probe

import (
	"testing"

	"memorywall/pkg/internal/generated"
)

func TestAssemblyIsGenerated(t *testing.T) { generated.Check(t, "probe") }
