package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memorywall/pkg/bench"
	"memorywall/pkg/facts"
	"memorywall/pkg/machine"
)

// call runs the command with rates that measure nothing.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return callWith(t, func(bench.Sizes, bench.Options) ([]bench.Rate, error) {
		t.Error("it measures")
		return nil, nil
	}, args...)
}

func callWith(t *testing.T, rates measure, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	code = run(args, &out, &err, rates)
	return code, out.String(), err.String()
}

// The JSON holds the keys and values of the quoted numbers: text and integers
// as they stand there, reals to the last digit that float64 keeps.
func TestJSON(t *testing.T) {
	code, stdout, stderr := call(t, "--json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	quoted, err := os.ReadFile(filepath.Join("..", "..", "pkg", "facts", "testdata", "quoted_numbers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(quoted, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("--json prints other values:\n%s", stdout)
	}
}

// --all prints every fact by its key, sorted, at full precision, in both forms.
func TestAll(t *testing.T) {
	want, err := facts.All()
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "--all")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	got := map[string]float64{}
	var keys []string
	for line := range strings.Lines(stdout) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Errorf("line %q: %v", line, err)
		}
		got[key] = v
		keys = append(keys, key)
	}
	if !reflect.DeepEqual(got, want) || len(keys) != len(want) || !slices.IsSorted(keys) {
		t.Errorf("--all prints %d lines, sorted: %t, for %d facts, or other values", len(keys), slices.IsSorted(keys), len(want))
	}
	for _, chapter := range strings.Fields("chip. ch00. ch01. ch02. ch03. ch04. ch05. ch06. ch07. ch08. ch09.") {
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, chapter) }) {
			t.Errorf("--all has no key that begins with %s", chapter)
		}
	}

	code, stdout, stderr = call(t, "--json", "--all")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	got = nil
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("--all --json prints other values (%v)", err)
	}
}

// Every number stands in the text, rounded right, and in the unit that the
// text gives.
func TestTextHoldsEveryNumber(t *testing.T) {
	code, stdout, stderr := call(t)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	all, err := facts.All()
	if err != nil {
		t.Fatal(err)
	}
	// The numerals of every section, under its key.
	numeral := regexp.MustCompile(`-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?`)
	heading := regexp.MustCompile(`\[(\w+)\]$`)
	sections := map[string]map[string]bool{}
	section := ""
	for line := range strings.Lines(stdout) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			section = m[1]
			sections[section] = map[string]bool{}
			continue
		}
		if line == "Numbers of single chapters, by key" {
			section = "chapters"
			sections[section] = map[string]bool{}
			continue
		}
		if section == "chapters" {
			if i := strings.LastIndexByte(line, ' '); i >= 0 {
				line = line[i:]
			}
		}
		for _, n := range numeral.FindAllString(line, -1) {
			sections[section][n] = true
		}
	}
	for key := range all {
		section, _, _ := strings.Cut(key, ".")
		section, _, _ = strings.Cut(section, "[")
		if _, ok := sections[section]; !ok {
			section = "chapters"
		}
		scale := ""
		switch {
		case strings.HasSuffix(key, "_s") && strings.Contains(key, "floor") || strings.HasSuffix(key, "weight_read_s"):
			scale = "*1e3"
		case strings.HasSuffix(key, "peak_flops") || strings.HasSuffix(key, "attainable_flops"):
			scale = "/1e12"
		case strings.HasSuffix(key, "bandwidth_bytes_per_s"):
			scale = "/1e9"
		}
		if section == "chapters" {
			scale = ""
		}
		found := false
		for n := range sections[section] {
			found = found || facts.Check(n, key+scale) == nil
		}
		if !found {
			t.Errorf("%s is not in the text", key)
		}
	}
	for _, line := range []string{
		"  ridge         153.016 FLOP/byte\n",
		"  compulsory traffic                           100,663,296 bytes\n",
		"  compute time                                 0.440509 ms\n",
		"     64    2,147,483,648                       43    31.7519       24,576\n",
		"         1            1             1      8\n",
		"    166    153.554  compute-bound         312          100\n",
		"  decode rate at batch 1, at most  145.643 tokens/s\n",
	} {
		if !strings.Contains(stdout, line) {
			t.Errorf("the text has no line %q", line)
		}
	}
}

