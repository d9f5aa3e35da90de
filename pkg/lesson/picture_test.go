package lesson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// renderer answers the next figure that comes to lie in a folder.
func renderer(t *testing.T, answer func(asked map[string]any) string) string {
	t.Helper()
	folder := t.TempDir()
	done := make(chan bool)
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			found, _ := filepath.Glob(filepath.Join(folder, "*.json"))
			for _, path := range found {
				data, err := os.ReadFile(path)
				if err != nil {
					continue
				}
				os.Remove(path)
				var asked map[string]any
				if err := json.Unmarshal(data, &asked); err != nil {
					t.Errorf("asked %q: %v", data, err)
				}
				part := strings.TrimSuffix(path, "json") + "part"
				os.WriteFile(part, []byte(answer(asked)), 0o600)
				os.Rename(part, strings.TrimSuffix(path, "json")+"svg")
			}
		}
	}()
	return folder
}

func TestPicture(t *testing.T) {
	folder := renderer(t, func(asked map[string]any) string {
		if asked["id"] != "f" || asked["width"] != 760.0 || asked["height"] != 420.0 || asked["option"].(map[string]any)["a"] != 1.0 {
			t.Errorf("asked %v", asked)
		}
		return `<svg a="1"><text fill="var(--mw-text)">drawn</text></svg>`
	})
	t.Setenv(renderEnv, folder)
	want := `<svg a="1"><style>@media (prefers-color-scheme:dark){[fill="#1f2328"]{fill:#e6e8ea}}</style><text fill="#1f2328">drawn</text></svg>`
	for range 2 { // a cell may draw a figure again
		if got := picture([]byte(`{"a":1}`), "f", 760, 420); string(got) != want {
			t.Errorf("picture %q", got)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestNoPicture(t *testing.T) {
	old := renderLimit
	renderLimit = 100 * time.Millisecond
	defer func() { renderLimit = old }()
	for _, c := range []struct{ name, folder string }{
		{"no renderer", ""},
		{"no folder", filepath.Join(t.TempDir(), "none")},
		{"not a folder", os.Args[0]},
		{"silence", t.TempDir()},
		{"a figure that cannot be drawn", renderer(t, func(map[string]any) string { return "" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(renderEnv, c.folder)
			start := time.Now()
			if got := picture([]byte("{}"), "f", 1, 1); got != nil {
				t.Errorf("picture %q, want none", got)
			}
			if d := time.Since(start); d > 900*time.Millisecond {
				t.Errorf("took %v, past its limit", d)
			}
			if left, _ := filepath.Glob(filepath.Join(c.folder, "*.json")); len(left) > 0 && c.folder != "" {
				t.Errorf("it left %v", left)
			}
		})
	}
}
