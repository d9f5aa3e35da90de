package lesson

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
)

// optionOf returns the option as a page reads it.
func optionOf(t *testing.T, f Figure) (o struct {
	Title        struct{ Text string }
	Aria         struct{ Label struct{ Description string } }
	XAxis, YAxis struct {
		Type, Name string
		Data       []string
		LogBase    int
		Min, Max   *float64
		Inverse    bool
	}
	Series []struct {
		Type, Name, Step string
		Silent           bool
		LineStyle        struct{ Type string }
		Data             [][]any
		MarkLine         struct{ Data []any }
		MarkArea         struct{ Data [][]struct{ XAxis float64 } }
	}
	MW struct {
		X, Y              struct{ Steps [][]any }
		Named, Plain, Low bool
		Along             []along
		Asides            []aside
	}
}) {
	t.Helper()
	option, err := f.Option()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(option, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestGallery writes the gallery's figures for the tests of scripts/charts into
// the folder that MEMORYWALL_GALLERY names.
func TestGallery(t *testing.T) {
	folder := os.Getenv("MEMORYWALL_GALLERY")
	if folder == "" {
		t.Skip("MEMORYWALL_GALLERY names no folder")
	}
	for _, f := range append(gallery(t), crowd(1, 12), crowd(2, 12)) {
		option, err := f.Option()
		if err != nil {
			t.Fatal(err)
		}
		w, h := f.size()
		data, err := json.Marshal(map[string]any{"option": json.RawMessage(option), "width": w, "height": h})
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, f.ID+".json"), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What must hold of the option of every figure: its claim, axes with units, each
// datum as it is with its words, and each mark as it is.
func TestOptions(t *testing.T) {
	types := map[Kind]string{Line: "line", Steps: "line", Dots: "scatter", Bars: "bar"}
	for _, f := range gallery(t) {
		t.Run(f.ID, func(t *testing.T) {
			one, err := f.Option()
			two, err2 := f.Option()
			if err != nil || err2 != nil || !bytes.Equal(one, two) {
				t.Fatal("two calls gave different options", err, err2)
			}
			o := optionOf(t, f)
			if o.Title.Text != f.Title || o.Aria.Label.Description != f.inWords() {
				t.Errorf("title %q, description %q", o.Title.Text, o.Aria.Label.Description)
			}
			for _, a := range []struct {
				want Axis
				got  string
				log  int
				data []string
				name string
			}{{f.X, o.XAxis.Type, o.XAxis.LogBase, o.XAxis.Data, o.XAxis.Name}, {f.Y, o.YAxis.Type, o.YAxis.LogBase, o.YAxis.Data, o.YAxis.Name}} {
				kind, base := "value", 0
				switch {
				case len(a.want.Categories) > 0:
					kind = "category"
				case a.want.Log:
					kind, base = "log", 10
					if a.want.Base == 2 {
						base = 2
					}
				}
				if a.got != kind || a.log != base || !slices.Equal(a.data, a.want.Categories) {
					t.Errorf("axis %q is of type %s, base %d, want %s, %d", a.want.Name, a.got, a.log, kind, base)
				}
				if a.name != a.want.Name && a.name != a.want.title() || a.want.Unit == "FLOP/s" && a.name != a.want.title() {
					t.Errorf("axis %q is called %q", a.want.title(), a.name)
				}
			}
			for i, s := range f.Series {
				got := o.Series[i]
				if got.Type != types[s.Kind] || got.Name != s.Name || (got.Step == "end") != (s.Kind == Steps) || (got.LineStyle.Type == "dashed") != s.Dashed {
					t.Errorf("series %q is %+v", s.Name, got)
				}
				for j, p := range s.Points {
					d := got.Data[j]
					if len(f.X.Categories) == 0 && (d[0] != p.X || d[2] != num.Value(p.X, f.X.Unit, f.X.Base)) ||
						len(f.Y.Categories) == 0 && (d[1] != p.Y || d[3] != num.Value(p.Y, f.Y.Unit, f.Y.Base)) {
						t.Errorf("series %q, point %d is %v, want %+v", s.Name, j, d, p)
					}
					if p.Label != "" && d[4] != p.Label {
						t.Errorf("series %q, point %d has the label %v, want %q", s.Name, j, d[4], p.Label)
					}
				}
			}
			if len(f.Marks) > 0 {
				if bad := misplaced(f.Marks, o.Series[len(f.Series)].MarkLine.Data); bad != "" {
					t.Error(bad)
				}
			}
		})
	}
}

// misplaced names the first mark that does not stand at its value.
func misplaced(want []Mark, got []any) string {
	for i, m := range want {
		line, _ := got[i].(map[string]any)
		if line[string(m.Axis)+"Axis"] != m.At || line["name"] != m.Label {
			return fmt.Sprintf("mark %q at %v is %v", m.Label, m.At, line)
		}
	}
	return ""
}

func TestARoundedMarkIsFound(t *testing.T) {
	marks := []Mark{{'y', 153.01618440412947, "ridge"}, {'x', 0.001234567, "least"}}
	planted := []any{map[string]any{"yAxis": 153.02, "name": "ridge"}, map[string]any{"xAxis": 0.001234567, "name": "least"}}
	if misplaced(marks, planted) == "" {
		t.Error("a mark that is rounded to two decimals is not found")
	}
	f := Figure{ID: "f", Series: []Series{{Points: []Point{{X: 1, Y: 1}}}}, Marks: marks}
	if bad := misplaced(marks, optionOf(t, f).Series[1].MarkLine.Data); bad != "" {
		t.Error(bad)
	}
}

// A reader's bounds, and the units in which ticks are written.
func TestAxes(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name     string
		axis     Axis
		min, max *float64
		title    string
		steps    int
		first    any
	}{
		{"chosen from the data", Axis{Name: "rate", Unit: "GFLOP/s"}, nil, nil, "rate (GFLOP/s)", 0, nil},
		{"bounds", Axis{Name: "b", Min: 140, Max: 170}, number(140), number(170), "b", 0, nil},
		{"from zero", Axis{Name: "b", Max: 5}, number(0), number(5), "b", 0, nil},
		{"a log axis from its data", Axis{Name: "b", Log: true, Max: 5}, nil, number(5), "b", 7, ""},
		{"seconds", Axis{Name: "time", Unit: "s"}, nil, nil, "time", 5, " ps"},
		{"bytes in powers of two", Axis{Name: "cache", Unit: "bytes", Log: true, Base: 2}, nil, nil, "cache", 7, " B"},
		{"powers of two", Axis{Name: "n", Log: true, Base: 2}, nil, nil, "n", 0, nil},
	} {
		f := Figure{ID: "f", Y: c.axis, Series: []Series{{Points: []Point{{X: 1, Y: 3}}}}}
		o := optionOf(t, f)
		if !reflect.DeepEqual(o.YAxis.Min, c.min) || !reflect.DeepEqual(o.YAxis.Max, c.max) || o.YAxis.Name != c.title {
			t.Errorf("%s: %+v", c.name, o.YAxis)
		}
		if len(o.MW.Y.Steps) != c.steps || c.steps > 0 && o.MW.Y.Steps[0][1] != c.first {
			t.Errorf("%s: steps %v", c.name, o.MW.Y.Steps)
		}
	}
	if o := optionOf(t, Figure{ID: "f", Y: Axis{Categories: []string{"a"}}, Series: []Series{{Kind: Bars, Points: []Point{{X: 1}}}}}); !o.YAxis.Inverse {
		t.Error("the first category is not on top")
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	line := func(change func(*Figure)) Figure {
		f := Figure{ID: "f", Title: "t", Series: []Series{{Name: "s", Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}}}}
		change(&f)
		return f
	}
	set := func(x, y float64) func(*Figure) {
		return func(f *Figure) { f.Series[0].Points[1] = Point{X: x, Y: y} }
	}
	log := func(f *Figure) { f.X.Log, f.Y.Log = true, true }
	bars := func(f *Figure) { f.Series[0].Kind = Bars; f.X.Categories = []string{"a", "b"} }
	both := func(a, b func(*Figure)) func(*Figure) { return func(f *Figure) { a(f); b(f) } }
	for _, c := range []struct {
		name   string
		figure Figure
		want   string // "" where it can be drawn
	}{
		{"a line", line(func(*Figure) {}), ""},
		{"NaN", line(set(2, nan)), `series "s", point 2: Y is NaN: it must be finite`},
		{"NaN in X", line(set(nan, 2)), `series "s", point 2: X is NaN: it must be finite`},
		{"infinity", line(set(2, inf)), "Y is +Inf: it must be finite"},
		{"minus infinity", line(set(-inf, 1)), "X is -Inf: it must be finite"},
		{"zero on a linear axis", line(set(0, 0)), ""},
		{"zero on a log axis", line(both(log, set(2, 0))), "Y is 0: a log axis has no place for it, so it must be positive"},
		{"negative on a log axis", line(both(log, set(-1, 2))), "X is -1: a log axis has no place for it"},
		{"NaN on a log axis", line(both(log, set(2, nan))), "Y is NaN: it must be finite"},
		{"no series", line(func(f *Figure) { f.Series = nil }), "it has no series"},
		{"no points", line(func(f *Figure) { f.Series[0].Points = nil }), `series "s" has no points`},
		{"no ID", line(func(f *Figure) { f.ID = "" }), `ID is ""`},
		{"odd ID", line(func(f *Figure) { f.ID = "a b" }), `ID is "a b"`},
		{"ID that starts with a digit", line(func(f *Figure) { f.ID = "1a" }), `ID is "1a"`},
		{"odd kind", line(func(f *Figure) { f.Series[0].Kind = 9 }), "kind is 9"},
		{"odd base", line(func(f *Figure) { f.X.Log, f.X.Base = true, 3 }), "X axis: base is 3: it must be 2 or 10"},
		{"base without log", line(func(f *Figure) { f.X.Base = 2 }), "only a log axis has a base"},
		{"bounds the wrong way round", line(func(f *Figure) { f.Y.Min, f.Y.Max = 3, 2 }), "Y axis: bounds are 3 and 2"},
		{"NaN bound", line(func(f *Figure) { f.Y.Min = nan }), "least value is NaN"},
		{"infinite bound", line(func(f *Figure) { f.Y.Max = inf }), "greatest value is +Inf"},
		{"negative bound on a log axis", line(func(f *Figure) { f.Y.Log = true; f.Y.Min = -1 }), "least value is -1"},
		{"bars without categories", line(func(f *Figure) { f.Series[0].Kind = Bars }), "one axis must have categories"},
		{"bars", line(bars), ""},
		{"a NaN bar", line(both(bars, set(0, nan))), "Y is NaN"},
		{"a zero bar on a log axis", line(both(bars, func(f *Figure) { f.Y.Log = true; f.Series[0].Points[0].Y = 0 })), "Y is 0"},
		{"a coordinate on the axis of categories is not read", line(both(bars, set(nan, 2))), ""},
		{"too few categories", line(both(bars, func(f *Figure) { f.X.Categories = []string{"a"} })), "has 2 points: it must have 1"},
		{"categories on both axes", line(both(bars, func(f *Figure) { f.Y.Categories = []string{"a", "b"} })), "both axes have categories"},
		{"categories on a log axis", line(both(bars, func(f *Figure) { f.X.Log = true })), "it cannot be a log axis too"},
		{"a mark on no axis", line(func(f *Figure) { f.Marks = []Mark{{'z', 1, ""}} }), "mark 1: axis is 'z'"},
		{"a NaN mark", line(func(f *Figure) { f.Marks = []Mark{{'y', nan, ""}} }), "mark 1 on the y axis: At is NaN"},
		{"a zero mark on a log axis", line(both(log, func(f *Figure) { f.Marks = []Mark{{'x', 0, ""}} })), "mark 1 on the x axis: At is 0"},
		{"a mark on categories", line(both(bars, func(f *Figure) { f.Marks = []Mark{{'x', 1, ""}} })), "the x axis has categories"},
		{"too wide", line(func(f *Figure) { f.Width = 100000 }), "width is 100000 pixels"},
		{"too low", line(func(f *Figure) { f.Height = -1 }), "height is -1 pixels"},
		{"a table that does not fit", line(func(f *Figure) { f.Table = &Table{Columns: []string{"a"}, Rows: [][]any{{1, 2}}} }), "row 1 has 2 cells: it must have 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.figure.Option()
			if c.want == "" {
				if err != nil {
					t.Fatalf("error %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q in it", err, c.want)
			}
			blocks, status := record(t, true, c.figure.Show)
			if status != 1 || len(blocks) != 1 || !strings.Contains(blocks[0].Text, c.want) {
				t.Errorf("Show ended with %d and showed %v, want 1 and the error", status, blocks)
			}
		})
	}
}

func TestRooflineErrors(t *testing.T) {
	a := roofline.A100()
	broken := a
	broken.Bandwidth = 0
	for _, c := range []struct {
		name     string
		machines []roofline.Machine
		dots     []Dot
		want     string
	}{
		{"no machine", nil, nil, "machines is empty"},
		{"a machine that is none", []roofline.Machine{broken}, nil, "bandwidth is 0"},
		{"a dot without intensity", []roofline.Machine{a}, []Dot{{Name: "d", FLOPS: 1}}, `dot "d": intensity is 0 FLOP/byte`},
		{"a NaN dot", []roofline.Machine{a}, []Dot{{Name: "d", Intensity: math.NaN(), FLOPS: 1}}, "intensity is NaN"},
		{"a dot below zero", []roofline.Machine{a}, []Dot{{Name: "d", Intensity: 1, FLOPS: -1}}, "performance is -1 FLOP/s"},
		{"a dot of another machine", []roofline.Machine{a}, []Dot{{Name: "d", Intensity: 1, On: "mine"}}, `held against "mine"`},
		{"an infinite dot", []roofline.Machine{a}, []Dot{{Name: "d", Intensity: 1, FLOPS: math.Inf(1)}}, "performance is +Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, status := record(t, false, func() { Roofline("f", "t", "a", c.machines, c.dots) })
			if status != 1 || !strings.Contains(blocks[0].Text, c.want) {
				t.Errorf("status %d, showed %v, want %q", status, blocks, c.want)
			}
		})
	}
}

func TestRooflineLeavesTheDotsAlone(t *testing.T) {
	dots := []Dot{{Name: "d", Intensity: 1}}
	f := Roofline("f", "t", "a", []roofline.Machine{roofline.A100()}, dots)
	if dots[0].FLOPS != 0 {
		t.Error("it changed the caller's dots")
	}
	last := f.Series[len(f.Series)-1].Points[0]
	if last.Y != roofline.A100().Bandwidth {
		t.Errorf("the dot stands at %v FLOP/s, want what is attainable, %v", last.Y, roofline.A100().Bandwidth)
	}
}

// The roofs of one machine share their peak: each is named along its slope, and
// what they have in common once. Roofs of several machines are named above their
// flat parts, or at their ends where the names are long.
func TestNamesOfRoofs(t *testing.T) {
	roof := func(name string, peak, bandwidth float64) roofline.Machine {
		return roofline.Machine{Name: name, Format: "FP32", ElemBytes: 4, Peak: peak, Bandwidth: bandwidth}
	}
	for _, c := range []struct {
		name     string
		machines []roofline.Machine
		along    string
		ends     int
	}{
		{"one", []roofline.Machine{roof("chip", 1e12, 1e11)}, "chip, peak 1 TFLOP/s|100 GB/s", 0},
		{"two of one peak beside another", []roofline.Machine{roof("one", 1e12, 1e11), roof("near", 2e12, 4e11), roof("far", 2e12, 2e11)},
			"one, peak 1 TFLOP/s|100 GB/s|near, peak 2 TFLOP/s|400 GB/s|far, 200 GB/s", 0},
		{"levels", []roofline.Machine{roof("L1, one core", 1e12, 1e11), roof("L2, one core", 1e12, 1e10)},
			"one core, peak 1 TFLOP/s|L1, 100 GB/s|L2, 10 GB/s", 0},
		{"nothing in common", []roofline.Machine{roof("L1, one core", 1e12, 1e11), roof("L2, two cores", 1e12, 1e10), roof("L3", 1e12, 1e9)},
			"peak 1 TFLOP/s|L1, one core, 100 GB/s|L2, two cores, 10 GB/s|L3, 1 GB/s", 0},
		{"two machines", []roofline.Machine{roof("a", 1e12, 1e11), roof("b", 2e12, 1e10)},
			"a, peak 1 TFLOP/s|100 GB/s|b, peak 2 TFLOP/s|10 GB/s", 0},
		{"two machines with long names", []roofline.Machine{roof("a processor with a very long name", 1e12, 1e11), roof("b", 2e12, 1e10)},
			"1 TFLOP/s|100 GB/s|2 TFLOP/s|10 GB/s", 2},
	} {
		f := Roofline("f", "t", "a", c.machines, nil)
		var along []string
		for _, a := range f.along {
			along = append(along, a.Text)
		}
		if got := strings.Join(along, "|"); got != c.along {
			t.Errorf("%s: along the roofs stands %q, want %q", c.name, got, c.along)
		}
		if f.namedAlong != (c.ends == 0) {
			t.Errorf("%s: named along the roofs %t", c.name, f.namedAlong)
		}
		if want := 2 - min(len(c.machines), 2); (len(f.shades) > 0) != (want == 1) {
			t.Errorf("%s: %d shaded stretches", c.name, len(f.shades))
		}
	}
}

// On one roof, a dotted line shows what a program leaves unused.
func TestGapsBelowARoof(t *testing.T) {
	m := roofline.Machine{Name: "m", Format: "FP32", ElemBytes: 4, Peak: 100e9, Bandwidth: 10e9}
	f := Roofline("f", "t", "a", []roofline.Machine{m}, []Dot{
		{Name: "far", Intensity: 1, FLOPS: 1e9}, {Name: "near", Intensity: 2, FLOPS: 18e9}, {Name: "at", Intensity: 50}})
	if len(f.gaps) != 1 || f.gaps[0] != (gap{1, 1e9, 10e9}) {
		t.Errorf("gaps are %v, want one, from 1e9 to 10e9 at 1", f.gaps)
	}
	if marks := fmt.Sprint(optionOf(t, f).Series[2].MarkLine.Data); !strings.Contains(marks, "coord:[1 1e+09]") || !strings.Contains(marks, "dotted") {
		t.Errorf("the gap is not in the option: %s", marks)
	}
}

// A dot above its roof is marked, and an error below the figure says why; one
// above another roof than its own is not.
func TestRooflineAboveItsRoof(t *testing.T) {
	near := roofline.Machine{Name: "cache", Format: "FP32", ElemBytes: 4, Peak: 100e9, Bandwidth: 100e9}
	far := near
	far.Name, far.Bandwidth = "memory", 10e9
	for _, rich := range []bool{false, true} {
		show := func(dots ...Dot) block {
			t.Helper()
			blocks, status := record(t, rich, func() { Roofline("f", "t", "a", []roofline.Machine{near, far}, dots).Show() })
			if status != -1 || len(blocks) != 1 {
				t.Fatalf("status %d, %d blocks", status, len(blocks))
			}
			return blocks[0]
		}
		text := func(b block) string {
			if rich {
				return b.HTML
			}
			return b.Text
		}
		for _, c := range []struct {
			dot  Dot
			want string
		}{
			{Dot{Name: "gemv", Intensity: 0.5, FLOPS: 30e9, On: "memory"}, "nearer level of memory"},
			{Dot{Name: "gemm", Intensity: 50, FLOPS: 150e9}, "above the peak itself"},
		} {
			got := text(show(c.dot))
			for _, want := range []string{c.want, "A dot above its roof", aboveRoof + c.dot.Name, SI(c.dot.FLOPS, "FLOP/s")} {
				if !strings.Contains(got, want) {
					t.Errorf("rich %t, %s: no %q in what is shown", rich, c.dot.Name, want)
				}
			}
			// The measurement may be wrong, and the cell goes on: no alert.
			if rich && (!strings.Contains(got, `role="note"`) || strings.Contains(got, `role="alert"`)) {
				t.Errorf("%s: must be shown as a note", c.dot.Name)
			}
		}
		for _, d := range []Dot{
			{Name: "gemv", Intensity: 0.5, FLOPS: 30e9},
			{Name: "gemv", Intensity: 0.5, FLOPS: 4.9e9, On: "memory"},
			{Name: "gemv", Intensity: 0.5, On: "memory"},
		} {
			if got := text(show(d)); strings.Contains(got, "above its roof") || strings.Contains(got, "✗") {
				t.Errorf("rich %t, %+v: shown as an error", rich, d)
			}
		}
	}
	f := Roofline("f", "t", "a", []roofline.Machine{near, far}, []Dot{{Name: "gemv", Intensity: 0.5, On: "memory"}})
	if y := f.Series[len(f.Series)-1].Points[0].Y; y != 5e9 {
		t.Errorf("what is attainable on its own machine is %v, want 5e9", y)
	}
}

// What stands in the page must not be able to end the script or the attribute
// that it stands in.
func TestMarkupOfAFigure(t *testing.T) {
	var hostile Figure
	for _, f := range gallery(t) {
		if f.ID == "hostile" {
			hostile = f
		}
	}
	option, err := hostile.Option()
	if err != nil {
		t.Fatal(err)
	}
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`)
	html := markup(t, hostile, option, svg)
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d script elements, want 2", n)
	}
	if n := strings.Count(html, "</script"); n != 2 {
		t.Errorf("%d ends of script elements, want 2", n)
	}
	for _, bad := range []string{"<img src=x", "<i>x</i>", "<u>1</u>", "<!--"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
	data := regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`).FindStringSubmatch(html)
	var parsed struct {
		Width, Height int
		Option        map[string]any
		CSV           string
	}
	if err := json.Unmarshal([]byte(data[1]), &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.Width != defaultWidth || parsed.Height != defaultHeight || len(parsed.Option) == 0 {
		t.Errorf("the data are %d by %d with %d options", parsed.Width, parsed.Height, len(parsed.Option))
	}
	if rows := table(t, parsed.CSV); len(rows) != 1+len(hostile.Series[0].Points) || rows[0][1] != hostile.X.Name || rows[1][0] != hostile.Series[0].Points[0].Label {
		t.Errorf("the data are %q", rows)
	}
	if !strings.Contains(html, base64.StdEncoding.EncodeToString(svg)) {
		t.Error("the picture is missing")
	}
	without := markup(t, hostile, option, nil)
	if strings.Contains(without, "<img") || !strings.Contains(without, esc(hostile.Alt)) {
		t.Error("without a picture its text must stand in")
	}
}

// markup returns the figure as a page shows it.
func markup(t *testing.T, f Figure, option, svg []byte) string {
	t.Helper()
	html, err := f.html(option, svg, f.numbers())
	if err != nil {
		t.Fatal(err)
	}
	return html
}

// table reads a file of data.
func table(t *testing.T, data string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatalf("%v: %q", err, data)
	}
	return rows
}

