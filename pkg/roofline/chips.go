package roofline

import (
	"fmt"
	"slices"
	"strings"
)

// A100 returns the reference chip of the lesson, the NVIDIA A100 80GB SXM.
//
// Its peak is the dense FP16/BF16 Tensor Core rate, 312 TFLOP/s; the figure
// marked "with sparsity" on the sheet is twice that and is not used. The same
// rate follows from the clock: 1410 MHz · 432 Tensor Cores · 256 multiply-adds
// a cycle · 2 FLOPs = 311.9 TFLOP/s. Its bandwidth is that of the HBM2e
// memory, 2039 GB/s with GB = 10^9 bytes.
func A100() Machine {
	return Machine{
		Name:      "NVIDIA A100 80GB SXM",
		Source:    "NVIDIA A100 Tensor Core GPU data sheet, revision Jun21, 80GB SXM column",
		Format:    "FP16",
		ElemBytes: 2,
		Peak:      312e12,
		Bandwidth: 2039e9,
	}
}

// ChipSpec is a published chip of the catalogue.
type ChipSpec struct {
	Name   string
	Source string
	// Uncertain says which figure is in doubt and why. Empty means that at least
	// two independent listings agree on all of them.
	Uncertain string

	Rates     []ChipRate
	Lacks     []string // number formats that its matrix units do not have
	Bandwidth float64  // of its memory, bytes/s
	// CapacityGB is the size of its memory in units of 10^9 bytes; two where two
	// versions exist, none where the listings do not agree.
	CapacityGB []int64
	OnChip     string // its on-chip memories, in words
	Note       string // what a reader must know to use the figures
}

// ChipRate is a chip's peak for one number format. Dense is what a roof is made
// of. Sparse is what a sheet promises for matrices of which half is zero in a
// fixed pattern; 0 means that it is not listed here.
type ChipRate struct {
	Format    string // "FP64", "FP32", "FP16", "BF16", "FP8", "INT8"
	ElemBytes int64
	Dense     float64 // FLOP/s, for INT8 OP/s
	Sparse    float64 // FLOP/s, for INT8 OP/s
}

// secondary is where the figures of the catalogue come from.
const secondary = "secondary listings that cite the vendor's page; the vendor's own document was not opened"

