// Package command holds what the commands in scripts/ share: how they read their
// flags, say what is wrong, and end.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// Exit codes beside 0 and that of a [Stop].
const (
	failed      = 1
	mistake     = 2 // in the call
	interrupted = 130
)

// A Stop ends a command with an exit code of its own.
type Stop struct {
	Code int
	Why  string
}

func (s Stop) Error() string { return s.Why }

// Mistake returns a mistake in the call that shows only in the work, such as a
// value that does not suit this machine.
func Mistake(why string) Stop { return Stop{mistake, why} }

// Main runs a command with a context that an interrupt (Ctrl-C, SIGTERM) ends, and
// what it prints checked: a full disk is a failure, also if run does not look.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends what does not listen to the first
	Plain(func(args []string, stdout, stderr io.Writer) int { return run(ctx, args, stdout, stderr) })
}

// Plain runs a command that has nothing to put away: an interrupt ends it where it
// stands. What it prints is checked as in [Main].
func Plain(run func(args []string, stdout, stderr io.Writer) int) {
	out := &checked{w: os.Stdout}
	code := run(os.Args[1:], out, os.Stderr)
	if code == 0 && out.err != nil {
		fmt.Fprintf(os.Stderr, "cannot write: %v\n", out.err)
		code = failed
	}
	os.Exit(code)
}

// checked keeps the first error of a writer.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// Run reads the call with parse and does what it asks for. An error is told on
// stderr behind the command's name, [Line] by line. The exit code is 0, also for a
// call for help ([flag.ErrHelp]); 2 for any other error of parse; and for one of do
// that of a [Stop], 130 for an interrupt, else 1.
func Run[C any](name string, stderr io.Writer, parse func() (C, error), do func(C) error) int {
	code := mistake
	c, err := parse()
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		code, err = failed, do(c)
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		err = Stop{interrupted, "stopped, nothing was written"}
	}
	fmt.Fprintf(stderr, "%s: %s\n", name, Line(err.Error()))
	if stop := (Stop{}); errors.As(err, &stop) {
		code = stop.Code
	}
	return code
}

// Line returns a text for a terminal: control characters, which a file's name or its
// content may hold, are spelt out, and lines that are longer than any message of ours
// are cut.
func Line(text string) string {
	const longest = 400
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = spellOut(line, "")
		if cut := []rune(lines[i]); len(cut) > longest {
			lines[i] = string(cut[:longest]) + " …"
		}
	}
	return strings.Join(lines, "\n")
}

// Text returns a text of any length for a terminal, such as what a model writes: its
// control characters but for new lines and tabs are spelt out.
func Text(text string) string { return spellOut(text, "\n\t") }

// spellOut spells out the control characters of a text, all but those to keep.
func spellOut(text, keep string) string {
	var b strings.Builder
	for _, r := range text {
		if !strings.ContainsRune(keep, r) && (unicode.IsControl(r) || !unicode.IsPrint(r) && !unicode.IsSpace(r)) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// PrintJSON prints v as JSON for programs and people: indented, with <, > and & as
// they are.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ReadFile returns the content of a file of at most maxBytes bytes: a device
// that never ends is an error, and does not fill the memory.
func ReadFile(path string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && int64(len(text)) > maxBytes {
		err = fmt.Errorf("%s has more than %s: too much for such a file", path, (*Size)(&maxBytes))
	}
	return text, err
}

// Parse reads the flags of f, which is made with [flag.ContinueOnError]. A call
// for help is answered on help with the usage, the flags and the text after
// them, if there is any, and returns [flag.ErrHelp].
func Parse(f *flag.FlagSet, args []string, help io.Writer, usage, after string) error {
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(help, usage)
		f.SetOutput(help)
		f.PrintDefaults()
		if after != "" {
			fmt.Fprintln(help, after)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("%s; --help tells the flags", strings.ReplaceAll(err.Error(), "\n", `\n`))
	}
	return nil
}

// OnlyFlags returns an error if there is more than flags, or if two of those are given
// that exclude each other: of each list of names one may be.
func OnlyFlags(f *flag.FlagSet, either ...[]string) error {
	if f.NArg() > 0 {
		return fmt.Errorf("argument is %.100q: there are only flags; --help tells them", f.Arg(0))
	}
	for _, names := range either {
		given := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			set := f.Lookup(name)
			return set.Value.String() == set.DefValue
		})
		if len(given) > 1 {
			return fmt.Errorf("--%s are given: choose one", strings.Join(given, " and --"))
		}
	}
	return nil
}

// Terminal reports whether w is one.
func Terminal(w io.Writer) bool {
	if c, ok := w.(*checked); ok {
		w = c.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Size is a flag of bytes with a unit, such as 512MiB.
type Size int64

// sizes are the units, in bytes, the longest suffixes first.
var sizes = []struct {
	suffix string
	bytes  float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

func (s *Size) String() string {
	n, unit := int64(*s), 0
	for n != 0 && n%1024 == 0 && unit < 4 {
		n, unit = n/1024, unit+1
	}
	return strconv.FormatInt(n, 10) + []string{"", "KiB", "MiB", "GiB", "TiB"}[unit]
}

// Set reads a size; see [flag.Value].
func (s *Size) Set(text string) error {
	var units []string
	for _, u := range sizes {
		number, ok := strings.CutSuffix(text, u.suffix)
		if v, err := strconv.ParseFloat(strings.TrimSpace(number), 64); ok && err == nil && v*u.bytes >= 1 && v*u.bytes < 1<<62 {
			*s = Size(v * u.bytes)
			return nil
		}
		units = append(units, u.suffix)
	}
	return fmt.Errorf("it must be a size such as 512MiB or 4GiB; the units are %s", strings.Join(units[:len(units)-1], ", "))
}
