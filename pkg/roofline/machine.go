package roofline

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/arg"
)

// Machine is the whole of what the model knows about a chip: how fast it
// computes and how fast its slow memory feeds it. A machine from a data sheet
// and a machine that was measured have the same type and the same JSON form.
type Machine struct {
	Name   string `json:"name"`
	Source string `json:"source"` // where Peak and Bandwidth come from: document and revision, or how they were measured
	Format string `json:"format"` // number format that Peak is for, such as "FP16"

	ElemBytes int64   `json:"elem_bytes"`            // bytes of one element in that format
	Peak      float64 `json:"peak_flops"`            // FLOP/s
	Bandwidth float64 `json:"bandwidth_bytes_per_s"` // bytes/s between slow and fast memory

	// Tolerance is how far, relative to a roof, a program may lie above it:
	// [Slack] for measured roofs, 0 for those of a data sheet, whose figures are
	// exact to the last digit printed.
	Tolerance float64 `json:"-"`

	// Measured is what a measured machine has beyond the two numbers. It is nil
	// for a machine from a data sheet.
	Measured *Measured `json:"measured,omitempty"`
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
