package lesson

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An error names the file as it was given, and not where the checkout is.
func TestReadFileErrors(t *testing.T) {
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"pkg/matmul/nothing.go": "no such file", "../secret.go": "inside the checkout", "/etc/passwd": "inside the checkout"} {
		_, err := ReadFile(file)
		if err == nil || !strings.Contains(err.Error(), `lesson: file is "`+file+`"`) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), root) {
			t.Errorf("%s: error is %v", file, err)
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