func TestTime(t *testing.T) {
	var asked bench.Sizes
	rates := func(s bench.Sizes, _ bench.Options) ([]bench.Rate, error) {
		asked = s
		named := func(name string, value float64, unit string) bench.Rate {
			return bench.Rate{Name: name, Quantity: bench.Quantity{Value: value, Unit: unit}, Threads: 2,
				Notes: []string{"read so"}, Warnings: []string{"doubt it"}}
		}
		return []bench.Rate{named("loop", 1.5, "GFLOP/s"), named("M·x", 2.5, "GFLOP/s"), named("M·x", 5, "GB/s")}, nil
	}
	code, stdout, stderr := callWith(t, rates, "--time", "--small", "8", "--large=16", "-vector", "32")
	if code != 0 || !strings.HasPrefix(stderr, "measuring") {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	if want := (bench.Sizes{Small: 8, Large: 16, Vector: 32}); asked != want {
		t.Errorf("sizes are %+v, want %+v", asked, want)
	}
	if !strings.HasPrefix(stdout, "Measured on: "+machine.ReadHost().String()+"\n") {
		t.Errorf("no host in %q", stdout)
	}
	for _, part := range []string{"loop: 1.5 GFLOP/s", "M·x: 2.5 GFLOP/s", "M·x: 5 GB/s", "2 threads"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("no %q in %q", part, stdout)
		}
	}
	if n := strings.Count(stdout, "note: read so\n"); n != 2 {
		t.Errorf("the note is there %d times, want 2: once a measurement", n)
	}
	if n := strings.Count(stdout, "warning: doubt it\n"); n != 2 {
		t.Errorf("the warning is there %d times, want 2: once a measurement", n)
	}

	callWith(t, rates, "--time")
	if asked != bench.DefaultSizes() {
		t.Errorf("sizes are %+v, want the default", asked)
	}

	failing := func(bench.Sizes, bench.Options) ([]bench.Rate, error) { return nil, errors.New("bench: no clock") }
	code, stdout, stderr = callWith(t, failing, "--time")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "report: bench: no clock\n") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--jsno"}, "report: flag provided but not defined: -jsno; --help tells the flags"},
		{[]string{"now"}, `report: argument is "now": there are only flags`},
		{[]string{"--json", "--time"}, "report: --json and --time are given: choose one"},
		{[]string{"--all", "--time"}, "report: --all and --time are given: choose one"},
		{[]string{"--small", "8"}, "report: --small is given: it goes with --time only"},
		{[]string{"--json", "--vector", "8"}, "report: --vector is given: it goes with --time only"},
		{[]string{"--time", "--large", "x"}, `report: invalid value "x" for flag -large`},
		{[]string{"--time", "--large"}, "report: flag needs an argument: -large"},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, %q, %q; want 2 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
	code, stdout, stderr := call(t, "--help")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "usage: ") || !strings.Contains(stdout, "-vector side") {
		t.Errorf("--help: exit %d, %q, %q", code, stdout, stderr)
	}

	// The sizes themselves are bench's to judge; nothing is measured for them.
	for _, args := range [][]string{{"--time", "--small", "0"}, {"--time", "--large", "-4"}, {"--time", "--vector", "2000000000"}} {
		code, stdout, stderr := callWith(t, bench.FiveRates, args...)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "report: "+args[1]+" is "+args[2]+": it must be from 1 to ") { // before it says that it measures
			t.Errorf("%q: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteErrors(t *testing.T) {
	for _, args := range [][]string{nil, {"--json"}, {"--all"}, {"--all", "--json"}, {"--time"}} {
		var stderr strings.Builder
		rates := func(bench.Sizes, bench.Options) ([]bench.Rate, error) { return nil, nil }
		if code := run(args, full{}, &stderr, rates); code != 1 || !strings.Contains(stderr.String(), "report: no space left") {
			t.Errorf("%q: exit %d, %q", args, code, stderr.String())
		}
	}
}
