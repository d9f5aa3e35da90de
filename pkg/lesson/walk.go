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
	var text strings.Builder
	t := Table{Columns: []string{"step", "C tile", "A tile", "B tile", "loads", "loads so far", "stores so far", "FLOPs so far"}}
	for i, s := range steps {
		t.Rows = append(t.Rows, []any{i + 1,
			fmt.Sprintf("(%d, %d)", s.I, s.J), fmt.Sprintf("(%d, %d)", s.I, s.P), fmt.Sprintf("(%d, %d)", s.P, s.J),
			s.Loads, s.total.Loads, s.total.Stores, s.total.FLOPs})
	}
	text.WriteString(t.text())
	screen.show(block{HTML: t.html(), Text: text.String()})
}

// walkStep is one step of the walk with what is known after it.
type walkStep[T tiling.Number] struct {
	tiling.Step
	c      tiling.Matrix[T] // the product so far
	stored bool             // the C tile was stored in this step
	total  tiling.Traffic   // after this step
}

func walk[T tiling.Number](a, b tiling.Matrix[T], tile int) ([]walkStep[T], error) {
	if _, _, err := tiling.Multiply(a, b, tile); err != nil {
		return nil, err
	}
	if max(a.Rows, a.Cols, b.Cols) > maxWalk {
		return nil, fmt.Errorf("lesson: the matrices are %s and %s: the drawing has room for %d rows and columns", shape(a), shape(b), maxWalk)
	}
	if min(a.Rows, a.Cols, b.Cols) < 1 {
		return nil, fmt.Errorf("lesson: the matrices are %s and %s: there is nothing to draw", shape(a), shape(b))
	}
	g := roofline.GEMM{M: int64(a.Rows), N: int64(b.Cols), K: int64(a.Cols), ElemBytes: 1}
	seq, err := tiling.Steps(g, int64(tile))
	if err != nil {
		return nil, err
	}
	c, err := tiling.New[T](a.Rows, b.Cols)
	if err != nil {
		return nil, err
	}
	depthTiles := (int64(a.Cols)-1)/int64(tile) + 1
	var steps []walkStep[T]
	var total tiling.Traffic
	for s := range seq {
		p, err := tiling.PartialProduct(a, b, tile, int(s.I), int(s.J), int(s.P))
		if err != nil {
			return nil, err
		}
		next, err := tiling.FromRows(c.ToRows())
		if err != nil {
			return nil, err
		}
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
