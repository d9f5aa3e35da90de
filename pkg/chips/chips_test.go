package chips

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

var update = flag.Bool("update", false, "write the table for the eye anew")

// The catalogue as a table for the eye: a changed figure is seen in its diff.
func TestTable(t *testing.T) {
	var b strings.Builder
	say := func(f Figure, scale float64) string {
		if !f.Known() {
			return ""
		}
		text := fmt.Sprintf("%.8g", f.Value/scale)
		if f.Secondary {
			text += "?"
		}
		for _, o := range f.Others {
			text += fmt.Sprintf("≠%.8g", o.Value/scale)
		}
		return text
	}
	fmt.Fprintf(&b, "dense TFLOP/s, GB/s, watts, ridge points in FLOP/byte; ? secondary; ≠ another source\n")
	for _, c := range All() {
		fmt.Fprintf(&b, "%s (%s)\n  rates ", c.Name, say(c.Year, 1))
		for _, r := range c.Rates {
			fmt.Fprintf(&b, " %s %s", r.Format, say(r.Dense, 1e12))
			if r.Sparse > 0 {
				fmt.Fprintf(&b, "(%.6g)", r.Sparse/1e12)
			}
		}
		fmt.Fprintf(&b, "; lacks %s\n  memory %s GB %s B, %s GB/s; link %s GB/s of %s; %s W\n", strings.Join(c.Lacks, " "),
			say(c.Label, 1e9), say(c.Memory, 1), say(c.Bandwidth, 1e9), say(c.Link, 1e9), say(c.Domain, 1), say(c.Watts, 1))
		for _, o := range c.OnChip {
			fmt.Fprintf(&b, "  %s %d × %s B = %.6g MB %s\n", o.Name, o.Units, say(o.Bytes, 1), o.Total()/1e6, say(o.Bandwidth, 1e9))
		}
		b.WriteString("  ridge ")
		for _, r := range c.Rates {
			fmt.Fprintf(&b, " %s %.1f", r.Format, r.Dense.Value/c.Bandwidth.Value)
		}
		b.WriteString("\n")
	}
	const path = "testdata/table.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != b.String() {
		t.Errorf("%s is not the catalogue (%v): look at the difference, then go test ./pkg/chips -run TestTable -update", path, err)
	}
}

func figures(c Chip) map[string]Figure {
	all := map[string]Figure{"year": c.Year, "label": c.Label, "bytes": c.Memory, "bandwidth": c.Bandwidth, "link": c.Link, "domain": c.Domain, "watts": c.Watts}
	for _, r := range c.Rates {
		all[r.Format] = r.Dense
	}
	for _, o := range c.OnChip {
		all[o.Name], all[o.Name+" bandwidth"] = o.Bytes, o.Bandwidth
	}
	return all
}

// Every figure has a source of its own. Four chips have little more than the
// listings of an earlier reading; no other row may rest on one generic source.
func TestSources(t *testing.T) {
	generic := []string{"NVIDIA V100 SXM2", "NVIDIA V100 PCIe", "NVIDIA T4", "Google TPU v4", "Intel Gaudi 2"}
	for _, c := range All() {
		var listed, all int
		for name, f := range figures(c) {
			if f.Known() != (f.Source != "") {
				t.Errorf("%s, %s: %v from %q", c.Name, name, f.Value, f.Source)
			}
			if strings.HasPrefix(f.Source, "listings that cite") {
				listed++
				if !f.Secondary {
					t.Errorf("%s, %s: listings are secondary", c.Name, name)
				}
			}
			if f.Known() {
				all++
			}
		}
		if many := listed > all/2; many != slices.Contains(generic, c.Name) {
			t.Errorf("%s: %d of %d figures rest on unnamed listings", c.Name, listed, all)
		}
		if !c.Label.Known() || !c.Bandwidth.Known() {
			t.Errorf("%s has no memory or no bandwidth", c.Name)
		}
	}
	for _, name := range generic {
		Named(name)
	}
}

