package roofline

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/arg"
)

// Machine is the whole of what the model knows about a chip: how fast it
// computes and how fast its slow memory feeds it. A machine from a data sheet
// and a machine that was measured have the same type and the same JSON form
// (package machine keeps how it was measured).
type Machine struct {
	Name   string `json:"name"`
	Source string `json:"source"` // where Peak and Bandwidth come from: document and revision, or how they were measured
	Format string `json:"format"` // number format that Peak is for, such as "FP16"

	ElemBytes int64   `json:"elem_bytes"`            // bytes of one element in that format
	Peak      float64 `json:"peak_flops"`            // FLOP/s
	Bandwidth float64 `json:"bandwidth_bytes_per_s"` // bytes/s between slow and fast memory

	// Latency is the time of what comes before any work: a launch, a hop to the
	// next chip, a call. It is 0 where it is left out, and then changes nothing.
	Latency float64 `json:"latency_s,omitempty"`

	// Tolerance is how far, relative to a roof, a program may lie above it:
	// [Slack] for measured roofs, 0 for those of a data sheet, whose figures are
	// exact to the last digit printed.
	Tolerance float64 `json:"-"`
}

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

// Validate returns an error that names the first field that cannot be right.
// Every method calls it, and panics with what it finds.
func (m Machine) Validate() error {
	if m.Name == "" {
		return arg.Errorf("machine name", m.Name, "roofline: machine name is empty: give the machine a name")
	}
	err := arg.Maybe(func() {
		arg.ElemBytes("roofline", m.ElemBytes)
		arg.Positive("roofline", "peak", m.Peak, "FLOP/s")
		arg.Positive("roofline", "bandwidth", m.Bandwidth, "bytes/s")
		if !(m.Latency >= 0) || math.IsInf(m.Latency, 1) {
			arg.Refuse("latency", m.Latency, "roofline: latency is %g s: it must be finite and not negative", m.Latency)
		}
		if r := m.Peak / m.Bandwidth; !(r > 0) || math.IsInf(r, 1) {
			arg.Refuse("peak", m.Peak, "roofline: peak is %g FLOP/s: over the bandwidth, %g bytes/s, it is %g FLOP/byte, and the ridge must be positive and finite", m.Peak, m.Bandwidth, r)
		}
	})
	if err != nil {
		e := err.(*Error)
		e.Text += fmt.Sprintf(" (machine %q)", m.Name)
	}
	return err
}

// Ridge returns the ridge point, peak/bandwidth, in FLOP/byte: the smallest
// arithmetic intensity at which the machine can compute at its peak. It is
// also called the machine balance. It panics if the machine is invalid.
func (m Machine) Ridge() float64 {
	arg.Check(m.Validate())
	return m.Peak / m.Bandwidth
}
