package lesson

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Source shows code of this lesson as it stands in the checkout: the named
// declarations of a file, with their comments, in the order of the names, or
// the whole file without names. The path is relative to the checkout, with
// slashes: "pkg/matmul/loops.go".
//
// In a Go file a name is that of a function, a type, a constant or a variable
// ("Naive", "Blocking"), or of a method with its type ("Blocking.Validate").
// In an assembly file, whose name ends in .s, it is a label: what is shown goes
// from there to the next label.
//
// What is shown depends on the text of the file alone. A file or a name that is
// not there ends the cell with a message that says which names there are.
func Source(file string, names ...string) {
	code, err := source(file, names)
	Check(err)
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	language := ""
	if path.Ext(file) == ".go" {
		language = "go"
	}
	screen.show(block{
		// A page sets a tab as eight spaces, which pushes nested loops out of sight.
		Markdown: "From `" + file + "`:\n\n" + fence + language + "\n" + strings.ReplaceAll(code, "\t", "    ") + fence + "\n",
		Text:     "From " + file + ":\n\n" + code,
	})
}

// ReadFile returns the content of a file of the checkout. The path is relative
// to the checkout, with slashes.
func ReadFile(file string) ([]byte, error) {
	local := filepath.FromSlash(file)
	if !filepath.IsLocal(local) {
		return nil, fmt.Errorf("lesson: file is %q: it must be a path inside the checkout, such as pkg/matmul/loops.go", file)
	}
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, local))
	if err != nil {
		return nil, fmt.Errorf("lesson: file is %q: the checkout has none that can be read (%w)", file, reason(err))
	}
	return text, nil
}

// reason leaves the path out of an error: it is another on each machine.
func reason(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

const module = "memorywall"

// checkout returns the folder of this module: that of this very file, as the
// compiler saw it, or else the first one from the working directory upwards.
func checkout() (string, error) {
	if _, here, _, ok := runtime.Caller(0); ok {
		if root := filepath.Join(filepath.Dir(here), "..", ".."); isModule(root) {
			return root, nil
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("lesson: the working directory cannot be read: %w", err)
	}
	return above(wd)
}

func above(dir string) (string, error) {
	for at := dir; ; {
		if isModule(at) {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("lesson: working directory is %q: it must lie in the checkout of %s, for its files to be found", dir, module)
		}
		at = up
	}
}

// isModule reports whether dir is the root of this module.
func isModule(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return f[1] == module
		}
	}
	return false
}

// source returns the code that Source shows, each part ending in a line break.
func source(file string, names []string) (string, error) {
	raw, err := ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	if len(names) == 0 {
		return strings.TrimRight(text, "\n") + "\n", nil
	}
	var parts map[string]string
	var known []string
	if path.Ext(file) == ".s" {
		parts, known = labels(text)
	} else if parts, known, err = declarations(text); err != nil {
		return "", fmt.Errorf("lesson: file is %q: it must be Go or assembly code (%w)", file, err)
	}
	var shown []string
	for _, name := range names {
		part, ok := parts[name]
		if !ok {
			return "", fmt.Errorf("lesson: name is %q: %s has %s", name, file, list(known))
		}
		shown = append(shown, strings.TrimRight(part, "\n")+"\n")
	}
	return strings.Join(shown, "\n"), nil
}

// list writes names in a row, the first of them where there are many.
func list(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// declarations returns the text of each declaration of a Go file by the names
// that it declares, and the names in order.
func declarations(text string) (parts map[string]string, names []string, err error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	parts = map[string]string{}
	add := func(name string, d ast.Node, doc *ast.CommentGroup) {
		from := d.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		if name == "_" {
			return
		}
		names = append(names, name)
		parts[name] = text[files.Position(from).Offset:files.Position(d.End()).Offset]
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d)+d.Name.Name, d, d.Doc)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name, d, d.Doc)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(n.Name, d, d.Doc)
					}
				}
			}
		}
	}
	return parts, names, nil
}

// receiver returns the type of a method and a dot, or nothing for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}

// labels returns the text of an assembly file from each label to the next, by
// label, and the labels in order. Of a label that is there twice it is the first.
func labels(text string) (parts map[string]string, names []string) {
	parts = map[string]string{}
	name, from := "", 0
	at := 0
	end := func() {
		if _, twice := parts[name]; name != "" && !twice {
			parts[name] = text[from:at]
			names = append(names, name)
		}
	}
	for line := range strings.Lines(text) {
		switch label, rest, ok := strings.Cut(strings.TrimRight(line, "\n"), ":"); {
		case strings.HasPrefix(line, "TEXT ") || strings.HasPrefix(line, "DATA ") || strings.HasPrefix(line, "GLOBL "):
			end()
			name = ""
		case ok && rest == "" && label != "" && !strings.ContainsAny(label, " \t/"):
			end()
			name, from = label, at
		}
		at += len(line)
	}
	end()
	return parts, names
}
