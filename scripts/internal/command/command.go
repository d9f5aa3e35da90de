// Package command holds what the commands in scripts/ share: how they read their
// flags, say what is wrong, and end.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Exit codes beside 0 and that of a [Stop].
const (
	failed  = 1
	mistake = 2 // in the call
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

// Run reads the call with parse and does what it asks for. An error is told on
// stderr behind the command's name. The exit code is 0, also for a call for help
// ([flag.ErrHelp]); 2 for any other error of parse; and for one of do that of a
// [Stop], else 1.
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
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	if stop := (Stop{}); errors.As(err, &stop) {
		code = stop.Code
	}
	return code
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
		return fmt.Errorf("%w; --help tells the flags", err)
	}
	return nil
}

// OnlyFlags returns an error if there is more than flags.
func OnlyFlags(f *flag.FlagSet) error {
	if f.NArg() > 0 {
		return fmt.Errorf("argument is %q: there are only flags; --help tells them", f.Arg(0))
	}
	return nil
}

// Terminal reports whether w is one.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
