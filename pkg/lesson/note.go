package lesson

import (
	"fmt"
	"strings"

	"memorywall/pkg/internal/num"
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
// stand in full, other numbers to six significant digits, or with an SI prefix
// where they are very large or very small and the unit takes one.
func Value(what string, v any, unit string) {
	s := strings.TrimSpace(plain(v) + " " + unit)
	switch f := v.(type) {
	case float64:
		s = num.Value(f, unit, 0)
	case float32:
		s = num.Value(float64(f), unit, 0)
	}
	screen.show(block{
		HTML: `<div style="line-height:1.5">` + esc(what) + `: <b>` + esc(s) + `</b></div>`,
		Text: what + ": " + s,
	})
}
