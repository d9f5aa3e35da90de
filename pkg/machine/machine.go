// Package machine is the reader's own machine: what is known of the host, its roofs,
// measured, and the file that keeps them.
//
// # The machine file
//
// [Encode] and [Decode] write and read a machine as JSON, measured or from a data
// sheet. The file is an object with these keys; rates are in FLOP/s and bytes/s,
// sizes in bytes, times in seconds, and GB or GiB appear nowhere:
//
//	schema                 1, the version of this form ([SchemaVersion])
//	name, source           what machine, and where the figures come from
//	format, elem_bytes     number format of the peak ("FP32") and bytes of an element
//	peak_flops             for a measured machine: all threads, widest instructions
//	bandwidth_bytes_per_s  for a measured machine: all threads, outermost level
//	latency_s              of a launch, a hop or a call; left out where it is 0
//	measured               only for a measured machine, the keys of [Measured]:
//	  date                 when it began, in the form of RFC 3339
//	  seconds              how long it took
//	  asked_seconds        how long it was asked to take
//	  host                 [MeasuredHost]: cpu, arch, os, cores, threads, caches, isa …
//	  method               sentences: how each figure was found, and what it counts
//	  versions             of the program and of Go
//	  clock                [Clock]: hz, least, most, samples
//	  l1_load              [L1Load]: bytes_per_cycle against ports_bytes_per_cycle
//	  peaks                [ComputePeak]: isa, format, threads, flops, median, samples
//	  bandwidths           [BandwidthPoint]: loop, isa, threads, working_set_bytes,
//	                       bytes_per_s, with_write_allocate, median, samples
//	  levels               [Level]: name, threads, reported_bytes, from_bytes,
//	                       to_bytes, bandwidth_bytes_per_s, and the rate of each loop
//	  calls                [Call]: what starting work costs, by threads
//	  tuning               [Choice]: numbers of the multiplies that suit this machine
//	  warnings             reasons for doubt
//
// A key may be added without a new version; readers ignore keys that they do
// not know. A key that changes its meaning makes a new version.
package machine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/host"
	"memorywall/pkg/roofline"
)

// Host is what is known of the machine and of what this process may use of it.
type Host = host.Host

// ReadHost reads the facts now.
func ReadHost() Host { return host.Read() }

// Machine is a machine of the model, and how its figures were measured.
type Machine struct {
	roofline.Machine
	// Measured is what a measured machine has beyond the two numbers. It is nil
	// for a machine from a data sheet.
	Measured *Measured `json:"measured,omitempty"`
}

// Measured says how the figures of a measured machine were found, and keeps all
// of them: every instruction set, every level of memory, every sample.
type Measured struct {
	Date     string            `json:"date" min:"1"`                    // when it began, RFC 3339
	Seconds  float64           `json:"seconds" min:"0"`                 // how long it took
	Asked    float64           `json:"asked_seconds,omitempty" min:"0"` // how long it was asked to take; 0 in older files
	Host     MeasuredHost      `json:"host" min:"0"`
	Method   []string          `json:"method"` // sentences
	Versions map[string]string `json:"versions"`

	Clock      Clock            `json:"clock"`
	L1Load     *L1Load          `json:"l1_load,omitempty"`
	Peaks      []ComputePeak    `json:"peaks" min:"1"`
	Bandwidths []BandwidthPoint `json:"bandwidths" min:"1"`
	// Levels holds the levels of memory for one thread, innermost first, then
	// those for all threads if there is more than one.
	Levels []Level  `json:"levels" min:"1"`
	Calls  []Call   `json:"calls,omitempty"`
	Tuning []Choice `json:"tuning,omitempty"`

	Warnings []string `json:"warnings,omitempty"` // reasons for doubt
}

// MeasuredHost is the machine that was measured. What is unknown is 0 or empty.
type MeasuredHost struct {
	host.Host
	Threads int `json:"threads" min:"1"` // that the measurement used at most
}

// Clock is the clock of one core while it does dependent adds, one a cycle.
type Clock struct {
	Hz      float64   `json:"hz"`              // of the best sample
	Min     float64   `json:"least"`           // the slowest of the readings over the run, Hz
	Max     float64   `json:"most"`            // the fastest of them
	Samples []float64 `json:"samples" min:"1"` // readings in their order, Hz, each the best of some short ones
}

