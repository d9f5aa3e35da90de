package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/machine"
	"memorywall/pkg/roofline"
)

func level(name string, threads int, rate float64) machine.Level {
	return machine.Level{Name: name, Threads: threads, From: 1 << 14, To: 1 << 20, Bandwidth: rate,
		Rates: map[string]float64{machine.LoadLoop: rate, machine.TriadLoop: rate * 0.75}}
}

func mine(peak float64) machine.Machine {
	p := func(threads int, flops float64) machine.ComputePeak {
		return machine.ComputePeak{ISA: "avx2", Fused: true, Format: "FP32", ElemBytes: 4, Threads: threads, FLOPS: flops, Median: flops, Samples: []float64{flops}}
	}
	return machine.Machine{
		Machine: roofline.Machine{Name: "some CPU, 2 cores", Source: "measured", Format: "FP32", ElemBytes: 4, Peak: peak, Bandwidth: 20e9},
		Measured: &machine.Measured{
			Date: "2026-01-02T03:04:05Z", Seconds: 1, Host: machine.MeasuredHost{Host: machine.Host{CPU: "some CPU", OS: "linux", Arch: "amd64", Cores: 2}, Threads: 2},
			Versions: map[string]string{"go": "go1.26"},
			Clock:    machine.Clock{Hz: 3e9, Min: 3e9, Max: 3e9, Samples: []float64{3e9}},
			L1Load:   &machine.L1Load{BytesPerCycle: 120, Ports: 128, Source: "a manual"},
			Peaks:    []machine.ComputePeak{p(1, peak/2), p(2, peak)},
			Bandwidths: []machine.BandwidthPoint{
				{Loop: machine.LoadLoop, ISA: "avx2", Threads: 1, WorkingSet: 4096, BytesPerS: 1, WithWriteAllocate: 1, Median: 1, Samples: []float64{1}},
			},
			Levels:   []machine.Level{level("L1", 1, 300e9), level("memory", 1, 12e9), level("L1", 2, 600e9), level("memory", 2, 20e9)},
			Warnings: []string{"the clock moved"},
		},
	}
}

func fake(context.Context, machine.Options) (machine.Machine, error) { return mine(200e9), nil }

func call(t *testing.T, roof measure, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err, roof)
	return code, out.String(), err.String()
}

func TestRoof(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.json")
	var got machine.Options
	code, out, stderr := call(t, func(ctx context.Context, o machine.Options) (machine.Machine, error) {
		got = o
		return fake(ctx, o)
	}, "--quick", "--threads", "2", "--memory", "64MiB", "--out", path)
	if code != 0 {
		t.Fatalf("code %d: %s", code, stderr)
	}
	if got.Time != machine.QuickTime || got.Threads != 2 || got.MaxBytes != 64<<20 || got.Progress == nil {
		t.Errorf("options %+v", got)
	}
	for _, want := range []string{
		"some CPU, 2 cores", "3.00 GHz", "120 bytes a cycle; the load ports can do 128 (a manual)",
		"avx2 float32  100 (100)  200 (200)", "L1, one core", "memory, 2 cores",
		"Triad on 2 cores of memory: 15.0 GB/s seen, 20.0 GB/s with write-allocate.", "- the clock moved", "Written to " + path,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	m, err := machine.Load(path)
	if err != nil || m.Peak != 200e9 {
		t.Errorf("%+v, %v", m, err)
	}
	code, out, _ = call(t, fake, "--json", "--out", path)
	file, err := os.ReadFile(path)
	if code != 0 || err != nil || out != string(file) {
		t.Errorf("code %d: --json prints another text than the file's (%v)", code, err)
	}
}

// An interrupt ends the measurement, and the file stays what it was.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.json")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, roof := range map[string]measure{
		"in the measurement": func(ctx context.Context, _ machine.Options) (machine.Machine, error) {
			<-ctx.Done()
			return machine.Machine{}, ctx.Err()
		},
		"right after it": func(ctx context.Context, o machine.Options) (machine.Machine, error) {
			<-ctx.Done()
			return fake(ctx, o)
		},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		cancel()
		var out, stderr bytes.Buffer
		if code := run(ctx, []string{"--out", path}, &out, &stderr, roof); code != 130 || !strings.Contains(stderr.String(), "nothing was written") {
			t.Errorf("%s: code %d, %s", name, code, stderr.String())
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
			t.Errorf("%s: the file holds %q (%v)", name, text, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left (%v)", len(entries), err)
	}
}

// Where nothing can be written, nothing is measured.
func TestUnwritable(t *testing.T) {
	never := func(context.Context, machine.Options) (machine.Machine, error) {
		t.Error("it measures")
		return machine.Machine{}, nil
	}
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none", "mine.json"): "no such file or directory; nothing was measured",
		dir:                                     "it is not a regular file; nothing was measured",
	} {
		code, out, stderr := call(t, never, "--out", path)
		if code != 1 || out != "" || !strings.HasPrefix(stderr, "roof: cannot write "+path+": ") || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, %q, %q", path, code, out, stderr)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%d files are left (%v)", len(entries), err)
	}

	// The folder may go while the measurement runs: what it found is printed.
	for _, form := range []string{"--json=false", "--json"} {
		gone := filepath.Join(t.TempDir(), "gone")
		if err := os.Mkdir(gone, 0o755); err != nil {
			t.Fatal(err)
		}
		code, out, stderr := call(t, func(ctx context.Context, o machine.Options) (machine.Machine, error) {
			if err := os.Remove(gone); err != nil {
				t.Error(err)
			}
			return fake(ctx, o)
		}, form, "--out", filepath.Join(gone, "mine.json"))
		if code != 1 || !strings.Contains(out, "some CPU, 2 cores") || strings.Contains(out, "Written to") || !strings.Contains(stderr, "cannot write") {
			t.Errorf("%s: code %d, %q, %q", form, code, out, stderr)
		}
	}
}

