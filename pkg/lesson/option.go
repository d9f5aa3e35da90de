package lesson

import (
	"encoding/json"
	"math"

	"github.com/go-echarts/go-echarts/v2/opts"

	"memorywall/pkg/internal/num"
)

// What go-echarts has no fields for goes into its map of options as such.
type object = map[string]any

// option returns the figure as an option object of ECharts, in JSON: what is
// particular to this figure. scripts/charts/picture.js says what all figures
// have in common, and tells how a datum and "mw" are made up.
//
// It is put together from the option structs of go-echarts. Its charts would
// bring templates for whole pages along, and every cell would link them.
func (f Figure) option() ([]byte, error) {
	x, xSteps := f.X.option(f.greatest(func(p Point) float64 { return p.X }, 'x'))
	y, ySteps := f.Y.option(f.greatest(func(p Point) float64 { return p.Y }, 'y'))
	y["inverse"] = len(f.Y.Categories) > 0 // the first category on top
	return json.Marshal(object{
		"aria":   opts.Aria{Enabled: opts.Bool(true), Label: &opts.AriaLabel{Description: f.inWords()}},
		"title":  opts.Title{Title: f.Title},
		"xAxis":  x,
		"yAxis":  y,
		"series": f.layers(),
		"mw": object{
			"x": object{"steps": xSteps}, "y": object{"steps": ySteps},
			"named": f.namedAlong, "plain": f.plainLines, "low": f.lowMarks,
			"along": append([]along{}, f.along...), "asides": append([]aside{}, f.asides...),
		},
	})
}

// greatest is the largest magnitude on an axis.
func (f Figure) greatest(of func(Point) float64, axis byte) float64 {
	v := 0.0
	for _, s := range f.Series {
		for _, p := range s.Points {
			v = max(v, math.Abs(of(p)))
		}
	}
	for _, m := range f.Marks {
		if m.Axis == axis {
			v = max(v, math.Abs(m.At))
		}
	}
	return v
}

// option returns the axis, and the units in which its ticks are written.
func (a Axis) option(greatest float64) (out object, steps [][2]any) {
	steps = [][2]any{}
	if len(a.Categories) > 0 {
		return object{"type": "category", "name": a.Name, "data": a.Categories}, steps
	}
	list, inTicks := num.Steps(a.Unit, a.Log, a.Base, greatest)
	for _, s := range list {
		steps = append(steps, [2]any{s.Times, s.Unit})
	}
	out = object{"type": "value", "name": a.title()}
	if inTicks {
		out["name"] = a.Name
	}
	if a.Log {
		out["type"], out["logBase"] = "log", max(a.Base, 2)
		if a.Base != 2 {
			out["logBase"] = 10
		}
	}
	if a.Min != 0 || a.Max > a.Min && !a.Log {
		out["min"] = a.Min
	}
	if a.Max != 0 {
		out["max"] = a.Max
	}
	return out, steps
}

// layer is a series of the option.
type layer struct {
	Type      string          `json:"type"`
	Name      string          `json:"name"`
	Step      string          `json:"step,omitempty"`
	Silent    bool            `json:"silent,omitempty"`
	LineStyle *opts.LineStyle `json:"lineStyle,omitempty"`
	MarkLine  *opts.MarkLines `json:"markLine,omitempty"`
	MarkArea  object          `json:"markArea,omitempty"`
	Data      [][]any         `json:"data"`
}

func (f Figure) layers() []layer {
	var out []layer
	for _, s := range f.Series {
		l := layer{Type: map[Kind]string{Line: "line", Steps: "line", Dots: "scatter", Bars: "bar"}[s.Kind], Name: s.Name}
		if s.Kind == Steps {
			l.Step = "end"
		}
		if s.Dashed {
			l.LineStyle = &opts.LineStyle{Type: "dashed"}
		}
		for i, p := range s.Points {
			l.Data = append(l.Data, f.datum(i, p))
		}
		out = append(out, l)
	}
	if len(f.Marks)+len(f.gaps)+len(f.shades)+len(f.along) > 0 || f.wordy() {
		out = append(out, f.marks())
	}
	return out
}

// datum is a point with its coordinates in words, and its label.
func (f Figure) datum(i int, p Point) []any {
	in := func(a Axis, v float64) (any, string) {
		if len(a.Categories) > 0 {
			return i, a.Categories[i]
		}
		return v, num.Value(v, a.Unit, a.Base)
	}
	x, xText := in(f.X, p.X)
	y, yText := in(f.Y, p.Y)
	d := []any{x, y, xText, yText}
	if p.Label != "" {
		d = append(d, p.Label)
	}
	return d
}

// wordy reports whether there is text beside points.
func (f Figure) wordy() bool {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.Label != "" {
				return true
			}
		}
	}
	return false
}

// marks is a series without points that carries lines across the figure.
func (f Figure) marks() layer {
	out := layer{Type: "scatter", Silent: true, Data: [][]any{}}
	lines := &opts.MarkLines{}
	for _, m := range f.Marks {
		lines.Data = append(lines.Data, object{string(m.Axis) + "Axis": m.At, "name": m.Label})
	}
	for _, g := range f.gaps {
		dotted := opts.LineStyle{Width: 1.5, Type: "dotted"}
		lines.Data = append(lines.Data, []object{
			{"coord": [2]float64{g.x, g.y0}, "lineStyle": dotted}, {"coord": [2]float64{g.x, g.y1}},
		})
	}
	if len(lines.Data) > 0 {
		out.MarkLine = lines
	}
	if len(f.shades) > 0 {
		areas := [][]object{}
		for _, s := range f.shades {
			areas = append(areas, []object{{"xAxis": s[0]}, {"xAxis": s[1]}})
		}
		out.MarkArea = object{"data": areas}
	}
	return out
}