// The file of data holds what the table behind the figure holds, in full: the
// same numbers, not what is left of them when they are shown.
func TestDataOfFigures(t *testing.T) {
	third := 1.0 / 3
	line := func(name string, ys ...float64) Series {
		s := Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, Point{X: float64(int(1) << i), Y: y})
		}
		return s
	}
	labelled := line("", 2039e9*third)
	labelled.Points[0].Label = `a "quoted", long name`
	n, time, size := Axis{Name: "n"}, Axis{Name: "time", Unit: "s"}, Axis{Name: "fast memory", Unit: "bytes", Log: true, Base: 2}
	for _, c := range []struct {
		name   string
		figure Figure
		want   string
	}{
		{"one series", Figure{X: n, Y: time, Series: []Series{line("", third/1000, 1234567)}},
			"n,time (s)\r\n1,0.0003333333333333333\r\n2,1234567\r\n"},
		{"several series", Figure{X: size, Y: Axis{Name: "intensity", Unit: "FLOP/byte"}, Series: []Series{line("float32", third), line("FP16", 2*third)}},
			"fast memory (bytes),float32 (FLOP/byte),FP16 (FLOP/byte)\r\n1,0.3333333333333333,0.6666666666666666\r\n"},
		{"a name with a comma", Figure{X: n, Y: Axis{Name: "rate", Unit: "FLOP/s"}, Series: []Series{labelled}},
			"point,n,rate (FLOP/s)\r\n\"a \"\"quoted\"\", long name\",1,679666666666.6666\r\n"},
		{"bars", Figure{X: Axis{Name: "kernel", Categories: []string{"loops"}}, Y: Axis{Name: "rate", Unit: "FLOP/s"}, Series: []Series{{Kind: Bars, Points: []Point{{Y: 123456789.125}}}}},
			"kernel,rate (FLOP/s)\r\nloops,123456789.125\r\n"},
		{"its own table", Figure{Table: &Table{Columns: []string{"b", "loads", "bound", "none", "share"}, Rows: [][]any{{int64(4096), 1e300, "memory-bound", nil, float32(0.1)}}}},
			"b,loads,bound,none,share\r\n4096,1e+300,memory-bound,,0.1\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.figure.numbers().csv()
			if err != nil || got != c.want {
				t.Errorf("%q (%v), want %q", got, err, c.want)
			}
		})
	}
	chip := roofline.A100()
	ridge := chip.Ridge()
	data, err := Roofline("f", "t", "a", []roofline.Machine{chip}, []Dot{{Name: "naive", Intensity: third}}).numbers().csv()
	if err != nil {
		t.Fatal(err)
	}
	rows := table(t, data)
	for _, c := range []struct {
		row, column int
		want        float64
	}{{1, 1, ridge}, {1, 2, chip.Peak}, {2, 1, third}, {2, 2, chip.Bandwidth * third}, {2, 3, 100 * (chip.Bandwidth * third) / chip.Peak}, {2, 4, 100}} {
		if got, err := strconv.ParseFloat(rows[c.row][c.column], 64); err != nil || got != c.want {
			t.Errorf("row %d, column %q is %q, want %v", c.row, rows[0][c.column], rows[c.row][c.column], c.want)
		}
	}
}

