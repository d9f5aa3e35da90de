package speak

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
)

// small is a model of a shape of its own, quick to run.
func small(t *testing.T) *llama.Model {
	m, err := llama.Random(llama.Config{Architecture: "llama", Layers: 2, Width: 64, Heads: 4, KVHeads: 2, HeadDim: 32, FFN: 96,
		Vocab: 300, Context: 200, Tied: true, Epsilon: 1e-5, RopeBase: 10000}, matmul.Q4_1, matmul.Q8_0, 2)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var numbers = regexp.MustCompile(`(\d+|NaN|\+Inf)%`)

// TestMeasuring: what is timed is what was asked for. No time is judged.
func TestMeasuring(t *testing.T) {
	m := small(t)
	quick := bench.Options{Samples: 2, MinTime: time.Millisecond}
	for _, c := range []Case{{Model: m}, {Model: m, Batch: 3, Context: 150, Threads: 1}} {
		result, err := c.Time(quick)
		if err != nil || len(result.Samples) < 2 || result.Work.Bytes != c.Step().Bytes() {
			t.Errorf("%+v: %+v, %v", c, result, err)
		}
		s, err := c.Shares(2 * time.Millisecond)
		if parts := s.Products + s.Output + s.Attention; err != nil || s.Products <= 0 || s.Output <= 0 || s.Attention <= 0 || parts > s.All {
			t.Errorf("%+v: shares %+v, %v", c, s, err)
		}
	}
	if one, three := (Case{Model: m, Context: 150}).Step(), (Case{Model: m, Batch: 3, Context: 150}).Step(); three.KV != 3*one.KV || three.Weights != one.Weights {
		t.Errorf("one sequence %+v, three %+v", one, three)
	}
	lab := &Lab{Model: m, Machine: machine.Machine{Measured: &machine.Measured{Levels: []machine.Level{{Threads: 1}}}}}
	for _, ask := range []func() (string, error){
		func() (string, error) { return lab.Where(Case{Batch: 2, Context: 10}) },
		func() (string, error) { return lab.PromptWhere(100) },
	} {
		text, err := ask()
		if parts := numbers.FindAllString(text, -1); err != nil || len(parts) != 5 || slices.Contains(parts, "NaN%") {
			t.Errorf("%q, %v: it must have five shares", text, err)
		}
	}
	if result, err := TimeFirstToken(m, 100, quick); err != nil || len(result.Samples) < 2 {
		t.Errorf("a prompt: %+v, %v", result, err)
	}
	if s, err := (&Lab{Model: m}).promptShares(100); err != nil || s.Products <= 0 || s.Output <= 0 || s.Attention <= 0 || s.Products+s.Output+s.Attention > s.All {
		t.Errorf("a prompt: shares %v, %v", s, err)
	}
	for name, err := range map[string]error{
		"capacity is 201": func() error { _, err := (Case{Model: m, Context: 201}).Time(quick); return err }(),
		"capacity is 300": func() error { _, err := TimeFirstToken(m, 300, quick); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v: it must say %q", err, name)
		}
	}
}

// TestAskWithoutModel: the lesson works without the model, and says so.
func TestAskWithoutModel(t *testing.T) {
	t.Setenv("MEMORYWALL_MODEL", "/nowhere/model.gguf")
	var out strings.Builder
	if err := Ask(&out, "What?", 5); err != nil || !strings.Contains(out.String(), "random weights") || !strings.Contains(out.String(), "./scripts/lesson --setup-only") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
