package lesson

import (
	"math"
	"slices"
	"strings"
	"testing"

	"memorywall/pkg/roofline"
)

func TestScales(t *testing.T) {
	for _, c := range []struct {
		name         string
		axis         Axis
		from, to     float64
		bars         bool
		lo, hi       float64
		ticks        []float64
		labels       string
		minorBetween int // marks between the first two ticks
	}{
		{"from zero", Axis{}, 0, 10, false, 0, 10, []float64{0, 2, 4, 6, 8, 10}, "0 2 4 6 8 10", 0},
		{"near zero", Axis{}, 1, 9.3, false, 0, 10, []float64{0, 2, 4, 6, 8, 10}, "0 2 4 6 8 10", 0},
		{"far from zero", Axis{}, 280, 380, false, 280, 380, []float64{280, 300, 320, 340, 360, 380}, "280 300 320 340 360 380", 0},
		{"fractions", Axis{}, 0, 0.3, false, 0, 0.3, []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3}, "0 0.05 0.1 0.15 0.2 0.25 0.3", 0},
		{"one value", Axis{}, 5, 5, false, 2, 8, []float64{2, 3, 4, 5, 6, 7, 8}, "2 3 4 5 6 7 8", 0},
		{"one small value", Axis{}, 0.002, 0.002, false, 0.001, 0.003, []float64{0.001, 0.0015, 0.002, 0.0025, 0.003}, "0.001 0.0015 0.002 0.0025 0.003", 0},
		{"zero alone", Axis{}, 0, 0, false, -0.6, 0.6, []float64{-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6}, "-0.6 -0.4 -0.2 0 0.2 0.4 0.6", 0},
		{"large", Axis{}, 0, 4e6, false, 0, 4e6, []float64{0, 1e6, 2e6, 3e6, 4e6}, "0 1M 2M 3M 4M", 0},
		{"bounds", Axis{Min: 140, Max: 170}, 0, 200, false, 140, 170, []float64{140, 145, 150, 155, 160, 165, 170}, "140 145 150 155 160 165 170", 0},
		{"seconds", Axis{Unit: "s"}, 0, 0.002, false, 0, 0.002, []float64{0, 0.0005, 0.001, 0.0015, 0.002}, "0 s|500 µs|1 ms|1.5 ms|2 ms", 0},
		{"bars from zero", Axis{}, 40, 50, true, 0, 60, []float64{0, 10, 20, 30, 40, 50, 60}, "0 10 20 30 40 50 60", 0},
		{"bars below zero", Axis{}, -40, -30, true, -40, 0, []float64{-40, -30, -20, -10, 0}, "-40 -30 -20 -10 0", 0},
		{"decades", Axis{Log: true}, 0.33, 2e5, false, 0.1, 1e6, []float64{0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6}, "0.1 1 10 100 1k 10k 100k 1M", 0},
		{"a few decades", Axis{Log: true}, 0.33, 1365, false, 0.2, 2000, []float64{1, 10, 100, 1000}, "1 10 100 1k", 8},
		{"one decade", Axis{Log: true}, 15, 90, false, 10, 100, []float64{10, 20, 50, 100}, "10 20 50 100", 0},
		{"one value on a log axis", Axis{Log: true}, 10, 10, false, 1, 100, []float64{1, 2, 5, 10, 20, 50, 100}, "1 2 5 10 20 50 100", 0},
		{"powers of two", Axis{Log: true, Base: 2}, 4, 128, false, 4, 128, []float64{4, 8, 16, 32, 64, 128}, "4 8 16 32 64 128", 0},
		{"between powers of two", Axis{Log: true, Base: 2}, 5, 100, false, 4, 128, []float64{4, 8, 16, 32, 64, 128}, "4 8 16 32 64 128", 0},
		{"bytes", Axis{Log: true, Base: 2, Unit: "bytes"}, 512, 4096, false, 512, 4096, []float64{512, 1024, 2048, 4096}, "512 B|1 KiB|2 KiB|4 KiB", 0},
		{"log seconds", Axis{Log: true, Unit: "s"}, 1e-5, 0.1, false, 1e-5, 0.1, []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1}, "10 µs|100 µs|1 ms|10 ms|100 ms", 8},
		{"log bars start below the shortest", Axis{Log: true}, 1.2, 50, true, 0.1, 100, []float64{0.1, 1, 10, 100}, "0.1 1 10 100", 8},
		{"log bars with room below", Axis{Log: true}, 3, 50, true, 1, 100, []float64{1, 2, 5, 10, 20, 50, 100}, "1 2 5 10 20 50 100", 0},
		{"log bounds", Axis{Log: true, Min: 1, Max: 1e4}, 3, 50, false, 1, 1e4, []float64{1, 10, 100, 1e3, 1e4}, "1 10 100 1k 10k", 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScale(c.axis, c.from, c.to, c.bars, 500, 80)
			s.from, s.to = 100, 600
			if s.lo != c.lo || s.hi != c.hi {
				t.Errorf("from %v to %v, want %v to %v", s.lo, s.hi, c.lo, c.hi)
			}
			if !slices.Equal(s.ticks, c.ticks) {
				t.Errorf("ticks %v, want %v", s.ticks, c.ticks)
			}
			var labels []string
			for _, v := range s.ticks {
				labels = append(labels, s.label(v))
			}
			between := " "
			if strings.Contains(c.labels, "|") {
				between = "|"
			}
			if got := strings.Join(labels, between); got != c.labels {
				t.Errorf("labels %q, want %q", got, c.labels)
			}
			between2 := 0
			for _, v := range s.minor {
				if v > s.ticks[0] && v < s.ticks[1] {
					between2++
				}
			}
			if c.minorBetween > 0 && between2 != c.minorBetween {
				t.Errorf("%d marks between the first ticks, want %d", between2, c.minorBetween)
			}
			if at := s.at(s.lo); math.Abs(at-100) > 1e-9 {
				t.Errorf("the least value stands at %v, want 100", at)
			}
			if at := s.at(s.hi); math.Abs(at-600) > 1e-9 {
				t.Errorf("the greatest value stands at %v, want 600", at)
			}
			mid := s.value(321)
			if at := s.at(mid); !(math.Abs(at-321) <= 1e-6) {
				t.Errorf("value and at disagree: %v", at)
			}
		})
	}
}

