package lesson

import (
	"cmp"
	"fmt"
	"math"
	"memorywall/pkg/internal/num"
	"slices"
)

// The measures of a figure, in pixels.
const (
	titleSize  = 15.0
	textSize   = 12.0
	margin     = 10.0
	titleLine  = 20.0
	textLine   = 16.0
	dotRadius  = 4.5
	tickLength = 4.0
	legendItem = 14.0 // height of a row of the legend
	legendGap  = 22.0 // between its items, along and across
	nameShare  = 0.21 // of the width, for names at the ends of lines
)

// layout is a figure with everything in its place.
type layout struct {
	w, h     float64
	title    string
	x, y     scale
	xNames   []string // categories, broken into lines
	yNames   []string
	plot     box // inside the axes
	legend   []string
	legendY  float64
	yNameY   float64
	labels   []label
	barTexts [][]string // of each series: what stands at the ends of its bars
	barWidth float64    // the widest that a bar may be
	crowded  bool       // names of lines stand too close together
}

// layout puts everything in its place. Names of lines stand beside their ends,
// or, where the ends are too close to tell which is whose, beside the lines
// where they are apart, if there is room.
func (f Figure) layout() layout {
	l := f.lay(false)
	if l.crowded {
		if inside := f.lay(true); !inside.crowded {
			return inside
		}
	}
	return l
}

// lay makes the layout with the names of lines at their ends, or inside the
// plot.
func (f Figure) lay(inside bool) layout {
	wi, hi := f.size()
	l := layout{w: float64(wi), h: float64(hi)}
	top := margin
	if f.Title != "" {
		l.title = balanced(f.Title, titleSize*bold, l.w-2*margin)
		top += float64(lineCount(l.title))*titleLine + 8
	}
	named, ends := f.naming()
	beside := ends // what needs room on the right
	if inside {
		beside = nil
	}
	if len(named) > 0 {
		l.legend, l.legendY = named, top
		top += float64(legendRows(named, l.w-2*margin)-1)*(legendItem+legendGap) + legendItem + 10
	}
	if f.Y.Name != "" {
		l.yNameY = top
		top += textLine + 8
	} else {
		top += 8
	}

	// The tick labels decide how much room is left for the plot, and that how
	// many tick labels there are: the second pass knows the room.
	bottom := tickLength + textLine + 8
	if f.X.Name != "" {
		bottom += textLine + 6
	}
	l.plot = box{60, top, l.w - 30, l.h - bottom}
	xlo, xhi, ylo, yhi := f.extent()
	barsX, barsY := f.bars()
	if f.wordy() && !barsY && len(f.Y.Categories) == 0 {
		yhi = headroom(f.Y, ylo, yhi, l.plot.y1-l.plot.y0)
	}
	for range 2 {
		l.x = newScale(f.X, xlo, xhi, barsX, l.plot.x1-l.plot.x0, 90)
		l.y = newScale(f.Y, ylo, yhi, barsY, l.plot.y1-l.plot.y0, 50)
		left, right := 0.0, 16.0
		if l.y.kind == categoryScale {
			l.yNames = wrapAll(f.Y.Categories, l.w*0.34)
			for _, s := range l.yNames {
				left = max(left, textLength(s, textSize))
			}
		} else {
			for _, v := range l.y.ticks {
				left = max(left, textLength(l.y.label(v), textSize))
			}
		}
		l.plot.x0 = margin + left + tickLength + 4
		if n := len(l.x.ticks); n > 0 {
			last := l.x.ticks[n-1]
			l.x.from, l.x.to = l.plot.x0, l.plot.x1
			over := l.x.at(last) + textLength(l.x.label(last), textSize)/2 - l.plot.x1
			right = max(right, over+4)
		}
		for _, s := range beside {
			right = max(right, textLength(wrap(s, textSize, l.w*nameShare), textSize)+14)
		}
		if barsX { // text at the ends of level bars
			for _, texts := range f.barTexts() {
				for _, s := range texts {
					right = max(right, textLength(s, textSize)+14)
				}
			}
		}
		l.plot.x1 = l.w - right
		if l.x.kind == categoryScale {
			l.xNames = wrapAll(f.X.Categories, (l.plot.x1-l.plot.x0)/float64(len(f.X.Categories))-6)
			lines := 1
			for _, s := range l.xNames {
				lines = max(lines, lineCount(s))
			}
			l.plot.y1 = l.h - bottom - float64(lines-1)*textLine
		}
	}
	l.x.from, l.x.to = l.plot.x0, l.plot.x1
	l.y.from, l.y.to = l.plot.y1, l.plot.y0
	if l.y.kind == categoryScale {
		l.y.from, l.y.to = l.plot.y0, l.plot.y1 // the first category on top
	}
	l.fitBars(f)
	l.label(f, ends, inside)
	return l
}

