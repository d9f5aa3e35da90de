package svg

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// FontFamily is the reader's own interface font.
const FontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

const fontSize = 12.0

// Drawing is an SVG picture in the making. Places and lengths are in pixels, y
// downwards; colours are names of palette.css.
type Drawing struct {
	Width, Height float64
	b             strings.Builder
}

// px writes a length in tenths of a pixel. What lies far outside is moved to
// where it cannot be seen either.
func px(v float64) string {
	const far = 1e5
	if !(v > -far) { // and NaN
		v = -far
	}
	text := strings.TrimSuffix(strconv.FormatFloat(min(v, far), 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// Rect fills a rectangle.
func (d *Drawing) Rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, px(x), px(y), px(width), px(height), Color(fill))
}

// Frame draws the edge of a rectangle.
func (d *Drawing) Frame(x, y, width, height float64, stroke string, thick float64) {
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="none" stroke="%s" stroke-width="%s"/>`,
		px(x), px(y), px(width), px(height), Color(stroke), px(thick))
}

// Line draws through points x, y, x, y …
func (d *Drawing) Line(stroke string, thick float64, dashed bool, points ...float64) {
	dashes := ""
	if dashed {
		dashes = ` stroke-dasharray="5 4"`
	}
	fmt.Fprintf(&d.b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%s"%s stroke-linejoin="round"/>`,
		places(points), Color(stroke), px(thick), dashes)
}

// Area fills the polygon with corners x, y, x, y …
func (d *Drawing) Area(fill string, points ...float64) {
	fmt.Fprintf(&d.b, `<polygon points="%s" fill="%s"/>`, places(points), Color(fill))
}

func places(points []float64) string {
	var at []string
	for _, p := range points {
		at = append(at, px(p))
	}
	return strings.Join(at, " ")
}

// Grid draws thin lines across a square, upright and level, so far from its
// corner.
func (d *Drawing) Grid(x, y, side float64, lines iter.Seq[float64]) {
	fmt.Fprintf(&d.b, `<path fill="none" stroke="%s" stroke-width="0.5" d="`, Color("line"))
	for at := range lines {
		fmt.Fprintf(&d.b, "M%s %sv%sM%s %sh%s", px(x+at), px(y), px(side), px(x), px(y+at), px(side))
	}
	d.b.WriteString(`"/>`)
}

// Dot draws the mark of a datum.
func (d *Drawing) Dot(x, y float64, fill string) {
	fmt.Fprintf(&d.b, `<circle cx="%s" cy="%s" r="6" fill="%s" stroke="%s" stroke-width="2"/>`, px(x), px(y), Color(fill), Color("paper"))
}

// Text writes words; anchor is "start", "middle" or "end". A rim in the colour
// of the page keeps them readable where a line passes.
func (d *Drawing) Text(x, y float64, anchor, fill, words string) {
	d.write(x, y, anchor, fill, "", words)
}

// Bold is Text in bold.
func (d *Drawing) Bold(x, y float64, anchor, fill, words string) {
	d.write(x, y, anchor, fill, ` font-weight="bold"`, words)
}

// Turned writes words along a line that rises by so many degrees.
func (d *Drawing) Turned(x, y, degrees float64, fill, words string) {
	d.write(x, y, "middle", fill, fmt.Sprintf(` transform="rotate(%s %s %s)"`, px(-degrees), px(x), px(y)), words)
}

func (d *Drawing) write(x, y float64, anchor, fill, more, words string) {
	fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="%s" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke" stroke-linejoin="round"%s>%s</text>`,
		px(x), px(y), anchor, Color(fill), Color("paper"), more, escape(words))
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// Wide estimates how wide words are.
func Wide(words string) float64 { return 0.56 * fontSize * float64(len([]rune(words))) }

// SVG closes the picture. title and alt are what it is and what it shows.
func (d *Drawing) SVG(title, alt string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%[1]s. %[2]s" width="%[3]s" height="%[4]s" viewBox="0 0 %[3]s %[4]s" font-family="%[5]s" font-size="%[6]s">`+
		`<title>%[1]s</title><desc>%[2]s</desc><rect width="%[3]s" height="%[4]s" fill="%[7]s"/>%[8]s</svg>`,
		escape(title), escape(alt), px(d.Width), px(d.Height), FontFamily, px(fontSize), Color("paper"), d.b.String())
}
