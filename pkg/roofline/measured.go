package roofline

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Measured says how the figures of a measured machine were found, and keeps all
// of them: every instruction set, every level of memory, every sample.
type Measured struct {
	Date     string            `json:"date"`    // when it began, RFC 3339
	Seconds  float64           `json:"seconds"` // how long it took
	Host     Host              `json:"host"`
	Method   []string          `json:"method"` // sentences
	Versions map[string]string `json:"versions"`

	Clock      Clock            `json:"clock"`
	L1Load     *L1Load          `json:"l1_load,omitempty"`
	Peaks      []ComputePeak    `json:"peaks"`
	Bandwidths []BandwidthPoint `json:"bandwidths"`
	// Levels holds the levels of memory for one thread, innermost first, then
	// those for all threads if there is more than one.
	Levels []Level `json:"levels"`

	Warnings []string `json:"warnings,omitempty"` // reasons for doubt
}

// Host is the machine that was measured. What is unknown is 0 or empty.
type Host struct {
	CPU     string  `json:"cpu,omitempty"`
	Arch    string  `json:"arch"`
	OS      string  `json:"os"`
	Virtual bool    `json:"virtual,omitempty"` // a hypervisor tells the cores and the caches
	Cores   int     `json:"cores"`             // logical cores
	Threads int     `json:"threads"`           // that the measurement used at most
	Quota   float64 `json:"cpu_quota_cores,omitempty"`
	Caches  []Cache `json:"caches,omitempty"`
	Memory  int64   `json:"memory_bytes,omitempty"`
	// ISA names the vector instruction sets of the CPU.
	ISA []string `json:"isa,omitempty"`
}

// Cache is a data or unified cache as the system reports it.
type Cache struct {
	Level int   `json:"level"`
	Bytes int64 `json:"bytes"`
	Cores int   `json:"cores,omitempty"` // logical cores that share one, 0 if unknown
}

// Clock is the clock of one core while it does dependent adds, one a cycle.
type Clock struct {
	Hz      float64   `json:"hz"`      // of the best sample
	Least   float64   `json:"least"`   // the slowest of the readings over the run, Hz
	Most    float64   `json:"most"`    // the fastest of them
	Samples []float64 `json:"samples"` // readings in their order, Hz, each the best of some short ones
}

// L1Load holds the load bandwidth of the first-level cache against what the load
// ports of one core can do.
type L1Load struct {
	// BytesPerCycle was measured: the rate of loads, divided by the clock that
	// was read right after them. Wide vectors can slow the clock down.
	BytesPerCycle float64 `json:"bytes_per_cycle"`
	// Ports is the published number of load ports times the bytes that each
	// loads in a cycle, 0 if it is not known for this CPU.
	Ports  float64 `json:"ports_bytes_per_cycle,omitempty"`
	Source string  `json:"ports_source,omitempty"`
}

// ComputePeak is the peak of some threads with one instruction set.
type ComputePeak struct {
	ISA       string    `json:"isa"`
	Fused     bool      `json:"fused"`  // multiply and add in one instruction
	Format    string    `json:"format"` // "FP32" or "FP64"
	ElemBytes int64     `json:"elem_bytes"`
	Threads   int       `json:"threads"`
	FLOPS     float64   `json:"flops"`   // FLOP/s of the best sample
	Median    float64   `json:"median"`  // FLOP/s
	Samples   []float64 `json:"samples"` // FLOP/s, in their order
}

// The loops that measure bandwidth.
const (
	LoadLoop        = "load"         // reads one array
	CopyLoop        = "copy"         // a = b
	TriadLoop       = "triad"        // a = b + s·c
	CopyStreamLoop  = "copy-stream"  // a = b with streaming stores
	TriadStreamLoop = "triad-stream" // a = b + s·c with streaming stores
)

// Loops lists them.
func Loops() []string {
	return []string{LoadLoop, CopyLoop, TriadLoop, CopyStreamLoop, TriadStreamLoop}
}

// WriteAllocate returns how many bytes move for each byte that the program
// sees, when a store first reads its line: 24/16 for a copy, 32/24 for a triad,
// 1 for loads and for streaming stores.
func WriteAllocate(loop string) float64 {
	switch loop {
	case CopyLoop:
		return 24.0 / 16
	case TriadLoop:
		return 32.0 / 24
	}
	return 1
}