// Chips returns the catalogue of published chips. Peaks are dense, GB is 10^9
// bytes, and FP32 is the rate of the vector units, not of the matrix units.
func Chips() []ChipSpec {
	const tera, giga = 1e12, 1e9
	var (
		fp16 = func(t float64) ChipRate { return ChipRate{"FP16", 2, t * tera, 0} }
		bf16 = func(t float64) ChipRate { return ChipRate{"BF16", 2, t * tera, 0} }
		fp8  = func(t float64) ChipRate { return ChipRate{"FP8", 1, t * tera, 0} }
		int8 = func(t float64) ChipRate { return ChipRate{"INT8", 1, t * tera, 0} }
		fp32 = func(t float64) ChipRate { return ChipRate{"FP32", 4, t * tera, 0} }
		// with adds the rate that the sheet promises for sparse matrices.
		with = func(r ChipRate, t float64) ChipRate { r.Sparse = t * tera; return r }
	)
	a100 := func(name string, gbps float64, capacity int64) ChipSpec {
		return ChipSpec{
			Name:      name,
			Rates:     []ChipRate{with(fp16(312), 624), with(bf16(312), 624), int8(624), fp32(19.5)},
			Lacks:     []string{"FP8"},
			Bandwidth: gbps * giga, CapacityGB: []int64{capacity},
			OnChip: "L2 40 MiB; 108 SM, each 192 KB of L1 and shared memory (at most 164 KB shared)",
		}
	}
	h100 := func(name string, gbps float64, capacity int64) ChipSpec {
		return ChipSpec{
			Name:      name,
			Rates:     []ChipRate{with(fp16(989.4), 1979), with(bf16(989.4), 1979), fp8(1979), int8(1979), fp32(67)},
			Bandwidth: gbps * giga, CapacityGB: []int64{capacity},
			OnChip: "L2 50 MB; 132 SM, each 256 KB of L1 and shared memory (at most 228 KB shared)",
		}
	}
	v100 := "L2 6 MB; 80 SM, each at most 96 KB of shared memory"
	chips := []ChipSpec{
		{
			Name: "NVIDIA V100 SXM2", Rates: []ChipRate{fp16(125), fp32(15.7)}, Lacks: []string{"BF16", "FP8"},
			Bandwidth: 900 * giga, CapacityGB: []int64{16, 32}, OnChip: v100,
		},
		{
			Name: "NVIDIA V100 PCIe", Rates: []ChipRate{fp16(112), fp32(14)}, Lacks: []string{"BF16", "FP8"},
			Bandwidth: 900 * giga, CapacityGB: []int64{16, 32}, OnChip: v100,
		},
		{
			Name: "NVIDIA T4", Rates: []ChipRate{fp16(65), int8(130), fp32(8.1)}, Lacks: []string{"BF16", "FP8"},
			Bandwidth: 320 * giga, CapacityGB: []int64{16}, OnChip: "L2 4 MB; 40 SM",
		},
		a100("NVIDIA A100 40GB", 1555, 40),
		a100("NVIDIA A100 80GB PCIe", 1935, 80),
		a100("NVIDIA A100 80GB SXM", 2039, 80),
		h100("NVIDIA H100 SXM", 3350, 80),
		{
			Name: "NVIDIA H100 PCIe", Rates: []ChipRate{fp16(756), bf16(756), fp8(1513), int8(1513), fp32(51)},
			Bandwidth: 2000 * giga, CapacityGB: []int64{80}, OnChip: "L2 50 MB; 114 SM",
		},
		h100("NVIDIA H200 SXM", 4800, 141),
		{
			Name: "NVIDIA B200", Rates: []ChipRate{fp16(2250), bf16(2250), fp8(4500), int8(4500), fp32(80)},
			Bandwidth: 8000 * giga,
			OnChip:    "L2 126 MB; 148 SM, each 256 KB of L1 and shared memory and 256 KB of tensor memory",
			Uncertain: "capacity: some listings give 180 GB, others 192 GB",
		},
		{
			Name: "NVIDIA L40S", Rates: []ChipRate{fp16(362), bf16(362), fp8(733), int8(733), fp32(91.6)},
			Bandwidth: 864 * giga, CapacityGB: []int64{48}, OnChip: "142 SM; size of L2 not verified",
		},
		{
			Name: "NVIDIA L4", Rates: []ChipRate{fp16(121), bf16(121), fp8(242), int8(242), fp32(30.3)},
			Bandwidth: 300 * giga, CapacityGB: []int64{24}, OnChip: "L2 48 MB",
			Uncertain: "all figures: a single listing, or listings that copy each other",
		},
		{
			Name: "NVIDIA RTX 4090", Rates: []ChipRate{fp16(330.0 / 2), fp8(660.0 / 2), int8(660), fp32(82.6)},
			Bandwidth: 1008 * giga, CapacityGB: []int64{24}, OnChip: "L2 72 MB",
			Uncertain: "all figures: a single listing, or listings that copy each other",
			Note:      "FP16 and FP8 with sums in FP32, which consumer cards do at half the rate that is listed for sums in FP16",
		},
		{
			Name: "AMD MI250X, one of its two dies", Rates: []ChipRate{fp16(383.0 / 2), bf16(383.0 / 2), int8(383.0 / 2), fp32(47.9 / 2)}, Lacks: []string{"FP8"},
			Bandwidth: 3277 * giga / 2, CapacityGB: []int64{64}, OnChip: "110 CU",
			Note: "a card holds two dies, which programs see as two devices: half of the card's listed figures",
		},
		{
			Name: "AMD MI300X", Rates: []ChipRate{fp16(1307.4), bf16(1307.4), fp8(2614), int8(2614), fp32(163.4)},
			Bandwidth: 5300 * giga, CapacityGB: []int64{192},
			OnChip: "last-level cache 256 MiB; 8 L2 of 4 MiB; 304 CU, each 32 KiB of L1",
		},
		{
			Name: "Google TPU v4", Rates: []ChipRate{bf16(275), int8(275)}, Lacks: []string{"FP8"},
			Bandwidth: 1200 * giga, CapacityGB: []int64{32},
			Uncertain: "bandwidth: listings give 1200 to 1228 GB/s; the least is used",
		},
		{
			Name: "Google TPU v5e", Rates: []ChipRate{bf16(197), int8(394)}, Lacks: []string{"FP8"},
			Bandwidth: 819 * giga, CapacityGB: []int64{16}, OnChip: "VMEM 128 MiB",
		},
		{
			Name: "Google TPU v5p", Rates: []ChipRate{bf16(459), int8(918)}, Lacks: []string{"FP8"},
			Bandwidth: 2765 * giga, CapacityGB: []int64{95}, OnChip: "VMEM 128 MB over two cores",
		},
		{
			Name: "Google TPU v6e", Rates: []ChipRate{bf16(918), fp8(918), int8(1836)},
			Bandwidth: 1638 * giga, CapacityGB: []int64{32},
		},
		{
			Name: "Intel Gaudi 2", Rates: []ChipRate{fp16(432), bf16(432), fp8(865)},
			Bandwidth: 2450 * giga, CapacityGB: []int64{96}, OnChip: "48 MiB of SRAM",
		},
		{
			Name: "Intel Gaudi 3", Rates: []ChipRate{fp16(1677), bf16(1677), fp8(1677)},
			Bandwidth: 3700 * giga, CapacityGB: []int64{128}, OnChip: "96 MB of SRAM",
			Note: "as shipped, at 1600 MHz; the sheet's 1835 TFLOP/s are for 1750 MHz",
		},
	}
	for i := range chips {
		chips[i].Source = secondary
	}
	return chips
}

