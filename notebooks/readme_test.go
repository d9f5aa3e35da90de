package notebooks

import (
	"encoding/base64"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memorywall/pkg/facts"
)

var update = flag.Bool("update", false, "write the README's figure anew from chapter 02")

var (
	keyedNumber = regexp.MustCompile(`(\S*)<!--fact ([^>]*)-->`)
	pictureData = regexp.MustCompile(`<img src="data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)"`)
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The README's figure is the stored picture of Figure 2.1.
func TestReadmeFigure(t *testing.T) {
	var want []byte
	for _, nb := range chapters(t) {
		for _, c := range nb.Cells {
			m := pictureData.FindStringSubmatch(c.html())
			if nb.Chapter != 2 || c.ID != "roofline-of-the-a100" || m == nil {
				continue
			}
			svg, err := base64.StdEncoding.DecodeString(html.UnescapeString(m[1]))
			if err != nil {
				t.Fatal(err)
			}
			want = svg
		}
	}
	if want == nil {
		t.Fatal("chapter 02 has no picture in its cell roofline-of-the-a100")
	}
	const file = "roofline.svg"
	if !strings.Contains(readme(t), "(notebooks/"+file+")") {
		t.Errorf("README.md does not show notebooks/%s", file)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not the picture of Figure 2.1 in chapter 02: go test ./notebooks -run TestReadmeFigure -update", file)
	}
}

var chapterRow = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\((?:notebooks/)?([^)\s]+\.ipynb)\) \| (.+) \|$`)

// chapterRows returns what is wrong with the README's table of chapters: each
// chapter has a row, with its title and the question that the index's map says.
func chapterRows(text string, all []*notebook) []string {
	questions := map[string]string{} // of the index's map
	for _, nb := range all {
		for _, c := range nb.Cells {
			if nb.Chapter != 0 || c.ID != "map" {
				continue
			}
			for _, row := range chapterRow.FindAllStringSubmatch(string(c.Source), -1) {
				questions[row[2]] = row[3]
			}
		}
	}
	rows := map[string][]string{}
	for _, row := range chapterRow.FindAllStringSubmatch(text, -1) {
		rows[row[2]] = row
	}
	var problems []string
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, nb := range all {
		row, ok := rows[nb.File]
		switch {
		case nb.title() == "":
			bad("%s: its second cell has no heading: it must be the title", nb.File)
		case !ok:
			bad("README.md: the table of chapters has no row | [%s](notebooks/%s) | its question |", nb.title(), nb.File)
		case row[1] != nb.title():
			bad("README.md: the table calls %s %q: its title is %q", nb.File, row[1], nb.title())
		case nb.Chapter > 0 && row[3] != questions[nb.File]:
			bad("README.md: the question of %s is %q: the map of the index says %q", nb.File, row[3], questions[nb.File])
		}
	}
	return problems
}

// What the README says of numbers and chapters holds.
func TestReadme(t *testing.T) {
	text := readme(t)
	keyed := keyedNumber.FindAllStringSubmatch(text, -1)
	if len(keyed) == 0 {
		t.Error("README.md has no number with a key: is the check reading them?")
	}
	for _, m := range keyed {
		if m[2] == "key" {
			continue // shows the form
		}
		if err := facts.Check(strings.Trim(m[1], "`(*"), m[2]); err != nil {
			t.Errorf("README.md: %v", err)
		}
	}
	for _, p := range chapterRows(text, chapters(t)) {
		t.Error(p)
	}
}

// The program in CONTRIBUTING.md runs as it stands.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	text, err := os.ReadFile(filepath.Join("..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(text), "```go\n")
	program, _, closed := strings.Cut(program, "```\n")
	if !found || !closed {
		t.Fatal("CONTRIBUTING.md has no Go program")
	}
	all, err := facts.All()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("ridge point %.1f FLOP/byte, tile size %.0f\n", all["chip.ridge_flop_per_byte"], all["ridge_tile_4096_fp16.exact"])
	if r := runAll(t, []variant{{"CONTRIBUTING.md", program}})["CONTRIBUTING.md"]; !r.ok || r.text != want {
		t.Errorf("the program in CONTRIBUTING.md prints %q (success: %t); want %q", r.text, r.ok, want)
	}
}
