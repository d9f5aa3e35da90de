//go:build unix

package lesson

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// renderer listens on a Unix socket and gives each connection to serve.
func renderer(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	// A socket's path must be short.
	dir, err := os.MkdirTemp("", "mw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return path
}

// reply reads the request and answers it with s.
func reply(c net.Conn, s string) {
	if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		io.Copy(io.Discard, r.Body)
	}
	io.WriteString(c, s)
}

func TestPicture(t *testing.T) {
	const svg = "<svg>drawn</svg>\n"
	socket := renderer(t, func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"a":1}` {
			t.Errorf("body %q, error %v", body, err)
		}
		if r.Method != "POST" || r.URL.String() != "/svg?width=760&height=420&id=f" {
			t.Errorf("asked %s %s", r.Method, r.URL)
		}
		answer := http.Response{
			StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"image/svg+xml"}},
			ContentLength: int64(len(svg)), Body: io.NopCloser(strings.NewReader(svg)), Close: true,
		}
		if err := answer.Write(c); err != nil {
			t.Error(err)
		}
	})
	t.Setenv(renderEnv, socket)
	if got := picture([]byte(`{"a":1}`), "f", 760, 420); string(got) != svg {
		t.Errorf("picture %q", got)
	}
}

func TestPictureOfALateRenderer(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	socket := renderer(t, func(c net.Conn) { reply(c, answer) })
	late := socket + "2"
	t.Setenv(renderEnv, late)
	go func() {
		time.Sleep(120 * time.Millisecond)
		if err := os.Rename(socket, late); err != nil {
			t.Error(err)
		}
	}()
	if got := picture([]byte("{}"), "f", 1, 1); string(got) != "ok" {
		t.Errorf("picture %q", got)
	}
}

func TestNoPicture(t *testing.T) {
	old := renderLimit
	renderLimit = 100 * time.Millisecond
	defer func() { renderLimit = old }()
	say := func(s string) string {
		return renderer(t, func(c net.Conn) { reply(c, s) })
	}
	for _, c := range []struct{ name, socket string }{
		{"no renderer", ""},
		{"no socket", filepath.Join(t.TempDir(), "none")},
		{"path too long", "/" + strings.Repeat("x", 200)},
		{"not a socket", os.Args[0]},
		{"silence", renderer(t, func(c net.Conn) { time.Sleep(time.Second) })},
		{"hangs up", renderer(t, func(c net.Conn) {})},
		{"no HTTP", say("hello")},
		{"nothing after the head", say("HTTP/1.1\r\n\r\n")},
		{"refusal", say("HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nbad")},
		{"cut off", say("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nbad")},
		{"no length", say("HTTP/1.1 200 OK\r\n\r\nok")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(renderEnv, c.socket)
			start := time.Now()
			if got := picture([]byte("{}"), "f", 1, 1); got != nil {
				t.Errorf("picture %q, want none", got)
			}
			if d := time.Since(start); d > 900*time.Millisecond {
				t.Errorf("took %v, past its limit", d)
			}
		})
	}
}
