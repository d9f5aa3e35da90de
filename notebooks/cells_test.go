package notebooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The cells are Go programs, and pkg/lesson prints text outside a notebook. So
// what a reader may do to a cell can be tried without a kernel. All variants
// are packages of one program, which is built once and run with the name of a
// variant.

// variant is a cell with something changed in it.
type variant struct {
	name   string
	source string // Go program
}

// run is how a variant ended.
type run struct {
	text string // all that it printed
	ok   bool   // exit status 0
}

// runAll builds the variants and runs each.
func runAll(t *testing.T, variants []variant) map[string]run {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]string{}
	write := func(pkg, source string) {
		file := filepath.Join(dir, pkg+".go")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, "cellstest", pkg, pkg+".go")] = file
	}
	var imports, cases strings.Builder
	for i, v := range variants {
		pkg := fmt.Sprintf("cell%03d", i)
		source := strings.Replace(v.source, "package main\n", "package "+pkg+"\n", 1)
		source = strings.Replace(source, "\nfunc main() {\n", "\n// Main is the cell.\nfunc Main() {\n", 1)
		write(pkg, source)
		fmt.Fprintf(&imports, "\t%q\n", "memorywall/notebooks/cellstest/"+pkg)
		fmt.Fprintf(&cases, "\tcase %q:\n\t\t%s.Main()\n", pkg, pkg)
	}
	write("all", "package main\n\nimport (\n\t\"os\"\n\n"+imports.String()+")\n\nfunc main() {\n\tswitch os.Args[1] {\n"+cases.String()+"\t}\n}\n")

	config, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	configFile, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "cells.exe")
	if err := os.WriteFile(configFile, config, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", configFile, "-ldflags=-w", "-o", program, "./cellstest/all")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: a cell does not compile\n%s%s", err, out, list(variants))
	}
	runs := map[string]run{}
	for i, v := range variants {
		var out bytes.Buffer
		cmd := exec.Command(program, fmt.Sprintf("cell%03d", i))
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatalf("%s: %v", v.name, err)
		}
		runs[v.name] = run{text: out.String(), ok: err == nil}
	}
	return runs
}

func list(variants []variant) string {
	var b strings.Builder
	for i, v := range variants {
		fmt.Fprintf(&b, "cell%03d is %s\n", i, v.name)
	}
	return b.String()
}

// crashed reports whether a run ended with a stack trace instead of a message.
func (r run) crashed() bool {
	return strings.Contains(r.text, "panic:") || strings.Contains(r.text, "goroutine ")
}

// constant is one number in the const block of a parameters cell.
type constant struct {
	name, value string
	at          int // of value in the program
}

// constants returns the numbers in the first const block of the program.
func constants(program string) ([]constant, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "cell", program, 0)
	if err != nil {
		return nil, err
	}
	var found []constant
	done := false
	ast.Inspect(file, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST || done {
			return true
		}
		done = true
		for _, spec := range decl.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i < len(v.Values) {
					if lit, ok := v.Values[i].(*ast.BasicLit); ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) {
						found = append(found, constant{name.Name, lit.Value, fset.Position(lit.Pos()).Offset})
					}
				}
			}
		}
		return false
	})
	if len(found) == 0 {
		return nil, errors.New("no numbers in a const block")
	}
	return found, nil
}

// with returns the program with another value for the constant.
func (c constant) with(program, value string) string {
	return program[:c.at] + value + program[c.at+len(c.value):]
}

// times returns the value times f, written as its kind is: an integer stays
// one.
func (c constant) times(f float64) string {
	v, err := strconv.ParseFloat(strings.ReplaceAll(c.value, "_", ""), 64)
	if err != nil {
		return c.value
	}
	if strings.ContainsAny(c.value, ".eE") {
		return strconv.FormatFloat(v*f, 'e', -1, 64)
	}
	return strconv.FormatInt(int64(v*f), 10)
}

// synonyms are how messages call a constant, where that is not its own name.
var synonyms = map[string]string{
	"elemBytes":   "element size",
	"capacityKiB": "capacity",
	"params":      "number of parameters",
	"b":           "tile",
	"lineBytes":   "line",
}

// promise is the range that the comment of a constant names, "1 to 300".
var promise = regexp.MustCompile(`(?m)^\t(\w+)(?: +\w+)? += .*// .*\b(\d+) to (\d+)$`)

