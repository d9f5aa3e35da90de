package bench

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

// machine puts the samples together.
func (m *meter) machine() (roofline.Machine, error) {
	d := &roofline.Measured{
		Date:     m.start.UTC().Format(time.RFC3339),
		Host:     kept(m.host, m.o.Threads),
		Versions: map[string]string{"go": runtime.Version(), "method": methodVersion},
		Method:   method(),
	}
	d.Clock = clockOf(m.clock)
	if m.l1Load > 0 {
		d.L1Load = &roofline.L1Load{BytesPerCycle: m.l1Load}
		if memory, err := probe.NewMemory(""); err == nil {
			d.L1Load.Ports, d.L1Load.Source = loadPorts(m.host, memory.ISA())
		}
	}
	for _, p := range m.points {
		best, mid := slices.Max(p.rates), median(p.rates)
		if p.peak != nil {
			c := *p.peak
			c.FLOPS, c.Median, c.Samples = best, mid, p.rates
			d.Peaks = append(d.Peaks, c)
			continue
		}
		b := *p.bandwidth
		b.BytesPerS, b.Median, b.Samples = best, mid, p.rates
		b.WithWriteAllocate = best * roofline.WriteAllocate(b.Loop)
		d.Bandwidths = append(d.Bandwidths, b)
	}
	for _, t := range m.threadCounts() {
		levels, warnings := levelsOf(d.Bandwidths, t, m.host.Caches, m.inCache == "")
		d.Levels = append(d.Levels, levels...)
		m.warnings = append(m.warnings, warnings...)
	}
	d.Warnings = append(m.warnings, doubts(d, m.host)...)
	if w := shifted(m.points); w != "" {
		d.Warnings = append(d.Warnings, w)
	}
	d.Seconds = time.Since(m.start).Seconds()

	peak, err := d.Peak(m.o.Threads, "FP32", "")
	if err != nil {
		return roofline.Machine{}, err
	}
	outer := d.Levels[len(d.Levels)-1]
	cpu := cmp.Or(m.host.CPU, "unknown CPU")
	r := roofline.Machine{
		Name:   fmt.Sprintf("%s, %s", cpu, roofline.Threads(m.o.Threads)),
		Source: fmt.Sprintf("measured %s: peak with %s, bandwidth of %s", m.start.Format(time.DateOnly), peak.ISA, outer.Name),
		Format: peak.Format, ElemBytes: peak.ElemBytes, Peak: peak.FLOPS, Bandwidth: outer.Bandwidth, Measured: d,
	}
	if err := r.Validate(); err != nil {
		return r, err
	}
	return r, d.Validate()
}

// kept returns what the machine file keeps of a host.
func kept(h Host, threads int) roofline.Host {
	r := roofline.Host{
		CPU: h.CPU, Arch: h.Arch, OS: h.OS, Virtual: h.Virtual, Cores: h.Cores, Threads: threads,
		Quota: h.Quota, Memory: h.Memory, ISA: h.ISA,
	}
	for _, c := range h.Caches {
		if c.Type != "instruction" {
			r.Caches = append(r.Caches, roofline.Cache{Level: c.Level, Bytes: c.Bytes, Cores: c.Cores})
		}
	}
	return r
}

func clockOf(readings []float64) roofline.Clock {
	return roofline.Clock{Hz: slices.Max(readings), Least: slices.Min(readings), Most: slices.Max(readings), Samples: readings}
}

// method says how the figures were found.
func method() []string {
	return []string{
		"Every figure is the best of its samples, which are all kept; the median stands beside it. A sample lasts about a millisecond, and is the time from the first thread's begin to the last one's end. Each figure is visited twice at least, at different times of the run, if time allows.",
		"Peaks: independent chains of multiply-adds in registers, one multiply-add counted as 2 FLOPs; where the CPU has no fused multiply-add, multiplies and adds apart.",
		"Bandwidths: loops over arrays of float64 with the widest vectors, again and again over one working set; over the largest one with the next narrower vectors too. Bytes are those that the program sees: 8 an element for a load, 16 for a copy, 24 for a triad a = b + s·c. With write-allocate counts the read of each stored line too: 24 for a copy, 32 for a triad. Streaming stores read no line first, and are loops of their own.",
		"A working set that takes long to go through is sampled part by part in turn, so that each part has been left alone for as long as in a whole pass.",
		"Levels: stretches of the load curve over which the rate stays about the same. A level's bandwidth is the most that any loop saw there.",
		"Clock: a chain of dependent adds of two registers, one a cycle.",
	}
}

const (
	wideSpread  = 0.05 // of a best rate above its median
	clockMoved  = 0.05
	lowLoad     = 0.85 // of what the load ports can do
	namedSpread = 3    // as many are named in the warning
)

