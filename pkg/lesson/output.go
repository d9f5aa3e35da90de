package lesson

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// block is one piece of output, in every form that a front end may choose
// from. Text is always set; at most one of HTML and Markdown is.
type block struct {
	HTML     string
	Markdown string
	Text     string
	ID       string // when set, a later block with the same ID takes its place
}

// device is where blocks go.
type device interface {
	show(b block)
	rich() bool // whether it shows HTML
}

// Replaced by tests.
var (
	screen = newDevice()
	exit   = os.Exit
)

func newDevice() device {
	if path := os.Getenv(protocol.GONB_PIPE_ENV); path != "" {
		return &notebook{to: path, from: os.Getenv(protocol.GONB_PIPE_BACK_ENV)}
	}
	return &terminal{w: os.Stdout}
}

// terminal prints the plain text of blocks.
type terminal struct {
	w    io.Writer
	open bool // the last line may be written over
}

func (t *terminal) rich() bool { return false }

func (t *terminal) show(b block) {
	text := strings.TrimRight(b.Text, "\n")
	switch {
	case b.ID != "":
		fmt.Fprintf(t.w, "\r%s\x1b[K", text)
		t.open = !strings.HasSuffix(b.Text, "\n")
		if !t.open {
			fmt.Fprintln(t.w)
		}
		return
	case t.open:
		fmt.Fprintln(t.w)
		t.open = false
	}
	fmt.Fprintln(t.w, text)
}

// esc makes text safe inside HTML, in an element or in a quoted attribute.
func esc(s string) string { return html.EscapeString(s) }
