package explore

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"math/rand"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memorywall/pkg/chips"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/roofline"
	"memorywall/pkg/serving"
	"memorywall/pkg/tiling"
	"memorywall/pkg/transformer"
)

// draw draws settings that must be right. They come in pairs of key and text.
func draw(t *testing.T, name string, pairs ...string) View {
	t.Helper()
	settings := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		settings[pairs[i]] = pairs[i+1]
	}
	v, err := Draw(name, settings, 760)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range v.Errors {
		t.Fatalf("%s %v: %s: %s", name, pairs, e.Key, e.Message)
	}
	return v
}

// value returns one of the values shown.
func (v View) value(t *testing.T, key string) Value {
	t.Helper()
	at := slices.IndexFunc(v.Values, func(w Value) bool { return w.Key == key })
	if at < 0 {
		t.Fatalf("%s shows no value %q", v.Name, key)
	}
	return v.Values[at]
}

// same compares values shown with what the packages give.
func (v View) same(t *testing.T, want map[string]float64) {
	t.Helper()
	for key, number := range want {
		if got := v.value(t, key); got.Number != number || got.None {
			t.Errorf("%s?%s: %s is %v, want %v", v.Name, v.Query, key, got.Number, number)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRooflineIsTheModels(t *testing.T) {
	for _, c := range []struct {
		machine roofline.Machine
		g       roofline.GEMM
		way     string
		tile    int64
	}{
		{roofline.A100(), roofline.Square(4096, 2), compulsory, 1},
		{roofline.A100(), roofline.Square(4096, 2), naive, 1},
		{roofline.A100(), roofline.Square(4096, 2), tiled, 342},
		{roofline.A100(), roofline.GEMM{M: 1, N: 4096, K: 11008, ElemBytes: 2}, compulsory, 1},
		{chips.Named("NVIDIA H100 SXM").Machine("FP8"), roofline.GEMM{M: 1_000_000, N: 999_999, K: 1_000_000, ElemBytes: 1}, naive, 1},
		{roofline.Machine{Name: "toy", ElemBytes: 4, Peak: 8, Bandwidth: 2}, roofline.Square(2, 4), compulsory, 1},
		{roofline.Machine{Name: "toy", ElemBytes: 16, Peak: 1, Bandwidth: 1e18}, roofline.GEMM{M: 7, N: 5, K: 3, ElemBytes: 16}, tiled, 2},
		{roofline.Machine{Name: "odd", ElemBytes: 3, Peak: 1e21, Bandwidth: 1}, roofline.GEMM{M: 7, N: 1, K: 3, ElemBytes: 3}, tiled, 1_000_000},
	} {
		v := draw(t, "roofline", "peak", exact(c.machine.Peak), "bandwidth", exact(c.machine.Bandwidth), "elem", fmt.Sprint(c.machine.ElemBytes),
			"m", fmt.Sprint(c.g.M), "n", fmt.Sprint(c.g.N), "k", fmt.Sprint(c.g.K), "traffic", c.way, "b", fmt.Sprint(c.tile))
		traffic := tiling.Compulsory(c.g)
		switch c.way {
		case naive:
			traffic = tiling.Naive(c.g)
		case tiled:
			traffic = tiling.Tiled(c.g, c.tile)
		}
		intensity := traffic.Intensity(c.g.ElemBytes)
		bytes := num.Sum{{traffic.Loads + traffic.Stores, c.g.ElemBytes}}.Float64()
		floors := c.machine.Times(float64(traffic.FLOPs), bytes)
		attainable := c.machine.Attainable(intensity)
		v.same(t, map[string]float64{
			"work": float64(traffic.FLOPs), "loads": float64(traffic.Loads), "stores": float64(traffic.Stores), "bytes": bytes,
			"intensity": intensity, "ridge": c.machine.Ridge(), "attainable": attainable, "share": attainable / c.machine.Peak,
			"compute-time": floors.Compute, "memory-time": floors.Memory, "overlapped": floors.Overlapped(),
		})
		if got, want := v.value(t, "bound").Text, c.machine.Classify(intensity).String(); got != want {
			t.Errorf("%s: the multiply is %s, want %s", v.Query, got, want)
		}
	}
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func TestEveryChipOfTheCatalogueIsAPreset(t *testing.T) {
	for _, c := range catalogue() {
		for _, rate := range c.Rates {
			m := c.Machine(rate.Format)
			for _, name := range []string{slug(c.Name), c.Name, strings.ToUpper(c.Name)} {
				v := draw(t, "decode", "chip", name, "format", rate.Format)
				v.same(t, map[string]float64{"ridge": m.Ridge(), "alone": roofline.TokensPerSecond(m, 7e9)})
				if v.Settings["chip"] != slug(c.Name) || v.Settings["format"] != rate.Format || v.Settings["peak"] != "" {
					t.Errorf("%s, %s: settings %v", name, rate.Format, v.Settings)
				}
				if len(v.Notes) < 2 || !strings.Contains(v.Notes[0], m.Source) {
					t.Errorf("%s: the notes do not tell the source: %q", name, v.Notes)
				}
			}
		}
	}
}

// A figure that differs from the catalogue's makes the chip the reader's own, and
// one that is the same does not.
func TestFiguresOfYourOwn(t *testing.T) {
	a100 := roofline.A100()
	v := draw(t, "roofline", "chip", slug(a100.Name), "peak", "312 TFLOP/s", "bandwidth", "2039GB/s", "elem", "2")
	if v.Settings["chip"] != slug(a100.Name) {
		t.Errorf("the chip's own figures make it %q", v.Settings["chip"])
	}
	v = draw(t, "roofline", "chip", slug(a100.Name), "peak", "624T")
	want := map[string]string{"chip": ownChip, "peak": "624T", "bandwidth": "2.039T", "elem": "2"}
	for key, text := range want {
		if v.Settings[key] != text {
			t.Errorf("with another peak, %s is %q, want %q", key, v.Settings[key], text)
		}
	}
	v.same(t, map[string]float64{"ridge": 624e12 / 2039e9})
	if _, ok := v.Settings["format"]; ok {
		t.Error("the reader's own chip has a number format of the catalogue")
	}
	// To choose an option is to follow what it sets.
	chip := v.Controls[slices.IndexFunc(v.Controls, func(c Control) bool { return c.Key == "chip" })]
	for _, o := range chip.Options {
		next := maps.Clone(v.Settings)
		next["chip"] = o.Value
		for key, text := range o.Sets {
			next[key] = text
		}
		after, err := Draw("roofline", next, 760)
		if err != nil || len(after.Errors) > 0 || after.Settings["chip"] != o.Value {
			t.Errorf("choosing %q leads to %v, %v", o.Value, after.Settings, after.Errors)
		}
	}
}

func TestTileIsTheModels(t *testing.T) {
	for _, c := range []struct{ n, b, elem, capacity int64 }{
		{4096, 342, 2, 1 << 20}, {4096, 64, 2, 16 << 10}, {4096, 4096, 4, 1 << 30}, {1, 1, 16, 48}, {10, 3, 1, 3},
		{1_664_510, 7, 2, 1 << 40}, {5, 1_000_000_000, 8, 1 << 60}, {1_000_000, 1, 2, 1000},
	} {
		v := draw(t, "tile", "n", fmt.Sprint(c.n), "b", fmt.Sprint(c.b), "elem", fmt.Sprint(c.elem), "capacity", fmt.Sprint(c.capacity))
		traffic := tiling.Tiled(roofline.Square(c.n, c.elem), c.b)
		largest := tiling.LargestTile(c.capacity, c.elem)
		need := num.Sum{{3, c.b, c.b, c.elem}}
		v.same(t, map[string]float64{
			"tiles": float64(tiling.TilesPerSide(c.n, c.b)), "loads": float64(traffic.Loads), "stores": float64(traffic.Stores),
			"bytes": num.Sum{{traffic.Loads, c.elem}, {traffic.Stores, c.elem}}.Float64(), "need": need.Float64(),
			"intensity": tiling.Intensity(c.n, c.b, c.elem), "largest": float64(largest), "best": tiling.Intensity(c.n, largest, c.elem),
		})
		if need, err := arg.Try(func() int64 { return tiling.FastBytes(c.b, c.elem) }); err == nil {
			if got := strings.HasPrefix(v.value(t, "fit").Text, "yes"); got != (need <= c.capacity) || got != (c.b <= largest) {
				t.Errorf("%s: three tiles fit: %s; they need %d", v.Query, v.value(t, "fit").Text, need)
			}
		}
	}
}

// The step computed directly is the one that the loops come to, with the totals
// that they add up.
func TestTurnIsTheLoopsOwn(t *testing.T) {
	for _, c := range []struct{ n, b int64 }{{1, 1}, {1, 5}, {4, 2}, {5, 2}, {7, 3}, {10, 3}, {12, 1}, {12, 5}, {13, 12}, {13, 13}, {100, 17}} {
		l := loops{n: c.n, b: c.b, tiles: tiling.TilesPerSide(c.n, c.b)}
		g := roofline.Square(c.n, 1)
		var total tiling.Traffic
		number := int64(0)
		for s := range tiling.Steps(g, c.b) {
			number++
			total.Loads += s.Loads
			total.FLOPs += 2 * s.Rows * s.Cols * s.Depth
			stores := s.P == l.tiles-1
			if stores {
				total.Stores += s.Rows * s.Cols
			}
			got := l.turn(big.NewInt(number))
			if (tiling.Step{I: got.i, J: got.j, P: got.p, Rows: got.rows, Cols: got.cols, Depth: got.depth, Loads: sum(t, got.loads)}) != s || got.stores != stores {
				t.Fatalf("n = %d, b = %d, step %d: %+v, want %+v", c.n, c.b, number, got, s)
			}
			if so := (tiling.Traffic{Loads: sum(t, got.loadsSoFar), Stores: sum(t, got.storesSoFar), FLOPs: sum(t, got.flops)}); so != total {
				t.Fatalf("n = %d, b = %d, step %d: so far %+v, want %+v", c.n, c.b, number, so, total)
			}
		}
		if l.steps().Cmp(big.NewInt(number)) != 0 {
			t.Errorf("n = %d, b = %d: %d steps, want %d", c.n, c.b, l.steps(), number)
		}
		if want := tiling.Tiled(g, c.b); total != want {
			t.Errorf("n = %d, b = %d: %+v, want %+v", c.n, c.b, total, want)
		}
	}
	// Far beyond what can be walked: the last step's totals are the closed form.
	for _, c := range []struct{ n, b int64 }{{1_000_000, 7}, {1_664_510, 1}, {1_000_003, 1000}} {
		l := loops{n: c.n, b: c.b, tiles: tiling.TilesPerSide(c.n, c.b)}
		end := l.turn(l.steps())
		got := tiling.Traffic{Loads: sum(t, end.loadsSoFar), Stores: sum(t, end.storesSoFar), FLOPs: sum(t, end.flops)}
		if want := tiling.Tiled(roofline.Square(c.n, 1), c.b); got != want {
			t.Errorf("n = %d, b = %d: at the end %+v, want %+v", c.n, c.b, got, want)
		}
	}
}

func sum(t *testing.T, s num.Sum) int64 {
	t.Helper()
	v, ok := s.Int64()
	if !ok {
		t.Fatalf("%v leaves int64", s)
	}
	return v
}

// Each button leads where it says, and one with nowhere to lead sets nothing.
func TestButtonsWalkTheLoops(t *testing.T) {
	at := func(step string) (View, []Button) {
		v := draw(t, "tile", "n", "10", "b", "3", "step", step)
		return v, v.Controls[len(v.Controls)-1].Buttons
	}
	for _, c := range []struct {
		from string
		want []string // first, back, on, next C tile, next row, last
	}{
		{"1", []string{"", "", "2", "5", "17", "64"}},
		{"7", []string{"1", "6", "8", "9", "17", "64"}},
		{"16", []string{"1", "15", "17", "17", "17", "64"}},
		{"63", []string{"1", "62", "64", "", "", "64"}},
		{"64", []string{"1", "63", "", "", "", ""}},
	} {
		_, buttons := at(c.from)
		var got []string
		for _, b := range buttons {
			got = append(got, b.Sets["step"])
			if b.Name == "" || b.Label == "" {
				t.Errorf("a button without a name: %+v", b)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from step %s the buttons lead to %q, want %q", c.from, got, c.want)
		}
	}
	v, _ := at("17")
	v.same(t, map[string]float64{"tile-a": 0, "tile-b": 0, "tile-c": 1})
	// Another matrix or tile has other loops.
	for _, c := range v.Controls {
		if restarts := c.Key == "n" || c.Key == "b"; restarts != reflect.DeepEqual(c.Sets, map[string]string{"step": ""}) {
			t.Errorf("a change of %s sets %v", c.Key, c.Sets)
		}
	}
}

func TestDecodeIsTheModels(t *testing.T) {
	h100 := chips.Named("NVIDIA H100 SXM").Machine("FP8")
	toy := roofline.Machine{Name: "toy", ElemBytes: 4, Peak: 8, Bandwidth: 2}
	for _, c := range []struct {
		machine roofline.Machine
		params  float64
		batch   int64
	}{
		{roofline.A100(), 7e9, 1}, {roofline.A100(), 7e9, 153}, {roofline.A100(), 7e9, 154}, {roofline.A100(), 70e9, 1024},
		{h100, 405e9, 64}, {toy, 1, 1}, {toy, 16, 8}, {toy, 1e18, 1_000_000_000},
	} {
		v := draw(t, "decode", "peak", exact(c.machine.Peak), "bandwidth", exact(c.machine.Bandwidth), "elem", fmt.Sprint(c.machine.ElemBytes),
			"params", exact(c.params), "batch", fmt.Sprint(c.batch), "width", "4096")
		bytes := roofline.WeightBytes(c.machine, c.params)
		floors := c.machine.Times(2*c.params*float64(c.batch), bytes)
		intensity := 2 * float64(c.batch) / float64(c.machine.ElemBytes)
		attainable := c.machine.Attainable(intensity)
		v.same(t, map[string]float64{
			"weights": bytes, "compute-time": floors.Compute, "memory-time": floors.Memory, "step": floors.Overlapped(), "intensity": intensity,
			"each": 1 / floors.Overlapped(), "all": float64(c.batch) / floors.Overlapped(), "share": attainable / c.machine.Peak,
			"alone": 1 / c.machine.Times(2*c.params, bytes).Overlapped(),
		})
		ridge := c.machine.Ridge()
		enough := int64(1)
		for 2*float64(enough)/float64(c.machine.ElemBytes) < ridge {
			enough++
		}
		v.same(t, map[string]float64{"enough": float64(enough), "enough-with-rows": float64(roofline.BatchToRidge(c.machine, 4096, 4096))})
	}
	v := draw(t, "decode", "width", "256")
	if w := v.value(t, "enough-with-rows"); !w.None || !strings.Contains(w.Text, "stays below 128 FLOP/byte") {
		t.Errorf("a layer that no batch brings to the ridge: %+v", w)
	}
	v = draw(t, "decode", "peak", "1e21", "bandwidth", "1", "elem", "16", "width", "1e6")
	if w := v.value(t, "enough-with-rows"); !w.None {
		t.Errorf("a ridge beyond any layer: %+v", w)
	}
}

// What is typed wrong is answered with the setting, what it is, and what would be
// right.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, key, text, want string }{
		{"tile", "n", "0", "n, rows and columns of A, B and C, is 0: it must be a whole number from 1 to 1,000,000,000, such as 4096 or 4Ki"},
		{"tile", "n", "-5", "n, rows and columns of A, B and C, is -5: it must be a whole number from 1 to"},
		{"tile", "n", "1e9999", `n, rows and columns of A, B and C, is "1e9999": it must be a whole number from 1 to`},
		{"tile", "n", "1e10", "n, rows and columns of A, B and C, is 1e10: it must be a whole number from 1 to"},
		{"tile", "b", "3.5", "b, tile size, is 3.5: it must be a whole number from 1 to"},
		{"tile", "b", "abc", `b, tile size, is "abc": it must be a whole number from 1 to`},
		{"tile", "b", "NaN", `b, tile size, is "NaN": it must be a whole number`},
		{"tile", "b", "@100000", `b, tile size, is "@100000": a place on its slider must be a whole number from @0 to @`},
		{"tile", "b", "@", `b, tile size, is "@": a place on its slider must be`},
		{"tile", "elem", "17", "Bytes of an element, s, is 17: it must be a whole number from 1 to 16 bytes, such as 2 for FP16"},
		{"tile", "capacity", "5", "Fast memory, bytes, is 5 bytes: one element each of A, B and C at 2 bytes needs at least 6"},
		{"tile", "capacity", "1", "Fast memory, bytes, is 1 byte: one element each of A, B and C at 2 bytes needs at least 6"},
		{"tile", "capacity", "64 QiB", `Fast memory, bytes, is "64 QiB": it must be a whole number from 1 to 1,152,921,504,606,846,976 bytes, such as 64KiB`},
		{"tile", "step", "1729", "Step of the loops is 1729: it must be a whole number from 1 to 1,728, such as 1 or 1728"},
		{"tile", "step", "0", "Step of the loops is 0: it must be a whole number from 1 to 1,728"},
		{"tile", "tile", "64", `"tile" is no setting of the explorer tile: it has n, b, elem, capacity, step`},
		{"roofline", "peak", "0", "Peak, FLOP/s, is 0: it must be a number from 1 to 1e21 FLOP/s, such as 312T or 312e12"},
		{"roofline", "peak", "Inf", `Peak, FLOP/s, is "Inf": it must be a number from 1 to 1e21 FLOP/s`},
		{"roofline", "peak", "1e400", "Peak, FLOP/s, is 1e400: it must be a number from 1 to 1e21"},
		{"roofline", "bandwidth", "1,5T", `Bandwidth, bytes/s, is "1,5T": it must be a number from 1 to 1e18 bytes/s`},
		{"roofline", "bandwidth", "2 TFLOP/s", `Bandwidth, bytes/s, is "2 TFLOP/s": it must be`},
		{"roofline", "m", "2000000", "m, rows of A and C, is 2000000: it must be a whole number from 1 to 1,000,000"},
		{"roofline", "traffic", "fast", `Traffic is "fast": it must be one of compulsory, naive, tiled`},
		{"roofline", "chip", "NVIDIA A1000", `Chip is "NVIDIA A1000": it must be custom or one of nvidia-v100-sxm2,`},
		{"roofline", "format", "FP8", `format is "FP8": NVIDIA A100 80GB SXM has no units for it: choose FP32, TF32, FP16, BF16, INT8`},
		{"decode", "params", "7 billion", `Weights of the model is "7 billion": it must be a number from 1 to 1e18, such as 7B or 7e9`},
		{"decode", "batch", "", ""},
		{"decode", "batch", strings.Repeat("9", 100), `Batch, requests that share a step, is "9999999999999999999999999999999999999999…": it must be`},
		{"decode", "n", "4", `"n" is no setting of the explorer decode`},
	} {
		v, err := Draw(c.name, map[string]string{c.key: c.text}, 760)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if len(v.Errors) > 0 {
				t.Errorf("%s %s = %q: %v, want its usual value", c.name, c.key, c.text, v.Errors)
			}
			continue
		}
		if len(v.Errors) != 1 || v.Errors[0].Key != c.key || !strings.HasPrefix(v.Errors[0].Message, c.want) {
			t.Errorf("%s %s = %q: %q, want one error for it that begins with %q", c.name, c.key, c.text, v.Errors, c.want)
		}
		if v.SVG != "" || len(v.Values) > 0 || v.Summary != "" {
			t.Errorf("%s %s = %q: something is shown all the same", c.name, c.key, c.text)
		}
		if v.Settings[c.key] != c.text {
			t.Errorf("%s %s = %q: it comes back as %q", c.name, c.key, c.text, v.Settings[c.key])
		}
		if len(v.Controls) == 0 {
			t.Errorf("%s %s = %q: there are no controls to mend it", c.name, c.key, c.text)
		}
	}
	if _, err := Draw("rooflines", nil, 760); err == nil || !strings.Contains(err.Error(), `explorer is "rooflines": it must be one of roofline, tile, decode`) {
		t.Errorf("an unknown explorer: %v", err)
	}
	if _, err := Keys("x"); err == nil {
		t.Error("keys of an unknown explorer")
	}
	v := must(Draw("roofline", map[string]string{"m": "0", "n": "x", "peak": "no"}, 760))
	if len(v.Errors) != 3 {
		t.Errorf("three mistakes, %d errors: %v", len(v.Errors), v.Errors)
	}
}

func TestNumbersAsTyped(t *testing.T) {
	for _, c := range []struct {
		m    measure
		text string
		want string // as a fraction; empty: it is no number
	}{
		{count, "4096", "4096"}, {count, " 4,096 ", "4096"}, {count, "4_096", "4096"}, {count, "1,234,567.5", "2469135/2"}, {count, "4Ki", "4096"},
		{count, "1e9", "1000000000"}, {count, "1E9", "1000000000"}, {count, "2.5e3", "2500"}, {count, "5e-1", "1/2"}, {count, ".5", "1/2"}, {count, "5.", "5"},
		{count, "2k", "2000"}, {count, "2K", "2000"}, {count, "2E", "2000000000000000000"}, {count, "2e", ""}, {count, "2Ei", "2305843009213693952"},
		{count, "", ""}, {count, ".", ""}, {count, "1,23", ""}, {count, "1,2345", ""}, {count, ",123", ""}, {count, "12,34,567", ""}, {count, "1.2.3", ""}, {count, "1.234,5", ""},
		{count, "4096 B", ""}, {count, "+5", ""}, {count, "--5", ""}, {count, "0x10", ""}, {count, "１２", ""}, {count, "1e+3", "1000"}, {count, "1e", ""}, {count, "-1", "-1"},
		{count, "1e1000", ""}, {count, "1m", ""}, {count, strings.Repeat("1", 65), ""},
		{flops, "312T", "312000000000000"}, {flops, "312 TFLOP/s", "312000000000000"}, {flops, "312 T FLOP/s", "312000000000000"}, {flops, "312e12", "312000000000000"},
		{flops, "19.5 TFLOPS", "19500000000000"}, {flops, "8 FLOP/s", "8"}, {flops, "8 B/s", ""},
		{perSecond, "2.039e12", "2039000000000"}, {perSecond, "2039 GB/s", "2039000000000"}, {perSecond, "2GiB/s", "2147483648"},
		{bytesUnit, "64 KiB", "65536"}, {bytesUnit, "80GiB", "85899345920"}, {bytesUnit, "16 bytes", "16"}, {bytesUnit, "16 B", "16"}, {bytesUnit, "16 GB", "16000000000"},
		{bytesUnit, "64kib", "65536"}, {bytesUnit, "1mib", "1048576"}, {bytesUnit, "80gb", "80000000000"}, {bytesUnit, "80 GIB", "85899345920"}, {bytesUnit, "16 b", "16"},
		{bytesUnit, "2 Byte", "2"}, {bytesUnit, "2eb", "2000000000000000000"}, {bytesUnit, "1e3b", "1000"}, {bytesUnit, "64ki", "65536"}, {count, "4ki", "4096"},
		{bytesUnit, "1m", ""}, {bytesUnit, "1e", ""}, {bytesUnit, "1g", ""}, {bytesUnit, "\u212a", ""}, {bytesUnit, "1\u212aB", ""},
		{flops, "312 tflop/s", "312000000000000"}, {flops, "312t", ""}, {perSecond, "2039gb/s", "2039000000000"},
		{weights, "7B", "7000000000"}, {weights, "7b", "7000000000"}, {weights, "0.5 B", "500000000"}, {weights, "70G", "70000000000"},
	} {
		got, ok := c.m.parse(c.text)
		if ok != (c.want != "") || ok && got.RatString() != c.want {
			t.Errorf("%q is read as %v, %v; want %q", c.text, got, ok, c.want)
		}
	}
}

// What a field shows reads back as the very same number.
func TestDecimalReadsBack(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	numbers := []float64{1, 0.001, 9999, 10000, 312e12, 2039e9, 2.039e12, 1e21, 1e20, 123456789, 1e-7, math.Nextafter(1e15, 0), 5e-324, math.MaxFloat64}
	for range 2000 {
		numbers = append(numbers, math.Pow(10, 24*random.Float64()-2))
	}
	for _, v := range numbers {
		text := decimal(v)
		got, ok := flops.parse(text)
		if !ok {
			t.Fatalf("%g is written %q, which is not read", v, text)
		}
		if near, _ := got.Float64(); near != v {
			t.Errorf("%g is written %q, which is read as %g", v, text, near)
		}
	}
	for v, want := range map[float64]string{312e12: "312T", 2039e9: "2.039T", 8: "8", 2500: "2500", 65536: "65.536k", 1e21: "1e21", 0.25: "0.25", 1e-5: "1e-5"} {
		if got := decimal(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}

func TestNumbersAsShown(t *testing.T) {
	for bytes, want := range map[int64]string{1: "1", 1000: "1000", 1024: "1KiB", 1536: "1536", 65536: "64KiB", 1 << 20: "1MiB", 80 << 30: "80GiB", 1 << 60: "1EiB", 3 << 20: "3MiB"} {
		if got := binary(big.NewRat(bytes, 1)); got != want {
			t.Errorf("%d bytes are shown as %q, want %q", bytes, got, want)
		}
	}
	for number, want := range map[float64]string{7e9: "7B", 70e9: "70B", 1e12: "1T", 350e6: "350M", 1.5e9: "1.5B", 12: "12"} {
		if got := billions(number); got != want {
			t.Errorf("%g weights are shown as %q, want %q", number, got, want)
		}
	}
}

func TestScales(t *testing.T) {
	for i, s := range []scale{
		octaves(1, 16, coarsely), octaves(1, 1_000_000_000, coarsely), octaves(64, 1<<40, coarsely), octaves(3, 3, coarsely), octaves(5, 17, coarsely), octaves(1, 1, finely), octaves(1, 2, finely), octaves(1, 511, finely), octaves(1, 512, finely), octaves(1, 513, finely), octaves(1, 1025, finely), octaves(1, 4096, finely), octaves(1, 4099, finely), octaves(1, 1_000_000_000, finely), decades(9, 18), decades(1, 3),
		evenly(big.NewInt(1)), evenly(big.NewInt(2)), evenly(big.NewInt(1000)), evenly(big.NewInt(1001)), evenly(big.NewInt(1728)), evenly(power(10, 27)),
	} {
		if s.places < 1 {
			t.Fatalf("scale %d has %d places", i, s.places)
		}
		var before *big.Rat
		for at := range s.places {
			v := s.value(at)
			if before != nil && before.Cmp(v) >= 0 {
				t.Fatalf("scale %d: place %d is %v, after %v", i, at, v, before)
			}
			if got := s.at(v); got != at {
				t.Fatalf("scale %d: %v stands at %d, want %d", i, v, got, at)
			}
			before = v
		}
		// Between two places it is the lower one; beyond the ends, the end.
		far := new(big.Rat).Mul(before, big.NewRat(10, 1))
		if got := s.at(far); got != s.places-1 {
			t.Errorf("scale %d: %v stands at %d of %d places", i, far, got, s.places)
		}
		if got := s.at(big.NewRat(1, 1)); s.value(0).Cmp(big.NewRat(1, 1)) >= 0 && got != 0 {
			t.Errorf("scale %d: 1 stands at %d", i, got)
		}
	}
	// The sizes that the lesson uses are on the sliders.
	o := octaves(1, 1_000_000_000, coarsely)
	for _, n := range []int64{1, 2, 3, 7, 8, 64, 128, 256, 4096, 1 << 20} {
		if got := o.value(o.at(big.NewRat(n, 1))); got.Cmp(big.NewRat(n, 1)) != 0 {
			t.Errorf("%d is not on the slider: %v is", n, got)
		}
	}
	// Along all tiles of a matrix the neighbours of a small one are its own.
	for _, most := range []int64{1, 7, 342, 512, 4096, 5000, 1_000_000_000} {
		u := octaves(1, most, finely)
		for n := int64(1); n <= min(most, 2*finely); n++ {
			if got := u.value(n - 1); got.Cmp(big.NewRat(n, 1)) != 0 {
				t.Fatalf("up to %d: place %d is %v, want %d", most, n-1, got, n)
			}
		}
		if got := u.value(u.places - 1); got.Cmp(big.NewRat(most, 1)) != 0 {
			t.Errorf("up to %d: the last place is %v", most, got)
		}
	}
	d := decades(9, 18)
	for text, want := range map[int64]string{0: "1000000000", 1: "1100000000", 90: "10000000000", 809: "990000000000000000"} {
		if got := d.value(text).RatString(); got != want {
			t.Errorf("place %d is %s, want %s", text, got, want)
		}
	}
}

func TestTextsOfNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{integer(big.NewInt(137438953472)), "137,438,953,472"}, {integer(power(10, 27)), "1e27"}, {integer(big.NewInt(0)), "0"},
		{kibi(big.NewInt(65536)), "64 KiB"}, {kibi(big.NewInt(1)), "1 byte"},
		{kibi(big.NewInt(1000)), "1,000 bytes"}, {kibi(big.NewInt(701784)), "685.3 KiB"}, {kibi(power(2, 90)), "1,073,741,824 EiB"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// extremes are settings at the edges of what is taken, and some in between.
func extremes() map[string][]map[string]string {
	all := map[string][]map[string]string{}
	each := func(name string, texts map[string][]string) {
		all[name] = []map[string]string{{}}
		for key, list := range texts {
			var next []map[string]string
			for _, settings := range all[name] {
				for _, text := range list {
					with := maps.Clone(settings)
					with[key] = text
					next = append(next, with)
				}
			}
			all[name] = next
		}
	}
	each("roofline", map[string][]string{"peak": {"1", "312T", "1e21"}, "bandwidth": {"1", "2039G", "1e18"}, "elem": {"1", "16"},
		"m": {"1", "4096", "1e6"}, "k": {"1", "1e6"}, "traffic": {compulsory, naive, tiled}, "b": {"1", "1e6"}})
	each("tile", map[string][]string{"n": {"1", "2", "65", "4096", "1e9"}, "b": {"1", "2", "342", "1e9"}, "capacity": {"48", "64Ki", "1Ei"}, "elem": {"1", "16"}, "step": {"1", "@0"}})
	each("decode", map[string][]string{"peak": {"1", "312T", "1e21"}, "bandwidth": {"1", "2039G", "1e18"}, "elem": {"1", "16"},
		"params": {"1", "7B", "1e18"}, "batch": {"1", "153", "1e9"}, "width": {"1", "256", "1e6"}})
	return all
}

func TestPictures(t *testing.T) {
	for name, list := range extremes() {
		for _, settings := range list {
			for _, width := range []int{-1, 5000} { // moved to the bounds
				v := must(Draw(name, settings, width))
				if len(v.Errors) > 0 {
					t.Fatalf("%s %v: %v", name, settings, v.Errors)
				}
				if err := checkPicture(v); err != nil {
					t.Fatalf("%s %v, %d px: %v", name, settings, width, err)
				}
			}
		}
		first := must(Draw(name, nil, 500))
		for range 20 {
			if again := must(Draw(name, nil, 500)); !reflect.DeepEqual(again, first) {
				t.Fatalf("%s: two drawings of the same settings differ", name)
			}
		}
	}
}

// checkPicture returns what is wrong with a picture: it must be whole, within
// its frame, small, and say in words what it shows.
func checkPicture(v View) error {
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		for _, text := range []string{v.SVG, v.Summary, v.Alt, fmt.Sprint(v.Values, v.Notes)} {
			if strings.Contains(text, bad) {
				return fmt.Errorf("%s in %s", bad, text)
			}
		}
	}
	if len(v.SVG) > 20_000 {
		return fmt.Errorf("the picture has %d bytes", len(v.SVG))
	}
	if len(v.Alt) < 60 || len(v.Summary) < 40 {
		return fmt.Errorf("alt text %q, summary %q", v.Alt, v.Summary)
	}
	if text := v.value0("share"); text != "" && strings.HasPrefix(text, "-") {
		return fmt.Errorf("share is %s", text)
	}
	width, height := 0.0, 0.0
	drawn := 0
	dec := xml.NewDecoder(strings.NewReader(v.SVG))
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := func(name string) float64 {
			for _, a := range e.Attr {
				if a.Name.Local == name {
					f, err := strconv.ParseFloat(a.Value, 64)
					if err != nil {
						return math.NaN()
					}
					return f
				}
			}
			return 0
		}
		inside := func(x, y float64) bool { return -1 <= x && x <= width+1 && -1 <= y && y <= height+1 }
		switch e.Name.Local {
		case "svg":
			width, height = attr("width"), attr("height")
			if !(LeastWidth <= width && width <= MostWidth && 100 < height && height < 800) {
				return fmt.Errorf("the picture is %v by %v", width, height)
			}
		case "rect":
			if !inside(attr("x"), attr("y")) || !inside(attr("x")+attr("width"), attr("y")+attr("height")) || !(attr("width") >= 0) || !(attr("height") >= 0) {
				return fmt.Errorf("a rectangle lies outside: %v", e.Attr)
			}
			drawn++
		case "circle":
			if !inside(attr("cx"), attr("cy")) {
				return fmt.Errorf("a dot lies outside: %v", e.Attr)
			}
			drawn++
		case "text":
			if !inside(attr("x"), attr("y")) {
				return fmt.Errorf("words lie outside: %v", e.Attr)
			}
			drawn++
		}
	}
	if drawn < 10 {
		return fmt.Errorf("only %d things are drawn", drawn)
	}
	return nil
}

// value0 returns the text of a value, or "" where it is not shown.
func (v View) value0(key string) string {
	for _, w := range v.Values {
		if w.Key == key {
			return w.Text
		}
	}
	return ""
}

// roundTrip returns an error unless the settings in their fixed form, and the
// query of the link, lead to the same view again.
func roundTrip(v View) error {
	values, err := url.ParseQuery(v.Query)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for key, list := range values {
		settings[key] = list[0]
	}
	if !maps.Equal(settings, v.Settings) {
		return fmt.Errorf("the query %s holds %v, the settings are %v", v.Query, settings, v.Settings)
	}
	again, err := Draw(v.Name, settings, MostWidth)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(again, v) {
		return fmt.Errorf("%s?%s leads to %s", v.Name, v.Query, again.Query)
	}
	return nil
}

func TestSettingsRoundTrip(t *testing.T) {
	for name, list := range extremes() {
		for _, settings := range list {
			if err := roundTrip(must(Draw(name, settings, MostWidth))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range Names() {
		if err := roundTrip(draw(t, name)); err != nil {
			t.Error(err)
		}
		// Bad settings come back as they are, too.
		bad := map[string]string{must(Keys(name))[0]: "a b&c=d%#?é<\xff", "x": ""}
		if err := roundTrip(must(Draw(name, bad, MostWidth))); err != nil {
			t.Error(err)
		}
	}
}

// Every place of every slider is a setting, and where the slider then stands.
func TestSlidersMove(t *testing.T) {
	for _, name := range Names() {
		for _, c := range draw(t, name).Controls {
			if c.Slider == nil {
				if len(c.Options) == 0 {
					t.Errorf("%s: %s can be neither typed nor chosen", name, c.Key)
				}
				continue
			}
			for at := int64(0); at <= c.Slider.Most; at += max(1, c.Slider.Most/40) {
				v := draw(t, name, c.Key, fmt.Sprintf("@%d", at))
				i := slices.IndexFunc(v.Controls, func(d Control) bool { return d.Key == c.Key })
				if got := v.Controls[i]; got.Slider.At != at || strings.HasPrefix(got.Text, "@") {
					t.Fatalf("%s: %s moved to @%d stands at @%d and says %q", name, c.Key, at, got.Slider.At, got.Text)
				}
			}
		}
	}
}

// The slider of the tile size ends at the side of the matrix, and its steps are
// fine enough for the neighbours of a tile. More may be typed.
func TestTheTileSliderEndsAtTheSide(t *testing.T) {
	for _, n := range []string{"1", "2", "511", "4096", "4099", "1000000000"} {
		slider := func(b string) (string, Slider) {
			v := draw(t, "tile", "n", n, "b", b)
			return v.Settings["b"], *v.Controls[slices.IndexFunc(v.Controls, func(c Control) bool { return c.Key == "b" })].Slider
		}
		_, first := slider("1")
		if first.At != 0 {
			t.Errorf("n = %s: a tile of 1 stands at %d", n, first.At)
		}
		if got, at := slider(fmt.Sprintf("@%d", first.Most)); got != n || at.At != first.Most {
			t.Errorf("n = %s: the slider ends at %s, place %d of %d", n, got, at.At, first.Most)
		}
		if got, at := slider("1e9"); got != "1000000000" || at.At != first.Most {
			t.Errorf("n = %s: a tile of 1e9 is %s, at %d of %d", n, got, at.At, first.Most)
		}
	}
	v := draw(t, "tile", "n", "4096", "b", "342")
	at := v.Controls[1].Slider.At
	for step, want := range map[int64]string{-2: "340", -1: "341", 0: "342", 1: "343", 2: "344"} {
		if got := draw(t, "tile", "n", "4096", "b", fmt.Sprintf("@%d", at+step)).Settings["b"]; got != want {
			t.Errorf("%d places from 342 is %s, want %s", step, got, want)
		}
	}
	// A place is read at once: while another setting is wrong, and for good.
	v = must(Draw("tile", map[string]string{"n": "none", "b": "@1000"}, 760))
	if len(v.Errors) != 1 || v.Settings["b"] != octaves(1, mostTiled, finely).value(1000).RatString() || v.Settings["n"] != "none" {
		t.Errorf("beside a wrong n: %v, %v", v.Settings, v.Errors)
	}
}

// FuzzDraw: no settings whatever lead to a panic, to a picture that is not
// whole, or to an error that names no setting.
func FuzzDraw(f *testing.F) {
	f.Add(0, "peak", "1e21", "m", "1", 760)
	f.Add(0, "traffic", "tiled", "b", "@17", 0)
	f.Add(1, "n", "1e9", "step", "1e27", 360)
	f.Add(1, "b", "0", "elem", "99", 360)
	f.Add(2, "chip", "google-tpu-v5e", "params", "7B", -3)
	f.Add(2, "width", "1", "batch", "1,000", 1<<30)
	f.Add(1, "", "1e9", "step", "1e27", 360) // a setting without a name is named as such
	f.Fuzz(func(t *testing.T, which int, key1, text1, key2, text2 string, width int) {
		name := Names()[uint(which)%uint(len(Names()))]
		v, err := Draw(name, map[string]string{key1: text1, key2: text2}, width)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		for _, e := range v.Errors {
			if e.Key == "" && key1 != "" && key2 != "" || len(e.Message) < 10 {
				t.Errorf("%s: %q says %q", v.Query, e.Key, e.Message)
			}
		}
		if len(v.Errors) > 0 {
			return
		}
		if err := checkPicture(v); err != nil {
			t.Errorf("%s?%s: %v", name, v.Query, err)
		}
		if err := roundTrip(must(Draw(name, v.Settings, MostWidth))); err != nil {
			t.Error(err)
		}
	})
}

// The model's explorer says what pkg/serving counts.
func TestModelIsServings(t *testing.T) {
	for _, c := range []struct {
		chip, format, split string
		chips               int64
		ask                 serving.Ask
	}{
		{"NVIDIA A100 80GB SXM", "FP16", "tensor", 1, serving.Ask{Batch: 1, Context: 1, Prompt: 1}},
		{"NVIDIA H100 SXM", "FP8", "tensor", 8, serving.Ask{Batch: 64, Context: 9000, Prompt: 512}},
		{"NVIDIA GB200", "FP4", "pipeline", 16, serving.Ask{Batch: 500, Context: 100, Prompt: 7}},
	} {
		s := serving.Setup{Model: transformer.Preset("llama-3-70b"), Storage: transformer.Same("FP8"), Chip: serving.On(chips.Named(c.chip), c.format), Chips: c.chips, Hop: 2e-6}
		s.Storage.Activations = transformer.Named("FP16")
		s.Split, _ = serving.ParseSplit(c.split)
		a := s.Answer(c.ask)
		v := draw(t, "model", "model", "llama-3-70b", "chip", c.chip, "format", c.format, "chips", fmt.Sprint(c.chips), "split", c.split, "weights", "FP8", "kv", "FP8",
			"batch", fmt.Sprint(c.ask.Batch), "context", fmt.Sprint(c.ask.Context), "prompt", fmt.Sprint(c.ask.Prompt), "hop", "2")
		v.same(t, map[string]float64{"stored": float64(a.WeightBytesStored), "read": a.WeightBytes, "kvtoken": float64(a.KVBytesPerToken), "requests": float64(a.MaxRequests),
			"first": *a.TTFT, "step": a.TPOT, "serial": a.TPOTSerial, "each": a.Each, "all": a.All, "activations": a.ActivationBytes})
		if got := v.value(t, "bound").Text; got != a.Bound+"-bound" {
			t.Errorf("%s: %s, want %s", v.Query, got, a.Bound)
		}
	}
}

// rects returns x, y, width and height of the rectangles of a colour.
func rects(t *testing.T, picture, colour string) [][4]float64 {
	t.Helper()
	var all [][4]float64
	for _, m := range regexp.MustCompile(`<rect x="([-0-9.]+)" y="([-0-9.]+)" width="([-0-9.]+)" height="([-0-9.]+)" fill="var\(--mw-`+colour+`\)"/>`).FindAllStringSubmatch(picture, -1) {
		var r [4]float64
		for i := range r {
			r[i], _ = strconv.ParseFloat(m[1+i], 64)
		}
		all = append(all, r)
	}
	return all
}

// places returns where a text stands.
func places(t *testing.T, picture, words string) [][2]float64 {
	t.Helper()
	var all [][2]float64
	for _, m := range regexp.MustCompile(`<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>`+regexp.QuoteMeta(words)+`</text>`).FindAllStringSubmatch(picture, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		all = append(all, [2]float64{x, y})
	}
	return all
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.11 }

// The bars below the roofline are as long as their times, from one line on, and
// each has its name before it and its time behind it.
func TestBarsAreToScale(t *testing.T) {
	for _, traffic := range []string{"naive", "compulsory"} {
		v := must(Draw("roofline", map[string]string{"traffic": traffic}, 760))
		compute, memory := rects(t, v.SVG, "series-0"), rects(t, v.SVG, "series-1")
		if len(compute) != 1 || len(memory) != 1 {
			t.Fatalf("%d and %d bars", len(compute), len(memory))
		}
		var times [2]float64
		for _, value := range v.Values {
			if value.Key == "compute-time" {
				times[0] = value.Number
			}
			if value.Key == "memory-time" {
				times[1] = value.Number
			}
		}
		const room = 760 - 14 - 46 - 110
		longest := max(times[0], times[1])
		for i, bar := range [][4]float64{compute[0], memory[0]} {
			if want := max(1, room*times[i]/longest); bar[0] != 62 || !near(bar[2], want) || bar[3] != 16 {
				t.Errorf("%s: bar %d is at %v, and must be %.1f long from 62", traffic, i, bar, want)
			}
			if at := places(t, v.SVG, num.SI(times[i], "s")); !slices.ContainsFunc(at, func(p [2]float64) bool { return near(p[0], bar[0]+bar[2]+6) && near(p[1], bar[1]+12) }) {
				t.Errorf("%s: the time of bar %d stands at %v", traffic, i, at)
			}
		}
		if memory[0][1]-compute[0][1] != 24 {
			t.Errorf("%s: the bars are at %v and %v", traffic, compute[0][1], memory[0][1])
		}
	}
}

// Tiles stand where their indices say, as large as they are: n = 10 in tiles of
// 3 at its last step but one, A(3, 2) and B(2, 3) for C(3, 3), in squares of 240.
func TestTilesAreToScale(t *testing.T) {
	v := must(Draw("tile", map[string]string{"n": "10", "b": "3", "step": "63", "capacity": "1KiB"}, 760))
	const left, top, right, low, one = 4, 20, 260, 296, 24.0 // the squares' corners, and an element
	for _, c := range []struct {
		colour string
		want   [][4]float64
	}{
		{"loaded", [][4]float64{{right + 9*one, top + 6*one, one, 3 * one}, {left + 6*one, low + 9*one, 3 * one, one}}}, // B, A
		{"held", [][4]float64{{right + 9*one, low + 9*one, one, one}}},
		{"band", [][4]float64{{right + 9*one, top, one, 240}, {left, low + 9*one, 240, one}}},
		{"stored", [][4]float64{{right, low, 240, 9 * one}, {right, low + 9*one, 9 * one, one}}},
	} {
		got := rects(t, v.SVG, c.colour)
		for _, want := range c.want {
			if !slices.ContainsFunc(got, func(r [4]float64) bool {
				return near(r[0], want[0]) && near(r[1], want[1]) && near(r[2], want[2]) && near(r[3], want[3])
			}) {
				t.Errorf("%s: no rectangle %v among %v", c.colour, want, got)
			}
		}
	}
	for name, want := range map[string][2]float64{"B": {right, top - 6}, "A": {left, low - 6}, "C": {right, low - 6}} {
		if at := places(t, v.SVG, name); !slices.Contains(at, want) {
			t.Errorf("%s stands at %v, want %v", name, at, want)
		}
	}
	// Three tiles of 3×3 elements of 2 bytes fill 54 of 1024 bytes: the bar of fast memory is 240 long.
	third := 240 * 54.0 / 1024 / 3
	bars := slices.DeleteFunc(rects(t, v.SVG, "loaded"), func(r [4]float64) bool { return r[3] != 22 })
	if len(bars) != 2 || !near(bars[0][2], third) || !near(bars[1][0], left+third) {
		t.Errorf("the bar of fast memory is %v, each third %.1f long", bars, third)
	}
}
