package lesson

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the files under testdata anew")

// recorder keeps what is shown.
type recorder struct {
	html   bool
	blocks []block
}

func (r *recorder) show(b block) { r.blocks = append(r.blocks, b) }
func (r *recorder) rich() bool   { return r.html }

// exited is what the exit of a test panics with.
type exited int

// record runs f and returns what it showed, and the status that it ended the
// program with, or -1 when it returned.
func record(t *testing.T, html bool, f func()) (blocks []block, status int) {
	t.Helper()
	r := &recorder{html: html}
	oldScreen, oldExit := screen, exit
	screen, exit = r, func(code int) { panic(exited(code)) }
	defer func() { screen, exit = oldScreen, oldExit }()
	status = -1
	func() {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case exited:
				status = int(p)
			default:
				panic(p)
			}
		}()
		f()
	}()
	return r.blocks, status
}

// golden compares got with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; if that is meant, run go test ./pkg/lesson -update.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
