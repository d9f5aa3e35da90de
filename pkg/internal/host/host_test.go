package host

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// tree makes a file system from names and contents.
func tree(files map[string]string) fstest.MapFS {
	m := make(fstest.MapFS)
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

// with returns the union of several sets of files.
func with(sets ...map[string]string) map[string]string {
	all := make(map[string]string)
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

func cacheFiles(cpu, index int, level, kind, size, line, shared string) map[string]string {
	dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d/", cpu, index)
	return map[string]string{
		dir + "level": level, dir + "type": kind, dir + "size": size,
		dir + "coherency_line_size": line, dir + "shared_cpu_list": shared,
	}
}

// twoCores is a machine with two cores and three levels of cache.
func twoCores() map[string]string {
	return with(
		map[string]string{
			"proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU @ 3.00GHz\nflags\t\t: fpu sse2 avx2 fma\n\n" +
				"processor\t: 1\nmodel name\t: Some CPU @ 3.00GHz\nflags\t\t: fpu sse2 avx2 fma\n",
			"proc/meminfo":                  "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8000000 kB\nHugePages_Total:       0\n",
			"sys/devices/system/cpu/online": "0-1\n",
		},
		cacheFiles(0, 0, "1\n", "Data\n", "48K\n", "64\n", "0\n"),
		cacheFiles(0, 1, "1\n", "Instruction\n", "32K\n", "64\n", "0\n"),
		cacheFiles(0, 2, "2\n", "Unified\n", "2048K\n", "64\n", "0\n"),
		cacheFiles(0, 3, "3\n", "Unified\n", "36M\n", "64\n", "0-1\n"),
		cacheFiles(1, 0, "1\n", "Data\n", "48K\n", "64\n", "1\n"),
		cacheFiles(1, 1, "1\n", "Instruction\n", "32K\n", "64\n", "1\n"),
		cacheFiles(1, 2, "2\n", "Unified\n", "2048K\n", "64\n", "1\n"),
		cacheFiles(1, 3, "3\n", "Unified\n", "36M\n", "64\n", "0-1\n"),
	)
}

func readTree(files map[string]string) Host {
	h := Host{Cores: 2, Usable: 2, GOMAXPROCS: 2, ISA: []string{"sse2"}}
	h.readLinux(tree(files))
	h.finish()
	return h
}

func TestReadLinux(t *testing.T) {
	h := readTree(twoCores())
	want := []Cache{
		{1, "data", 48 << 10, 64, 1, 2},
		{1, "instruction", 32 << 10, 64, 1, 2},
		{2, "unified", 2 << 20, 64, 1, 2},
		{3, "unified", 36 << 20, 64, 2, 1},
	}
	if !slices.Equal(h.Caches, want) {
		t.Errorf("caches are %v; want %v", h.Caches, want)
	}
	if h.CPU != "Some CPU @ 3.00GHz" || h.Virtual || h.Cores != 2 {
		t.Errorf("CPU is %q (virtual: %v) with %d cores", h.CPU, h.Virtual, h.Cores)
	}
	if h.Memory != 16_000_000<<10 || h.Free != 8_000_000<<10 {
		t.Errorf("memory is %d, free %d", h.Memory, h.Free)
	}
	if h.Quota != 0 {
		t.Errorf("quota is %v without a cgroup", h.Quota)
	}
	if len(h.Unknown) != 0 {
		t.Errorf("unknown: %q", h.Unknown)
	}
	if h.LastLevel(1) != 36<<20 || h.LastLevel(2) != 36<<20 {
		t.Errorf("last levels are %v", h.LastLevels)
	}
}

func TestReadLinuxOddMachines(t *testing.T) {
	t.Run("nothing to read", func(t *testing.T) {
		h := readTree(nil)
		if h.CPU != "" || h.Cores != 2 || h.Caches != nil || h.Memory != 0 || h.Quota != 0 {
			t.Errorf("host is %+v", h)
		}
		if want := []string{"CPU model", "caches", "memory", "free memory"}; !slices.Equal(h.Unknown, want) {
			t.Errorf("unknown is %q; want %q", h.Unknown, want)
		}
		if h.LastLevel(1) != 0 || h.Core != (Core{}) {
			t.Errorf("last levels are %v, a core has %+v", h.LastLevels, h.Core)
		}
	})
	t.Run("virtual", func(t *testing.T) {
		h := readTree(map[string]string{"proc/cpuinfo": "flags\t: fpu hypervisor sse2\n"})
		if !h.Virtual {
			t.Error("not virtual in spite of the hypervisor flag")
		}
	})
	t.Run("arm without a model name", func(t *testing.T) {
		h := readTree(map[string]string{
			"proc/cpuinfo":           "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n",
			"proc/device-tree/model": "A Board Rev 1.4\x00",
		})
		if want := "A Board Rev 1.4, ARM implementer 0x41 part 0xd08"; h.CPU != want {
			t.Errorf("CPU is %q; want %q", h.CPU, want)
		}
	})
	t.Run("fewer usable than online", func(t *testing.T) {
		files := twoCores()
		files["sys/devices/system/cpu/online"] = "0-3,8,10-11\n"
		if h := readTree(files); h.Cores != 7 || h.Usable != 2 {
			t.Errorf("cores are %d, usable %d; want 7, 2", h.Cores, h.Usable)
		}
	})
	t.Run("unequal cores", func(t *testing.T) {
		h := readTree(with(map[string]string{"sys/devices/system/cpu/online": "0-2"},
			cacheFiles(0, 0, "1", "Data", "48K", "64", "0"),
			cacheFiles(1, 0, "1", "Data", "32K", "64", "1"),
			cacheFiles(2, 0, "1", "Data", "32K", "64", "2")))
		want := []Cache{{1, "data", 48 << 10, 64, 1, 1}, {1, "data", 32 << 10, 64, 1, 2}}
		if !slices.Equal(h.Caches, want) {
			t.Errorf("caches are %v; want %v", h.Caches, want)
		}
	})
	t.Run("odd cache content", func(t *testing.T) {
		h := readTree(with(map[string]string{"sys/devices/system/cpu/online": "0"},
			cacheFiles(0, 0, "1", "Data", "", "64", "0"),
			cacheFiles(0, 1, "x", "Data", "48K", "64", "0"),
			cacheFiles(0, 2, "2", "Unified", "-4K", "64", "0"),
			cacheFiles(0, 3, "3", "Unified", "9999999999G", "64", "0"),
			cacheFiles(0, 4, "4", "Unified", "1M", "odd", "odd")))
		want := []Cache{{4, "unified", 1 << 20, 0, 0, 1}}
		if !slices.Equal(h.Caches, want) {
			t.Errorf("caches are %v; want %v", h.Caches, want)
		}
	})
	t.Run("odd list of cores", func(t *testing.T) {
		files := twoCores()
		files["sys/devices/system/cpu/online"] = "0-"
		if h := readTree(files); h.Cores != 2 || h.Caches != nil {
			t.Errorf("cores are %d, caches %v", h.Cores, h.Caches)
		}
	})
}

func TestParseCPUList(t *testing.T) {
	for s, want := range map[string][]int{
		"0": {0}, "0-3": {0, 1, 2, 3}, "5,0-1": {0, 1, 5}, "0-1,1-2": {0, 1, 2}, "7, 9": {7, 9},
		"": nil, "a": nil, "1-": nil, "-1": nil, "3-1": nil, "0-99999999": nil, "1,,2": nil,
	} {
		got, ok := parseCPUList(s)
		if ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("parseCPUList(%q) is %v, %v; want %v", s, got, ok, want)
		}
	}
}

func TestParseCacheSize(t *testing.T) {
	for s, want := range map[string]int64{
		"48K": 48 << 10, "36M": 36 << 20, "1G": 1 << 30, "512": 512, "0K": 0,
		"": 0, "K": 0, "4k": 0, "-1K": 0, "1.5M": 0, "9223372036854775807": 0, "9007199254740993K": 0,
		"4503599627370496K": 1 << 62,
	} {
		if got := parseCount(s); got != want {
			t.Errorf("parseCount(%q) is %d; want %d", s, got, want)
		}
	}
}

const mounts1 = "" +
	"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" +
	"31 23 0:28 / /sys/fs/cgroup rw shared:9 - tmpfs tmpfs rw\n" +
	"32 31 0:29 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n" +
	"33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n" +
	"34 31 0:32 / /sys/fs/cgroup/memory rw shared:12 - cgroup cgroup rw,memory\n"

const mounts2 = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" +
	"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  float64
	}{
		{"v2", map[string]string{
			"proc/self/cgroup": "0::/user.slice/app\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/user.slice/app/cpu.max": "150000 100000\n",
		}, 1.5},
		{"v2 without a limit", map[string]string{
			"proc/self/cgroup": "0::/app\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/app/cpu.max": "max 100000\n",
		}, 0},
		{"v2, the parent is tighter", map[string]string{
			"proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/a/b/c/cpu.max": "400000 100000\n",
			"sys/fs/cgroup/a/b/cpu.max":   "max 100000\n",
			"sys/fs/cgroup/a/cpu.max":     "100000 50000\n",
		}, 2},
		{"v2 in a container", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/cpu.max": "50000 100000\n",
		}, 0.5},
		{"v2, group outside the namespace", map[string]string{
			"proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/cpu.max": "50000 100000\n",
		}, 0.5},
		{"v1", map[string]string{
			"proc/self/cgroup":    "9:name=systemd:/\n4:cpu,cpuacct:/docker/x\n3:cpuset:/y\n0::/z\n",
			"proc/self/mountinfo": mounts1,
			"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us":  "250000\n",
			"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000\n",
		}, 2.5},
		{"v1 without a limit", map[string]string{
			"proc/self/cgroup": "4:cpu,cpuacct:/\n", "proc/self/mountinfo": mounts1,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		}, 0},
		{"v1, only the container's part is mounted", map[string]string{
			"proc/self/cgroup":                    "4:cpu:/docker/x\n",
			"proc/self/mountinfo":                 "33 31 0:30 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "100000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 1},
		{"v1, a mount of a group with a longer name does not match", map[string]string{
			"proc/self/cgroup":        "4:cpu:/docker/xy\n",
			"proc/self/mountinfo":     "33 31 0:30 /docker/x /mnt rw - cgroup cgroup rw,cpu\n",
			"mnt/y/cpu.cfs_quota_us":  "100000\n",
			"mnt/y/cpu.cfs_period_us": "100000\n",
		}, 0},
		{"a mount point with a space", map[string]string{
			"proc/self/cgroup":    "0::/\n",
			"proc/self/mountinfo": "30 23 0:26 / /my\\040groups rw - cgroup2 none rw\n",
			"my groups/cpu.max":   "300000 100000\n",
		}, 3},
		{"odd content", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2, "sys/fs/cgroup/cpu.max": "many 100000\n",
		}, 0},
		{"one number", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2, "sys/fs/cgroup/cpu.max": "100000\n",
		}, 0},
		{"a period of 0", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mounts2, "sys/fs/cgroup/cpu.max": "100000 0\n",
		}, 0},
		{"odd lines", map[string]string{
			"proc/self/cgroup": "x\n0:\n\n", "proc/self/mountinfo": "x\n- - -\n", "sys/fs/cgroup/cpu.max": "100000 100000\n",
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if h := readTree(c.files); h.Quota != c.want {
				t.Errorf("quota is %v cores; want %v", h.Quota, c.want)
			}
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	const meminfo = "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n"
	v1 := func(limit, usage string) map[string]string {
		return map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:memory:/x\n", "proc/self/mountinfo": mounts1,
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": limit,
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": usage,
		}
	}
	v2 := func(limit, usage string) map[string]string {
		return map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/x\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/x/memory.max":     limit,
			"sys/fs/cgroup/x/memory.current": usage,
		}
	}
	stat := func(name, content string) map[string]string { return map[string]string{name: content} }
	const available = 8_000_000 << 10
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"v2", v2("1000000", "400000"), 600_000},
		{"v2, none", v2("max", "400000"), available},
		{"v2, above what is available", v2("15000000000", "1"), available},
		{"v2, used up", v2("1000", "2000"), 1},
		{"v2, usage missing", v2("1000", ""), available},
		{"v2, files can be taken back", with(v2("1000000", "400000"),
			stat("sys/fs/cgroup/x/memory.stat", "anon 150000\nfile 250000\nactive_file 50000\ninactive_file 200000\n")), 850_000},
		{"v2, more files than usage", with(v2("1000000", "400000"),
			stat("sys/fs/cgroup/x/memory.stat", "active_file 300000\ninactive_file 200000\n")), 900_000},
		{"v2, odd files", with(v2("1000000", "400000"),
			stat("sys/fs/cgroup/x/memory.stat", "active_file -1\ninactive_file x\n\n")), 600_000},
		{"v2, nothing else is known", map[string]string{
			"proc/self/cgroup": "0::/x\n", "proc/self/mountinfo": mounts2,
			"sys/fs/cgroup/x/memory.max": "1000000", "sys/fs/cgroup/x/memory.current": "400000",
		}, 600_000},
		{"v1", v1("1000000", "400000"), 600_000},
		{"v1, files can be taken back", with(v1("1000000", "400000"),
			stat("sys/fs/cgroup/memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 200000\ntotal_active_file 0\n")), 800_000},
		{"v1, none", v1("9223372036854771712", "400000"), available},
	} {
		if h := readTree(c.files); h.Free != c.want {
			t.Errorf("%s: free memory is %d; want %d", c.name, h.Free, c.want)
		}
	}
}

