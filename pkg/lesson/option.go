package lesson

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
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
func (f Figure) option() ([]byte, error) {
	l := f.layout()
	chart := charts.NewLine()
	chart.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTitleOpts(opts.Title{
			Title: l.title, Left: px(margin), Top: px(margin),
			TitleStyle: &opts.TextStyle{Color: "mw:colour:text", FontSize: int(titleSize), FontWeight: "bold", FontFamily: fontFamily, LineHeight: int(titleLine)},
		}),
		charts.WithTooltipOpts(opts.Tooltip{
			Show: opts.Bool(true), Trigger: f.trigger(), Formatter: "mw:tooltip",
			BackgroundColor: "mw:colour:tip", BorderColor: "mw:colour:axis",
			AxisPointer: &opts.AxisPointer{Type: f.pointer(), Snap: opts.Bool(true)},
		}),
		charts.WithLegendOpts(f.legend(l)),
		charts.WithGridOpts(opts.Grid{Left: px(l.plot.x0), Top: px(l.plot.y0), Right: px(l.w - l.plot.x1), Bottom: px(l.h - l.plot.y1)}),
		charts.WithAriaOpts(&opts.Aria{Enabled: opts.Bool(true), Label: &opts.AriaLabel{Description: f.Alt}}),
	)
	for i, s := range f.Series {
		chart.MultiSeries = append(chart.MultiSeries, f.series(l, i, s))
	}
	chart.Validate()
	option := chart.JSON()
	f.refine(option, l)
	option["series"] = f.layers(l, chart.MultiSeries)
	return json.Marshal(option)
}

// layer is a series with what go-echarts has no fields for.
type layer struct {
	charts.SingleSeries
	Z       int    `json:"z"`
	Silent  bool   `json:"silent,omitempty"`
	Tooltip object `json:"tooltip,omitempty"` // nil: as the figure's
}

