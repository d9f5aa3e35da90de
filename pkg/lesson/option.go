package lesson

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/opts"
)

// What go-echarts has no fields for goes into its map of options as such.
type object = map[string]any

// Every figure is set in the reader's own interface font.
const fontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

// Series of one figure also differ in the shape of their dots.
var symbols = []string{"circle", "diamond", "triangle", "rect", "path://M-1,-0.3H-0.3V-1H0.3V-0.3H1V0.3H0.3V1H-0.3V0.3H-1Z", "roundRect"}

// option returns the figure as the option object of ECharts, in JSON. Where
// that needs a function or a colour of the theme it holds a name, which
// scripts/charts/figure.js replaces.
//
// It is put together from the option structs of go-echarts. Its charts would
// bring templates for whole pages along, and every cell would link them.
func (f Figure) option() ([]byte, error) {
	l := f.layout()
	return json.Marshal(object{
		"animation": false,
		"aria":      opts.Aria{Enabled: opts.Bool(true), Label: &opts.AriaLabel{Description: f.inWords()}},
		// What has no style of its own takes this one.
		"textStyle": opts.TextStyle{Color: "mw:colour:text", FontFamily: fontFamily, FontSize: int(textSize)},
		"title":     f.titles(l),
		"legend":    f.legend(l),
		// The room for the labels is worked out here: ECharts must not move the
		// plot to make more.
		"grid": object{
			"left": px(l.plot.x0), "top": px(l.plot.y0), "right": px(l.w - l.plot.x1), "bottom": px(l.h - l.plot.y1),
			"outerBoundsMode": "none",
		},
		"xAxis": []object{l.x.axis(f.X, l.xNames, "middle", f.horizontal())},
		"yAxis": []object{l.y.axis(f.Y, l.yNames, "", f.horizontal())},
		"tooltip": object{
			"trigger": f.trigger(), "formatter": "mw:tooltip", "confine": true,
			"backgroundColor": "mw:colour:tip", "borderColor": "mw:colour:axis",
			"textStyle":   opts.TextStyle{Color: "mw:colour:text", FontFamily: fontFamily, FontSize: int(textSize)},
			"axisPointer": opts.AxisPointer{Type: f.pointer(), Snap: opts.Bool(true)},
		},
		"series": f.layers(l),
		"mw":     object{"x": describe(f.X), "y": describe(f.Y)},
	})
}

// layer is a series of the option: bars at the bottom, then lines, dots and
// the words.
type layer struct {
	Type           string          `json:"type"`
	Name           string          `json:"name,omitempty"`
	Z              int             `json:"z"`
	Step           string          `json:"step,omitempty"`
	Symbol         string          `json:"symbol,omitempty"`
	SymbolSize     float64         `json:"symbolSize,omitempty"`
	ShowSymbol     *bool           `json:"showSymbol,omitempty"`
	BarMaxWidth    string          `json:"barMaxWidth,omitempty"`
	BarCategoryGap string          `json:"barCategoryGap,omitempty"`
	Silent         bool            `json:"silent,omitempty"`
	ItemStyle      any             `json:"itemStyle,omitempty"`
	LineStyle      *opts.LineStyle `json:"lineStyle,omitempty"`
	Label          object          `json:"label,omitempty"`
	MarkLine       *opts.MarkLines `json:"markLine,omitempty"`
	MarkArea       object          `json:"markArea,omitempty"`
	Tooltip        object          `json:"tooltip,omitempty"` // nil: as the figure's
	Data           []any           `json:"data"`
}

func (f Figure) layers(l layout) []layer {
	var out []layer
	for i, s := range f.Series {
		out = append(out, f.series(l, i, s))
	}
	return append(out, l.texts(f))
}

// dotted reports whether all the points of a line are shown as dots.
func (f Figure) dotted(s Series) bool {
	return s.Kind == Line && len(s.Points) <= 24 && !f.plainLines
}

