// Package notebooks holds the chapters of the lesson, and the tests that hold
// for every one of them. They need no kernel.
package notebooks

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"go/format"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memorywall/pkg/glossary"
)

func TestChaptersAreNumberedWithoutGaps(t *testing.T) {
	for i, nb := range chapters(t) {
		if nb.Chapter != i {
			t.Errorf("%s: its number is %02d: it must be %02d", nb.File, nb.Chapter, i)
		}
	}
}

func TestStructure(t *testing.T) {
	all := chapters(t)
	for _, nb := range all {
		t.Run(nb.File, func(t *testing.T) {
			for _, p := range nb.problems(all) {
				t.Error(p)
			}
		})
	}
}

// problems returns what is wrong with a chapter, apart from its numbers.
func (nb *notebook) problems(all []*notebook) []string {
	var ps []string
	for _, check := range []func(*notebook, func(string, ...any)){
		checkFile, checkCells, checkOutputs, checkSetup, checkSections,
		checkParameters, checkQuestions, checkFigures, checkCode, checkHosts, checkLists, checkLength,
	} {
		check(nb, func(format string, args ...any) { ps = append(ps, fmt.Sprintf(format, args...)) })
	}
	checkLinks(nb, all, func(format string, args ...any) { ps = append(ps, fmt.Sprintf(format, args...)) })
	return ps
}

func checkFile(nb *notebook, bad func(string, ...any)) {
	if nb.Format != 4 || nb.Minor != 5 {
		bad("nbformat is %d.%d: it must be 4.5", nb.Format, nb.Minor)
	}
	for _, key := range slices.Sorted(maps.Keys(nb.Metadata)) {
		if key != "kernelspec" && key != "language_info" {
			bad("metadata has %q: it may hold kernelspec and language_info alone", key)
		}
	}
	var kernel struct {
		Name     string `json:"name"`
		Language string `json:"language"`
	}
	if err := json.Unmarshal(nb.Metadata["kernelspec"], &kernel); err != nil {
		bad("kernelspec: %v", err)
	}
	if kernel.Name != "gonb" || kernel.Language != "go" {
		bad("kernelspec is %q for %q: it must be \"gonb\" for \"go\"", kernel.Name, kernel.Language)
	}
}

var (
	cellID    = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	knownTags = []string{"setup", "parameters", "question", "answer", "machine", "recorded"}
)

func checkCells(nb *notebook, bad func(string, ...any)) {
	seen := map[string]bool{}
	count := 0
	for _, c := range nb.Cells {
		if !cellID.MatchString(c.ID) {
			bad("cell id %q: it must be words in lower case with dashes", c.ID)
		}
		if seen[c.ID] {
			bad("cell id %q is there twice", c.ID)
		}
		seen[c.ID] = true
		if c.Type != "markdown" && c.Type != "code" {
			bad("cell %s: type is %q: it must be markdown or code", c.ID, c.Type)
		}
		if strings.TrimSpace(string(c.Source)) == "" {
			bad("cell %s is empty", c.ID)
		}
		for _, key := range slices.Sorted(maps.Keys(c.Metadata)) {
			if key != "tags" && !(key == "jupyter" && (c.tagged("answer") || c.folded())) {
				bad("cell %s: metadata has %q: no times, no trust, no state of a viewer", c.ID, key)
			}
		}
		for _, tag := range c.tags() {
			if !slices.Contains(knownTags, tag) {
				bad("cell %s: tag is %q: it must be one of %v", c.ID, tag, knownTags)
			}
		}
		if c.code() {
			count++
			if c.Count == nil || *c.Count != count {
				bad("cell %s: execution count: it must be %d", c.ID, count)
			}
		}
	}
}

