package lesson

import (
	"fmt"
	"strings"

	"memorywall/pkg/tiling"
)

// ShowTiles draws to scale how n×n matrices are cut into tile×tile tiles: the
// row of tiles of A and the column of tiles of B that one tile of C needs, and
// the smaller tiles at the edges.
func ShowTiles(n, tile int64) {
	light, text, err := tilesPicture(n, tile, lightTiles)
	Check(err)
	dark, _, err := tilesPicture(n, tile, darkTiles)
	Check(err)
	img := func(class, style, svg string) string {
		return fmt.Sprintf(`<img class="memorywall-%s" style="%s" src="%s" width="%d" height="%d" alt="%s">`,
			class, style, dataURL([]byte(svg)), tilesWidth, tilesHeight, esc(text))
	}
	screen.show(block{
		// figure.js shows the dark one in place of the light one on dark pages.
		HTML: img("light", "max-width:100%;height:auto", light) + img("dark", "max-width:100%;height:auto;display:none", dark),
		Text: text,
	})
}

// tilesTheme holds the colours of the drawing.
type tilesTheme struct{ paper, ink, muted, line, band, tile, edge string }

var (
	lightTiles = tilesTheme{"#ffffff", "#1f2328", "#59636e", "#77808a", "#f7dba3", "#8fcdf2", "#eceff2"}
	darkTiles  = tilesTheme{"#111111", "#e6e8ea", "#a8b0b9", "#77808a", "#7a5f24", "#2374a8", "#262b31"}
)

const (
	tilesWidth  = 760
	tilesHeight = 270
	tilesSide   = 200.0 // of each square
	maxGrid     = 64    // lines of the grid are drawn for up to this many tiles a side
)

// tilesPicture returns the drawing as SVG, and what it says in words.
func tilesPicture(n, tile int64, theme tilesTheme) (svg, text string, err error) {
	per := tiling.TilesPerSide(n, tile)
	last := n - (per-1)*tile
	b := min(tile, n)
	switch {
	case per == 1:
		text = fmt.Sprintf("n = %s, b = %s: one tile holds the whole matrix", plain(n), plain(tile))
	case last == tile:
		text = fmt.Sprintf("n = %s, b = %s: %s whole tiles per side", plain(n), plain(tile), plain(per))
	default:
		text = fmt.Sprintf("n = %s, b = %s: %s tiles per side, the last of them %s wide", plain(n), plain(tile), plain(per), plain(last))
	}
	var w strings.Builder
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d">`, tilesWidth, tilesHeight)
	fmt.Fprintf(&w, `<rect width="%d" height="%d" fill="%s"/>`, tilesWidth, tilesHeight, theme.paper)
	fmt.Fprintf(&w, `<g font-family="%s" font-size="12" fill="%s">`, esc(fontFamily), theme.ink)
	fmt.Fprintf(&w, `<text x="10" y="20" font-size="14" font-weight="bold">%s</text>`, esc(text))
	// The tile shown is one in the middle of C, or the first of few.
	row, col := per/2, per/3
	at := func(k int64) float64 { return tilesSide * float64(k*tile) / float64(n) }
	size := func(k int64) float64 { return tilesSide * float64(min(b, n-k*tile)) / float64(n) }
	rect := func(x, y, width, height float64, fill string) {
		fmt.Fprintf(&w, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`, x, y, max(width, 0.75), max(height, 0.75), fill)
	}
	const top = 58.0
	for k, m := range []struct{ name, note string }{
		{"A", "this row of tiles is loaded"}, {"B", "this column of tiles is loaded"}, {"C", "for this tile, stored once"},
	} {
		left := 20 + float64(k)*(tilesSide+50)
		fmt.Fprintf(&w, `<text x="%.0f" y="%.0f"><tspan font-weight="bold">%s</tspan> <tspan fill="%s">%s</tspan></text>`, left, top-8, m.name, theme.muted, m.note)
		if last < b && per > 1 { // the ragged edge
			rect(left+at(per-1), top, tilesSide-at(per-1), tilesSide, theme.edge)
			rect(left, top+at(per-1), tilesSide, tilesSide-at(per-1), theme.edge)
		}
		switch m.name {
		case "A":
			rect(left, top+at(row), tilesSide, size(row), theme.band)
		case "B":
			rect(left+at(col), top, size(col), tilesSide, theme.band)
		case "C":
			rect(left+at(col), top+at(row), size(col), size(row), theme.tile)
		}
		if per <= maxGrid {
			for i := int64(1); i < per; i++ {
				fmt.Fprintf(&w, `<path d="M%.2f %.0fv%.0fM%.0f %.2fh%.0f" stroke="%s" stroke-width="0.6"/>`,
					left+at(i), top, tilesSide, left, top+at(i), tilesSide, theme.line)
			}
		}
		fmt.Fprintf(&w, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="none" stroke="%s" stroke-width="1.5"/>`, left, top, tilesSide, tilesSide, theme.line)
	}
	if per > maxGrid {
		text += fmt.Sprintf("; lines between them would lie too close to draw beyond %d", maxGrid)
	}
	w.WriteString(`</g></svg>`)
	return w.String(), text, nil
}
