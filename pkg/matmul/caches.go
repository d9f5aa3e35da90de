package matmul

import (
	"sync"

	"memorywall/pkg/internal/host"
)

// What is assumed where the system does not tell: sizes that every CPU with one
// of our kernels has.
var defaultCaches = Caches{L1: 32 << 10, L2: 256 << 10, L3: 1 << 20}

// HostCaches returns what one core of this machine can count on: its L1 and L2,
// and its share of L3. What the system does not tell is taken small.
var HostCaches = sync.OnceValue(func() Caches {
	core := host.Read().Core
	c := Caches{L1: core.L1, L2: core.L2, L3: core.L3}
	if c.L1 <= 0 {
		c.L1 = defaultCaches.L1
	}
	if c.L2 <= 0 {
		c.L2 = max(defaultCaches.L2, c.L1)
	}
	if c.L3 <= 0 {
		c.L3 = max(defaultCaches.L3, c.L2)
	}
	return c
})
