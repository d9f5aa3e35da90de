// Package host tells what is known of the machine that a program runs on, and of
// what the program may use of it: CPUs, caches, memory, the limits of its cgroup,
// and instruction sets.
package host

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"memorywall/pkg/internal/num"
)

// Host is what is known of the machine and of what this process may use of it.
// A fact that cannot be read is 0 or empty, and its name stands in Unknown:
// nothing is guessed.
type Host struct {
	CPU  string `json:"cpu"`  // model
	Arch string `json:"arch"` // GOARCH
	OS   string `json:"os"`   // GOOS
	// Virtual is true when the CPU says that it runs under a hypervisor. Cache
	// sizes and core counts are then what the hypervisor tells.
	Virtual bool `json:"virtual,omitempty"`
	Cores   int  `json:"cores"`  // logical cores of the machine
	Usable  int  `json:"usable"` // logical cores that this process may run on (affinity)
	// GOMAXPROCS is how many threads run Go code at once.
	GOMAXPROCS int `json:"gomaxprocs"`
	// Quota is the CPU quota of the cgroup in cores. 0 means none is known.
	Quota float64 `json:"cpu_quota_cores,omitempty"`
	// Caches are sorted by level, then type, then size, largest first.
	Caches []Cache `json:"caches,omitempty"`
	// LastLevels are the bytes of the last caches before memory that the usable
	// cores have, each cache once, the largest first.
	LastLevels []int64 `json:"last_level_bytes,omitempty"`
	Core       Core    `json:"core"`
	Memory     int64   `json:"memory_bytes,omitempty"` // of the machine
	// Free is the memory that this process could still take without swapping,
	// in bytes: the system's estimate, or what the cgroup's limit leaves if
	// that is less.
	Free int64 `json:"free_bytes,omitempty"`
	// ISA names the vector instruction sets of the CPU, in lower case.
	ISA       []string  `json:"isa,omitempty"`
	GoVersion string    `json:"go_version"`
	Date      time.Time `json:"date"`
	// Unknown names the facts that could not be read.
	Unknown []string `json:"unknown,omitempty"`
}

// Cache is one cache of the CPU.
type Cache struct {
	Level     int    `json:"level"`
	Type      string `json:"type"` // "data", "instruction" or "unified"
	Bytes     int64  `json:"bytes"`
	LineBytes int64  `json:"line_bytes,omitempty"` // 0 = unknown
	// Cores is the number of logical cores that share one such cache, 0 if unknown.
	Cores int `json:"cores,omitempty"`
	// Count is the number of such caches in the machine, 0 if unknown.
	Count int `json:"count,omitempty"`
}

// Core is what each usable core can count on, in bytes: its first-level data
// cache, and its share of the second and the third level. Where cores differ it
// is the least that one of them has. 0 means unknown, or no such level.
type Core struct {
	L1 int64 `json:"l1_bytes,omitempty"`
	L2 int64 `json:"l2_bytes,omitempty"`
	L3 int64 `json:"l3_bytes,omitempty"`
}

// count takes a cache of another core into account, of which that core has a share.
func (c *Core) count(cache Cache) {
	if cache.Type == "instruction" || cache.Level > 3 {
		return
	}
	at := []*int64{&c.L1, &c.L2, &c.L3}[cache.Level-1]
	share := cache.Bytes
	if cache.Level > 1 {
		share /= int64(max(1, cache.Cores))
	}
	if *at == 0 || share < *at {
		*at = share
	}
}

// Read reads the facts now.
func Read() Host {
	h := Host{
		Arch:       runtime.GOARCH,
		OS:         runtime.GOOS,
		Cores:      runtime.NumCPU(),
		Usable:     runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		ISA:        slices.DeleteFunc(slices.Clone(isa), func(name string) bool { return name == "bmi2" }), // no vectors
		GoVersion:  runtime.Version(),
		Date:       time.Now(),
	}
	h.readSystem()
	h.finish()
	return h
}

// finish sorts the caches and lists what is unknown.
func (h *Host) finish() {
	slices.SortFunc(h.Caches, func(a, b Cache) int {
		return cmp.Or(
			cmp.Compare(a.Level, b.Level), cmp.Compare(a.Type, b.Type), cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(a.LineBytes, b.LineBytes), cmp.Compare(a.Cores, b.Cores), cmp.Compare(a.Count, b.Count),
		)
	})
	slices.SortFunc(h.LastLevels, func(a, b int64) int { return cmp.Compare(b, a) })
	h.Unknown = nil
	for _, f := range []struct {
		name    string
		unknown bool
	}{
		{"CPU model", h.CPU == ""},
		{"caches", len(h.Caches) == 0},
		{"memory", h.Memory == 0},
		{"free memory", h.Free == 0},
		{"vector instruction sets", len(h.ISA) == 0},
	} {
		if f.unknown {
			h.Unknown = append(h.Unknown, f.name)
		}
	}
}

