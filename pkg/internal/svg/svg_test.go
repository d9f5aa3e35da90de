package svg

import (
	"regexp"
	"strings"
	"testing"
)

var names = regexp.MustCompile(`--mw-([\w-]+): .*light-dark\((#[0-9a-f]{6,8}), (#[0-9a-f]{6,8})\)`).FindAllStringSubmatch(palette, -1)

// Still finds colours by what they are on light paper.
func TestPalette(t *testing.T) {
	if len(names) < 25 || len(names) != strings.Count(palette, "\n  --mw-") {
		t.Fatalf("palette.css has %d lines of the form that Go, JS and this test read", len(names))
	}
	seen := map[string]string{}
	for _, m := range names {
		if light, dark := shades(m[1]); light != m[2] || dark != m[3] {
			t.Errorf("%s is read as %s and %s, and stands there as %s and %s", m[1], light, dark, m[2], m[3])
		}
		if other, twice := seen[m[2]]; twice {
			t.Errorf("%s and %s have one colour on light paper", m[1], other)
		}
		seen[m[2]] = m[1]
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown colour did not panic")
		}
	}()
	Light("mauve")
}

func TestStill(t *testing.T) {
	d := &Drawing{Width: 20, Height: 10}
	d.Rect(1, 2, 3, 4.04, "loaded")
	d.Rect(1, 2, 3, 4, "loaded")
	d.Line("text", 1, true, 0, 0, 1, 1)
	got := Still(d.SVG("a <title>", "alt"))
	for _, want := range []string{
		`<style>@media (prefers-color-scheme:dark){[fill="#f0b73f"]{fill:#b57f12}[fill="#ffffff"]{fill:#111111}[stroke="#1f2328"]{stroke:#e6e8ea}}</style>`,
		`<rect x="1" y="2" width="3" height="4" fill="#f0b73f"/>`, `stroke="#1f2328"`, "<title>a &lt;title&gt;</title>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "var(") {
		t.Errorf("a variable is left: %s", got)
	}
}