func checkOutputs(nb *notebook, bad func(string, ...any)) {
	hosts, measured := 0, false
	defer func() {
		if measured && hosts != 1 {
			bad("%d cells name the host in full: one must, the others with lesson.Tag", hosts)
		}
	}()
	for _, c := range nb.Cells {
		if !c.code() {
			continue
		}
		if len(c.Outputs) == 0 && !c.tagged("setup") {
			bad("cell %s: it has no output: run scripts/notebooks update", c.ID)
		}
		full := strings.Contains(c.plain(), "GOMAXPROCS")
		if full && c.tagged("machine") {
			hosts++
		}
		if c.tagged("machine") && !full && !strings.Contains(c.plain(), "Measured on ") {
			bad("cell %s: its output depends on the machine: it must name the host, with machine.ReadHost once in the chapter, else with lesson.Tag", c.ID)
		}
		measured = measured || c.tagged("machine")
		for _, o := range c.Outputs {
			switch {
			case o.Type == "error":
				bad("cell %s: its output is an error: %s %s", c.ID, o.Ename, o.Evalue)
			case o.Type == "stream":
				bad("cell %s: it prints to %s: show it with a call of pkg/lesson, or the order is lost", c.ID, o.Name)
			case len(o.Metadata) > 0:
				bad("cell %s: an output has metadata", c.ID)
			}
			for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
				if s := o.data(mime); strings.Contains(s, "✗") {
					bad("cell %s: an output shows a failed check: %.120s", c.ID, s)
				}
			}
		}
	}
}

// setupCell keeps GoNB from asking the network for packages; its first line says so
// to the reader, above whose title it stands.
const setupCell = "// The packages of this lesson are here already: Go need not look for them elsewhere.\n%noautoget"

func checkSetup(nb *notebook, bad func(string, ...any)) {
	if len(nb.Cells) == 0 {
		bad("there are no cells")
		return
	}
	for i, c := range nb.Cells {
		if c.tagged("setup") != (i == 0) {
			bad("cell %s: the first cell, and no other, has the tag setup", c.ID)
		}
	}
	if c := nb.Cells[0]; !c.code() || c.Source != setupCell {
		bad("the first cell is %q: it must be %q", c.Source, setupCell)
	}
}

