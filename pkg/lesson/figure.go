package lesson

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is how a series is drawn.
type Kind int

const (
	Line  Kind = iota // points joined by straight lines
	Dots              // points alone
	Bars              // bars from the axis; one axis must have categories
	Steps             // a stair: each value holds until the next point
)

// Point is one datum, with an optional label beside it. On an axis with
// categories the coordinate is not read: the points of a series stand at the
// categories in order.
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
// The units s, B, bytes, B/s, FLOP and FLOP/s take prefixes in labels.
type Axis struct {
	Name, Unit string
	Log        bool
	Base       int     // of a log axis: 10, or 2 for sizes that are powers of two; 0 means 10
	Min, Max   float64 // bounds; both 0, or on a log axis each 0, means chosen from the data
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
	ID            string // a letter, then letters, digits and dashes; one for each figure of a notebook
	Title         string // the claim, a sentence
	Alt           string // the finding, for those who cannot see it
	X, Y          Axis
	Series        []Series
	Marks         []Mark
	Width, Height int    // pixels; 0 means 760 by 420
	Table         *Table // nil: made from the series

	along      []along      // text along lines
	asides     []aside      // text at a place
	hints      []string     // remarks below the figure
	failures   []failure    // errors below the figure
	gaps       []gap        // dotted upright lines
	shades     [][2]float64 // shaded stretches of the X axis
	namedAlong bool         // the text along lines names them
	lowMarks   bool         // labels of upright marks stand at the bottom
	plainLines bool         // lines have no dots
}

// along is text on the upper side of a straight line between two points, in the
// ink of a series.
type along struct {
	From   [2]float64 `json:"from"`
	To     [2]float64 `json:"to"`
	Text   string     `json:"text"`
	Series int        `json:"series"`
}

// gap is an upright line from a point to the limit above it.
type gap struct{ x, y0, y1 float64 }

// aside is quiet text at the left or the right of a place of the figure.
type aside struct {
	At   [2]float64 `json:"at"`
	Text string     `json:"text"`
	Side string     `json:"side"`
}

const (
	defaultWidth  = 760
	defaultHeight = 420
	minSide       = 120
	maxSide       = 4000
)

// What a figure can show. The axes reach a little further than the data, and
// all that must stay finite.
const (
	greatest = 1e300  // magnitude of a value
	least    = 1e-300 // value on a log axis
	narrow   = 1e-8   // an axis spans more than this share of its values
)

// Check returns an error that names what cannot be drawn: a value that is NaN
// or infinite, a zero or negative value on a log axis, a magnitude above 1e300
// or, on a log axis, below 1e-300, an empty series, or points that do not match
// the categories.
func (f Figure) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("lesson: figure %q: "+format, append([]any{f.ID}, args...)...)
	}
	if !validID(f.ID) {
		return bad("ID is %q: it must be a letter, then letters, digits and dashes", f.ID)
	}
	for _, side := range []struct {
		name string
		v    int
	}{{"width", f.Width}, {"height", f.Height}} {
		if side.v != 0 && (side.v < minSide || side.v > maxSide) {
			return bad("%s is %d pixels: it must be from %d to %d, or 0 for the usual", side.name, side.v, minSide, maxSide)
		}
	}
	if err := f.X.check(); err != nil {
		return bad("X axis: %w", err)
	}
	if err := f.Y.check(); err != nil {
		return bad("Y axis: %w", err)
	}
	if len(f.X.Categories) > 0 && len(f.Y.Categories) > 0 {
		return bad("both axes have categories: one must have values")
	}
	if len(f.Series) == 0 {
		return bad("it has no series: give at least one")
	}
	categories := len(f.X.Categories) + len(f.Y.Categories)
	for _, s := range f.Series {
		if s.Kind < Line || s.Kind > Steps {
			return bad("series %q: kind is %d: it must be Line, Dots, Bars or Steps", s.Name, s.Kind)
		}
		if len(s.Points) == 0 {
			return bad("series %q has no points: give at least one", s.Name)
		}
		if s.Kind == Bars && categories == 0 {
			return bad("series %q has bars: one axis must have categories", s.Name)
		}
		if categories > 0 && len(s.Points) != categories {
			return bad("series %q has %d points: it must have %d, one for each category", s.Name, len(s.Points), categories)
		}
		for i, p := range s.Points {
			if err := f.X.checkValue(p.X); err != nil {
				return bad("series %q, point %d: X is %w", s.Name, i+1, err)
			}
			if err := f.Y.checkValue(p.Y); err != nil {
				return bad("series %q, point %d: Y is %w", s.Name, i+1, err)
			}
		}
	}
	for i, m := range f.Marks {
		axis := f.X
		switch m.Axis {
		case 'x':
		case 'y':
			axis = f.Y
		default:
			return bad("mark %d: axis is %q: it must be 'x' or 'y'", i+1, m.Axis)
		}
		if len(axis.Categories) > 0 {
			return bad("mark %d: the %c axis has categories: a mark needs values", i+1, m.Axis)
		}
		if err := axis.checkValue(m.At); err != nil {
			return bad("mark %s on the %c axis: At is %w", markName(i, m), m.Axis, err)
		}
	}
	if f.Table != nil {
		return f.Table.check()
	}
	return nil
}

