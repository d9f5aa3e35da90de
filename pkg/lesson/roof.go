package lesson

import (
	"fmt"
	"math"

	"memorywall/pkg/roofline"
)

// Dot is a program on a roofline: its arithmetic intensity in FLOP/byte and
// its performance in FLOP/s. FLOPS 0 stands for what is attainable on the
// first machine.
type Dot struct {
	Name      string
	Intensity float64
	FLOPS     float64
}

// Roofline is the figure of attainable performance against arithmetic
// intensity, both on log axes: one roof for each machine with its ridge point
// marked, and the dots with their names. It ends the cell when a machine or a
// dot has no place on the figure.
func Roofline(id, title, alt string, machines []roofline.Machine, dots []Dot) Figure {
	f, err := rooflineFigure(id, title, alt, machines, dots)
	Check(err)
	return f
}

func rooflineFigure(id, title, alt string, machines []roofline.Machine, dots []Dot) (Figure, error) {
	f := Figure{
		ID: id, Title: title, Alt: alt,
		X: Axis{Name: "arithmetic intensity", Unit: "FLOP/byte", Log: true},
		Y: Axis{Name: "performance", Unit: "FLOP/s", Log: true},
	}
	if len(machines) == 0 {
		return f, fmt.Errorf("lesson: figure %q: machines is empty: give at least one", id)
	}
	lo, hi := math.Inf(1), 0.0
	for _, m := range machines {
		r, err := m.Ridge()
		if err != nil {
			return f, err
		}
		lo, hi = min(lo, r), max(hi, r)
	}
	for i, d := range dots {
		if !(d.Intensity > 0) || math.IsInf(d.Intensity, 1) {
			return f, fmt.Errorf("lesson: figure %q: dot %q: intensity is %v FLOP/byte: it must be positive and finite", id, d.Name, d.Intensity)
		}
		if d.FLOPS == 0 {
			v, err := machines[0].Attainable(d.Intensity)
			if err != nil {
				return f, err
			}
			dots[i].FLOPS = v
		}
		if !(dots[i].FLOPS > 0) || math.IsInf(dots[i].FLOPS, 1) {
			return f, fmt.Errorf("lesson: figure %q: dot %q: performance is %v FLOP/s: it must be positive and finite", id, d.Name, d.FLOPS)
		}
		lo, hi = min(lo, d.Intensity), max(hi, d.Intensity)
	}
	lo = math.Pow(10, math.Floor(math.Log10(lo)-0.5))
	hi = math.Pow(10, math.Ceil(math.Log10(hi)+0.5))
	for _, m := range machines {
		ridge, err := m.Ridge()
		if err != nil {
			return f, err
		}
		s := Series{Name: m.Name, Kind: Line}
		for _, x := range []float64{lo, ridge, hi} {
			y, err := m.Attainable(x)
			if err != nil {
				return f, err
			}
			s.Points = append(s.Points, Point{X: x, Y: y})
		}
		f.Series = append(f.Series, s)
		f.Marks = append(f.Marks, Mark{Axis: 'x', At: ridge, Label: fmt.Sprintf("ridge %s FLOP/byte", plainFloat(ridge))})
	}
	if len(dots) > 0 {
		s := Series{Name: "programs", Kind: Dots}
		for _, d := range dots {
			s.Points = append(s.Points, Point{X: d.Intensity, Y: d.FLOPS, Label: d.Name})
		}
		f.Series = append(f.Series, s)
	}
	return f, nil
}
