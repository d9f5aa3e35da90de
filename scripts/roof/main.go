// Roof measures the roofs of this machine, prints them, and keeps them in a file.
//
//	go run ./scripts/roof                           about 15 seconds
//	go run ./scripts/roof --quick                   about 5 seconds, fewer samples
//	go run ./scripts/roof --time 60s --memory 8GiB  as long and as much as you say
//	go run ./scripts/roof --json                    print the machine file as well
//	go run ./scripts/roof --bench                   print the samples for benchstat
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
	"path/filepath"
	"strings"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/scripts/internal/command"
)

func main() {
	command.Main(func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return run(ctx, args, stdout, stderr, machine.Measure)
	})
}

// measure is machine.Measure, or what a test puts in its place.
type measure = func(context.Context, machine.Options) (machine.Machine, error)

// run returns the exit code; see [command.Run].
func run(ctx context.Context, args []string, stdout, stderr io.Writer, roof measure) int {
	return command.Run("roof", stderr, func() (choice, error) { return parse(args, stdout) }, func(c choice) error {
		if c.compare != nil {
			return compare(stdout, c.compare)
		}
		return measureAndSave(ctx, c, stdout, stderr, roof)
	})
}

type choice struct {
	out     string
	json    bool
	bench   bool
	compare []string
	options machine.Options
	given   map[string]string // the flags that were given, and their values
}

const usage = "usage: go run ./scripts/roof [--quick | --time D] [--threads N] [--memory SIZE] [--tuning LIST] [--out FILE]\n" +
	"                             [--json | --bench]\n" +
	"       go run ./scripts/roof --compare FILE FILE"

func parse(args []string, help io.Writer) (choice, error) {
	var c choice
	var quick, both bool
	f := flag.NewFlagSet("roof", flag.ContinueOnError)
	f.StringVar(&c.out, "out", "", "the `file` to write (default: my-roof.json in the checkout); a file that is there is replaced,\n"+
		"and if its run measured longer, as when --quick follows a full run, a line says so before this one begins")
	f.BoolVar(&c.json, "json", false, "print the machine file instead of the tables; it is written too")
	f.BoolVar(&c.bench, "bench", false, "print the samples in the Go benchmark format, for benchstat; the file is written too")
	f.BoolVar(&quick, "quick", false, fmt.Sprintf("take %v instead of %v", machine.QuickTime, machine.DefaultTime))
	f.DurationVar(&c.options.Time, "time", 0, "how long to measure, for instance 60s")
	f.IntVar(&c.options.Threads, "threads", 0, "how many threads \"all cores\" are (default: as many as may run at once)")
	f.Var((*command.Size)(&c.options.MaxBytes), "memory", "the most memory to use, for instance 4GiB (default: what the roof of memory needs); never more than a quarter of what is free")
	tuning := matmul.DefaultTuning()
	f.Var(&tuning, "tuning", "numbers of the multiplies to keep, a `list` such as streams=8,ahead=4, where others are not to be tried")
	f.BoolVar(&both, "compare", false, "print the two machine files that are named, and measure nothing")
	if err := command.Parse(f, args, help, usage, ""); err != nil {
		return c, err
	}
	c.given = map[string]string{}
	f.Visit(func(set *flag.Flag) { c.given[set.Name] = set.Value.String() })
	if both {
		if f.NArg() != 2 || len(c.given) > 1 {
			return c, errors.New("--compare goes with two machine files and no other flag: --compare a.json b.json")
		}
		c.compare = f.Args()
		return c, nil
	}
	if err := command.OnlyFlags(f, []string{"json", "bench"}, []string{"quick", "time"}); err != nil {
		return c, err
	}
	if _, ok := c.given["tuning"]; ok {
		c.options.Tuning = tuning
	}
	if quick {
		c.options.Time = machine.QuickTime
	}
	if c.out == "" {
		c.out = machine.Path()
	}
	return c, nil
}

func measureAndSave(ctx context.Context, c choice, stdout, stderr io.Writer, roof measure) error {
	if err := writable(c.out); err != nil {
		return err
	}
	progress := bar(stderr)
	c.options.Progress = func(done, total int) {
		if done == 0 {
			io.WriteString(stderr, command.Line(replaced(c))) //nolint:errcheck // a remark
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
	if c.bench {
		return errors.Join(unsaved, bench.WriteBenchmarks(stdout, m.Measured.Host.CPU, m.Measured.Results()...))
	}
	var b strings.Builder
	printMachine(&b, m)
	if unsaved == nil {
		fmt.Fprintf(&b, "\nWritten to %s\n", command.Line(c.out))
	}
	_, err = io.WriteString(stdout, b.String())
	return errors.Join(unsaved, err)
}

// writable returns why a file cannot be written at path, if it cannot. It leaves
// what is there alone.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("cannot write %s: it is not a regular file; nothing was measured", path)
	}
	target := machine.Target(path)
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w; nothing was measured", path, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// replaced returns a line about the run in the file to be written, if that one was
// asked to measure longer than this one is. How long a run took does not count: it
// ends when its figures are found.
func replaced(c choice) string {
	before, err := machine.Load(c.out)
	if err != nil || before.Measured == nil {
		return ""
	}
	d := before.Measured
	asked := d.Asked
	if asked == 0 { // an older file; its runs took about as long as they were asked to, or less
		asked = d.Seconds
	}
	now := cmp.Or(c.options.Time, machine.DefaultTime)
	if asked <= now.Seconds()*1.01 {
		return ""
	}
	kind := "a longer run"
	if asked >= machine.DefaultTime.Seconds() {
		kind = "a full run"
	}
	return fmt.Sprintf("roof: %s holds %s, of up to %.3g s from %s: this one of up to %v will replace it (Ctrl-C keeps it, --out FILE keeps both)\n",
		c.out, kind, asked, d.Date, now)
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
