package lesson

import (
	"fmt"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/internal/svg"
	"memorywall/pkg/tiling"
)

// ShowTiles draws to scale how n×n matrices are cut into tile×tile tiles: the
// row of tiles of A and the column of tiles of B that one tile of C needs, and
// the smaller tiles at the edges.
func ShowTiles(n, tile int64) {
	per := tiling.TilesPerSide(n, tile)
	last := n - (per-1)*tile
	title := fmt.Sprintf("n = %s, b = %s: ", plain(n), plain(tile))
	switch {
	case per == 1:
		title += "one tile holds the whole matrix"
	case last == tile:
		title += fmt.Sprintf("%s whole tiles per side", plain(per))
	default:
		title += fmt.Sprintf("%s tiles per side, the last of them %s wide", plain(per), plain(last))
	}
	alt := "A row of tiles of A and a column of tiles of B are loaded for one tile of C, which is stored once."
	if per > maxGrid {
		alt += fmt.Sprintf(" Lines between tiles would lie too close to draw beyond %d.", maxGrid)
	}
	showDrawing(title, alt, func(width float64) *svg.Drawing { return tilesPicture(n, tile, per, width) })
}

const maxGrid = 64 // lines of the grid are drawn for up to this many tiles a side

func tilesPicture(n, tile, per int64, width float64) *svg.Drawing {
	// The tile shown is one in the middle of C, or the first of few.
	row, col := per/2, per/3
	const head, gap = 24.0, 30.0
	side := 200.0
	d := &svg.Drawing{Width: width, Height: head + side + 4}
	left, top := 10.0, head
	right, down := side+gap+10, 0.0
	if width < wideDrawing {
		d.Height, right, down = 3*(head+side)+4, 0, head+side
	}
	at := func(k int64) float64 { return side * float64(min(k*tile, n)) / float64(n) }
	size := func(k int64) float64 { return max(at(k+1)-at(k), 0.75) }
	for _, m := range []struct{ name, note string }{
		{"A", "this row of tiles is loaded"}, {"B", "this column of tiles is loaded"}, {"C", "this tile is stored once"},
	} {
		d.Bold(left, top-8, "start", "text", m.name)
		d.Text(left+14, top-8, "start", "muted", m.note)
		if n%tile != 0 && per > 1 { // the ragged edge
			d.Rect(left+at(per-1), top, side-at(per-1), side, "edge")
			d.Rect(left, top+at(per-1), side, side-at(per-1), "edge")
		}
		switch m.name {
		case "A":
			d.Rect(left, top+at(row), side, size(row), "loaded")
		case "B":
			d.Rect(left+at(col), top, size(col), side, "loaded")
		case "C":
			d.Rect(left+at(col), top+at(row), size(col), size(row), "held")
		}
		if per > 1 && per <= maxGrid {
			d.Grid(left, top, side, func(yield func(float64) bool) {
				for k := int64(1); k < per && yield(at(k)); k++ {
				}
			})
		}
		d.Frame(left, top, side, side, "line", 1.5)
		left, top = left+right, top+down
	}
	return d
}

// Level is one level of a memory hierarchy, with what stays in it.
type Level struct {
	Name  string // "L2", "registers"
	Bytes int64  // its capacity; 0 where it has no bound that matters
	Holds []Held
}

// Held is a block that stays in a level while a loop runs.
type Held struct {
	What  string // "block of A, MC×KC"
	Loop  string // "while jr and ir run"
	Bytes int64  // 0 where it is not said
}

// ShowHierarchy draws levels of memory under each other, the fastest first: how
// much of each its blocks fill, and which loops they stay for. It ends the cell
// when a level or a block has a negative size.
func ShowHierarchy(title string, levels []Level) {
	alt := ""
	for _, l := range levels {
		if l.Bytes < 0 {
			Check(fmt.Errorf("lesson: level %q: bytes is %d: it must not be negative", l.Name, l.Bytes))
		}
		alt += l.Name
		if l.Bytes > 0 {
			alt += " (" + num.Binary(float64(l.Bytes), "bytes") + ")"
		}
		for i, h := range l.Holds {
			if h.Bytes < 0 {
				Check(fmt.Errorf("lesson: level %q: block %q: bytes is %d: it must not be negative", l.Name, h.What, h.Bytes))
			}
			alt += []string{": ", "; "}[min(i, 1)] + h.says()
		}
		alt += ". "
	}
	showDrawing(title, alt, func(width float64) *svg.Drawing { return hierarchy(levels, width) })
}

func (h Held) says() string {
	s := h.What
	if h.Bytes > 0 {
		s += ", " + num.Binary(float64(h.Bytes), "bytes")
	}
	if h.Loop != "" {
		s += ", " + h.Loop
	}
	return s
}

