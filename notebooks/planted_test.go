package notebooks

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// These tests plant mistakes and demand that the checks find them.

func TestLintFindsPlantedNumbers(t *testing.T) {
	const ridge = "153.0<!--fact chip.ridge_flop_per_byte-->"
	for name, c := range map[string]struct{ text, problem string }{
		"wrong number":                  {"about 154.0<!--fact chip.ridge_flop_per_byte--> FLOP/byte", "the text says 154.0"},
		"last digit":                    {"about 153.1<!--fact chip.ridge_flop_per_byte--> FLOP/byte", "the text says 153.1"},
		"no key":                        {"about 153.0 FLOP/byte", "number 153.0 in"},
		"no key, one digit":             {"it takes 3 tiles", "number 3 in"},
		"no key after a keyed number":   {ridge + " and 152.0", "number 152.0 in"},
		"unknown key":                   {"about 153.0<!--fact chip.ridge--> FLOP/byte", "no number has the key"},
		"wrong scale":                   {"about 0.4405<!--fact naive_vs_ideal_4096_fp16.floor_math_s*1e6--> ms", "the text says 0.4405"},
		"no scale":                      {"about 0.4405<!--fact naive_vs_ideal_4096_fp16.floor_math_s--> ms", "the text says 0.4405"},
		"scale that is no number":       {"about 0.4405<!--fact naive_vs_ideal_4096_fp16.floor_math_s*ms--> ms", "scale is"},
		"thousands":                     {"100,663,396<!--fact naive_vs_ideal_4096_fp16.min_bytes--> bytes", "the text says 100,663,396"},
		"heading":                       {"## A ridge of 153.0", "in a heading"},
		"heading with a key":            {"### A ridge of " + ridge, "in a heading"},
		"title of another chapter":      {"# 03 · The roofline", "in a heading"},
		"table":                         {"| 154.0<!--fact chip.ridge_flop_per_byte--> | b |", "the text says 154.0"},
		"folded answer":                 {"<details><summary>Answer</summary>\n\nIt is 152.\n\n</details>", "number 152 in"},
		"formula":                       {"$$I = 153.0$$", "number 153.0 in a formula or code"},
		"formula in a line":             {"so $b = 342$ is", "number 342 in a formula or code"},
		"formula over lines":            {"$$\n\\frac{12}{x}\n$$", "number 12 in a formula or code"},
		"formula, wrong number":         {"so $b = 343$ is\n\n<!--facts 343=ridge_tile_4096_fp16.exact-->", "the text says 343"},
		"formula, thousands":            {"$$701{,}785$$\n<!--facts 701784=ridge_tile_4096_fp16.fast_bytes_at_exact-->", "number 701785 in a formula"},
		"formula, power":                {"$$n^{12}$$", "number 12 in a formula"},
		"comment that covers nothing":   {"text\n<!--facts 342=ridge_tile_4096_fp16.exact-->", "which no formula and no code"},
		"comment with a broken entry":   {"$342$\n<!--facts 342 ridge_tile_4096_fp16.exact-->", "it must be number=key"},
		"code":                          {"the call `Square(4097, 2)`", "number 4097 in a formula or code"},
		"code block":                    {"```\na = | 17  2 |\n```", "number 17 in a formula or code"},
		"comment apart from its number": {"153.0 <!--fact chip.ridge_flop_per_byte--> FLOP/byte", "does not stand right behind"},
		"comment without a number":      {"many<!--fact chip.ridge_flop_per_byte--> bytes", "does not stand right behind"},
		"figure that is not there":      {"see Figure 2.7", "Figure 2.7 is not in this chapter"},
		"link to another chapter":       {"[04 · Tile size](05_tile_size.ipynb)", "is named 04"},
		"number that runs on":           {"a 342<!--fact ridge_tile_4096_fp16.exact-->-tile of 64KiB", "number 64 in"},
		"name of a format glued on":     {"153.0<!--fact chip.ridge_flop_per_byte-->FLOP", "runs on"},
		"picture text":                  {"**153.5<!--fact chip.ridge_flop_per_byte-->**", "the text says 153.5"},
		"minus":                         {"−153.0<!--fact chip.ridge_flop_per_byte-->", "the text says −153.0"},
		"fraction":                      {"2/3<!--fact two_by_two_float32.intensity-->", "the text says 2/3"},
		"in a link":                     {"[about 77 bytes](02_roofline.ipynb)", "number 77 in"},
		"in bold":                       {"**77 bytes**", "number 77 in"},
		"after a quote mark":            {"> **Takeaway.** 77 bytes", "number 77 in"},
		"in a list":                     {"- 77 bytes", "number 77 in"},
	} {
		t.Run(name, func(t *testing.T) {
			l := lint{chapter: 2, title: true, figures: map[string]bool{"2.1": true}}
			l.run(c.text)
			if got := strings.Join(l.problems, "\n"); !strings.Contains(got, c.problem) {
				t.Errorf("%q: problems are %q: one must say %q", c.text, got, c.problem)
			}
		})
	}
}