// L1Load holds the load bandwidth of the first-level cache against what the load
// ports of one core can do.
type L1Load struct {
	// BytesPerCycle was measured: the rate of loads, divided by the clock that
	// was read right after them. Wide vectors can slow the clock down.
	BytesPerCycle float64 `json:"bytes_per_cycle"`
	// Ports is the published number of load ports times the bytes that each
	// loads in a cycle, 0 if it is not known for this CPU.
	Ports  float64 `json:"ports_bytes_per_cycle,omitempty" min:"0"`
	Source string  `json:"ports_source,omitempty"`
}

// ComputePeak is the peak of some threads with one instruction set.
type ComputePeak struct {
	ISA       string    `json:"isa" min:"1"`
	Fused     bool      `json:"fused"`          // multiply and add in one instruction
	Format    string    `json:"format" min:"1"` // "FP32", "FP64" or "INT8"
	ElemBytes int64     `json:"elem_bytes" min:"1"`
	Threads   int       `json:"threads" min:"1"`
	FLOPS     float64   `json:"flops"`           // FLOP/s of the best sample
	Median    float64   `json:"median"`          // FLOP/s
	Samples   []float64 `json:"samples" min:"1"` // FLOP/s, in their order
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

// arrays returns how many arrays a loop reads and how many it writes.
func arrays(loop string) (loads, stores int64) {
	switch loop {
	case LoadLoop:
		return 1, 0
	case CopyLoop, CopyStreamLoop:
		return 1, 1
	}
	return 2, 1
}

// WriteAllocate returns how many bytes move for each byte that a loop sees:
// [roofline.WriteAllocate], or 1 for streaming stores, which read no line.
func WriteAllocate(loop string) float64 {
	if loop == CopyStreamLoop || loop == TriadStreamLoop {
		return 1
	}
	return roofline.WriteAllocate(arrays(loop))
}

// BandwidthPoint is the bandwidth of some threads that go through a working set
// again and again with one loop.
type BandwidthPoint struct {
	Loop    string `json:"loop"` // one of [Loops]
	ISA     string `json:"isa"`
	Threads int    `json:"threads" min:"1"`
	// WorkingSet is the bytes of all arrays of all threads together.
	WorkingSet int64 `json:"working_set_bytes" min:"1"`
	// BytesPerS is the best sample, in bytes that the program sees: 8 an element
	// for a load, 16 for a copy, 24 for a triad.
	BytesPerS float64 `json:"bytes_per_s"`
	// WithWriteAllocate counts the read of each line that is stored to as well.
	WithWriteAllocate float64   `json:"with_write_allocate"`
	Median            float64   `json:"median"`          // as BytesPerS
	Samples           []float64 `json:"samples" min:"1"` // as BytesPerS, in their order
}

// Level is a level of memory as some threads see it: a stretch of working sets
// over which the bandwidth stays about the same.
type Level struct {
	// Name is "L1", "L2", …, "memory", or "cache or memory" where the working sets do
	// not go far enough beyond the caches.
	Name    string `json:"name" min:"1"`
	Threads int    `json:"threads" min:"1"`
	// Reported is the capacity that the system reports, of all such caches that
	// the threads use together. 0 for memory, or if it is unknown.
	Reported int64 `json:"reported_bytes,omitempty"`
	From     int64 `json:"from_bytes" min:"1"` // the smallest working set that is on this level
	To       int64 `json:"to_bytes"`           // the largest
	// Bandwidth is the roof: the most bytes a second that any loop saw.
	Bandwidth float64 `json:"bandwidth_bytes_per_s"`
	// Rates holds bytes a second for each loop, as the program sees them.
	Rates map[string]float64 `json:"rates"`
}

// Call is what it costs to start work: for one thread a multiply of one by one
// element, for several the start of that many goroutines, until all are at work at once, and
// their end.
type Call struct {
	Threads int       `json:"threads" min:"1"`
	Seconds float64   `json:"seconds"` // of the best sample
	Median  float64   `json:"median"`
	Samples []float64 `json:"samples" min:"1"`
}

// Validate returns an error that names the first figure that cannot be right. What
// a figure must be stands in its tag: positive and finite, if there is none; with
// min:"1" at least 1, and not empty; with min:"0" at least 0, and all that is in it.
func (d *Measured) Validate() error {
	if err := figures(reflect.ValueOf(*d), "", ""); err != nil {
		return err
	}
	for i, c := range d.Host.Caches {
		if c.Level < 1 || c.Bytes < 1 {
			return bad(fmt.Sprintf("host.caches[%d]", i), fmt.Sprintf("L%d of %d bytes", c.Level, c.Bytes), "both positive")
		}
	}
	if c := d.Clock; c.Min > c.Max {
		return bad("clock.least", c.Min, "at most clock.most, %g", c.Max)
	}
	err := sampled("clock.hz", d.Clock.Hz, d.Clock.Hz, slices.Max(d.Clock.Samples), false)
	for i, p := range d.Peaks {
		err = cmp.Or(err, sampled(fmt.Sprintf("peaks[%d].flops", i), p.FLOPS, p.Median, slices.Max(p.Samples), p.Median > p.FLOPS))
	}
	for i, p := range d.Bandwidths {
		err = cmp.Or(err, known(fmt.Sprintf("bandwidths[%d].loop", i), p.Loop), sampled(fmt.Sprintf("bandwidths[%d].bytes_per_s", i), p.BytesPerS, p.Median, slices.Max(p.Samples), p.Median > p.BytesPerS))
	}
	for i, c := range d.Calls {
		err = cmp.Or(err, sampled(fmt.Sprintf("calls[%d].seconds", i), c.Seconds, c.Median, slices.Min(c.Samples), c.Median < c.Seconds))
	}
	for i, l := range d.Levels {
		if l.To < l.From {
			err = cmp.Or(err, bad(fmt.Sprintf("levels[%d].to_bytes", i), l.To, "at least from_bytes, %d", l.From))
		}
		for _, loop := range slices.Sorted(maps.Keys(l.Rates)) {
			err = cmp.Or(err, known(fmt.Sprintf("levels[%d].rates", i), loop))
		}
	}
	for i, c := range d.Tuning {
		if c.Tried != nil && !slices.ContainsFunc(c.Tried, func(t Trial) bool { return t.Value == c.Value }) {
			err = cmp.Or(err, bad(fmt.Sprintf("tuning[%d].value", i), c.Value, "one of the values that were tried"))
		}
	}
	return err
}

// bad says what a figure is, and what it must be.
func bad(path string, value any, must string, args ...any) error {
	return fmt.Errorf("machine: measured %s is %v: it must be %s", path, value, fmt.Sprintf(must, args...))
}

func known(path, loop string) error {
	if slices.Contains(Loops(), loop) {
		return nil
	}
	return bad(path, strconv.Quote(loop), "of %s", strings.Join(Loops(), ", "))
}

// sampled checks a figure that is the best of its samples, the end of their range;
// better says that their median is better than the figure.
func sampled(path string, best, median, end float64, better bool) error {
	switch {
	case better:
		return bad(path, best, "no worse than the median, %g", median)
	case math.Abs(best-end) > 1e-9*best: // the digits of a file are rounded
		return bad(path, best, "the best of its samples, %g", end)
	}
	return nil
}

// figures checks what is in v against the tags; min is that of v.
func figures(v reflect.Value, path, min string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return figures(v.Elem(), path, min)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || f.Type == reflect.TypeFor[time.Time]() {
				continue
			}
			inner := strings.TrimSuffix(strings.TrimPrefix(path+"."+name, "."), ".")
			rule := f.Tag.Get("min")
			if rule == "" && min == "0" {
				rule = min
			}
			if err := figures(v.Field(i), inner, rule); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if min == "1" && v.Len() == 0 {
			return bad(path, "empty", "one or more")
		}
		for i := range v.Len() {
			if err := figures(v.Index(i), fmt.Sprintf("%s[%d]", path, i), min); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }) {
			if err := figures(v.MapIndex(key), path+"."+key.String(), min); err != nil {
				return err
			}
		}
	case reflect.Float64:
		switch x := v.Float(); {
		case min == "0" && (!(x >= 0) || math.IsInf(x, 1)):
			return bad(path, x, "finite and at least 0")
		case min != "0" && (!(x > 0) || math.IsInf(x, 1)):
			return bad(path, x, "positive and finite")
		}
	case reflect.Int, reflect.Int64:
		if low := int64(len(strings.TrimLeft(min, "0"))); v.Int() < low {
			return bad(path, v.Int(), "at least %d", low)
		}
	case reflect.String:
		if min == "1" && v.String() == "" {
			return bad(path, "empty", "named")
		}
	}
	return nil
}