// The sections of every chapter, in this order. A heading may go on after a
// colon or in other words: "## The idea: two clocks run at once".
var sections = []string{
	"The idea", "The formula", "By hand", "In code", "The picture",
	"Try it", "Check yourself", "Keep this",
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```[ \t]*$")
	heading     = regexp.MustCompile(`(?m)^(#+)[ \t]+(.+?)[ \t]*$`)
	bold        = regexp.MustCompile(`(?s)\*\*[^*]+[.!?]\*\*`)
	sentenceEnd = regexp.MustCompile(`[.!?]\s`)
)

func checkSections(nb *notebook, bad func(string, ...any)) {
	next, level := 0, 0
	worked, section := map[string]bool{}, ""
	for i, c := range nb.Cells {
		if c.code() {
			continue
		}
		text := fencedBlock.ReplaceAllString(string(c.Source), "")
		for _, h := range heading.FindAllStringSubmatch(text, -1) {
			depth, title := len(h[1]), h[2]
			if (depth == 1) != (i == 1) {
				bad("cell %s: heading %q: the one heading with a single # belongs into the second cell", c.ID, title)
			}
			if depth > level+1 {
				bad("cell %s: heading %q skips a level", c.ID, title)
			}
			level = depth
			if depth == 1 && nb.Chapter > 0 && !strings.HasPrefix(title, prefix(nb.Chapter)) {
				bad("cell %s: title is %q: it must begin with %q", c.ID, title, prefix(nb.Chapter))
			}
			if depth == 2 && next < len(sections) && (title == sections[next] || strings.HasPrefix(title, sections[next]+":")) {
				section = sections[next]
				next++
			}
		}
		worked[section] = worked[section] || strings.Contains(text, "> **Example.** ")
	}
	if next > 1 && !worked["The formula"] {
		bad("section \"## The formula\" has no line with numbers: write > **Example.** …")
	}
	if next < len(sections) {
		bad("section \"## %s\" is missing, or out of order", sections[next])
	}
	if len(nb.Cells) < 3 {
		bad("only %d cells", len(nb.Cells))
		return
	}
	if title := nb.Cells[1]; title.ID != "title" || !strings.Contains(string(title.Source), "\n> **Question.** ") {
		bad("the second cell must have the id title and hold the question of the chapter")
	}
	last := nb.Cells[len(nb.Cells)-1]
	kept := bold.FindAllString(string(last.Source), -1)
	if last.ID != "keep" || !strings.HasPrefix(string(last.Source), "## Keep this\n") || len(kept) != 1 {
		bad("the last cell must have the id keep, the heading \"## Keep this\" and one sentence in bold")
	} else if sentenceEnd.MatchString(kept[0]) {
		bad("cell %s: it keeps %q: that must be one sentence", last.ID, kept[0])
	}
}

// maxWords is how much prose a chapter may have: its text without code and comments.
const maxWords = 3000

func checkLength(nb *notebook, bad func(string, ...any)) {
	words := 0
	for _, c := range nb.Cells {
		if !c.code() {
			words += len(strings.Fields(allComments.ReplaceAllString(fencedBlock.ReplaceAllString(string(c.Source), ""), "")))
		}
	}
	if words > maxWords {
		bad("%d words of prose: it may have %d", words, maxWords)
	}
}

// maxTryLines is how long a cell with constants to change may be.
const maxTryLines = 25

var constBlock = regexp.MustCompile(`(?m)^// Try: .+\n(?:// .+\n)*const \(\n`)

func checkParameters(nb *notebook, bad func(string, ...any)) {
	found := false
	for _, c := range nb.Cells {
		if !c.tagged("parameters") {
			continue
		}
		found = true
		source := string(c.Source)
		if !constBlock.MatchString(source) {
			bad("cell %s: it must say // Try: …, and then hold its constants in const ( … )", c.ID)
		}
		if !figureCall.MatchString(source) {
			bad("cell %s: it must hold the figure as well", c.ID)
		}
		if lines := strings.Count(source, "\n") + 1; lines > maxTryLines {
			bad("cell %s: it has %d lines: a reader changes at most %d without fear: the constants, lines that read like the formulas, one call that draws", c.ID, lines, maxTryLines)
		}
		if !strings.Contains(source, "lesson.Holds(") {
			bad("cell %s: it must assert what always holds", c.ID)
		}
		if strings.Contains(source, "lesson.Shows(") {
			bad("cell %s: it asserts a quoted number, which another constant turns red", c.ID)
		}
	}
	if !found {
		bad("no cell has the tag parameters")
	}
}

var (
	questionHead = regexp.MustCompile(`^\*\*Question (\d+) \((recall|reason|compute|change the code)\)\.\*\* `)
	foldedAnswer = regexp.MustCompile(`(?s)\n\n<details><summary>Answer</summary>\n\n.+\n\n</details>(\n\n<!--facts .+-->)?$`)
)

func checkQuestions(nb *notebook, bad func(string, ...any)) {
	var kinds []string
	n := 0
	for i, c := range nb.Cells {
		if c.tagged("answer") && (i == 0 || !nb.Cells[i-1].tagged("question")) {
			bad("cell %s: an answer must follow its question", c.ID)
		}
		if !c.tagged("question") {
			continue
		}
		n++
		if c.ID != "q"+strconv.Itoa(n) {
			bad("cell %s: the id of this question must be q%d", c.ID, n)
		}
		m := questionHead.FindStringSubmatch(string(c.Source))
		if m == nil || m[1] != strconv.Itoa(n) {
			bad("cell %s: it must begin with **Question %d (recall|reason|compute|change the code).**", c.ID, n)
		} else {
			kinds = append(kinds, m[2])
		}
		if !foldedAnswer.MatchString(string(c.Source)) {
			bad("cell %s: its answer must be folded: <details><summary>Answer</summary> …", c.ID)
		}
		if i+1 == len(nb.Cells) || !nb.Cells[i+1].tagged("answer") || !nb.Cells[i+1].code() {
			bad("cell %s: a code cell with the tag answer must follow", c.ID)
			continue
		}
		a := nb.Cells[i+1]
		if a.ID != "a"+strconv.Itoa(n) {
			bad("cell %s: the id of this answer must be a%d", a.ID, n)
		}
		var fold struct {
			Source  bool `json:"source_hidden"`
			Outputs bool `json:"outputs_hidden"`
		}
		if err := json.Unmarshal(a.Metadata["jupyter"], &fold); err != nil || !fold.Source || !fold.Outputs {
			bad("cell %s: it must be folded: source_hidden and outputs_hidden", a.ID)
		}
		if !strings.Contains(a.html(), "✓") {
			bad("cell %s: it asserts nothing", a.ID)
		}
	}
	if n < 5 {
		bad("%d questions: there must be at least five", n)
	}
	if len(kinds) > 0 && (kinds[0] != "recall" || kinds[len(kinds)-1] != "change the code") {
		bad("questions go from (%s) to (%s): they must rise from (recall) to (change the code)", kinds[0], kinds[len(kinds)-1])
	}
}

var (
	anyComment = regexp.MustCompile(`<!--.*?-->`)
	numbered   = regexp.MustCompile(`^[ >]*(\d{1,9})[.)](?:\s|$)`)
)

// checkLists looks for a sentence that begins with a number and is short, such as
// an answer "12.": Markdown makes it the twelfth item of a list.
func checkLists(nb *notebook, bad func(string, ...any)) {
	for _, c := range nb.Cells {
		if c.code() {
			continue
		}
		for _, p := range strayItems(string(c.Source)) {
			bad("cell %s: %s", c.ID, p)
		}
	}
}

func strayItems(text string) (problems []string) {
	item := 0
	for line := range strings.Lines(fencedBlock.ReplaceAllString(text, "")) {
		m := numbered.FindStringSubmatch(anyComment.ReplaceAllString(line, ""))
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if n != 1 && n != item+1 {
			problems = append(problems, fmt.Sprintf("%.40q begins with a number and a point, which is an item of a list: begin with a word", line))
		}
		item = n
	}
	return problems
}

var (
	imageTag    = regexp.MustCompile(`<img\b[^>]*>`)
	attribute   = regexp.MustCompile(`\b(alt|src|id)="([^"]*)"`)
	svgPicture  = "data:image/svg+xml;base64,"
	figureID    = regexp.MustCompile(`figure-(\d+)-(\d+)"`)
	figureTitle = regexp.MustCompile(`"Figure (\d+)\.(\d+)\. `)
	figureCall  = regexp.MustCompile(`lesson\.(Figure\{|ShowMatrixSteps\(|[A-Z]\w+\(\s*"figure-)`)

	explorerCall = regexp.MustCompile(`lesson\.Explorer\("(\w+)"`)
)

// checkFigures looks at the calls that make figures and at the pictures that
// are stored.
func checkFigures(nb *notebook, bad func(string, ...any)) {
	n := 0
	for _, c := range nb.Cells {
		if !c.code() {
			continue
		}
		calls := figureCall.FindAllStringSubmatch(string(c.Source), -1)
		charts := 0 // calls that say their number
		for _, call := range calls {
			if call[1] != "ShowMatrixSteps(" {
				charts++
			}
		}
		ids := figureID.FindAllStringSubmatch(string(c.Source), -1)
		titles := figureTitle.FindAllStringSubmatch(string(c.Source), -1)
		if len(ids) != charts || len(titles) != charts {
			bad("cell %s: %d charts, %d ids like figure-%d-1, %d titles like \"Figure %d.1. …\"", c.ID, charts, len(ids), nb.Chapter, len(titles), nb.Chapter)
			continue
		}
		for _, call := range calls {
			n++
			if call[1] == "ShowMatrixSteps(" {
				continue
			}
			want := fmt.Sprintf("%d.%d", nb.Chapter, n)
			if got := ids[0][1] + "." + ids[0][2]; got != want {
				bad("cell %s: figure id is for %s: the next figure is %s", c.ID, got, want)
			}
			if got := titles[0][1] + "." + titles[0][2]; got != want {
				bad("cell %s: figure title is for %s: the next figure is %s", c.ID, got, want)
			}
			ids, titles = ids[1:], titles[1:]
		}
		pictures := 0
		for _, tag := range imageTag.FindAllString(c.html(), -1) {
			attrs := map[string]string{}
			for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
				attrs[m[1]] = html.UnescapeString(m[2])
			}
			if len(attrs["alt"]) < 30 {
				bad("cell %s: a picture has the alt text %q: it must say what is found", c.ID, attrs["alt"])
			}
			encoded, ok := strings.CutPrefix(attrs["src"], svgPicture)
			if !ok {
				bad("cell %s: a picture does not hold its SVG itself", c.ID)
				continue
			}
			pictures++
			svg, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				bad("cell %s: a picture: %v", c.ID, err)
				continue
			}
			if err := checkSVG(string(svg)); err != nil {
				bad("cell %s: a picture: %v", c.ID, err)
			}
		}
		if drawn := strings.Count(c.html(), "Step 1 of "); drawn < len(calls)-charts {
			bad("cell %s: %d walks through the steps, but %d drawings", c.ID, len(calls)-charts, drawn)
		}
		if pictures < charts {
			bad("cell %s: %d charts, but %d static pictures", c.ID, charts, pictures)
		}
	}
	if n == 0 {
		bad("no figure")
	}
}

