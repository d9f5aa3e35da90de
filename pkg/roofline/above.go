package roofline

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"memorywall/pkg/internal/arg"
)

// Slack is the [Machine.Tolerance] of measured roofs: roof and program are each
// the best of some samples.
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
// rate in FLOP/s, against the roof of m. Above it by more than m allows, the
// error is an [*AboveRoofError] with the likely cause. What m allows is its
// Tolerance or, for a machine with none, half a unit of the last digit that its
// data sheet prints, two digits at least.
func (m Machine) CheckDot(name string, intensity, flops float64) error {
	var roof float64
	if err := arg.Maybe(func() {
		roof = m.Attainable(intensity)
		arg.Positive("roofline", "performance", flops, "FLOP/s")
	}); err != nil {
		return err
	}
	peak, bandwidth := m.upTo(m.Peak), m.upTo(m.Bandwidth)
	if flops <= min(peak, bandwidth*intensity) {
		return nil
	}
	e := &AboveRoofError{Dot: name, Machine: m.Name, Intensity: intensity, FLOPS: flops, Roof: roof}
	if flops > peak {
		less := "fewer cores or of narrower instructions"
		if m.Format != "" {
			less = "fewer cores, of narrower instructions or of a wider number format than " + m.Format
		}
		e.Cause = fmt.Sprintf("it is above the peak itself; likely the peak is that of %s, it was measured while other work slowed the machine down, or the FLOPs are counted too high", less)
	} else {
		e.Cause = fmt.Sprintf("it would need %.4g bytes/s and the roof has %.4g; likely its data came from a nearer level of memory than the roof's, its traffic is counted too high, or the bandwidth was measured while other work slowed the machine down",
			flops/intensity, m.Bandwidth)
	}
	return e
}

// upTo is the greatest value that a figure of the machine can stand for.
func (m Machine) upTo(figure float64) float64 {
	if m.Tolerance > 0 {
		return figure * (1 + m.Tolerance)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(figure, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent)
	printed := max(2, len(strings.Replace(digits, ".", "", 1)))
	return figure + math.Pow10(power-printed+1)/2
}

// AboveRoof returns the [AboveRoofError] in err, if there is one.
func AboveRoof(err error) (*AboveRoofError, bool) {
	var e *AboveRoofError
	ok := errors.As(err, &e)
	return e, ok
}
