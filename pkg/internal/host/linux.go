package host

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// readLinux fills in what Linux tells in /proc, /sys and the cgroup file
// systems. root is the file system's root.
func (h *Host) readLinux(root fs.FS) {
	h.readCPUInfo(root)
	if online, ok := parseCPUList(text(root, "sys/devices/system/cpu/online")); ok {
		h.Cores = max(len(online), h.Usable)
		h.readCaches(root, online, h.usable(root, online))
	}
	h.readMemory(root)
	h.readCgroups(root)
}

// text returns a file's content without surrounding space, or "".
func text(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.TrimRight(b, "\x00\n")))
}

// lines calls f with each line of a file.
func lines(root fs.FS, name string, f func(line string)) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return
	}
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, len(b)+1)
	for s.Scan() {
		f(s.Text())
	}
}

func (h *Host) readCPUInfo(root fs.FS) {
	var implementer, part string
	lines(root, "proc/cpuinfo", func(line string) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		first := func(s *string) {
			if *s == "" {
				*s = value
			}
		}
		switch strings.TrimSpace(key) {
		case "model name", "cpu", "uarch": // x86 and some arm; powerpc; riscv
			first(&h.CPU)
		case "CPU implementer":
			first(&implementer)
		case "CPU part":
			first(&part)
		case "flags":
			h.Virtual = h.Virtual || slices.Contains(strings.Fields(value), "hypervisor")
		}
	})
	if h.CPU == "" && implementer != "" && part != "" {
		// arm64 tells only the codes of its identification register.
		h.CPU = fmt.Sprintf("ARM implementer %s part %s", implementer, part)
		if board := text(root, "proc/device-tree/model"); board != "" {
			h.CPU = board + ", " + h.CPU
		}
	}
}

// parseCPUList parses the kernel's list format, such as "0-3,8,10-11".
func parseCPUList(s string) ([]int, bool) {
	const maxCPUs = 1 << 16 // above the kernel's own limit
	var cpus []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a < 0 || b < a || b >= maxCPUs || len(cpus) > maxCPUs {
			return nil, false
		}
		for i := a; i <= b; i++ {
			cpus = append(cpus, i)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), true
}

// usable returns the CPUs that this process may run on, which is its Usable in
// number. A thread that keeps itself on some of them is no measure for the process.
func (h *Host) usable(root fs.FS, online []int) []int {
	usable := online
	lines(root, "proc/self/status", func(line string) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			allowed, ok := parseCPUList(list)
			allowed = slices.DeleteFunc(allowed, func(cpu int) bool { return !slices.Contains(online, cpu) })
			if ok && len(allowed) == h.Usable {
				usable = allowed
			}
		}
	})
	return usable
}

// readCaches collects the caches of all cores; a cache that several cores share
// is counted once.
func (h *Host) readCaches(root fs.FS, online, usable []int) {
	type instance struct {
		Cache
		shared string
	}
	seen, reached := map[instance]bool{}, map[instance]bool{}
	count := map[Cache]int{}
	for _, cpu := range online {
		mine := slices.Contains(usable, cpu)
		var last instance
		for index := 0; ; index++ {
			dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d", cpu, index)
			if _, err := fs.Stat(root, dir); err != nil {
				break
			}
			file := func(name string) string { return text(root, path.Join(dir, name)) }
			c := Cache{Type: strings.ToLower(file("type"))}
			c.Level, _ = strconv.Atoi(file("level"))
			c.Bytes = parseCount(file("size"))
			if c.Level < 1 || c.Bytes < 1 || c.Type == "" {
				continue // a kernel that does not know, as on some arm boards
			}
			c.LineBytes = parseCount(file("coherency_line_size"))
			shared := file("shared_cpu_list")
			if list, ok := parseCPUList(shared); ok {
				c.Cores = len(list)
			} else {
				shared = strconv.Itoa(cpu)
			}
			in := instance{c, shared}
			if !seen[in] {
				seen[in] = true
				count[c]++
			}
			if mine {
				h.Core.count(c)
			}
			if c.Type != "instruction" && c.Level > last.Level {
				last = in
			}
		}
		if mine && last.Bytes > 0 && !reached[last] {
			reached[last] = true
			h.LastLevels = append(h.LastLevels, last.Bytes)
		}
	}
	for c, n := range count {
		c.Count = n
		h.Caches = append(h.Caches, c)
	}
}

// parseCount parses a whole number, such as "48", "48K", "2M" or "1G"; 0 if it is none.
func parseCount(s string) int64 {
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
			shift = 10 * (i + 1)
			s = s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return 0
	}
	return n << shift
}

