package lesson

import (
	"fmt"
	"html"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
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
}

// Replaced by tests.
var (
	screen device = newDevice()
	exit          = os.Exit
)

func newDevice() device {
	if gonbui.IsNotebook {
		return &notebook{}
	}
	return terminal{os.Stdout}
}

// syncLimit bounds the wait for the kernel to take what was sent. It is
// reached only when the kernel is gone.
const syncLimit = 10 * time.Second

// notebook sends blocks to the GoNB kernel.
type notebook struct{ mu sync.Mutex }

func (n *notebook) show(b block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: b.Text}
	if b.HTML != "" {
		data[protocol.MIMETextHTML] = b.HTML
	}
	if b.Markdown != "" {
		data[protocol.MIMETextMarkdown] = b.Markdown
	}
	gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: b.ID})
	// The program may end right after this call, and what the kernel has not
	// read by then is lost. So wait for it, but not for ever.
	if gonbui.Error() != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(syncLimit):
	}
}

// terminal prints the plain text of blocks.
type terminal struct {
	w interface{ Write([]byte) (int, error) }
}

func (t terminal) show(b block) {
	if b.ID != "" {
		fmt.Fprintf(t.w, "\r\x1b[K%s", b.Text)
		return
	}
	fmt.Fprintln(t.w, strings.TrimRight(b.Text, "\n"))
}

// esc makes text safe inside HTML, in an element or in a quoted attribute.
func esc(s string) string { return html.EscapeString(s) }