// wordy reports whether there is text above points or level lines.
func (f Figure) wordy() bool {
	if len(f.along) > 0 {
		return true
	}
	for _, m := range f.Marks {
		if m.Axis == 'y' && m.Label != "" {
			return true
		}
	}
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.Label != "" {
				return true
			}
		}
	}
	return false
}

// headroom returns a greater end of the range lo to hi: a line of text higher
// on an axis of the given length.
func headroom(a Axis, lo, hi, length float64) float64 {
	share := 2 * textLine / max(length, 100)
	if a.Log {
		return min(hi*math.Pow(max(hi/lo, 2), share), greatest)
	}
	return hi + share*(hi-lo)
}

func wrapAll(names []string, width float64) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = wrap(s, textSize, width)
	}
	return out
}

// legendRows is the number of rows that a legend takes.
func legendRows(names []string, width float64) int {
	rows, x := 1, 0.0
	for _, s := range names {
		w := textLength(s, textSize) + 25 + 5 + legendGap
		if x > 0 && x+w > width {
			rows, x = rows+1, 0
		}
		x += w
	}
	return rows
}

// naming decides how series are told apart: by their names beside their last
// points, or by a legend where there are bars or too many. A single series
// needs neither, and dots with a label each are named already.
func (f Figure) naming() (legend, ends []string) {
	var names []string
	bars := false
	for i, s := range f.Series {
		if s.Name == "" || s.labelled() || f.namedAlong {
			continue
		}
		names = append(names, s.Name)
		ends = append(ends, f.endName(i))
		bars = bars || s.Kind == Bars
	}
	if len(f.Series) < 2 {
		return nil, nil
	}
	categories := len(f.X.Categories)+len(f.Y.Categories) > 0
	switch {
	case len(names) < 2:
		return nil, nil
	case !bars && !categories && len(names) <= 8:
		return nil, ends
	}
	return names, nil
}

// glyphs are characters that look like the symbols of the series.
var glyphs = []string{"●", "◆", "▲", "■", "✚", "▢"}

// endName is the name of series i beside its last point. That of dots has their
// shape with it: it may stand beside a line that runs through them.
func (f Figure) endName(i int) string {
	s := f.Series[i]
	if s.Kind == Dots {
		return glyphs[i%len(glyphs)] + " " + s.Name
	}
	return s.Name
}

// labelled reports whether the series are dots that all have labels.
func (s Series) labelled() bool {
	for _, p := range s.Points {
		if p.Label == "" {
			return false
		}
	}
	return s.Kind == Dots
}

// end is the number of the point that the series' name stands beside: the last
// one, or of dots the one furthest to the right.
func (s Series) end() int {
	last := len(s.Points) - 1
	if s.Kind == Dots {
		for i, p := range s.Points {
			if p.X > s.Points[last].X {
				last = i
			}
		}
	}
	return last
}

// extent returns the range of the data and marks.
func (f Figure) extent() (xlo, xhi, ylo, yhi float64) {
	xlo, ylo = math.Inf(1), math.Inf(1)
	xhi, yhi = math.Inf(-1), math.Inf(-1)
	for _, s := range f.Series {
		for _, p := range s.Points {
			xlo, xhi = min(xlo, p.X), max(xhi, p.X)
			ylo, yhi = min(ylo, p.Y), max(yhi, p.Y)
		}
	}
	for _, m := range f.Marks {
		if m.Axis == 'x' {
			xlo, xhi = min(xlo, m.At), max(xhi, m.At)
		} else {
			ylo, yhi = min(ylo, m.At), max(yhi, m.At)
		}
	}
	return xlo, xhi, ylo, yhi
}