func TestLintLetsGoodTextPass(t *testing.T) {
	for name, text := range map[string]string{
		"keyed":             "about 153.0<!--fact chip.ridge_flop_per_byte--> FLOP/byte, or 153<!--fact chip.ridge_flop_per_byte-->.",
		"scaled":            "0.4405<!--fact naive_vs_ideal_4096_fp16.floor_math_s*1e3--> ms, 312<!--fact chip.peak_flops/1e12--> TFLOP/s",
		"thousands":         "100,663,296<!--fact naive_vs_ideal_4096_fp16.min_bytes--> bytes",
		"fraction":          "1/3<!--fact two_by_two_float32.intensity--> of a FLOP",
		"names":             "The NVIDIA A100 80GB SXM has HBM2e memory; FP16, float32, L2.",
		"title":             "# 02 · The roofline",
		"figure":            "**What to see.** Figure 2.1 shows it.",
		"question":          "**Question 12 (recall).** Why?",
		"link":              "[05 · Tile size](05_tile_size.ipynb), [by name](05_tile_size.ipynb)",
		"setting":           "set `bandwidth = 4000e9` or `n = k = 64`",
		"command":           "`%noautoget`",
		"formula":           "$2\\,m\\,n\\,k$ and $a_{12} \\cdot 10^{12} = x_{21}$",
		"covered formula":   "$$701{,}784 = 3 \\cdot 342^2 \\cdot 2$$\n\n<!--facts 701784=ridge_tile_4096_fp16.fast_bytes_at_exact; 342=ridge_tile_4096_fp16.exact-->",
		"covered code":      "```go\nSquare(4096, 2)\n```\n<!--facts 4096=ch02.n-->",
		"table":             "| a | 153.0<!--fact chip.ridge_flop_per_byte--> |\n|---|---|",
		"ordered list":      "1. first\n2. second",
		"a row of the list": "tile of 342<!--fact ridge_tile_4096_fp16.exact-->: reached",
	} {
		t.Run(name, func(t *testing.T) {
			l := lint{chapter: 2, title: true, figures: map[string]bool{"2.1": true}}
			l.run(text)
			for _, p := range l.problems {
				t.Errorf("%q: %s", text, p)
			}
		})
	}
}

func TestTypedNumbersInFiguresAreFound(t *testing.T) {
	const frame = "import (\n\t\"memorywall/pkg/lesson\"\n)\n\n%%\n"
	for code, want := range map[string]bool{
		`lesson.Figure{Title: "Figure 2.1. Only 0.327% of the peak"}.Show()`:               true,
		`lesson.Figure{Alt: fmt.Sprintf("at n = 4096 it is %.1f", x)}.Show()`:              true,
		`lesson.Figure{Marks: []lesson.Mark{{Axis: 'x', At: r, Label: "153"}}}.Show()`:     true,
		`lesson.Roofline("figure-2-1", "Figure 2.1. It is 153.0", "alt", ms, dots).Show()`: true,
		`lesson.Roofline("figure-2-1", "Figure 2.1. A", "it is "+"153.0", m, d).Show()`:    true,
		`lesson.Figure{Title: fmt.Sprintf("Figure 2.1. It is %12.3f of the A100", x)}`:     false,
		`lesson.Roofline("figure-2-1", "Figure 2.1. A claim", "alt", ms, dots).Show()`:     false,
	} {
		got := typedNumbers(&cell{ID: "planted", Source: lines(frame + code)})
		if (len(got) > 0) != want {
			t.Errorf("%s: problems are %q: found must be %t", code, got, want)
		}
	}
}