// Machine returns the chip as a machine for a number format. It refuses a
// format that the chip lacks, and one for which no rate is listed.
func (c ChipSpec) Machine(format string) (Machine, error) {
	var have []string
	for _, r := range c.Rates {
		if r.Format != format {
			have = append(have, r.Format)
			continue
		}
		if a := A100(); c.Name == a.Name && format == a.Format {
			return a, nil // its sheet is the lesson's own source
		}
		m := Machine{Name: c.Name, Source: c.Source, Format: r.Format, ElemBytes: r.ElemBytes, Peak: r.Dense, Bandwidth: c.Bandwidth}
		if c.Uncertain != "" {
			m.Source += "; uncertain: " + c.Uncertain
		}
		return m, m.Validate()
	}
	if slices.Contains(c.Lacks, format) {
		return Machine{}, fmt.Errorf("roofline: format is %q: %s has no units for it: choose %s", format, c.Name, strings.Join(have, ", "))
	}
	return Machine{}, fmt.Errorf("roofline: format is %q: no rate of %s is listed for it: choose %s", format, c.Name, strings.Join(have, ", "))
}

// Chip returns a chip of the catalogue as a machine for a number format, for
// instance Chip("NVIDIA H100 SXM", "BF16"). Capitals in the name do not matter.
// The error lists the names, or the formats that the chip has.
func Chip(name, format string) (Machine, error) {
	var names []string
	for _, c := range Chips() {
		if strings.EqualFold(c.Name, name) {
			return c.Machine(format)
		}
		names = append(names, c.Name)
	}
	return Machine{}, fmt.Errorf("roofline: chip is %q: the catalogue has %s", name, strings.Join(names, "; "))
}