// Fewer bits are never slower on one chip: the best rate of each width falls
// with the bits of an element on the wire (TF32 is a way to multiply FP32).
func TestFewerBitsAreNeverSlower(t *testing.T) {
	for _, c := range All() {
		best := map[int64]float64{}
		for _, r := range c.Rates {
			best[r.Bits] = max(best[r.Bits], r.Dense.Value)
			if r.Sparse != 0 && !(math.Abs(r.Sparse/r.Dense.Value-2) <= 0.025) {
				t.Errorf("%s, %s: sparse is %v times dense: half of a sparse matrix is left out", c.Name, r.Format, r.Sparse/r.Dense.Value)
			}
			if slices.Contains(c.Lacks, r.Format) {
				t.Errorf("%s has and lacks %s", c.Name, r.Format)
			}
		}
		before := 0.0
		for _, bits := range []int64{32, 16, 8, 4} {
			if best[bits] != 0 && best[bits] < before {
				t.Errorf("%s: %d bits at %v, more bits at %v", c.Name, bits, best[bits], before)
			}
			before = max(before, best[bits])
		}
	}
}

// A sheet's rate follows from units, what one does in a cycle, and a clock,
// where such a clock is published or (inferred) where one gives all rates.
func TestUnitsTimesClock(t *testing.T) {
	for _, c := range []struct {
		name, format     string
		units, flops, hz float64
		tol              float64
	}{
		{"NVIDIA A100 80GB SXM", "BF16", 432, 512, 1.41e9, 1e-3},
		{"NVIDIA A100 80GB SXM", "TF32", 432, 256, 1.41e9, 1e-3},
		{"NVIDIA A100 80GB SXM", "INT8", 432, 1024, 1.41e9, 1e-3},
		{"NVIDIA A100 80GB SXM", "FP32", 6912, 2, 1.41e9, 1e-3},
		{"NVIDIA H100 SXM", "BF16", 528, 1024, 1.83e9, 1e-3},
		{"NVIDIA H100 SXM", "FP32", 132, 256, 1.98e9, 2e-3},
		{"NVIDIA L40S", "FP16", 568, 256, 2.49e9, 1e-3},
		{"NVIDIA L4", "FP16", 232, 256, 2.04e9, 2e-3},
		{"NVIDIA L4", "FP32", 58, 256, 2.04e9, 1e-3},
		{"NVIDIA RTX 4090", "FP16", 512, 128, 2.52e9, 1e-3},
		{"NVIDIA RTX 4090", "FP32", 16384, 2, 2.52e9, 1e-3},
		{"NVIDIA RTX 5090", "FP16", 680, 128, 2.407e9, 3e-3},
		{"AMD MI250X, one of its two dies", "FP16", 440, 256, 1.7e9, 1e-3},
		{"AMD MI300X", "FP16", 1216, 512, 2.1e9, 1e-4},
		{"AMD MI355X", "FP16", 1024, 1024, 2.4e9, 1e-2},
		{"AMD MI355X", "FP8", 256, 8192, 2.4e9, 1e-2},
		{"Google TPU v5e", "BF16", 4 * 128 * 128, 2, 1.5e9, 3e-3},
		{"Google TPU v5p", "BF16", 8 * 128 * 128, 2, 1.75e9, 1e-3},
		{"Intel Gaudi 2", "BF16", 2, 2 * 65536, 1.65e9, 2e-3},
		{"Intel Gaudi 3", "BF16", 8, 2 * 65536, 1.6e9, 1e-3},
	} {
		want := c.units * c.flops * c.hz
		if got := Named(c.name).Rate(c.format).Dense.Value; !(math.Abs(got-want) <= c.tol*want) {
			t.Errorf("%s, %s: %v FLOP/s, from the clock %v", c.name, c.format, got, want)
		}
	}
	for name, want := range map[string]float64{ // bus bytes × rate of a pin
		"NVIDIA A100 40GB PCIe": 5120 / 8 * 2 * 1.215e9, "NVIDIA RTX 4090": 384 / 8 * 21e9, "NVIDIA RTX 5090": 512 / 8 * 28e9,
	} {
		if got := Named(name).Bandwidth.Value; !(math.Abs(got-want) <= 1e-3*want) {
			t.Errorf("%s: %v bytes/s, from the bus %v", name, got, want)
		}
	}
	for _, o := range Named("NVIDIA H100 SXM").OnChip {
		if want := 132 * 128 * 1.98e9; o.Bandwidth.Known() && !(math.Abs(o.Bandwidth.Value-want) <= 1e-3*want) {
			t.Errorf("H100 %s: %v bytes/s, from the clock %v", o.Name, o.Bandwidth.Value, want)
		}
	}
}

