package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
		{nil, fmt.Errorf("in the middle: %w", context.Canceled), 130, "try: stopped, nothing was written\n", true},
		{nil, errors.New("a\tname\x1b[31m\u202e"), 1, `try: a\tname\x1b[31m\u202e` + "\n", true},
		{nil, errors.New("one\n" + strings.Repeat("é", 500)), 1, "try: one\n" + strings.Repeat("é", 400) + " …\n", true},
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
		{args: []string{"--m\nnext"}, err: `flag provided but not defined: -m\nnext; --help tells the flags`},
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

// A command whose output cannot be written has failed, also if it does not look, and
// an interrupt ends it.
func TestMain(m *testing.M) {
	switch os.Getenv("COMMAND_TEST") {
	case "print":
		Main(func(_ context.Context, _ []string, stdout, _ io.Writer) int {
			fmt.Fprintln(stdout, "much")
			return 0
		})
	case "plain":
		Plain(func(args []string, stdout, _ io.Writer) int {
			fmt.Fprintln(stdout, "much")
			select {} // an interrupt ends it all the same
		})
	case "deaf":
		Main(func(_ context.Context, _ []string, stdout, _ io.Writer) int {
			fmt.Fprintln(stdout, "much")
			select {}
		})
	case "wait":
		Main(func(ctx context.Context, _ []string, stdout, stderr io.Writer) int {
			return Run("try", stderr, func() (int, error) { return 0, nil }, func(int) error {
				fmt.Fprintln(stdout, "waiting")
				<-ctx.Done()
				return ctx.Err()
			})
		})
	}
	os.Exit(m.Run())
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "COMMAND_TEST=print")
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = full, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "cannot write: ") {
		t.Errorf("%v, %q", err, stderr.String())
	}
}

func TestInterrupt(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "COMMAND_TEST=wait")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || stderr.String() != "try: stopped, nothing was written\n" {
		t.Errorf("%v, %q", err, stderr.String())
	}
}

// Who does not listen to an interrupt is ended all the same: at the first with
// Plain, at the second with Main.
func TestInterruptOfTheDeaf(t *testing.T) {
	for _, kind := range []string{"plain", "deaf"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "COMMAND_TEST="+kind)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			cmd.Wait() //nolint:errcheck // its state is looked at
			close(ended)
		}()
		signals := 0
		for done := false; !done && signals < 200; signals++ {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				break
			}
			select {
			case <-ended:
				done = true
			case <-time.After(50 * time.Millisecond):
			}
		}
		select {
		case <-ended:
		default:
			cmd.Process.Kill() //nolint:errcheck // it is over
			<-ended
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() != syscall.SIGINT {
			t.Errorf("%s: after %d interrupts it ended with %v", kind, signals, cmd.ProcessState)
		}
	}
}

func TestText(t *testing.T) {
	long := strings.Repeat("x", 1000)
	if got := Text("a\tb\nc\x1b[31m\r" + long); got != "a\tb\nc\\x1b[31m\\r"+long {
		t.Errorf("%q", got)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadFile(path, 4); err != nil || string(text) != "four" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadFile(path, 3); err == nil || err.Error() != path+" has more than 3: too much for such a file" {
		t.Error(err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := ReadFile("/dev/zero", 1<<10); err == nil || !strings.Contains(err.Error(), "/dev/zero has more than 1KiB") {
			t.Error(err)
		}
	}
	if _, err := ReadFile(path+"s", 4); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"1": 1, "3B": 3, "2KiB": 2048, "1.5 MiB": 3 << 19, "4GiB": 4 << 30, "1GB": 1e9, "100TB": 100e12, "2TiB": 2 << 40, "2MB": 2e6, "3kB": 3000} {
		var got Size
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for text, n := range map[string]Size{"0": 0, "1000": 1000, "1KiB": 1024, "1536MiB": 3 << 29} {
		if n.String() != text {
			t.Errorf("%d is %s, want %s", int64(n), n.String(), text)
		}
	}
	for _, text := range []string{"", "0", "-1GiB", "much", "1XB", "9e99TB", "NaN"} {
		s := Size(7)
		if err := s.Set(text); err == nil || !strings.Contains(err.Error(), "the units are KiB, MiB, GiB, TiB, kB, MB, GB, TB, B") || s != 7 {
			t.Errorf("%q: %v, %d", text, err, s)
		}
	}
}
