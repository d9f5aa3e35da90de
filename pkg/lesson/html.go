package lesson

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// Colours of text outside figures. Muted text follows JupyterLab's theme where
// the page knows it. The others mix their hue with the colour of the text around
// them, so that they darken on light paper and lighten on dark. An untrusted
// notebook drops both forms and keeps the rest of a style: every piece is
// readable without them.
const (
	styleMuted  = "color:var(--jp-ui-font-color2,#59636e)"
	styleHeld   = "color:color-mix(in srgb,#2da44e 65%,currentcolor)"
	styleFailed = "color:color-mix(in srgb,#e5484d 65%,currentcolor)"
)

// wake is the script of a figure and of an explorer.
//
//go:embed wake.js
var wake string

// html is the figure as a page shows it: the picture, the numbers behind it,
// and what makes it live. t is the table of numbers.
func (f Figure) html(option, svg []byte, t Table) (string, error) {
	data, err := t.csv()
	if err != nil {
		return "", err
	}
	values, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	w, h := f.size()
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="memorywall-figure" id="%s">`, f.ID)
	fmt.Fprintf(&b, `<div class="memorywall-stage" style="width:%dpx;max-width:100%%">`, w)
	alt := f.inWords()
	if svg != nil {
		fmt.Fprintf(&b, `<img src="%s" width="%d" height="%d" alt="%s" style="display:block;max-width:100%%;height:auto">`, dataURL(svg), w, h, esc(alt))
	} else {
		fmt.Fprintf(&b, `<p style="%s">%s</p>`, styleMuted, esc(alt))
	}
	b.WriteString(`</div>`)
	for _, hint := range f.hints {
		fmt.Fprintf(&b, `<div style="font-size:90%%;%s">%s</div>`, styleMuted, esc(hint))
	}
	// figure.js puts what saves the figure beside the table. The keys of a
	// notebook must not act there.
	b.WriteString(`<div class="memorywall-foot" data-lm-suppress-shortcuts="true"><details><summary>The numbers behind this figure</summary>` + t.html() + `</details></div>`)
	fmt.Fprintf(&b, `<script type="application/json">{"width":%d,"height":%d,"option":%s,"csv":%s}</script>`, w, h, scriptSafe(option), scriptSafe(values))
	b.WriteString(`<script>` + wake + `</script></div>`)
	return b.String(), nil
}

// inWords is the claim and the finding, for those who cannot see the figure.
func (f Figure) inWords() string {
	if f.Title == "" || f.Alt == "" {
		return f.Title + f.Alt
	}
	return strings.TrimSuffix(f.Title, ".") + ". " + f.Alt
}

// scriptSafe makes JSON safe inside a script element, where "</script" and
// "<!--" would end it or change how it is read. Inside JSON "<" can stand in
// strings only.
func scriptSafe(text []byte) []byte { return bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`)) }
