package lesson

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	blocks, status := record(t, true, func() { Source("pkg/matmul/loops.go", "Naive", "DefaultTile") })
	if status != -1 || len(blocks) != 1 {
		t.Fatalf("%d blocks, status %d", len(blocks), status)
	}
	b := blocks[0]
	// Every line is a line of the file, in order, from the comment to the brace.
	file, err := os.ReadFile(filepath.Join("..", "matmul", "loops.go"))
	if err != nil {
		t.Fatal(err)
	}
	code, ok := strings.CutPrefix(b.Text, "From pkg/matmul/loops.go:\n\n")
	if !ok {
		t.Fatalf("text is %q", b.Text)
	}
	parts := strings.Split(code, "\n\n// DefaultTile")
	if len(parts) != 2 {
		t.Fatalf("two declarations shown as %q", code)
	}
	parts[1] = "// DefaultTile" + parts[1]
	for i, want := range []struct{ from, to string }{{"// Naive computes", "\n}"}, {"// DefaultTile is", "= 64\n"}} {
		if !strings.Contains(string(file), parts[i]) {
			t.Errorf("not from the file: %q", parts[i])
		}
		if !strings.HasPrefix(parts[i], want.from) || !strings.HasSuffix(parts[i], want.to) {
			t.Errorf("part %d is %q: want it from %q to %q", i, parts[i], want.from, want.to)
		}
	}
	if want := "From `pkg/matmul/loops.go`:\n\n```go\n" + strings.ReplaceAll(code, "\t", "    ") + "```\n"; b.Markdown != want {
		t.Errorf("markdown is\n%s\nwant\n%s", b.Markdown, want)
	}
}

// The result does not depend on the working directory, line ends or paths.
func TestSourceIsTheSameEverywhere(t *testing.T) {
	before, err := source("pkg/matmul/loops.go", []string{"tiled"})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	after, err := source("pkg/matmul/loops.go", []string{"tiled"})
	if err != nil {
		t.Fatal(err)
	}
	if before != after || !strings.HasPrefix(before, "// tiled walks") {
		t.Errorf("%q in one folder, %q in another", before, after)
	}
}

func TestDeclarations(t *testing.T) {
	const text = `// Package p is small.
package p

// T is a type.
type T[A any] struct{ a A }

// get gets.
func (t *T[A]) get() A { return t.a } // behind

const (
	one = 1 // first
	two = 2
)

func get() {}

var _ = one
`
	parts, names, err := declarations(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names, " "); got != "T T.get one two get" {
		t.Errorf("names are %q", got)
	}
	for name, want := range map[string]string{
		"T":     "// T is a type.\ntype T[A any] struct{ a A }",
		"T.get": "// get gets.\nfunc (t *T[A]) get() A { return t.a }",
		"two":   "const (\n\tone = 1 // first\n\ttwo = 2\n)",
		"get":   "func get() {}",
	} {
		if parts[name] != want {
			t.Errorf("%s is %q: want %q", name, parts[name], want)
		}
	}
	if _, _, err := declarations("no Go"); err == nil {
		t.Error("no error for text that is no Go")
	}
}

func TestLabels(t *testing.T) {
	parts, names := labels("// a: b\nTEXT ·f(SB), NOSPLIT, $0\n\tMOVQ AX, BX\n\nloop:\n\tADDQ BX, AX\n\tJMP loop\n\ndone:\n\tRET\nTEXT ·g(SB), NOSPLIT, $0\n\tRET\nloop:\n\tRET\n")
	if got := strings.Join(names, " "); got != "loop done" {
		t.Errorf("labels are %q", got)
	}
	for name, want := range map[string]string{
		"loop": "loop:\n\tADDQ BX, AX\n\tJMP loop\n\n",
		"done": "done:\n\tRET\n",
	} {
		if parts[name] != want {
			t.Errorf("%s is %q: want %q", name, parts[name], want)
		}
	}
	got, err := source("pkg/matmul/tile_avx2_amd64.s", []string{"full6loop"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got, "full6loop:\n") || !strings.Contains(got, "VFMADD231PS") || strings.Count(got, ":\n") != 1 {
		t.Errorf("the loop of the microkernel is\n%s", got)
	}
}

func TestSourceErrors(t *testing.T) {
	for _, c := range []struct {
		file, name string
		want       []string
	}{
		{"pkg/matmul/nothing.go", "Naive", []string{`file is "pkg/matmul/nothing.go"`, "no such file"}},
		{"../secret.go", "Naive", []string{`"../secret.go"`, "inside the checkout"}},
		{"/etc/passwd", "Naive", []string{`"/etc/passwd"`, "inside the checkout"}},
		{"pkg/matmul/loops.go", "Nave", []string{`name is "Nave"`, "Naive, Reordered"}},
		{"pkg/matmul/tile_avx2_amd64.s", "fool", []string{`name is "fool"`, "full6loop"}},
		{"README.md", "Start", []string{`"README.md"`, "must be Go"}},
	} {
		_, err := source(c.file, []string{c.name})
		if err == nil {
			t.Errorf("%s, %s: no error", c.file, c.name)
			continue
		}
		root, rootErr := checkout()
		if rootErr != nil {
			t.Fatal(rootErr)
		}
		for _, w := range append(c.want, "lesson: ") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s, %s: error %q does not say %q", c.file, c.name, err, w)
			}
		}
		if strings.Contains(err.Error(), root) {
			t.Errorf("%s, %s: error %q depends on where the checkout is", c.file, c.name, err)
		}
		blocks, status := record(t, true, func() { Source(c.file, c.name) })
		if status != 1 || len(blocks) != 1 || !strings.Contains(blocks[0].Text, err.Error()) {
			t.Errorf("%s, %s: status %d, %v", c.file, c.name, status, blocks)
		}
	}
}

func TestCheckout(t *testing.T) {
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	if !isModule(root) {
		t.Errorf("%s is not the checkout", root)
	}
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := above(deep); err == nil || !strings.Contains(err.Error(), "must lie in the checkout") {
		t.Errorf("error is %v", err)
	}
	write("go.mod", "module memorywall\n\ngo 1.26.0\n")
	write(filepath.Join("a", "go.mod"), "module other\n")
	if got, err := above(deep); err != nil || got != dir {
		t.Errorf("checkout above %s is %s (%v): want %s", deep, got, err, dir)
	}
	text, err := ReadFile("go.mod")
	if err != nil || !strings.HasPrefix(string(text), "module memorywall\n") {
		t.Errorf("go.mod is %q (%v)", text, err)
	}
}