func (h *Host) readMemory(root fs.FS) {
	lines(root, "proc/meminfo", func(line string) {
		key, value, _ := strings.Cut(line, ":")
		f := strings.Fields(value)
		if len(f) != 2 || f[1] != "kB" {
			return
		}
		n := parseCount(f[0] + "K")
		switch key {
		case "MemTotal":
			h.Memory = n
		case "MemAvailable":
			h.Free = n
		}
	})
}

// readCgroups fills in the CPU quota, and lowers Free to what the memory limit
// leaves. A limit of any ancestor holds as well, so that the least counts.
func (h *Host) readCgroups(root fs.FS) {
	cpu := findCgroup(root, "cpu")
	for _, dir := range cpu.dirs {
		// Version 2 has "max 100000" or "150000 100000", microseconds in each period;
		// version 1 has a file for each of the two, and a quota of -1 means none.
		file := func(name string) string { return text(root, path.Join(dir, name)) }
		limit, each, _ := strings.Cut(file("cpu.max"), " ")
		if !cpu.v2 {
			limit, each = file("cpu.cfs_quota_us"), file("cpu.cfs_period_us")
		}
		quota, period := float64(parseCount(limit)), float64(parseCount(each))
		if quota > 0 && period > 0 && (h.Quota == 0 || quota/period < h.Quota) {
			h.Quota = quota / period
		}
	}
	memory := findCgroup(root, "memory")
	limit, usage, prefix := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
	if memory.v2 {
		limit, usage, prefix = "memory.max", "memory.current", ""
	}
	for _, dir := range memory.dirs {
		// "max" (v2) is no number; "none" in v1 is a number above any memory.
		allowed := parseCount(text(root, path.Join(dir, limit)))
		used, err := strconv.ParseInt(text(root, path.Join(dir, usage)), 10, 64)
		if allowed == 0 || err != nil || used < 0 {
			continue
		}
		// The kernel takes pages of files back when memory runs short.
		var files int64
		lines(root, path.Join(dir, "memory.stat"), func(line string) {
			key, value, _ := strings.Cut(line, " ")
			if key == prefix+"inactive_file" || key == prefix+"active_file" {
				if n := parseCount(value); n <= used-files {
					files += n
				}
			}
		})
		if left := max(allowed-(used-files), 1); h.Free == 0 || left < h.Free {
			h.Free = left
		}
	}
}

// cgroup is the process's place in the hierarchy of one controller: its own
// directory first, then the ancestors that are visible, up to the mount.
type cgroup struct {
	v2   bool
	dirs []string // relative to the root of the file system
}

// findCgroup finds the process's cgroup for a controller; see cgroups(7) and
// proc_pid_mountinfo(5). A version 1 hierarchy that has the controller goes
// before version 2, as the kernel binds a controller to one of them.
func findCgroup(root fs.FS, controller string) cgroup {
	var v1, v2 string
	lines(root, "proc/self/cgroup", func(line string) {
		// hierarchy-ID:controller-list:cgroup-path
		f := strings.SplitN(line, ":", 3)
		switch {
		case len(f) != 3:
		case f[0] == "0" && f[1] == "":
			v2 = f[2]
		case slices.Contains(strings.Split(f[1], ","), controller):
			v1 = f[2]
		}
	})
	if v1 != "" {
		return cgroup{dirs: cgroupDirs(root, v1, "cgroup", controller)}
	}
	if v2 != "" {
		return cgroup{v2: true, dirs: cgroupDirs(root, v2, "cgroup2", "")}
	}
	return cgroup{}
}

func cgroupDirs(root fs.FS, group, fstype, option string) []string {
	var dirs []string
	lines(root, "proc/self/mountinfo", func(line string) {
		// id parent dev root mount-point options [tags…] - fstype source super-options
		before, after, found := strings.Cut(line, " - ")
		b, a := strings.Fields(before), strings.Fields(after)
		if !found || len(b) < 6 || len(a) < 3 || a[0] != fstype || dirs != nil {
			return
		}
		if option != "" && !slices.Contains(strings.Split(a[2], ","), option) {
			return
		}
		mountRoot, mount := unescape(b[3]), strings.TrimPrefix(path.Clean(unescape(b[4])), "/")
		// A mount shows the part of the hierarchy below its root. A group
		// outside it (seen from another namespace) is looked for at the mount.
		below := ""
		if rest, ok := strings.CutPrefix(group, strings.TrimSuffix(mountRoot, "/")); ok && (rest == "" || rest[0] == '/') {
			below = strings.TrimPrefix(path.Clean("/"+rest), "/")
		}
		for {
			dirs = append(dirs, path.Join(mount, below))
			if below == "" {
				return
			}
			below = strings.TrimSuffix(path.Dir("/" + below)[1:], "/")
		}
	})
	return dirs
}

// unescape replaces the octal escapes of mountinfo, such as \040 for a space.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
