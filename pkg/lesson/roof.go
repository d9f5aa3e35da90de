package lesson

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/internal/svg"
	"memorywall/pkg/roofline"
)

// Dot is a program under a roof.
type Dot = roofline.Dot

// Roofline is the figure of attainable performance against arithmetic
// intensity, both on log axes: one roof for each machine with its ridge point
// marked, and the dots with their names. It ends the cell when a machine or a
// dot has no place on the figure.
//
// No program can be above its roof. A dot that is, by more than
// [roofline.Slack], is drawn with a cross before its name, and below the figure
// stands an error with the likely cause.
func Roofline(id, title, alt string, machines []roofline.Machine, dots []Dot) Figure {
	f, err := rooflineFigure(id, title, alt, machines, dots)
	Check(err)
	return f
}

// The roofs are computed for all intensities that a roofline shows, so the
// products of what it shows must be values of a figure too.
const roofReach = 1e140

func rooflineFigure(id, title, alt string, machines []roofline.Machine, dots []Dot) (Figure, error) {
	f := Figure{
		ID: id, Title: title, Alt: alt,
		X:        Axis{Name: "arithmetic intensity", Unit: "FLOP/byte", Log: true},
		Y:        Axis{Name: "performance", Unit: "FLOP/s", Log: true},
		lowMarks: true, plainLines: true,
	}
	if len(machines) == 0 {
		return f, fmt.Errorf("lesson: figure %q: machines is empty: give at least one", id)
	}
	shown := func(who, what, unit string, v float64) error {
		if v >= 1/roofReach && v <= roofReach {
			return nil
		}
		return fmt.Errorf("lesson: figure %q: %s: %s is %v %s: a roofline shows values from %v to %v", id, who, what, v, unit, 1/roofReach, roofReach)
	}
	dots = slices.Clone(dots)
	lo, hi := math.Inf(1), 0.0
	names := make(map[string]roofline.Machine)
	one, brief := true, true // one peak, names that fit above a roof
	for _, m := range machines {
		if err := m.Validate(); err != nil {
			return f, err
		}
		r := m.Ridge()
		who := fmt.Sprintf("machine %q", m.Name)
		if err := cmp.Or(
			shown(who, "peak", "FLOP/s", m.Peak),
			shown(who, "bandwidth", "bytes/s", m.Bandwidth),
			shown(who, "ridge point", "FLOP/byte", r),
		); err != nil {
			return f, err
		}
		lo, hi = min(lo, r), max(hi, r)
		names[m.Name] = m
		one = one && m.Peak == machines[0].Peak
		brief = brief && svg.Wide(m.Name) < defaultWidth/4
	}
	for i, d := range dots {
		dots[i].On = cmp.Or(d.On, machines[0].Name)
		own, ok := names[dots[i].On]
		if !ok {
			return f, fmt.Errorf("lesson: figure %q: dot %q is held against %q: no machine of the figure has that name", id, d.Name, d.On)
		}
		who := fmt.Sprintf("dot %q", d.Name)
		if err := shown(who, "intensity", "FLOP/byte", d.Intensity); err != nil {
			return f, err
		}
		if d.FLOPS == 0 {
			dots[i].FLOPS = own.Attainable(d.Intensity)
		}
		if err := shown(who, "performance", "FLOP/s", dots[i].FLOPS); err != nil {
			return f, err
		}
		if above, ok := roofline.AboveRoof(own.CheckDot(d.Name, d.Intensity, dots[i].FLOPS)); ok {
			dots[i].Name = aboveRoof + nameOr(d.Name, "program")
			f.failures = append(f.failures, failure{
				doubt: true,
				title: "A dot above its roof",
				what:  nameOr(d.Name, "program"),
				rows: [][2]string{
					{"roof", above.Machine},
					{"attainable at " + num.Value(threeDigits(d.Intensity), "FLOP/byte", 0), SI(above.Roof, "FLOP/s")},
					{"measured", SI(above.FLOPS, "FLOP/s")},
				},
				advice: "No program can do that: " + above.Cause + ". Measure the roof and the program again, in one run.",
			})
		}
		lo, hi = min(lo, d.Intensity), max(hi, d.Intensity)
	}
	// Half a decade of slope and of roof at least, to the next whole decade.
	lo = math.Pow(10, math.Floor(math.Log10(lo)-0.5))
	hi = math.Pow(10, math.Ceil(math.Log10(hi)+0.5))
	f.namedAlong = one || brief
	own, shared := ownNames(machines)
	for i, m := range machines {
		f.addRoof(m, i, len(machines), lo, hi, one, own[i], shared)
	}
	if len(machines) == 1 {
		// How far the dots are below their roof.
		for _, d := range dots {
			limit := machines[0].Attainable(d.Intensity)
			if d.FLOPS >= limit/2 {
				continue
			}
			if k := slices.IndexFunc(f.gaps, func(g gap) bool { return g.x == d.Intensity }); k >= 0 { // one line for all of one intensity
				f.gaps[k].y0 = min(f.gaps[k].y0, d.FLOPS)
				continue
			}
			f.gaps = append(f.gaps, gap{d.Intensity, d.FLOPS, limit})
		}
	}
	if len(dots) > 0 {
		s := Series{Name: "programs", Kind: Dots}
		for _, d := range dots {
			s.Points = append(s.Points, Point{X: d.Intensity, Y: d.FLOPS, Label: nameOr(d.Name, "program")})
		}
		f.Series = append(f.Series, s)
	}
	f.Table = rooflineTable(machines, names, dots)
	return f, nil
}

