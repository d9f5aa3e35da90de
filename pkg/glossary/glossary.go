// Package glossary is the one list of the words of this lesson: what each term
// means, in which unit, and in which chapter it is defined.
//
// The page notebooks/glossary.ipynb is written from it, the definitions in the
// chapters are checked against it, and the docstrings of the packages may not
// use the names that it rules out. It needs the standard library alone.
package glossary

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Term is one word of the lesson, or a group of words with one meaning.
type Term struct {
	// Name is how the lesson calls it, in lower case unless it is always
	// written in capitals: "ridge point", "FLOP".
	Name string

	// Forms are other ways in which text names it: its plural, an
	// abbreviation, a short form.
	Forms []string

	// Everyday says that the name is an ordinary word too, such as "work". No
	// program can tell which of the two a sentence means.
	Everyday bool

	// Definition is one or two sentences of Markdown with the name in bold.
	// Numbers in it carry their key of package facts, as in the chapters.
	Definition string

	// Formula is the term in TeX, without dollar signs, or "".
	Formula string

	// Unit is what it is counted in: "FLOP/byte"; "" for what has none.
	Unit string

	// Chapter is the number of the chapter that defines it.
	Chapter int

	// Not are names that others give it and that this lesson does not use.
	Not []string

	// Source names the document that the term comes from, or is "".
	Source string
}

// Anchor is the name of the term's heading inside of its page. JupyterLab makes
// it from the heading by writing a dash for each space.
func (t Term) Anchor() string { return strings.ReplaceAll(t.Name, " ", "-") }

// Cell is the id of the term's cell on its page.
func (t Term) Cell() string { return "term-" + strings.ToLower(t.Anchor()) }

// Link is the address of the term's entry, as seen from a chapter. It names the
// cell: JupyterLab finds a cell at once, and a heading only on a page that is
// open already.
func (t Term) Link() string { return Page + "#cell-id=" + t.Cell() }

// names returns the name and the forms.
func (t Term) names() []string { return append([]string{t.Name}, t.Forms...) }

// Terms returns all terms in the order of the alphabet, upper and lower case
// alike. The caller may change the slice.
func Terms() []Term {
	all := slices.Clone(terms)
	slices.SortFunc(all, func(a, b Term) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return all
}

// Lookup returns the term with this name or form. Upper and lower case are
// alike, but for names that are all in capitals. An unknown name is an error
// that names the term which is meant, if the name is one that this lesson does
// not use.
func Lookup(name string) (Term, error) {
	for _, t := range terms {
		for _, n := range t.names() {
			if n == name || !capitals(n) && strings.EqualFold(n, name) {
				return t, nil
			}
		}
	}
	for _, t := range terms {
		for _, n := range t.Not {
			if strings.EqualFold(n, name) {
				return Term{}, fmt.Errorf("glossary: name is %q: this lesson says %q", name, t.Name)
			}
		}
	}
	return Term{}, fmt.Errorf("glossary: name is %q: it must be a term of the lesson, such as %q", name, "ridge point")
}

// capitals reports whether a name is written in capitals, such as MR.
func capitals(name string) bool { return len(name) > 1 && name == strings.ToUpper(name) }

// Use is a place where a text names a term.
type Use struct {
	Term       Term
	Start, End int // bytes of the text
}

// Find returns the places where a text names a term, from left to right. Of
// names that begin at one place the longest counts: "compulsory traffic" is no
// use of "traffic". Names must stand as words of their own; "FLOP" in
// "FLOP/byte" is part of a unit and no use.
func Find(text string) []Use {
	var found []Use
	for i := 0; i < len(text); {
		best := Use{}
		if i == 0 || !wordByte(text[i-1]) {
			for _, t := range terms {
				for _, name := range t.names() {
					if end := i + len(name); end-i > best.End-best.Start && matches(text, i, name) {
						best = Use{Term: t, Start: i, End: end}
					}
				}
			}
		}
		if best.End > i {
			found = append(found, best)
			i = best.End
			continue
		}
		i++
	}
	return found
}

// matches reports whether name stands at i as words of its own.
func matches(text string, i int, name string) bool {
	end := i + len(name)
	if end > len(text) || end < len(text) && (wordByte(text[end]) || text[end] == '/') {
		return false
	}
	if got := text[i:end]; got != name && (capitals(name) || !strings.EqualFold(got, name)) {
		return false
	}
	// A hyphen makes another word: "multi-core", "peak-rate". At the end of a
	// line or before a space it is a dash.
	return (i == 0 || text[i-1] != '-' && text[i-1] != '/') &&
		(end+1 >= len(text) || text[end] != '-' || !wordByte(text[end+1]))
}

// wordByte reports whether b belongs to a word. The names are ASCII, and the
// lesson writes no word with another letter; a sign such as × parts words.
func wordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

// RuledOut returns the names in a text that this lesson does not use, each with
// the term that it uses. Such a name may stand behind "also called". Slashes at
// the beginning of comment lines are no part of the text.
func RuledOut(text string) []string {
	text = strings.Join(strings.Fields(lineComment.ReplaceAllString(text, " ")), " ")
	var found []string
	for _, r := range ruled() {
		for _, m := range r.pattern.FindAllStringSubmatch(text, -1) {
			if m[1] == "" {
				found = append(found, fmt.Sprintf("%q: this lesson says %q", m[0], r.term))
			}
		}
	}
	return found
}

type rule struct {
	pattern *regexp.Regexp
	term    string
}

// ruled makes the patterns of the names that are ruled out, once.
var ruled = sync.OnceValue(func() []rule {
	var rules []rule
	for _, t := range terms {
		for _, name := range t.Not {
			rules = append(rules, rule{regexp.MustCompile(`(?i)(also called (?:its |the |a )?)?\b` + regexp.QuoteMeta(name) + `s?\b`), t.Name})
		}
	}
	return rules
})

var (
	lineComment = regexp.MustCompile(`(?m)^\s*//`)

	comment   = regexp.MustCompile(`<!--.*?-->`)
	link      = regexp.MustCompile(`\[([^\]]*)\]\([^)\s]*\)`)
	quoteMark = regexp.MustCompile(`(?m)^> ?`)
)

// Sentences returns the sentences of a definition as they are read aloud: no
// marks of Markdown, no links, no comments.
func Sentences(markdown string) []string {
	text := quoteMark.ReplaceAllString(comment.ReplaceAllString(markdown, ""), "")
	text = strings.ReplaceAll(link.ReplaceAllString(text, "$1"), "*", "")
	text = strings.Join(strings.Fields(text), " ")
	var sentences []string
	for text != "" {
		sentence, rest, more := strings.Cut(text, ". ")
		if more {
			sentence += "."
		}
		sentences, text = append(sentences, sentence), rest
	}
	return sentences
}