// bars reports which axis carries the lengths of bars.
func (f Figure) bars() (x, y bool) {
	for _, s := range f.Series {
		if s.Kind == Bars {
			x = x || len(f.Y.Categories) > 0
			y = y || len(f.X.Categories) > 0
		}
	}
	return x, y
}

// barTexts returns what stands at the ends of bars: the label of the point, or
// its value where there is room for all.
func (f Figure) barTexts() [][]string {
	bars := 0
	for _, s := range f.Series {
		if s.Kind == Bars {
			bars += len(s.Points)
		}
	}
	out := make([][]string, len(f.Series))
	for i, s := range f.Series {
		if s.Kind != Bars {
			continue
		}
		out[i] = make([]string, len(s.Points))
		for j, p := range s.Points {
			switch {
			case p.Label != "":
				out[i][j] = p.Label
			case bars > 16:
			case len(f.Y.Categories) > 0:
				out[i][j] = num.Value(p.X, f.X.Unit, f.X.Base)
			default:
				out[i][j] = num.Value(p.Y, f.Y.Unit, f.Y.Base)
			}
		}
	}
	return out
}

// fitBars chooses the width of bars and what fits at their ends: above upright
// bars a long value takes two lines, and where even those are too wide, none.
func (l *layout) fitBars(f Figure) {
	l.barTexts = f.barTexts()
	l.barWidth = 34
	if l.x.kind != categoryScale {
		return
	}
	series := 0
	longest, broken := 0.0, 0.0
	for i, texts := range l.barTexts {
		if f.Series[i].Kind == Bars {
			series++
		}
		for _, s := range texts {
			longest = max(longest, textLength(s, textSize))
			broken = max(broken, textLength(wrap(s, textSize, 0), textSize))
		}
	}
	if series == 0 {
		return
	}
	room := (l.plot.x1 - l.plot.x0) / float64(len(f.X.Categories)) * 0.7 / float64(series)
	l.barWidth = min(72, room)
	fits := l.barWidth
	if series == 1 {
		fits = room/0.7 - 6
	}
	if longest <= fits {
		return
	}
	for i, texts := range l.barTexts {
		for j, s := range texts {
			if broken > fits {
				l.barTexts[i][j] = ""
			} else {
				l.barTexts[i][j] = wrap(s, textSize, 0)
			}
		}
	}
}

// position returns the pixel of point i of a series.
func (l layout) position(i int, p Point) (x, y float64) {
	x, y = p.X, p.Y
	if l.x.kind == categoryScale {
		x = float64(i)
	}
	if l.y.kind == categoryScale {
		y = float64(i)
	}
	return l.x.at(x), l.y.at(y)
}

