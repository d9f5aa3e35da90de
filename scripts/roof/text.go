package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"memorywall/pkg/machine"
	"memorywall/scripts/internal/command"
)

// names of the number formats as programs call them.
var names = map[string]string{"FP32": "float32", "FP64": "float64"}

func formatName(format string) string { return cmp.Or(names[format], format) }

// columns prints rows so that the columns stand below each other: the first to
// the left, the others to the right.
func columns(w io.Writer, rows [][]string) {
	var width []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		line := "  "
		for i, cell := range r {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line += cell + space
			} else {
				line += "  " + space + cell
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func giga(v float64) string {
	switch {
	case v == 0:
		return "–"
	case v >= 99.95e9:
		return fmt.Sprintf("%.0f", v/1e9)
	}
	return fmt.Sprintf("%.1f", v/1e9)
}

func size(n int64) string {
	v := float64(n)
	for _, u := range []string{"B", "KiB", "MiB", "GiB"} {
		if v < 1000 || u == "GiB" {
			return fmt.Sprintf("%.3g %s", v, u)
		}
		v /= 1024
	}
	return ""
}

func printMachine(w io.Writer, m machine.Machine) {
	fmt.Fprintln(w, m.Name)
	fmt.Fprintln(w, m.Source)
	d := m.Measured
	if d == nil {
		fmt.Fprintf(w, "  peak %s GFLOP/s in %s, bandwidth %s GB/s\n", giga(m.Peak), m.Format, giga(m.Bandwidth))
		return
	}
	h := d.Host
	about := []string{h.OS + "/" + h.Arch, d.Versions["go"], fmt.Sprintf("%d logical cores", h.Cores)}
	if h.Virtual {
		about = append(about, "virtual machine")
	}
	for _, c := range h.Caches {
		if c.Type == "instruction" {
			continue
		}
		about = append(about, fmt.Sprintf("L%d %s", c.Level, size(c.Bytes)))
	}
	fmt.Fprintf(w, "%s; %s, %.1f s\n", strings.Join(about, ", "), d.Date, d.Seconds)
	fmt.Fprintf(w, "Clock: %.2f GHz (%.2f to %.2f over the run)\n", d.Clock.Hz/1e9, d.Clock.Min/1e9, d.Clock.Max/1e9)
	if l := d.L1Load; l != nil {
		fmt.Fprintf(w, "Loads from L1: %.0f bytes a cycle", l.BytesPerCycle)
		if l.Ports > 0 {
			fmt.Fprintf(w, "; the load ports can do %.0f (%s)", l.Ports, l.Source)
		}
		fmt.Fprintln(w)
	}
	threads := threadsOf(d)

	fmt.Fprintln(w, "\nPeak, GFLOP/s: best (median)")
	rows := [][]string{{""}}
	for _, t := range threads {
		rows[0] = append(rows[0], machine.Threads(t))
	}
	for _, p := range d.Peaks {
		if p.Threads != threads[0] {
			continue
		}
		row := []string{p.ISA + " " + formatName(p.Format)}
		for _, t := range threads {
			q, err := d.Peak(t, p.Format, p.ISA)
			if err != nil {
				row = append(row, "–")
				continue
			}
			row = append(row, fmt.Sprintf("%s (%s)", giga(q.FLOPS), giga(q.Median)))
		}
		rows = append(rows, row)
	}
	columns(w, rows)

	fmt.Fprintln(w, "\nBandwidth, GB/s as the program sees it, and the ridge point of each roof in FLOP/byte")
	rows = [][]string{{"level", "working sets"}}
	rows[0] = append(rows[0], machine.Loops()...)
	rows[0] = append(rows[0], "roof", "ridge float32", "ridge float64")
	for _, t := range threads {
		for _, l := range d.Levels {
			if l.Threads != t {
				continue
			}
			row := []string{l.Name + ", " + machine.Threads(t), size(l.From) + " – " + size(l.To)}
			for _, loop := range machine.Loops() {
				row = append(row, giga(l.Rates[loop]))
			}
			row = append(row, giga(l.Bandwidth))
			for _, format := range []string{"FP32", "FP64"} {
				ridge := "–"
				if p, err := d.Peak(t, format, ""); err == nil {
					ridge = fmt.Sprintf("%.3g", p.FLOPS/l.Bandwidth)
				}
				row = append(row, ridge)
			}
			rows = append(rows, row)
		}
	}
	columns(w, rows)
	fmt.Fprintln(w, "  The program sees 16 bytes an element in a copy and 24 in a triad. A plain store first")
	fmt.Fprintln(w, "  reads its line (write-allocate), which makes 24 and 32; a streaming store does not.")
	for _, t := range threads {
		last := lastLevel(d, t)
		if v := last.Rates[machine.TriadLoop]; v > 0 {
			fmt.Fprintf(w, "  Triad on %s of %s: %s GB/s seen, %s GB/s with write-allocate.\n", machine.Threads(t), last.Name,
				giga(v), giga(v*machine.WriteAllocate(machine.TriadLoop)))
		}
	}
	if len(d.Warnings) > 0 {
		fmt.Fprintln(w, "\nReasons for doubt")
		for _, s := range d.Warnings {
			fmt.Fprintln(w, "  - "+s)
		}
	}
}

func threadsOf(d *machine.Measured) []int {
	var all []int
	for _, l := range d.Levels {
		all = append(all, l.Threads)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func lastLevel(d *machine.Measured, threads int) machine.Level {
	var last machine.Level
	for _, l := range d.Levels {
		if l.Threads == threads {
			last = l
		}
	}
	return last
}

// compare prints two machine files side by side.
func compare(w io.Writer, paths []string) error {
	var machines []machine.Machine
	for _, p := range paths {
		m, err := machine.Load(p)
		if err != nil {
			return err
		}
		machines = append(machines, m)
	}
	var b strings.Builder
	for i, m := range machines {
		fmt.Fprintf(&b, "%c  %s: %s (%s)\n", 'A'+i, paths[i], m.Name, m.Source)
	}
	rows := [][]string{{"", "A", "B", "B / A"}}
	add := func(name string, values [2]float64, text func(float64) string) {
		if values[0] == 0 && values[1] == 0 {
			return
		}
		ratio := "–"
		if values[0] > 0 && values[1] > 0 {
			ratio = fmt.Sprintf("%.3g", values[1]/values[0])
		}
		rows = append(rows, []string{name, text(values[0]), text(values[1]), ratio})
	}
	var peaks, bandwidths, ridges [2]float64
	formats := ""
	for i, m := range machines {
		ridge := m.Ridge()
		peaks[i], bandwidths[i], ridges[i] = m.Peak, m.Bandwidth, ridge
		formats += fmt.Sprintf(" %c %s", 'A'+i, m.Format)
	}
	plain := func(v float64) string { return fmt.Sprintf("%.3g", v) }
	add("peak, GFLOP/s ("+strings.TrimSpace(formats)+")", peaks, giga)
	add("bandwidth, GB/s", bandwidths, giga)
	add("ridge, FLOP/byte", ridges, plain)

	// Then whatever both or either has, matched by name; "all" is each machine's own number.
	type part struct {
		name   string
		values [2]float64
	}
	var parts []*part
	put := func(i int, name string, v float64) {
		for _, p := range parts {
			if p.name == name {
				p.values[i] = max(p.values[i], v)
				return
			}
		}
		p := &part{name: name}
		p.values[i] = v
		parts = append(parts, p)
	}
	for i, m := range machines {
		d := m.Measured
		if d == nil {
			continue
		}
		on := func(threads int) string {
			if threads == 1 {
				return "one core"
			}
			return "all cores"
		}
		for _, p := range d.Peaks {
			put(i, fmt.Sprintf("%s %s on %s, GFLOP/s", p.ISA, formatName(p.Format), on(p.Threads)), p.FLOPS)
		}
		for _, l := range d.Levels {
			put(i, fmt.Sprintf("%s on %s, GB/s", l.Name, on(l.Threads)), l.Bandwidth)
		}
	}
	for _, p := range parts {
		add(p.name, p.values, giga)
	}
	columns(&b, rows)
	_, err := io.WriteString(w, command.Line(b.String()))
	return err
}