func TestManyDecadesThinTheirTicks(t *testing.T) {
	s := newScale(Axis{Log: true}, 1e-9, 1e18, false, 400, 80)
	if n := len(s.ticks); n < 4 || n > 10 {
		t.Errorf("%d ticks on 400 pixels", n)
	}
	for _, v := range s.ticks {
		if r := math.Log10(v); math.Abs(r-math.Round(r)) > 1e-9 {
			t.Errorf("tick %v is no power of ten", v)
		}
	}
}

// All that is drawn must lie in the picture, and no text on other text.
func TestLabelsKeepClear(t *testing.T) {
	figures := gallery(t)
	for seed := range 8 {
		figures = append(figures, crowd(seed, 12))
	}
	for _, f := range figures {
		t.Run(f.ID, func(t *testing.T) {
			l := f.layout()
			frame := box{0, 0, l.w, l.h}
			if l.plot.x1-l.plot.x0 < l.w*0.4 || l.plot.y1-l.plot.y0 < l.h*0.35 {
				t.Errorf("the plot has only %v of %v by %v", l.plot, l.w, l.h)
			}
			hidden := 0
			var shown []box
			for _, lb := range l.labels {
				if lb.hidden {
					hidden++
					continue
				}
				boxes := lb.boxes(lb.spot)
				for _, b := range boxes {
					if out := b.outside(frame); out > 1 {
						t.Errorf("%q reaches %v square pixels outside", lb.text, out)
					}
					for _, o := range shown {
						if b.overlap(o) > 5 {
							t.Errorf("%q covers another label", lb.text)
						}
					}
				}
				shown = append(shown, boxes...)
			}
			if hidden > 0 && !strings.HasPrefix(f.ID, "crowd") {
				t.Errorf("%d labels are hidden", hidden)
			}
			if hidden > 3 {
				t.Errorf("%d of %d labels are hidden", hidden, len(l.labels))
			}
		})
	}
}

// Even roofs that lie close together are each named along their slope, and no
// name lies on a roof.
func TestCloseRoofsAreNamed(t *testing.T) {
	var machines []roofline.Machine
	for _, r := range []struct {
		name      string
		bandwidth float64
	}{{"L1", 501.5e9}, {"L2", 192.7e9}, {"L3 up to 121.6 MiB", 34.64e9}, {"L3 or memory", 25.69e9}} {
		machines = append(machines, roofline.Machine{Name: r.name + ", one core", Format: "FP32", ElemBytes: 4, Peak: 233.1e9, Bandwidth: r.bandwidth})
	}
	f := Roofline("f", "t", "a", machines, []Dot{{Name: "packed", Intensity: 85, FLOPS: 5.6e9}, {Name: "loops", Intensity: 85, FLOPS: 2.2e9}})
	l := f.layout()
	named := 0
	for _, lb := range l.labels {
		if lb.rotate == 0 || lb.hidden {
			continue
		}
		named++
		for _, b := range lb.boxes(lb.spot) {
			for _, s := range f.Series {
				for i := 1; s.Kind == Line && i < len(s.Points); i++ {
					x0, y0 := l.position(i-1, s.Points[i-1])
					x1, y1 := l.position(i, s.Points[i])
					if b.crossing(x0, y0, x1, y1) > 0 {
						t.Errorf("%q lies on the roof %q", lb.text, s.Name)
					}
				}
			}
		}
	}
	if named != len(machines) {
		t.Errorf("%d of %d slopes are named", named, len(machines))
	}
}

