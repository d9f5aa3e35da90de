package lesson

import (
	"fmt"
	"math"
)

// Kind is how a series is drawn.
type Kind int

const (
	Line  Kind = iota // points joined by straight lines
	Dots              // points alone
	Bars              // bars from the axis
	Steps             // a stair: each value holds until the next point
)

// Point is one datum, with an optional label beside it. On an axis with
// categories the coordinate is ignored: points are taken in order.
type Point struct {
	X, Y  float64
	Label string
}

// Series is a set of points that belong together.
type Series struct {
	Name   string
	Kind   Kind
	Points []Point
	Dashed bool
}

// Axis describes one axis. Name and Unit make its title, "bandwidth (B/s)".
type Axis struct {
	Name, Unit string
	Log        bool
	Base       int     // of a log axis: 10, the default, or 2
	Min, Max   float64 // both 0: chosen from the data
	Categories []string
}

// Mark is a line across the figure at one value of an axis: 'x' draws it
// upright at At on the X axis, 'y' level at At on the Y axis.
type Mark struct {
	Axis  byte
	At    float64
	Label string
}

// Figure is a chart with the numbers behind it.
type Figure struct {
	ID            string // letters, digits and dashes; the same figure keeps its ID
	Title         string // the claim, a sentence
	Alt           string // the finding, for those who cannot see it
	X, Y          Axis
	Series        []Series
	Marks         []Mark
	Width, Height int    // pixels; 0 means 760 by 420
	Table         *Table // nil: made from the series
}

// Check returns an error that names what cannot be drawn: a value that is NaN
// or infinite, a zero or negative value on a log axis, an empty series.
func (f Figure) Check() error {
	if len(f.Series) == 0 {
		return fmt.Errorf("lesson: figure %q: it has no series: give at least one", f.ID)
	}
	for _, s := range f.Series {
		if len(s.Points) == 0 {
			return fmt.Errorf("lesson: figure %q: series %q has no points: give at least one", f.ID, s.Name)
		}
		for i, p := range s.Points {
			if err := f.X.check(p.X); err != nil {
				return fmt.Errorf("lesson: figure %q: series %q, point %d: X %w", f.ID, s.Name, i+1, err)
			}
			if err := f.Y.check(p.Y); err != nil {
				return fmt.Errorf("lesson: figure %q: series %q, point %d: Y %w", f.ID, s.Name, i+1, err)
			}
		}
	}
	return nil
}

func (a Axis) check(v float64) error {
	switch {
	case len(a.Categories) > 0:
		return nil
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("is %v: it must be finite", v)
	case a.Log && v <= 0:
		return fmt.Errorf("is %v: a log axis has no place for it: it must be positive", v)
	}
	return nil
}

func (a Axis) title() string {
	if a.Unit == "" {
		return a.Name
	}
	return a.Name + " (" + a.Unit + ")"
}

// table makes the table of numbers behind the figure.
func (f Figure) table() Table {
	if f.Table != nil {
		return *f.Table
	}
	t := Table{Columns: []string{"series", f.X.title(), f.Y.title()}}
	for _, s := range f.Series {
		for i, p := range s.Points {
			row := []any{s.Name, any(p.X), any(p.Y)}
			if i < len(f.X.Categories) {
				row[1] = f.X.Categories[i]
			}
			if i < len(f.Y.Categories) {
				row[2] = f.Y.Categories[i]
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// Show draws the figure. Outside a notebook it prints the title and the
// numbers.
func (f Figure) Show() {
	Check(f.Check())
	t := f.table()
	Check(t.check())
	screen.show(block{
		HTML: `<div><b>` + esc(f.Title) + `</b></div>` + t.html(),
		Text: "Figure: " + f.Title + "\n" + f.Alt + "\n" + t.text(),
	})
}
