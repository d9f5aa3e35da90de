package lesson

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"memorywall/pkg/internal/svg"
	"memorywall/pkg/tiling"
)

func TestNoteAndValue(t *testing.T) {
	blocks, _ := record(t, true, func() {
		Note("the ridge is **%.1f** FLOP/byte", 153.0161844)
		asIs := Note // a text without values is shown as it is
		asIs("100% of $x$")
		Value("ridge point", 153.0161844, "FLOP/byte")
		Value("peak", 312e12, "FLOP/s")
		Value("FLOPs", int64(137438953472), "")
		Value("bytes", int64(100663296), "bytes")
		Value("time", float32(0.25), "s")
		Value("<b>", "a & b", "")
	})
	var got []string
	for _, b := range blocks {
		got = append(got, b.Text)
		if (b.HTML == "") == (b.Markdown == "") {
			t.Errorf("%q must be either HTML or Markdown", b.Text)
		}
	}
	want := []string{
		"the ridge is **153.0** FLOP/byte",
		"100% of $x$",
		"ridge point: 153.016 FLOP/byte",
		"peak: 312 TFLOP/s",
		"FLOPs: 137,438,953,472",
		"bytes: 100,663,296 bytes",
		"time: 250 ms",
		"<b>: a & b",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if last := blocks[len(blocks)-1].HTML; strings.Contains(last, "<b>:") || !strings.Contains(last, "a &amp; b") {
		t.Errorf("text was not escaped: %s", last)
	}
}

func TestTable(t *testing.T) {
	table := Table{
		Title:   "Time floors & more",
		Columns: []string{"what", "bytes", "time", "<note>"},
		Rows: [][]any{
			{"math", nil, 440.5e-6, "2mnk"},
			{"naive traffic", int64(274911461376), 0.13483, "each operand <twice>"},
		},
		Caption: "A100, FP16.",
	}
	blocks, status := record(t, true, table.Show)
	if status != -1 || len(blocks) != 1 {
		t.Fatalf("status %d, %d blocks", status, len(blocks))
	}
	golden(t, "table.txt", []byte(blocks[0].Text))
	golden(t, "table.html", []byte(blocks[0].HTML))
	if strings.Contains(blocks[0].HTML, "<twice>") || strings.Contains(blocks[0].HTML, "<note>") {
		t.Error("text was not escaped")
	}
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{}, "it has no columns"},
		{Table{Title: "t", Columns: []string{"a", "b"}, Rows: [][]any{{1, 2}, {1}}}, `table "t": row 2 has 1 cells: it must have 2`},
	} {
		blocks, status := record(t, true, c.table.Show)
		if status != 1 || !strings.Contains(blocks[0].Text, c.want) {
			t.Errorf("status %d, %v, want %q", status, blocks, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	blocks, _ := record(t, true, func() {
		p := Progress("timing <it>")
		for i := range 1001 {
			p(i, 1000)
		}
	})
	if len(blocks) < 2 || len(blocks) > 200 {
		t.Fatalf("%d blocks for 1001 calls: they must be few, and the first and the last among them", len(blocks))
	}
	for _, b := range blocks {
		if b.ID == "" || b.ID != blocks[0].ID {
			t.Fatalf("blocks with the IDs %q and %q: it must be one bar", b.ID, blocks[0].ID)
		}
		if strings.Contains(b.HTML, "<it>") {
			t.Errorf("text was not escaped: %s", b.HTML)
		}
	}
	if first := blocks[0].Text; first != "timing <it> ["+strings.Repeat(".", 30)+"] 0 of 1000" {
		t.Errorf("first %q", first)
	}
	if last := blocks[len(blocks)-1].Text; !regexp.MustCompile(`^timing <it>: done in [0-9.]+ \S*s\n$`).MatchString(last) {
		t.Errorf("last %q", last)
	}
	other, _ := record(t, true, func() { Progress("another")(0, 1) })
	if other[0].ID == blocks[0].ID {
		t.Error("two bars with one ID")
	}
	// Odd counts must not break the bar.
	odd, _ := record(t, true, func() {
		p := Progress("odd")
		p(5, 0)
		p(-1, 3)
		p(7, 3)
	})
	for _, b := range odd {
		if b.Text == "" || strings.Contains(b.HTML, "NaN") {
			t.Errorf("odd bar %v", b)
		}
	}
}

func TestTerminal(t *testing.T) {
	var w strings.Builder
	d := &terminal{w: &w}
	d.show(block{Text: "one"})
	d.show(block{Text: "bar 1", ID: "b"})
	d.show(block{Text: "bar 2", ID: "b"})
	d.show(block{Text: "two"})
	d.show(block{Text: "bar 3\n", ID: "b"})
	d.show(block{Text: "three\n"})
	want := "one\n\rbar 1\x1b[K\rbar 2\x1b[K\ntwo\n\rbar 3\x1b[K\nthree\n"
	if w.String() != want {
		t.Errorf("printed %q, want %q", w.String(), want)
	}
}

func ints(t *testing.T, rows ...[]int) tiling.Matrix[int] {
	t.Helper()
	m := tiling.FromRows(rows)
	return m
}

func TestMatrixSteps(t *testing.T) {
	a := ints(t, []int{1, 2, 3, 0}, []int{0, 1, 2, 1}, []int{2, 0, 1, 1}, []int{1, 1, 0, 2})
	b := ints(t, []int{1, 0, 2, 1}, []int{0, 2, 1, 0}, []int{1, 1, 0, 2}, []int{2, 0, 1, 1})
	blocks, status := record(t, true, func() { ShowMatrixSteps(a, b, 2) })
	if status != -1 || len(blocks) != 1 {
		t.Fatalf("status %d, %v", status, blocks)
	}
	golden(t, "steps.txt", []byte(blocks[0].Text))
	golden(t, "steps.html", []byte(blocks[0].HTML))
	html := blocks[0].HTML
	// Each of 8 steps loads one 2×2 tile of A and one of B, and every second
	// one stores a 2×2 tile of C; the key has one of each kind too.
	for paint, want := range map[string]int{paintLoaded: 8*8 + 1, paintHeld: 4*4 + 1, paintStored: 4*4 + 1} {
		if got := strings.Count(html, paint); got != want {
			t.Errorf("%d cells painted %q, want %d", got, paint, want)
		}
	}
}

// The drawing must agree with the multiply that counts, whatever the shape.
func TestWalkAgreesWithTheMultiply(t *testing.T) {
	for _, c := range []struct{ m, k, n, tile int }{
		{4, 4, 4, 2}, {5, 3, 7, 2}, {1, 1, 1, 1}, {8, 8, 8, 3}, {2, 8, 3, 8}, {3, 2, 1, 100}, {8, 1, 8, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a := tiling.New[int](c.m, c.k)
			b := tiling.New[int](c.k, c.n)
			for i := range a.Data {
				a.Data[i] = i%7 - 3
			}
			for i := range b.Data {
				b.Data[i] = i%5 - 2
			}
			product, traffic := tiling.Multiply(a, b, c.tile)
			steps, err := walk(a, b, c.tile)
			if err != nil {
				t.Fatal(err)
			}
			last := steps[len(steps)-1]
			if last.total != traffic {
				t.Errorf("totals %v, want %v", last.total, traffic)
			}
			if !last.c.Equal(product) {
				t.Errorf("product %v, want %v", last.c, product)
			}
			blocks, _ := record(t, true, func() { ShowMatrixSteps(a, b, c.tile) })
			if got := strings.Count(blocks[0].HTML, "<b>Step "); got != len(steps) {
				t.Errorf("%d panels, want %d", got, len(steps))
			}
		})
	}
}

func TestStepsThatCannotBeDrawn(t *testing.T) {
	small := ints(t, []int{1, 2}, []int{3, 4})
	big := tiling.New[int](9, 9)
	none := tiling.New[int](0, 0)
	for _, c := range []struct {
		name string
		call func()
		want string
	}{
		{"tile 0", func() { ShowMatrixSteps(small, small, 0) }, "tile is 0"},
		{"shapes", func() { ShowMatrixSteps(small, ints(t, []int{1}), 1) }, "tiling:"},
		{"too big", func() { ShowMatrixSteps(big, big, 2) }, "has room for 8 rows and columns"},
		{"nothing", func() { ShowMatrixSteps(none, none, 2) }, "nothing to draw"},
		{"tiles of size 0", func() { ShowTiles(10, 0) }, "tile is 0"},
		{"tiles of no matrix", func() { ShowTiles(0, 10) }, "n is 0"},
		{"level", func() { ShowHierarchy("t", []Level{{Name: "L1", Bytes: -1}}) }, `level "L1": bytes is -1`},
		{"block", func() { ShowHierarchy("t", []Level{{Name: "L1", Holds: []Held{{What: "A", Bytes: -2}}}}) }, `block "A": bytes is -2`},
		{"box", func() { ShowShadows(3, 0, 3) }, "y is 0: it must be positive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, status := record(t, true, c.call)
			if status != 1 || len(blocks) != 1 || !strings.Contains(blocks[0].Text, c.want) {
				t.Errorf("status %d, %v, want %q", status, blocks, c.want)
			}
		})
	}
}

