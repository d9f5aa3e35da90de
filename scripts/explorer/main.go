// Explorer prints what the explorers of the lesson show.
//
//	go run ./scripts/explorer                      the explorers and their settings
//	go run ./scripts/explorer tile n=4096 b=342    the values that follow
//	go run ./scripts/explorer --json               answers requests on standard input
//	go run ./scripts/explorer --help               prints how to use it
//
// A request is a line of JSON such as
// {"name": "tile", "settings": {"b": "64"}, "width": 760}, its answer a line with
// the explore.View. So what the page computes can be held against it.
//
// The folder holds the page's part of the explorers too: explorer.js and
// explorer.css.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"memorywall/pkg/explore"
	"memorywall/scripts/internal/command"
)

const usage = `usage: go run ./scripts/explorer [explorer [setting=value ...]]
       go run ./scripts/explorer --json

Prints the values that follow from the settings of an explorer, such as
"tile n=4096 b=342". Without arguments it prints the explorers, with their
settings and what these are at first.

  --json    answer requests on standard input, a line of JSON each, such as
            {"name": "tile", "settings": {"b": "64"}, "width": 760}
  --help    print this
`

func main() {
	command.Plain(func(args []string, stdout, stderr io.Writer) int { return run(args, os.Stdin, stdout, stderr) })
}

// run returns the exit code; see [command.Run].
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Run("explorer", stderr, func() ([]string, error) {
		if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
			io.WriteString(stdout, usage) //nolint:errcheck // the end of the run reports it
			return nil, flag.ErrHelp
		}
		return args, nil
	}, func(args []string) error {
		switch {
		case len(args) == 0:
			return list(stdout)
		case len(args) == 1 && args[0] == "--json":
			return answer(stdin, stdout)
		}
		return show(args[0], args[1:], stdout)
	})
}

func list(stdout io.Writer) error {
	for _, name := range explore.Names() {
		view, err := explore.Draw(name, nil, explore.MostWidth)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s\n", name, view.Title)
		w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
		for _, c := range view.Controls {
			fmt.Fprintf(w, "    %s=%s\t%s\t%s\n", c.Key, c.Text, c.Label, c.Help)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// mistake is one in the call, as [fmt.Errorf] writes it.
func mistake(format string, args ...any) error {
	return command.Mistake(fmt.Errorf(format, args...).Error())
}

func show(name string, pairs []string, stdout io.Writer) error {
	settings := map[string]string{}
	for _, pair := range pairs {
		key, text, ok := strings.Cut(pair, "=")
		if !ok {
			return mistake("argument is %q: it must be a setting, such as b=64", pair)
		}
		if _, twice := settings[key]; twice {
			return mistake("setting %q is there twice: give it once", key)
		}
		settings[key] = text
	}
	view, err := explore.Draw(name, settings, explore.MostWidth)
	if err != nil {
		return mistake("%w", err)
	}
	if len(view.Errors) > 0 {
		return mistake("%s", view.Errors[0].Message)
	}
	fmt.Fprintf(stdout, "%s\n%s\n", view.Title, view.Summary)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, v := range view.Values {
		fmt.Fprintf(w, "    %s\t%s\n", v.Label, v.Text)
	}
	return w.Flush()
}

// request asks for one view.
type request struct {
	Name     string            `json:"name"`
	Settings map[string]string `json:"settings"`
	Width    int               `json:"width"`
}

func answer(stdin io.Reader, stdout io.Writer) (err error) {
	in, out := json.NewDecoder(stdin), bufio.NewWriter(stdout)
	defer func() { err = cmp.Or(err, out.Flush()) }() // the answers before a mistake, too
	for n := 1; ; n++ {
		var r request
		if err := in.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return mistake("request %d is no such JSON: %w", n, err)
		}
		view, err := explore.Draw(r.Name, r.Settings, r.Width)
		if err != nil {
			return mistake("request %d: %w", n, err)
		}
		text, err := json.Marshal(view)
		if err != nil {
			return err
		}
		out.Write(append(text, '\n'))
	}
}