func FuzzReadLinux(f *testing.F) {
	f.Add("processor: 0\nmodel name: x\n", "MemTotal: 1 kB\n", "0-1", "0::/a\n", mounts2, "150000 100000")
	f.Add("CPU part: 1\nCPU implementer: 2", "MemTotal: x kB\n", "0,", "4:cpu:/../a\n", mounts1, "max 0")
	f.Fuzz(func(t *testing.T, cpuinfo, meminfo, online, group, mountinfo, value string) {
		files := map[string]string{
			"proc/cpuinfo": cpuinfo, "proc/meminfo": meminfo, "sys/devices/system/cpu/online": online,
			"proc/self/cgroup": group, "proc/self/mountinfo": mountinfo,
			"sys/fs/cgroup/cpu.max": value, "sys/fs/cgroup/a/cpu.max": value, "sys/fs/cgroup/memory.max": value,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": value, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": value,
		}
		h := readTree(with(files, cacheFiles(0, 0, value, value, value, value, online)))
		if !(h.Quota >= 0) || math.IsInf(h.Quota, 0) || h.Memory < 0 || h.Free < 0 || h.Cores < 1 {
			t.Errorf("host is %+v", h)
		}
		for _, c := range h.Caches {
			if c.Level < 1 || c.Bytes < 1 || c.LineBytes < 0 || c.Cores < 0 || c.Count < 1 {
				t.Errorf("cache is %+v", c)
			}
		}
		_ = h.String()
	})
}