func TestMachine(t *testing.T) {
	if m := Named("NVIDIA A100 80GB SXM").Machine("fp16"); m != roofline.A100() {
		t.Errorf("%+v", m)
	}
	for _, c := range All() {
		for _, r := range c.Rates {
			if r.Bits < 8 {
				continue
			}
			m := c.Machine(r.Format)
			if err := m.Validate(); err != nil || m.Peak != r.Dense.Value || m.Bandwidth != c.Bandwidth.Value || 8*m.ElemBytes != r.Bits || m.Source == "" {
				t.Errorf("%s, %s: %+v, %v", c.Name, r.Format, m, err)
			}
		}
	}
	for _, c := range []struct {
		bytes int64
		known bool
		name  string
	}{{42405855232, true, "A100 40GB PCIe"}, {40e9, false, "A100 40GB SXM"}, {17179869184, true, "v5e"}, {80e9, false, "H100 SXM"}} {
		if bytes, known := Named(c.name).Capacity(); bytes != c.bytes || known != c.known {
			t.Errorf("%s: %d bytes, known %v", c.name, bytes, known)
		}
	}
}

// Inner roofs: 33.45 TB/s from the L1 of an H100, 12.8 TB/s from a Gaudi 3's SRAM.
func TestRoofs(t *testing.T) {
	for name, want := range map[string][]float64{"H100 SXM": {33454e9, 3350e9}, "Gaudi 3": {12800e9, 3670e9}, "A100 80GB SXM": {2039e9}} {
		roofs := Named(name).Roofs("BF16")
		for i, r := range roofs {
			if err := r.Validate(); err != nil || len(roofs) != len(want) || r.Bandwidth != want[i] || r.Source == "" {
				t.Errorf("%s: roof %d is %+v (%v)", name, i, r, err)
			}
		}
	}
	if got := Named("H100 SXM").OnChip[1].Total(); got != 132*256*1024 {
		t.Errorf("L1 of all units is %v bytes", got)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ name, format, want string }{
		{"A100", "FP16", `chip is "A100": it fits more than one: NVIDIA A100 40GB PCIe, `},
		{"H100 SXN", "FP16", "the nearest are NVIDIA H100 SXM"},
		{"", "FP16", "there is none of that name"},
		{"T4", "BF16", "has no units for it: choose FP32, FP16, INT8"},
		{"A100 80GB SXM", "FP8", "has no units for it: choose FP32, TF32, FP16, BF16, INT8"},
		{"v5e", "FP16", "no source gives a rate of Google TPU v5e for it: choose BF16, INT8, INT4"},
		{"H100 NVL", "FP16", "no rates of it were found at all"},
		{"B200", "FP4", "4 bits is not whole bytes"},
		{"h100sxm", "", `format is ""`},
	} {
		err := arg.Maybe(func() { Named(c.name).Machine(c.format) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %q", c.name, c.format, err, c.want)
		}
	}
	if c := Named("b200"); c.Name != "NVIDIA B200" {
		t.Errorf("b200 is %s", c.Name)
	}
}

// What no sheet says must not come in: figures that circulate and are wrong.
func TestNeverCopied(t *testing.T) {
	if r := Named("Trainium2").Rate("BF16").Dense.Value; r != 667e12 {
		t.Errorf("Trainium2 at %v", r)
	}
	if b := Named("H100 NVL").Bandwidth.Value; b != 3900e9 {
		t.Errorf("H100 NVL at %v", b)
	}
	for _, c := range All() {
		if slices.Contains([]string{"NVIDIA A100 80GB SXM", "NVIDIA V100 SXM2", "NVIDIA T4"}, c.Name) && !slices.Contains(c.Lacks, "FP8") {
			t.Errorf("%s has FP8", c.Name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	head, _, _ := strings.Cut(chipTable, "\n")
	for _, c := range []struct{ row, want string }{
		{"x,2020,,,,,,,,,,,,,,,,", "must be a figure and its sources"},
		{"x,2020 Q,,,,,,,,,,,,,,,,", `source "Q" is not in sources.csv`},
		{"x,,-1 M,,,,,,,,,,,,,,,", "is no figure"},
		{"x,,1(a) M,,,,,,,,,,,,,,,", "is no figure"},
		{"x,,,,,,,,,,,,,,,,L2 M,", "must be a name"},
		{"x,,,,,,,,,,,,,,,,L2 4 QB M,", "has no size"},
	} {
		if _, err := parse(head+"\n"+c.row+"\n", sourceTable); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.row, err, c.want)
		}
	}
}
