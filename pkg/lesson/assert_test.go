package lesson

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"memorywall/pkg/tiling"
)

func matrix(t *testing.T, rows ...[]float64) tiling.Matrix[float64] {
	t.Helper()
	m := tiling.FromRows(rows)
	return m
}

func TestAssertsThatHold(t *testing.T) {
	one := matrix(t, []float64{1, 2}, []float64{3, 4})
	for _, c := range []struct {
		name string
		call func()
		want string
	}{
		{"equal", func() { Equal("FLOPs", int64(137438953472), 137438953472) }, "✓ FLOPs = 137,438,953,472"},
		{"equal string", func() { Equal("bound", "memory-bound", "memory-bound") }, "✓ bound = memory-bound"},
		{"close", func() { Close("third", 1.0/3, 0.3333333333333333) }, "✓ third = 0.333333"},
		{"close to zero", func() { Close("nothing", 0, 0) }, "✓ nothing = 0"},
		{"close to a tiny number", func() { Close("tiny", math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64) }, "✓ tiny = 4.94066e-324"},
		{"within", func() { Within("b/s", 31.5, 32, 0.02) }, "✓ b/s = 31.5  (within 2% of 32)"},
		{"within a negative", func() { Within("loss", -99, -100, 0.02) }, "✓ loss = -99  (within 2% of -100)"},
		{"shows", func() { Shows("ridge, FLOP/byte", 153.0161844, "%.1f", "153.0") }, "✓ ridge, FLOP/byte = 153.0  (153.016)"},
		{"shows all there is", func() { Shows("b", 342, "%.0f", "342") }, "✓ b = 342"},
		{"holds", func() { Holds("loads never rise with b", true) }, "✓ loads never rise with b"},
		{"same matrix", func() { SameMatrix("product", one, one) }, "✓ product  (2×2, all 4 elements equal)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, status := record(t, false, c.call)
			if status != -1 || len(blocks) != 1 {
				t.Fatalf("status %d and %d blocks, want to go on after one", status, len(blocks))
			}
			if blocks[0].Text != c.want {
				t.Errorf("text %q, want %q", blocks[0].Text, c.want)
			}
			if !strings.Contains(blocks[0].HTML, "✓") || strings.Contains(blocks[0].HTML, "✗") {
				t.Errorf("HTML has no tick, or a cross too: %s", blocks[0].HTML)
			}
		})
	}
}

func TestAssertsThatDoNotHold(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	one := matrix(t, []float64{1, 2}, []float64{3, 4})
	var nothing, slice any = nil, []int{1}
	for _, c := range []struct {
		name string
		call func()
		want []string
	}{
		{"equal", func() { Equal("loads", 65, 64) }, []string{"Not equal: loads", "expected:    64", "got:         65", "difference:  1"}},
		{"equal but for the last digit", func() { Equal("x", math.Nextafter(0.3, 1), 0.3) }, []string{"0.3", "0.30000000000000004"}},
		{"equal strings", func() { Equal("bound", "memory-bound ", "memory-bound") }, []string{`"memory-bound "`, `"memory-bound"`}},
		{"equal NaN", func() { Equal("x", nan, nan) }, []string{"NaN", checkNaN}},
		{"equal to nil", func() { Equal("x", nothing, any(1)) }, []string{"expected:  1"}},
		{"equal of what cannot be compared", func() { Equal("x", slice, slice) }, []string{"note:", "uncomparable"}},
		{"close", func() { Close("ridge", 152.9, 153) }, []string{"Not close enough: ridge", "expected:    153", "got:         152.9", "tolerance:   1.53e-10 (1e-12 relative)"}},
		{"close to zero", func() { Close("x", 1e-300, 0) }, []string{"expected:    0"}},
		{"close NaN", func() { Close("x", nan, 1) }, []string{"NaN", checkNaN}},
		{"close to NaN", func() { Close("x", 1, nan) }, []string{checkNaN}},
		{"close to infinity", func() { Close("x", inf, inf) }, []string{"+Inf"}},
		{"close to infinity from afar", func() { Within("x", 1, inf, 0.1) }, []string{"+Inf"}},
		{"within NaN", func() { Within("x", 1, 1, nan) }, []string{checkNaN}},
		{"within less than nothing", func() { Within("x", 1, 1, -0.1) }, []string{"must not be negative"}},
		{"within", func() { Within("x", 103, 100, 0.02) }, []string{"difference:  3", "tolerance:   2 (0.02 relative)"}},
		{"shows", func() { Shows("ridge", 152.94, "%.1f", "153.0") }, []string{"Does not read as written: ridge", "expected:  153.0", "got:       152.9  (152.94, written with %.1f)"}},
		{"shows NaN", func() { Shows("x", nan, "%.1f", "NaN") }, []string{checkNaN}},
		{"shows with a wrong verb", func() { Shows("x", 3, "%d", "3") }, []string{"%!d(float64=3)"}},
		{"holds", func() { Holds("loads never rise with b", false) }, []string{"Does not hold: loads never rise with b"}},
		{"matrix element", func() { SameMatrix("product", matrix(t, []float64{1, 2}, []float64{5, 6}), one) },
			[]string{"differ:    2 of 4 elements", "first:     row 1, column 0", "expected:  3", "got:       5"}},
		{"matrix shape", func() { SameMatrix("product", matrix(t, []float64{1, 2}), one) }, []string{"expected:  2×2", "got:       1×2"}},
		{"matrix NaN", func() { SameMatrix("product", matrix(t, []float64{nan}), matrix(t, []float64{nan})) }, []string{"NaN", checkNaN}},
		{"matrix that is none", func() { SameMatrix("product", tiling.Matrix[float64]{Rows: 2, Cols: 2}, one) }, []string{"problem:"}},
		{"check", func() { Check(errors.New("tiling: tile is 0: it must be at least 1")) }, []string{"tiling: tile is 0: it must be at least 1", "Change the value in this cell and run it again."}},
		{"must", func() { tiling.FastBytes(0, 2) }, []string{"tiling: tile is 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, status := record(t, false, func() {
				c.call()
				t.Error("it went on")
			})
			if status != 1 || len(blocks) != 1 {
				t.Fatalf("status %d and %d blocks, want to stop with 1 after one", status, len(blocks))
			}
			for _, want := range c.want {
				if !strings.Contains(blocks[0].Text, want) {
					t.Errorf("text has no %q:\n%s", want, blocks[0].Text)
				}
			}
			if !strings.Contains(blocks[0].HTML, "✗") {
				t.Errorf("HTML has no cross: %s", blocks[0].HTML)
			}
		})
	}
}

