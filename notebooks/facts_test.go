package notebooks

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"memorywall/pkg/chips"
	"memorywall/pkg/facts"
	"memorywall/pkg/transformer"
)

// Every number that a chapter says must be one that the code computes. In
// prose each numeral has a comment right behind it that names the number in
// pkg/facts, which may be scaled:
//
//	153.0<!--fact chip.ridge_flop_per_byte--> FLOP/byte
//	2039<!--fact chip.bandwidth_bytes_per_s/1e9--> GB/s
//
// In formulas and code, where no comment can stand, numbers of two digits or
// more and numbers with a point are named by a comment at the end of the cell:
//
//	<!--facts 701784=ridge_tile_4096_fp16.fast_bytes_at_exact; 342=ridge_tile_4096_fp16.exact-->
func TestNumbersInText(t *testing.T) {
	all := chapters(t)
	keyed := 0
	for _, nb := range all {
		figures := nb.figures()
		for _, c := range nb.Cells {
			if c.code() || c.ID == "further-reading" { // which has the years of its references
				continue
			}
			l := lint{chapter: nb.Chapter, title: c.ID == "title", figures: figures}
			l.run(string(c.Source))
			for _, p := range l.problems {
				t.Errorf("%s: cell %s: %s", nb.File, c.ID, p)
			}
			keyed += l.keyed
		}
	}
	if keyed < 100 {
		t.Errorf("only %d numbers with a key in all chapters: is the check reading them?", keyed)
	}
}

// lint reads the markdown of one cell.
type lint struct {
	chapter int
	title   bool            // this is the cell with the title of the chapter
	figures map[string]bool // "2.1" for each figure of the chapter

	problems []string
	keyed    int // numbers that were compared
}

func (l *lint) bad(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

var (
	factsComment = regexp.MustCompile(`<!--facts ([^>]*)-->`)
	factComment  = regexp.MustCompile(`^<!--fact ([^>]*)-->`)
	anyNumeral   = regexp.MustCompile(`^[−]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:/\d+)?`)
	setting      = regexp.MustCompile(`^[A-Za-z_]\w*( = [A-Za-z_]\w*)* = \S+$`)
	chapterLink  = regexp.MustCompile(`^\[(\d\d) · [^\]]*\]\((\d\d)_[a-z0-9_]+\.ipynb(?:#[^)]*)?\)`)
	chapterTitle = regexp.MustCompile(`^# (\d\d) · `)
	figureName   = regexp.MustCompile(`^(Figure|Figures) (\d+\.\d+)`)
	questionName = regexp.MustCompile(`^\*\*Question \d+ \(`)
	listItem     = regexp.MustCompile(`^\s*\d{1,2}\. `)
	htmlTag      = regexp.MustCompile(`^</?[a-z][^>]*>`)
	linkTarget   = regexp.MustCompile(`^\]\([^)]*\)`)
)

// names with a digit that no letter stands before. In all others one does, as in
// A100 and FP16.
var names = func() []string {
	list := []string{"80GB SXM", "Llama 2", "Llama 3"}
	for _, m := range transformer.Presets() {
		list = append(list, m.Name)
	}
	for _, c := range chips.All() {
		list = append(list, c.Name)
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}()

func (l *lint) run(text string) {
	// What the comments at the end cover.
	cover := map[string]bool{} // numeral → used
	text = factsComment.ReplaceAllStringFunc(text, func(comment string) string {
		for entry := range strings.SplitSeq(factsComment.FindStringSubmatch(comment)[1], ";") {
			shown, expr, ok := strings.Cut(strings.TrimSpace(entry), "=")
			if !ok {
				l.bad("comment entry %q: it must be number=key", entry)
				continue
			}
			l.check(shown, expr)
			if _, twice := cover[shown]; twice {
				l.bad("comment names %s twice", shown)
			}
			cover[shown] = false
		}
		return ""
	})
	covered := func(numbers []string, where string) {
		for _, n := range numbers {
			if _, ok := cover[n]; !ok {
				l.bad("number %s in %s %.60q has no key: name it in <!--facts %s=key-->", n, "a formula or code", where, n)
				continue
			}
			cover[n] = true
		}
	}

	// Formulas first: they may run over lines.
	var prose strings.Builder
	for rest := text; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "```"):
			block, after, ok := strings.Cut(rest[3:], "```")
			if !ok {
				l.bad("code block without an end")
			}
			covered(numbersInCode(block), block)
			rest = after
		case rest[0] == '`':
			code, after, ok := strings.Cut(rest[1:], "`")
			if !ok {
				l.bad("code without an end: %.40q", rest)
			}
			if !setting.MatchString(code) {
				covered(numbersInCode(code), code)
			}
			prose.WriteByte('`') // keeps what stands before and after apart
			rest = after
		case rest[0] == '$':
			mark := "$"
			if strings.HasPrefix(rest, "$$") {
				mark = "$$"
			}
			formula, after, ok := strings.Cut(rest[len(mark):], mark)
			if !ok {
				l.bad("formula without an end: %.40q", rest)
			}
			covered(numbersInFormula(formula), formula)
			prose.WriteByte('$')
			rest = after
		case strings.HasPrefix(rest, `\$`):
			rest = rest[2:]
		default:
			_, n := utf8.DecodeRuneInString(rest)
			prose.WriteString(rest[:n])
			rest = rest[n:]
		}
	}
	for line := range strings.Lines(prose.String()) {
		l.line(strings.TrimRight(line, "\n"))
	}
	for _, n := range slices.Sorted(func(yield func(string) bool) {
		for n, used := range cover {
			if !used && !yield(n) {
				return
			}
		}
	}) {
		l.bad("comment names %s, which no formula and no code of this cell shows", n)
	}
}