// label makes the labels and finds a place for each.
func (l *layout) label(f Figure, ends []string, inside bool) {
	sc := scene{frame: box{l.plot.x0 + 2, l.plot.y0 - 2, l.w - 2, l.plot.y1 - 2}}
	for _, s := range f.Series {
		if s.Kind == Bars {
			continue
		}
		var px, py float64
		for i, p := range s.Points {
			x, y := l.position(i, p)
			if s.Kind == Dots || p.Label != "" || f.dotted(s) {
				sc.dots = append(sc.dots, box{x, y, x, y}.grow(dotRadius))
			}
			if i > 0 && s.Kind == Line {
				sc.lines = append(sc.lines, [4]float64{px, py, x, y})
			}
			if i > 0 && s.Kind == Steps {
				sc.lines = append(sc.lines, [4]float64{px, py, x, py}, [4]float64{x, py, x, y})
			}
			px, py = x, y
		}
	}
	for _, m := range f.Marks {
		if m.Axis == 'x' {
			x := l.x.at(m.At)
			sc.lines = append(sc.lines, [4]float64{x, l.plot.y0, x, l.plot.y1})
		} else {
			y := l.y.at(m.At)
			sc.lines = append(sc.lines, [4]float64{l.plot.x0, y, l.plot.x1, y})
		}
	}
	for _, d := range f.gaps {
		x := l.x.at(d.x)
		sc.lines = append(sc.lines, [4]float64{x, l.y.at(d.y0), x, l.y.at(d.y1)})
	}
	if inside {
		l.labels = append(l.labels, l.insideLabels(f, ends)...)
	} else {
		l.labels = append(l.labels, l.endLabels(f, ends)...)
	}
	names := len(l.labels)
	for _, a := range f.along {
		l.labels = append(l.labels, l.alongLabel(a))
	}
	for i, s := range f.Series {
		if s.Kind == Bars {
			continue
		}
		for j, p := range s.Points {
			if p.Label == "" {
				continue
			}
			x, y := l.position(j, p)
			text := wrap(p.Label, textSize, l.w*0.3)
			l.labels = append(l.labels, label{
				text: text, x: x, y: y, size: textSize, color: ink(i),
				spots: around(dotRadius, textSize, lineCount(text)),
			})
		}
	}
	for _, a := range f.asides {
		l.labels = append(l.labels, label{
			text: a.text, x: l.x.at(a.x), y: l.y.at(a.y), size: textSize, color: "mw:colour:muted", spots: a.spots,
		})
	}
	for _, m := range f.Marks {
		if m.Label != "" {
			l.labels = append(l.labels, l.markLabel(m, f.lowMarks))
		}
	}
	sc.place(l.labels)
	if inside {
		for _, lb := range l.labels[:names] {
			l.crowded = l.crowded || lb.hidden || !sc.clear(lb.at(lb.spot))
		}
	}
}

func ink(series int) string    { return fmt.Sprintf("mw:ink:%d", series) }
func colour(series int) string { return fmt.Sprintf("mw:series:%d", series) }

// endLabels puts the names of lines to the right of their last points.
func (l *layout) endLabels(f Figure, ends []string) []label {
	if len(ends) == 0 {
		return nil
	}
	var out, free []label
	var ys []float64
	height := textSize * lineHeight
	for i, s := range f.Series {
		if s.Name == "" || s.labelled() {
			continue
		}
		text := wrap(f.endName(i), textSize, l.w*nameShare)
		x, y := l.position(s.end(), s.Points[s.end()])
		x, y = min(x, l.plot.x1), max(l.plot.y0, min(y, l.plot.y1))
		lb := label{text: text, x: x, y: y, size: textSize, color: ink(i), must: true}
		if s.Kind == Dots && x < l.plot.x1-2*textSize {
			// Lines may go on to the right of it.
			lb.spots = around(dotRadius, textSize, lineCount(text))
			free = append(free, lb)
			continue
		}
		height = max(height, float64(lineCount(text))*textSize*lineHeight)
		out = append(out, lb)
		ys = append(ys, y)
	}
	// Tick labels are below the plot.
	spread(ys, height, l.plot.y0-height/2, l.plot.y1-height/2+tickLength)
	for i := range out {
		out[i].spots = []spot{{8, ys[i] - out[i].y, "left"}}
		for _, other := range out[:i] {
			l.crowded = l.crowded || math.Abs(other.y-out[i].y) < textSize/2
		}
	}
	return append(out, free...)
}