// Between categories there are no values: what stands there hangs on one.
func TestAnchor(t *testing.T) {
	s := scale{kind: categoryScale, lo: -0.5, hi: 2.5, from: 0, to: 300}
	for _, c := range []struct{ px, v, off float64 }{
		{50, 0, 0}, {60, 0, 10}, {0, 0, -50}, {300, 2, 50}, {149, 1, -1}, {350, 2, 100},
	} {
		if v, off := s.anchor(c.px); v != c.v || !(math.Abs(off-c.off) <= 1e-6) {
			t.Errorf("anchor(%v) = %v, %v, want %v, %v", c.px, v, off, c.v, c.off)
		}
	}
	s = scale{kind: linearScale, lo: 0, hi: 30, from: 0, to: 300}
	if v, off := s.anchor(123); v != 12.3 || !(math.Abs(off) <= 1e-6) {
		t.Errorf("anchor = %v, %v", v, off)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name string
		ys   []float64
		want []float64
	}{
		{"apart already", []float64{10, 50, 90}, []float64{10, 50, 90}},
		{"two at one place", []float64{50, 50}, []float64{42.5, 57.5}},
		{"order is kept", []float64{52, 50}, []float64{58.5, 43.5}},
		{"three", []float64{50, 51, 52}, []float64{36, 51, 66}},
		{"at the upper end", []float64{0, 1}, []float64{0, 15}},
		{"at the lower end", []float64{100, 99}, []float64{100, 85}},
		{"a push that meets another", []float64{50, 50, 60}, []float64{160.0/3 - 15, 160.0 / 3, 160.0/3 + 15}},
		{"one", []float64{5}, []float64{5}},
		{"none", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			ys := slices.Clone(c.ys)
			spread(ys, 15, 0, 100)
			for i := range ys {
				if !(math.Abs(ys[i]-c.want[i]) <= 1e-9) {
					t.Fatalf("%v, want %v", ys, c.want)
				}
			}
		})
	}
}