func px(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', 0, 64) }

// trigger is what the tooltip answers to: an X anywhere in the plot where
// there are lines or bars, else a dot.
func (f Figure) trigger() string {
	for _, s := range f.Series {
		if s.Kind != Dots {
			return "axis"
		}
	}
	return "item"
}

func (f Figure) pointer() string {
	if x, y := f.bars(); x || y {
		return "shadow"
	}
	return "line"
}

func (f Figure) legend(l layout) object {
	if len(l.legend) == 0 {
		return object{"show": false}
	}
	return object{
		"show": true, "data": l.legend, "left": px(margin), "top": px(l.legendY), "orient": "horizontal",
		"itemGap": legendGap, "padding": 0,
		"textStyle": opts.TextStyle{Color: "mw:colour:text", FontSize: int(textSize)},
	}
}

// titles returns the title of the figure and that of the Y axis.
func (f Figure) titles(l layout) []object {
	titles := []object{{
		"text": l.title, "left": px(margin), "top": px(margin), "padding": 0,
		"textStyle": opts.TextStyle{Color: "mw:colour:text", FontSize: int(titleSize), FontWeight: "bold", LineHeight: int(titleLine)},
	}}
	if f.Y.Name != "" {
		titles = append(titles, object{
			"text": l.y.name(f.Y), "left": px(margin), "top": px(l.yNameY), "padding": 0,
			"textStyle": opts.TextStyle{Color: "mw:colour:muted", FontSize: int(textSize), FontWeight: "normal"},
		})
	}
	return titles
}

// series returns one series of the chart.
func (f Figure) series(l layout, i int, s Series) layer {
	out := layer{
		Type: map[Kind]string{Line: "line", Steps: "line", Dots: "scatter", Bars: "bar"}[s.Kind],
		Name: s.Name, Z: map[Kind]int{Bars: 2, Line: 3, Steps: 3, Dots: 4}[s.Kind],
		ItemStyle: opts.ItemStyle{Color: colour(i), Opacity: opts.Float(1)},
	}
	data := make([]object, len(s.Points))
	for j, p := range s.Points {
		x, y := p.X, p.Y
		if l.x.kind == categoryScale {
			x = float64(j)
		}
		if l.y.kind == categoryScale {
			y = float64(j)
		}
		data[j] = object{"value": [2]float64{digits(x), digits(y)}}
		if p.Label != "" {
			data[j]["text"] = p.Label
		}
	}
	switch s.Kind {
	case Line, Steps:
		out.LineStyle = &opts.LineStyle{Color: colour(i), Width: 2}
		if s.Dashed {
			out.LineStyle.Type = "dashed"
		}
		if s.Kind == Steps {
			out.Step = "end"
		}
		out.Symbol = symbols[i%len(symbols)]
		out.SymbolSize = 2 * dotRadius
		// Few points are shown as dots; of many, those with a label.
		all := f.dotted(s)
		some := false
		for _, p := range s.Points {
			some = some || p.Label != ""
		}
		out.ShowSymbol = opts.Bool(all || some)
		for j, p := range s.Points {
			if some && !all && p.Label == "" {
				data[j]["symbol"] = "none"
			}
		}
	case Dots:
		out.Symbol = symbols[i%len(symbols)]
		out.SymbolSize = 2 * dotRadius
		if len(s.Points) > 300 {
			out.SymbolSize = dotRadius
		}
	case Bars:
		out.BarMaxWidth = px(l.barWidth)
		out.BarCategoryGap = "30%"
		if k := f.barsBefore(i); k > 0 {
			out.ItemStyle = object{"color": colour(i), "opacity": 1, "decal": decal(k)}
		}
		position := "top"
		if l.y.kind == categoryScale {
			position = "right"
		}
		out.Label = object{"show": true, "position": position, "formatter": "mw:text", "color": "mw:colour:text", "fontSize": textSize}
		for j, t := range l.barTexts[i] {
			if t != "" {
				data[j]["text"] = t
			}
		}
	}
	for _, d := range data {
		if v := d["value"]; len(d) == 1 {
			out.Data = append(out.Data, v)
		} else {
			out.Data = append(out.Data, d)
		}
	}
	return out
}

// barsBefore is the number of series of bars before series i.
func (f Figure) barsBefore(i int) int {
	n := 0
	for _, s := range f.Series[:i] {
		if s.Kind == Bars {
			n++
		}
	}
	return n
}

// decal is the hatching of the bars of the kth series after the first: bars of
// several series differ in more than their hue.
func decal(k int) object {
	turns := []float64{-math.Pi / 4, math.Pi / 4, 0, math.Pi / 2}
	return object{
		"symbol": "rect", "symbolSize": 1, "color": "mw:colour:hatch", "rotation": digits(turns[(k-1)%len(turns)]),
		"dashArrayX": [2]int{1, 0}, "dashArrayY": [2]int{3, 4},
	}
}

// digits rounds v to nine significant digits: more than a picture shows, and
// the same on every kind of processor.
func digits(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// texts is a series of invisible points that carries the marks and all text
// beside points.
func (l layout) texts(f Figure) layer {
	out := layer{
		Type: "scatter", Name: "words", Z: 5, Symbol: "circle", SymbolSize: 1, Silent: true,
		Tooltip: object{"show": false},
		// Text takes the opacity of its item, and that of a scatter is less than one.
		ItemStyle: opts.ItemStyle{Color: "transparent", Opacity: opts.Float(1)},
		Label: object{
			"show": true, "position": "inside", "formatter": "mw:text", "fontSize": textSize, "lineHeight": math.Round(textSize * lineHeight),
			"verticalAlign": "middle", "textBorderColor": "mw:colour:paper", "textBorderWidth": 3,
		},
		Data: []any{},
	}
	for _, lb := range l.labels {
		if lb.hidden {
			continue
		}
		if lb.rotate != 0 || math.Hypot(lb.dx, lb.dy) > 40 {
			// ECharts would turn the offset too; and a label far from its point
			// hangs on another.
			lb.x, lb.y, lb.dx, lb.dy = lb.x+lb.dx, lb.y+lb.dy, 0, 0
		}
		x, pastX := l.x.anchor(lb.x)
		y, pastY := l.y.anchor(lb.y)
		style := object{
			"color": lb.color, "align": lb.align,
			"offset": [2]float64{math.Round(10*(lb.dx+pastX)) / 10, math.Round(10*(lb.dy+pastY)) / 10},
		}
		if lb.rotate != 0 {
			style["rotate"] = math.Round(10*lb.rotate) / 10
		}
		out.Data = append(out.Data, object{"value": [2]float64{x, y}, "text": lb.text, "label": style})
	}
	if len(f.Marks)+len(f.gaps) > 0 {
		lines := &opts.MarkLines{}
		for _, m := range f.Marks {
			if m.Axis == 'x' {
				lines.Data = append(lines.Data, object{"xAxis": digits(m.At)})
			} else {
				lines.Data = append(lines.Data, object{"yAxis": digits(m.At)})
			}
		}
		for _, g := range f.gaps {
			dotted := opts.LineStyle{Color: "mw:colour:muted", Width: 1.5, Type: "dotted"}
			lines.Data = append(lines.Data, []object{
				{"coord": [2]float64{digits(g.x), digits(g.y0)}, "lineStyle": dotted}, {"coord": [2]float64{digits(g.x), digits(g.y1)}},
			})
		}
		lines.Symbol = []string{"none", "none"}
		lines.Label = &opts.Label{Show: opts.Bool(false)}
		lines.LineStyle = &opts.LineStyle{Color: "mw:colour:muted", Width: 1, Type: "dashed"}
		out.MarkLine = lines
	}
	if len(f.shades) > 0 {
		areas := [][]object{}
		for _, s := range f.shades {
			areas = append(areas, []object{{"xAxis": digits(s[0])}, {"xAxis": digits(s[1])}})
		}
		out.MarkArea = object{"silent": true, "itemStyle": object{"color": "mw:colour:shade"}, "data": areas}
	}
	return out
}

// describe is what the tooltip knows of an axis.
func describe(a Axis) object {
	return object{"name": a.Name, "unit": a.Unit, "base": a.Base, "category": len(a.Categories) > 0}
}

func (f Figure) horizontal() bool { return len(f.Y.Categories) > 0 }

// name is the title of an axis. Where the ticks carry the unit it does not.
func (s scale) name(a Axis) string {
	if s.format == "s" || s.format == "ki" {
		return a.Name
	}
	return a.title()
}

// axis returns the options of one axis.
func (s scale) axis(a Axis, names []string, nameLocation string, horizontal bool) object {
	line := object{"lineStyle": object{"color": "mw:colour:axis"}, "onZero": false, "show": true}
	text := object{"color": "mw:colour:muted", "fontSize": textSize, "hideOverlap": false, "margin": tickLength + 4}
	out := object{"axisLine": line, "axisLabel": text}
	if nameLocation != "" && a.Name != "" {
		out["name"] = s.name(a)
		out["nameLocation"] = nameLocation
		lines := 1
		for _, n := range names {
			lines = max(lines, lineCount(n))
		}
		out["nameGap"] = tickLength + 4 + textLine*float64(lines) + 4
		out["nameTextStyle"] = object{"color": "mw:colour:muted", "fontSize": textSize}
	}
	if s.kind == categoryScale {
		out["type"] = "category"
		out["data"] = names
		out["inverse"] = horizontal
		out["axisTick"] = object{"show": false}
		text["interval"] = 0
		text["lineHeight"] = textLine
		return out
	}
	out["type"] = "value"
	if s.kind == logScale {
		out["type"] = "log"
		out["logBase"] = s.base
		out["startValue"] = s.lo
	}
	out["min"], out["max"] = s.lo, s.hi
	text["customValues"] = s.ticks
	text["formatter"] = "mw:tick:" + s.format
	out["axisTick"] = object{"show": true, "length": tickLength, "customValues": s.minor, "lineStyle": object{"color": "mw:colour:axis"}}
	// Grid lines stand at all the marks; figure.js shows those of labelled ticks.
	out["splitLine"] = object{"show": true, "lineStyle": object{"color": "mw:colour:grid", "width": 1}}
	return out
}
