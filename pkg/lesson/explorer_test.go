package lesson

import (
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"memorywall/pkg/explore"
	"memorywall/pkg/internal/svg"
)

func TestExplorer(t *testing.T) {
	for _, name := range explore.Names() {
		v, err := explore.Draw(name, nil, explore.MostWidth)
		if err != nil {
			t.Fatal(err)
		}
		blocks, status := record(t, true, func() { Explorer(name) })
		if status != -1 || len(blocks) != 1 {
			t.Fatalf("%s: status %d, %v", name, status, blocks)
		}
		out := blocks[0].HTML
		head := regexp.MustCompile(`^<div class="memorywall-explorer" data-explorer="([a-z]+)" data-settings="([^"]*)">`).FindStringSubmatch(out)
		if head == nil || head[1] != name || html.UnescapeString(head[2]) != v.Query {
			t.Errorf("%s begins %.200s", name, out)
		}
		encoded := regexp.MustCompile(`<img src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)"`).FindStringSubmatch(out)
		if encoded == nil {
			t.Fatalf("%s has no picture", name)
		}
		if picture, err := base64.StdEncoding.DecodeString(encoded[1]); err != nil || string(picture) != svg.Still(v.SVG) {
			t.Errorf("%s: the picture is not that of the explorer: %v", name, err)
		}
		for _, value := range v.Values {
			if !strings.Contains(out, esc(value.Text)) || !strings.Contains(blocks[0].Text, value.Text) {
				t.Errorf("%s: %s = %s is missing", name, value.Label, value.Text)
			}
		}
		if strings.Count(out, "<script>") != 1 || strings.Contains(out, "http:") || strings.Contains(out, "https:") {
			t.Errorf("%s: the scripts and addresses of %s", name, out)
		}
		plain, _ := record(t, false, func() { Explorer(name) })
		if plain[0].Text != blocks[0].Text {
			t.Errorf("%s: the text differs with the front end", name)
		}
	}
}

func TestExplorerSettings(t *testing.T) {
	blocks, status := record(t, true, func() { Explorer("tile", "n", "4Ki", "b", "64", "capacity", "16 KiB") })
	if status != -1 || !strings.Contains(blocks[0].HTML, `data-settings="n=4096&amp;b=64&amp;elem=2&amp;capacity=16KiB&amp;step=1"`) {
		t.Errorf("status %d, %.300s", status, blocks[0].HTML)
	}
	for _, c := range []struct {
		name     string
		settings []string
		want     string
	}{
		{"tiles", nil, `explorer is "tiles": it must be one of roofline, tile, decode`},
		{"tile", []string{"tile", "64"}, `"tile" is no setting of the explorer tile: it has n, b, elem, capacity, step`},
		{"tile", []string{"b"}, "the settings are 1 texts: they must come in pairs"},
		{"tile", []string{"b", "0"}, `setting "b": b, tile size, is 0: it must be a whole number from 1`},
		{"tile", []string{"b", "1", "b", "2"}, `setting "b" is there twice`},
		{"roofline", []string{"chip", "A1000"}, `setting "chip": Chip is "A1000": it must be custom or one of`},
	} {
		blocks, status := record(t, true, func() { Explorer(c.name, c.settings...) })
		if status != 1 || len(blocks) != 1 || !strings.Contains(blocks[0].Text, c.want) {
			t.Errorf("%s %v: status %d, %v, want %q", c.name, c.settings, status, blocks, c.want)
		}
	}
}