// hierarchy draws a bar for each level. The bars grow with the level, since
// nothing between registers and memory fits on one scale; what fills a bar is
// to its own scale.
func hierarchy(levels []Level, width float64) *svg.Drawing {
	fills := []string{"loaded", "held", "stored"}
	const margin, bar, line = 10.0, 22.0, 17.0
	type words struct{ fill, text string }
	var all [][]words
	d := &svg.Drawing{Width: width, Height: margin}
	for _, l := range levels {
		var list []words
		for i, h := range l.Holds {
			for k, text := range split(h.says(), width-2*margin-20) {
				list = append(list, words{fills[i%len(fills)], text})
				if k > 0 {
					list[len(list)-1].fill = ""
				}
			}
		}
		all = append(all, list)
		d.Height += 20 + bar + line*float64(len(list)) + 18
	}
	y := margin
	for i, l := range levels {
		share := 1.0
		if len(levels) > 1 {
			share = 0.3 + 0.7*float64(i)/float64(len(levels)-1)
		}
		long := (width - 2*margin) * share
		name, held := l.Name, int64(0)
		for _, h := range l.Holds {
			held += h.Bytes
		}
		if l.Bytes > 0 {
			name += ", " + num.Binary(float64(l.Bytes), "bytes")
			if held > 0 {
				name += ", " + num.Percent(float64(held)/float64(l.Bytes)) + " held"
			}
		}
		d.Bold(margin, y+13, "start", "text", name)
		y += 20
		used := 0.0
		for k, h := range l.Holds {
			part := long / float64(len(l.Holds))
			if l.Bytes > 0 {
				part = min(long*float64(h.Bytes)/float64(l.Bytes), long-used)
			}
			d.Rect(margin+used, y, max(part, 0.75), bar, fills[k%len(fills)])
			used += part
		}
		d.Frame(margin, y, long, bar, "line", 1.5)
		y += bar + line
		for _, w := range all[i] {
			if w.fill != "" {
				d.Rect(margin, y-10, 11, 11, w.fill)
			}
			d.Text(margin+18, y, "start", "muted", w.text)
			y += line
		}
		y += 1
	}
	return d
}

// ShowShadows draws a box of x×y×z multiply-adds and its shadows on three
// walls, which are the elements of C, A and B that the box needs: by Loomis and
// Whitney (1949) no set with these shadows holds more than √(xy·yz·xz). It ends
// the cell when a side is not positive.
func ShowShadows(x, y, z int64) {
	for _, s := range []struct {
		name string
		v    int64
	}{{"x", x}, {"y", y}, {"z", z}} {
		if s.v < 1 {
			Check(fmt.Errorf("lesson: %s is %d: it must be positive", s.name, s.v))
		}
	}
	product := func(sides ...int64) string {
		return num.Group(num.Sum{sides}.Big().String())
	}
	title := fmt.Sprintf("A box of %s multiply-adds has three shadows", product(x, y, z))
	alt := fmt.Sprintf("The box is %s×%s×%s. Its shadows are %s elements of C, %s of A and %s of B: the square root of their product is the number of its points.",
		plain(x), plain(y), plain(z), product(x, y), product(x, z), product(z, y))
	showDrawing(title, alt, func(width float64) *svg.Drawing {
		return shadows(x, y, z, width, []string{
			"C: " + product(x, y) + " elements, x·y", "A: " + product(x, z) + " elements, x·z", "B: " + product(z, y) + " elements, z·y",
			"box: √(xy·xz·zy) = " + product(x, y, z) + " multiply-adds",
		})
	})
}

// shadows draws the box from the front: x goes down, y to the right, and z to
// the back, up and right. C lies behind it, A on the left wall and B on the
// floor.
func shadows(x, y, z int64, width float64, words []string) *svg.Drawing {
	longest := float64(max(x, y, z))
	const most, thinnest, slant = 120.0, 8.0, 0.55
	scaled := func(v int64) float64 { return max(most*float64(v)/longest, thinnest) }
	down, right, back := scaled(x), scaled(y), slant*scaled(z)
	const room = 46.0 // between the box and its shadows
	d := &svg.Drawing{Width: width, Height: down + back + 2*room + 30}
	key, keyAt := 3*room+right+2*back+40, 40.0
	if width < wideDrawing {
		key, keyAt = 10, d.Height+6
		d.Height += 4*20 + 10
	}
	// The corner of the box at the top, in front, on the left.
	bx, by := 20+room+back/2, 10+room+back
	quad := func(fill string, x0, y0, dx1, dy1, dx2, dy2 float64) {
		points := []float64{x0, y0, x0 + dx1, y0 + dy1, x0 + dx1 + dx2, y0 + dy1 + dy2, x0 + dx2, y0 + dy2}
		d.Area(fill, points...)
		d.Line("line", 1, false, append(points, x0, y0)...)
	}
	lift := room * 0.8
	quad("stored", bx+back+lift, by-back-lift, right, 0, 0, down) // C, on the back wall
	quad("loaded", bx-room, by, back, -back, 0, down)             // A, on the left wall
	quad("held", bx, by+down+room*0.9, right, 0, back, -back)     // B, on the floor
	quad("edge", bx, by, right, 0, 0, down)
	quad("band", bx, by, right, 0, back, -back)
	quad("grid", bx+right, by, back, -back, 0, down)
	d.Text(bx+right/2, by+down/2+4, "middle", "text", "box")
	d.Text(bx-6, by+down/2+4, "end", "text", "x")
	d.Text(bx+right/2, by+down+15, "middle", "text", "y")
	d.Text(bx+right+back/2+7, by+down-back/2+10, "start", "text", "z")
	for i, fill := range []string{"stored", "loaded", "held", "edge"} {
		at := keyAt + 20*float64(i)
		d.Rect(key, at, 12, 12, fill)
		d.Frame(key, at, 12, 12, "line", 1)
		d.Text(key+20, at+10, "start", "text", words[i])
	}
	return d
}
