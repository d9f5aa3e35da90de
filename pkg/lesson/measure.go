package lesson

import (
	"strings"
	"unicode/utf8"
)

// Widths of the printable ASCII characters of a common sans-serif face, in
// thousandths of the font size. The widest face that a reader may have instead,
// DejaVu Sans, takes a fifth more: the spare factor of textLength.
var asciiWidths = [95]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // space to /
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
}

const (
	spare = 1.2
	bold  = 1.12 // a bold face against the regular one
)

// textLength estimates the width in pixels of the longest line of s at a font
// size, on the safe side.
func textLength(s string, size float64) float64 {
	longest := 0.0
	for line := range strings.SplitSeq(s, "\n") {
		sum := 0.0
		for _, r := range line {
			switch {
			case r >= ' ' && r <= '~':
				sum += float64(asciiWidths[r-' '])
			case r < 0x2e80:
				sum += 600
			default:
				sum += 1000
			}
		}
		longest = max(longest, sum)
	}
	return longest / 1000 * size * spare
}

// wrap breaks s into lines of at most width pixels, at spaces. A longer word
// stands alone on its line.
func wrap(s string, size, width float64) string {
	var lines []string
	for para := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.FieldsSeq(para) {
			switch {
			case line == "":
				line = word
			case textLength(line+" "+word, size) <= width:
				line += " " + word
			default:
				lines = append(lines, line)
				line = word
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func lineCount(s string) int { return 1 + strings.Count(s, "\n") }

// textWidth is the number of character cells that s takes in a terminal.
func textWidth(s string) int { return utf8.RuneCountInString(s) }

// pad fills s with spaces on the right, to width cells.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-textWidth(s)))
}

// padLeft fills s with spaces on the left, to width cells.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-textWidth(s))) + s
}