func TestReadSysctl(t *testing.T) {
	n4 := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	n8 := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	read := func(texts map[string]string, numbers map[string][]byte) Host {
		h := Host{Cores: 1, Usable: 1}
		missing := errors.New("no such name")
		h.readSysctl(func(name string) (string, error) {
			if s, ok := texts[name]; ok {
				return s, nil
			}
			return "", missing
		}, func(name string, _ ...int) ([]byte, error) {
			if b, ok := numbers[name]; ok {
				return b, nil
			}
			return nil, missing
		})
		h.finish()
		return h
	}
	t.Run("two kinds of core", func(t *testing.T) {
		h := read(map[string]string{"machdep.cpu.brand_string": "A chip"}, map[string][]byte{
			"hw.logicalcpu_max": n4(8), "hw.memsize": n8(16 << 30), "hw.cachelinesize": n8(128), "hw.nperflevels": n4(2),
			"hw.perflevel0.logicalcpu_max": n4(4), "hw.perflevel0.physicalcpu_max": n4(2), "hw.perflevel0.l1dcachesize": n4(128 << 10), "hw.perflevel0.l1icachesize": n4(192 << 10),
			"hw.perflevel0.l2cachesize": n4(12 << 20), "hw.perflevel0.cpusperl2": n4(4),
			"hw.perflevel1.logicalcpu_max": n4(4), "hw.perflevel1.l1dcachesize": n4(64 << 10),
			"hw.perflevel1.l2cachesize": n4(4 << 20), "hw.perflevel1.cpusperl2": n4(4),
		})
		want := []Cache{
			{1, "data", 128 << 10, 128, 2, 2},
			{1, "data", 64 << 10, 128, 0, 0}, // how many share it is not told
			{1, "instruction", 192 << 10, 128, 2, 2},
			{2, "unified", 12 << 20, 128, 4, 1},
			{2, "unified", 4 << 20, 128, 4, 1},
		}
		if h.CPU != "A chip" || h.Cores != 8 || h.Memory != 16<<30 || h.Virtual || !slices.Equal(h.Caches, want) {
			t.Errorf("host is %+v; want caches %v", h, want)
		}
		if h.LastLevel(1) != 12<<20 || h.LastLevel(8) != 16<<20 || h.Core != (Core{L1: 64 << 10, L2: 1 << 20}) {
			t.Errorf("last levels are %v, a core has %+v", h.LastLevels, h.Core)
		}
	})
	t.Run("one kind of core", func(t *testing.T) {
		h := read(nil, map[string][]byte{
			"hw.l1dcachesize": n8(32 << 10), "hw.l2cachesize": n8(256 << 10), "hw.l3cachesize": n8(6 << 20), "hw.cachelinesize": n8(64), "kern.hv_vmm_present": n4(1),
		})
		want := []Cache{{1, "data", 32 << 10, 64, 0, 0}, {2, "unified", 256 << 10, 64, 0, 0}, {3, "unified", 6 << 20, 64, 0, 0}}
		if !h.Virtual || !slices.Equal(h.Caches, want) {
			t.Errorf("host is %+v; want caches %v", h, want)
		}
	})
	t.Run("nothing to read, odd sizes", func(t *testing.T) {
		h := read(nil, map[string][]byte{"hw.memsize": {1, 2, 3}, "hw.l2cachesize": n4(0xffffffff)})
		if h.CPU != "" || h.Cores != 1 || h.Memory != 0 || h.Caches != nil {
			t.Errorf("host is %+v", h)
		}
	})
}