// A run says what it replaces, if that was asked to measure longer. How long it took
// is no measure: a full run may end early.
func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.json")
	begin := func(ctx context.Context, o machine.Options) (machine.Machine, error) {
		o.Progress(0, 1)
		return fake(ctx, o)
	}
	for _, c := range []struct {
		asked, took float64
		args        []string
		want        string
	}{
		{12, 5, []string{"--quick"}, path + " holds a full run, of up to 12 s from 2026-01-02T03:04:05Z: this one of up to 4s will replace it"},
		{8, 8, []string{"--quick"}, path + " holds a longer run, of up to 8 s"},
		{60, 20, nil, path + " holds a full run, of up to 60 s from 2026-01-02T03:04:05Z: this one of up to 12s will replace it"},
		{12, 12.4, nil, ""},
		{4, 4.2, []string{"--quick"}, ""},
		{0.05, 0.9, []string{"--time", "50ms"}, ""}, // it takes longer than asked, twice
		{12, 12.4, []string{"--time", "20s"}, ""},
		{0, 12.4, []string{"--quick"}, "a full run, of up to 12.4 s"}, // an older file
	} {
		m := mine(200e9)
		m.Measured.Asked, m.Measured.Seconds = c.asked, c.took
		if err := machine.Save(path, m); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := call(t, begin, append(c.args, "--out", path)...)
		if code != 0 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "replace") != (c.want != "") {
			t.Errorf("%v after %v s of %v: code %d, %q, want %q", c.args, c.took, c.asked, code, stderr, c.want)
		}
	}
}

// A link is followed, also one to a file that is not there yet, and a file keeps its
// mode.
func TestLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.Symlink("real.json", link); err != nil {
		t.Skip(err)
	}
	for _, mode := range []os.FileMode{0o644, 0o600} {
		if code, out, stderr := call(t, fake, "--out", link); code != 0 || !strings.Contains(out, "Written to "+link) {
			t.Fatalf("code %d, %s", code, stderr)
		}
		info, err := os.Stat(real)
		if at, _ := os.Readlink(link); err != nil || at != "real.json" || info.Mode().Perm() != mode {
			t.Errorf("the link names %q, and the file's mode is %v (%v); want %v", at, info.Mode(), err, mode)
		}
		if err := os.Chmod(real, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%d files are left (%v)", len(entries), err)
	}
}

// What a file holds reaches a terminal without its control characters.
func TestControlCharacters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	m := mine(1e9)
	m.Name = "evil \x1b[2J\x07 name"
	if err := machine.Save(path, m); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := call(t, fake, "--compare", path, path); code != 0 || strings.ContainsAny(out, "\x1b\x07") || !strings.Contains(out, `evil \x1b[2J\a name`) {
		t.Errorf("code %d, %q", code, out)
	}
	for _, args := range [][]string{{"--compare", "a\x1b[2J", "b"}, {"--out", "no\x1b[2Jwhere/x"}, {"--x\x1b[2J\nsecond line"}, {"--memory", "9\x1bK"}} {
		if code, _, stderr := call(t, fake, args...); code == 0 || strings.Contains(stderr, "\x1b") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, %q", args, code, stderr)
		}
	}
}

