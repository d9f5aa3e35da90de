package lesson

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"memorywall/pkg/tiling"
)

// rgba is a colour of CSS, each part from 0 to 1, and not multiplied by alpha.
type rgba struct{ r, g, b, a float64 }

// readable is the least contrast of text (WCAG 2.1, success criterion 1.4.3).
const readable = 4.5

// over paints c over an opaque colour.
func (c rgba) over(paper rgba) rgba {
	mix := func(x, y float64) float64 { return x*c.a + y*(1-c.a) }
	return rgba{mix(c.r, paper.r), mix(c.g, paper.g), mix(c.b, paper.b), 1}
}

// luminance is the relative luminance of WCAG 2.1.
func (c rgba) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the contrast ratio of WCAG 2.1, from 1 to 21.
func contrast(a, b rgba) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// page is what a page gives to the outputs in it.
type page struct {
	name        string
	text, paper string
	variables   map[string]string
}

// The colours of the themes of JupyterLab 4, in the style sheets of its packages
// theme-light-extension and theme-dark-extension.
var pages = []page{
	{"JupyterLab light", "rgba(0,0,0,.87)", "white", map[string]string{"--jp-ui-font-color2": "rgba(0,0,0,.54)"}},
	{"JupyterLab dark", "#fff", "#111", map[string]string{"--jp-ui-font-color2": "rgba(255,255,255,.54)"}},
	{"a page without variables", "#000", "#fff", nil},
}

var (
	mixed    = regexp.MustCompile(`^color-mix\(in srgb,(.+) (\d+)%,(.+)\)$`)
	variable = regexp.MustCompile(`^var\((--[a-z0-9-]+),(.+)\)$`)
	function = regexp.MustCompile(`^rgba?\((.+)\)$`)
)

// colour reads a colour as CSS would; around is the colour of the text around it.
func (p page) colour(s string, around rgba) (rgba, error) {
	s = strings.TrimSpace(s)
	if m := variable.FindStringSubmatch(s); m != nil {
		if v, known := p.variables[m[1]]; known {
			return p.colour(v, around)
		}
		if strings.HasPrefix(m[1], "--jp-") && len(p.variables) > 0 {
			return rgba{}, fmt.Errorf("the test does not know %s", m[1])
		}
		return p.colour(m[2], around)
	}
	if m := mixed.FindStringSubmatch(s); m != nil {
		one, err := p.colour(m[1], around)
		if err != nil {
			return rgba{}, err
		}
		other, err := p.colour(m[3], around)
		if err != nil {
			return rgba{}, err
		}
		percent, err := strconv.ParseFloat(m[2], 64)
		// Parts are mixed after they are multiplied by alpha (CSS Color 5).
		share := percent / 100
		a := one.a*share + other.a*(1-share)
		mix := func(x, y float64) float64 { return (x*one.a*share + y*other.a*(1-share)) / a }
		return rgba{mix(one.r, other.r), mix(one.g, other.g), mix(one.b, other.b), a}, err
	}
	if m := function.FindStringSubmatch(s); m != nil {
		parts := strings.Split(m[1], ",")
		c := [4]float64{3: 1}
		for i, part := range parts {
			v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil {
				return rgba{}, err
			}
			c[i] = v
		}
		return rgba{c[0] / 255, c[1] / 255, c[2] / 255, c[3]}, nil
	}
	switch strings.ToLower(s) {
	case "currentcolor":
		return around, nil
	case "transparent":
		return rgba{}, nil
	case "white":
		return rgba{1, 1, 1, 1}, nil
	}
	digits := strings.TrimPrefix(s, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 || digits == s {
		return rgba{}, fmt.Errorf("the test does not know the colour %q", s)
	}
	return rgba{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255, 1}, nil
}

// faint walks through the HTML of an output as a page shows it. It returns how
// many texts it saw, and those with too little contrast.
func (p page) faint(html string) (seen int, found []string, err error) {
	html = regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(html, "")
	type look struct{ text, paper rgba }
	paper, err := p.colour(p.paper, rgba{})
	if err != nil {
		return 0, nil, err
	}
	text, err := p.colour(p.text, rgba{})
	if err != nil {
		return 0, nil, err
	}
	looks := []look{{text, paper}}
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if err == io.EOF {
			return seen, found, nil
		}
		if err != nil {
			return 0, nil, err
		}
		now := looks[len(looks)-1]
		switch token := token.(type) {
		case xml.StartElement:
			around := now.text
			for _, a := range token.Attr {
				if a.Name.Local != "style" {
					continue
				}
				for declaration := range strings.SplitSeq(a.Value, ";") {
					name, value, _ := strings.Cut(declaration, ":")
					switch strings.TrimSpace(name) {
					case "color":
						if now.text, err = p.colour(value, around); err != nil {
							return 0, nil, err
						}
					case "background", "background-color":
						c, err := p.colour(value, around)
						if err != nil {
							return 0, nil, err
						}
						now.paper = c.over(now.paper)
					}
				}
			}
			looks = append(looks, now)
		case xml.EndElement:
			looks = looks[:len(looks)-1]
		case xml.CharData:
			words := strings.TrimSpace(string(token))
			if words == "" {
				continue
			}
			seen++
			if c := contrast(now.text.over(now.paper), now.paper); !(c >= readable) {
				found = append(found, fmt.Sprintf("%q has a contrast of %.2f", words, c))
			}
		}
	}
}