// Peak returns the measured peak for a number of threads and a number format
// ("FP32", "FP64" or "INT8", which older files have not), with the instruction set isa, or with the fastest for "".
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
		return best, arg.Errorf("threads", threads, "machine: no measured peak for %s on %s with instruction set %q: there are %s", format, Threads(threads), isa, strings.Join(have, "; "))
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

// Latency returns the seconds that it costs to start work on so many threads, or 0
// if that was not measured.
func (d *Measured) Latency(threads int) float64 {
	for _, c := range d.Calls {
		if c.Threads == threads {
			return c.Seconds
		}
	}
	return 0
}

// Results returns the figures as the harness knows them, by names that go on with
// their conditions as those of Go's benchmarks do.
func (d *Measured) Results() []bench.Result {
	var all []bench.Result
	add := func(name string, threads int, w bench.Work, rates []float64) {
		r := bench.Result{Name: name, Threads: threads, Work: w, Calls: 1}
		for _, rate := range rates {
			r.Samples = append(r.Samples, max(w.FLOPs, w.Bytes)/rate)
		}
		all = append(all, r)
	}
	for _, p := range d.Peaks {
		add(fmt.Sprintf("peak/isa=%s/format=%s", p.ISA, p.Format), p.Threads, bench.Work{FLOPs: 1e6}, p.Samples)
	}
	for _, p := range d.Bandwidths {
		add(fmt.Sprintf("bandwidth/isa=%s/loop=%s/bytes=%d", p.ISA, p.Loop, p.WorkingSet), p.Threads, bench.Work{Bytes: float64(p.WorkingSet)}, p.Samples)
	}
	for _, c := range d.Calls {
		all = append(all, bench.Result{Name: "call", Threads: c.Threads, Calls: 1, Samples: c.Samples})
	}
	return all
}