// The picture and the live chart are called the same: the claim, then the
// finding.
func TestFigureInWords(t *testing.T) {
	for _, c := range []struct{ title, alt, want string }{
		{"Figure 2.1. On the slope", "A line.", "Figure 2.1. On the slope. A line."},
		{"It grows.", "A line.", "It grows. A line."},
		{"It grows", "", "It grows"},
		{"", "A line.", "A line."},
	} {
		f := Figure{ID: "f", Title: c.title, Alt: c.alt, Series: []Series{{Points: []Point{{X: 1, Y: 1}}}}}
		option, err := f.Option()
		if err != nil {
			t.Fatal(err)
		}
		html := markup(t, f, option, []byte("<svg/>"))
		if !strings.Contains(html, `alt="`+c.want+`"`) {
			t.Errorf("no alt text %q in %s", c.want, html)
		}
		if aria := optionOf(t, f).Aria.Label.Description; aria != c.want {
			t.Errorf("the live chart is called %q, want %q", aria, c.want)
		}
	}
}

func TestFigureInText(t *testing.T) {
	f := Figure{
		ID: "f", Title: "Intensity grows", Alt: "A line upwards.",
		X: Axis{Name: "n"}, Y: Axis{Name: "intensity", Unit: "FLOP/byte"},
		Series: []Series{{Name: "float32", Points: []Point{{X: 2, Y: 1.0 / 3}, {X: 16, Y: 8.0 / 3}}}, {Name: "FP16", Points: []Point{{X: 2, Y: 2.0 / 3}, {X: 16, Y: 16.0 / 3}}}},
	}
	blocks, status := record(t, false, f.Show)
	if status != -1 || len(blocks) != 1 || blocks[0].HTML != "" {
		t.Fatalf("status %d, blocks %v", status, blocks)
	}
	golden(t, "figure.txt", []byte(blocks[0].Text))
}

