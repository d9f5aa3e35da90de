package roofline

import (
	"fmt"
	"math"
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

	// Measured is what a measured machine has beyond the two numbers. It is nil
	// for a machine from a data sheet.
	Measured *Measured `json:"measured,omitempty"`
}

// Validate returns an error that names the first field that cannot be right.
// Every function of this package that takes a machine calls it.
func (m Machine) Validate() error {
	if m.Name == "" {
		return fmt.Errorf("roofline: machine name is empty: give the machine a name")
	}
	if err := checkElemBytes(m.ElemBytes); err != nil {
		return fmt.Errorf("%w (machine %q)", err, m.Name)
	}
	if err := checkPositive("peak", m.Peak, "FLOP/s"); err != nil {
		return fmt.Errorf("%w (machine %q)", err, m.Name)
	}
	if err := checkPositive("bandwidth", m.Bandwidth, "bytes/s"); err != nil {
		return fmt.Errorf("%w (machine %q)", err, m.Name)
	}
	if r := m.Peak / m.Bandwidth; !(r > 0) || math.IsInf(r, 1) {
		return fmt.Errorf("roofline: peak %g FLOP/s over bandwidth %g bytes/s is %g FLOP/byte: the ridge must be positive and finite (machine %q)",
			m.Peak, m.Bandwidth, r, m.Name)
	}
	return nil
}

// Ridge returns the ridge point, peak/bandwidth, in FLOP/byte: the least
// arithmetic intensity at which the machine can compute at its peak. It is
// also called the machine balance.
func (m Machine) Ridge() (float64, error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	return m.Peak / m.Bandwidth, nil
}

// checkPositive returns an error unless v is positive and finite. NaN fails
// the comparison too.
func checkPositive(what string, v float64, unit string) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return fmt.Errorf("roofline: %s is %g %s: it must be positive and finite", what, v, unit)
}

func checkElemBytes(s int64) error {
	if s < 1 {
		return fmt.Errorf("roofline: element size is %d bytes: it must be at least 1", s)
	}
	return nil
}

func checkSize(what string, v int64) error {
	if v < 1 {
		return fmt.Errorf("roofline: %s is %d: it must be at least 1", what, v)
	}
	return nil
}
