package lesson

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"memorywall/pkg/internal/num"
)

// How many points of one series are drawn, how many rows of the table behind a
// figure are written, and how many go into its file of data.
const (
	maxDrawn = 2000
	maxRows  = 100
	maxSaved = 2000
)

// thin keeps at most maxDrawn points of each series, and says so: of each run
// of neighbours the lowest and the highest, so that no peak is lost.
func (f *Figure) thin() {
	f.Series = slices.Clone(f.Series)
	for i, s := range f.Series {
		if len(s.Points) <= maxDrawn {
			continue
		}
		f.Series[i].Points = thinned(s.Points, maxDrawn)
		f.hints = append(f.hints, fmt.Sprintf("%s: %s of %s points are drawn, the lowest and the highest of each stretch.",
			nameOr(s.Name, "series"), plain(len(f.Series[i].Points)), plain(len(s.Points))))
	}
}

func thinned(points []Point, limit int) []Point {
	inner := points[1 : len(points)-1]
	stretches := (limit - 2) / 2
	out := []Point{points[0]}
	for k := range stretches {
		part := inner[k*len(inner)/stretches : (k+1)*len(inner)/stretches]
		if len(part) == 0 {
			continue
		}
		low, high := 0, 0
		for i, p := range part {
			if p.Y < part[low].Y {
				low = i
			}
			if p.Y > part[high].Y {
				high = i
			}
		}
		out = append(out, part[min(low, high)])
		if low != high {
			out = append(out, part[max(low, high)])
		}
	}
	return append(out, points[len(points)-1])
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// numbers makes the table behind the figure: one row for each X where all the
// series share them, else one for each point.
func (f Figure) numbers() Table {
	if f.Table != nil {
		return *f.Table
	}
	labelled := false
	for _, s := range f.Series {
		for _, p := range s.Points {
			labelled = labelled || p.Label != ""
		}
	}
	var t Table
	first, value := f.X, f.Y
	if len(f.Y.Categories) > 0 {
		first, value = f.Y, f.X
	}
	along := func(i int, p Point) any {
		if i < len(first.Categories) {
			return first.Categories[i]
		}
		return cell(first, p.X)
	}
	across := func(p Point) any {
		if len(f.Y.Categories) > 0 {
			return cell(value, p.X)
		}
		return cell(value, p.Y)
	}
	if f.shared() && (!labelled || len(first.Categories) > 0) {
		t.Columns = []string{nameOr(first.Name, " ")}
		t.heads = []string{first.title()}
		for _, s := range f.Series {
			t.Columns = append(t.Columns, nameOr(s.Name, nameOr(value.Name, "value")))
			t.heads = append(t.heads, Axis{Name: nameOr(s.Name, value.Name), Unit: value.Unit}.title())
		}
		for i := range f.Series[0].Points {
			row := []any{along(i, f.Series[0].Points[i])}
			for _, s := range f.Series {
				row = append(row, across(s.Points[i]))
			}
			t.Rows = append(t.Rows, row)
		}
		t.cut()
		return t
	}
	several := len(f.Series) > 1
	if several {
		t.Columns = append(t.Columns, "series")
	}
	if labelled {
		t.Columns = append(t.Columns, "point")
	}
	t.heads = append(slices.Clone(t.Columns), first.title(), value.title())
	t.Columns = append(t.Columns, nameOr(first.Name, "x"), nameOr(value.Name, "y"))
	for _, s := range f.Series {
		for i, p := range s.Points {
			var row []any
			if several {
				row = append(row, s.Name)
			}
			if labelled {
				row = append(row, p.Label)
			}
			t.Rows = append(t.Rows, append(row, along(i, p), across(p)))
		}
	}
	t.cut()
	return t
}

// cell is a value of the table, with its unit.
func cell(a Axis, v float64) any {
	if a.Unit == "" {
		return v
	}
	return written{v, num.Value(v, a.Unit, a.Base)}
}

// shared reports whether all series have the same X.
func (f Figure) shared() bool {
	if len(f.X.Categories)+len(f.Y.Categories) > 0 {
		return true
	}
	for _, s := range f.Series[1:] {
		if !slices.EqualFunc(s.Points, f.Series[0].Points, func(a, b Point) bool { return a.X == b.X }) {
			return false
		}
	}
	return true
}

// cut keeps at most maxRows rows, evenly chosen, and says so.
func (t *Table) cut() {
	n := len(t.Rows)
	if n <= maxRows {
		return
	}
	t.Caption = fmt.Sprintf("%s of %s rows, evenly chosen.", plain(maxRows), plain(n))
	t.all = t.Rows
	if n > maxSaved {
		t.all = evenly(t.Rows, maxSaved)
		t.Caption += fmt.Sprintf(" The file of data has %s.", plain(maxSaved))
	}
	t.Rows = evenly(t.Rows, maxRows)
}

// evenly chooses k of the rows, the first and the last among them.
func evenly(rows [][]any, k int) [][]any {
	kept := make([][]any, k)
	for i := range kept {
		kept[i] = rows[i*(len(rows)-1)/(k-1)]
	}
	return kept
}

// written is a number of a table that stands there in other words, such as with
// a unit.
type written struct {
	v    float64
	text string
}

func (w written) String() string { return w.text }

// csv returns the table as comma-separated values (RFC 4180), each number in
// full: the shortest decimal that reads back as the same number.
func (t Table) csv() (string, error) {
	heads, rows := t.heads, t.all
	if heads == nil {
		heads = t.Columns
	}
	if rows == nil {
		rows = t.Rows
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	w.Write(heads)
	for _, r := range rows {
		fields := make([]string, len(r))
		for j, v := range r {
			fields[j] = raw(v)
		}
		w.Write(fields)
	}
	w.Flush()
	return b.String(), w.Error()
}
