package matmul

import "golang.org/x/sys/unix"

// readCaches asks for the caches of the fast cores, or of all where they are alike.
func readCaches() Caches {
	read := func(names ...string) int64 {
		for _, n := range names {
			if v, err := unix.SysctlUint64(n); err == nil {
				return int64(v)
			}
		}
		return 0
	}
	c := Caches{
		L1: read("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"),
		L2: read("hw.perflevel0.l2cachesize", "hw.l2cachesize"),
	}
	if share := read("hw.perflevel0.cpusperl2"); share > 1 {
		c.L2 /= share
	}
	return c
}
