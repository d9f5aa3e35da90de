// Package svg draws: the house colours, and SVG pictures in them.
package svg

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed palette.css
var palette string

// Color returns the colour of a name of palette.css as a page writes it, which
// gives it the page's theme.
func Color(name string) string { return variable + name + ")" }

const variable = "var(--mw-"

// shades returns the colours of a name on light paper and on dark. It panics if
// palette.css has no such name.
func shades(name string) (light, dark string) {
	_, line, ok := strings.Cut(palette, "--mw-"+name+": ")
	if !ok {
		panic(fmt.Sprintf("svg: palette.css has no colour %q", name))
	}
	line, _, _ = strings.Cut(line, ";")
	_, line, _ = strings.Cut(line, "light-dark(")
	light, dark, _ = strings.Cut(strings.TrimRight(line, ")"), ", ")
	return light, dark
}

// Light returns the colour of a name on light paper, for what no page gives a
// theme. It panics if palette.css has no such name.
func Light(name string) string {
	light, _ := shades(name)
	return light
}

// Still returns a picture whose colours are variables of a page as one that
// stands alone: light, or dark where it is shown on dark ground.
func Still(picture string) string {
	var b strings.Builder
	var rules []string
	end := strings.Index(picture, ">") + 1 // of the svg element's own tag
	for i, part := range strings.Split(picture, variable) {
		name, rest, _ := strings.Cut(part, ")")
		if i == 0 {
			b.WriteString(part)
			continue
		}
		light, dark := shades(name)
		text := b.String()
		attribute := text[strings.LastIndexByte(text, ' ')+1:] // such as fill="
		if rule := fmt.Sprintf(`[%s%s"]{%s:%s}`, attribute, light, strings.TrimSuffix(attribute, `="`), dark); !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
		b.WriteString(light + rest)
	}
	slices.Sort(rules)
	style := "<style>@media (prefers-color-scheme:dark){" + strings.Join(rules, "") + "}</style>"
	return picture[:end] + style + b.String()[end:]
}
