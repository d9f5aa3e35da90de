package lesson

import (
	"strings"
	"unicode/utf8"
)

// Widths of the printable ASCII characters in thousandths of the font size: of
// each the advance in DejaVu Sans or in Liberation Sans (as wide as Arial),
// whichever is greater. The faces that other systems set interfaces in are
// narrower than the first, so text takes at most this much.
var asciiWidths = [95]uint16{
	318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, // space to /
	636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556, // 0 to ?
	1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863, 748, 787, // @ to O
	667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556, // P to _
	500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, // ` to o
	635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838, // p to ~
}

const bold = 1.14 // the bold face of a line of text against the regular one

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
			case r == '×' || r == '−':
				sum += 838
			case r < 0x2190:
				sum += 640
			case r < 0x2e80: // arrows, symbols
				sum += 950
			default:
				sum += 1000
			}
		}
		longest = max(longest, sum)
	}
	return longest / 1000 * size
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

// balanced breaks s as wrap does, into lines of about the same length.
func balanced(s string, size, width float64) string {
	best := wrap(s, size, width)
	for w := width; w > width/3; w -= size {
		narrower := wrap(s, size, w)
		if lineCount(narrower) > lineCount(best) {
			break
		}
		best = narrower
	}
	return best
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
