package facts

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// list returns what `go list -deps` says of all packages of this module and of
// those that they need.
func list(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "memorywall/...")
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, failed.String())
	}
	all := map[string]pkg{}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// Data flows one way: the model knows nothing of measuring, measuring nothing
// of showing, and only one package knows the charts and the notebooks.
func TestDirection(t *testing.T) {
	const base = "memorywall/pkg/"
	all := list(t)
	shared := []string{"roofline", "internal/arg", "internal/num", "internal/pick"}
	for name, may := range map[string][]string{
		"roofline":    {},
		"tiling":      {"tiling"},
		"cache":       {"cache", "tiling"},
		"chips":       {"chips"},
		"transformer": {"transformer"},
		"serving":     {"serving", "transformer", "chips"},
		"explore":     {"explore", "tiling", "serving", "transformer", "chips", "internal/svg"},
		"facts":       {"facts", "cache", "tiling", "serving", "transformer", "chips"},
		"glossary":    {"glossary"},
	} {
		may = append(may, shared...)
		p, ok := all[base+name]
		if !ok {
			t.Fatalf("no package %s", base+name)
		}
		for _, dep := range p.Deps {
			if !all[dep].Standard && !slices.Contains(may, strings.TrimPrefix(dep, base)) {
				t.Errorf("%s needs %s: it may need only the standard library and %v", name, dep, may)
			}
		}
		for _, imported := range p.Imports {
			if imported == "time" || imported == "os" || strings.HasPrefix(imported, "net") {
				t.Errorf("%s imports %s: a model computes and nothing else", name, imported)
			}
		}
	}
	for _, name := range []string{"probe", "matmul", "llama", "bench", "machine", "ladder"} {
		p, ok := all[base+name]
		if !ok {
			t.Fatalf("no package %s", base+name)
		}
		for _, dep := range p.Deps {
			if dep == base+"lesson" || dep == base+"facts" || shows(dep) {
				t.Errorf("%s needs %s: what measures does not show", name, dep)
			}
		}
	}
	for _, dep := range all[base+"lesson"].Deps {
		if dep == base+"facts" {
			t.Errorf("lesson needs %s: a cell computes what it shows", dep)
		}
	}
	shown := false
	for path, p := range all {
		if !strings.HasPrefix(path, "memorywall/") {
			continue
		}
		for _, imported := range p.Imports {
			if path == base+"lesson" {
				shown = shown || shows(imported)
			} else if shows(imported) {
				t.Errorf("%s imports %s: only %slesson does", path, imported, base)
			}
		}
	}
	if !shown {
		t.Errorf("%slesson imports neither go-echarts nor gonbui: this test looks for the wrong paths", base)
	}
}

func shows(path string) bool {
	return strings.HasPrefix(path, "github.com/go-echarts/") || strings.HasPrefix(path, "github.com/janpfeifer/gonb/")
}
