package machine

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memorywall/pkg/bench"
	"memorywall/pkg/probe"
)

const (
	clockMoved = 0.05
	lowLoad    = 0.85 // of what the load ports can do
	named      = 3    // as many figures are named in a warning
)

// doubts returns the reasons for doubt that the figures give.
func doubts(d *Measured) []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if q := d.Host.Quota; q > 0 && q < float64(d.Host.Threads) {
		warn("the CPU quota is %.4g cores, and %s were used: the system stops the threads when the quota is used up", q, bench.Plural(d.Host.Threads, "thread"))
	}
	if c := d.Clock; c.Max > (1+clockMoved)*c.Min {
		warn("the clock moved between %.3g and %.3g GHz during the run: the roofs are those of the fastest moments", c.Min/1e9, c.Max/1e9)
	}
	if l := d.L1Load; l != nil && l.Ports > 0 && l.BytesPerCycle < lowLoad*l.Ports {
		warn("loads from L1 reach %.3g bytes a cycle, and the load ports can do %.3g: the roof of L1 may be too low", l.BytesPerCycle, l.Ports)
	}
	return all
}

// disturbed returns in two lines which results have a median far from the best, and
// which have a best that one visit alone saw.
func disturbed(results []bench.Result) []string {
	type wide struct {
		name string
		far  float64
	}
	line := func(what string, far func(bench.Result) float64) []string {
		var all []wide
		for _, r := range results {
			if v := far(r); !(v <= wideSpread) {
				all = append(all, wide{r.Name, v})
			}
		}
		if len(all) == 0 {
			return nil
		}
		slices.SortStableFunc(all, func(a, b wide) int { return cmp.Compare(b.far, a.far) })
		var names []string
		for _, w := range all[:min(named, len(all))] {
			names = append(names, fmt.Sprintf("%s by %.0f%%", w.name, 100*w.far))
		}
		return []string{fmt.Sprintf("wide spread: in %d of %d figures "+what, len(all), len(results), 100*wideSpread, strings.Join(names, ", "))}
	}
	return append(line("the best lies more than %.0f%% above the median (most: %s): other work disturbed the run", func(r bench.Result) float64 { return r.Spread }),
		line("the best of one visit lies more than %.0f%% above that of any other (most: %s): another run may find other figures", bench.Result.Apart)...)
}

// loadPorts are the bytes that one core can load from its first-level cache in a
// cycle, by CPU and the instruction set of the loop, where that is published.
var loadPorts = []struct {
	cpu    *regexp.Regexp
	isa    string
	bytes  float64
	source string
}{
	{
		// Skylake server to Granite Rapids, Ice Lake to Rocket Lake: all of Intel's
		// cores with AVX-512 have two ports that load 64 bytes each.
		regexp.MustCompile(`Intel`), probe.AVX512, 2 * 64,
		"Intel 64 and IA-32 Architectures Optimization Reference Manual (248966), cache parameters of the Skylake server and later microarchitectures: two 64-byte loads a cycle",
	},
	{
		// Zen 4: EPYC 9xx4. One 64-byte load or two of 32 bytes.
		regexp.MustCompile(`AMD EPYC 9[0-9A-Z]{2}4`), probe.AVX512, 64,
		"AMD Software Optimization Guide for the Zen 4 Microarchitecture (57647), load-store unit: one 64-byte or two 32-byte loads a cycle",
	},
	{
		// Zen 2 and Zen 3: EPYC 7xx2 and 7xx3.
		regexp.MustCompile(`AMD EPYC 7[0-9A-Z]{2}[23]`), probe.AVX2, 2 * 32,
		"AMD Software Optimization Guide for Family 17h Models 30h and Greater (56305) and Family 19h (56665), load-store unit: two 32-byte loads a cycle",
	},
}

// loadPort returns the bytes a cycle that one core of a known CPU can load with an
// instruction set, and the source; 0 if they are not known.
func loadPort(cpu, isa string) (bytes float64, source string) {
	for _, p := range loadPorts {
		if p.isa == isa && p.cpu.MatchString(cpu) {
			return p.bytes, p.source
		}
	}
	return 0, ""
}
