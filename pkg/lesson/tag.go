package lesson

import "strings"

// Tag shows in small where the figures of a cell come from, in a few words; what
// makes them doubtful is one click away. The host's full line stands once in a
// chapter, in a Note.
func Tag(tag string, doubts ...string) {
	text := "Measured on " + tag + ". Reasons for doubt: "
	if len(doubts) == 0 {
		text += "none."
	} else {
		text += strings.Join(doubts, "; ") + "."
	}
	html := `<div style="font-size:90%;` + styleMuted + `">Measured on ` + esc(tag) + `. `
	switch len(doubts) {
	case 0:
		html += "No reasons for doubt.</div>"
	case 1:
		html += "<details style=\"display:inline\"><summary>One reason for doubt</summary>" + esc(doubts[0]) + ".</details></div>"
	default:
		html += "<details style=\"display:inline\"><summary>" + plain(len(doubts)) + " reasons for doubt</summary>" + esc(strings.Join(doubts, "; ")) + ".</details></div>"
	}
	screen.show(block{HTML: html, Text: text})
}