// LastLevel returns the bytes of the last-level caches that so many threads reach
// together: the largest of the usable cores' caches, one for each thread, since
// nobody knows where the system puts them. 0 means that none is known.
func (h Host) LastLevel(threads int) int64 {
	sum := int64(0)
	for _, bytes := range h.LastLevels[:max(0, min(threads, len(h.LastLevels)))] {
		sum += bytes
	}
	return sum
}

const (
	// BeyondCaches: data of so many times the caches come from memory when they are
	// gone through again and again, but for a part that hardly shows.
	BeyondCaches = 4
	// unknownLastLevel stands for the last-level caches where none is known.
	unknownLastLevel = 64 << 20
)

// MemorySet returns how many bytes so many threads have to go through for memory to
// set their pace: [BeyondCaches] times the caches that they reach, but no more than
// limit, or a quarter of what is free. Where that is less, or where no cache is
// known, it says why the data may live in a cache in part; then nobody may call
// their rate that of memory.
func (h Host) MemorySet(threads int, limit int64) (bytes int64, doubt string) {
	free := h.Free
	if free == 0 {
		free = h.Memory / 2
	}
	if free > 0 {
		limit = min(limit, free/4)
	}
	last := h.LastLevel(threads)
	switch {
	case last == 0:
		return min(limit, BeyondCaches*unknownLastLevel), "the size of the last-level cache is unknown: part of the data may live in it"
	case limit < BeyondCaches*last:
		return limit, fmt.Sprintf("the data are at most %s, %.2g times the last-level caches of %s and not %d times: part of them may live there",
			size(limit), float64(limit)/float64(last), size(last), BeyondCaches)
	}
	return BeyondCaches * last, ""
}

// Tag returns the host in a few words, for a page that names it in full elsewhere.
func (h Host) Tag() string {
	threads := fmt.Sprintf("%d threads", h.GOMAXPROCS)
	if h.GOMAXPROCS == 1 {
		threads = "1 thread"
	}
	return cmp.Or(h.CPU, "CPU unknown") + ", " + threads + ", " + h.Date.Format(time.DateOnly)
}

// String returns one line: what a figure measured on this host needs beside it.
func (h Host) String() string {
	parts := []string{cmp.Or(h.CPU, "CPU unknown")}
	if h.Virtual {
		parts[0] += " (virtual machine)"
	}
	cores := fmt.Sprintf("%d logical cores", h.Cores)
	if h.Cores == 1 {
		cores = "1 logical core"
	}
	if h.Usable != h.Cores {
		cores += fmt.Sprintf(" (%d usable)", h.Usable)
	}
	parts = append(parts, cores, fmt.Sprintf("GOMAXPROCS %d", h.GOMAXPROCS))
	if h.Quota > 0 {
		parts = append(parts, fmt.Sprintf("CPU quota %.4g cores", h.Quota))
	}
	before := len(parts)
	for _, c := range h.Caches {
		if c.Type != "instruction" {
			parts = append(parts, c.String())
		}
	}
	if len(parts) == before {
		parts = append(parts, "caches unknown")
	}
	if n := len(h.LastLevels); n > 1 {
		parts = append(parts, fmt.Sprintf("%d last-level caches of %s in all", n, size(h.LastLevel(n))))
	}
	if h.Memory > 0 {
		parts = append(parts, size(h.Memory)+" memory")
	} else {
		parts = append(parts, "memory unknown")
	}
	if v := h.widest(); v != "" {
		parts = append(parts, v)
	}
	parts = append(parts, h.OS+"/"+h.Arch, h.GoVersion, h.Date.Format(time.DateOnly))
	return strings.Join(parts, ", ")
}

// widest returns the part of ISA that decides the speed of floating point: the
// widest vectors, and the fused multiply-add where it is named apart.
func (h Host) widest() string {
	for _, name := range []string{"avx512f", "avx2", "avx", "sse2", "sve2", "sve", "asimd", "neon", "rvv", "vxe", "vx"} {
		if slices.Contains(h.ISA, name) {
			if slices.Contains(h.ISA, "fma") {
				name += " fma"
			}
			return name
		}
	}
	return ""
}

func size(bytes int64) string { return num.Binary(float64(bytes), "B") }

// String returns level and size, for instance "L1d 48 KiB" or "L3 32 MiB".
func (c Cache) String() string {
	s := "L" + strconv.Itoa(c.Level)
	switch c.Type {
	case "data":
		s += "d"
	case "instruction":
		s += "i"
	}
	return s + " " + size(c.Bytes)
}