// doubts returns the reasons for doubt that the figures give.
func doubts(d *roofline.Measured, h Host) []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if h.Quota > 0 {
		warn("the CPU quota is %.4g cores, and %s were used: the system stops the threads when the quota is used up", h.Quota, plural(d.Host.Threads, "thread"))
	}
	if c := d.Clock; c.Most > (1+clockMoved)*c.Least {
		warn("the clock moved between %.3g and %.3g GHz during the run: the roofs are those of the fastest moments", c.Least/1e9, c.Most/1e9)
	}
	var w wides
	for _, p := range d.Peaks {
		w.note(nameOfPeak(p), p.FLOPS/p.Median-1)
	}
	for _, b := range d.Bandwidths {
		w.note(nameOfBandwidth(b), b.BytesPerS/b.Median-1)
	}
	if len(w) > 0 {
		warn("wide spread: in %d of %d figures the best lies more than %.0f%% above the median (most: %s): other work disturbed the run", len(w), len(d.Peaks)+len(d.Bandwidths), 100*wideSpread, w.most())
	}
	if l := d.L1Load; l != nil && l.Ports > 0 && l.BytesPerCycle < lowLoad*l.Ports {
		warn("loads from L1 reach %.3g bytes a cycle, and the load ports can do %.3g: the roof of L1 may be too low", l.BytesPerCycle, l.Ports)
	}
	return all
}

// shifted returns a reason for doubt where the machine was faster at one time of
// the run than at another, while the samples of each visit agreed. Then the next
// run may see the one or the other.
func shifted(points []*point) string {
	var w wides
	for _, p := range points {
		if p.peak != nil {
			w.note(nameOfPeak(*p.peak), p.apart())
		} else {
			w.note(nameOfBandwidth(*p.bandwidth), p.apart())
		}
	}
	if len(w) == 0 {
		return ""
	}
	return fmt.Sprintf("wide spread: in %d of %d figures the best of one visit lies more than %.0f%% above that of another (most: %s): another run may find other figures", len(w), len(points), 100*wideSpread, w.most())
}

func nameOfPeak(p roofline.ComputePeak) string {
	return fmt.Sprintf("%s %s on %s", p.ISA, p.Format, roofline.Threads(p.Threads))
}

func nameOfBandwidth(b roofline.BandwidthPoint) string {
	return fmt.Sprintf("%s of %s on %s", b.Loop, binarySize(b.WorkingSet), roofline.Threads(b.Threads))
}

// A wide is a figure whose spread is wide.
type wide struct {
	what   string
	spread float64
}

type wides []wide

// note adds a figure if its spread is wide, or no number.
func (w *wides) note(what string, spread float64) {
	if !(spread <= wideSpread) {
		*w = append(*w, wide{what, spread})
	}
}

// most names the widest.
func (w wides) most() string {
	sorted := slices.Clone(w)
	slices.SortStableFunc(sorted, func(a, b wide) int { return cmp.Compare(b.spread, a.spread) })
	var names []string
	for _, x := range sorted[:min(namedSpread, len(sorted))] {
		names = append(names, fmt.Sprintf("%s by %.0f%%", x.what, 100*x.spread))
	}
	return strings.Join(names, ", ")
}

// A loadPort is how many bytes one core can load from its first-level cache in
// a cycle, for CPUs where that is published.
type loadPort struct {
	match  func(cpu string, has func(isa string) bool) bool
	isa    string // of the loop
	bytes  float64
	source string
}

func intel(cpu string) bool { return strings.Contains(cpu, "Intel") }

// loadPortTable holds what is the same for all CPUs that a rule matches. A CPU
// that no rule matches has no known figure.
var loadPortTable = []loadPort{
	{
		// Skylake server to Granite Rapids, Ice Lake to Rocket Lake: all of Intel's
		// cores with AVX-512 have two ports that load 64 bytes each.
		func(cpu string, has func(string) bool) bool { return intel(cpu) && has("avx512f") },
		"avx512", 2 * 64,
		"Intel 64 and IA-32 Architectures Optimization Reference Manual (248966), cache parameters of the Skylake server and later microarchitectures: two 64-byte loads a cycle",
	},
	{
		// Zen 4 names: EPYC 9xx4, Ryzen 7xxx. One 64-byte load or two of 32 bytes.
		func(cpu string, has func(string) bool) bool {
			return amd(cpu, "EPYC 9", '4') && has("avx512f")
		},
		"avx512", 64,
		"AMD Software Optimization Guide for the Zen 4 Microarchitecture (57647), load-store unit: one 64-byte or two 32-byte loads a cycle",
	},
	{
		// Zen 2 and Zen 3: EPYC 7xx2 and 7xx3.
		func(cpu string, has func(string) bool) bool {
			return (amd(cpu, "EPYC 7", '2') || amd(cpu, "EPYC 7", '3')) && has("avx2")
		},
		"avx2", 2 * 32,
		"AMD Software Optimization Guide for Family 17h Models 30h and Greater (56305) and Family 19h (56665), load-store unit: two 32-byte loads a cycle",
	},
}

// amd reports whether the CPU is an AMD server part whose four-digit number
// follows the prefix and ends in the digit of its generation.
func amd(cpu, prefix string, generation byte) bool {
	_, rest, ok := strings.Cut(cpu, "AMD "+prefix)
	if !ok || len(rest) < 3 {
		return false
	}
	for _, c := range rest[:2] {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return rest[2] == generation
}

// loadPorts returns the bytes a cycle that one core of a known CPU can load with
// an instruction set, and the source; 0 if they are not known.
func loadPorts(h Host, isa string) (bytes float64, source string) {
	has := func(isa string) bool { return slices.Contains(h.ISA, isa) }
	for _, p := range loadPortTable {
		if p.isa == isa && p.match(h.CPU, has) {
			return p.bytes, p.source
		}
	}
	return 0, ""
}