// figures returns the numbers of the figures that the chapter shows, such as
// "2.1".
func (nb *notebook) figures() map[string]bool {
	all := map[string]bool{}
	for _, c := range nb.Cells {
		if c.code() {
			for range figureCall.FindAllString(string(c.Source), -1) {
				all[fmt.Sprintf("%d.%d", nb.Chapter, len(all)+1)] = true
			}
		}
	}
	return all
}

// checkSVG returns an error unless svg is a well-formed picture with something
// drawn in it.
func checkSVG(svg string) error {
	dec := xml.NewDecoder(strings.NewReader(svg))
	root, drawn := "", 0
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if e, ok := tok.(xml.StartElement); ok {
			if root == "" {
				root = e.Name.Local
			}
			switch e.Name.Local {
			case "path", "rect", "circle", "line", "polyline", "text":
				drawn++
			case "script", "image", "foreignObject":
				return fmt.Errorf("it holds a <%s>", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") {
					return fmt.Errorf("NaN in <%s %s>", e.Name.Local, a.Name.Local)
				}
			}
		}
	}
	if root != "svg" || drawn < 5 {
		return fmt.Errorf("root is %q with %d shapes: nothing is drawn", root, drawn)
	}
	return nil
}

var (
	importBlock = regexp.MustCompile(`^import \(\n(?:(?:\t(?:[a-z]+ )?"[^"\n]+")?\n)+\)\n\n`)
	printed     = regexp.MustCompile(`\b(fmt\.(Print|Fprint)\w*|println|print)\(`)
)

