package bench

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
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
	Memory int64   `json:"memory_bytes,omitempty"` // of the machine
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

// ReadHost reads the facts now.
func ReadHost() Host {
	h := Host{
		Arch:       runtime.GOARCH,
		OS:         runtime.GOOS,
		Cores:      runtime.NumCPU(),
		Usable:     runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		ISA:        vectorISA(),
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

// LastLevel returns the largest data or unified cache of the last level, and
// whether one is known.
func (h Host) LastLevel() (Cache, bool) {
	var last Cache
	for _, c := range h.Caches {
		if c.Type != "instruction" && (c.Level > last.Level || c.Level == last.Level && c.Bytes > last.Bytes) {
			last = c
		}
	}
	return last, last.Bytes > 0
}

// CoresUsed returns how many cores' worth of time Go code of this process can
// get: the least of GOMAXPROCS, the usable cores and the quota.
func (h Host) CoresUsed() float64 {
	n := float64(min(h.GOMAXPROCS, h.Usable))
	if h.Quota > 0 {
		n = min(n, h.Quota)
	}
	return n
}

// String returns one line: what a figure measured on this host needs beside it.
func (h Host) String() string {
	parts := []string{orUnknown(h.CPU, "CPU unknown")}
	if h.Virtual {
		parts[0] += " (virtual machine)"
	}
	cores := plural(h.Cores, "logical core")
	if h.Usable != h.Cores {
		cores += fmt.Sprintf(" (%d usable)", h.Usable)
	}
	parts = append(parts, cores, fmt.Sprintf("GOMAXPROCS %d", h.GOMAXPROCS))
	if h.Quota > 0 {
		parts = append(parts, fmt.Sprintf("CPU quota %.4g cores", h.Quota))
	}
	known := false
	for _, c := range h.Caches {
		if c.Type != "instruction" {
			parts = append(parts, c.String())
			known = true
		}
	}
	if !known {
		parts = append(parts, "caches unknown")
	}
	if h.Memory > 0 {
		parts = append(parts, binarySize(h.Memory)+" memory")
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

// String returns level and size, for instance "L1d 48 KiB" or "L3 32 MiB".
func (c Cache) String() string {
	s := "L" + strconv.Itoa(c.Level)
	switch c.Type {
	case "data":
		s += "d"
	case "instruction":
		s += "i"
	}
	return s + " " + binarySize(c.Bytes)
}

func orUnknown(s, unknown string) string {
	if s == "" {
		return unknown
	}
	return s
}

// binarySize formats a size with the largest binary unit that it reaches, to four
// digits: 49152 is "48 KiB".
func binarySize(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, unit := float64(n), "B"
	for _, u := range units {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " " + unit
}
