package explore

import (
	"math"
	"strconv"
	"strings"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/internal/svg"
)

// drawing is a picture in the making.
type drawing struct{ svg.Drawing }

func newDrawing(width, height float64) *drawing {
	return &drawing{svg.Drawing{Width: width, Height: height}}
}

// logAxis maps positive numbers, in whole decades, to pixels.
type logAxis struct {
	from, to    int // powers of ten at its ends
	start, stop float64
}

// floorDecade returns the greatest whole d with 10^d ≤ v.
func floorDecade(v float64) int {
	_, exponent := scientific(v)
	return exponent
}

// ceilDecade returns the least whole d with 10^d ≥ v.
func ceilDecade(v float64) int {
	digits, exponent := scientific(v)
	if digits == "1" {
		return exponent
	}
	return exponent + 1
}

func (a logAxis) at(v float64) float64 {
	share := (math.Log10(v) - float64(a.from)) / float64(a.to-a.from)
	return a.start + share*(a.stop-a.start)
}

// ticks returns powers of ten along the axis, at most so many.
func (a logAxis) ticks(most int) []int {
	step := (a.to-a.from)/most + 1
	var all []int
	for d := a.from; d <= a.to; d++ {
		if (d-a.to)%step == 0 {
			all = append(all, d)
		}
	}
	return all
}

// powerOfTen writes the label of a tick: 100, 10k, 1T, 0.01, 1e24.
func powerOfTen(d int) string {
	if d >= -3 && d < 0 {
		return "0." + strings.Repeat("0", -1-d) + "1"
	}
	return prefixed("1", d, 0)
}

// prefixed writes a decimal number, its digits and its power of ten, so that it
// reads back as the same: with a prefix from 10^full on, "312T" or "2.039T", and
// with an exponent where the prefixes end.
func prefixed(digits string, exponent, full int) string {
	switch {
	case exponent < -3 || exponent > 20:
		return mantissa(digits, 1) + "e" + strconv.Itoa(exponent)
	case exponent < full:
		return mantissa(digits, 1+exponent)
	}
	return mantissa(digits, 1+exponent%3) + []string{"", "k", "M", "G", "T", "P", "E"}[exponent/3]
}

// chart draws the frame of a log–log chart: grid, ticks and the names of the
// axes.
func (d *drawing) chart(x, y logAxis, xName, yName string) {
	for _, at := range x.ticks(int((x.stop-x.start)/52) + 1) {
		p := x.at(math.Pow10(at))
		d.Line("grid", 1, false, p, y.start, p, y.stop)
		d.Text(p, y.start+16, "middle", "muted", powerOfTen(at))
	}
	for _, at := range y.ticks(int((y.start-y.stop)/30) + 1) {
		p := y.at(math.Pow10(at))
		d.Line("grid", 1, false, x.start, p, x.stop, p)
		d.Text(x.start-6, p+4, "end", "muted", powerOfTen(at))
	}
	d.Line("line", 1, false, x.start, y.stop, x.start, y.start, x.stop, y.start)
	d.Text(x.stop, y.start+33, "end", "muted", xName)
	d.Text(4, y.stop-12, "start", "muted", yName)
}

// roofChart begins a picture with the roof of a machine on log–log axes that reach
// from lo to hi FLOP/byte, and room below. It returns the height of the roof too.
func roofChart(width, high, below, lo, hi, peak, bandwidth float64, yName string) (d *drawing, x, y logAxis, roof float64) {
	d = newDrawing(width, 30+high+40+below)
	x = logAxis{start: 46, stop: width - 14, from: min(-1, floorDecade(lo)), to: max(4, ceilDecade(hi))}
	foot := bandwidth * math.Pow10(x.from)
	y = logAxis{start: 30 + high, stop: 30, from: floorDecade(foot)}
	y.to = max(ceilDecade(peak), y.from+1)
	y.makeRoom(peak)
	d.chart(x, y, "arithmetic intensity, FLOP/byte", yName)
	roof = y.at(peak)
	d.Line("series-0", 2.5, false, x.start, y.at(foot), x.at(peak/bandwidth), roof, x.stop, roof)
	return d, x, y, roof
}

// makeRoom gives an upright axis a decade more where v leaves no room for a name.
func (a *logAxis) makeRoom(v float64) {
	if a.at(v) < a.stop+18 {
		a.to++
	}
}

// piece is a part of a bar.
type piece struct {
	seconds float64
	fill    string
}

// bar draws the parts of a time one behind the other, so many pixels for a second,
// with the bar's name before them and their sum behind.
func (d *drawing) bar(x, y, high, pixels float64, name string, pieces ...piece) {
	d.Text(x-6, y+12, "end", "muted", name)
	sum, left := 0.0, x
	for _, p := range pieces {
		if p.seconds > 0 {
			d.Rect(left, y, max(pixels*p.seconds, 1), high, p.fill)
		}
		sum, left = sum+p.seconds, left+pixels*p.seconds
	}
	d.Text(max(left, x+min(1, pixels*sum))+6, y+12, "start", "text", num.SI(sum, "s"))
}

// beside writes words next to a place of the chart, on the side where there is
// room.
func (d *drawing) beside(x logAxis, px, py float64, fill, words string) {
	if px+10+svg.Wide(words) <= x.stop {
		d.Text(px+10, py, "start", fill, words)
	} else if px-10-svg.Wide(words) >= x.start {
		d.Text(px-10, py, "end", fill, words)
	} else {
		d.Text((x.start+x.stop)/2, py, "middle", fill, words)
	}
}
