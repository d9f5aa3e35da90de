package command

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	plain := errors.New("no room")
	for _, c := range []struct {
		parsed, done error
		code         int
		says         string
		does         bool
	}{
		{nil, nil, 0, "", true},
		{flag.ErrHelp, nil, 0, "", false},
		{plain, nil, 2, "try: no room\n", false},
		{nil, plain, 1, "try: no room\n", true},
		{nil, Mistake("--n is 0"), 2, "try: --n is 0\n", true},
		{nil, fmt.Errorf("asked: %w", Stop{130, "stopped"}), 130, "try: asked: stopped\n", true},
	} {
		var stderr strings.Builder
		does := false
		code := Run("try", &stderr, func() (int, error) { return 7, c.parsed }, func(n int) error {
			does = n == 7
			return c.done
		})
		if code != c.code || stderr.String() != c.says || does != c.does {
			t.Errorf("parse %v, do %v: code %d, stderr %q, done: %t; want %+v", c.parsed, c.done, code, stderr.String(), does, c)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args  []string
		help  string // that it begins with
		after string // that it ends with
		err   string
	}{
		{args: []string{"--n", "3"}},
		{[]string{"--help"}, "usage: try\n  -n int\n", "and so on\n", flag.ErrHelp.Error()},
		{[]string{"-h"}, "usage: try\n  -n int\n", "and so on\n", flag.ErrHelp.Error()},
		{args: []string{"--m"}, err: "flag provided but not defined: -m; --help tells the flags"},
		{args: []string{"--n", "3", "now"}, err: `argument is "now": there are only flags; --help tells them`},
	} {
		f := flag.NewFlagSet("try", flag.ContinueOnError)
		n := f.Int("n", 1, "how many")
		var help strings.Builder
		err := Parse(f, c.args, &help, "usage: try", "and so on")
		if err == nil {
			err = OnlyFlags(f)
		}
		if c.err == "" && (err != nil || *n != 3) || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%v: n is %d, error %v", c.args, *n, err)
		}
		if got := help.String(); !strings.HasPrefix(got, c.help) || !strings.HasSuffix(got, c.after) || (got == "") != (c.help == "") {
			t.Errorf("%v: help is %q", c.args, got)
		}
	}
}

func TestTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Terminal(file) || Terminal(&strings.Builder{}) {
		t.Error("a file or a buffer is taken for a terminal")
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if !Terminal(device) {
		t.Errorf("%s, a character device as terminals are, is taken for none", os.DevNull)
	}
}
