//go:build !linux && !darwin

package bench

import "time"

// processTime is not known on this system.
var processTime func() time.Duration
