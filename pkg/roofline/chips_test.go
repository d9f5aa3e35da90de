package roofline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
)

func TestChips(t *testing.T) {
	chips := Chips()
	if len(chips) < 20 {
		t.Errorf("%d chips", len(chips))
	}
	seen := map[string]bool{}
	for _, c := range chips {
		if c.Name == "" || seen[strings.ToLower(c.Name)] {
			t.Errorf("name %q is empty or there twice", c.Name)
		}
		seen[strings.ToLower(c.Name)] = true
		if c.Source == "" || len(c.Rates) == 0 {
			t.Errorf("%s: source %q, %d rates", c.Name, c.Source, len(c.Rates))
		}
		if len(c.CapacityGB) == 0 && !strings.Contains(c.Uncertain, "capacity") {
			t.Errorf("%s: no capacity, and no word of why", c.Name)
		}
		formats := map[string]bool{}
		for _, r := range c.Rates {
			if formats[r.Format] || slices.Contains(c.Lacks, r.Format) {
				t.Errorf("%s: %s is there twice, or lacking too", c.Name, r.Format)
			}
			formats[r.Format] = true
			want := map[string]int64{"FP32": 4, "FP16": 2, "BF16": 2, "FP8": 1, "INT8": 1}[r.Format]
			if r.ElemBytes != want {
				t.Errorf("%s: %s of %d bytes", c.Name, r.Format, r.ElemBytes)
			}
			if r.Sparse != 0 && !(math.Abs(r.Sparse/r.Dense-2) <= 1e-3) {
				t.Errorf("%s: sparse %s is %v times dense: half of a sparse matrix is left out", c.Name, r.Format, r.Sparse/r.Dense)
			}
			m, err := Chip(strings.ToLower(c.Name), r.Format)
			if err != nil || m.Peak != r.Dense || m.Bandwidth != c.Bandwidth || m.Format != r.Format {
				t.Errorf("%s: machine %+v (%v)", c.Name, m, err)
			}
			if c.Uncertain != "" && !strings.Contains(m.Source, c.Uncertain) {
				t.Errorf("%s: its machine does not say what is uncertain", c.Name)
			}
			if ridge, err := arg.Try(m.Ridge); err != nil || !(ridge > 1 && ridge < 2000) {
				t.Errorf("%s, %s: ridge %v FLOP/byte (%v)", c.Name, r.Format, ridge, err)
			}
		}
		for _, f := range c.Lacks {
			if _, err := Chip(c.Name, f); err == nil || !strings.Contains(err.Error(), "has no units for it") {
				t.Errorf("%s, %s: error %v", c.Name, f, err)
			}
		}
	}
}

func TestChipIsTheReference(t *testing.T) {
	m, err := Chip("NVIDIA A100 80GB SXM", "FP16")
	if err != nil || m != A100() {
		t.Errorf("%+v, %v", m, err)
	}
	b, err := Chip("NVIDIA A100 80GB SXM", "BF16")
	if err != nil || b.Peak != m.Peak {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestChipRefuses(t *testing.T) {
	for _, c := range []struct{ name, format, want string }{
		{"A100", "FP16", `chip is "A100": the catalogue has NVIDIA V100 SXM2`},
		{"NVIDIA T4", "BF16", "has no units for it: choose FP16, INT8, FP32"},
		{"NVIDIA A100 40GB", "FP8", "has no units for it"},
		{"Google TPU v5e", "FP16", "no rate of Google TPU v5e is listed for it: choose BF16, INT8"},
		{"NVIDIA H100 SXM", "", `format is ""`},
	} {
		if m, err := Chip(c.name, c.format); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Chip(%q, %q) = %+v, %v, want %q", c.name, c.format, m, err, c.want)
		}
	}
}

// A sheet's rate follows from a clock, the units, and what one does in a cycle.
func TestChipClocks(t *testing.T) {
	for _, c := range []struct {
		name, format                 string
		hz, multiplyAdds, units, tol float64
	}{
		{"NVIDIA H100 SXM", "FP16", 1830e6, 512, 528, 1e-4},
		{"NVIDIA H100 SXM", "FP32", 1980e6, 128, 132, 2e-3},
		{"NVIDIA A100 80GB SXM", "FP16", 1410e6, 256, 432, 1e-3},
		{"AMD MI300X", "FP16", 2100e6, 256, 1216, 1e-4},
		{"AMD MI250X, one of its two dies", "FP16", 1700e6, 128, 880 / 2, 1e-3},
		{"Intel Gaudi 2", "BF16", 1650e6, 65536, 2, 2e-3},
		{"Intel Gaudi 3", "BF16", 1600e6, 65536, 8, 1e-3},
	} {
		m, err := Chip(c.name, c.format)
		if err != nil {
			t.Error(err)
			continue
		}
		want := c.hz * c.multiplyAdds * 2 * c.units
		if !(math.Abs(m.Peak-want) <= c.tol*want) {
			t.Errorf("%s, %s: %v FLOP/s, from the clock %v", c.name, c.format, m.Peak, want)
		}
	}
}