func markName(i int, m Mark) string {
	if m.Label == "" {
		return strconv.Itoa(i + 1)
	}
	return strconv.Quote(m.Label)
}

func validID(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '-')) {
			return false
		}
	}
	return s != ""
}

func (a Axis) check() error {
	switch {
	case a.Base != 0 && a.Base != 2 && a.Base != 10:
		return fmt.Errorf("base is %d: it must be 2 or 10", a.Base)
	case a.Base != 0 && !a.Log:
		return fmt.Errorf("base is %d: only a log axis has a base", a.Base)
	case a.Log && len(a.Categories) > 0:
		return fmt.Errorf("it has categories: it cannot be a log axis too")
	case math.IsNaN(a.Min) || math.IsInf(a.Min, 0):
		return fmt.Errorf("least value is %v: it must be finite", a.Min)
	case math.IsNaN(a.Max) || math.IsInf(a.Max, 0):
		return fmt.Errorf("greatest value is %v: it must be finite", a.Max)
	case a.Log && a.Min < 0:
		return fmt.Errorf("least value is %v: on a log axis it must be positive, or 0 to choose it from the data", a.Min)
	case a.Max != 0 && a.Min >= a.Max:
		return fmt.Errorf("bounds are %v and %v: the first must be less", a.Min, a.Max)
	case a.Max != 0 && a.Max-a.Min <= narrow*max(math.Abs(a.Min), math.Abs(a.Max)):
		return fmt.Errorf("bounds are %v and %v: they must lie further apart", a.Min, a.Max)
	}
	for _, bound := range []float64{a.Min, a.Max} {
		if bound == 0 {
			continue
		}
		if err := a.checkValue(bound); err != nil {
			return fmt.Errorf("a bound is %w", err)
		}
	}
	return nil
}

func (a Axis) checkValue(v float64) error {
	switch {
	case len(a.Categories) > 0:
		return nil
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v: it must be finite", v)
	case a.Log && v <= 0:
		return fmt.Errorf("%v: a log axis has no place for it, so it must be positive", v)
	case math.Abs(v) > greatest:
		return fmt.Errorf("%v: it is too large for a figure: choose values that keep it within %v", v, greatest)
	case a.Log && v < least:
		return fmt.Errorf("%v: it is too small for a log axis: choose values that keep it above %v", v, least)
	}
	return nil
}

func (a Axis) title() string {
	if a.Unit == "" {
		return a.Name
	}
	return strings.TrimSpace(a.Name + " (" + a.Unit + ")")
}

// size returns the width and height in pixels.
func (f Figure) size() (w, h int) {
	w, h = f.Width, f.Height
	if w == 0 {
		w = defaultWidth
	}
	if h == 0 {
		h = defaultHeight
	}
	return w, h
}

// Show draws the figure. In a notebook it is a picture that comes alive where
// the page lets it, and can then be saved as SVG, PNG and CSV, with the numbers
// behind it one click away; outside it is the title and the numbers. What cannot
// be drawn ends the cell with a message that says why.
func (f Figure) Show() {
	b, err := f.block()
	Check(err)
	screen.show(b)
}

func (f Figure) block() (block, error) {
	if err := f.Check(); err != nil {
		return block{}, err
	}
	t := f.numbers()
	text := f.Title + "\n"
	if f.Alt != "" {
		text += f.Alt + "\n"
	}
	text += t.text()
	f.thin()
	for _, h := range f.hints {
		text += h + "\n"
	}
	errors := ""
	for _, e := range f.failures {
		text += e.text()
		errors += e.html()
	}
	if !screen.rich() {
		return block{Text: text}, nil
	}
	option, err := f.option()
	if err != nil {
		return block{}, err
	}
	w, h := f.size()
	html, err := f.html(option, picture(option, f.ID, w, h), t)
	return block{HTML: html + errors, Text: text}, err
}

// Option returns the option object of ECharts for the figure, in JSON, after
// the same checks as Show, as scripts/charts/picture.js completes it.
func (f Figure) Option() ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	f.thin()
	return f.option()
}
