package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memorywall/pkg/facts"
)

// A node is a fact, or what lies under a part of a key, in order.
type node struct {
	part  string
	fact  facts.Fact
	under []*node
}

// tree splits the keys of the report's facts at their points and brackets: a
// node under the root is a group. It returns the chapters too.
func tree(groups []facts.Group) (root *node, chapters []facts.Group) {
	root = &node{}
	for i, g := range groups {
		if g.Title == "" {
			return root, groups[i:]
		}
		for _, f := range g.Facts {
			at := root
			for _, part := range strings.FieldsFunc(g.Path(f), func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
				at = at.child(part)
			}
			at.fact = f
		}
	}
	return root, nil
}

func (n *node) child(part string) *node {
	for _, u := range n.under {
		if u.part == part {
			return u
		}
	}
	n.under = append(n.under, &node{part: part})
	return n.under[len(n.under)-1]
}

func (n *node) leaf() bool { return n.under == nil }
func (n *node) list() bool { return !n.leaf() && n.under[0].part == "0" }

// MarshalJSON keeps the order of the facts.
func (n *node) MarshalJSON() ([]byte, error) {
	if n.leaf() {
		return json.Marshal(n.fact.Value)
	}
	var parts []string
	for _, u := range n.under {
		value, err := u.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if !n.list() {
			value = fmt.Appendf(nil, "%q:%s", u.part, value)
		}
		parts = append(parts, string(value))
	}
	all := strings.Join(parts, ",")
	if n.list() {
		return []byte("[" + all + "]"), nil
	}
	return []byte("{" + all + "}"), nil
}

// printText prints the report, section by section under its key, and then the
// numbers of single chapters.
func printText(w io.Writer) error {
	groups, err := facts.Groups()
	if err != nil {
		return err
	}
	report, chapters := tree(groups)
	var b strings.Builder
	for i, n := range report.under {
		fmt.Fprintf(&b, "%s   [%s]\n", groups[i].Title, n.part)
		section(&b, n)
		b.WriteString("\n")
	}
	b.WriteString("Numbers of single chapters, by key\n")
	t := table(&b)
	for _, g := range chapters {
		for _, f := range g.Facts {
			f.Name = g.Path(f)
			line(t, f)
		}
	}
	t.Flush()
	_, err = io.WriteString(w, b.String())
	return err
}

// section prints an object as lines of name and value, and a list as a table.
func section(b *strings.Builder, n *node) {
	if n.list() {
		rows(b, n)
		return
	}
	t := table(b)
	for _, u := range n.under {
		if u.leaf() {
			line(t, u.fact)
			continue
		}
		t.Flush()
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(u.part, "_", " "))
		rows(b, u)
	}
	t.Flush()
}

func table(b *strings.Builder) *tabwriter.Writer { return tabwriter.NewWriter(b, 2, 0, 2, ' ', 0) }

func line(t io.Writer, f facts.Fact) {
	value, unit := f.Text()
	fmt.Fprintf(t, "\t%s\t%s\n", f.Name, strings.TrimSpace(value+" "+unit))
}

// rows prints a list of objects or of lists: a head of names and units where
// there are any, then the values.
func rows(b *strings.Builder, list *node) {
	first := list.under[0].under
	if !first[0].leaf() { // a list of tables
		for i, part := range list.under {
			if i > 0 {
				b.WriteString("    and\n")
			}
			rows(b, part)
		}
		return
	}
	t := tabwriter.NewWriter(b, 4, 0, 0, ' ', tabwriter.AlignRight)
	cells := func(row []*node, cell func(facts.Fact) string) {
		line := ""
		for _, n := range row {
			line += "  " + cell(n.fact) + "\t"
		}
		if strings.TrimSpace(line) != "" {
			fmt.Fprintln(t, line)
		}
	}
	cells(first, func(f facts.Fact) string { return f.Name })
	cells(first, func(f facts.Fact) string { _, unit := f.Text(); return unit })
	for _, row := range list.under {
		cells(row.under, func(f facts.Fact) string { value, _ := f.Text(); return value })
	}
	t.Flush()
}
