// Roof measures the roofs of this machine, prints them, and keeps them in a file.
//
//	go run ./scripts/roof                           about 15 seconds
//	go run ./scripts/roof --quick                   about 5 seconds, fewer samples
//	go run ./scripts/roof --time 60s --memory 8GiB  as long and as much as you say
//	go run ./scripts/roof --json                    print the machine file as well
//	go run ./scripts/roof --compare a.json b.json   print two files side by side
//
// The file is my-roof.json in the checkout, or what --out says. It appears when
// all is measured; an interrupt (Ctrl-C) leaves the file as it was. A run that
// replaces one that measured longer says so before it begins.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"memorywall/pkg/machine"
	"memorywall/scripts/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, machine.Measure)
	stop()
	os.Exit(code)
}

// measure is machine.Measure, or what a test puts in its place.
type measure = func(context.Context, machine.Options) (machine.Machine, error)

// run returns the exit code: 0, 1 for a failure, 2 for a mistake in the call,
// 130 for an interrupt.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, roof measure) int {
	return command.Run("roof", stderr, func() (choice, error) { return parse(args, stdout) }, func(c choice) error {
		if c.compare != nil {
			return compare(stdout, c.compare)
		}
		err := measureAndSave(ctx, c, stdout, stderr, roof)
		if errors.Is(err, context.Canceled) {
			return command.Stop{Code: 130, Why: "stopped, nothing was written"}
		}
		return err
	})
}

type choice struct {
	out     string
	json    bool
	compare []string
	options machine.Options
	given   map[string]string // the flags that were given, and their values
}

const usage = "usage: go run ./scripts/roof [--quick | --time D] [--threads N] [--memory SIZE] [--out FILE] [--json]\n" +
	"       go run ./scripts/roof --compare FILE FILE"

func parse(args []string, help io.Writer) (choice, error) {
	var c choice
	var quick, both bool
	var memory string
	f := flag.NewFlagSet("roof", flag.ContinueOnError)
	f.StringVar(&c.out, "out", "", "the `file` to write (default: my-roof.json in the checkout); a file that is there is replaced,\n"+
		"and if its run measured longer, as when --quick follows a full run, a line says so before this one begins")
	f.BoolVar(&c.json, "json", false, "print the machine file instead of the tables; it is written too")
	f.BoolVar(&quick, "quick", false, fmt.Sprintf("take %v instead of %v", machine.QuickTime, machine.DefaultTime))
	f.DurationVar(&c.options.Time, "time", 0, "how long to measure, for instance 60s")
	f.IntVar(&c.options.Threads, "threads", 0, "how many threads \"all cores\" are (default: as many as may run at once)")
	f.StringVar(&memory, "memory", "", "the most memory to use, for instance 4GiB (default: what the roof of memory needs); never more than a quarter of what is free")
	f.BoolVar(&both, "compare", false, "print the two machine files that are named, and measure nothing")
	if err := command.Parse(f, args, help, usage, ""); err != nil {
		return c, err
	}
	c.given = map[string]string{}
	f.Visit(func(set *flag.Flag) { c.given[set.Name] = set.Value.String() })
	has := func(name string) bool { _, ok := c.given[name]; return ok }
	if both {
		if f.NArg() != 2 || len(c.given) > 1 {
			return c, errors.New("--compare goes with two machine files and no other flag: --compare a.json b.json")
		}
		c.compare = f.Args()
		return c, nil
	}
	if err := command.OnlyFlags(f); err != nil {
		return c, err
	}
	if quick && has("time") {
		return c, errors.New("--quick and --time are given: choose one")
	}
	if quick {
		c.options.Time = machine.QuickTime
	}
	if has("memory") {
		n, err := parseSize(memory)
		if err != nil {
			return c, err
		}
		c.options.MaxBytes = n
	}
	if c.out == "" {
		c.out = machine.Path()
	}
	return c, nil
}

// parseSize reads bytes with a unit, such as 512MiB.
func parseSize(s string) (int64, error) {
	for _, u := range []struct {
		suffix string
		bytes  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}} {
		if !strings.HasSuffix(s, u.suffix) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, u.suffix)), 64)
		if n := v * u.bytes; err == nil && n >= 1 && n < 1<<62 {
			return int64(n), nil
		}
		break
	}
	return 0, fmt.Errorf("--memory is %q: it must be a size such as 512MiB or 4GiB", s)
}

