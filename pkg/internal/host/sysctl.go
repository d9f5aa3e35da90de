package host

import (
	"cmp"
	"encoding/binary"
	"strconv"
)

// readSysctl fills in what macOS tells by sysctl. On Apple silicon each kind
// of core is a performance level with caches of its own.
func (h *Host) readSysctl(text func(name string) (string, error), raw func(name string, args ...int) ([]byte, error)) {
	number := func(name string) int64 {
		b, err := raw(name)
		if err != nil {
			return 0
		}
		var n int64
		switch len(b) {
		case 4:
			n = int64(int32(binary.LittleEndian.Uint32(b)))
		case 8:
			n = int64(binary.LittleEndian.Uint64(b))
		}
		return max(n, 0)
	}
	if s, err := text("machdep.cpu.brand_string"); err == nil {
		h.CPU = s
	}
	if n := number("hw.logicalcpu_max"); n > 0 {
		h.Cores = int(n)
	}
	h.Virtual = number("kern.hv_vmm_present") > 0
	h.Memory = number("hw.memsize")
	line := number("hw.cachelinesize")
	add := func(level int, kind string, bytes, sharedBy, of int64) {
		if bytes <= 0 {
			return
		}
		c := Cache{Level: level, Type: kind, Bytes: bytes, LineBytes: line, Cores: int(sharedBy)}
		if sharedBy > 0 {
			c.Count = int(of / sharedBy)
		}
		h.Caches = append(h.Caches, c)
	}
	// reach notes the last caches of a kind of core.
	reach := func(bytes, sharedBy, of int64) {
		for range max(1, of/max(1, sharedBy)) {
			h.LastLevels = append(h.LastLevels, bytes)
		}
	}
	levels := number("hw.nperflevels")
	for i := range levels {
		p := "hw.perflevel" + strconv.FormatInt(i, 10) + "."
		cores := number(p + "logicalcpu_max")
		// A first-level cache belongs to one physical core.
		var perL1 int64
		if physical := number(p + "physicalcpu_max"); physical > 0 {
			perL1 = cores / physical
		}
		add(1, "data", number(p+"l1dcachesize"), perL1, cores)
		add(1, "instruction", number(p+"l1icachesize"), perL1, cores)
		add(2, "unified", number(p+"l2cachesize"), number(p+"cpusperl2"), cores)
		add(3, "unified", number(p+"l3cachesize"), number(p+"cpusperl3"), cores)
		if n := number(p + "l3cachesize"); n > 0 {
			reach(n, number(p+"cpusperl3"), cores)
		} else if n := number(p + "l2cachesize"); n > 0 {
			reach(n, number(p+"cpusperl2"), cores)
		}
	}
	if len(h.Caches) == 0 {
		add(1, "data", number("hw.l1dcachesize"), 0, 0)
		add(1, "instruction", number("hw.l1icachesize"), 0, 0)
		add(2, "unified", number("hw.l2cachesize"), 0, 0)
		add(3, "unified", number("hw.l3cachesize"), 0, 0)
		if last := cmp.Or(number("hw.l3cachesize"), number("hw.l2cachesize"), number("hw.l1dcachesize")); last > 0 {
			reach(last, 0, 0)
		}
	}
	for _, c := range h.Caches {
		h.Core.count(c)
	}
}
