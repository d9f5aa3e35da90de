package glossary

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// problems returns what is wrong with a list of terms.
func problems(list []Term) []string {
	var ps []string
	bad := func(format string, args ...any) { ps = append(ps, fmt.Sprintf(format, args...)) }
	owner := map[string]string{} // name or form in lower case → term
	cells := map[string]string{}
	anchor := regexp.MustCompile(`^[A-Za-z]+(-[A-Za-z]+)*$`)
	for _, t := range list {
		for _, n := range t.names() {
			key := strings.ToLower(n)
			if before, twice := owner[key]; twice {
				bad("%q names both %q and %q", n, before, t.Name)
			}
			owner[key] = t.Name
		}
		if before, twice := cells[t.Cell()]; twice {
			bad("%q and %q have the cell %q", before, t.Name, t.Cell())
		}
		cells[t.Cell()] = t.Name
		if !anchor.MatchString(t.Anchor()) {
			bad("%q: anchor is %q: it must be letters and dashes", t.Name, t.Anchor())
		}
		if first := strings.Fields(t.Name + " ")[0]; first != strings.ToLower(first) && first != strings.ToUpper(first) {
			bad("%q: it must begin in lower case, or be written in capitals", t.Name)
		}
		if !strings.Contains(strings.ToLower(t.Definition), "**"+strings.ToLower(t.Name)+"**") {
			bad("%q: the definition does not hold it in bold: %q", t.Name, t.Definition)
		}
		if n := len(Sentences(t.Definition)); n < 1 || n > 2 {
			bad("%q: its definition has %d sentences: it must have one or two", t.Name, n)
		}
		if !strings.HasSuffix(t.Definition, ".") {
			bad("%q: its definition must end with a full stop", t.Name)
		}
		if strings.Contains(t.Formula, "$") {
			bad("%q: its formula must have no dollar signs", t.Name)
		}
	}
	for _, t := range list {
		for _, n := range t.Not {
			if other, ok := owner[strings.ToLower(n)]; ok {
				bad("%q is ruled out for %q and names %q", n, t.Name, other)
			}
		}
	}
	return ps
}

func TestTerms(t *testing.T) {
	for _, p := range problems(terms) {
		t.Error(p)
	}
	all := Terms()
	if len(all) != len(terms) || len(all) < 40 {
		t.Errorf("Terms returns %d of %d terms: it must return all, and at least forty", len(all), len(terms))
	}
	if !slices.IsSortedFunc(all, func(a, b Term) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) }) {
		t.Error("Terms is not in the order of the alphabet")
	}
	all[0].Name = "changed"
	if Terms()[0].Name == "changed" {
		t.Error("the caller's slice is the list itself")
	}
}