func measureAndSave(ctx context.Context, c choice, stdout, stderr io.Writer, roof measure) error {
	if err := writable(c.out); err != nil {
		return err
	}
	progress := bar(stderr)
	c.options.Progress = func(done, total int) {
		if done == 0 {
			io.WriteString(stderr, replaced(c)) //nolint:errcheck // a remark
		}
		progress(done, total)
	}
	m, err := roof(ctx, c.options)
	clear(stderr)
	if err != nil {
		return named(err, c.given)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// What was measured is printed even if it cannot be kept.
	unsaved := machine.Save(c.out, m)
	if c.json {
		text, err := machine.Encode(m)
		if err == nil {
			_, err = stdout.Write(text)
		}
		return errors.Join(unsaved, err)
	}
	var b strings.Builder
	printMachine(&b, m)
	if unsaved == nil {
		fmt.Fprintf(&b, "\nWritten to %s\n", c.out)
	}
	_, err = io.WriteString(stdout, b.String())
	return errors.Join(unsaved, err)
}

// writable returns why a file cannot be written at path, if it cannot. It leaves
// what is there alone.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("cannot write %s: it is no regular file; nothing was measured", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w; nothing was measured", path, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// replaced returns a line about the run in the file to be written, if that one
// measured longer than this one will.
func replaced(c choice) string {
	before, err := machine.Load(c.out)
	if err != nil || before.Measured == nil {
		return ""
	}
	took, now := before.Measured.Seconds, cmp.Or(c.options.Time, machine.DefaultTime)
	if took < 1.5*now.Seconds() {
		return ""
	}
	kind := "a longer run"
	if took >= machine.DefaultTime.Seconds() {
		kind = "a full run"
	}
	return fmt.Sprintf("roof: %s holds %s, of %.0f s from %s: this one of %v will replace it (Ctrl-C keeps it, --out FILE keeps both)\n",
		c.out, kind, took, before.Measured.Date, now)
}

// named returns an error about an option of the measurement as one about the
// flag that sets it, with the value that was given.
func named(err error, given map[string]string) error {
	for _, o := range []struct{ field, flag string }{{"Time", "time"}, {"Threads", "threads"}, {"MaxBytes", "memory"}} {
		rest, ok := strings.CutPrefix(err.Error(), "machine: Options."+o.field+" is ")
		if !ok {
			continue
		}
		value, limits, _ := strings.Cut(rest, ": ")
		if written, ok := given[o.flag]; ok {
			value = written
		} else {
			value += " by default"
		}
		if o.flag == "memory" {
			// A size of 0 is none that the flag takes.
			limits, _, _ = strings.Cut(limits, ", or 0")
		}
		return command.Mistake(fmt.Sprintf("--%s is %s: %s", o.flag, value, limits))
	}
	return err
}

// bar returns a progress bar on a terminal, and one line of text elsewhere.
func bar(w io.Writer) func(done, total int) {
	if !command.Terminal(w) {
		return func(done, _ int) {
			if done == 0 {
				fmt.Fprintln(w, "measuring the roofs of this machine …")
			}
		}
	}
	start, last := time.Now(), time.Time{}
	return func(done, total int) {
		if now := time.Now(); done == 0 || done == total || now.Sub(last) > 100*time.Millisecond {
			last = now
			drawBar(w, done, total, now.Sub(start))
		}
	}
}

func drawBar(w io.Writer, done, total int, since time.Duration) {
	const width = 40
	filled := width * done / max(total, 1)
	fmt.Fprintf(w, "\rmeasuring [%s%s] %3d%%, %.0f s", strings.Repeat("#", filled), strings.Repeat(".", width-filled), 100*done/max(total, 1), since.Seconds())
}

// clear removes the bar.
func clear(w io.Writer) {
	if command.Terminal(w) {
		fmt.Fprintf(w, "\r%s\r", strings.Repeat(" ", 72))
	}
}
