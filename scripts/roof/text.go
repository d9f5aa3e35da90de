package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memorywall/pkg/machine"
	"memorywall/scripts/internal/command"
)

// names of the number formats as programs call them.
var names = map[string]string{"FP32": "float32", "FP64": "float64", "INT8": "int8"}

func formatName(format string) string { return cmp.Or(names[format], format) }

// columns prints rows so that the right edges of their cells stand below each other.
func columns(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t")+"\t")
	}
	t.Flush()
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

// printMachine prints a machine that was measured.
func printMachine(w io.Writer, m machine.Machine) {
	d := m.Measured
	fmt.Fprintf(w, "%s\n%s\n", m.Name, m.Source)
	h := d.Host
	about := []string{h.OS + "/" + h.Arch, d.Versions["go"], fmt.Sprintf("%d logical cores", h.Cores)}
	if h.Virtual {
		about = append(about, "virtual machine")
	}
	for _, c := range h.Caches {
		if c.Type != "instruction" {
			about = append(about, fmt.Sprintf("L%d %s", c.Level, size(c.Bytes)))
		}
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
	var threads []int
	var outer []machine.Level // of so many threads
	for _, l := range d.Levels {
		if n := len(threads); n == 0 || threads[n-1] != l.Threads {
			threads, outer = append(threads, l.Threads), append(outer, l)
		}
		outer[len(outer)-1] = l
	}
	for _, c := range d.Calls {
		fmt.Fprintf(w, "Starting work on %s: %.3g µs\n", machine.Threads(c.Threads), c.Seconds*1e6)
	}

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
			q, _ := d.Peak(t, p.Format, p.ISA) // or zero, which is a dash
			row = append(row, fmt.Sprintf("%s (%s)", giga(q.FLOPS), giga(q.Median)))
		}
		rows = append(rows, row)
	}
	columns(w, rows)

	fmt.Fprintln(w, "\nBandwidth, GB/s as the program sees it, and the ridge point of each roof in FLOP/byte")
	rows = [][]string{{"level", "working sets"}}
	rows[0] = append(rows[0], machine.Loops()...)
	rows[0] = append(rows[0], "roof", "ridge float32", "ridge float64")
	for _, l := range d.Levels {
		row := []string{l.Name + ", " + machine.Threads(l.Threads), size(l.From) + " – " + size(l.To)}
		for _, loop := range machine.Loops() {
			row = append(row, giga(l.Rates[loop]))
		}
		row = append(row, giga(l.Bandwidth))
		for _, format := range []string{"FP32", "FP64"} {
			ridge := "–"
			if p, err := d.Peak(l.Threads, format, ""); err == nil {
				ridge = fmt.Sprintf("%.3g", p.FLOPS/l.Bandwidth)
			}
			row = append(row, ridge)
		}
		rows = append(rows, row)
	}
	columns(w, rows)
	fmt.Fprintln(w, "  The program sees 16 bytes an element in a copy and 24 in a triad. A plain store first")
	fmt.Fprintln(w, "  reads its line (write-allocate), which makes 24 and 32; a streaming store does not.")
	for _, last := range outer {
		if v := last.Rates[machine.TriadLoop]; v > 0 {
			fmt.Fprintf(w, "  Triad on %s of %s: %s GB/s seen, %s GB/s with write-allocate.\n", machine.Threads(last.Threads), last.Name,
				giga(v), giga(v*machine.WriteAllocate(machine.TriadLoop)))
		}
	}
	if len(d.Tuning) > 0 {
		fmt.Fprintln(w, "\nMultiplies of few rows: what suits this machine")
	}
	for _, c := range d.Tuning {
		fmt.Fprintln(w, "  "+c.String())
	}
	if len(d.Warnings) > 0 {
		fmt.Fprintln(w, "\nReasons for doubt")
		for _, s := range d.Warnings {
			fmt.Fprintln(w, "  - "+s)
		}
	}
}

// A figure is a line of the comparison of two machines.
type figure struct {
	name  string
	value float64
	text  func(float64) string
}

// figures returns what two machines are compared by; "all cores" is each machine's
// own number.
func figures(m machine.Machine) []figure {
	all := []figure{
		{"peak, GFLOP/s", m.Peak, giga},
		{"bandwidth, GB/s", m.Bandwidth, giga},
		{"ridge, FLOP/byte", m.Ridge(), func(v float64) string { return fmt.Sprintf("%.3g", v) }},
	}
	if m.Measured == nil {
		return all
	}
	on := func(threads int) string {
		if threads == 1 {
			return "one core"
		}
		return "all cores"
	}
	for _, p := range m.Measured.Peaks {
		all = append(all, figure{fmt.Sprintf("%s %s on %s, GFLOP/s", p.ISA, formatName(p.Format), on(p.Threads)), p.FLOPS, giga})
	}
	for _, l := range m.Measured.Levels {
		all = append(all, figure{fmt.Sprintf("%s on %s, GB/s", l.Name, on(l.Threads)), l.Bandwidth, giga})
	}
	return all
}

// compare prints two machine files side by side: the figures of both or either,
// matched by name.
func compare(w io.Writer, paths []string) error {
	var b strings.Builder
	var names []figure
	var values [2]map[string]float64
	for i, path := range paths {
		m, err := machine.Load(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%c  %s: %s, %s (%s)\n", 'A'+i, path, m.Name, m.Format, m.Source)
		values[i] = map[string]float64{}
		for _, f := range figures(m) {
			if values[0][f.name] == 0 && values[i][f.name] == 0 {
				names = append(names, f)
			}
			values[i][f.name] = max(values[i][f.name], f.value)
		}
	}
	rows := [][]string{{"", "A", "B", "B / A"}}
	for _, f := range names {
		x, y, ratio := values[0][f.name], values[1][f.name], "–"
		if x > 0 && y > 0 {
			ratio = fmt.Sprintf("%.3g", y/x)
		}
		rows = append(rows, []string{f.name, f.text(x), f.text(y), ratio})
	}
	columns(&b, rows)
	_, err := io.WriteString(w, command.Line(b.String()))
	return err
}