// layers puts bars at the bottom, then lines, dots and the words.
func (f Figure) layers(l layout, series charts.MultiSeries) []layer {
	var out []layer
	for i, s := range series {
		z := map[Kind]int{Bars: 2, Line: 3, Steps: 3, Dots: 4}[f.Series[i].Kind]
		out = append(out, layer{SingleSeries: s, Z: z})
	}
	return append(out, layer{SingleSeries: l.words(f), Z: 5, Silent: true, Tooltip: object{"show": false}})
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

func (f Figure) legend(l layout) opts.Legend {
	if len(l.legend) == 0 {
		return opts.Legend{Show: opts.Bool(false)}
	}
	return opts.Legend{
		Show: opts.Bool(true), Data: l.legend, Left: px(margin), Top: px(l.legendY), Orient: "horizontal",
		TextStyle: &opts.TextStyle{Color: "mw:colour:text", FontSize: int(textSize), FontFamily: fontFamily},
	}
}

// series returns one series of the chart.
func (f Figure) series(l layout, i int, s Series) charts.SingleSeries {
	out := charts.SingleSeries{Name: s.Name}
	out.ItemStyle = &opts.ItemStyle{Color: colour(i), Opacity: opts.Float(1)}
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
	out.Data = data
	switch s.Kind {
	case Line, Steps:
		out.Type = types.ChartLine
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
		out.Type = types.ChartScatter
		out.Symbol = symbols[i%len(symbols)]
		out.SymbolSize = 2 * dotRadius
		if len(s.Points) > 300 {
			out.SymbolSize = dotRadius
		}
	case Bars:
		out.Type = types.ChartBar
		out.BarMaxWidth = px(l.barWidth)
		out.BarCategoryGap = "30%"
		position := "top"
		if l.y.kind == categoryScale {
			position = "right"
		}
		out.Label = &opts.Label{
			Show: opts.Bool(true), Position: position, Formatter: "mw:text",
			Color: "mw:colour:text", FontSize: textSize, FontFamily: fontFamily,
		}
		for j, t := range l.barTexts[i] {
			if t != "" {
				data[j]["text"] = t
			}
		}
	}
	return out
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

// words is a series of invisible points that carries the marks and all text
// beside points.
func (l layout) words(f Figure) charts.SingleSeries {
	out := charts.SingleSeries{Name: "words", Type: types.ChartScatter, Symbol: "circle", SymbolSize: 1}
	out.ItemStyle = &opts.ItemStyle{Color: "transparent"}
	data := []object{}
	for _, lb := range l.labels {
		if lb.hidden {
			continue
		}
		if lb.rotate != 0 {
			// ECharts would turn the offset too.
			lb.x, lb.y, lb.dx, lb.dy = lb.x+lb.dx, lb.y+lb.dy, 0, 0
		}
		x, pastX := l.x.anchor(lb.x)
		y, pastY := l.y.anchor(lb.y)
		style := object{
			"show": true, "position": "inside", "formatter": "mw:text", "color": lb.color, "fontSize": lb.size, "fontFamily": fontFamily,
			"offset": [2]float64{math.Round(10*(lb.dx+pastX)) / 10, math.Round(10*(lb.dy+pastY)) / 10}, "align": lb.align, "verticalAlign": "middle",
			"lineHeight": math.Round(lb.size * lineHeight), "textBorderColor": "mw:colour:paper", "textBorderWidth": 3,
		}
		if lb.rotate != 0 {
			style["rotate"] = math.Round(10*lb.rotate) / 10
		}
		data = append(data, object{
			"value": [2]float64{x, y},
			"text":  lb.text,
			"label": style,
		})
	}
	out.Data = data
	if len(f.Marks) > 0 {
		lines := &opts.MarkLines{}
		for _, m := range f.Marks {
			if m.Axis == 'x' {
				lines.Data = append(lines.Data, object{"xAxis": digits(m.At)})
			} else {
				lines.Data = append(lines.Data, object{"yAxis": digits(m.At)})
			}
		}
		lines.Symbol = []string{"none", "none"}
		lines.Label = &opts.Label{Show: opts.Bool(false)}
		lines.LineStyle = &opts.LineStyle{Color: "mw:colour:muted", Width: 1, Type: "dashed"}
		out.MarkLines = lines
	}
	return out
}

// refine adds what go-echarts has no fields for.
func (f Figure) refine(option object, l layout) {
	option["textStyle"] = object{"fontFamily": fontFamily, "fontSize": textSize, "color": "mw:colour:text"}
	var titles []any
	if t, ok := option["title"].(opts.Title); ok {
		titles = append(titles, object{"text": t.Title, "left": t.Left, "top": t.Top, "padding": 0, "textStyle": t.TitleStyle})
	}
	if f.Y.Name != "" {
		titles = append(titles, object{
			"text": l.y.name(f.Y), "left": px(margin), "top": px(l.yNameY), "padding": 0,
			"textStyle": object{"color": "mw:colour:muted", "fontSize": textSize, "fontWeight": "normal", "fontFamily": fontFamily},
		})
	}
	option["title"] = titles
	if legend, ok := option["legend"].(opts.Legend); ok && len(l.legend) > 0 {
		option["legend"] = object{
			"show": true, "data": legend.Data, "left": legend.Left, "top": legend.Top, "orient": legend.Orient,
			"textStyle": legend.TextStyle, "itemGap": legendGap, "padding": 0,
		}
	}
	option["xAxis"] = []any{l.x.axis(f.X, l.xNames, "middle", f.horizontal())}
	option["yAxis"] = []any{l.y.axis(f.Y, l.yNames, "", f.horizontal())}
	if grids, ok := option["grid"].([]opts.Grid); ok && len(grids) == 1 {
		// The room for the labels is worked out here: ECharts must not move the
		// plot to make more.
		option["grid"] = object{"left": grids[0].Left, "top": grids[0].Top, "right": grids[0].Right, "bottom": grids[0].Bottom, "outerBoundsMode": "none"}
	}
	if tip, ok := option["tooltip"].(opts.Tooltip); ok {
		option["tooltip"] = object{
			"show": tip.Show, "trigger": tip.Trigger, "formatter": tip.Formatter, "confine": true,
			"backgroundColor": tip.BackgroundColor, "borderColor": tip.BorderColor, "axisPointer": tip.AxisPointer,
			"textStyle": object{"color": "mw:colour:text", "fontSize": textSize, "fontFamily": fontFamily},
		}
	}
	option["mw"] = object{"x": describe(f.X), "y": describe(f.Y)}
	delete(option, "toolbox")
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
	text := object{"color": "mw:colour:muted", "fontSize": textSize, "fontFamily": fontFamily, "hideOverlap": false, "margin": tickLength + 4}
	out := object{"axisLine": line, "axisLabel": text}
	if nameLocation != "" && a.Name != "" {
		out["name"] = s.name(a)
		out["nameLocation"] = nameLocation
		lines := 1
		for _, n := range names {
			lines = max(lines, lineCount(n))
		}
		out["nameGap"] = tickLength + 4 + textLine*float64(lines) + 4
		out["nameTextStyle"] = object{"color": "mw:colour:muted", "fontSize": textSize, "fontFamily": fontFamily}
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
	// Grid lines stand at all the marks; only those of labelled ticks show.
	colors := make([]string, len(s.minor))
	for i, v := range s.minor {
		colors[i] = "transparent"
		for _, t := range s.ticks {
			if v == t {
				colors[i] = "mw:colour:grid"
			}
		}
	}
	out["splitLine"] = object{"show": true, "lineStyle": object{"color": colors, "width": 1}}
	return out
}