func TestCrossing(t *testing.T) {
	b := box{10, 10, 20, 20}
	for _, c := range []struct{ x0, y0, x1, y1, want float64 }{
		{0, 15, 30, 15, 10},             // straight through
		{15, 0, 15, 30, 10},             // from top to bottom
		{0, 0, 30, 30, 10 * math.Sqrt2}, // through two corners
		{12, 15, 18, 15, 6},             // inside
		{0, 5, 30, 5, 0},                // above
		{0, 0, 5, 5, 0},                 // ends before it
		{0, 15, 15, 15, 5},              // ends inside
		{30, 15, 0, 15, 10},             // backwards
		{15, 15, 15, 15, 0},             // a point
		{0, 25, 25, 0, 5 * math.Sqrt2},  // cuts a corner
		{100, 100, 200, 200, 0},         // elsewhere
		{15, 100, 15, 200, 0},           // below, in the same column
		{10, 0, 10, 30, 10},             // along the edge
	} {
		got := b.crossing(c.x0, c.y0, c.x1, c.y1)
		if !(math.Abs(got-c.want) <= 1e-9) {
			t.Errorf("crossing(%v, %v, %v, %v) = %v, want %v", c.x0, c.y0, c.x1, c.y1, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		s     string
		width float64
		want  string
	}{
		{"short", 500, "short"},
		{"one two three", textLength("one two", 12), "one two\nthree"},
		{"a  b", 500, "a b"},
		{"unbreakable word", 1, "unbreakable\nword"},
		{"two\nlines", 500, "two\nlines"},
		{"", 500, ""},
	} {
		if got := wrap(c.s, 12, c.width); got != c.want {
			t.Errorf("wrap(%q, %v) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

func TestNaming(t *testing.T) {
	points := []Point{{X: 4, Y: 1}, {X: 2, Y: 2}}
	labelled := []Point{{X: 1, Y: 1, Label: "a"}}
	three := Axis{Categories: []string{"a", "b"}}
	many := make([]Series, 9)
	for i := range many {
		many[i] = Series{Name: "s", Points: points}
	}
	for _, c := range []struct {
		name         string
		figure       Figure
		legend, ends string
	}{
		{"one series", Figure{Series: []Series{{Name: "a", Points: points}}}, "", ""},
		{"lines", Figure{Series: []Series{{Name: "a", Points: points}, {Name: "b", Kind: Steps, Points: points}}}, "", "a|b"},
		{"dots and a line", Figure{Series: []Series{{Name: "a", Points: points}, {Name: "b", Kind: Dots, Points: points}}}, "", "a|◆ b"},
		{"dots that have their names", Figure{Series: []Series{{Name: "a", Points: points}, {Name: "b", Points: points}, {Name: "c", Kind: Dots, Points: labelled}}}, "", "a|b"},
		{"lines with labels", Figure{Series: []Series{{Name: "a", Points: labelled}, {Name: "b", Points: points}}}, "", "a|b"},
		{"bars", Figure{X: three, Series: []Series{{Name: "a", Kind: Bars, Points: points}, {Name: "b", Kind: Bars, Points: points}}}, "a|b", ""},
		{"too many", Figure{Series: many}, strings.Repeat("s|", 8) + "s", ""},
		{"named along their lines", Figure{namedAlong: true, Series: []Series{{Name: "a", Points: points}, {Name: "b", Points: points}}}, "", ""},
	} {
		legend, ends := c.figure.naming()
		if got := strings.Join(legend, "|"); got != c.legend {
			t.Errorf("%s: legend %q, want %q", c.name, got, c.legend)
		}
		if got := strings.Join(ends, "|"); got != c.ends {
			t.Errorf("%s: names at the ends %q, want %q", c.name, got, c.ends)
		}
	}
	// Dots need not be in order: the name stands at the one furthest to the right.
	if got := (Series{Kind: Dots, Points: points}).end(); got != 0 {
		t.Errorf("the name of the dots is at point %d, want 0", got)
	}
	if got := (Series{Points: points}).end(); got != 1 {
		t.Errorf("the name of the line is at point %d, want 1", got)
	}
}

// A title of two lines has no single word on the second.
func TestBalanced(t *testing.T) {
	const title = "Overlap gains most at the ridge point and never more than a factor of two"
	for _, c := range []struct {
		width float64
		want  string
	}{
		{textLength(title, 12) + 1, title},
		{textLength(title, 12) - 1, "Overlap gains most at the ridge point\nand never more than a factor of two"},
	} {
		if got := balanced(title, 12, c.width); got != c.want {
			t.Errorf("in %.0f pixels it is %q, want %q", c.width, got, c.want)
		}
	}
}

// Names stand at the ends of lines unless the ends meet; then they stand where
// the lines are apart, and the plot has the room.
func TestNamesWhereLinesAreApart(t *testing.T) {
	line := func(name string, ys ...float64) Series {
		s := Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, Point{X: float64(i), Y: y})
		}
		return s
	}
	for _, c := range []struct {
		name   string
		series []Series
		inside bool
	}{
		{"apart", []Series{line("one", 0, 1, 2), line("another", 0, 1, 1)}, false},
		{"meeting at the end", []Series{line("one", 0, 8, 10), line("another", 0, 2, 10)}, true},
		{"the same", []Series{line("one", 0, 5, 10), line("another", 0, 5, 10)}, false}, // nowhere apart
	} {
		l := Figure{ID: "f", Series: c.series}.layout()
		for i, lb := range l.labels {
			b := lb.at(lb.spot)
			if got := b.x1 < l.plot.x1; got != c.inside || lb.hidden {
				t.Errorf("%s: name %d from %.0f to %.0f of a plot up to %.0f, hidden %t", c.name, i, b.x0, b.x1, l.plot.x1, lb.hidden)
			}
			if !c.inside {
				continue
			}
			// Each is nearer to its own line than to the other.
			near := func(s Series) float64 {
				best := math.Inf(1)
				for j := range s.Points[1:] {
					x0, y0 := l.position(j, s.Points[j])
					x1, y1 := l.position(j+1, s.Points[j+1])
					for k := range 101 {
						t := float64(k) / 100
						best = min(best, math.Hypot(x0+t*(x1-x0)-(b.x0+b.x1)/2, y0+t*(y1-y0)-(b.y0+b.y1)/2))
					}
				}
				return best
			}
			if own, other := near(c.series[i]), near(c.series[1-i]); !(own < other) {
				t.Errorf("%s: name %d is %.0f pixels from its line and %.0f from the other", c.name, i, own, other)
			}
		}
	}
}