// program returns a code cell as a Go program.
func (c *cell) program() (string, error) {
	before, body, ok := strings.Cut(string(c.Source), "\n%%\n")
	if !ok {
		return "", fmt.Errorf("cell %s: it has no line %%%%", c.ID)
	}
	return "package main\n\n" + before + "\nfunc main() {\n" + body + "\n}\n", nil
}

// checkCode checks that a code cell stands alone and is formatted.
func checkCode(nb *notebook, bad func(string, ...any)) {
	for _, c := range nb.Cells {
		if !c.code() || c.tagged("setup") {
			continue
		}
		source := string(c.Source)
		// A folded cell shows its first line.
		first := ""
		if n, ok := strings.CutPrefix(c.ID, "a"); ok && c.tagged("answer") {
			first = "// Answer " + n + ", computed and checked.\n"
		} else if m := figureTitle.FindStringSubmatch(source); m != nil && c.folded() {
			first = "// Computes and draws Figure " + m[1] + "." + m[2] + ".\n"
		} else if m := explorerCall.FindStringSubmatch(source); m != nil && c.folded() {
			first = "// Shows the explorer " + m[1] + ".\n"
		} else if c.folded() {
			bad("cell %s: it is folded: only answers and the cells of figures and explorers are", c.ID)
		}
		if !strings.HasPrefix(source, first) {
			bad("cell %s: its first line must be %q", c.ID, first)
		}
		source = strings.TrimPrefix(source, first)
		if c.tagged("parameters") && c.folded() {
			bad("cell %s: it holds the constants to change: it must be open", c.ID)
		}
		if !importBlock.MatchString(source) {
			bad("cell %s: it must begin with import ( … ), one package a line, and an empty line", c.ID)
		}
		if s := printed.FindString(string(c.Source)); s != "" {
			bad("cell %s: it calls %s…): show it with a call of pkg/lesson, or the order is lost", c.ID, s)
		}
		program, err := c.program()
		if err != nil {
			bad("%v", err)
			continue
		}
		formatted, err := format.Source([]byte(program))
		if err != nil {
			bad("cell %s: %v", c.ID, err)
			continue
		}
		// The statements stand at the left margin in a cell, one tab further
		// in a function.
		inside := false
		var want strings.Builder
		for line := range strings.Lines(string(formatted)) {
			if inside {
				line = strings.TrimPrefix(line, "\t")
			}
			inside = inside || line == "func main() {\n"
			want.WriteString(line)
		}
		if got := program; got != want.String() {
			bad("cell %s: it is not formatted as gofmt would:\n%s", c.ID, firstDifference(got, want.String()))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("\thas   %q\n\tgofmt %q", g[i], w[i])
		}
	}
	return fmt.Sprintf("\thas %d lines, gofmt %d", len(g), len(w))
}

