package explore

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// colours of the pictures. Each is a variable of CSS, which a page sets for its
// theme; where none is set, as inside an image, the light colour given here
// holds. Those of series are the ones of Okabe and Ito, which readers with any
// colour vision can tell apart.
var colours = map[string]string{
	"paper": "#ffffff", "ink": "#1f2328", "muted": "#59636e", "line": "#77808a", "grid": "#e4e7eb",
	"blue": "#0072b2", "orange": "#d55e00", "blue-ink": "#005f95", "orange-ink": "#a84900",
	"loaded": "#f0b73f", "held": "#8fcdf2", "stored": "#5fd0a8", "band": "#f9e9c4", "edge": "#e4e7eb", "full": "#c01526",
}

func colour(name string) string { return "var(--mw-" + name + "," + colours[name] + ")" }

const (
	fontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
	fontSize   = 12.0
)

// drawing is an SVG picture in the making.
type drawing struct {
	width, height float64
	b             strings.Builder
}

// px writes a length in tenths of a pixel. What lies far outside is moved to
// where it cannot be seen either.
func px(v float64) string {
	const far = 1e5
	switch {
	case !(v > -far): // and NaN
		v = -far
	case v > far:
		v = far
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

func (d *drawing) rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, px(x), px(y), px(width), px(height), colour(fill))
}

func (d *drawing) frame(x, y, width, height float64, stroke string, thick float64) {
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="none" stroke="%s" stroke-width="%s"/>`,
		px(x), px(y), px(width), px(height), colour(stroke), px(thick))
}

// line draws through points x, y, x, y …
func (d *drawing) line(stroke string, thick float64, dashed bool, points ...float64) {
	var at []string
	for _, p := range points {
		at = append(at, px(p))
	}
	dashes := ""
	if dashed {
		dashes = ` stroke-dasharray="5 4"`
	}
	fmt.Fprintf(&d.b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%s"%s stroke-linejoin="round"/>`,
		strings.Join(at, " "), colour(stroke), px(thick), dashes)
}

// grid draws thin lines across a square, upright and level, so far from its
// corner.
func (d *drawing) grid(x, y, side float64, lines iter.Seq[float64]) {
	fmt.Fprintf(&d.b, `<path fill="none" stroke="%s" stroke-width="0.5" d="`, colour("line"))
	for at := range lines {
		fmt.Fprintf(&d.b, "M%s %sv%sM%s %sh%s", px(x+at), px(y), px(side), px(x), px(y+at), px(side))
	}
	d.b.WriteString(`"/>`)
}

func (d *drawing) dot(x, y float64, fill string) {
	fmt.Fprintf(&d.b, `<circle cx="%s" cy="%s" r="6" fill="%s" stroke="%s" stroke-width="2"/>`, px(x), px(y), colour(fill), colour("paper"))
}

// text writes words; anchor is "start", "middle" or "end". A rim in the colour
// of the page keeps them readable where a line passes.
func (d *drawing) text(x, y float64, anchor, fill, words string) {
	d.write(x, y, anchor, fill, "", words)
}

func (d *drawing) bold(x, y float64, anchor, fill, words string) {
	d.write(x, y, anchor, fill, ` font-weight="bold"`, words)
}

// turned writes words along a line that rises by so many degrees.
func (d *drawing) turned(x, y, degrees float64, fill, words string) {
	d.write(x, y, "middle", fill, fmt.Sprintf(` transform="rotate(%s %s %s)"`, px(-degrees), px(x), px(y)), words)
}

func (d *drawing) write(x, y float64, anchor, fill, more, words string) {
	fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="%s" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke" stroke-linejoin="round"%s>%s</text>`,
		px(x), px(y), anchor, colour(fill), colour("paper"), more, escapeXML(words))
}

var forXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeXML(text string) string { return forXML.Replace(text) }

// wide estimates how wide words are in pixels.
func wide(words string) float64 { return 0.56 * fontSize * float64(len([]rune(words))) }

// svg closes the picture. title and alt are what it is and what it shows.
func (d *drawing) svg(title, alt string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%[1]s. %[2]s" width="%[3]s" height="%[4]s" viewBox="0 0 %[3]s %[4]s" font-family="%[5]s" font-size="%[6]s">`+
		`<title>%[1]s</title><desc>%[2]s</desc><rect width="%[3]s" height="%[4]s" fill="%[7]s"/>%[8]s</svg>`,
		escapeXML(title), escapeXML(alt), px(d.width), px(d.height), fontFamily, px(fontSize), colour("paper"), d.b.String())
}

// logAxis maps positive numbers, in whole decades, to pixels.
type logAxis struct {
	from, to    int // powers of ten at its ends
	start, stop float64
}

// floorDecade returns the greatest whole d with 10^d ≤ v.
func floorDecade(v float64) int {
	_, exponent := scientific(v, 0)
	return exponent
}

// ceilDecade returns the least whole d with 10^d ≥ v.
func ceilDecade(v float64) int {
	digits, exponent := scientific(v, 0)
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
	switch {
	case d < -3 || d > 20:
		return "1e" + strconv.Itoa(d)
	case d < 0:
		return "0." + strings.Repeat("0", -1-d) + "1"
	}
	return "1" + strings.Repeat("0", d%3) + []string{"", "k", "M", "G", "T", "P", "E"}[d/3]
}

// chart draws the frame of a log–log chart: grid, ticks and the names of the
// axes.
func (d *drawing) chart(x, y logAxis, xName, yName string) {
	for _, at := range x.ticks(int((x.stop-x.start)/52) + 1) {
		p := x.at(math.Pow10(at))
		d.line("grid", 1, false, p, y.start, p, y.stop)
		d.text(p, y.start+16, "middle", "muted", powerOfTen(at))
	}
	for _, at := range y.ticks(int((y.start-y.stop)/30) + 1) {
		p := y.at(math.Pow10(at))
		d.line("grid", 1, false, x.start, p, x.stop, p)
		d.text(x.start-6, p+4, "end", "muted", powerOfTen(at))
	}
	d.line("line", 1, false, x.start, y.stop, x.start, y.start, x.stop, y.start)
	d.text(x.stop, y.start+33, "end", "muted", xName)
	d.text(4, y.stop-12, "start", "muted", yName)
}

// beside writes words next to a place of the chart, on the side where there is
// room.
func (d *drawing) beside(x logAxis, px, py float64, fill, words string) {
	if px+10+wide(words) <= x.stop {
		d.text(px+10, py, "start", fill, words)
	} else if px-10-wide(words) >= x.start {
		d.text(px-10, py, "end", fill, words)
	} else {
		d.text((x.start+x.stop)/2, py, "middle", fill, words)
	}
}
