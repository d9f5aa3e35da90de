package lesson

import (
	"math"
	"memorywall/pkg/internal/num"
	"strconv"
)

// scale is an axis laid out: what it spans, where its ticks are, and where in
// the picture each value stands.
type scale struct {
	kind     scaleKind
	base     float64 // of a log scale
	lo, hi   float64 // category scales span -0.5 to n-0.5
	ticks    []float64
	minor    []float64 // all tick marks, those with labels among them
	format   string    // "si", "num", "ki" or "s"
	from, to float64   // pixels of lo and hi
}

type scaleKind int

const (
	linearScale scaleKind = iota
	logScale
	categoryScale
)

// at returns the pixel of v. What lies far outside the picture lies at most
// farOut pixels outside.
func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.kind == logScale {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return max(-farOut, min(s.from+(v-lo)/(hi-lo)*(s.to-s.from), farOut))
}

const farOut = 1e6

// value returns the value at a pixel.
func (s scale) value(px float64) float64 {
	t := (px - s.from) / (s.to - s.from)
	if s.kind == logScale {
		return math.Exp(math.Log(s.lo) + t*(math.Log(s.hi)-math.Log(s.lo)))
	}
	return s.lo + t*(s.hi-s.lo)
}

// anchor returns a value of the scale near a pixel, and how many pixels past it
// that is. Between categories there are no values.
func (s scale) anchor(px float64) (v, off float64) {
	v = s.value(px)
	if s.kind == categoryScale {
		v = max(0, min(math.Round(v), s.hi-0.5))
	}
	v = digits(v)
	return v, px - s.at(v)
}

// label writes a tick as the page does.
func (s scale) label(v float64) string {
	switch s.format {
	case "si":
		return tickSI(v)
	case "ki":
		return num.Binary(v, "B")
	case "s":
		return SI(v, "s")
	}
	return num.Plain(v)
}

func tickSI(v float64) string {
	if math.Abs(v) < 1e3 {
		return num.Plain(v)
	}
	return nospace(SI(v, ""))
}

// newScale lays out an axis for data from lo to hi, length pixels long, with
// ticks at least apart pixels from each other on a linear scale. A scale for
// bars starts below the shortest bar, a linear one at zero.
func newScale(a Axis, lo, hi float64, bars bool, length, apart float64) scale {
	if n := len(a.Categories); n > 0 {
		return scale{kind: categoryScale, lo: -0.5, hi: float64(n) - 0.5}
	}
	if a.Log {
		return newLogScale(a, lo, hi, bars, length)
	}
	return newLinearScale(a, lo, hi, bars, length/apart)
}

