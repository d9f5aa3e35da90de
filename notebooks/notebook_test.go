package notebooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memorywall/pkg/glossary"
)

// notebook is one chapter as it lies in its file.
type notebook struct {
	File     string                     `json:"-"` // 02_roofline.ipynb
	Chapter  int                        `json:"-"`
	Last     bool                       `json:"-"` // no chapter comes after it
	Cells    []*cell                    `json:"cells"`
	Metadata map[string]json.RawMessage `json:"metadata"`
	Format   int                        `json:"nbformat"`
	Minor    int                        `json:"nbformat_minor"`
}

type cell struct {
	Type     string                     `json:"cell_type"`
	ID       string                     `json:"id"`
	Count    *int                       `json:"execution_count"`
	Metadata map[string]json.RawMessage `json:"metadata"`
	Outputs  []output                   `json:"outputs"`
	Source   lines                      `json:"source"`
}

type output struct {
	Type     string                     `json:"output_type"`
	Name     string                     `json:"name"`
	Count    *int                       `json:"execution_count"`
	Data     map[string]json.RawMessage `json:"data"`
	Text     lines                      `json:"text"`
	Metadata map[string]json.RawMessage `json:"metadata"`
	Ename    string                     `json:"ename"`
	Evalue   string                     `json:"evalue"`
	Trace    []string                   `json:"traceback"`
}

// lines is text that a notebook stores as one string or as a list of lines.
type lines string

func (l *lines) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = lines(one)
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return err
	}
	*l = lines(strings.Join(many, ""))
	return nil
}

// data returns an output's data of one type as text.
func (o output) data(mime string) string {
	var l lines
	if raw, ok := o.Data[mime]; ok {
		if err := json.Unmarshal(raw, &l); err != nil {
			return string(raw)
		}
	}
	return string(l)
}

// html returns all that the cell shows as HTML.
func (c *cell) html() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		b.WriteString(o.data("text/html"))
	}
	return b.String()
}

// plain returns all that the cell shows as text.
func (c *cell) plain() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		b.WriteString(o.data("text/plain") + "\n")
	}
	return b.String()
}

func (c *cell) tags() []string {
	var tags []string
	if raw, ok := c.Metadata["tags"]; ok {
		if err := json.Unmarshal(raw, &tags); err != nil {
			return []string{"unreadable"}
		}
	}
	return tags
}

func (c *cell) tagged(tag string) bool { return slices.Contains(c.tags(), tag) }

// folded reports whether the code is hidden behind its first line, and nothing
// else is set for Jupyter.
func (c *cell) folded() bool {
	return string(bytes.Join(bytes.Fields(c.Metadata["jupyter"]), nil)) == `{"source_hidden":true}`
}

func (c *cell) code() bool { return c.Type == "code" }

var fileName = regexp.MustCompile(`^(\d\d)_[a-z0-9]+(?:_[a-z0-9]+)*\.ipynb$`)

func parse(file string, data []byte) (*notebook, error) {
	m := fileName.FindStringSubmatch(file)
	if m == nil {
		return nil, fmt.Errorf("file name is %q: it must be like 02_roofline.ipynb", file)
	}
	nb := &notebook{File: file}
	nb.Chapter, _ = strconv.Atoi(m[1])
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // anything else in the file is a surprise
	if err := dec.Decode(nb); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return nb, nil
}

// chapters reads all chapters of this folder in order. The glossary is none.
func chapters(t *testing.T) []*notebook {
	t.Helper()
	files, err := filepath.Glob("*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var all []*notebook
	for _, file := range files {
		if file == glossary.Page {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, nb)
	}
	if len(all) == 0 {
		t.Fatal("no notebooks in this folder")
	}
	all[len(all)-1].Last = true
	return all
}

// title returns the heading of the second cell, or "" where there is none.
func (nb *notebook) title() string {
	if len(nb.Cells) < 2 {
		return ""
	}
	h := heading.FindStringSubmatch(string(nb.Cells[1].Source))
	if h == nil {
		return ""
	}
	return h[2]
}

// prefix returns what a chapter's title and the links to it begin with.
func prefix(chapter int) string { return fmt.Sprintf("%02d · ", chapter) }
