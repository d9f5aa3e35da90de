package matmul

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// readCaches reads what Linux says about the first CPU's caches.
func readCaches() Caches { return readCachesIn("/sys/devices/system/cpu/cpu0/cache") }

func readCachesIn(dir string) Caches {
	var c Caches
	for i := range 10 {
		read := func(name string) string {
			text, _ := os.ReadFile(fmt.Sprintf("%s/index%d/%s", dir, i, name))
			return strings.TrimSpace(string(text))
		}
		if t := read("type"); t != "Data" && t != "Unified" {
			continue
		}
		size, err := strconv.ParseInt(strings.TrimSuffix(read("size"), "K"), 10, 64)
		if err != nil {
			continue
		}
		size *= int64(1024)
		switch read("level") {
		case "1":
			c.L1 = size
		case "2":
			c.L2 = size / int64(cpusIn(read("shared_cpu_list")))
		case "3":
			c.L3 = size / int64(cpusIn(read("shared_cpu_list")))
		}
	}
	return c
}

// cpusIn counts the CPUs of a list like "0-3,8", at least 1.
func cpusIn(list string) int {
	count := 0
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA == nil && errB == nil && a <= b {
			count += b - a + 1
		}
	}
	return max(1, count)
}