// pastPromise returns the first whole number after the range that the comment
// of a constant names, or "".
func pastPromise(program, name string) string {
	for _, m := range promise.FindAllStringSubmatch(program, -1) {
		if greatest, err := strconv.ParseInt(m[3], 10, 64); err == nil && m[1] == name {
			return strconv.FormatInt(greatest+1, 10)
		}
	}
	return ""
}

// A reader who changes a constant must see the figure change, and nothing turn
// red. A value that makes no sense must give a message that names the constant,
// not a crash, and a huge one a figure or such a message.
func TestParametersCanBeChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds every cell that has parameters, with each of them changed")
	}
	type change struct {
		cell, constant, value string
		past                  bool // the comment excludes the value
	}
	const huge = "1e300"
	var variants []variant
	changes := map[string]change{}
	for _, nb := range chapters(t) {
		for _, c := range nb.Cells {
			if !c.tagged("parameters") || c.tagged("machine") {
				continue
			}
			program, err := c.program()
			if err != nil {
				t.Errorf("%s: %v", nb.File, err)
				continue
			}
			found, err := constants(program)
			if err != nil {
				t.Errorf("%s: cell %s: %v", nb.File, c.ID, err)
				continue
			}
			cell := nb.File + " " + c.ID
			variants = append(variants, variant{cell, program})
			for _, k := range found {
				values := []string{k.times(2), k.times(0.5), "0", "-1", pastPromise(program, k.name)}
				if strings.ContainsAny(k.value, ".eE") {
					values = append(values, huge)
				} else {
					values = append(values, k.value+".0")
				}
				for _, value := range values {
					name := cell + " " + k.name + " = " + value
					if value == "" {
						continue
					}
					if _, twice := changes[name]; twice || value == k.value {
						continue
					}
					changes[name] = change{cell, k.name, value, value == pastPromise(program, k.name)}
					variants = append(variants, variant{name, k.with(program, value)})
				}
			}
		}
	}
	runs := runAll(t, variants)

	alive := map[string]bool{} // cell and constant, if the constant has an effect
	for _, name := range sortedKeys(changes) {
		ch, r, before := changes[name], runs[name], runs[changes[name].cell]
		if !before.ok || strings.Contains(before.text, "✗") {
			t.Errorf("%s: it fails as it stands:\n%s", ch.cell, before.text)
		}
		if strings.Contains(r.text, "%!") {
			t.Errorf("%s: a verb does not fit what it prints: %q", name, r.text[strings.Index(r.text, "%!"):][:20])
		}
		if strings.HasSuffix(ch.value, ".0") && r.text != before.text {
			t.Errorf("%s: a whole number written with a point must mean the same:\n%s\nwithout:\n%s", name, r.text, before.text)
		}
		key := ch.cell + " " + ch.constant
		alive[key] = alive[key] || r.text != before.text
		switch {
		case r.crashed():
			t.Errorf("%s: it crashes:\n%s", name, r.text)
		case r.ok == strings.Contains(r.text, "✗"):
			t.Errorf("%s: it must end with status 1 exactly when it shows a failure:\n%s", name, r.text)
		case ch.past && !strings.Contains(r.text, " is "+ch.value+": it must be from "):
			t.Errorf("%s: its comment names a range: it must say that the value is outside:\n%s", name, r.text)
		case !r.ok && ch.value != "0" && ch.value != "-1" && ch.value != huge && !ch.past:
			t.Errorf("%s: a legal value turns it red:\n%s", name, r.text)
		case !r.ok && !strings.Contains(r.text, "This has no answer"):
			t.Errorf("%s: it must say that this has no answer, and why:\n%s", name, r.text)
		case !r.ok && !named(r.text, ch.constant):
			t.Errorf("%s: the message must name the constant:\n%s", name, r.text)
		}
		for word := range strings.FieldsSeq(r.text) {
			if len(word) > 40 && strings.Trim(word, "─-") != "" {
				t.Errorf("%s: it shows %q: write large numbers with lesson.SI", name, word)
			}
		}
	}
	for _, key := range sortedKeys(alive) {
		if !alive[key] {
			t.Errorf("%s: no value of it changes anything", key)
		}
	}
}