// Roofs returns the roofs of a machine for a number of threads and a number
// format, innermost level first: a machine for each level of memory, whose
// bandwidth is that level's. All share one peak, with the instruction set isa,
// or the fastest for "". A machine that was not measured has one level: itself,
// for any number of threads. It panics if there is no such peak or no such level.
func (m Machine) Roofs(threads int, format, isa string) []roofline.Machine {
	_, roofs := m.roofs(threads, format, isa)
	return roofs
}

func (m Machine) roofs(threads int, format, isa string) (levels []Level, roofs []roofline.Machine) {
	if m.Measured == nil {
		if format != "" && format != m.Format || isa != "" {
			arg.Refuse("format", format, "machine: format is %q and instruction set %q: %s is known for %s only", format, isa, m.Name, m.Format)
		}
		return []Level{{}}, []roofline.Machine{m.Machine}
	}
	peak, err := m.Measured.Peak(threads, format, isa)
	arg.Check(err)
	for _, l := range m.Measured.Levels {
		if l.Threads == threads {
			levels = append(levels, l)
			roofs = append(roofs, roofline.Machine{
				Name: l.Name + ", " + Threads(threads), Source: m.Source, Format: peak.Format, ElemBytes: peak.ElemBytes,
				Peak: peak.FLOPS, Bandwidth: l.Bandwidth, Latency: m.Measured.Latency(threads), Tolerance: roofline.Slack,
			})
		}
	}
	if len(roofs) == 0 {
		arg.Refuse("threads", threads, "machine: threads is %d: no level was measured with so many", threads)
	}
	return levels, roofs
}

// RoofFor returns the roof that a program is held against whose data take so
// many bytes: that of the innermost level which has room for them all. It panics
// where [Machine.Roofs] does, and if bytes is below 1.
func (m Machine) RoofFor(threads int, format, isa string, bytes int64) roofline.Machine {
	arg.Size("machine", "bytes", bytes)
	levels, roofs := m.roofs(threads, format, isa)
	for i, l := range levels[:len(levels)-1] {
		room := l.Reported
		if room == 0 {
			room = l.To
		}
		if bytes <= room {
			return roofs[i]
		}
	}
	return roofs[len(roofs)-1]
}

// Memory returns the roof of the outermost level. It panics where [Machine.Roofs]
// does.
func (m Machine) Memory(threads int, format, isa string) roofline.Machine {
	roofs := m.Roofs(threads, format, isa)
	return roofs[len(roofs)-1]
}
