package lesson

import (
	"fmt"
	"math"
	"testing"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// gallery has a figure of each kind. Their options are kept under testdata,
// and the tests of scripts/charts draw them from there.
func gallery(t *testing.T) []Figure {
	t.Helper()
	a := roofline.A100()
	level := func(name string, bandwidth float64) roofline.Machine {
		return roofline.Machine{Name: name + ", one core", Source: "made up", Format: "float32", ElemBytes: 4, Peak: 225e9, Bandwidth: bandwidth}
	}
	laptop := roofline.Machine{Name: "a laptop", Source: "made up", Format: "float32", ElemBytes: 4, Peak: 0.8e12, Bandwidth: 50e9}
	intensity := func(g roofline.GEMM) float64 {
		v := g.Intensity()
		return v
	}
	must := func(f Figure, err error) Figure {
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var best, tiled, stair, formula, counted []Point
	for n := int64(2); n <= 8192; n *= 2 {
		best = append(best, Point{X: float64(n), Y: intensity(roofline.Square(n, 4))})
	}
	tile := func(b int64) float64 {
		v := tiling.Intensity(4096, b, 2)
		return v
	}
	for b := int64(1); b <= 4096; b *= 2 {
		tiled = append(tiled, Point{X: float64(b), Y: tile(b)})
	}
	for b := int64(280); b <= 380; b++ {
		stair = append(stair, Point{X: float64(b), Y: tile(b)})
	}
	for b := 4; b <= 128; b *= 2 {
		formula = append(formula, Point{X: float64(b), Y: 2 * 128 * 128 * 128 / float64(b)})
		counted = append(counted, Point{X: float64(b), Y: 2 * 128 * 128 * 128 / float64(b)})
	}
	var waves []Series
	for i, name := range []string{"plain loops", "reordered", "tiled", "a library with a long name"} {
		s := Series{Name: name, Dashed: i%2 == 1}
		for x := range 11 {
			s.Points = append(s.Points, Point{X: float64(100 * x), Y: 2 + math.Sqrt(float64(x))*(3+float64(i)/8)})
		}
		waves = append(waves, s)
	}
	overlap, none := Series{Name: "full overlap: the larger floor"}, Series{Name: "no overlap: the sum of the floors", Dashed: true}
	for k := -8; k <= 8; k++ {
		x := math.Ldexp(153, k)
		floors := a.Times(x, 1)
		overlap.Points = append(overlap.Points, Point{X: x, Y: x / floors.Overlapped()})
		none.Points = append(none.Points, Point{X: x, Y: x / floors.Serial()})
	}
	return []Figure{
		{
			ID: "line", Title: "The best-case intensity of a square multiply grows with its size", Alt: "A straight line on log axes.",
			X: Axis{Name: "matrix size n", Log: true, Base: 2}, Y: Axis{Name: "intensity", Unit: "FLOP/byte", Log: true},
			Series: []Series{{Name: "float32", Points: best}}, Marks: []Mark{{'y', 153, "ridge of the A100"}},
		},
		must(rooflineFigure("roofline", "Naive traffic holds the A100 far below its peak; compulsory traffic lets it reach the peak, and this title takes two lines", "One slope, one roof.",
			[]roofline.Machine{a}, []Dot{{Name: "naive", Intensity: 0.5}, {Name: "compulsory", Intensity: intensity(roofline.Square(4096, 2))}, {Name: "measured", Intensity: 30, FLOPS: 2e13}})),
		must(rooflineFigure("roofs", "Two machines", "Two roofs.", []roofline.Machine{a, laptop}, []Dot{{Name: "decode", Intensity: 1}})),
		must(rooflineFigure("levels", "One core has three roofs, and each program its own", "Three slopes to one roof.",
			[]roofline.Machine{level("L1", 462e9), level("L2", 190e9), level("L3 or memory", 30e9)},
			[]Dot{{Name: "loops", Intensity: 60, FLOPS: 0.6e9}, {Name: "reordered", Intensity: 60, FLOPS: 1.9e9}, {Name: "tiled", Intensity: 60, FLOPS: 1.4e9}, {Name: "simd", Intensity: 60, FLOPS: 48e9}})),
		{
			ID: "level-bars", Title: "Naive traffic takes 306 times as long as the math", Alt: "Three bars.", Height: 260,
			X: Axis{Name: "least time", Unit: "s", Log: true}, Y: Axis{Categories: []string{"math", "naive traffic", "compulsory traffic"}},
			Series: []Series{{Name: "floor", Kind: Bars, Points: []Point{{X: 440.5e-6}, {X: 0.13483}, {X: 49.37e-6}}}},
		},
		{
			ID: "upright-bars", Title: "Two sizes", Alt: "Six bars.",
			X: Axis{Categories: []string{"math", "naive traffic", "compulsory traffic, each operand read once"}}, Y: Axis{Name: "least time", Unit: "s", Log: true},
			Series: []Series{
				{Name: "n = 4096", Kind: Bars, Points: []Point{{Y: 440.5e-6}, {Y: 0.13483}, {Y: 49.37e-6}}},
				{Name: "n = 2048", Kind: Bars, Points: []Point{{Y: 55.06e-6}, {Y: 0.01685}, {Y: 12.34e-6}}},
			},
		},
		{
			ID: "bars-and-mark", Title: "Bars below a mark", Alt: "Three bars and a level line.",
			X: Axis{Name: "kernel", Categories: []string{"loops", "tiled", "library"}}, Y: Axis{Name: "rate", Unit: "FLOP/s"},
			Series: []Series{{Name: "rate", Kind: Bars, Points: []Point{{Y: 1.2e9}, {Y: 5e9}, {Y: 11e9, Label: "the best"}}}},
			Marks:  []Mark{{'y', 16e9, "peak of one core"}},
		},
		{
			ID: "dots-on-line", Title: "What the loop counted is what the formula says", Alt: "Dots on a line.",
			X: Axis{Name: "tile size b", Log: true, Base: 2}, Y: Axis{Name: "loads", Unit: "elements", Log: true},
			Series: []Series{{Name: "formula", Points: formula, Dashed: true}, {Name: "counted", Kind: Dots, Points: counted}},
		},
		{
			ID: "marks", Title: "Capacity allows a tile, and a tile its intensity", Alt: "A line with five marks.",
			X: Axis{Name: "tile size b", Log: true, Base: 2}, Y: Axis{Name: "intensity", Unit: "FLOP/byte", Log: true},
			Series: []Series{{Name: "tiled", Points: tiled}},
			Marks:  []Mark{{'x', 52, "16 KiB"}, {'x', 104, "64 KiB"}, {'x', 209, "256 KiB"}, {'x', 418, "1 MiB"}, {'y', 153, "ridge"}},
		},
		{
			ID: "stair", Title: "The stair reaches the ridge at 342", Alt: "A stair.",
			X: Axis{Name: "tile size b"}, Y: Axis{Name: "intensity", Unit: "FLOP/byte", Min: 140, Max: 170},
			Series: []Series{{Name: "whole tiles", Kind: Steps, Points: stair}},
			Marks:  []Mark{{'x', 306, "306: rule of thumb"}, {'x', 318, "318: with the stores of C"}, {'x', 342, "342: whole tiles"}, {'y', 153, "ridge"}},
		},
		{
			ID: "lines", Title: "Names stand at the ends of lines", Alt: "Four lines.",
			X: Axis{Name: "n"}, Y: Axis{Name: "rate", Unit: "GFLOP/s"}, Series: waves,
		},
		{
			ID: "overlap", Title: "Lines that meet at both ends are named where they are apart", Alt: "Two lines.",
			X: Axis{Name: "intensity", Unit: "FLOP/byte", Log: true}, Y: Axis{Name: "performance", Unit: "FLOP/s", Log: true},
			Series: []Series{overlap, none}, Marks: []Mark{{'x', 153, "ridge point"}},
		},
		must(rooflineFigure("many-dots", "Names of many programs near each other", "Four dots below a roof.",
			[]roofline.Machine{{Name: "reached on this machine", Format: "float32", ElemBytes: 4, Peak: 8.05e9, Bandwidth: 1.19e9}},
			[]Dot{{Name: "plain loop, 96×96 float64", Intensity: 8, FLOPS: 0.59e9}, {Name: "gonum, 96×96 float64", Intensity: 8, FLOPS: 1.6e9},
				{Name: "gonum, 1024×1024 float32", Intensity: 170, FLOPS: 8.05e9}, {Name: "gonum matrix–vector, 4096×4096 float32", Intensity: 0.5, FLOPS: 0.59e9}})),
		{
			ID: "bytes", Title: "Fast memory buys intensity", Alt: "A line.", Width: 420, Height: 300,
			X: Axis{Name: "fast memory", Unit: "bytes", Log: true, Base: 2}, Y: Axis{Name: "intensity", Unit: "FLOP/byte"},
			Series: []Series{{Points: []Point{{X: 6, Y: 0.5}, {X: 24576, Y: 32, Label: "b = 64"}, {X: 701784, Y: 163.8, Label: "b = 342"}}}},
		},
		{
			ID: "hostile", Title: `</script><script>alert(1)</script><!-- __f__ {a} "quoted" & more`, Alt: `"><img src=x onerror=alert(1)>`,
			X: Axis{Name: "<i>x</i>"}, Y: Axis{Name: "y __f__function(){}__f__"},
			Series: []Series{{Name: "{b} </script>", Kind: Dots, Points: []Point{{1, 2, "{c} <u>1</u>"}, {2, 3, "mw:text"}, {3, 1, "日本語"}}}},
		},
	}
}

// crowd is a figure with many labels, drawn by a simple rule.
func crowd(seed, n int) Figure {
	f := Figure{ID: fmt.Sprintf("crowd-%d", seed), Title: "Crowd", X: Axis{Name: "x", Log: true}, Y: Axis{Name: "y", Log: true}}
	s := Series{Name: "dots", Kind: Dots}
	state := uint32(seed)*2654435761 + 1
	next := func() float64 {
		state = state*1664525 + 1013904223
		return float64(state>>8) / (1 << 24)
	}
	for i := range n {
		s.Points = append(s.Points, Point{X: math.Pow(10, 4*next()), Y: math.Pow(10, 3*next()), Label: fmt.Sprintf("program %d", i)})
	}
	f.Series = []Series{s}
	return f
}