// insideLabels puts the names of lines beside them where the other lines are
// far away. The layout is crowded where there is no such place.
func (l *layout) insideLabels(f Figure, ends []string) []label {
	if len(ends) == 0 {
		return nil
	}
	paths := make([][][2]float64, len(f.Series)) // points of each line, a few pixels apart
	for i, s := range f.Series {
		for j := range s.Points[1:] {
			x0, y0 := l.position(j, s.Points[j])
			x1, y1 := l.position(j+1, s.Points[j+1])
			steps := max(1, min(int(math.Hypot(x1-x0, y1-y0)/8), 500))
			for k := range steps {
				t := float64(k) / float64(steps)
				paths[i] = append(paths[i], [2]float64{x0 + t*(x1-x0), y0 + t*(y1-y0)})
			}
		}
	}
	var out []label
	for i, s := range f.Series {
		if s.Name == "" || s.labelled() || len(paths[i]) == 0 {
			continue
		}
		text := wrap(f.endName(i), textSize, l.w*0.3)
		lb := label{text: text, x: paths[i][0][0], y: paths[i][0][1], size: textSize, color: ink(i)}
		type candidate struct {
			at   [2]float64
			away float64 // how far the other lines are, up to where it does not matter
		}
		var candidates []candidate
		for _, p := range paths[i] {
			c := candidate{p, 60}
			for j, other := range paths {
				if j == i {
					continue
				}
				for _, q := range other {
					c.away = min(c.away, math.Hypot(p[0]-q[0], p[1]-q[1]))
				}
			}
			if c.away > 1.5*textSize {
				candidates = append(candidates, c)
			}
		}
		if len(candidates) == 0 {
			l.crowded = true
			return nil
		}
		slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.away, a.away) })
		half := float64(lineCount(text)) * textSize * lineHeight / 2
		const off = dotRadius + 3
		for _, c := range candidates {
			dx, dy := c.at[0]-lb.x, c.at[1]-lb.y
			for _, s := range []spot{
				{0, -half - off, "center"}, {-off, -half - 2, "right"}, {off, half + 2, "left"}, {0, half + off, "center"}, {off, -half - 2, "left"}, {-off, half + 2, "right"},
			} {
				lb.spots = append(lb.spots, spot{dx + s.dx, dy + s.dy, s.align})
			}
		}
		out = append(out, lb)
	}
	return out
}

// markLabel stands beside its line: for an upright line right or left of it,
// near the top or further down; for a level one above or below it, at the right
// or at the left.
func (l layout) markLabel(m Mark, low bool) label {
	text := wrap(m.Label, textSize, l.w*0.3)
	lb := label{text: text, size: textSize, color: "mw:colour:muted"}
	half := float64(lineCount(text)) * textSize * lineHeight / 2
	if m.Axis == 'x' {
		lb.x, lb.y = l.x.at(m.At), l.plot.y0
		for dy := half + 2; dy < l.plot.y1-l.plot.y0-half; dy += half {
			at := dy
			if low {
				at = l.plot.y1 - l.plot.y0 - dy - 4
			}
			lb.spots = append(lb.spots, spot{6, at, "left"}, spot{-6, at, "right"})
		}
		return lb
	}
	lb.x, lb.y = l.plot.x1, l.y.at(m.At)
	span := l.plot.x1 - l.plot.x0
	for dx := 4.0; dx < span*0.9; dx += 24 {
		lb.spots = append(lb.spots, spot{-dx, -half - 2, "right"}, spot{-dx, half + 2, "right"})
	}
	return lb
}

// alongLabel is centred beside the line, above it rather than below, and turned as it
// is; on a
// level line it stands at the right end.
func (l layout) alongLabel(a along) label {
	x0, y0, x1, y1 := l.x.at(a.x0), l.y.at(a.y0), l.x.at(a.x1), l.y.at(a.y1)
	angle := math.Atan2(y0-y1, x1-x0)
	if y0 == y1 {
		lb := label{text: a.text, size: textSize, color: a.color, x: x1, y: y1}
		for dx := 4.0; dx < x1-x0; dx += 24 {
			lb.spots = append(lb.spots, spot{-dx, -textSize * 1.15, "right"}, spot{-dx, textSize * 1.15, "right"})
		}
		return lb
	}
	lb := label{
		text: a.text, size: textSize, color: a.color, rotate: angle * 180 / math.Pi,
		x: (x0 + x1) / 2, y: (y0 + y1) / 2,
	}
	const off = textSize * 0.9
	for _, t := range []float64{0.5, 0.4, 0.6, 0.3, 0.7, 0.8, 0.2} {
		dx, dy := (t-0.5)*(x1-x0), (t-0.5)*(y1-y0)
		for _, side := range []float64{1, -1} {
			lb.spots = append(lb.spots, spot{dx - side*math.Sin(angle)*off, dy - side*math.Cos(angle)*off, "center"})
		}
	}
	return lb
}