func TestMustHandsOn(t *testing.T) {
	blocks, status := record(t, false, func() {
		if v := tiling.FastBytes(64, 2); v != 3*64*64*2 {
			t.Errorf("Must returned %d", v)
		}
		Check(nil)
	})
	if status != -1 || len(blocks) != 0 {
		t.Errorf("status %d and %d blocks, want silence", status, len(blocks))
	}
}

func TestMarkupOfAsserts(t *testing.T) {
	blocks, _ := record(t, true, func() { Shows("a < b & c", 2, "%.1f", "2.0") })
	golden(t, "held.html", []byte(blocks[0].HTML))
	blocks, _ = record(t, true, func() { Close("a < b & c", 2, 3) })
	golden(t, "failed.html", []byte(blocks[0].HTML))
	if !strings.Contains(blocks[0].HTML, `role="alert"`) {
		t.Error("a failure is not an alert")
	}
	for _, b := range blocks {
		if strings.Contains(b.HTML, "a < b") {
			t.Errorf("text was not escaped: %s", b.HTML)
		}
	}
}

// A real program must end with status 1, the message on standard output, and
// nothing else: no stack of calls.
func TestExitOfAProgram(t *testing.T) {
	if os.Getenv("LESSON_TEST_EXIT") != "" {
		Holds("this holds", true)
		tiling.FastBytes(0, 2)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestExitOfAProgram$")
	cmd.Env = append(os.Environ(), "LESSON_TEST_EXIT=1", "GONB_PIPE=")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 1 {
		t.Errorf("ended with %v, want status 1", err)
	}
	want := "✓ this holds\n✗ This has no answer: tiling: tile is 0: it must be at least 1\n    Change the value in this cell and run it again.\n"
	if stdout.String() != want || stderr.Len() > 0 {
		t.Errorf("standard output:\n%s\nstandard error:\n%s\nwant:\n%s", stdout.String(), stderr.String(), want)
	}
}

func TestRangesOfConstants(t *testing.T) {
	for _, c := range []struct {
		name string
		call func()
		want string // "" where it goes on
	}{
		{"positive", func() { Positive("work", 0.5) }, ""},
		{"zero", func() { Positive("work", 0) }, "This has no answer: work is 0: it must be positive and finite"},
		{"negative", func() { Positive("work", -1) }, "work is -1: it must be positive and finite"},
		{"NaN", func() { Positive("work", math.NaN()) }, "work is NaN: it must be positive and finite"},
		{"infinite", func() { Positive("work", math.Inf(1)) }, "work is +Inf: it must be positive and finite"},
		{"the least", func() { Between("m", 1, 1, 300) }, ""},
		{"the greatest", func() { Between("m", 300, 1, 300) }, ""},
		{"below", func() { Between("m", 0, 1, 300) }, "This has no answer: m is 0: it must be from 1 to 300"},
		{"above", func() { Between("m", 100000, 1, 300) }, "m is 100000: it must be from 1 to 300"},
		{"no number", func() { Between("m", math.NaN(), 1, 300) }, "m is NaN: it must be from 1 to 300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, status := record(t, false, c.call)
			if c.want == "" {
				if status != -1 || len(blocks) != 0 {
					t.Errorf("status %d and %v: want to go on without a word", status, blocks)
				}
				return
			}
			if status != 1 || len(blocks) != 1 || !strings.Contains(blocks[0].Text, c.want) {
				t.Errorf("status %d and %v, want 1 and %q", status, blocks, c.want)
			}
		})
	}
}
