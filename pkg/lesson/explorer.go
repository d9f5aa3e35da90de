package lesson

import (
	"fmt"
	"strings"

	"memorywall/pkg/explore"
	"memorywall/pkg/internal/svg"
)

// Explorer shows a live explorer: "roofline", "tile", "decode" or "model". Settings come
// in pairs of a key and a text, and stand for what is shown at first:
//
//	lesson.Explorer("tile", "n", "4096", "b", "342", "capacity", "1MiB")
//
// In a notebook it is a picture with its values, and where the page lets it,
// controls that answer at once: scripts/explorer brings the page the program
// that made the picture. Outside it is the values. A name, a key or a value that
// cannot be right ends the cell with a message that says what would be.
func Explorer(name string, settings ...string) {
	b, err := explorer(name, settings)
	Check(err)
	screen.show(b)
}

func explorer(name string, pairs []string) (block, error) {
	bad := func(format string, args ...any) (block, error) {
		return block{}, fmt.Errorf("lesson: explorer %q: "+format, append([]any{name}, args...)...)
	}
	if len(pairs)%2 != 0 {
		return bad("the settings are %d texts: they must come in pairs, a key and its value", len(pairs))
	}
	settings := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		key := pairs[i]
		if _, twice := settings[key]; twice {
			return bad("setting %q is there twice: give it once", key)
		}
		settings[key] = pairs[i+1]
	}
	v, err := explore.Draw(name, settings, explore.MostWidth)
	if err != nil {
		return block{}, err
	}
	if len(v.Errors) > 0 {
		return bad("setting %q: %s", v.Errors[0].Key, v.Errors[0].Message)
	}
	t := Table{Columns: []string{"what follows from these settings", "value"}}
	for _, value := range v.Values {
		t.Rows = append(t.Rows, []any{value.Label, value.Text})
	}
	for _, c := range v.Controls {
		if c.Text != "" && !c.Off {
			t.Caption += c.Key + " = " + c.Text + ", "
		}
	}
	t.Caption = "Settings: " + strings.TrimSuffix(t.Caption, ", ") + "."
	if len(v.Notes) > 0 {
		t.Caption += " " + strings.Join(v.Notes, " ")
	}
	return block{HTML: explorerHTML(v, t), Text: v.Title + "\n" + v.Summary + "\n" + t.text()}, nil
}

// explorerHTML is the explorer as a page shows it until it is live: the picture,
// and the values in a table.
func explorerHTML(v explore.View, t Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="memorywall-explorer" data-explorer="%s" data-settings="%s"><div class="memorywall-still">`, esc(v.Name), esc(v.Query))
	fmt.Fprintf(&b, `<img src="%s" alt="%s" style="max-width:100%%;height:auto">`, dataURL([]byte(svg.Still(v.SVG))), esc(v.Title+". "+v.Alt))
	fmt.Fprintf(&b, `<div>%s</div><details><summary>The values of this explorer</summary>%s</details></div>`, esc(v.Summary), t.html())
	b.WriteString(`<script>` + wake + `</script></div>`)
	return b.String()
}
