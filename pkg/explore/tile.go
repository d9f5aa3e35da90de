package explore

import (
	"fmt"
	"math/big"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/tiling"
)

const mostTiled = 1_000_000_000 // rows and columns

// drawTile cuts an n×n×n multiply into b×b tiles, and stands at one step of its
// loops.
func drawTile(r *reader, v *View, width float64) {
	sideField := field{key: "n", label: "n, rows and columns of A, B and C", measure: count, least: power(10, 0), most: big.NewInt(mostTiled),
		usual: "4096", examples: "4096 or 4Ki", scale: octaves(1, mostTiled, coarsely)}
	tileField := sideField
	tileField.key, tileField.label, tileField.usual, tileField.examples = "b", "b, tile size", "342", "342 or 64"
	room := field{key: "capacity", label: "Fast memory, bytes", measure: bytesUnit, least: power(10, 0), most: power(2, 60), unit: "bytes",
		usual: "1MiB", examples: "64KiB or 65536", scale: octaves(64, 1<<40, coarsely)}

	var l loops
	l.n, _ = r.integer(sideField)
	tileField.scale = octaves(1, l.n, finely) // a larger tile cuts nothing off
	if r.wrong("n") {
		tileField.scale = octaves(1, mostTiled, finely)
	}
	l.b, _ = r.integer(tileField)
	elem, _ := r.integer(elemField)
	inFast, _ := r.number(room, binary)
	capacity := inFast.Num().Int64()
	l.tiles = (l.n-1)/l.b + 1
	r.sets("step", "", "n", "b") // another loop nest is walked from its start
	steps := l.steps()
	step, control := r.number(field{key: "step", label: "Step of the loops", measure: count, least: power(10, 0), most: steps,
		usual: "1", examples: "1 or " + steps.String(), scale: evenly(steps)}, digits)
	if !r.well() {
		return
	}
	if least := 3 * elem; capacity < least { // said here, where one byte is not "1 bytes"
		r.fail("capacity", "Fast memory, bytes, is %s: one element each of A, B and C at %s needs at least %d",
			num.Join(fmt.Sprint(capacity), "bytes"), num.Join(fmt.Sprint(elem), "bytes"), least)
		return
	}
	var largest int64
	var intensity, best float64
	if err := arg.Maybe(func() {
		largest, intensity = tiling.LargestTile(capacity, elem), tiling.Intensity(l.n, l.b, elem)
		best = tiling.Intensity(l.n, largest, elem)
	}); err != nil {
		r.failed("capacity", err)
		return
	}
	now := step.Num()
	t := l.turn(now)
	control.Buttons = l.buttons(now, t)

	need := num.Sum{{3, l.b, l.b, elem}}.Big()
	fits := need.Cmp(big.NewInt(capacity)) <= 0
	share, _ := new(big.Rat).SetFrac(need, big.NewInt(capacity)).Float64()
	fit := "yes, they fill " + num.Percent(share) + " of it"
	if !fits {
		fit = "no, they need " + num.Short(share) + " times as much"
	}
	loads, stores := num.Sum{{2, l.tiles, l.n, l.n}}, num.Sum{{l.n, l.n}}
	moved := num.Sum{{2, l.tiles, l.n, l.n, elem}, {l.n, l.n, elem}}
	last := l.extent(l.tiles - 1)
	edge := fmt.Sprintf("whole: %s is a multiple of %s", num.Group(fmt.Sprint(l.n)), num.Group(fmt.Sprint(l.b)))
	switch {
	case l.tiles == 1:
		edge = "none: one tile holds the whole matrix"
	case last < l.b:
		edge = fmt.Sprintf("ragged: the last tile is %s wide, not %s", num.Group(fmt.Sprint(last)), num.Group(fmt.Sprint(l.b)))
	}

	v.Summary = fmt.Sprintf("%s, %s FLOP/byte. Three tiles in fast memory: %s. Step %s of %s: A(%d, %d) and B(%d, %d) are loaded for C(%d, %d).",
		l.perSide(), num.Short(intensity), fit, integer(now), integer(steps), t.i, t.p, t.p, t.j, t.i, t.j)
	v.Alt = fmt.Sprintf("Three squares, A, B and C, cut into %s, drawn to scale. In step %s of %s the tiles A(%d, %d) and B(%d, %d) and the C tile (%d, %d) are in fast memory. A bar shows that three tiles need %s of %s.",
		l.perSide(), integer(now), integer(steps), t.i, t.p, t.p, t.j, t.i, t.j, kibi(need), kibi(big.NewInt(capacity)))
	v.Values = []Value{
		whole("tiles", "tiles per side, T", big.NewInt(l.tiles), ""),
		number("last", "the edge", float64(last), edge, "elements"),
		whole("loads", "loads", loads.Big(), "elements"),
		whole("stores", "stores", stores.Big(), "elements"),
		whole("bytes", "traffic", moved.Big(), "bytes"),
		number("intensity", "arithmetic intensity", intensity, num.Short(intensity)+" FLOP/byte", "FLOP/byte"),
		whole("need", "three tiles need, 3b²s", need, "bytes"),
		number("fit", "they fit in fast memory", share, fit, ""),
		whole("largest", "largest tile that fits", big.NewInt(largest), "elements"),
		number("best", "intensity with that tile", best, num.Short(best)+" FLOP/byte", "FLOP/byte"),
		whole("step", fmt.Sprintf("step, of %s", integer(steps)), now, ""),
		number("tile-a", "A tile in fast memory", float64(t.p), fmt.Sprintf("(%d, %d), %d×%d", t.i, t.p, t.rows, t.depth), ""),
		number("tile-b", "B tile in fast memory", float64(t.j), fmt.Sprintf("(%d, %d), %d×%d", t.p, t.j, t.depth, t.cols), ""),
		number("tile-c", "C tile in fast memory", float64(t.i), fmt.Sprintf("(%d, %d), %d×%d", t.i, t.j, t.rows, t.cols), ""),
		whole("step-loads", "loads in this step", t.loads.Big(), "elements"),
		whole("loads-so-far", "loads so far", t.loadsSoFar.Big(), "elements"),
		whole("stores-so-far", "stores so far", t.storesSoFar.Big(), "elements"),
		whole("flops-so-far", "work so far", t.flops.Big(), "FLOPs"),
	}
	v.SVG = l.picture(v, t, fits, share, need, capacity, width)
}

