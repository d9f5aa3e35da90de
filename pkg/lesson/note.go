package lesson

import (
	"fmt"
	"strings"
)

// Note shows a line of text that the cell computed. In a notebook it is
// Markdown, with formulas between dollar signs.
func Note(format string, args ...any) {
	s := format
	if len(args) > 0 {
		s = fmt.Sprintf(format, args...)
	}
	screen.show(block{Markdown: s, Text: s})
}

// Value shows a named value: "ridge point: 153.016 FLOP/byte". Whole numbers
// stand in full, other numbers to six significant digits, very large and very
// small ones with an SI prefix when there is a unit for it.
func Value(what string, v any, unit string) {
	s := plain(v)
	if f, ok := toFloat(v); ok && unit != "" && !whole(v) && (f >= 1e6 || f <= -1e6 || (f != 0 && f < 1e-3 && f > -1e-3)) {
		s = SI(f, unit)
	} else {
		s = strings.TrimSpace(s + " " + unit)
	}
	screen.show(block{
		HTML: `<div>` + esc(what) + `: <b>` + esc(s) + `</b></div>`,
		Text: what + ": " + s,
	})
}

// whole reports whether v is of an integer type.
func whole(v any) bool {
	switch v.(type) {
	case float64, float32:
		return false
	}
	return true
}
