package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// View is all that a page shows of an explorer.
type View struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Summary string `json:"summary"` // what the values say, in a sentence
	Alt     string `json:"alt"`     // what the picture shows, for those who cannot see it
	SVG     string `json:"svg"`     // the picture

	Controls []Control         `json:"controls"`
	Values   []Value           `json:"values"`
	Notes    []string          `json:"notes"`  // what a reader must know to use the values
	Errors   []FieldError      `json:"errors"` // if there is any, SVG, Values, Summary and Notes are empty
	Settings map[string]string `json:"settings"`
	Query    string            `json:"query"` // the settings as the query of a link, in one fixed order
}

// Control is one setting, as a reader meets it. Where a choice of the reader
// entails other settings, Sets names them: an empty text takes one away.
type Control struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	Help  string `json:"help"` // what may be typed
	Text  string `json:"text"` // what stands in the field, or the value of the chosen option
	Off   bool   `json:"off"`  // it has no effect at present

	Options []Option          `json:"options,omitempty"` // of a choice
	Slider  *Slider           `json:"slider,omitempty"`  // of a number
	Buttons []Button          `json:"buttons,omitempty"`
	Sets    map[string]string `json:"sets,omitempty"` // with any change of this setting
}

// Slider has places from 0 to Most, and At is the one that is nearest below the
// setting. "@" and a place is a setting.
type Slider struct {
	Most int64 `json:"most"`
	At   int64 `json:"at"`
}

// Option is one of the values to choose from.
type Option struct {
	Value string            `json:"value"`
	Label string            `json:"label"`
	Sets  map[string]string `json:"sets,omitempty"`
}

// Button changes settings in one go.
type Button struct {
	Label string            `json:"label"`
	Name  string            `json:"name"` // in words
	Sets  map[string]string `json:"sets"` // empty: it has no effect at present
}

// Value is one of the numbers that follow from the settings. Text says it with
// its unit; Number is the float64 nearest to it, in Unit without any prefix.
// Where None is set there is no such number, and Text says why.
type Value struct {
	Key    string  `json:"key"`
	Label  string  `json:"label"`
	Number float64 `json:"number"`
	Text   string  `json:"text"`
	Unit   string  `json:"unit"`
	None   bool    `json:"none,omitempty"`
}

// FieldError says what is wrong with one setting: its name, its value, and what
// would be right.
type FieldError struct {
	Key     string `json:"key"`
	Message string `json:"message"`
}

// explorer is one of the four: its settings, read by draw in the order of
// keys, and what it makes of them.
type explorer struct {
	name, title string
	keys        []string
	draw        func(r *reader, v *View, width float64)
}

func explorers() []explorer {
	return []explorer{
		{"roofline", "A multiply under the roof of a chip",
			[]string{"traffic", "b", "m", "n", "k", "chip", "format", "peak", "bandwidth", "elem"}, drawRoofline},
		{"tile", "A multiply cut into tiles",
			[]string{"n", "b", "elem", "capacity", "step"}, drawTile},
		{"decode", "A batch of requests on a chip",
			[]string{"batch", "params", "width", "chip", "format", "peak", "bandwidth", "elem"}, drawDecode},
		{"model", "A whole model on chips",
			[]string{"model", "chip", "format", "chips", "split", "weights", "kv", "batch", "context", "prompt", "hop"}, drawModel},
	}
}

// Names returns the names of the explorers.
func Names() []string {
	var names []string
	for _, e := range explorers() {
		names = append(names, e.name)
	}
	return names
}

// Keys returns the keys of an explorer's settings.
func Keys(name string) ([]string, error) {
	e, err := find(name)
	return e.keys, err
}

func find(name string) (explorer, error) {
	for _, e := range explorers() {
		if e.name == name {
			return e, nil
		}
	}
	return explorer{}, fmt.Errorf("explore: explorer is %s: it must be one of %s", quoted(name), strings.Join(Names(), ", "))
}

// Width bounds of a picture in pixels. Draw moves others to the nearer bound.
const (
	LeastWidth = 280
	MostWidth  = 760
)

// Draw returns what an explorer shows with these settings, its picture laid out
// for a width in pixels. Settings that cannot be right are in View.Errors; the
// error is for a name that is none of [Names].
func Draw(name string, settings map[string]string, width int) (View, error) {
	e, err := find(name)
	if err != nil {
		return View{}, err
	}
	v := View{Name: e.name, Title: e.title, Values: []Value{}, Notes: []string{}, Errors: []FieldError{}}
	r := &reader{given: settings, form: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(e.keys, key) {
			r.fail(key, "%s is no setting of the explorer %s: it has %s", quoted(key), e.name, strings.Join(e.keys, ", "))
		}
	}
	e.draw(r, &v, float64(min(max(width, LeastWidth), MostWidth)))
	v.Controls = r.controls
	v.Settings = map[string]string{}
	if len(r.errors) > 0 {
		v.Errors = r.errors
		v.SVG, v.Summary, v.Alt, v.Values, v.Notes = "", "", "", []Value{}, []string{}
		for key, text := range settings { // as they were given
			v.Settings[key] = text
			if form := r.form[key]; form != "" && strings.HasPrefix(strings.TrimSpace(text), "@") {
				v.Settings[key] = form // a place is one of the present slider, which others may change
			}
		}
		v.Query = query(slices.Sorted(maps.Keys(settings)), v.Settings)
		return v, nil
	}
	v.Settings = r.form
	v.Query = query(e.keys, r.form)
	return v, nil
}

// query writes settings as the query of a link.
func query(keys []string, settings map[string]string) string {
	var b strings.Builder
	for _, key := range keys {
		text, ok := settings[key]
		if !ok {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(escape(key) + "=" + escape(text))
	}
	return b.String()
}

// escape writes text as part of a query. All but letters, digits and "-._" is
// escaped byte by byte, so that no front end takes any of it for a sign of its
// own.
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// quoted writes what a reader gave inside a message, cut where it is long.
func quoted(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
