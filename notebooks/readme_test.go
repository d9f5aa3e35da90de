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
	fileLink    = regexp.MustCompile(`\]\(([^)#:]+)\)`)
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

// What the README says of numbers, files, chapters and packages holds.
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
	for _, m := range fileLink.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("README.md links to %s: %v", m[1], err)
		}
	}
	for _, nb := range chapters(t) {
		title, _, _ := strings.Cut(string(nb.Cells[1].Source), "\n")
		row := fmt.Sprintf("| [%s](notebooks/%s) |", strings.TrimPrefix(title, "# "), nb.File)
		if !strings.Contains(text, row) {
			t.Errorf("README.md: the table of chapters has no row %q", row)
		}
	}
	packages, err := filepath.Glob(filepath.Join("..", "pkg", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range packages {
		if row := "| `pkg/" + filepath.Base(dir) + "/` |"; !strings.Contains(text, row) {
			t.Errorf("README.md: the map has no row %q", row)
		}
	}
}