func newLinearScale(a Axis, lo, hi float64, bars bool, room float64) scale {
	s := scale{kind: linearScale, format: "num"}
	fixed := a.Min != 0 || a.Max != 0
	switch {
	case bars:
		lo, hi = min(lo, 0), max(hi, 0)
	case lo >= 0 && lo < hi/2:
		lo = 0
	case hi <= 0 && hi > lo/2:
		hi = 0
	}
	if fixed {
		lo = a.Min
		if a.Max > a.Min {
			hi = a.Max
		}
	}
	if size := max(math.Abs(lo), math.Abs(hi)); !(hi-lo > narrow*size) || size < least {
		// One value, as far as a picture can tell: it stands in the middle.
		pad := math.Abs(lo) / 2
		if pad < least {
			pad = 0.5
		}
		lo, hi = lo-pad, max(lo, hi)+pad
	}
	step := niceStep((hi - lo) / max(room, 2))
	s.lo, s.hi = lo, hi
	if !fixed || a.Max <= a.Min {
		s.hi = math.Ceil(hi/step-1e-9) * step
		if bars && hi > 0 && hi > s.hi-0.15*step { // room for the text at the end
			s.hi += step
		}
	}
	if !fixed {
		s.lo = math.Floor(lo/step+1e-9) * step
	}
	for k := math.Ceil(s.lo/step - 1e-9); k*step <= s.hi+step*1e-9; k++ {
		s.ticks = append(s.ticks, tidy(k*step))
	}
	s.lo, s.hi = tidy(s.lo), tidy(s.hi)
	s.minor = s.ticks
	switch {
	case a.Unit == "s":
		s.format = "s"
	case max(math.Abs(s.lo), math.Abs(s.hi)) >= 1e5:
		s.format = "si"
	}
	return s
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is at
// least v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// tidy drops the noise in the last digits, so that 0.30000000000000004 is 0.3.
func tidy(v float64) float64 {
	if v == 0 {
		return 0 // and not -0
	}
	t, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return t
}

func newLogScale(a Axis, lo, hi float64, bars bool, length float64) scale {
	s := scale{kind: logScale, base: 10, format: "si"}
	if a.Base == 2 {
		s.base, s.format = 2, "num"
		if num.Bytes(a.Unit) {
			s.format = "ki"
		}
	}
	if a.Unit == "s" {
		s.format = "s"
	}
	s.lo, s.hi = s.round(lo, hi, bars)
	if a.Min > 0 {
		s.lo = a.Min
		s.hi = max(s.hi, s.lo*s.base)
	}
	if a.Max > 0 {
		s.hi = a.Max
		if a.Min <= 0 {
			s.lo = min(s.lo, s.hi/s.base)
		}
	}
	s.lo, s.hi = tidy(s.lo), tidy(s.hi)
	s.logTicks(length)
	return s
}

// round returns bounds around lo to hi: powers of the base, or, where that
// would leave much of a short axis empty, 1, 2 and 5 times a power of ten.
func (s scale) round(lo, hi float64, bars bool) (float64, float64) {
	log := func(v float64) float64 { return math.Log(v) / math.Log(s.base) }
	down := func(v float64) float64 { return math.Pow(s.base, math.Floor(log(v)+1e-9)) }
	up := func(v float64) float64 { return math.Pow(s.base, math.Ceil(log(v)-1e-9)) }
	if s.base == 10 && !bars && log(hi)-log(lo) < 4 {
		l, h := down(lo), up(hi)
		for _, m := range []float64{2, 5} {
			if m*down(lo) <= lo*(1+1e-9) {
				l = m * down(lo)
			}
			if up(hi)/m >= hi*(1-1e-9) {
				h = up(hi) / m
			}
		}
		if l < h {
			return l, h
		}
	}
	l, h := down(lo), up(hi)
	if bars && lo < l*1.5 { // leave the shortest bar some length
		l /= s.base
	}
	if !(l < h) {
		l, h = l/s.base, h*s.base
	}
	return l, h
}

// logTicks places ticks at powers of the base, as many as there is room for. A
// decade or two get ticks at 2 and 5 as well, and up to six get short marks
// at every digit.
func (s *scale) logTicks(length float64) {
	log := func(v float64) float64 { return math.Log(v) / math.Log(s.base) }
	first := int(math.Ceil(log(s.lo) - 1e-9))
	last := int(math.Floor(log(s.hi) + 1e-9))
	room := max(int(length/46), 2)
	stride := 1
	for (last-first)/stride+1 > room {
		stride++
	}
	digits := []float64{1}
	if s.base == 10 && log(s.hi)-log(s.lo) < 2.01 && stride == 1 {
		digits = []float64{1, 2, 5}
	}
	inside := func(v float64) bool { return v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) }
	for k := first - 1; k <= last; k++ {
		p := math.Pow(s.base, float64(k))
		for _, d := range digits {
			if v := tidy(d * p); inside(v) && (k-first)%stride == 0 {
				s.ticks = append(s.ticks, v)
			}
		}
		if s.base == 10 && last-first <= 6 && stride == 1 {
			for d := 1.0; d < 10; d++ {
				if v := tidy(d * p); inside(v) {
					s.minor = append(s.minor, v)
				}
			}
		}
	}
	if s.minor == nil {
		s.minor = s.ticks
	}
}
