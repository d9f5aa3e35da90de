package explore

import (
	"math"
	"strconv"
	"strings"

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