var (
	address = regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp):\\?/\\?/[^\s"'<>)]*|(?:src|href)=\\?["']//[^"']*`)
	own     = regexp.MustCompile(`(?i)^https?://(www\.w3\.org/(2000/svg|1999/xlink|1999/xhtml|XML/1998/namespace)|(localhost|127\.0\.0\.1)(:\d+)?(/|$))`)
)

// checkHosts checks that nothing in the page asks another host. Names of XML
// namespaces look like addresses but are none.
func checkHosts(nb *notebook, bad func(string, ...any)) {
	look := func(where, text string) {
		if !strings.Contains(text, ":/") && !strings.Contains(text, `:\/`) && !strings.Contains(text, `"//`) && !strings.Contains(text, `'//`) {
			return // most outputs: the expression is slow on long ones
		}
		for _, a := range address.FindAllString(text, -1) {
			if !own.MatchString(a) {
				bad("cell %s: address %q: a page must not need another host", where, a)
			}
		}
	}
	for _, c := range nb.Cells {
		look(c.ID, string(c.Source))
		for _, o := range c.Outputs {
			look(c.ID, string(o.Text))
			for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
				text := o.data(mime)
				look(c.ID, text)
				for _, m := range attribute.FindAllStringSubmatch(text, -1) {
					if encoded, ok := strings.CutPrefix(m[2], svgPicture); ok {
						svg, err := base64.StdEncoding.DecodeString(encoded)
						if err == nil {
							look(c.ID, string(svg))
						}
					}
				}
			}
		}
	}
}

