package notebooks

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a measured cell shows, as data: the sentences about it are held against
// the outputs that are stored in the chapters, and against runs of other
// machines in testdata/runs, a folder for each and a small file for each cell.
// To add a machine, run the chapters there (scripts/notebooks update), then
//
//	go test ./notebooks -run TestRecordRun -record NAME
//
// in that checkout, and bring the folder here.

var (
	record = flag.String("record", "", "write what the measured cells show to testdata/runs/NAME")
	from   = flag.String("from", ".", "with -record: the folder of the notebooks that were run")
)

// shown is the figure, or the table, that a cell shows first.
type shown struct {
	Host    string     `json:"host"`
	Note    string     `json:"note,omitempty"` // how the run was made, where that is not plain
	Doubts  string     `json:"doubts,omitempty"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Marks   []mark     `json:"marks,omitempty"`
}

// mark is a line across a figure, at full precision.
type mark struct {
	Axis string  `json:"axis"`
	At   float64 `json:"at"`
}

var (
	figureJSON = regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`)
	tableRow   = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	tableCell  = regexp.MustCompile(`(?s)<t[hd]\b[^>]*>(.*?)</t[hd]>`)
	markup     = regexp.MustCompile(`<[^>]*>`)
	doubts     = regexp.MustCompile(`Reasons for doubt: (.*)\.\n`)
	hostLine   = regexp.MustCompile(`[^\n:]*GOMAXPROCS[^\n]*?\d{4}-\d\d-\d\d`)
)

// shows returns the data of the first figure of a cell, else of its first table.
func (c *cell) shows() (*shown, error) {
	if m := figureJSON.FindStringSubmatch(c.html()); m != nil {
		return figureData(m[1])
	}
	s := &shown{}
	for _, o := range c.Outputs {
		for _, row := range tableRow.FindAllStringSubmatch(o.data("text/html"), -1) {
			var cells []string
			for _, m := range tableCell.FindAllStringSubmatch(row[1], -1) {
				cells = append(cells, html.UnescapeString(markup.ReplaceAllString(m[1], "")))
			}
			if s.Columns == nil {
				s.Columns = cells
			} else {
				s.Rows = append(s.Rows, cells)
			}
		}
		if len(s.Rows) > 0 {
			return s, nil
		}
	}
	return nil, nil
}

// figureData reads the numbers behind a figure, and its marks.
func figureData(text string) (*shown, error) {
	var f struct {
		CSV    string `json:"csv"`
		Option struct {
			Series []struct {
				MarkLine struct {
					Data []json.RawMessage `json:"data"`
				} `json:"markLine"`
			} `json:"series"`
		} `json:"option"`
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(f.CSV)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("the figure has no numbers behind it")
	}
	s := &shown{Columns: rows[0], Rows: rows[1:]}
	for _, series := range f.Option.Series {
		for _, raw := range series.MarkLine.Data {
			var m struct{ XAxis, YAxis *float64 }
			if json.Unmarshal(raw, &m) != nil { // a pair of points: a line between them
				continue
			}
			if m.XAxis != nil {
				s.Marks = append(s.Marks, mark{"x", *m.XAxis})
			}
			if m.YAxis != nil {
				s.Marks = append(s.Marks, mark{"y", *m.YAxis})
			}
		}
	}
	return s, nil
}

// runs is what each machine's run showed, by the id of the cell.
type runs map[string]map[string]*shown

// storedRun is the run that the chapters show.
func storedRun(t *testing.T, all []*notebook) map[string]*shown {
	t.Helper()
	stored := map[string]*shown{}
	for _, nb := range all {
		host := ""
		for _, c := range nb.Cells {
			if !c.tagged("machine") && !c.tagged("recorded") {
				continue
			}
			if m := hostLine.FindString(c.plain()); m != "" {
				host = strings.TrimSpace(m)
			}
			s, err := c.shows()
			if err != nil {
				t.Fatalf("%s: cell %s: %v", nb.File, c.ID, err)
			}
			if s == nil {
				continue
			}
			if stored[c.ID] != nil {
				t.Fatalf("%s: cell %s: another measured cell has this id", nb.File, c.ID)
			}
			s.Host = host
			if m := doubts.FindStringSubmatch(c.plain()); m != nil && m[1] != "none" {
				s.Doubts = m[1]
			}
			stored[c.ID] = s
		}
	}
	return stored
}

// allRuns returns the stored run and the recorded ones.
func allRuns(t *testing.T) runs {
	t.Helper()
	all := runs{"stored": storedRun(t, chapters(t))}
	files, err := filepath.Glob("testdata/runs/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/runs: %v, %d files", err, len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := &shown{}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(s); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if s.Host == "" || len(s.Rows) == 0 {
			t.Fatalf("%s: it must name its host and have rows", file)
		}
		machine := filepath.Base(filepath.Dir(file))
		if all[machine] == nil {
			all[machine] = map[string]*shown{}
		}
		all[machine][strings.TrimSuffix(filepath.Base(file), ".json")] = s
	}
	return all
}