// buttons are the ways through the loop nest from a step.
func (l loops) buttons(now *big.Int, t turn) []Button {
	steps := l.steps()
	side := big.NewInt(l.tiles)
	row := num.Sum{{l.tiles, l.tiles}}.Big()
	to := func(label, name string, step *big.Int) Button {
		b := Button{Label: label, Name: name, Sets: map[string]string{}}
		if step.Sign() > 0 && step.Cmp(steps) <= 0 && step.Cmp(now) != 0 {
			b.Sets["step"] = step.String()
		}
		return b
	}
	// The first step of the C tile, or of the row of C tiles, in which we are.
	tile := new(big.Int).Sub(now, big.NewInt(t.p))
	line := num.Sum{{t.i, l.tiles, l.tiles}, {1}}.Big()
	return []Button{
		to("first", "first step", big.NewInt(1)),
		to("◀", "step back", new(big.Int).Sub(now, big.NewInt(1))),
		to("▶", "step on", new(big.Int).Add(now, big.NewInt(1))),
		to("next C tile", "to the next C tile", tile.Add(tile, side)),
		to("next row", "to the next row of tiles of C", line.Add(line, row)),
		to("last", "last step", steps),
	}
}

// How close lines of the grid may lie, and how small a tile may be drawn, in
// pixels.
const (
	closestLines = 5.0
	smallestTile = 5.0
)