func TestHostString(t *testing.T) {
	h := Host{
		CPU: "Some CPU", Virtual: true, Arch: "amd64", OS: "linux", Cores: 8, Usable: 4, GOMAXPROCS: 3, Quota: 2.5,
		Caches: []Cache{{Level: 1, Type: "data", Bytes: 48 << 10}, {Level: 1, Type: "instruction", Bytes: 32 << 10}, {Level: 3, Type: "unified", Bytes: 36 << 20}},
		Memory: 16 << 30, ISA: []string{"sse2", "avx", "avx2", "fma"}, GoVersion: "go1.26.0", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	want := "Some CPU (virtual machine), 8 logical cores (4 usable), GOMAXPROCS 3, CPU quota 2.5 cores, L1d 48 KiB, L3 36 MiB, 16 GiB memory, avx2 fma, linux/amd64, go1.26.0, 2026-01-02"
	if got := h.String(); got != want {
		t.Errorf("String is\n%q; want\n%q", got, want)
	}
	h.LastLevels = []int64{36 << 20, 36 << 20, 4 << 20}
	if got, want := h.String(), "L3 36 MiB, 3 last-level caches of 76 MiB in all, 16 GiB memory"; !strings.Contains(got, want) {
		t.Errorf("String is\n%q, without\n%q", got, want)
	}
	h = Host{Arch: "riscv64", OS: "plan9", Cores: 1, Usable: 1, GOMAXPROCS: 1, GoVersion: "go1.26.0", Date: h.Date}
	want = "CPU unknown, 1 logical core, GOMAXPROCS 1, caches unknown, memory unknown, plan9/riscv64, go1.26.0, 2026-01-02"
	if got := h.String(); got != want {
		t.Errorf("String is\n%q; want\n%q", got, want)
	}
	if got := (Cache{Level: 1, Type: "instruction", Bytes: 32 << 10}).String(); got != "L1i 32 KiB" {
		t.Errorf("cache is %q", got)
	}
}

// layer is a level of cache that each group of so many neighbouring CPUs shares.
type layer struct {
	level int
	kind  string
	size  string
	group int
}

// sys makes the tree of CPUs that all have the same layers. CPUs that are not in
// the list are offline: they have no caches and stand in no list of sharers.
func sys(cpus []int, layers ...layer) map[string]string {
	files := map[string]string{}
	for _, cpu := range cpus {
		for i, l := range layers {
			var shared []string
			for _, other := range cpus {
				if other/l.group == cpu/l.group {
					shared = append(shared, strconv.Itoa(other))
				}
			}
			maps.Copy(files, cacheFiles(cpu, i, strconv.Itoa(l.level)+"\n", l.kind+"\n", l.size+"\n", "64\n", strings.Join(shared, ",")+"\n"))
		}
	}
	return files
}

// sharers says which CPUs share a cache of some of them.
func sharers(index int, list string, cpus ...int) map[string]string {
	files := map[string]string{}
	for _, cpu := range cpus {
		files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index)] = list + "\n"
	}
	return files
}

