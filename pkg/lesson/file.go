package lesson

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

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
