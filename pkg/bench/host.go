package bench

import "memorywall/pkg/internal/host"

// Host is what is known of the machine; see its fields.
type Host = host.Host

// ReadHost reads the facts now.
func ReadHost() Host { return host.Read() }

var binarySize = host.BinarySize
