// Report prints every number that the lesson quotes, computed.
//
//	go run ./scripts/report              the report with its units, and then the
//	                                     numbers of single chapters (ch00 to ch13)
//	go run ./scripts/report --json       the report alone as JSON: the keys and values
//	                                     of pkg/facts/testdata/quoted_numbers.json
//	go run ./scripts/report --all        every number by its key, one a line: those of
//	                                     the report and of the chapters
//	go run ./scripts/report --all --json the same as one flat object
//	go run ./scripts/report --time       five rates of this machine instead
//
// With --time, --small, --large and --vector set the sizes of the matrices.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"memorywall/pkg/bench"
	"memorywall/pkg/facts"
	"memorywall/pkg/machine"
	"memorywall/scripts/internal/command"
)

func main() {
	command.Plain(func(args []string, stdout, stderr io.Writer) int {
		return run(args, stdout, stderr, bench.FiveRates)
	})
}

// measure is bench.FiveRates, or what a test puts in its place.
type measure = func(bench.Sizes, bench.Options) ([]bench.Rate, error)

// run returns the exit code; see [command.Run].
func run(args []string, stdout, stderr io.Writer, rates measure) int {
	return command.Run("report", stderr, func() (choice, error) { return parse(args, stdout) }, func(c choice) error {
		switch {
		case c.all:
			return printAll(stdout, c.json)
		case c.json:
			return printJSON(stdout)
		case c.time:
			return named(printRates(stdout, stderr, c.sizes, rates))
		}
		return printText(stdout)
	})
}

// named returns an error about a size as one about the flag that sets it.
func named(err error) error {
	if err == nil {
		return nil
	}
	for _, name := range []string{"Small", "Large", "Vector"} {
		if rest, ok := strings.CutPrefix(err.Error(), "bench: Sizes."+name+" is "); ok {
			return command.Mistake("--" + strings.ToLower(name) + " is " + rest)
		}
	}
	return err
}

type choice struct {
	all, json, time bool
	sizes           bench.Sizes
}

const usage = "usage: go run ./scripts/report [[--all] [--json] | --time [--small N] [--large N] [--vector N]]"

func parse(args []string, help io.Writer) (choice, error) {
	c := choice{sizes: bench.DefaultSizes()}
	f := flag.NewFlagSet("report", flag.ContinueOnError)
	f.BoolVar(&c.all, "all", false, "print every number by its key, one a line: those of the report and those of single chapters (ch00 to ch13)")
	f.BoolVar(&c.json, "json", false, "print the numbers of the report, without those of single chapters, as JSON; with --all: every number, as one flat object")
	f.BoolVar(&c.time, "time", false, "measure five rates of this machine and print them instead")
	f.IntVar(&c.sizes.Small, "small", c.sizes.Small, "with --time: `side` of the small float64 matrices")
	f.IntVar(&c.sizes.Large, "large", c.sizes.Large, "with --time: `side` of the large float32 matrices")
	f.IntVar(&c.sizes.Vector, "vector", c.sizes.Vector, "with --time: `side` of the matrix of the matrix–vector multiply")
	if err := command.Parse(f, args, help, usage, ""); err != nil {
		return c, err
	}
	if err := command.OnlyFlags(f, []string{"all", "time"}, []string{"json", "time"}); err != nil {
		return c, err
	}
	var err error
	f.Visit(func(set *flag.Flag) {
		if slices.Contains([]string{"small", "large", "vector"}, set.Name) && !c.time {
			err = cmp.Or(err, fmt.Errorf("--%s is given: it goes with --time only", set.Name))
		}
	})
	return c, err
}

func printJSON(w io.Writer) error {
	groups, err := facts.Groups()
	if err != nil {
		return err
	}
	report, _ := tree(groups)
	return command.PrintJSON(w, report)
}

// printAll prints every fact under its key, sorted by key, at full precision:
// as lines or as one flat object.
func printAll(w io.Writer, asJSON bool) error {
	all, err := facts.All()
	if err != nil {
		return err
	}
	if asJSON {
		return command.PrintJSON(w, all)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value, err := json.Marshal(all[key])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s\n", key, value)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func printRates(stdout, stderr io.Writer, sizes bench.Sizes, rates measure) error {
	if err := sizes.Validate(); err != nil {
		return err // before it says that it measures
	}
	fmt.Fprintln(stderr, "measuring five rates of this machine …")
	measured, err := rates(sizes, bench.Options{})
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on: %v\n", machine.ReadHost())
	// Two rates may come from one measurement: say what it has to say once.
	said := map[string]bool{}
	tell := func(r bench.Rate, kind string, lines []string) {
		for _, line := range lines {
			if !said[r.Name+line] {
				said[r.Name+line] = true
				fmt.Fprintf(&b, "      %s: %s\n", kind, line)
			}
		}
	}
	for _, r := range measured {
		fmt.Fprintf(&b, "  %v\n", r)
		tell(r, "note", r.Notes)
		tell(r, "warning", r.Warnings)
	}
	_, err = io.WriteString(stdout, b.String())
	return err
}
