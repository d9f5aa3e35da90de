package explore

import (
	"fmt"
	"math"
	"math/big"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/internal/svg"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// Three ways to run the same multiply.
const (
	compulsory = "compulsory"
	naive      = "naive"
	tiled      = "tiled"
)

// side is a field for one of the sizes of a multiply.
func side(key, label string) field {
	const most = 1_000_000 // 2mnk fits in int64
	return field{key: key, label: label, measure: count, least: power(10, 0), most: big.NewInt(most),
		usual: "4096", examples: "4096 or 4Ki", scale: octaves(1, most, coarsely)}
}

// drawRoofline places a multiply C[m,n] = A[m,k]·B[k,n] under the roof of a
// chip.
func drawRoofline(r *reader, v *View, width float64) {
	way, _ := r.choice("traffic", "Traffic", "how often each element is loaded", []Option{
		{Value: compulsory, Label: "compulsory: each element once"},
		{Value: naive, Label: "naive: nothing is kept"},
		{Value: tiled, Label: "tiled: square tiles of size b"},
	})
	tileField := side("b", "b, tile size")
	tileField.usual, tileField.examples = "64", "64 or 342"
	tile, control := r.integer(tileField)
	control.Off = way != tiled
	var g roofline.GEMM
	g.M, _ = r.integer(side("m", "m, rows of A and C"))
	g.N, _ = r.integer(side("n", "n, columns of B and C"))
	g.K, _ = r.integer(side("k", "k, columns of A, rows of B"))
	machine, notes := r.machine()
	g.ElemBytes = machine.ElemBytes
	if !r.well() {
		return
	}

	var t tiling.Traffic
	var name string
	if err := arg.Maybe(func() { t, name = trafficOf(g, way, tile) }); err != nil {
		r.failed("m", err)
		return
	}
	moved := num.Sum{{t.Loads, g.ElemBytes}, {t.Stores, g.ElemBytes}}
	p, err := arg.Try(func() placed {
		return under(machine, t.Intensity(machine.ElemBytes), float64(t.FLOPs), moved.Float64())
	})
	if err != nil {
		r.failed("peak", err)
		return
	}

	v.Notes = notes
	v.Summary = fmt.Sprintf("%s FLOP/byte, ridge point %s: %s. At most %s, %s of the peak; at least %s.",
		num.Short(p.intensity), num.Short(p.ridge), p.bound, num.SI(p.attainable, "FLOP/s"), num.Percent(p.share), num.SI(p.times.Overlapped(), "s"))
	v.Alt = fmt.Sprintf("Roofline of %s on log–log axes: a slope of %s up to the ridge point at %s FLOP/byte, flat at %s from there. The dot, the %s multiply of %d×%d by %d×%d, lies at %s FLOP/byte and %s. Bars below: compute time %s, memory time %s.",
		machine.Name, num.SI(machine.Bandwidth, "B/s"), num.Short(p.ridge), num.SI(machine.Peak, "FLOP/s"), name, g.M, g.K, g.K, g.N,
		num.Short(p.intensity), num.SI(p.attainable, "FLOP/s"), num.SI(p.times.Compute, "s"), num.SI(p.times.Memory, "s"))
	v.Values = []Value{
		whole("work", "work", big.NewInt(t.FLOPs), "FLOPs"),
		whole("loads", "loads", big.NewInt(t.Loads), "elements"),
		whole("stores", "stores", big.NewInt(t.Stores), "elements"),
		whole("bytes", "traffic", moved.Big(), "bytes"),
		number("intensity", "arithmetic intensity", p.intensity, num.Short(p.intensity)+" FLOP/byte", "FLOP/byte"),
		number("ridge", "ridge point", p.ridge, num.Short(p.ridge)+" FLOP/byte", "FLOP/byte"),
		{Key: "bound", Label: "the multiply is", Number: float64(p.bound), Text: p.bound.String()},
		number("attainable", "attainable performance", p.attainable, num.SI(p.attainable, "FLOP/s"), "FLOP/s"),
		number("share", "share of the peak", p.share, num.Percent(p.share), ""),
		number("compute-time", "compute time", p.times.Compute, num.SI(p.times.Compute, "s"), "s"),
		number("memory-time", "memory time", p.times.Memory, num.SI(p.times.Memory, "s"), "s"),
		number("overlapped", "takes at least", p.times.Overlapped(), num.SI(p.times.Overlapped(), "s"), "s"),
	}
	v.SVG = rooflinePicture(v, machine, p, name, width)
}

// trafficOf returns the traffic of a multiply run in one of the three ways, and the
// name of the way.
func trafficOf(g roofline.GEMM, way string, tile int64) (tiling.Traffic, string) {
	switch way {
	case naive:
		return tiling.Naive(g), naive
	case tiled:
		return tiling.Tiled(g, tile), fmt.Sprintf("tiled (b = %d)", tile)
	}
	return tiling.Compulsory(g), compulsory
}

// placed is what a roof says of some work.
type placed struct {
	intensity, ridge, attainable, share float64
	bound                               roofline.Bound
	times                               roofline.Times
}

// under holds work, whose intensity is in FLOP/byte, against the roof of a machine.
func under(machine roofline.Machine, intensity, flops, bytes float64) placed {
	p := placed{ridge: machine.Ridge(), intensity: intensity, times: machine.Times(flops, bytes)}
	p.bound, p.attainable = machine.Classify(p.intensity), machine.Attainable(p.intensity)
	p.share = p.attainable / machine.Peak
	return p
}

func rooflinePicture(v *View, machine roofline.Machine, p placed, name string, width float64) string {
	high := min(max(0.5*width, 210), 320)
	d, x, y, roof := roofChart(width, high, 76, min(p.intensity, p.ridge), max(p.intensity, p.ridge), machine.Peak, machine.Bandwidth, "attainable performance, FLOP/s")
	ridge, foot := x.at(p.ridge), y.at(machine.Bandwidth*math.Pow10(x.from))
	d.Line("muted", 1, true, ridge, roof, ridge, y.start)
	d.beside(x, ridge-6, y.start-8, "text", "ridge "+num.Short(p.ridge))
	roofName := "peak " + num.SI(machine.Peak, "FLOP/s")
	if x.stop-ridge >= svg.Wide(roofName) {
		d.Text(x.stop, roof-7, "end", "ink-0", roofName)
	} else {
		d.Text(x.stop, y.stop-12, "end", "ink-0", roofName)
	}
	slope := "bandwidth " + num.SI(machine.Bandwidth, "B/s")
	if length := math.Hypot(ridge-x.start, foot-roof); length > svg.Wide(slope)+20 {
		angle := math.Atan2(foot-roof, ridge-x.start)
		middleX, middleY := (x.start+ridge)/2, (foot+roof)/2
		d.Turned(middleX-8*math.Sin(angle), middleY-8*math.Cos(angle), angle*180/math.Pi, "ink-0", slope)
	}

	dotX, dotY := x.at(p.intensity), y.at(p.attainable)
	d.Line("series-1", 1, true, dotX, dotY, dotX, y.start)
	d.Dot(dotX, dotY, "series-1")
	d.beside(x, dotX, dotY+19, "ink-1", name)
	d.beside(x, dotX, dotY+34, "ink-1", num.SI(p.attainable, "FLOP/s"))

	// The two times as bars on one scale.
	top, start := y.start+54, x.start+16
	pixels := (width - 14 - x.start - 110) / p.times.Overlapped()
	d.bar(start, top, 16, pixels, "compute", piece{p.times.Compute, "series-0"})
	d.bar(start, top+24, 16, pixels, "memory", piece{p.times.Memory, "series-1"})
	return d.SVG(v.Title, v.Alt)
}

// number is a value with a fraction.
func number(key, label string, v float64, text, unit string) Value {
	return Value{Key: key, Label: label, Number: v, Text: text, Unit: unit}
}

// whole is a value that counts.
func whole(key, label string, v *big.Int, unit string) Value {
	near, _ := new(big.Float).SetInt(v).Float64()
	return Value{Key: key, Label: label, Number: near, Text: num.Join(integer(v), unit), Unit: unit}
}