// good reads a chapter of this folder anew, to be spoilt.
func good(t *testing.T) *notebook {
	t.Helper()
	const file = "02_roofline.ipynb"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func (nb *notebook) cell(t *testing.T, id string) *cell {
	t.Helper()
	for _, c := range nb.Cells {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("%s has no cell %s", nb.File, id)
	return nil
}

func TestStructureFindsPlantedMistakes(t *testing.T) {
	all := chapters(t)
	replace := func(id, from, to string) func(*testing.T, *notebook) {
		return func(t *testing.T, nb *notebook) {
			c := nb.cell(t, id)
			s := strings.Replace(string(c.Source), from, to, 1)
			if s == string(c.Source) {
				t.Fatalf("cell %s does not hold %q", id, from)
			}
			c.Source = lines(s)
		}
	}
	inHTML := func(id, from, to string) func(*testing.T, *notebook) {
		return func(t *testing.T, nb *notebook) {
			for _, o := range nb.cell(t, id).Outputs {
				s := strings.Replace(o.data("text/html"), from, to, 1)
				if s != o.data("text/html") {
					o.Data["text/html"], _ = json.Marshal(s)
					return
				}
			}
			t.Fatalf("no output of cell %s holds %q", id, from)
		}
	}
	picture := func(svg string) func(*testing.T, *notebook) {
		return func(t *testing.T, nb *notebook) {
			c := nb.cell(t, "ridge-of-the-a100")
			raw, _ := json.Marshal(`<img alt="a picture that says what is found in it" src="` + svgPicture + base64.StdEncoding.EncodeToString([]byte(svg)) + `">`)
			c.Outputs = append(c.Outputs, output{Type: "display_data", Data: map[string]json.RawMessage{"text/html": raw}})
		}
	}
	const shapes = `<path d="M0 0"/><path d="M0 0"/><path d="M0 0"/><path d="M0 0"/>`
	for name, c := range map[string]struct {
		spoil   func(*testing.T, *notebook)
		problem string
	}{
		"other kernel": {func(t *testing.T, nb *notebook) {
			nb.Metadata["kernelspec"] = json.RawMessage(`{"name":"go","language":"go"}`)
		}, "kernelspec is"},
		"signature":    {func(t *testing.T, nb *notebook) { nb.Metadata["signature"] = json.RawMessage(`"sha256:0"`) }, `metadata has "signature"`},
		"trust":        {func(t *testing.T, nb *notebook) { nb.cell(t, "title").Metadata["trusted"] = json.RawMessage(`true`) }, `metadata has "trusted"`},
		"times":        {func(t *testing.T, nb *notebook) { nb.cell(t, "toy-chip").Metadata["execution"] = json.RawMessage(`{}`) }, `metadata has "execution"`},
		"older format": {func(t *testing.T, nb *notebook) { nb.Minor = 4 }, "nbformat is 4.4"},
		"count":        {func(t *testing.T, nb *notebook) { *nb.cell(t, "toy-chip").Count = 17 }, "execution count"},
		"no count":     {func(t *testing.T, nb *notebook) { nb.cell(t, "toy-chip").Count = nil }, "execution count"},
		"no output":    {func(t *testing.T, nb *notebook) { nb.cell(t, "toy-chip").Outputs = nil }, "it has no output"},
		"no host": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "toy-chip").Metadata["tags"] = json.RawMessage(`["machine"]`)
		}, "it must name the host"},
		"steps not drawn": {replace("toy-chip", "lesson.Equal(", "lesson.ShowMatrixSteps("), "1 walks through the steps, but 0 drawings"},
		"id twice":        {func(t *testing.T, nb *notebook) { nb.cell(t, "toy-chip").ID = "title" }, "is there twice"},
		"random id":       {func(t *testing.T, nb *notebook) { nb.cell(t, "toy-chip").ID = "8F3a" }, "must be words in lower case"},
		"unknown tag": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "toy-chip").Metadata["tags"] = json.RawMessage(`["slow"]`)
		}, `tag is "slow"`},
		"error output": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "toy-chip").Outputs[0] = output{Type: "error", Ename: "ERROR"}
		}, "its output is an error"},
		"printed output": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "toy-chip").Outputs[0] = output{Type: "stream", Name: "stdout", Text: "4"}
		}, "it prints to stdout"},
		"failed check":    {inHTML("toy-chip", "✓", "✗"), "shows a failed check"},
		"setup":           {replace("setup", "%noautoget", "%noautoget\n"), "the first cell is"},
		"setup not first": {func(t *testing.T, nb *notebook) { nb.Cells[0], nb.Cells[1] = nb.Cells[1], nb.Cells[0] }, "the first cell"},
		"missing section": {replace("by-hand", "## By hand", "## With a pencil"), `section "## By hand" is missing`},
		"order of sections": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "idea").Source, nb.cell(t, "by-hand").Source = nb.cell(t, "by-hand").Source, nb.cell(t, "idea").Source
		}, "is missing, or out of order"},
		"second title":       {replace("picture", "## The picture", "# The picture"), "single #"},
		"skipped level":      {replace("band", "### Overlapped", "#### Between"), "skips a level"},
		"title of a chapter": {replace("title", "# 02", "# 03"), "it must begin with"},
		"no question":        {replace("title", "> **Question.**", "> **Topic.**"), "hold the question"},
		"nothing to keep":    {replace("keep", "**", ""), "one sentence in bold"},
		"two to keep":        {replace("keep", "; the ridge", ". The ridge"), "that must be one sentence"},
		"no worked line": {func(t *testing.T, nb *notebook) {
			for _, c := range nb.Cells {
				c.Source = lines(strings.ReplaceAll(string(c.Source), "> **Example.** ", "> "))
			}
		}, "has no line with numbers"},
		"too long": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "idea").Source += lines(strings.Repeat(" word", maxWords))
		}, "words of prose"},
		"no rise":              {replace("q8", "(change the code)", "(compute)"), "they must rise"},
		"no parameters":        {func(t *testing.T, nb *notebook) { delete(nb.cell(t, "try-roofline").Metadata, "tags") }, "no cell has the tag parameters"},
		"no hint":              {replace("try-roofline", "// Try: ", "// "), "it must say // Try: …"},
		"long parameters":      {replace("try-roofline", "chip := ", "// A line more.\nchip := "), "a reader changes at most 25"},
		"quoted in parameters": {replace("try-roofline", "lesson.Value(", "lesson.Shows("), "another constant turns red"},
		"nothing held": {func(t *testing.T, nb *notebook) {
			c := nb.cell(t, "try-roofline")
			c.Source = lines(strings.ReplaceAll(string(c.Source), "lesson.Holds(", "lesson.Note("))
		}, "assert what always holds"},
		"open answer":         {replace("q1", "<details>", "<details open>"), "its answer must be folded"},
		"kind of question":    {replace("q1", "(recall)", "(hard)"), "it must begin with **Question 1"},
		"number of question":  {replace("q2", "Question 2", "Question 3"), "it must begin with **Question 2"},
		"no answer cell":      {func(t *testing.T, nb *notebook) { delete(nb.cell(t, "a3").Metadata, "tags") }, "a code cell with the tag answer must follow"},
		"answer without name": {replace("a3", "// Answer 3", "// Answer 4"), "its first line must be"},
		"answer in sight": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "a3").Metadata["jupyter"] = json.RawMessage(`{"source_hidden":true}`)
		}, "it must be folded"},
		"folded figure without name":   {replace("overlap-band", "// Computes and draws Figure 2.2.\n", ""), "its first line must be"},
		"folded figure, other name":    {replace("overlap-band", "draws Figure 2.2", "draws Figure 2.3"), "its first line must be"},
		"folded explorer without name": {replace("play-roofline", "// Shows the explorer roofline.\n", ""), "its first line must be"},
		"folded explorer, other name":  {replace("play-roofline", "explorer roofline.", "explorer tile."), "its first line must be"},
		"folded parameters": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "try-roofline").Metadata["jupyter"] = json.RawMessage(`{"source_hidden": true}`)
		}, "it must be open"},
		"folded code": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "toy-chip").Metadata["jupyter"] = json.RawMessage(`{"source_hidden": true}`)
		}, "only answers and the cells of figures and explorers are"},
		"folded figure, outputs too": {func(t *testing.T, nb *notebook) {
			nb.cell(t, "overlap-band").Metadata["jupyter"] = json.RawMessage(`{"source_hidden":true,"outputs_hidden":true}`)
		}, `metadata has "jupyter"`},
		"answer not asserted":  {func(t *testing.T, nb *notebook) { nb.cell(t, "a1").Outputs = []output{{Type: "display_data"}} }, "it asserts nothing"},
		"few questions":        {func(t *testing.T, nb *notebook) { nb.Cells = nb.Cells[:len(nb.Cells)-10] }, "there must be at least five"},
		"figure number":        {replace("overlap-band", `"Figure 2.2. `, `"Figure 2.3. `), "figure title is for 2.3"},
		"figure id":            {replace("overlap-band", `"figure-2-2"`, `"figure-2-1"`), "figure id is for 2.1"},
		"figure without title": {replace("overlap-band", `"Figure 2.2. `, `"`), "titles like"},
		"no static picture":    {func(t *testing.T, nb *notebook) { nb.cell(t, "overlap-band").Outputs = nil }, "but 0 static pictures"},
		"empty picture":        {picture(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`), "nothing is drawn"},
		"broken picture":       {picture(`<svg><path>`), "a picture: XML syntax error"},
		"NaN in a picture":     {picture(`<svg>` + shapes + `<path d="M0 NaN"/></svg>`), "NaN in <path d>"},
		"script in a picture":  {picture(`<svg>` + shapes + `<script/></svg>`), "it holds a <script>"},
		"address in a picture": {picture(`<svg><a href="https://example.org/x"/></svg>`), "must not need another host"},
		"picture from outside": {inHTML("toy-chip", "✓", `✓<img alt="a picture that lies on some other host" src="https://example.org/a.svg">`), "does not hold its SVG itself"},
		"no alt text":          {inHTML("toy-chip", "✓", `✓<img alt="chart" src="`+svgPicture+`">`), "has the alt text"},
		"script from outside":  {inHTML("toy-chip", "✓", `✓<script src="//example.org/a.js">`), "must not need another host"},
		"address in JSON":      {inHTML("toy-chip", "✓", `✓<script>fetch("https:\/\/example.org")</script>`), "must not need another host"},
		"address in the text":  {replace("title", "The answer", "https://example.org The answer"), "must not need another host"},
		"dead link":            {replace("title", "(00_index.ipynb)", "(00_start.ipynb)"), "there is no such chapter"},
		"name of a link":       {replace("title", "[01 · FLOPs", "[01 · Bytes"), "is named"},
		"no next chapter":      {replace("keep", "(03_naive_versus_compulsory.ipynb)", "(01_flops_and_bytes.ipynb)"), "no link to the next chapter"},
		"no chapter before":    {replace("title", "(01_flops_and_bytes.ipynb)", "(00_index.ipynb)"), "no link to the chapter before"},
		"picture from a file":  {replace("title", "The answer", "![roof](02_roofline.ipynb)"), "figures are made by cells"},
		"no imports":           {replace("toy-chip", "import (", "\nimport ("), "it must begin with import"},
		"no main":              {replace("toy-chip", "\n%%\n", "\n\n"), "it has no line %%"},
		"not formatted":        {replace("toy-chip", "flops, bytes :=", "flops,  bytes :="), "not formatted"},
		"does not parse":       {replace("toy-chip", "%%\ntoy :=", "%%\ntoy := ("), "cell toy-chip: "},
		"prints":               {replace("toy-chip", "lesson.Equal(", "fmt.Println("), "or the order is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			nb := good(t)
			if got := strings.Join(nb.problems(all), "\n"); strings.Contains(got, c.problem) {
				t.Fatalf("problems of the chapter as it stands are %q: none may say %q", got, c.problem)
			}
			c.spoil(t, nb)
			if got := strings.Join(nb.problems(all), "\n"); !strings.Contains(got, c.problem) {
				t.Errorf("problems are %q: one must say %q", got, c.problem)
			}
		})
	}
}

func TestDefinitionsFindPlantedMistakes(t *testing.T) {
	text := func(source string) []*notebook {
		return []*notebook{{File: "a", Cells: []*cell{{Type: "markdown", ID: "idea", Source: lines(source)}}}}
	}
	for source, problem := range map[string]string{
		"> **Definition: tile.** A **tile** is\n> a part.\n\n> **Definition: tile.** A **tile** is a piece.": "is defined in a cell idea already",
		"> **Definition: tile.** A part of a matrix.":                                                        "does not hold it in bold",
		"> **Definition: tile, edge.** A **tile** is a part.":                                                "definition of \"edge\"",
		"> **Definition: slow memory, fast memory.** **Slow memory** and\n> **fast memory**.":                "",
	} {
		_, problems := definitions(text(source))
		if got := strings.Join(problems, "\n"); (problem == "") != (got == "") || !strings.Contains(got, problem) {
			t.Errorf("%q: problems are %q: want %q", source, got, problem)
		}
	}
}

func TestFileNamesAndUnknownFields(t *testing.T) {
	for name, c := range map[string]struct{ file, data, problem string }{
		"name":  {"roofline.ipynb", "{}", "it must be like 02_roofline.ipynb"},
		"field": {"02_roofline.ipynb", `{"widgets": {}}`, "unknown field"},
		"JSON":  {"02_roofline.ipynb", `{"cells": [`, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(c.file, []byte(c.data)); err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("error is %v: it must say %q", err, c.problem)
			}
		})
	}
}

// A chapter that has just been begun gives messages, whatever it lacks.
func TestBegunChaptersGiveMessages(t *testing.T) {
	for name, c := range map[string]struct{ data, problem string }{
		"nothing":        {`{}`, "there are no cells"},
		"no cells":       {`{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`, "there are no cells"},
		"one empty cell": {`{"cells": [{"cell_type": "code", "metadata": {}, "source": []}]}`, "the first cell is"},
		"setup alone":    {`{"cells": [{"cell_type": "code", "id": "setup", "metadata": {"tags": ["setup"]}, "source": "%noautoget"}]}`, "only 1 cells"},
		"no heading":     {`{"cells": [{"cell_type": "code", "source": "%noautoget"}, {"cell_type": "markdown", "source": "text"}]}`, "only 2 cells"},
		"empty cells":    {`{"cells": [{"cell_type": "code"}, {"cell_type": "markdown"}, {"cell_type": "code"}, {}]}`, "is empty"},
		"open ends": {`{"cells": [{"cell_type": "markdown", "source": "$"}, {"cell_type": "markdown", "source": "$$"},
			{"cell_type": "markdown", "source": "` + "`" + `"}, {"cell_type": "markdown", "source": "` + "```" + `"}]}`, "the first cell is"},
	} {
		t.Run(name, func(t *testing.T) {
			all := chapters(t)
			nb, err := parse("99_begun.ipynb", []byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			all[len(all)-1].Last, nb.Last = false, true
			all = append(all, nb)
			if got := strings.Join(nb.problems(all), "\n"); !strings.Contains(got, c.problem) {
				t.Errorf("problems are %q: one must say %q", got, c.problem)
			}
			for _, other := range all {
				other.problems(all)
			}
			definitions(all)
			ends := 0
			for _, cell := range nb.Cells {
				if cell.code() {
					typedNumbers(cell)
					continue
				}
				l := lint{chapter: nb.Chapter, figures: nb.figures()}
				l.run(string(cell.Source))
				if strings.Contains(strings.Join(l.problems, "\n"), "without an end") {
					ends++
				}
			}
			if name == "open ends" && ends != len(nb.Cells) {
				t.Errorf("%d of %d open ends are found", ends, len(nb.Cells))
			}
			if got := strings.Join(chapterRows(readme(t), all), "\n"); !strings.Contains(got, "99_begun.ipynb: its second cell has no heading") {
				t.Errorf("problems with the README's table are %q: one must be the chapter without a title", got)
			}
		})
	}
}

func TestReadmeTableFindsPlantedMistakes(t *testing.T) {
	all := chapters(t)
	text := readme(t)
	if ps := chapterRows(text, all); len(ps) > 0 {
		t.Fatalf("problems as it stands are %q", ps)
	}
	row := chapterRow.FindString(text[strings.Index(text, "| [02"):])
	for name, c := range map[string]struct{ from, to, problem string }{
		"no row":         {row + "\n", "", "has no row | [02 · The roofline](notebooks/02_roofline.ipynb)"},
		"other title":    {"[02 · The roofline]", "[02 · Roofs]", `its title is "02 · The roofline"`},
		"other question": {row, strings.TrimSuffix(row, "? |") + " at most? |", "the map of the index says"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(text, c.from, c.to, 1)
			if got := strings.Join(chapterRows(spoilt, all), "\n"); spoilt == text || !strings.Contains(got, c.problem) {
				t.Errorf("problems are %q: one must say %q", got, c.problem)
			}
		})
	}
}

func TestAnswersThatBecomeLists(t *testing.T) {
	for text, want := range map[string]int{
		"12<!--fact ch04.q6_tile-->. With b = 10 there are six.": 1,
		"A line.\n\n80<!--fact ch06.q7_batch-->.":                1,
		"> 15) of them":            1,
		"1. one\n2. two\n3. three": 0,
		"1. one\n3. three":         1,
		"It is 12<!--fact ch04.q6_tile-->. With b = 10.":  0,
		"153.0<!--fact chip.ridge--> FLOP/byte: the peak": 0,
		"```\n12. in code\n```":                           0,
	} {
		if got := strayItems(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