func TestPlantedTermsAreFound(t *testing.T) {
	good := Term{Name: "tile", Forms: []string{"tiles"}, Definition: "A **tile** is a piece.", Not: []string{"brick"}}
	if ps := problems([]Term{good}); len(ps) > 0 {
		t.Fatalf("problems of a good term are %q", ps)
	}
	for want, spoil := range map[string]func(*Term){
		"names both":              func(t *Term) { t.Forms = []string{"Tile"} },
		"it must be letters":      func(t *Term) { t.Name, t.Definition = "b/s", "**b/s** is." },
		"begin in lower case":     func(t *Term) { t.Name = "Tile" },
		"in bold":                 func(t *Term) { t.Definition = "A tile is a piece." },
		"has 3 sentences":         func(t *Term) { t.Definition = "A **tile** is a piece. It is square. It is small." },
		"end with a full stop":    func(t *Term) { t.Definition = "A **tile** is a piece" },
		"no dollar signs":         func(t *Term) { t.Formula = "$b$" },
		`"tiles" is ruled out`:    func(t *Term) { t.Not = []string{"tiles"} },
		`"tile" and "tile" have`:  nil,
		`"tile" names both "tile`: nil,
	} {
		list := []Term{good, good}
		if spoil != nil {
			list = []Term{good}
			spoil(&list[0])
		}
		if got := strings.Join(problems(list), "\n"); !strings.Contains(got, want) {
			t.Errorf("problems are %q: one must say %q", got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"ridge point": "ridge point", "Ridge points": "ridge point", "intensity": "arithmetic intensity",
		"FLOPs": "FLOP", "TFLOP/s": "FLOP per second", "LRU": "least recently used", "MR": "MR",
	} {
		got, err := Lookup(name)
		if err != nil || got.Name != want {
			t.Errorf("Lookup(%q) is %q, %v: want %q", name, got.Name, err, want)
		}
	}
	for name, want := range map[string]string{
		"machine balance": `this lesson says "ridge point"`, "Cache block": `this lesson says "cache line"`,
		"mr": "must be a term", "": "must be a term", "ridge": "must be a term",
	} {
		if got, err := Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Lookup(%q) is %q, %v: the error must say %q", name, got.Name, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"Ridge points and a ridge tile":                 "Ridge points, ridge tile",
		"the compulsory traffic is traffic":             "compulsory traffic, traffic",
		"153 FLOP/byte, 312 TFLOP/s and 16 FLOPs":       "TFLOP/s, FLOPs",
		"a MR×NR tile, mr and MRs":                      "MR, NR, tile",
		"a multi-core chip, a core-bound run":           "",
		"memory-bound: the traffic floor is the larger": "memory-bound, traffic floor",
		"cached, subtile, tile_size":                    "",
		"a **tile**":                                    "tile",
		"":                                              "",
	} {
		var got []string
		for _, u := range Find(text) {
			got = append(got, text[u.Start:u.End])
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q: found %q: want %q", text, s, want)
		}
	}
}

func TestSentences(t *testing.T) {
	got := Sentences("A [**tile**](glossary.ipynb#tile) is *square*. It has 64<!--fact a.b--> rows, b.2 of them.")
	want := []string{"A tile is square.", "It has 64 rows, b.2 of them."}
	if !slices.Equal(got, want) {
		t.Errorf("sentences are %q: want %q", got, want)
	}
}

func TestNotebookNeedsTheChapters(t *testing.T) {
	for _, chapters := range [][]Chapter{nil, make([]Chapter, 3)} {
		if _, err := Notebook(chapters); err == nil || !strings.Contains(err.Error(), "glossary: ") {
			t.Errorf("with %d chapters the error is %v", len(chapters), err)
		}
	}
}

func TestRuledOutNamesAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"Ridge is the machine balance of a chip.":                                  true,
		"the machine\n// balance of a chip":                                        true,
		"Operational intensities and one operational intensity.":                   true,
		"Ridge is the ridge point of a chip,\nalso called the machine balance.":    false,
		"The arithmetic intensity of a run, also called operational intensity.":    false,
		"cache blocks are cache lines":                                             true,
		"It packs a block of B that the caches hold, on a machine of good balance": false,
	} {
		if got := RuledOut(text); (len(got) > 0) != want {
			t.Errorf("%q: found %q: something must be found: %t", text, got, want)
		}
	}
}

// Docstrings say what the chapters say.
func TestDocstringsUseTheTerms(t *testing.T) {
	read := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || strings.HasPrefix(name, "_") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		look := func(c *ast.CommentGroup) {
			if c == nil {
				return
			}
			read++
			for _, p := range RuledOut(c.Text()) {
				t.Errorf("%s: %s", fset.Position(c.Pos()), p)
			}
		}
		look(file.Doc)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.IsExported() {
					look(n.Doc)
				}
				return false
			case *ast.GenDecl:
				look(n.Doc)
			case *ast.TypeSpec:
				look(n.Doc)
			case *ast.ValueSpec:
				look(n.Doc)
				look(n.Comment)
			case *ast.Field:
				look(n.Doc)
				look(n.Comment)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 300 {
		t.Errorf("only %d docstrings are read: is the test looking in the right folder?", read)
	}
}