// picture draws A to the left of C and B above it, so that the tiles that meet
// stand in one row and one column. The corner is left for fast memory.
func (l loops) picture(v *View, t turn, fits bool, share float64, need *big.Int, capacity int64, width float64) string {
	const gap, margin, head = 16.0, 4.0, 20.0
	side := min((width-gap-2*margin)/2, 240)
	d := newDrawing(width, 2*(side+head)+gap)
	narrow := width-(2*side+gap+margin) < 160
	rows := 5 // of the key below, or in two columns where they fit
	if width >= 340 {
		rows = 3
	}
	if narrow {
		d.Height += float64(rows)*keyLine + 8
	}
	left, top := margin, head
	right, low := left+side+gap, top+side+gap+head

	along := func(elements int64) float64 { return side * float64(elements) / float64(l.n) }
	// span returns where a tile is drawn along a side: to scale, but never too
	// small to be seen, and inside the square.
	span := func(index int64) (from, size float64) {
		size = max(along(l.extent(index)), smallestTile)
		return min(along(l.before(index)), side-size), size
	}
	i0, iSize := span(t.i)
	j0, jSize := span(t.j)
	p0, pSize := span(t.p)

	square := func(x, y float64, name string, inside func()) {
		d.Bold(x, y-6, "start", "text", name)
		if last := l.extent(l.tiles - 1); last < l.b && l.tiles > 1 {
			at := along(l.before(l.tiles - 1))
			d.Rect(x+at, y, side-at, side, "edge")
			d.Rect(x, y+at, side, side-at, "edge")
		}
		inside()
		if along(l.b) >= closestLines || l.tiles <= 2 {
			d.Grid(x, y, side, func(yield func(float64) bool) {
				for k := int64(1); k < l.tiles && yield(along(l.before(k))); k++ {
				}
			})
		}
		d.Frame(x, y, side, side, "line", 1.5)
	}
	tile := func(x, y, width, height float64, fill string) {
		d.Rect(x, y, width, height, fill)
		d.Frame(x, y, width, height, "text", 1.2)
	}
	square(right, top, "B", func() {
		d.Rect(right+j0, top, jSize, side, "band")
		tile(right+j0, top+p0, jSize, pSize, "loaded")
	})
	square(left, low, "A", func() {
		d.Rect(left, low+i0, side, iSize, "band")
		tile(left+p0, low+i0, pSize, iSize, "loaded")
	})
	square(right, low, "C", func() {
		d.Rect(right, low, side, along(l.before(t.i)), "stored")
		d.Rect(right, low+along(l.before(t.i)), along(l.before(t.j)), along(t.rows), "stored")
		fill := "held"
		if t.stores {
			fill = "stored"
		}
		tile(right+j0, low+i0, jSize, iSize, fill)
	})
	l.corner(d, left, top, side, fits, share, need, capacity)
	if narrow {
		key(d, rows, left, low+side+12, side+gap)
	} else {
		key(d, 5, right+side+24, low+10, 0)
	}
	return d.SVG(v.Title, v.Alt)
}

// corner shows how much of fast memory the three tiles take.
func (l loops) corner(d *drawing, x, y, side float64, fits bool, share float64, need *big.Int, capacity int64) {
	d.Bold(x, y-6, "start", "text", "Fast memory")
	const thick = 22.0
	full := side
	if !fits {
		full = side / share
	}
	names := []string{"A", "B", "C"}
	third := side * share / 3
	if !fits {
		third = side / 3
	}
	at := y + 8
	for k, fill := range []string{"loaded", "loaded", "held"} {
		d.Rect(x+float64(k)*third, at, third, thick, fill)
		if third > 14 {
			d.Frame(x+float64(k)*third, at, third, thick, "line", 0.5)
			d.Text(x+(float64(k)+0.5)*third, at+15, "middle", "text", names[k])
		}
	}
	d.Frame(x, at, max(full, 1), thick, "text", 1.5)
	if !fits {
		d.Line("full", 2.5, false, x+full, at-4, x+full, at+thick+4)
	}
	d.Text(x, at+thick+18, "start", "text", "three tiles: "+kibi(need))
	d.Text(x, at+thick+35, "start", "text", "room: "+kibi(big.NewInt(capacity)))
	verdict, fill := "they fit", "text"
	if !fits {
		verdict, fill = "they do not fit", "full"
	}
	d.Bold(x, at+thick+54, "start", fill, verdict)
	d.Text(x, at+thick+74, "start", "muted", l.perSide())
	if side*float64(l.b) < smallestTile*float64(l.n) {
		d.Rect(x, at+thick+84, smallestTile, smallestTile, "loaded")
		d.Text(x+12, at+thick+91, "start", "muted", "one tile, enlarged")
	}
}

// perSide says how many tiles there are: "12 tiles per side".
func (l loops) perSide() string {
	if l.tiles == 1 {
		return "1 tile per side"
	}
	return num.Group(fmt.Sprint(l.tiles)) + " tiles per side"
}

const keyLine = 20.0

// key says what the colours mean, so many in a column, the columns so far apart.
func key(d *drawing, inColumn int, x, y, apart float64) {
	for k, entry := range []struct{ fill, words string }{
		{"loaded", "loaded in this step"}, {"band", "needed for this C tile"}, {"edge", "edge tiles"},
		{"held", "C tile in fast memory"}, {"stored", "C stored"},
	} {
		left, top := x+apart*float64(k/inColumn), y+keyLine*float64(k%inColumn)
		d.Rect(left, top, 14, 14, entry.fill)
		d.Frame(left, top, 14, 14, "line", 0.5)
		d.Text(left+20, top+11, "start", "muted", entry.words)
	}
}