func span(from, to int) (cpus []int) {
	for cpu := from; cpu <= to; cpu++ {
		cpus = append(cpus, cpu)
	}
	return cpus
}

// Which caches the threads reach together, and what a core can count on, on
// machines of all shapes.
func TestMachines(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	zen := []layer{{1, "Data", "32K", 1}, {1, "Instruction", "32K", 1}, {2, "Unified", "1024K", 1}, {3, "Unified", "32768K", 8}}
	xeon := []layer{{1, "Data", "48K", 1}, {2, "Unified", "2048K", 1}, {3, "Unified", "61440K", 28}}
	online := func(list string) map[string]string {
		return map[string]string{"sys/devices/system/cpu/online": list + "\n"}
	}
	allowed := func(list string) map[string]string {
		return map[string]string{"proc/self/status": "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t" + list + "\n"}
	}
	for _, c := range []struct {
		name   string
		usable int
		files  map[string]string
		caches string
		last   map[int]int64 // by threads
		core   Core
	}{
		{"a virtual machine with two cores of an EPYC of Zen 5", 2, with(online("0-1"), allowed("0-1"),
			sys(span(0, 1), layer{1, "Data", "48K", 1}, layer{1, "Instruction", "32K", 1}, layer{2, "Unified", "1024K", 1}, layer{3, "Unified", "32768K", 2})),
			"2 × L1d 48 KiB, 2 × L1i 32 KiB, 2 × L2 1 MiB, 1 × L3 32 MiB", map[int]int64{1: 32 * mib, 2: 32 * mib}, Core{48 * kib, mib, 16 * mib}},
		{"a virtual machine with two cores of a Xeon, whose L3 is all of the host's", 2, with(online("0-1"), allowed("0-1"),
			sys(span(0, 1), layer{1, "Data", "48K", 1}, layer{2, "Unified", "2048K", 1}, layer{3, "Unified", "491520K", 2})),
			"2 × L1d 48 KiB, 2 × L2 2 MiB, 1 × L3 480 MiB", map[int]int64{1: 480 * mib, 2: 480 * mib}, Core{48 * kib, 2 * mib, 240 * mib}},
		{"eight L3s", 64, with(online("0-63"), allowed("0-63"), sys(span(0, 63), zen...)),
			"64 × L1d 32 KiB, 64 × L1i 32 KiB, 64 × L2 1 MiB, 8 × L3 32 MiB", map[int]int64{1: 32 * mib, 3: 96 * mib, 8: 256 * mib, 64: 256 * mib}, Core{32 * kib, mib, 4 * mib}},
		{"two sockets", 56, with(online("0-55"), allowed("0-55"), sys(span(0, 55), xeon...)),
			"56 × L1d 48 KiB, 56 × L2 2 MiB, 2 × L3 60 MiB", map[int]int64{1: 60 * mib, 2: 120 * mib, 56: 120 * mib}, Core{48 * kib, 2 * mib, 61440 * kib / 28}},
		{"two sockets, a CPU set on one of them", 4, with(online("0-55"), allowed("30-33"), sys(span(0, 55), xeon...)),
			"56 × L1d 48 KiB, 56 × L2 2 MiB, 2 × L3 60 MiB", map[int]int64{1: 60 * mib, 4: 60 * mib}, Core{48 * kib, 2 * mib, 61440 * kib / 28}},
		{"eight L3s, a CPU set with holes over three of them", 5, with(online("0-63"), allowed("0,9,11,40-41"), sys(span(0, 63), zen...)),
			"64 × L1d 32 KiB, 64 × L1i 32 KiB, 64 × L2 1 MiB, 8 × L3 32 MiB", map[int]int64{1: 32 * mib, 2: 64 * mib, 5: 96 * mib}, Core{32 * kib, mib, 4 * mib}},
		{"offline CPUs take a whole L3 away", 20, with(online("0-7,16-27"), allowed("0-7,16-27"), sys(append(span(0, 7), span(16, 27)...), zen...)),
			"20 × L1d 32 KiB, 20 × L1i 32 KiB, 20 × L2 1 MiB, 1 × L3 32 MiB, 2 × L3 32 MiB", map[int]int64{20: 96 * mib}, Core{32 * kib, mib, 4 * mib}},
		{"hybrid cores: two fast ones, a cluster of four, and two that have no L3", 8, with(online("0-1,4-9"), allowed("0-1,4-9"),
			sys(span(0, 1), layer{1, "Data", "48K", 1}, layer{2, "Unified", "2560K", 1}, layer{3, "Unified", "12288K", 8}),
			sys(span(4, 7), layer{1, "Data", "32K", 1}, layer{2, "Unified", "4096K", 4}, layer{3, "Unified", "12288K", 8}),
			sys(span(8, 9), layer{1, "Data", "32K", 1}, layer{2, "Unified", "2048K", 2}),
			sharers(2, "0-1,4-7", 0, 1, 4, 5, 6, 7)), // one L3 for all that have one
			"2 × L1d 48 KiB, 6 × L1d 32 KiB, 1 × L2 4 MiB, 2 × L2 2.5 MiB, 1 × L2 2 MiB, 1 × L3 12 MiB", map[int]int64{1: 12 * mib, 2: 14 * mib, 8: 14 * mib}, Core{32 * kib, mib, 2 * mib}},
		{"a container without /sys", 4, allowed("0-3"), "", map[int]int64{1: 0, 4: 0}, Core{}},
		{"a thread that stays on one core says nothing of the process", 2, with(online("0-1"), allowed("1"), sys(span(0, 1), zen...)),
			"2 × L1d 32 KiB, 2 × L1i 32 KiB, 2 × L2 1 MiB, 1 × L3 32 MiB", map[int]int64{2: 32 * mib}, Core{32 * kib, mib, 16 * mib}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := Host{Cores: c.usable, Usable: c.usable, GOMAXPROCS: c.usable}
			h.readLinux(tree(c.files))
			h.finish()
			var caches []string
			for _, one := range h.Caches {
				caches = append(caches, fmt.Sprintf("%d × %v", one.Count, one))
			}
			if got := strings.Join(caches, ", "); got != c.caches {
				t.Errorf("caches are %s; want %s", got, c.caches)
			}
			for threads, want := range c.last {
				if got := h.LastLevel(threads); got != want {
					t.Errorf("%d threads reach %s of last-level caches; want %s", threads, size(got), size(want))
				}
			}
			if h.Core != c.core {
				t.Errorf("a core has %+v; want %+v", h.Core, c.core)
			}
		})
	}
}