func TestNumbers(t *testing.T) {
	lineOf := func(name string, xs ...float64) Series {
		s := Series{Name: name}
		for _, x := range xs {
			s.Points = append(s.Points, Point{X: x, Y: 2 * x})
		}
		return s
	}
	own := &Table{Columns: []string{"mine"}, Rows: [][]any{{1}}}
	labelled := lineOf("a", 1)
	labelled.Points[0].Label = "here"
	x, y := Axis{Name: "n"}, Axis{Name: "time", Unit: "s"}
	for _, c := range []struct {
		name    string
		figure  Figure
		columns string
		rows    int
		first   string
	}{
		{"own table", Figure{Table: own}, "mine", 1, "1"},
		{"one series", Figure{X: x, Y: y, Series: []Series{lineOf("", 1, 2)}}, "n|time", 2, "1|2 s"},
		{"shared X", Figure{X: x, Y: y, Series: []Series{lineOf("a", 1, 2), lineOf("b", 1, 2)}}, "n|a|b", 2, "1|2 s|2 s"},
		{"each its own X", Figure{X: x, Y: y, Series: []Series{lineOf("a", 1, 2), lineOf("b", 3)}}, "series|n|time", 3, "a|1|2 s"},
		{"labels", Figure{X: x, Y: y, Series: []Series{labelled}}, "point|n|time", 1, "here|1|2 s"},
		{"upright bars", Figure{X: Axis{Name: "what", Categories: []string{"p"}}, Y: y, Series: []Series{{Name: "s", Kind: Bars, Points: []Point{{Y: 0.5}}}}}, "what|s", 1, "p|500 ms"},
		{"level bars", Figure{Y: Axis{Name: "what", Categories: []string{"p"}}, X: y, Series: []Series{{Kind: Bars, Points: []Point{{X: 0.5}}}}}, "what|time", 1, "p|500 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := c.figure.numbers()
			if err := table.check(); err != nil {
				t.Fatal(err)
			}
			var first []string
			for _, v := range table.Rows[0] {
				first = append(first, plain(v))
			}
			if got := strings.Join(table.Columns, "|"); got != c.columns {
				t.Errorf("columns %q, want %q", got, c.columns)
			}
			if got := strings.Join(first, "|"); got != c.first || len(table.Rows) != c.rows {
				t.Errorf("%d rows, the first %q, want %d and %q", len(table.Rows), got, c.rows, c.first)
			}
		})
	}
}

