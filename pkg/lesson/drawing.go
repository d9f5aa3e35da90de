package lesson

import (
	"encoding/base64"
	"fmt"
	"strings"

	"memorywall/pkg/internal/svg"
)

// Drawings that are no charts are made for two widths in pixels; a page shows
// the one that fits.
const (
	wideDrawing   = 760.0
	narrowDrawing = 340.0
)

// showDrawing shows what draw draws, a title above it, and the words that say
// the same.
func showDrawing(title, alt string, draw func(width float64) *svg.Drawing) {
	picture := func(width float64) string {
		return dataURL([]byte(svg.Still(draw(width).SVG(title, alt))))
	}
	screen.show(block{
		HTML: fmt.Sprintf(`<div class="memorywall-drawing"><div style="line-height:1.5"><b>%s</b></div>`+
			`<picture><source media="(max-width:520px)" srcset="%s"><img src="%s" alt="%s" style="max-width:100%%;height:auto"></picture></div>`,
			esc(title), picture(narrowDrawing), picture(wideDrawing), esc(title+". "+alt)),
		Text: title + "\n" + alt,
	})
}

// dataURL is the picture as the source of an image.
func dataURL(svg []byte) string {
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)
}

// split breaks words into lines of at most width pixels.
func split(words string, width float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(words) {
		if line != "" && svg.Wide(line+" "+word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