var markdownLink = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^)\s]+)\)`)

// checkLinks checks that links lead somewhere, that the name of a linked
// chapter is its title, and that the chapters hang together.
func checkLinks(nb *notebook, all []*notebook, bad func(string, ...any)) {
	titles := map[string]string{}
	for _, other := range all {
		titles[other.File] = other.title()
	}
	linked := func(c *cell, file string) bool {
		for _, l := range markdownLink.FindAllStringSubmatch(string(c.Source), -1) {
			if l[3] == file {
				return true
			}
		}
		return false
	}
	for _, c := range nb.Cells {
		if c.code() {
			continue
		}
		for _, l := range markdownLink.FindAllStringSubmatch(fencedBlock.ReplaceAllString(string(c.Source), ""), -1) {
			if l[1] != "" {
				bad("cell %s: a picture from a file: figures are made by cells", c.ID)
			}
			target, _, _ := strings.Cut(l[3], "#")
			if target == "" {
				continue
			}
			if target == glossary.Page {
				continue // its own test looks where it leads
			}
			title, chapter := titles[target]
			if strings.HasSuffix(target, ".ipynb") && !chapter {
				bad("cell %s: link to %q: there is no such chapter", c.ID, target)
			} else if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				bad("cell %s: link to %q: %v", c.ID, target, err)
			}
			if strings.Contains(l[2], " · ") && l[2] != title {
				bad("cell %s: link to %s is named %q: its title is %q", c.ID, target, l[2], title)
			}
		}
	}
	if len(nb.Cells) < 2 {
		return
	}
	title, last := nb.Cells[1], nb.Cells[len(nb.Cells)-1]
	for _, other := range all {
		switch {
		case other.Chapter == nb.Chapter+1 && !linked(last, other.File):
			bad("cell %s: no link to the next chapter, %s", last.ID, other.File)
		case other.Chapter == nb.Chapter-1 && !linked(title, other.File):
			bad("cell %s: no link to the chapter before, %s", title.ID, other.File)
		}
		if nb.Chapter == 0 && other.Chapter > 0 && !slices.ContainsFunc(nb.Cells, func(c *cell) bool { return c.ID == "map" && linked(c, other.File) }) {
			bad("cell map: no link to %s", other.File)
		}
	}
	if nb.Last && !linked(last, "00_index.ipynb") {
		bad("cell %s: no link back to the index", last.ID)
	}
}

var definition = regexp.MustCompile(`(?m)^> \*\*Definition: ([^*]+)\.\*\* (.+(?:\n> .+)*)`)

// definitions returns which cell defines each term, and what is wrong: a term
// must be defined once in the whole lesson, in bold.
func definitions(all []*notebook) (where map[string]string, problems []string) {
	where = map[string]string{}
	for _, nb := range all {
		for _, c := range nb.Cells {
			if c.code() {
				continue
			}
			for _, m := range definition.FindAllStringSubmatch(string(c.Source), -1) {
				here := nb.File + " cell " + c.ID
				for term := range strings.SplitSeq(m[1], ", ") {
					if before, twice := where[term]; twice {
						problems = append(problems, fmt.Sprintf("%s: %q is defined in %s already", here, term, before))
					}
					where[term] = here
					if !strings.Contains(strings.ToLower(m[2]), "**"+strings.ToLower(term)+"**") {
						problems = append(problems, fmt.Sprintf("%s: the definition of %q does not hold it in bold", here, term))
					}
				}
			}
		}
	}
	return where, problems
}

func TestTermsAreDefinedOnce(t *testing.T) {
	where, problems := definitions(chapters(t))
	for _, p := range problems {
		t.Error(p)
	}
	for _, term := range []string{
		"FLOP", "peak", "bandwidth", "slow memory", "fast memory", "work", "traffic", "compulsory traffic",
		"arithmetic intensity", "time floor", "attainable performance", "ridge point", "memory-bound", "compute-bound",
		"naive traffic", "tile", "edge tile", "prefill", "decode", "batch",
	} {
		if where[term] == "" {
			t.Errorf("no chapter defines %q: write > **Definition: %s.** …", term, term)
		}
	}
}