// line reads one line of prose, without formulas and code.
func (l *lint) line(line string) {
	isHeading := strings.HasPrefix(line, "#")
	if l.title {
		if m := chapterTitle.FindStringSubmatch(line); m != nil && m[1] == fmt.Sprintf("%02d", l.chapter) {
			line = line[len(m[0]):]
		}
	}
	if m := questionName.FindString(line); m != "" {
		line = line[len(m):] // that they count up is checked with the structure
	}
	if m := listItem.FindString(line); m != "" {
		line = line[len(m):]
	}
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		if m := figureName.FindStringSubmatch(line); m != nil {
			if !l.figures[m[2]] {
				l.bad("Figure %s is not in this chapter", m[2])
			}
			line = line[len(m[0]):]
			continue
		}
		if m := chapterLink.FindStringSubmatch(line); m != nil {
			if m[1] != m[2] {
				l.bad("link to chapter %s is named %s", m[2], m[1])
			}
			line = line[len(m[0]):]
			continue
		}
		if skip := firstOf(line, linkTarget, htmlTag); skip > 0 {
			line = line[skip:]
			continue
		}
		if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(line, n) }); i >= 0 {
			line = line[len(names[i]):]
			continue
		}
		if unicode.IsLetter(r) || r == '_' {
			end := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
			if end < 0 {
				end = len(line)
			}
			line = line[end:]
			continue
		}
		n := anyNumeral.FindString(line)
		if n == "" {
			if factComment.MatchString(line) {
				l.bad("comment %.60q does not stand right behind a number", line)
				line = line[len(factComment.FindString(line)):]
				continue
			}
			line = line[size:]
			continue
		}
		line = line[len(n):]
		m := factComment.FindStringSubmatch(line)
		switch {
		case isHeading:
			l.bad("number %s in a heading: write headings without numbers", n)
		case m == nil:
			l.bad("number %s in %q has no key: write %s<!--fact key-->, or a small count as a word", n, n+firstRunes(line, 20), n)
		default:
			l.check(n, m[1])
		}
		if m != nil {
			line = line[len(m[0]):]
		}
		if r, _ := utf8.DecodeRuneInString(line); unicode.IsDigit(r) || unicode.IsLetter(r) {
			l.bad("number %s runs on into %q", n, firstRunes(line, 10))
		}
	}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func firstOf(line string, patterns ...*regexp.Regexp) int {
	for _, p := range patterns {
		if m := p.FindString(line); m != "" && !strings.HasPrefix(m, "<!--") {
			return len(m)
		}
	}
	return 0
}

