package lesson

import (
	"strings"
	"unicode/utf8"
)

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