// A fraction where a whole number belongs, a number that is too large and a text
// are Go's own mistakes to report, and it reports them in the line of the
// constant: it has a type.
func TestWrongConstantsAreReportedInTheirLine(t *testing.T) {
	for _, nb := range chapters(t) {
		for _, c := range nb.Cells {
			if !c.tagged("parameters") || c.tagged("machine") {
				continue
			}
			block := constBlock.FindString(string(c.Source))
			_, rest, _ := strings.Cut(string(c.Source), block)
			body, _, _ := strings.Cut(rest, "\n)")
			for i, line := range strings.Split(body, "\n") {
				m := typedConstant.FindStringSubmatch(line)
				if m == nil {
					t.Errorf("%s: cell %s: %q: a constant to change has a type, such as m int64 = 512", nb.File, c.ID, line)
					continue
				}
				wrong := []string{`"text"`, "x"}
				switch m[2] {
				case "int64":
					wrong = append(wrong, "0.5", "1e30")
				case "string":
					wrong[0] = "1"
				}
				for _, value := range wrong {
					program := "package p\n\nconst (\n" + strings.Replace(body, line, m[1]+" "+m[2]+" = "+value, 1) + "\n)\n"
					fset := token.NewFileSet()
					file, err := parser.ParseFile(fset, "cell", program, 0)
					if err != nil {
						t.Fatal(err)
					}
					_, err = (&types.Config{}).Check("p", fset, []*ast.File{file}, nil)
					var at types.Error
					if !errors.As(err, &at) || fset.Position(at.Pos).Line != 4+i {
						t.Errorf("%s: cell %s: %s = %s: %v", nb.File, c.ID, m[1], value, err)
					}
				}
			}
		}
	}
}

var typedConstant = regexp.MustCompile(`^\t(\w+) +(int64|float64|string) += ("[^"]*"|\S+) +// \S`)

// A reader who knows no Go sees the formula. Only what measures or reads a file
// returns an error that a cell has to unwrap.
func TestCellsReadLikeTheFormula(t *testing.T) {
	const most = 30
	unwraps := 0
	for _, nb := range chapters(t) {
		for _, c := range nb.Cells {
			unwraps += strings.Count(string(c.Source), "lesson.Must(")
			if strings.Contains(string(c.Source), `. "memorywall/`) {
				t.Errorf("%s: cell %s: a dot import hides where a name comes from", nb.File, c.ID)
			}
		}
	}
	if unwraps > most {
		t.Errorf("lesson.Must( %d times in all chapters, want at most %d: let the call refuse its arguments with internal/arg", unwraps, most)
	}
}

// named reports whether a message says what the value of the constant is.
func named(message, constant string) bool {
	for _, name := range []string{constant, synonyms[constant]} {
		if name != "" && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+` is `).MatchString(message) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A wrong number in an assert and a figure that cannot be drawn end the cell
// with a message.
func TestCellsFailOnPlantedMistakes(t *testing.T) {
	planted := []struct{ id, from, to, message string }{
		{"ridge-of-the-a100", `"153.0"`, `"153.1"`, "✗ Does not read as written: ridge point"},
		{"ridge-of-the-a100", `share(ridge/2), 0.5)`, `share(ridge/2), 0.50001)`, "✗ Not close enough"},
		{"toy-chip", "times.Compute, 2)", "times.Compute, 3)", "✗ Not equal: compute time"},
		{"toy-chip", "Peak: 8", "Peak: -8", "✗ This has no answer: roofline: peak is -8 FLOP/s"},
		{"try-roofline", "attainable <= chip.Peak", "attainable > chip.Peak", "✗ Does not hold: attainable is at most the peak"},
		{"overlap-band", "Y: intensity / times.Serial()", "Y: math.NaN()", "it must be finite"},
		{"overlap-band", "Y: intensity / times.Serial()", "Y: math.Inf(1)", "it must be finite"},
		{"overlap-band", "Y: intensity / times.Serial()", "Y: 0", "it must be positive"},
	}
	nb := good(t)
	var variants []variant
	for i, p := range planted {
		program, err := nb.cell(t, p.id).program()
		if err != nil {
			t.Fatal(err)
		}
		spoilt := strings.Replace(program, p.from, p.to, 1)
		if spoilt == program {
			t.Fatalf("cell %s does not hold %q", p.id, p.from)
		}
		variants = append(variants, variant{fmt.Sprint(i), spoilt})
	}
	for name, r := range runAll(t, variants) {
		i, _ := strconv.Atoi(name)
		p := planted[i]
		if r.ok || r.crashed() || !strings.Contains(r.text, p.message) {
			t.Errorf("cell %s with %s: exit status 0 is %t: it must fail and say %q:\n%s", p.id, p.to, r.ok, p.message, r.text)
		}
	}
}
