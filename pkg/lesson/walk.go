package lesson

import (
	"fmt"
	"strings"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// maxWalk is the greatest side of a matrix that ShowMatrixSteps draws.
const maxWalk = 8

// ShowMatrixSteps draws the counted multiply A·B with tile×tile tiles step by
// step: which tile of A and of B is loaded, which tile of C stays in fast
// memory and what it holds by then, and the running totals of loads, stores
// and FLOPs. It is for matrices of up to eight rows and columns.
func ShowMatrixSteps[T tiling.Number](a, b tiling.Matrix[T], tile int) {
	steps, err := walk(a, b, tile)
	Check(err)
	screen.show(block{HTML: walkHTML(a, b, tile, steps), Text: walkText(steps)})
}

func walkText[T tiling.Number](steps []walkStep[T]) string {
	t := Table{Columns: []string{"step", "C tile", "A tile", "B tile", "loads", "loads so far", "stores so far", "FLOPs so far"}}
	for i, s := range steps {
		t.Rows = append(t.Rows, []any{i + 1,
			tileName(s.I, s.J), tileName(s.I, s.P), tileName(s.P, s.J),
			s.Loads, s.total.Loads, s.total.Stores, s.total.FLOPs})
	}
	return t.text()
}

func tileName(i, j int64) string { return fmt.Sprintf("(%d, %d)", i, j) }

// How a cell of a matrix is painted: a background with black text on it reads
// in a light page and in a dark one.
const (
	paintLoaded = "background:#f0b73f;color:#000000;font-weight:bold;"
	paintHeld   = "background:#8fcdf2;color:#000000;"
	paintStored = "background:#5fd0a8;color:#000000;"
)

// walkHTML draws one panel for each step.
func walkHTML[T tiling.Number](a, b tiling.Matrix[T], tile int, steps []walkStep[T]) string {
	var w strings.Builder
	key := func(paint, text string) {
		fmt.Fprintf(&w, `<span style="%spadding:1px 6px;margin-right:6px">&nbsp;</span><span style="margin-right:18px">%s</span>`, paint, text)
	}
	w.WriteString(`<div style="margin:4px 0 8px 0">`)
	key(paintLoaded, "loaded in this step")
	key(paintHeld, "C tile in fast memory")
	key(paintStored, "C tile stored in this step")
	w.WriteString(`</div>`)
	inTile := func(s int64, i int) bool { return int64(i/tile) == s }
	touched := map[[2]int64]bool{}
	// One width for all panels puts them on an even grid: that of the matrices, or
	// of the line of counts.
	width := max(24*(a.Cols+2*b.Cols)+40, 370)
	for k, s := range steps {
		touched[[2]int64{s.I, s.J}] = true
		fmt.Fprintf(&w, `<div style="display:inline-block;vertical-align:top;width:%dpx;max-width:100%%;margin:0 12px 14px 0">`, width)
		fmt.Fprintf(&w, `<div><b>Step %d of %d</b>: C%s += A%s · B%s</div>`, k+1, len(steps), tileName(s.I, s.J), tileName(s.I, s.P), tileName(s.P, s.J))
		w.WriteString(`<div>`)
		loaded := func(row, col int64) func(i, j int) (string, bool) {
			return func(i, j int) (string, bool) {
				if inTile(row, i) && inTile(col, j) {
					return paintLoaded, true
				}
				return "", true
			}
		}
		grid(&w, "A", a, tile, loaded(s.I, s.P))
		grid(&w, "B", b, tile, loaded(s.P, s.J))
		grid(&w, "C so far", s.c, tile, func(i, j int) (string, bool) {
			seen := touched[[2]int64{int64(i / tile), int64(j / tile)}]
			switch {
			case !inTile(s.I, i) || !inTile(s.J, j):
				return "", seen
			case s.stored:
				return paintStored, true
			}
			return paintHeld, true
		})
		w.WriteString(`</div>`)
		stores := ""
		if s.stored {
			stores = fmt.Sprintf(" (+%d)", s.Rows*s.Cols)
		}
		fmt.Fprintf(&w, `<div>loads <b>%d</b> (+%d) · stores <b>%d</b>%s · FLOPs <b>%d</b> (+%d)</div></div>`,
			s.total.Loads, s.Loads, s.total.Stores, stores, s.total.FLOPs, 2*s.Rows*s.Cols*s.Depth)
	}
	return w.String()
}

// grid writes one matrix. paint tells the style of an element, and whether its
// value is known yet.
func grid[T tiling.Number](w *strings.Builder, name string, m tiling.Matrix[T], tile int, paint func(i, j int) (string, bool)) {
	fmt.Fprintf(w, `<div style="display:inline-block;vertical-align:top;margin:2px 8px 2px 0"><div style="%s">%s</div>`+
		`<table style="border-collapse:collapse;margin:0;border:2px solid #77808a">`, styleMuted, name)
	for i := range m.Rows {
		w.WriteString(`<tr style="background:transparent">`)
		for j := range m.Cols {
			style, known := paint(i, j)
			text := "·"
			if known {
				text = esc(plain(any(m.At(i, j))))
			}
			edge := func(side string, at int) string {
				if at > 0 && at%tile == 0 {
					return "border-" + side + ":2px solid #77808a;"
				}
				return ""
			}
			fmt.Fprintf(w, `<td style="border:1px solid #b0b7bf;%s%s%swidth:22px;height:20px;padding:0 3px;text-align:center;font-size:12px;line-height:1.2">%s</td>`,
				edge("left", j), edge("top", i), style, text)
		}
		w.WriteString(`</tr>`)
	}
	w.WriteString(`</table></div>`)
}

// walkStep is one step of the walk with what is known after it.
type walkStep[T tiling.Number] struct {
	tiling.Step
	c      tiling.Matrix[T] // the product so far
	stored bool             // the C tile was stored in this step
	total  tiling.Traffic   // after this step
}

func walk[T tiling.Number](a, b tiling.Matrix[T], tile int) ([]walkStep[T], error) {
	if err := roofline.Maybe(func() { tiling.Multiply(a, b, tile) }); err != nil {
		return nil, err
	}
	if max(a.Rows, a.Cols, b.Cols) > maxWalk {
		return nil, fmt.Errorf("lesson: the matrices are %s and %s: the drawing has room for %d rows and columns", shape(a), shape(b), maxWalk)
	}
	if min(a.Rows, a.Cols, b.Cols) < 1 {
		return nil, fmt.Errorf("lesson: the matrices are %s and %s: there is nothing to draw", shape(a), shape(b))
	}
	g := roofline.GEMM{M: int64(a.Rows), N: int64(b.Cols), K: int64(a.Cols), ElemBytes: 1}
	seq := tiling.Steps(g, int64(tile))
	c := tiling.New[T](a.Rows, b.Cols)
	depthTiles := (int64(a.Cols)-1)/int64(tile) + 1
	var steps []walkStep[T]
	var total tiling.Traffic
	for s := range seq {
		p := tiling.PartialProduct(a, b, tile, int(s.I), int(s.J), int(s.P))
		next := tiling.FromRows(c.ToRows())
		for i := range p.Rows {
			for j := range p.Cols {
				next.Data[(int(s.I)*tile+i)*next.Cols+int(s.J)*tile+j] += p.At(i, j)
			}
		}
		c = next
		total.Loads += s.Loads
		total.FLOPs += 2 * s.Rows * s.Cols * s.Depth
		stored := s.P == depthTiles-1
		if stored {
			total.Stores += s.Rows * s.Cols
		}
		steps = append(steps, walkStep[T]{Step: s, c: c, stored: stored, total: total})
	}
	return steps, nil
}
