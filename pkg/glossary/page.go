package glossary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Page is the name of the notebook with all terms, beside the chapters.
const Page = "glossary.ipynb"

// Chapter is a notebook that the page links to.
type Chapter struct {
	File  string // 02_roofline.ipynb
	Title string // its heading, "02 · The roofline"
}

// Notebook returns the page as a notebook in the form in which the chapters are
// stored. chapters are those of the lesson in their order, from number 0 on. A
// term of a chapter that is not among them is an error.
func Notebook(chapters []Chapter) ([]byte, error) {
	// The fields stand in the order of the alphabet, as in the chapters.
	type cell struct {
		Type     string   `json:"cell_type"`
		ID       string   `json:"id"`
		Metadata struct{} `json:"metadata"`
		Source   []string `json:"source"`
	}
	markdown := func(id, text string) cell {
		return cell{Type: "markdown", ID: id, Source: slices.Collect(strings.Lines(text))}
	}
	if len(chapters) == 0 {
		return nil, fmt.Errorf("glossary: there are no chapters: there must be one for each term")
	}
	cells := []cell{markdown("title", "# Glossary\n\nThe words of this lesson, in the order of the alphabet. "+
		"A chapter links a word to this page where it uses it first. In the formulas, m, n and k are the sizes of a multiply, "+
		"b is the tile size and s the bytes of an element. Back to [the index]("+chapters[0].File+").")}
	for _, t := range Terms() {
		if t.Chapter < 0 || t.Chapter >= len(chapters) {
			return nil, fmt.Errorf("glossary: chapter of %q is %d: it must be from 0 to %d", t.Name, t.Chapter, len(chapters)-1)
		}
		cells = append(cells, markdown(t.Cell(), t.entry(chapters[t.Chapter])))
	}
	notebook := struct {
		Cells    []cell         `json:"cells"`
		Metadata map[string]any `json:"metadata"`
		Format   int            `json:"nbformat"`
		Minor    int            `json:"nbformat_minor"`
	}{cells, map[string]any{
		"kernelspec": map[string]string{"display_name": "Go (gonb)", "language": "go", "name": "gonb"},
		"language_info": map[string]string{
			"codemirror_mode": "", "file_extension": ".go", "mimetype": "text/x-go", "name": "go",
			"nbconvert_exporter": "", "pygments_lexer": "",
		},
	}, 4, 5}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(notebook); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// entry returns the term's cell of the page.
func (t Term) entry(in Chapter) string {
	parts := []string{"## " + t.Name, t.linked()}
	if t.Formula != "" {
		parts = append(parts, "$$"+t.Formula+"$$")
	}
	last := "Defined in [" + in.Title + "](" + in.File + ")."
	if t.Unit != "" {
		last = "Unit: " + t.Unit + ". " + last
	}
	if len(t.Not) > 0 {
		last += " Elsewhere also called *" + strings.Join(t.Not, "*, *") + "*."
	}
	if t.Source != "" {
		last += " Source: " + t.Source + "."
	}
	return strings.Join(append(parts, last), "\n\n")
}

// linked returns the definition with a link to each other term where it is
// first named.
func (t Term) linked() string {
	var b strings.Builder
	seen := map[string]bool{t.Name: true}
	at := 0
	for _, use := range Find(t.Definition) {
		if seen[use.Term.Name] || use.Term.Everyday || inComment(t.Definition, use.Start) {
			continue
		}
		seen[use.Term.Name] = true
		if strings.HasSuffix(t.Definition[:use.Start], "**") {
			continue // a term that is defined in the same sentence
		}
		fmt.Fprintf(&b, "%s[%s](#%s)", t.Definition[at:use.Start], t.Definition[use.Start:use.End], use.Term.Anchor())
		at = use.End
	}
	return b.String() + t.Definition[at:]
}

// inComment reports whether a place lies inside of an HTML comment.
func inComment(text string, at int) bool {
	return strings.LastIndex(text[:at], "<!--") > strings.LastIndex(text[:at], "-->")
}
