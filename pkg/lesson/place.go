package lesson

import (
	"math"
	"strings"
)

// A box is a rectangle of the picture in pixels, y downwards.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) grow(d float64) box { return box{b.x0 - d, b.y0 - d, b.x1 + d, b.y1 + d} }

// overlap returns the area that two boxes share.
func (b box) overlap(o box) float64 {
	w := min(b.x1, o.x1) - max(b.x0, o.x0)
	h := min(b.y1, o.y1) - max(b.y0, o.y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

// outside returns the area of b that is not in o.
func (b box) outside(o box) float64 {
	return (b.x1-b.x0)*(b.y1-b.y0) - b.overlap(o)
}

// crossing returns the length of the part of a straight line inside b.
func (b box) crossing(x0, y0, x1, y1 float64) float64 {
	t0, t1 := 0.0, 1.0
	clip := func(p, d, lo, hi float64) bool {
		if d == 0 {
			return p >= lo && p <= hi
		}
		a, c := (lo-p)/d, (hi-p)/d
		t0, t1 = max(t0, min(a, c)), min(t1, max(a, c))
		return t0 < t1
	}
	if !clip(x0, x1-x0, b.x0, b.x1) || !clip(y0, y1-y0, b.y0, b.y1) {
		return 0
	}
	return (t1 - t0) * math.Hypot(x1-x0, y1-y0)
}

// A label is text to place beside a point of the picture.
type label struct {
	text   string
	x, y   float64 // the point
	size   float64 // of the font
	color  string
	rotate float64 // degrees against the clock; a rotated label is not moved
	spots  []spot  // where it may stand, best first
	must   bool    // keep it even where it overlaps another

	// Chosen by place.
	spot
	hidden bool
}

// A spot is where a label stands: its offset from the point, and which of its
// own sides is there.
type spot struct {
	dx, dy float64
	align  string // "left", "center" or "right": that side of the text is at dx
}

const (
	lineHeight = 1.3
	apart      = 6.0 // pixels between labels beside each other
)

// at returns the box of the label in a spot. The text is centred on dy.
func (l label) at(s spot) box {
	w := textLength(l.text, l.size)
	h := float64(lineCount(l.text)) * l.size * lineHeight
	b := box{x0: l.x + s.dx, y0: l.y + s.dy - h/2}
	switch s.align {
	case "center":
		b.x0 -= w / 2
	case "right":
		b.x0 -= w
	}
	b.x1, b.y1 = b.x0+w, b.y0+h
	return b
}

// around returns spots round a dot of the given radius, for a label that is
// lines lines high: right, left, above, below, then the corners and further out.
func around(radius, size float64, lines int) []spot {
	var s []spot
	up := float64(lines) * size * lineHeight / 2
	for _, r := range []float64{radius + 4, radius + 12, radius + 24} {
		s = append(s,
			spot{r, 0, "left"},
			spot{-r, 0, "right"},
			spot{0, -r - up, "center"},
			spot{0, r + up, "center"},
			spot{0.7 * r, -0.7*r - up/2, "left"},
			spot{-0.7 * r, -0.7*r - up/2, "right"},
			spot{0.7 * r, 0.7*r + up/2, "left"},
			spot{-0.7 * r, 0.7*r + up/2, "right"},
			spot{0, -r - up, "right"},
			spot{0, -r - up, "left"},
			spot{0, r + up, "right"},
			spot{0, r + up, "left"},
		)
	}
	return s
}

// A scene is what labels must keep clear of.
type scene struct {
	frame box // labels stay inside
	dots  []box
	lines [][4]float64
}

// What it costs when a label is where it should not be, for each square pixel,
// each pixel of a crossed line, and each step down its list of spots.
const (
	costOutside = 40
	costLabel   = 40
	costDot     = 30
	costLine    = 4
	costSpot    = 3
)

// place chooses a spot for each label, in order, and hides those that would
// cover another label.
func (sc scene) place(labels []label) {
	var taken []box
	for i := range labels {
		l := &labels[i]
		best, bestCover := math.Inf(1), 0.0
		var bestBoxes []box
		for rank, s := range l.spots {
			boxes := l.boxes(s)
			cost := float64(rank) * costSpot
			cover := 0.0
			near := 0.0
			for _, b := range boxes {
				for _, t := range taken {
					cover += b.overlap(t)
					near += b.overlap(box{t.x0 - apart, t.y0, t.x1 + apart, t.y1})
				}
				cost += b.outside(sc.frame) * costOutside
				for _, d := range sc.dots {
					cost += b.overlap(d) * costDot
				}
				for _, ln := range sc.lines {
					cost += b.grow(1).crossing(ln[0], ln[1], ln[2], ln[3]) * costLine
				}
			}
			cost += near * costLabel
			if cost < best {
				best, bestCover, bestBoxes = cost, cover, boxes
				l.spot = s
			}
		}
		if bestCover > 4 && !l.must {
			l.hidden = true
			continue
		}
		taken = append(taken, bestBoxes...)
	}
}

// clear reports whether a box covers no dot, no line and nothing outside.
func (sc scene) clear(b box) bool {
	if b.outside(sc.frame) > 1 {
		return false
	}
	for _, d := range sc.dots {
		if b.overlap(d) > 0 {
			return false
		}
	}
	for _, ln := range sc.lines {
		if b.crossing(ln[0], ln[1], ln[2], ln[3]) > 0 {
			return false
		}
	}
	return true
}

// boxes returns what the label covers in a spot.
func (l label) boxes(s spot) []box {
	if l.rotate == 0 {
		return []box{l.at(s)}
	}
	return l.turned(s)
}

// turned returns squares along a rotated label, whose spot is its centre. They
// are a little less than its height: at whatever angle, none reaches the line
// that the label stands beside.
func (l label) turned(s spot) []box {
	const side = 0.8 * lineHeight
	length, half := textLength(l.text, l.size), side*l.size/2
	count := max(1, int(math.Ceil(length/(2*half))))
	sin, cos := math.Sincos(l.rotate * math.Pi / 180)
	var boxes []box
	for i := range count {
		t := length * ((float64(i)+0.5)/float64(count) - 0.5)
		x, y := l.x+s.dx+t*cos, l.y+s.dy-t*sin
		boxes = append(boxes, box{x - half, y - half, x + half, y + half})
	}
	return boxes
}

// spread moves the centres of labels of the given height apart along one
// direction, as little as needed, keeping their order and staying inside lo to
// hi. It changes ys, which need not be sorted.
func spread(ys []float64, height, lo, hi float64) {
	order := make([]int, len(ys))
	for i := range order {
		order[i] = i
	}
	for i := 1; i < len(order); i++ {
		for j := i; j > 0 && ys[order[j]] < ys[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	// Groups of labels that touch move as one, to the mean of where they want
	// to be.
	type group struct{ sum, n float64 }
	var groups []group
	top := func(g group) float64 {
		y := g.sum/g.n - (g.n-1)/2*height
		return max(lo, min(y, hi-(g.n-1)*height))
	}
	for _, i := range order {
		groups = append(groups, group{ys[i], 1})
		for len(groups) > 1 {
			a, b := groups[len(groups)-2], groups[len(groups)-1]
			if top(a)+a.n*height <= top(b)+1e-9 {
				break
			}
			groups = append(groups[:len(groups)-2], group{a.sum + b.sum, a.n + b.n})
		}
	}
	k := 0
	for _, g := range groups {
		y := top(g)
		for range int(g.n) {
			ys[order[k]] = y
			y += height
			k++
		}
	}
}

func nospace(s string) string { return strings.ReplaceAll(s, " ", "") }