func TestRecordRun(t *testing.T) {
	if *record == "" {
		t.Skip("it writes a run: go test ./notebooks -run TestRecordRun -record NAME")
	}
	files, err := filepath.Glob(filepath.Join(*from, "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*notebook
	for _, file := range files {
		if !fileName.MatchString(filepath.Base(file)) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := parse(filepath.Base(file), data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, nb)
	}
	folder := filepath.Join("testdata", "runs", *record)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	claimed := map[string]bool{}
	for _, c := range claims {
		for _, id := range c.cells {
			claimed[id] = true
		}
	}
	stored := storedRun(t, all)
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if !claimed[id] {
			continue
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(stored[id]); err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`,"columns"`, ",\n\"columns\"", `,"rows":[[`, ",\n\"rows\":[\n[", `],[`, "],\n[", `,"marks"`, ",\n\"marks\"").Replace(b.String())
		if err := os.WriteFile(filepath.Join(folder, id+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// number returns the value of a table's cell: "2.381 GFLOP/s" and "0.993%" are
// what they say, with the prefix.
func number(s string) (float64, error) {
	s = strings.ReplaceAll(strings.TrimSuffix(s, "%"), ",", "")
	value, unit, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(value, 64)
	for prefix, scale := range map[string]float64{"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12} {
		if rest, ok := strings.CutPrefix(unit, prefix); ok && (rest == "s" || rest == "B" || rest == "B/s" || rest == "FLOP/s") {
			v *= scale
		}
	}
	return v, err
}

// column returns the numbers of a column, by the beginning of its name; what is
// no number is NaN-free 0 and reported as an error by the claim that needs it.
func (s *shown) column(name string) ([]float64, error) {
	i := slices.IndexFunc(s.Columns, func(c string) bool { return strings.HasPrefix(c, name) })
	if i < 0 {
		return nil, fmt.Errorf("no column begins with %q: there are %q", name, s.Columns)
	}
	var all []float64
	for _, r := range s.Rows {
		v, err := number(r[i])
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// at returns the value of a column in the row whose first cell begins with row.
func (s *shown) at(row, name string) (float64, error) {
	i := slices.IndexFunc(s.Rows, func(r []string) bool { return strings.HasPrefix(r[0], row) })
	if i < 0 {
		return 0, fmt.Errorf("no row begins with %q", row)
	}
	one := &shown{Columns: s.Columns, Rows: s.Rows[i : i+1]}
	v, err := one.column(name)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// roofsOf returns what one run says of each roof, by its name: the ridge point, in
// FLOP/byte, as each cell has it.
func roofsOf(run map[string]*shown) (map[string]map[string]float64, error) {
	ridges := map[string]map[string]float64{}
	say := func(roof, cell string, ridge float64) {
		if ridges[roof] == nil {
			ridges[roof] = map[string]float64{}
		}
		ridges[roof][cell] = ridge
	}
	for cell, s := range run {
		for _, r := range s.Rows {
			roof, isRidge := strings.CutPrefix(r[0], "ridge of ")
			if cell == "measure-your-roofs" {
				roof, isRidge = r[0]+", one core", true
				if n := r[slices.Index(s.Columns, "threads")]; n != "1" {
					roof = r[0] + ", " + n + " cores"
				}
			}
			if !isRidge {
				continue
			}
			column := "ridge"
			if cell != "measure-your-roofs" {
				column = "arithmetic intensity"
			}
			v, err := (&shown{Columns: s.Columns, Rows: [][]string{r}}).column(column)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cell, err)
			}
			say(roof, cell, v[0])
		}
	}
	return ridges, nil
}

// differing returns the roofs that two cells of a run draw in two places.
func differing(run map[string]*shown) ([]string, error) {
	ridges, err := roofsOf(run)
	var found []string
	for _, roof := range slices.Sorted(maps.Keys(ridges)) {
		at := slices.Sorted(maps.Values(ridges[roof]))
		if low, high := at[0], at[len(at)-1]; !(high <= 1.01*low) { // the table has three or four digits
			found = append(found, fmt.Sprintf("%s: its ridge point is %v FLOP/byte", roof, ridges[roof]))
		}
	}
	return found, err
}

// A machine has one roof, in every chapter.
func TestOneRoof(t *testing.T) {
	for name, run := range allRuns(t) {
		found, err := differing(run)
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v: run the measured chapters one after the other, so that all use one my-roof.json\n%s", name, err, strings.Join(found, "\n"))
		}
	}
	other := func(ridge string) *shown {
		return &shown{Columns: []string{"point", "arithmetic intensity (FLOP/byte)"}, Rows: [][]string{{"ridge of memory, 2 cores", ridge}}}
	}
	table := &shown{Columns: []string{"level", "threads", "ridge float32"}, Rows: [][]string{{"memory", "2", "7.341"}}}
	for ridge, want := range map[string]int{"3.92": 1, "7.3408": 0} {
		if found, err := differing(map[string]*shown{"measure-your-roofs": table, "all-cores": other(ridge)}); err != nil || len(found) != want {
			t.Errorf("a table with 7.341 and a figure with %s: found %q, %v; there must be %d", ridge, found, err, want)
		}
	}
}

// tagged returns the metadata of a cell with one tag, or none.
func tagged(tag string) map[string]json.RawMessage {
	if tag == "" {
		return nil
	}
	return map[string]json.RawMessage{"tags": json.RawMessage(fmt.Sprintf("[%q]", tag))}
}