// images returns the pictures of a drawing, and their alt text.
func images(t *testing.T, html string) (narrow, wide, alt string) {
	t.Helper()
	m := regexp.MustCompile(`<source media="\(max-width:520px\)" srcset="data:image/svg\+xml;base64,([^"]*)"><img src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]+)"`).FindStringSubmatch(html)
	if m == nil {
		t.Fatalf("no pictures in %.300s", html)
	}
	for i := 1; i <= 2; i++ {
		picture, err := base64.StdEncoding.DecodeString(m[i])
		if err != nil {
			t.Fatal(err)
		}
		m[i] = string(picture)
	}
	return m[1], m[2], m[3]
}

var rectangles = regexp.MustCompile(`<rect x="([-0-9.]+)" y="([-0-9.]+)" width="([-0-9.]+)" height="([-0-9.]+)" fill="(#[0-9a-f]+)"`)

// Nothing of a drawing lies outside of it, at either width.
func TestDrawings(t *testing.T) {
	levels := []Level{
		{"registers", 2048, []Held{{"tile of C, 12×32", "while k runs", 1536}}},
		{"L1", 48 << 10, []Held{{"panel of B, KC×NR", "while ir runs", 40960}}},
		{"L2", 2 << 20, []Held{{"block of A, MC×KC", "while jr and ir run", 1 << 20}}},
		{"memory", 0, []Held{{"A, B and C", "", 3 << 26}}},
	}
	for _, c := range []struct {
		name string
		call func()
		want string
	}{
		{"ragged tiles", func() { ShowTiles(4096, 342) }, "n = 4,096, b = 342: 12 tiles per side, the last of them 334 wide"},
		{"whole tiles", func() { ShowTiles(4096, 64) }, "n = 4,096, b = 64: 64 whole tiles per side"},
		{"many tiles", func() { ShowTiles(4096, 1) }, "too close to draw beyond 64"},
		{"one tile", func() { ShowTiles(5, 8) }, "n = 5, b = 8: one tile holds the whole matrix"},
		{"tiles of one", func() { ShowTiles(10, 3) }, "n = 10, b = 3: 4 tiles per side, the last of them 1 wide"},
		{"hierarchy", func() { ShowHierarchy("What stays where", levels) }, "L2 (2 MiB): block of A, MC×KC, 1 MiB, while jr and ir run."},
		{"one level", func() { ShowHierarchy("One", levels[:1]) }, "registers (2 KiB): tile of C, 12×32, 1.5 KiB, while k runs."},
		{"cube", func() { ShowShadows(8, 8, 8) }, "512"},
		{"long box", func() { ShowShadows(1, 1<<40, 3) }, "3,298,534,883,328 of B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, status := record(t, true, c.call)
			if status != -1 || len(blocks) != 1 || !strings.Contains(blocks[0].Text, c.want) {
				t.Fatalf("status %d, %v", status, blocks)
			}
			narrow, wide, alt := images(t, blocks[0].HTML)
			if len(alt) < 20 {
				t.Errorf("alt %q", alt)
			}
			for _, picture := range []string{narrow, wide} {
				var width, height float64
				if _, err := fmt.Sscanf(regexp.MustCompile(`viewBox="0 0 (\S+ \S+)"`).FindStringSubmatch(picture)[1], "%g %g", &width, &height); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(picture, "prefers-color-scheme:dark") || strings.Contains(picture, "var(") {
					t.Error("the picture does not stand alone")
				}
				for _, m := range rectangles.FindAllStringSubmatch(picture, -1) {
					var x, y, w, h float64
					if _, err := fmt.Sscan(strings.Join(m[1:5], " "), &x, &y, &w, &h); err != nil {
						t.Fatal(err)
					}
					if x < 0 || y < 0 || w <= 0 || h <= 0 || x+w > width+0.05 || y+h > height+0.05 {
						t.Errorf("a rectangle lies outside of %v by %v: %v", width, height, m[0])
					}
				}
			}
		})
	}
}

