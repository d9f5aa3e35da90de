package lesson

import (
	"fmt"
	"strings"

	"memorywall/pkg/cache"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// Bar is one bar of [BarChart].
type Bar struct {
	Name  string
	Value float64
}

// BarChart is the figure of a few named values on one axis, each with its value
// beside it; the alternative text lists them.
func BarChart(id, title string, axis Axis, bars ...Bar) Figure {
	s := Series{Name: axis.Name, Kind: Bars}
	f := Figure{ID: id, Title: title, X: axis}
	var said []string
	for _, b := range bars {
		f.Y.Categories = append(f.Y.Categories, b.Name)
		label := SI(b.Value, axis.Unit)
		s.Points = append(s.Points, Point{X: b.Value, Label: label})
		said = append(said, b.Name+" "+label)
	}
	f.Series = []Series{s}
	f.Alt = "Bars of " + axis.Name + ": " + strings.Join(said, ", ") + "."
	return f
}

// BytesInto is the figure of the bytes that a tiled multiply of square matrices
// brings into fast memory: at least, for any order of the work; in the model; in a
// cache in which a line can go anywhere; and in the cache c. Between the rows of
// the matrices lie pad elements.
func BytesInto(id, title string, g roofline.GEMM, pad int64, tile tiling.Rect, c cache.Config) Figure {
	Between("n", float64(g.N), 1, 384)
	Between("pad", float64(pad), 0, 1024)
	Check(c.Validate())
	layout := cache.PlaceLD(g, g.K+pad, g.N+pad, g.N+pad)
	in := func(c cache.Config) float64 {
		h := cache.New(c)
		layout.Tiled(h, tile)
		return float64(h.Memory().BytesIn)
	}
	anywhere := c
	anywhere.Ways = 0
	s := float64(g.ElemBytes)
	f := BarChart(id, title, Axis{Name: "bytes that come in", Unit: "B"},
		Bar{"any order, at least", s * float64(tiling.LoadLowerBound(g, c.SizeBytes/g.ElemBytes).Loads)},
		Bar{"the model", s * float64(tiling.TiledRect(g, tile).Loads)},
		Bar{"a line can go anywhere", in(anywhere)}, Bar{"your cache", in(c)})
	if need, room := tile.FastElems(), c.SizeBytes/g.ElemBytes; need > room {
		f.hints = append(f.hints, fmt.Sprintf("The three tiles need %d elements and the cache has room for %d: the model's count cannot be had here.", need, room))
	}
	return f
}
