package roofline

import (
	"errors"
	"fmt"
)

// Slack is how far a measured program may lie above a measured roof before
// [Machine.CheckDot] calls it an error: both are the best of some samples.
const Slack = 0.05

// AboveRoofError says that a program lies above the roof that it is held
// against, which no program can do: one of the numbers is not what it seems.
type AboveRoofError struct {
	Dot       string  // the program
	Machine   string  // the roof
	Intensity float64 // FLOP/byte
	FLOPS     float64 // of the program, FLOP/s
	Roof      float64 // attainable at that intensity, FLOP/s
	Cause     string  // the likely cause
}

func (e *AboveRoofError) Error() string {
	return fmt.Sprintf("roofline: %s at %.3g FLOP/byte runs at %.4g FLOP/s, %.2f times the roof %q (%.4g FLOP/s): %s",
		e.Dot, e.Intensity, e.FLOPS, e.FLOPS/e.Roof, e.Machine, e.Roof, e.Cause)
}

// CheckDot holds a program, with its arithmetic intensity in FLOP/byte and its
// rate in FLOP/s, against the roof of m. More than [Slack] above it, the error
// is an [*AboveRoofError] with the likely cause.
func (m Machine) CheckDot(name string, intensity, flops float64) error {
	roof, err := m.Attainable(intensity)
	if err != nil {
		return err
	}
	if err := checkPositive("performance", flops, "FLOP/s"); err != nil {
		return err
	}
	if flops <= (1+Slack)*roof {
		return nil
	}
	e := &AboveRoofError{Dot: name, Machine: m.Name, Intensity: intensity, FLOPS: flops, Roof: roof}
	if flops > (1+Slack)*m.Peak {
		e.Cause = fmt.Sprintf("it is above the peak itself; likely the peak is that of fewer cores, of narrower instructions or of a wider number format than %s, it was measured while other work slowed the machine down, or the FLOPs are counted too high", m.Format)
		if m.Format == "" {
			e.Cause = "it is above the peak itself; likely the peak is that of fewer cores or of narrower instructions, it was measured while other work slowed the machine down, or the FLOPs are counted too high"
		}
	} else {
		e.Cause = fmt.Sprintf("it would need %.4g bytes/s and the roof has %.4g; likely its data came from a nearer level of memory than the roof's, its traffic is counted too high, or the bandwidth was measured while other work slowed the machine down",
			flops/intensity, m.Bandwidth)
	}
	return e
}

// AboveRoof returns the [AboveRoofError] in err, if there is one.
func AboveRoof(err error) (*AboveRoofError, bool) {
	var e *AboveRoofError
	ok := errors.As(err, &e)
	return e, ok
}