// Tiles stand where the loops find them.
func TestTilesAreToScale(t *testing.T) {
	blocks, _ := record(t, true, func() { ShowTiles(10, 3) }) // tile (2, 1) of C, 200 pixels a side
	_, picture, _ := images(t, blocks[0].HTML)
	var loaded [][]string
	for _, m := range rectangles.FindAllStringSubmatch(picture, -1) {
		if m[5] == svg.Light("loaded") || m[5] == svg.Light("held") {
			loaded = append(loaded, m[1:5])
		}
	}
	want := [][]string{{"10", "144", "200", "60"}, {"310", "24", "60", "200"}, {"550", "144", "60", "60"}}
	if !reflect.DeepEqual(loaded, want) {
		t.Errorf("the row of A, the column of B and the tile of C are %v, want %v", loaded, want)
	}
	if n := strings.Count(picture, "M"); n != 3*2*3 {
		t.Errorf("%d lines of the grid, want 18", n)
	}
}

// A level's blocks fill it to its own scale.
func TestHierarchyIsToScale(t *testing.T) {
	blocks, _ := record(t, true, func() {
		ShowHierarchy("t", []Level{{"L2", 1 << 20, []Held{{"A", "", 1 << 18}, {"B", "", 1 << 17}}}})
	})
	_, picture, _ := images(t, blocks[0].HTML)
	var widths []string
	for _, m := range rectangles.FindAllStringSubmatch(picture, -1) {
		if m[4] == "22" {
			widths = append(widths, m[3])
		}
	}
	if want := []string{"185", "92.5"}; !reflect.DeepEqual(widths, want) {
		t.Errorf("the blocks are %v pixels long, want %v", widths, want)
	}
	if !strings.Contains(picture, "37.5% held") {
		t.Error("no share of the level")
	}
}