// ownNames takes what all the names of the machines end in, from a comma on, as
// shared: "L1, one core" and "L2, one core" are L1 and L2, both of one core.
func ownNames(machines []roofline.Machine) (own []string, shared string) {
	for i, m := range machines {
		name, rest := m.Name, ""
		if k := strings.LastIndex(name, ", "); k > 0 {
			name, rest = name[:k], name[k+2:]
		}
		if i > 0 && rest != shared {
			rest = ""
		}
		shared = rest
		own = append(own, name)
	}
	if shared == "" || len(machines) < 2 {
		own = nil
		for _, m := range machines {
			own = append(own, m.Name)
		}
		return own, ""
	}
	return own, shared
}

// addRoof adds the roof of machine i of n, from lo to hi FLOP/byte. one tells
// that all have one peak; own names this among those of a figure, and shared is
// what their names have in common.
func (f *Figure) addRoof(m roofline.Machine, i, n int, lo, hi float64, one bool, own, shared string) {
	ridge := m.Ridge()
	// Many points, so that the tooltip can be had anywhere along the roof.
	const perDecade = 20
	decades := math.Log10(hi / lo)
	xs := []float64{ridge}
	for k := range int(math.Round(decades*perDecade)) + 1 {
		xs = append(xs, lo*math.Pow(10, float64(k)/perDecade))
	}
	slices.Sort(xs)
	f.Series = append(f.Series, Curve(m.Name, xs, m.Attainable))
	unit := "FLOP/byte"
	if n > 1 {
		unit = "" // the axis says it, and there are several
	}
	f.Marks = append(f.Marks, Mark{Axis: 'x', At: ridge, Label: "ridge " + num.Value(threeDigits(ridge), unit, 0)})
	peak, slope := SI(m.Peak, "FLOP/s"), SI(m.Bandwidth, "B/s")
	// Roofs of one machine share their peak: it is named once.
	named := slices.ContainsFunc(f.along, func(a along) bool { return a.From[1] == m.Peak && a.To[1] == m.Peak })
	switch {
	case n > 1 && f.namedAlong && !one && named:
		slope = m.Name + ", " + slope
	case n == 1 || f.namedAlong && !one:
		peak = m.Name + ", peak " + peak
	case f.namedAlong:
		slope = own + ", " + slope
		peak = "peak " + peak
		if shared != "" {
			peak = shared + ", " + peak
		}
	}
	if !named {
		f.along = append(f.along, along{[2]float64{ridge, m.Peak}, [2]float64{hi, m.Peak}, peak, i})
	}
	f.along = append(f.along, along{[2]float64{lo, m.Bandwidth * lo}, [2]float64{ridge, m.Peak}, slope, i})
	if n == 1 {
		f.shades = append(f.shades, [2]float64{lo, ridge})
		foot := [2]float64{ridge, m.Bandwidth * lo}
		f.asides = append(f.asides, aside{foot, "← memory-bound", "left"}, aside{foot, "compute-bound →", "right"})
	}
}

// aboveRoof marks the name of a dot that lies above its roof.
const aboveRoof = "✗ "

func threeDigits(v float64) float64 {
	p := math.Pow(10, 2-math.Floor(math.Log10(v)))
	if v >= 100 {
		return math.Round(v*10) / 10
	}
	return math.Round(v*p) / p
}

// rooflineTable is the table of the ridges and of dots, each On one of the machines.
func rooflineTable(machines []roofline.Machine, names map[string]roofline.Machine, dots []Dot) *Table {
	t := &Table{
		Columns: []string{"point", "intensity, FLOP/byte", "performance", "of the peak", "of its roof", "bound"},
		heads:   []string{"point", "arithmetic intensity (FLOP/byte)", "performance (FLOP/s)", "of the peak (%)", "of its roof (%)", "bound"},
	}
	row := func(name string, m roofline.Machine, intensity, flops, roof float64, bound string) {
		share := func(whole float64) written {
			percent := 100 * flops / whole
			return written{percent, fmt.Sprintf("%.3g%%", percent)}
		}
		t.Rows = append(t.Rows, []any{name, intensity, written{flops, SI(flops, "FLOP/s")}, share(m.Peak), share(roof), bound})
	}
	for _, m := range machines {
		row("ridge of "+m.Name, m, m.Ridge(), m.Peak, m.Peak, "")
	}
	first := machines[0].Name
	others := ""
	for _, d := range dots {
		own, name := names[d.On], d.Name
		if d.On != first {
			name += " (" + d.On + ")"
			others = ", or on the machine that is named with them"
		}
		row(name, own, d.Intensity, d.FLOPS, own.Attainable(d.Intensity), own.Classify(d.Intensity).String())
	}
	if len(machines) > 1 && len(dots) > 0 {
		t.Caption = "Shares and bound of the programs are those on " + first + others + "."
	}
	return t
}