func TestBenchmarkFormat(t *testing.T) {
	code, out, stderr := call(t, fake, "--bench", "--out", filepath.Join(t.TempDir(), "x.json"))
	for _, want := range []string{"cpu: some CPU\n", "BenchmarkPeak/isa=avx2/format=FP32-2\t1\t5000 ns/op\t200 GFLOP/s\n", "BenchmarkBandwidth/isa=avx2/loop=load/bytes=4096-1\t1\t"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, %s: no %q in\n%s", code, stderr, want, out)
		}
	}
}

// What the measurement says of its options names the flags.
func TestLimits(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mine.json")
	for _, c := range []struct {
		flag, value, want string
	}{
		{"--memory", "1", "roof: --memory is 1: it must be from 64 KiB to "},
		{"--memory", "1KiB", "roof: --memory is 1KiB: it must be from 64 KiB to "},
		{"--time", "1ms", "roof: --time is 1ms: it must be from 50ms to 1h0m0s, or 0 for 12s\n"},
		{"--threads", "-1", "roof: --threads is -1: it must be from 1 to "},
	} {
		code, _, stderr := call(t, machine.Measure, c.flag, c.value, "--out", out)
		if code != 2 || !strings.HasPrefix(stderr, c.want) || strings.Contains(stderr, "default") {
			t.Errorf("%s %s: code %d, %q", c.flag, c.value, code, stderr)
		}
	}
	err := named(errors.New("machine: Options.Threads is 9: it must be from 1 to 4"), nil)
	if want := "--threads is 9 by default: it must be from 1 to 4"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "c.json")
	for path, m := range map[string]machine.Machine{a: mine(200e9), b: mine(300e9), c: machine.Machine{Machine: roofline.A100()}} {
		if err := machine.Save(path, m); err != nil {
			t.Fatal(err)
		}
	}
	code, out, stderr := call(t, fake, "--compare", a, b)
	if code != 0 {
		t.Fatalf("code %d: %s", code, stderr)
	}
	lines := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"200 300 1.5", "ridge, FLOP/byte 10 15 1.5", "avx2 float32 on all cores, GFLOP/s 200 300 1.5", "L1 on one core, GB/s 300 300 1"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// A published machine beside a measured one.
	if code, out, _ = call(t, fake, "--compare", a, c); code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "bandwidth, GB/s 20.0 2039 102") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, _, stderr = call(t, fake, "--compare", a, filepath.Join(dir, "none.json")); code != 1 || !strings.Contains(stderr, "there is no machine file") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

func TestMistakes(t *testing.T) {
	never := func(context.Context, machine.Options) (machine.Machine, error) {
		return machine.Machine{}, errors.New("it was called")
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--fast"}, 2, "--help tells the flags"},
		{[]string{"file.json"}, 2, `argument is "file.json"`},
		{[]string{"--quick", "--time", "3s"}, 2, "choose one"},
		{[]string{"--memory", "much"}, 2, `invalid value "much" for flag -memory: it must be a size`},
		{[]string{"--memory", "100XB"}, 2, "the units are KiB, MiB, GiB, TiB, kB, MB, GB, TB, B"},
		{[]string{"--json", "--bench"}, 2, "choose one"},
		{[]string{"--memory", "-1GiB"}, 2, `invalid value "-1GiB" for flag -memory`},
		{[]string{"--compare", "a.json"}, 2, "two machine files"},
		{[]string{"--compare", "--json", "a.json", "b.json"}, 2, "no other flag"},
		{[]string{"--out", filepath.Join(t.TempDir(), "x")}, 1, "it was called"},
	} {
		if code, _, stderr := call(t, never, c.args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: code %d, %s, want %q", c.args, code, stderr, c.want)
		}
	}
	if code, out, _ := call(t, never, "--help"); code != 0 || !strings.Contains(out, "usage: go run ./scripts/roof") {
		t.Errorf("--help: code %d, %s", code, out)
	}
}

func TestBar(t *testing.T) {
	var b bytes.Buffer
	drawBar(&b, 5, 10, 2*time.Second)
	if want := "[" + strings.Repeat("#", 20) + strings.Repeat(".", 20) + "]  50%, 2 s"; !strings.Contains(b.String(), want) {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	say := bar(&b)
	say(0, 10)
	say(1, 10)
	if strings.Count(b.String(), "\n") != 1 {
		t.Errorf("a file gets %q", b.String())
	}
}
