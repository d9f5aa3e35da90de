package lesson

import (
	"fmt"
	"math"
	"slices"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The figures below are what a chapter draws of a chip or a multiply that the
// reader chose: their cells hold constants and formulas, and one call that
// draws. Each has a table and a text for those who do not see it. They end the
// cell where an argument is invalid, with a message that names it.

// Curve is the series of y over xs.
func Curve[T int64 | float64](name string, xs []T, y func(x T) float64) Series {
	s := Series{Name: name}
	for _, x := range xs {
		s.Points = append(s.Points, Point{X: float64(x), Y: y(x)})
	}
	return s
}

// Doubling returns from, 2·from, 4·from, … up to to.
func Doubling(from, to int64) (xs []int64) {
	for x := from; 0 < x && x <= to; x *= 2 {
		xs = append(xs, x)
	}
	return xs
}

// sortedWith returns xs and the others of at least 1 in order, each once.
func sortedWith(xs []int64, others ...int64) []int64 {
	for _, x := range others {
		xs = append(xs, max(x, 1))
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// Waiting is the figure of the share of time that a chip waits for its memory,
// over the FLOPs that a program does with each number, and a dot for each of
// works.
func Waiting(id, title string, chip roofline.Machine, works ...float64) Figure {
	s := float64(chip.ElemBytes)
	enough := chip.Ridge() * s
	waiting := func(work float64) float64 { // percent of the time
		return 100 * (1 - chip.Attainable(work/s)/chip.Peak)
	}
	var xs []float64
	for i := -32; i <= 4; i++ {
		xs = append(xs, enough*math.Exp2(float64(i)/4))
	}
	alt := "Share of time spent waiting against FLOPs done with each number."
	dots := Series{Name: "programs", Kind: Dots}
	for _, work := range works {
		Positive("work", work)
		alt += fmt.Sprintf(" With %s a number %s waits %.2f%% of the time.", SI(work, "FLOPs"), chip.Name, waiting(work))
		dots.Points = append(dots.Points, Point{X: work, Y: waiting(work), Label: fmt.Sprintf("%g FLOPs: %.1f%%", work, waiting(work))})
	}
	return Figure{
		ID: id, Title: title,
		Alt:    alt + fmt.Sprintf(" No time is lost from %s a number on.", SI(enough, "FLOPs")),
		X:      Axis{Name: "FLOPs for each number that arrives", Log: true},
		Y:      Axis{Name: "time spent waiting", Unit: "%", Max: 100},
		Series: []Series{Curve(chip.Name, xs, waiting), dots},
		Marks:  []Mark{{Axis: 'x', At: enough, Label: "no waiting"}},
	}
}

// SkinnyIntensity is the figure of the best-case intensity of (m×n)·(n×n) and of
// (n×n)·(n×n), over n up to largest, at most a million.
func SkinnyIntensity(id, title string, m, elemBytes, largest int64) Figure {
	Between("largest", float64(largest), 1, 1e6)
	intensity := func(m, n int64) float64 {
		return roofline.GEMM{M: m, N: n, K: n, ElemBytes: elemBytes}.Intensity()
	}
	limit := roofline.BatchLimit(1, 1, elemBytes) * 2 * float64(m) // 2m/s
	return Figure{
		ID: id, Title: title,
		Alt: fmt.Sprintf("Best-case intensity against n on log–log axes. The line of the square "+
			"multiply keeps rising. The line of the multiply with %d rows levels off below %g "+
			"FLOP/byte.", m, limit),
		X: Axis{Name: "columns n", Log: true, Base: 2},
		Y: Axis{Name: "intensity, best case", Unit: "FLOP/byte", Log: true},
		Series: []Series{
			Curve("A is square", Doubling(1, largest), func(n int64) float64 { return intensity(n, n) }),
			Curve(fmt.Sprintf("A has m = %d rows", m), Doubling(1, largest), func(n int64) float64 { return intensity(m, n) }),
		},
		Marks: []Mark{{Axis: 'y', At: limit, Label: "2m/s"}},
	}
}

// NaiveTimes is the figure of the compute time of a multiply and of its memory
// times with naive and with compulsory traffic, as bars.
func NaiveTimes(id, title string, chip roofline.Machine, g roofline.GEMM) Figure {
	flops := float64(g.FLOPs())
	naive := chip.Times(flops, float64(tiling.Naive(g).Bytes(g.ElemBytes)))
	least := chip.Times(flops, float64(g.MinBytes()))
	bars := Series{Name: "time", Kind: Bars}
	for _, seconds := range []float64{naive.Compute, naive.Memory, least.Memory} {
		bars.Points = append(bars.Points, Point{Y: seconds, Label: SI(seconds, "s")})
	}
	return Figure{
		ID: id, Title: title,
		Alt: fmt.Sprintf("Three bars on a linear axis. The compute time is %s. The memory time of "+
			"the naive run is %s, and that of the compulsory run %s.", bars.Points[0].Label, bars.Points[1].Label, bars.Points[2].Label),
		X:      Axis{Categories: []string{"compute", "memory, naive", "memory, compulsory"}},
		Y:      Axis{Name: "time", Unit: "s"},
		Series: []Series{bars},
	}
}

// CountedLoads is the figure of the loads of a multiply over the tile size: the
// stair of the closed form, and dots for what the loops count when they run,
// among them the one with this tile. Sizes go up to 300, tiles to 1000.
func CountedLoads(id, title string, g roofline.GEMM, tile int64) Figure {
	Between("m", float64(g.M), 1, 300)
	Between("n", float64(g.N), 1, 300)
	Between("k", float64(g.K), 1, 300)
	Between("tile", float64(tile), 1, 1000)
	a, b := tiling.New[int](int(g.M), int(g.K)), tiling.New[int](int(g.K), int(g.N))
	var xs []int64
	for x := int64(1); x <= max(g.M, g.N, 32, tile); x++ {
		xs = append(xs, x)
	}
	stair := Curve("formula", xs, func(x int64) float64 { return float64(tiling.Tiled(g, x).Loads) })
	stair.Kind = Steps
	table := Table{Columns: []string{"tile size b", "loads, counted", "loads, formula"}}
	dots := Curve("counted", sortedWith([]int64{1, 2, 4, 16, 32}, tile), func(x int64) float64 {
		_, counted := tiling.Multiply(a, b, int(x))
		table.Rows = append(table.Rows, []any{x, counted.Loads, tiling.Tiled(g, x).Loads})
		return float64(counted.Loads)
	})
	dots.Kind = Dots
	for i, p := range dots.Points {
		if p.X == float64(tile) {
			dots.Points[i].Label = fmt.Sprintf("b = %d: %.0f loads", tile, p.Y)
		}
	}
	return Figure{
		ID: id, Title: title,
		Alt: fmt.Sprintf("A stair that falls from %d loads at tile size 1 to %d at the largest "+
			"tile. At tile size %d it stands at %d.",
			tiling.Naive(g).Loads, tiling.Compulsory(g).Loads, tile, tiling.Tiled(g, tile).Loads),
		X:      Axis{Name: "tile size b", Unit: "elements", Log: true},
		Y:      Axis{Name: "loads", Unit: "elements", Log: true},
		Series: []Series{stair, dots},
		Table:  &table,
	}
}

// TileIntensity is the figure of the intensity of an n×n multiply over its tile
// size, with the largest tile that fits in so many bytes, and the smallest that
// reaches the chip's ridge, if one does.
func TileIntensity(id, title string, chip roofline.Machine, n, capacityBytes int64) Figure {
	Between("n", float64(n), 1, 1e9)
	s, ridge := chip.ElemBytes, chip.Ridge()
	fits := tiling.LargestTile(capacityBytes, s)
	intensity := func(b int64) float64 { return tiling.Intensity(n, b, s) }
	// From each tile size go on to the next one that needs fewer tiles per side.
	xs := []int64{1}
	for tiles := n; tiles > 1; {
		x := (n-1)/(tiles-1) + 1
		xs, tiles = append(xs, x), tiling.TilesPerSide(n, x)
	}
	line := Curve("intensity", xs, intensity)
	line.Kind = Steps
	f := Figure{
		ID: id, Title: title,
		Alt: fmt.Sprintf("Intensity against tile size. The largest tile that fits, %d, reaches "+
			"%s; the ridge point is at %s.", fits, SI(intensity(fits), "FLOP/byte"), SI(ridge, "FLOP/byte")),
		X:      Axis{Name: "tile size b", Unit: "elements", Log: true},
		Y:      Axis{Name: "intensity", Unit: "FLOP/byte", Log: true},
		Series: []Series{line},
		Marks: []Mark{
			{Axis: 'y', At: ridge, Label: "ridge " + SI(ridge, "")},
			{Axis: 'x', At: float64(fits), Label: fmt.Sprintf("largest tile %d", fits)},
		},
		Table: &Table{Columns: []string{"", "tile size b", "intensity, FLOP/byte"}},
	}
	row := func(what string, b int64) { f.Table.Rows = append(f.Table.Rows, []any{what, b, intensity(b)}) }
	row("no reuse", 1)
	row("largest tile that fits", fits)
	if err := roofline.Maybe(func() { row("ridge tile", tiling.RidgeTile(n, s, ridge)) }); err != nil {
		f.hints = append(f.hints, err.Error())
	} else {
		exact := tiling.RidgeTile(n, s, ridge)
		f.Marks = append(f.Marks, Mark{Axis: 'x', At: float64(exact), Label: fmt.Sprintf("ridge tile %d", exact)})
	}
	row("whole matrix as one tile", n)
	return f
}

// AttainableByBatch is the figure of what a chip can attain when m tokens share
// one read of a k×n weight matrix, over m, with labels at some of them.
func AttainableByBatch(id, title string, chip roofline.Machine, k, n int64, labelled ...int64) Figure {
	attainable := func(m int64) float64 {
		return chip.Attainable(roofline.GEMM{M: m, N: n, K: k, ElemBytes: chip.ElemBytes}.Intensity())
	}
	f := Figure{
		ID: id, Title: title,
		X:     Axis{Name: "tokens m that share one read of the weights", Log: true},
		Y:     Axis{Name: "attainable performance", Unit: "FLOP/s", Log: true, Min: attainable(1) / 2},
		Table: &Table{Columns: []string{"tokens m", "attainable, TFLOP/s", "% of peak"}},
	}
	shown := slices.Concat(Doubling(1, 4096), labelled)
	if err := roofline.Maybe(func() { shown = append(shown, roofline.BatchToRidge(chip, k, n)) }); err != nil {
		f.hints = append(f.hints, err.Error())
	} else {
		batch := shown[len(shown)-1]
		f.Marks = []Mark{{Axis: 'x', At: float64(batch), Label: fmt.Sprintf("ridge: m = %d", batch)}}
	}
	line := Curve("attainable", sortedWith(shown), attainable)
	dots := Curve("batches", labelled, attainable)
	dots.Kind = Dots
	f.Alt = fmt.Sprintf("Attainable performance against the number of tokens, below a peak of %s.", SI(chip.Peak, "FLOP/s"))
	for i, m := range labelled {
		dots.Points[i].Label = fmt.Sprintf("m = %d: %s", m, SI(attainable(m), "FLOP/s"))
		f.Alt += fmt.Sprintf(" At m = %d it is %s.", m, SI(attainable(m), "FLOP/s"))
	}
	for _, p := range line.Points {
		f.Table.Rows = append(f.Table.Rows, []any{int64(p.X), p.Y / 1e12, 100 * p.Y / chip.Peak})
	}
	f.Series = []Series{line, dots}
	return f
}

// Beside is the figure of what was predicted, as a line, and what was measured, as
// dots, both over xs. In the table a third column has the measured values over the
// predicted ones. It ends the cell unless all three are equally long.
func Beside(id, title string, x, y Axis, xs, predicted, measured []float64) Figure {
	if len(predicted) != len(xs) || len(measured) != len(xs) || len(xs) == 0 {
		Check(fmt.Errorf("lesson: figure %q: %d values of x, %d predicted and %d measured: there must be as many of each, and at least 1", id, len(xs), len(predicted), len(measured)))
	}
	line, dots := Series{Name: "predicted"}, Series{Name: "measured", Kind: Dots}
	table := Table{Columns: []string{x.Name, "predicted, " + y.Unit, "measured, " + y.Unit, "measured over predicted"}}
	for i, v := range xs {
		line.Points = append(line.Points, Point{X: v, Y: predicted[i]})
		dots.Points = append(dots.Points, Point{X: v, Y: measured[i]})
		table.Rows = append(table.Rows, []any{v, predicted[i], measured[i], measured[i] / predicted[i]})
	}
	last := len(xs) - 1
	return Figure{
		ID: id, Title: title,
		Alt: fmt.Sprintf("%s over %s, predicted and measured at %d places. At %s: %s predicted, %s measured. At %s: %s and %s.", y.Name, x.Name, len(xs),
			SI(xs[0], x.Unit), SI(predicted[0], y.Unit), SI(measured[0], y.Unit), SI(xs[last], x.Unit), SI(predicted[last], y.Unit), SI(measured[last], y.Unit)),
		X: x, Y: y, Series: []Series{line, dots}, Table: &table,
	}
}
