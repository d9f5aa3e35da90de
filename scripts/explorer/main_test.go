package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"memorywall/pkg/explore"
)

func call(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = run(args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

func TestList(t *testing.T) {
	code, stdout, stderr := call("")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	for _, name := range explore.Names() {
		keys, err := explore.Keys(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if !strings.Contains(stdout, "    "+key+"=") {
				t.Errorf("%s: the list has no setting %s:\n%s", name, key, stdout)
			}
		}
	}
}

func TestShow(t *testing.T) {
	code, stdout, stderr := call("", "tile", "n=4096", "b=342")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "163.8 FLOP/byte") || !strings.Contains(stdout, "701,784 bytes") {
		t.Errorf("exit %d, %q\n%s", code, stderr, stdout)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tiles"}, `explorer is "tiles": it must be one of`},
		{[]string{"tile", "b"}, `argument is "b": it must be a setting`},
		{[]string{"tile", "b=0"}, "b, tile size, is 0: it must be a whole number from 1"},
		{[]string{"tile", "b=1", "n=2", "b=1"}, `setting "b" is there twice: give it once`},
		{[]string{"--jsn"}, `explorer is "--jsn"`},
	} {
		code, stdout, stderr := call("", c.args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, %q, want %q", c.args, code, stderr, c.want)
		}
	}
}

// What a call holds reaches no terminal raw, nor in full length.
func TestHostileNames(t *testing.T) {
	evil := "\x1b[31m\u202e" + strings.Repeat("x", 5000)
	for _, args := range [][]string{{evil}, {"tile", evil}, {"tile", evil + "=1"}, {"tile", "b=" + evil}, {"tile", evil + "=1", evil + "=2"}} {
		code, stdout, stderr := call("", args...)
		if code != 2 || stdout != "" || strings.ContainsAny(stderr, "\x1b\u202e") || len(stderr) > 1000 {
			t.Errorf("%.40q: exit %d, %q, %.300q", args, code, stdout, stderr)
		}
	}
}

// What cannot be written is a failure and no mistake in the call.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{}, {"tile", "b=1"}, {"--json"}} {
		var stderr strings.Builder
		if code := run(args, strings.NewReader(`{"name":"tile"}`), full, &stderr); code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit %d, %q", args, code, stderr.String())
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"decode", "--help"}, {"decode", "batch=0", "-h"}, {"--json", "--help"}} {
		if code, stdout, stderr := call("", args...); code != 0 || stderr != "" || stdout != usage {
			t.Errorf("%q: exit %d, %q\n%s", args, code, stderr, stdout)
		}
	}
}

func TestSizesInEitherCase(t *testing.T) {
	for _, size := range []string{"64KiB", "64kib", "65536", "65536b"} {
		if code, stdout, stderr := call("", "tile", "capacity="+size, "b=1", "n=1"); code != 0 || !strings.Contains(stdout, "yes, they fill 0.00916% of it") || !strings.Contains(stdout, "  1 element\n") {
			t.Errorf("%s: exit %d, %q\n%s", size, code, stderr, stdout)
		}
	}
}

// The colours that the style sheet and the pictures name are those of the one
// palette, which has each of them for light and for dark pages.
func TestColours(t *testing.T) {
	palette, err := os.ReadFile("../../pkg/internal/svg/palette.css")
	if err != nil {
		t.Fatal(err)
	}
	css, err := os.ReadFile("explorer.css")
	if err != nil {
		t.Fatal(err)
	}
	text := string(css)
	for _, name := range explore.Names() {
		view, err := explore.Draw(name, nil, explore.MostWidth)
		if err != nil {
			t.Fatal(err)
		}
		text += view.SVG
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`var\(--mw-([a-z0-9-]+)`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	if len(used) < 10 {
		t.Fatalf("only the colours %v are used", used)
	}
	for name := range used {
		if !strings.Contains(string(palette), "\n  --mw-"+name+": ") {
			t.Errorf("palette.css has no colour %s", name)
		}
	}
}

func TestJSON(t *testing.T) {
	code, stdout, stderr := call(`{"name":"tile","settings":{"b":"64"},"width":400}`+"\n"+`{"name":"decode","settings":{"batch":"x"}}`+"\n", "--json")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || stderr != "" || len(lines) != 2 {
		t.Fatalf("exit %d, %q, %d lines", code, stderr, len(lines))
	}
	var views [2]explore.View
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &views[i]); err != nil {
			t.Fatal(err)
		}
	}
	if views[0].Settings["b"] != "64" || views[0].SVG == "" || len(views[1].Errors) != 1 || views[1].Errors[0].Key != "batch" {
		t.Errorf("answers:\n%s", stdout)
	}
	// A mistake is told with its place, and does not take the answers before it along.
	const good = `{"name":"tile"}` + "\n"
	for bad, want := range map[string]string{"{": "request 2 is no such JSON", `{"name":"no"}`: `request 2: explore: explorer is "no"`} {
		code, stdout, stderr := call(good+bad, "--json")
		if code != 2 || !strings.Contains(stderr, want) || strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, `"name":"tile"`) {
			t.Errorf("%s: exit %d, %q, %d answers, want %q and one answer", bad, code, stderr, strings.Count(stdout, "\n"), want)
		}
	}
}