// Every kind of output, in every theme.
func TestTextStandsOut(t *testing.T) {
	a := tiling.FromRows([][]int{{1, 2}, {3, 4}})
	table := Table{Title: "title", Columns: []string{"n", "time"}, Rows: [][]any{{1, 2.0}, {2, 3.0}}, Caption: "caption"}
	figure := Figure{ID: "f", Title: "t", Alt: "alt", Series: []Series{{Points: []Point{{X: 1, Y: 1}, {X: 2, Y: 2}}}}, hints: []string{"a remark"}}
	figure.failures = []failure{{title: "Not so", what: "it", rows: [][2]string{{"expected", "1"}}, advice: "Do.", doubt: true}}
	for _, kind := range []struct {
		name string
		show func()
	}{
		{"held", func() { Within("x", 1, 1.001, 0.01) }},
		{"failed", func() { Within("x", 1, 2, 0.01) }},
		{"no answer", func() { Check(fmt.Errorf("no")) }},
		{"value", func() { Value("x", 1.5, "s") }},
		{"table", table.Show},
		{"figure", figure.Show},
		{"steps", func() { ShowMatrixSteps(a, a, 1) }},
		{"explorer", func() { Explorer("tile") }},
		{"progress", func() { p := Progress("p"); p(0, 2); p(2, 2) }},
	} {
		blocks, _ := record(t, true, kind.show)
		for _, p := range pages {
			seen := 0
			for _, b := range blocks {
				n, faint, err := p.faint(b.HTML)
				if err != nil {
					t.Errorf("%s: %v", kind.name, err)
				}
				for _, f := range faint {
					t.Errorf("%s, %s: %s, and must have %.1f", p.name, kind.name, f, readable)
				}
				seen += n
			}
			if seen == 0 {
				t.Errorf("%s, %s: no text was seen", p.name, kind.name)
			}
		}
	}
}

// The test of the contrast finds what is faint.
func TestFaintTextIsFound(t *testing.T) {
	for _, html := range []string{`<b style="color:#2da44e">✓</b>`, `<div style="background:rgba(209,36,47,0.1)"><i style="` + styleMuted + `">x</i></div>`} {
		if _, faint, err := pages[0].faint(html); len(faint) != 1 || err != nil {
			t.Errorf("%s: %v, %v", html, faint, err)
		}
	}
	black, white := rgba{a: 1}, rgba{1, 1, 1, 1}
	if c := contrast(black, white); c != 21 {
		t.Errorf("the contrast of black and white is %v, and must be 21", c)
	}
}

// Where JupyterLab is installed, its themes have the colours that this test
// computes with.
func TestThemesOfJupyterLab(t *testing.T) {
	for _, p := range pages[:2] {
		name := strings.TrimPrefix(p.name, "JupyterLab ")
		path := filepath.Join("..", "..", ".venv", "share", "jupyter", "lab", "themes", "@jupyterlab", "theme-"+name+"-extension", "index.css")
		css, err := os.ReadFile(path)
		if err != nil {
			t.Skip("JupyterLab is not installed here: ", err)
		}
		for variable, want := range map[string]string{
			"--jp-ui-font-color2": p.variables["--jp-ui-font-color2"], "--jp-content-font-color1": p.text, "--jp-layout-color0": p.paper,
		} {
			if !strings.Contains(string(css), variable+":"+want+";") {
				t.Errorf("%s of JupyterLab's %s theme is not %s", variable, name, want)
			}
		}
	}
}