// BandwidthPoint is the bandwidth of some threads that go through a working set
// again and again with one loop.
type BandwidthPoint struct {
	Loop    string `json:"loop"` // one of [Loops]
	ISA     string `json:"isa"`
	Threads int    `json:"threads"`
	// WorkingSet is the bytes of all arrays of all threads together.
	WorkingSet int64 `json:"working_set_bytes"`
	// BytesPerS is the best sample, in bytes that the program sees: 8 an element
	// for a load, 16 for a copy, 24 for a triad.
	BytesPerS float64 `json:"bytes_per_s"`
	// WithWriteAllocate counts the read of each line that is stored to as well.
	WithWriteAllocate float64   `json:"with_write_allocate"`
	Median            float64   `json:"median"`  // as BytesPerS
	Samples           []float64 `json:"samples"` // as BytesPerS, in their order
}

// Level is a level of memory as some threads see it: a stretch of working sets
// over which the bandwidth stays about the same.
type Level struct {
	Name    string `json:"name"` // "L1", "L2", …, or "memory"
	Threads int    `json:"threads"`
	// Reported is the capacity that the system reports, of all such caches that
	// the threads use together. 0 for memory, or if it is unknown.
	Reported int64 `json:"reported_bytes,omitempty"`
	From     int64 `json:"from_bytes"` // the least working set that is on this level
	To       int64 `json:"to_bytes"`   // the largest
	// Bandwidth is the roof: the most bytes a second that any loop saw.
	Bandwidth float64 `json:"bandwidth_bytes_per_s"`
	// Rates holds bytes a second for each loop, as the program sees them.
	Rates map[string]float64 `json:"rates"`
}

// Validate returns an error that names the first figure that cannot be right.
func (d *Measured) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("roofline: measured "+format, args...)
	}
	if d.Date == "" {
		return bad("date is empty: it must say when")
	}
	if d.Host.Threads < 1 {
		return bad("host.threads is %d: it must be at least 1", d.Host.Threads)
	}
	type rate struct {
		key   string
		value float64
	}
	rates := func(what string, values []rate, samples []float64) error {
		for _, r := range values {
			if !(r.value > 0) || math.IsInf(r.value, 1) {
				return bad("%s: %s is %g: it must be positive and finite", what, r.key, r.value)
			}
		}
		if len(samples) == 0 {
			return bad("%s: samples is empty: every sample must be kept", what)
		}
		for i, v := range samples {
			if !(v > 0) || math.IsInf(v, 1) {
				return bad("%s: samples[%d] is %g: it must be positive and finite", what, i, v)
			}
		}
		return nil
	}
	if err := rates("clock", []rate{{"hz", d.Clock.Hz}, {"least", d.Clock.Least}, {"most", d.Clock.Most}}, d.Clock.Samples); err != nil {
		return err
	}
	if l := d.L1Load; l != nil {
		if !(l.BytesPerCycle > 0) || math.IsInf(l.BytesPerCycle, 1) || !(l.Ports >= 0) || math.IsInf(l.Ports, 1) {
			return bad("l1_load: %g and %g bytes a cycle: they must be positive and finite", l.BytesPerCycle, l.Ports)
		}
	}
	if len(d.Peaks) == 0 || len(d.Bandwidths) == 0 || len(d.Levels) == 0 {
		return bad("machine has %d peaks, %d bandwidths and %d levels: it needs at least one of each", len(d.Peaks), len(d.Bandwidths), len(d.Levels))
	}
	for i, p := range d.Peaks {
		what := fmt.Sprintf("peaks[%d]", i)
		switch {
		case p.ISA == "" || p.Format == "":
			return bad("%s: isa is %q and format %q: both must be named", what, p.ISA, p.Format)
		case p.Threads < 1:
			return bad("%s: threads is %d: it must be at least 1", what, p.Threads)
		case p.ElemBytes < 1:
			return bad("%s: elem_bytes is %d: it must be at least 1", what, p.ElemBytes)
		}
		if err := rates(what, []rate{{"flops", p.FLOPS}, {"median", p.Median}}, p.Samples); err != nil {
			return err
		}
	}
	for i, p := range d.Bandwidths {
		what := fmt.Sprintf("bandwidths[%d]", i)
		switch {
		case !slices.Contains(Loops(), p.Loop):
			return bad("%s: loop is %q: it must be one of %s", what, p.Loop, strings.Join(Loops(), ", "))
		case p.Threads < 1:
			return bad("%s: threads is %d: it must be at least 1", what, p.Threads)
		case p.WorkingSet < 1:
			return bad("%s: working_set_bytes is %d: it must be at least 1", what, p.WorkingSet)
		}
		values := []rate{{"bytes_per_s", p.BytesPerS}, {"with_write_allocate", p.WithWriteAllocate}, {"median", p.Median}}
		if err := rates(what, values, p.Samples); err != nil {
			return err
		}
	}
	for i, l := range d.Levels {
		what := fmt.Sprintf("levels[%d]", i)
		switch {
		case l.Name == "":
			return bad("%s: name is empty: a level needs a name", what)
		case l.Threads < 1:
			return bad("%s: threads is %d: it must be at least 1", what, l.Threads)
		case l.From < 1 || l.To < l.From:
			return bad("%s: working sets from %d to %d bytes: they must be positive and rise", what, l.From, l.To)
		case l.Reported < 0:
			return bad("%s: reported_bytes is %d: it must not be negative", what, l.Reported)
		case !(l.Bandwidth > 0) || math.IsInf(l.Bandwidth, 1):
			return bad("%s: bandwidth_bytes_per_s is %g: it must be positive and finite", what, l.Bandwidth)
		}
		for _, loop := range slices.Sorted(maps.Keys(l.Rates)) {
			v := l.Rates[loop]
			if !slices.Contains(Loops(), loop) || !(v > 0) || math.IsInf(v, 1) {
				return bad("%s: rate of %q is %g: it must be one of %s, positive and finite", what, loop, v, strings.Join(Loops(), ", "))
			}
		}
	}
	return nil
}