// Four times all caches that the threads reach, unless memory is short.
func TestMemorySet(t *testing.T) {
	const mib, gib = 1 << 20, int64(1 << 30)
	eight := Host{LastLevels: slices.Repeat([]int64{32 * mib}, 8), Free: 64 * gib}
	small := eight
	small.Free = 2 * gib
	for _, c := range []struct {
		name    string
		h       Host
		threads int
		limit   int64
		want    int64
		doubt   string
	}{
		{"one thread, one cache", eight, 1, gib << 10, 128 * mib, ""},
		{"all caches", eight, 64, gib << 10, gib, ""},
		{"a quarter of what is free", small, 64, gib << 10, 512 * mib, "at most 512 MiB, 2 times the last-level caches of 256 MiB and not 4 times"},
		{"just enough", Host{LastLevels: []int64{32 * mib}, Memory: gib}, 1, gib, 128 * mib, ""},
		{"a limit", eight, 64, 100 * mib, 100 * mib, "0.39 times the last-level caches"},
		{"unknown caches", Host{Free: 8 * gib}, 2, gib, 256 * mib, "last-level cache is unknown"},
		{"nothing known", Host{}, 2, 64 * mib, 64 * mib, "unknown"},
	} {
		got, doubt := c.h.MemorySet(c.threads, c.limit)
		if got != c.want || !strings.Contains(doubt, c.doubt) || (doubt == "") != (c.doubt == "") {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, size(got), doubt, size(c.want), c.doubt)
		}
	}
}

