//go:build unix

package lesson

import (
	"encoding/gob"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// kernel plays GoNB's part: it reads what a cell shows and acknowledges it.
// With deaf it reads and never answers.
func kernel(t *testing.T, deaf bool) (n *notebook, shown chan protocol.DisplayData) {
	t.Helper()
	dir := t.TempDir()
	to, from := filepath.Join(dir, "to"), filepath.Join(dir, "from")
	for _, path := range []string{to, from} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown = make(chan protocol.DisplayData, 100)
	go func() {
		in, err := os.Open(to)
		if err != nil {
			t.Error(err)
			return
		}
		out, err := os.OpenFile(from, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		receive, send := gob.NewDecoder(in), gob.NewEncoder(out)
		for {
			var d protocol.DisplayData
			if receive.Decode(&d) != nil {
				close(shown)
				return
			}
			ask, isAsk := d.Data[protocol.MIMECommValue].(protocol.CommValue)
			if !isAsk {
				shown <- d
				continue
			}
			if ask.Address != protocol.GonbuiSyncAddress {
				t.Errorf("asked %q", ask.Address)
			}
			if !deaf {
				send.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: ask.Value})
			}
		}
	}()
	return &notebook{to: to, from: from}, shown
}

func TestNotebook(t *testing.T) {
	n, shown := kernel(t, false)
	n.show(block{HTML: "<b>1</b>", Text: "1"})
	n.show(block{Markdown: "*2*", Text: "2"})
	n.show(block{HTML: "<b>3</b>", Text: "3", ID: "bar"})
	want := []protocol.DisplayData{
		{Data: map[protocol.MIMEType]any{"text/html": "<b>1</b>", "text/plain": "1"}},
		{Data: map[protocol.MIMEType]any{"text/markdown": "*2*", "text/plain": "2"}},
		{Data: map[protocol.MIMEType]any{"text/html": "<b>3</b>", "text/plain": "3"}, DisplayID: "bar"},
	}
	for i, w := range want {
		// Each was read before show returned, so that none is lost when the
		// program ends.
		select {
		case got := <-shown:
			if len(got.Data) != len(w.Data) || got.DisplayID != w.DisplayID {
				t.Errorf("message %d is %v, want %v", i, got, w)
			}
			for mime, v := range w.Data {
				if got.Data[mime] != v {
					t.Errorf("message %d: %s is %v, want %v", i, mime, got.Data[mime], v)
				}
			}
		default:
			t.Fatalf("message %d had not arrived", i)
		}
	}
	if n.lost {
		t.Error("the connection counts as lost")
	}
}

func TestNotebookThatDoesNotAnswer(t *testing.T) {
	old := ackLimit
	ackLimit = 50 * time.Millisecond
	defer func() { ackLimit = old }()
	if os.Getenv("LESSON_TEST_DEAF") != "" {
		n, _ := kernel(t, true)
		n.show(block{HTML: "<b>1</b>", Text: "first"})
		n.show(block{HTML: "<b>2</b>", Text: "second"})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNotebookThatDoesNotAnswer$")
	cmd.Env = append(os.Environ(), "LESSON_TEST_DEAF=1")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if got := stdout.String(); !strings.HasPrefix(got, "first\nsecond\n") {
		t.Errorf("standard output %q, want the plain text of both", got)
	}
	if got := stderr.String(); strings.Count(got, "the kernel does not answer") != 1 {
		t.Errorf("standard error %q, want one complaint", got)
	}
}

func TestNotebookWithoutPipes(t *testing.T) {
	n := &notebook{to: filepath.Join(t.TempDir(), "none"), from: "none"}
	if err := n.open(); err == nil {
		t.Error("no error")
	}
}
