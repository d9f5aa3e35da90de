package lesson

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Table is a small table: one row for each entry of Rows, with as many cells
// as there are columns. A cell may be any number, string or value with a
// String method; whole numbers stand in full, other numbers to six significant
// digits.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]any
	Caption string

	heads []string // columns as a file of data names them, with units; nil: as Columns
	all   [][]any  // rows of a file of data; nil: as Rows
}

// check returns an error when a row does not fit the columns.
func (t Table) check() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("lesson: table %q: it has no columns: name at least one", t.Title)
	}
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return fmt.Errorf("lesson: table %q: row %d has %d cells: it must have %d, one for each column", t.Title, i+1, len(r), len(t.Columns))
		}
	}
	return nil
}

// Show displays the table.
func (t Table) Show() {
	Check(t.check())
	screen.show(block{HTML: t.html(), Text: t.text()})
}

// text writes the table in aligned columns.
func (t Table) text() string {
	width := make([]int, len(t.Columns)) // as fmt takes them: less than zero stands left-aligned
	right := t.numeric()
	for j, c := range t.Columns {
		width[j] = utf8.RuneCountInString(c)
		for _, r := range t.Rows {
			width[j] = max(width[j], utf8.RuneCountInString(plain(r[j])))
		}
		if !right[j] {
			width[j] = -width[j]
		}
	}
	var b strings.Builder
	line := func(cell func(j int) string) {
		parts := make([]string, len(width))
		for j := range width {
			parts[j] = fmt.Sprintf("%*s", width[j], cell(j))
		}
		b.WriteString(strings.TrimRight(strings.Join(parts, "  "), " ") + "\n")
	}
	if t.Title != "" {
		b.WriteString(t.Title + "\n")
	}
	line(func(j int) string { return t.Columns[j] })
	line(func(j int) string { return strings.Repeat("-", max(width[j], -width[j])) })
	for _, r := range t.Rows {
		line(func(j int) string { return plain(r[j]) })
	}
	if t.Caption != "" {
		b.WriteString(t.Caption + "\n")
	}
	return b.String()
}

// numeric tells which columns are set right-aligned: those that hold only
// numbers.
func (t Table) numeric() []bool {
	right := make([]bool, len(t.Columns))
	for j := range right {
		right[j] = len(t.Rows) > 0
		for _, r := range t.Rows {
			right[j] = right[j] && number(r[j])
		}
	}
	return right
}

// named tells whether the first cell of each row is its header: there are more
// cells, and no two rows begin with the same, or with nothing.
func (t Table) named() bool {
	if len(t.Columns) < 2 {
		return false
	}
	seen := map[string]bool{"": true}
	for _, r := range t.Rows {
		first := strings.TrimSpace(plain(r[0]))
		if seen[first] {
			return false
		}
		seen[first] = true
	}
	return true
}

func (t Table) html() string {
	var b strings.Builder
	right := t.numeric()
	names := t.named()
	style := func(j int, more string) string {
		if right[j] {
			return ` style="text-align:right;padding:2px 10px` + more + `"`
		}
		return ` style="text-align:left;padding:2px 10px` + more + `"`
	}
	b.WriteString(`<div style="overflow-x:auto;margin:4px 0">`)
	if t.Title != "" {
		b.WriteString(`<div><b>` + esc(t.Title) + `</b></div>`)
	}
	b.WriteString(`<table style="margin:4px 0;border-collapse:collapse"><thead><tr>`)
	for j, c := range t.Columns {
		if strings.TrimSpace(c) == "" { // it heads nothing
			b.WriteString(`<td` + style(j, "") + `></td>`)
			continue
		}
		b.WriteString(`<th scope="col"` + style(j, "") + `>` + esc(c) + `</th>`)
	}
	b.WriteString(`</tr></thead><tbody>`)
	for _, r := range t.Rows {
		b.WriteString(`<tr>`)
		for j, v := range r {
			if j == 0 && names {
				b.WriteString(`<th scope="row"` + style(j, ";font-weight:normal") + `>` + esc(plain(v)) + `</th>`)
				continue
			}
			b.WriteString(`<td` + style(j, "") + `>` + esc(plain(v)) + `</td>`)
		}
		b.WriteString(`</tr>`)
	}
	b.WriteString(`</tbody></table>`)
	if t.Caption != "" {
		b.WriteString(`<div style="` + styleMuted + `">` + esc(t.Caption) + `</div>`)
	}
	b.WriteString(`</div>`)
	return b.String()
}