func (l *lint) check(shown, expr string) {
	l.keyed++
	if err := facts.Check(shown, expr); err != nil {
		l.bad("%v", err)
	}
}

var (
	codeWord    = regexp.MustCompile(`[\p{L}_][\p{L}\d_]*`)
	codeNumeral = regexp.MustCompile(`\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?`)
	// Powers of ten are notation; an index is a place.
	powerOfTen = regexp.MustCompile(`\b10\^(?:\d|\{-?\d+\})`)
	subscript  = regexp.MustCompile(`_(?:\d|\{[^{}]*\})`)
	command    = regexp.MustCompile(`\\[A-Za-z]+`)
	thousands  = regexp.MustCompile(`(\d)(?:\{,\}|\\,)(\d{3})`)
)

// numbersInCode returns the numbers of two digits or more, or with a point.
func numbersInCode(code string) []string { return longNumbers(codeWord.ReplaceAllString(code, " ")) }

// numbersInFormula does so for TeX.
func numbersInFormula(tex string) []string {
	for thousands.MatchString(tex) {
		tex = thousands.ReplaceAllString(tex, "$1$2")
	}
	tex = powerOfTen.ReplaceAllString(tex, " ")
	tex = subscript.ReplaceAllString(tex, " ")
	tex = command.ReplaceAllString(tex, " ")
	return longNumbers(tex)
}

func longNumbers(s string) []string {
	var long []string
	for _, n := range codeNumeral.FindAllString(s, -1) {
		n = strings.NewReplacer(",", "", "_", "").Replace(n)
		if len(n) > 1 {
			long = append(long, n)
		}
	}
	return long
}

// Titles and alt texts of figures say numbers too. They are made when the cell
// runs, from what it computed, so their text in the cell holds none.
func TestNoNumberIsTypedIntoAFigure(t *testing.T) {
	for _, nb := range chapters(t) {
		for _, c := range nb.Cells {
			if !c.code() || c.tagged("setup") {
				continue
			}
			for _, p := range typedNumbers(c) {
				t.Errorf("%s: cell %s: %s", nb.File, c.ID, p)
			}
		}
	}
	const plots = "../pkg/lesson/plots.go" // the figures that cells draw with one call
	file, err := parser.ParseFile(token.NewFileSet(), plots, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range typedIn(file) {
		t.Errorf("%s: %s", plots, p)
	}
}

var (
	verb     = regexp.MustCompile(`%[-+# 0]*\d*(?:\.\d+)?[a-zA-Z]`)
	figureNo = regexp.MustCompile(`^Figure \d+\.\d+\. `)
)

func typedNumbers(c *cell) []string {
	program, err := c.program()
	if err != nil {
		return []string{err.Error()}
	}
	file, err := parser.ParseFile(token.NewFileSet(), c.ID, program, 0)
	if err != nil {
		return []string{err.Error()}
	}
	return typedIn(file)
}

func typedIn(file *ast.File) (problems []string) {
	look := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				problems = append(problems, err.Error())
				return true
			}
			s = verb.ReplaceAllString(figureNo.ReplaceAllString(s, ""), " ")
			for _, n := range numbersInCode(s) {
				problems = append(problems, fmt.Sprintf("number %s is typed into %.60q: compute it", n, s))
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Title", "Alt", "Label", "Caption"}, key.Name) {
				look(n.Value)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Roofline" {
				for _, arg := range n.Args[1:min(3, len(n.Args))] {
					look(arg)
				}
			}
		}
		return true
	})
	return problems
}