func TestMillionPoints(t *testing.T) {
	const n, peak = 1_000_000, 777_777
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{X: float64(i), Y: math.Sin(float64(i) / 1e5)}
	}
	points[peak].Y = 3
	f := Figure{ID: "f", Title: "t", Series: []Series{{Name: "noise", Points: points}}}
	blocks, status := record(t, true, f.Show)
	if status != -1 {
		t.Fatal(blocks)
	}
	if size := len(blocks[0].HTML); size > 400_000 {
		t.Errorf("the page gets %d bytes", size)
	}
	for _, text := range []string{blocks[0].Text, blocks[0].HTML} {
		if !strings.Contains(text, "noise: ") || !strings.Contains(text, "of 1,000,000 points are drawn") {
			t.Error("nothing says that points were left out of the picture")
		}
		if !strings.Contains(text, "100 of 1,000,000 rows, evenly chosen. The file of data has 2,000.") {
			t.Error("nothing says that rows were left out of the table")
		}
	}
	data, err := f.numbers().csv()
	if err != nil {
		t.Fatal(err)
	}
	if rows := table(t, data); len(rows) != 1+maxSaved || rows[maxSaved][0] != "999999" {
		t.Errorf("the file of data has %d rows, the last %q", len(rows), rows[len(rows)-1])
	}
	f.Series[0].Points = points[:maxRows+1]
	if data, err = f.numbers().csv(); err != nil || len(table(t, data)) != 1+maxRows+1 {
		t.Errorf("the file of data of %d rows has %d (%v)", maxRows+1, len(table(t, data))-1, err)
	}
	f.Series[0].Points = points
	if len(f.Series[0].Points) != n {
		t.Error("the caller's points were thinned")
	}
	kept := thinned(points, maxDrawn)
	if len(kept) > maxDrawn || len(kept) < maxDrawn/4 {
		t.Errorf("%d points kept of at most %d", len(kept), maxDrawn)
	}
	found := false
	for i, p := range kept {
		found = found || p == points[peak]
		if i > 0 && p.X <= kept[i-1].X {
			t.Fatalf("points out of order at %d", i)
		}
	}
	if !found {
		t.Error("the peak was lost")
	}
	if kept[0] != points[0] || kept[len(kept)-1] != points[n-1] {
		t.Error("an end was lost")
	}
}

// A value that gets past Check must still be an error, and no blank chart.
func TestMarshalErrorIsReturned(t *testing.T) {
	f := Figure{ID: "f", Title: "t", Series: []Series{{Points: []Point{{X: 1, Y: math.NaN()}}}}}
	_, err := f.option()
	var unsupported *json.UnsupportedValueError
	if !errors.As(err, &unsupported) {
		t.Errorf("error %v, want an unsupported value", err)
	}
}
