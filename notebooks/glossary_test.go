package notebooks

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memorywall/pkg/glossary"
)

// glossaryPage reads the page of all terms. It is no chapter.
func glossaryPage(t *testing.T) *notebook {
	t.Helper()
	data, err := os.ReadFile(glossary.Page)
	if err != nil {
		t.Fatal(err)
	}
	nb := &notebook{File: glossary.Page}
	if err := json.Unmarshal(data, nb); err != nil {
		t.Fatal(err)
	}
	return nb
}

// The page is the one that the list in pkg/glossary gives.
func TestGlossaryPage(t *testing.T) {
	all := chapters(t)
	var list []glossary.Chapter
	for _, nb := range all {
		list = append(list, glossary.Chapter{File: nb.File, Title: nb.title()})
	}
	want, err := glossary.Notebook(list)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(glossary.Page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(glossary.Page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what pkg/glossary gives: go test ./notebooks -run TestGlossaryPage -update", glossary.Page)
	}

	nb := glossaryPage(t)
	anchors := map[string]bool{}
	for _, c := range nb.Cells {
		if h := heading.FindStringSubmatch(string(c.Source)); h != nil {
			anchors[strings.ReplaceAll(h[2], " ", "-")] = true
		}
	}
	bad := func(format string, args ...any) { t.Errorf("%s: %s", nb.File, fmt.Sprintf(format, args...)) }
	checkFile(nb, bad)
	checkCells(nb, bad)
	checkHosts(nb, bad)
	for _, c := range nb.Cells {
		if c.code() {
			bad("cell %s: it is code: the page needs no kernel", c.ID)
		}
		l := lint{chapter: -1}
		l.run(string(c.Source))
		for _, p := range l.problems {
			bad("cell %s: %s", c.ID, p)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(string(c.Source), -1) {
			if anchor, inside := strings.CutPrefix(m[3], "#"); inside && !anchors[anchor] {
				bad("cell %s: link to #%s: no heading has that name", c.ID, anchor)
			} else if !inside && !slices.ContainsFunc(all, func(nb *notebook) bool { return nb.File == m[3] }) {
				bad("cell %s: link to %s: there is no such chapter", c.ID, m[3])
			}
		}
	}
	for _, term := range glossary.Terms() {
		if !anchors[term.Anchor()] {
			t.Errorf("%s has no heading for %q", glossary.Page, term.Name)
		}
	}
}

// disagreements returns where the definitions in the chapters and the list of
// terms differ: each term is defined in the chapter that the list names, with
// the sentences of the list, and each definition has its term.
func disagreements(all []*notebook, terms []glossary.Term) []string {
	var problems []string
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	byName := map[string]glossary.Term{}
	for _, t := range terms {
		byName[t.Name] = t
	}
	defined := map[string]bool{}
	for _, nb := range all {
		for _, c := range nb.Cells {
			if c.code() {
				continue
			}
			for _, m := range definition.FindAllStringSubmatch(string(c.Source), -1) {
				here := nb.File + " cell " + c.ID
				said := glossary.Sentences(m[2])
				for name := range strings.SplitSeq(m[1], ", ") {
					term, ok := byName[name]
					if !ok {
						bad("%s defines %q: pkg/glossary has no such term", here, name)
						continue
					}
					defined[name] = true
					if term.Chapter != nb.Chapter {
						bad("%s defines %q: pkg/glossary says chapter %02d", here, name, term.Chapter)
					}
					for _, sentence := range glossary.Sentences(term.Definition) {
						if !slices.Contains(said, sentence) {
							bad("%s defines %q without the sentence of pkg/glossary %q", here, name, sentence)
						}
					}
				}
			}
		}
	}
	for _, t := range terms {
		if !defined[t.Name] {
			bad("no chapter defines %q: write > **Definition: %s.** …", t.Name, t.Name)
		}
	}
	return problems
}

func TestGlossaryAndChaptersAgree(t *testing.T) {
	for _, p := range disagreements(chapters(t), glossary.Terms()) {
		t.Error(p)
	}
}

// Prose says each thing in one word.
func TestChaptersUseTheTerms(t *testing.T) {
	for _, nb := range chapters(t) {
		for _, c := range nb.Cells {
			if c.code() {
				continue
			}
			for _, p := range glossary.RuledOut(string(c.Source)) {
				t.Errorf("%s: cell %s: %s", nb.File, c.ID, p)
			}
		}
	}
}

// mention is a place in a chapter's prose that names a term.
type mention struct {
	term       glossary.Term
	cell       *cell
	start, end int  // bytes of the cell's source
	linked     bool // it links to the term's entry
	defines    bool // it stands in the term's definition
}

var (
	inlineCode    = regexp.MustCompile("`[^`\n]*`")
	mathBlock     = regexp.MustCompile(`(?s)\$\$.*?\$\$`)
	mathInLine    = regexp.MustCompile(`\$[^$\n]+\$`)
	htmlComment   = regexp.MustCompile(`(?s)<!--.*?-->`)
	headingLine   = regexp.MustCompile(`(?m)^#+ .*$`)
	questionLine  = regexp.MustCompile(`(?m)^> \*\*Question\.\*\* .*$`)
	definitionTag = regexp.MustCompile(`\*\*Definition: [^*]+\.\*\*`)
	termLink      = regexp.MustCompile(`\[([^\]]*)\]\(` + regexp.QuoteMeta(glossary.Page) + `#([^)\s]*)\)`)
)

// mentions returns the places where the prose of a chapter names a term, in
// their order. Headings, the chapter's question, code, formulas, the map of the
// index and the names of other links are no prose.
func mentions(nb *notebook) []mention {
	var all []mention
	for _, c := range nb.Cells {
		if c.code() || nb.Chapter == 0 && c.ID == "map" {
			continue
		}
		text := []byte(c.Source)
		hide := func(from, to int) {
			for i := from; i < to; i++ {
				if text[i] != '\n' {
					text[i] = ' '
				}
			}
		}
		for _, pattern := range []*regexp.Regexp{fencedBlock, htmlComment, inlineCode, mathBlock, mathInLine, headingLine, questionLine, definitionTag} {
			for _, m := range pattern.FindAllIndex(text, -1) {
				hide(m[0], m[1])
			}
		}
		type span struct {
			start, end int
			anchor     string
		}
		var links []span
		for _, m := range termLink.FindAllSubmatchIndex(text, -1) {
			links = append(links, span{m[2], m[3], string(text[m[4]:m[5]])})
		}
		for _, m := range markdownLink.FindAllSubmatchIndex(text, -1) {
			if i := slices.IndexFunc(links, func(l span) bool { return l.start == m[4] }); i < 0 {
				hide(m[0], m[1])
			} else {
				hide(m[0], m[4])
				hide(m[5], m[1])
			}
		}
		definitions := definition.FindAllSubmatchIndex([]byte(c.Source), -1)
		for _, use := range glossary.Find(string(text)) {
			found := mention{term: use.Term, cell: c, start: use.Start, end: use.End}
			for _, l := range links {
				found.linked = found.linked || l.start <= use.Start && use.End <= l.end && glossary.Page+"#"+l.anchor == use.Term.Link()
			}
			for _, d := range definitions {
				names := strings.Split(string(c.Source)[d[2]:d[3]], ", ")
				found.defines = found.defines || d[0] <= use.Start && use.End <= d[1] && slices.Contains(names, use.Term.Name)
			}
			all = append(all, found)
		}
	}
	return all
}

// unlinked returns what is wrong with a chapter's links to the glossary. Each
// term that the chapter names is linked once: where the chapter defines it, or
// else where it names it first. A term that is an ordinary word too need be
// linked only where it is defined.
func unlinked(nb *notebook) []string {
	var problems []string
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	found := mentions(nb)
	for _, term := range glossary.Terms() {
		var of []mention
		links := 0
		for _, m := range found {
			if m.term.Name == term.Name {
				of = append(of, m)
				if m.linked {
					links++
				}
			}
		}
		if links > 1 {
			bad("%q is linked %d times: once is enough", term.Name, links)
		}
		if links == 1 && (len(of) == 0 || !of[0].linked) && term.Chapter != nb.Chapter && !term.Everyday {
			bad("cell %s names %q first: link it there", of[0].cell.ID, term.Name)
		}
		switch {
		case term.Chapter == nb.Chapter:
			if !slices.ContainsFunc(of, func(m mention) bool { return m.defines && m.linked }) {
				bad("the definition of %q has no link: write [**%s**](%s)", term.Name, term.Name, term.Link())
			}
		case links == 0 && len(of) > 0 && !term.Everyday:
			bad("cell %s names %q: write [%s](%s)", of[0].cell.ID, term.Name, string(of[0].cell.Source)[of[0].start:of[0].end], term.Link())
		}
	}
	for _, c := range nb.Cells {
		if c.code() {
			continue
		}
		for _, m := range termLink.FindAllStringSubmatch(string(c.Source), -1) {
			name := strings.Trim(m[1], "*")
			term, err := glossary.Lookup(name)
			if err != nil || term.Link() != glossary.Page+"#"+m[2] {
				bad("cell %s: %q links to #%s: that is not its entry", c.ID, name, m[2])
			}
		}
	}
	return problems
}

func TestTermsAreLinkedAtTheirFirstUse(t *testing.T) {
	links := 0
	for _, nb := range chapters(t) {
		for _, p := range unlinked(nb) {
			t.Errorf("%s: %s", nb.File, p)
		}
		for _, m := range mentions(nb) {
			if m.linked {
				links++
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links to the glossary in all chapters: is the check reading them?", links)
	}
}

func TestGlossaryFindsPlantedMistakes(t *testing.T) {
	tile := glossary.Term{Name: "tile", Chapter: 4, Definition: "A **tile** is a square piece."}
	chapter := func(number int, source string) *notebook {
		return &notebook{File: "a", Chapter: number, Cells: []*cell{{Type: "markdown", ID: "idea", Source: lines(source)}}}
	}
	const good = "> **Definition: tile.** A [**tile**](glossary.ipynb#cell-id=term-tile) is a square piece.\n> It is small."
	for source, problem := range map[string]string{
		good: "",
		strings.Replace(good, "square", "small", 1):     `without the sentence of pkg/glossary "A tile is a square piece."`,
		good + "\n\n> **Definition: slab.** A **slab**": `pkg/glossary has no such term`,
		"No definition": `no chapter defines "tile"`,
	} {
		got := strings.Join(disagreements([]*notebook{chapter(4, source)}, []glossary.Term{tile}), "\n")
		if (problem == "") != (got == "") || !strings.Contains(got, problem) {
			t.Errorf("%q: problems are %q: want %q", source, got, problem)
		}
	}
	if got := strings.Join(disagreements([]*notebook{chapter(5, good)}, []glossary.Term{tile}), "\n"); !strings.Contains(got, "says chapter 04") {
		t.Errorf("problems of a definition in another chapter are %q", got)
	}

	// In a chapter that defines none of these words.
	const link = "[ridge point](glossary.ipynb#cell-id=term-ridge-point)"
	for source, problem := range map[string]string{
		"The " + link + " of a chip. A ridge point.":                                         "",
		"The ridge point of a chip.":                                                         `names "ridge point": write [ridge point](glossary.ipynb#cell-id=term-ridge-point)`,
		"A ridge point, the " + link + ".":                                                   `names "ridge point" first`,
		link + " and " + link:                                                                "is linked 2 times",
		"[roof](glossary.ipynb#cell-id=term-ridge-point)":                                    "that is not its entry",
		"[it](glossary.ipynb#cell-id=term-ridge-point)":                                      "that is not its entry",
		"## The ridge point\n\nIt is `ridge point`, $ridge point$":                           "",
		"> **Question.** Where is the ridge point?":                                          "",
		"```\nridge point\n```\n\nand [ridge point](00_index.ipynb) <!--fact ridge point-->": "",
		"A set of works": "",
	} {
		got := strings.Join(slices.DeleteFunc(unlinked(chapter(99, source)), func(p string) bool { return strings.HasPrefix(p, "the definition") }), "\n")
		if (problem == "") != (got == "") || !strings.Contains(got, problem) {
			t.Errorf("%q: problems are %q: want %q", source, got, problem)
		}
	}
	const open = "> **Definition: ridge tile.** The **ridge tile** is"
	if got := strings.Join(unlinked(chapter(5, open)), "\n"); !strings.Contains(got, `the definition of "ridge tile" has no link`) {
		t.Errorf("problems of a definition without its link are %q", got)
	}
}