// Peak returns the measured peak for a number of threads and a number format
// ("FP32" or "FP64"), with the instruction set isa, or with the fastest for "".
func (d *Measured) Peak(threads int, format, isa string) (ComputePeak, error) {
	var best ComputePeak
	var have []string
	for _, p := range d.Peaks {
		have = append(have, fmt.Sprintf("%s %s on %s", p.Format, p.ISA, Threads(p.Threads)))
		if p.Threads == threads && p.Format == format && (isa == "" || p.ISA == isa) && p.FLOPS > best.FLOPS {
			best = p
		}
	}
	if best.FLOPS == 0 {
		return best, fmt.Errorf("roofline: no measured peak for %s on %s with instruction set %q: there are %s", format, Threads(threads), isa, strings.Join(have, "; "))
	}
	return best, nil
}

// Threads says a number of threads in words: "one core", "2 cores".
func Threads(n int) string {
	if n == 1 {
		return "one core"
	}
	return fmt.Sprintf("%d cores", n)
}

// Roofs returns the roofs of a machine for a number of threads and a number
// format, innermost level first: a machine for each level of memory, whose
// bandwidth is that level's. All share one peak, with the instruction set isa,
// or the fastest for "". A machine that was not measured has one level: itself,
// for any number of threads, and format and isa must be its own, or empty.
func (m Machine) Roofs(threads int, format, isa string) ([]Machine, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Measured == nil {
		if format != "" && format != m.Format || isa != "" {
			return nil, fmt.Errorf("roofline: format is %q and instruction set %q: %s is known for %s only", format, isa, m.Name, m.Format)
		}
		return []Machine{m}, nil
	}
	peak, err := m.Measured.Peak(threads, format, isa)
	if err != nil {
		return nil, err
	}
	var roofs []Machine
	for _, l := range m.Measured.Levels {
		if l.Threads != threads {
			continue
		}
		r := Machine{
			Name: l.Name + ", " + Threads(threads), Source: m.Source, Format: peak.Format, ElemBytes: peak.ElemBytes,
			Peak: peak.FLOPS, Bandwidth: l.Bandwidth, Tolerance: Slack,
		}
		if err := r.Validate(); err != nil {
			return nil, err
		}
		roofs = append(roofs, r)
	}
	if len(roofs) == 0 {
		return nil, fmt.Errorf("roofline: threads is %d: no level was measured with so many", threads)
	}
	return roofs, nil
}

// RoofFor returns the roof that a program is held against whose data take so
// many bytes: that of the innermost level which holds them all. The other
// arguments are those of [Machine.Roofs].
func (m Machine) RoofFor(threads int, format, isa string, bytes int64) (Machine, error) {
	if bytes < 1 {
		return Machine{}, fmt.Errorf("roofline: bytes is %d: it must be at least 1", bytes)
	}
	roofs, err := m.Roofs(threads, format, isa)
	switch {
	case err != nil:
		return Machine{}, err
	case m.Measured == nil:
		return m, nil
	}
	var levels []Level
	for _, l := range m.Measured.Levels {
		if l.Threads == threads {
			levels = append(levels, l)
		}
	}
	// Between two levels the data fit in part: such a program may be as fast as
	// the inner one allows.
	for i := range levels[1:] {
		if bytes < levels[i+1].From {
			return roofs[i], nil
		}
	}
	return roofs[len(roofs)-1], nil
}