// A container's limit bites: eight L3s, and 1 GiB that the cgroup leaves of 64.
func TestMemorySetInAContainer(t *testing.T) {
	h := Host{Cores: 64, Usable: 64}
	h.readLinux(tree(with(
		map[string]string{"sys/devices/system/cpu/online": "0-63", "proc/meminfo": "MemTotal: 67108864 kB\nMemAvailable: 66000000 kB\n",
			"proc/self/cgroup": "0::/x\n", "proc/self/mountinfo": mounts2, "sys/fs/cgroup/x/memory.max": "1073741824", "sys/fs/cgroup/x/memory.current": "0"},
		sys(span(0, 63), layer{1, "Data", "32K", 1}, layer{3, "Unified", "32768K", 8}))))
	h.finish()
	if got, doubt := h.MemorySet(64, 1<<40); got != 256<<20 || !strings.Contains(doubt, "at most 256 MiB, 1 times the last-level caches of 256 MiB and not 4 times") {
		t.Errorf("%s, %q", size(got), doubt)
	}
	if got, doubt := h.MemorySet(2, 1<<40); got != 256<<20 || doubt != "" {
		t.Errorf("two threads: %s, %q", size(got), doubt)
	}
}

// What GODEBUG takes away is not there, in a process of its own.
func TestHas(t *testing.T) {
	if want := os.Getenv("HOST_TEST_ABSENT"); want != "" {
		if Has(want) || slices.Contains(Read().ISA, want) {
			t.Errorf("%s is there in spite of GODEBUG=%s", want, os.Getenv("GODEBUG"))
		}
		return
	}
	if Has("sse2", "no such thing") || !Has() {
		t.Error("all of nothing is there, and what nobody knows is not")
	}
	for _, name := range []string{"avx2", "fma", "avx512f", "avx512bw"} {
		if !Has(name) {
			continue
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestHas$")
		cmd.Env = append(os.Environ(), "GODEBUG=cpu."+name+"=off", "HOST_TEST_ABSENT="+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("without %s: %v\n%s", name, err, out)
		}
	}
}

// This machine, whatever it is: facts are plausible, and survive JSON.
func TestReadHost(t *testing.T) {
	h := Read()
	if h.Arch != runtime.GOARCH || h.OS != runtime.GOOS || h.GoVersion != runtime.Version() || h.Date.IsZero() {
		t.Errorf("host is %+v", h)
	}
	if h.Usable < 1 || h.Cores < h.Usable || h.GOMAXPROCS < 1 || h.Quota < 0 {
		t.Errorf("cores are %d, usable %d, GOMAXPROCS %d, quota %v", h.Cores, h.Usable, h.GOMAXPROCS, h.Quota)
	}
	if h.Free > h.Memory {
		t.Errorf("free memory is %d of %d", h.Free, h.Memory)
	}
	if s := h.String(); strings.Contains(s, "\n") || !strings.Contains(s, h.OS+"/"+h.Arch) {
		t.Errorf("String is %q", s)
	}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Host
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !back.Date.Equal(h.Date) {
		t.Errorf("date is %v after JSON; was %v", back.Date, h.Date)
	}
	back.Date = h.Date
	if !reflect.DeepEqual(back, h) {
		t.Errorf("after JSON:\n%+v; was\n%+v", back, h)
	}
}
