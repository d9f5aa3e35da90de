package lesson

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// failure is what is shown when something does not hold.
type failure struct {
	title  string      // what happened, in a few words
	what   string      // the quantity or claim
	rows   [][2]string // name and value, one a line
	advice string      // what to check
	doubt  bool        // it may be the measurement that is wrong: the cell goes on
}

func (f failure) stop() {
	screen.show(block{HTML: f.html(), Text: f.text()})
	exit(1)
}

func (f failure) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "✗ %s: %s\n", f.title, f.what)
	width := 0
	for _, r := range f.rows {
		width = max(width, utf8.RuneCountInString(r[0]))
	}
	for _, r := range f.rows {
		fmt.Fprintf(&b, "    %-*s  %s\n", width+1, r[0]+":", r[1])
	}
	if f.advice != "" {
		fmt.Fprintf(&b, "    %s\n", f.advice)
	}
	return b.String()
}

func (f failure) html() string {
	role := "alert"
	if f.doubt {
		role = "note"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div role="%s" class="memorywall-failure" style="border-left:4px solid #d1242f;background:rgba(209,36,47,0.1);padding:8px 12px;margin:4px 0">`+
		`<div><b style="%s">✗ %s</b>: %s</div>`, role, styleFailed, esc(f.title), esc(f.what))
	if len(f.rows) > 0 {
		b.WriteString(`<table style="margin:4px 0;border:none">`)
		for _, r := range f.rows {
			fmt.Fprintf(&b, `<tr style="background:transparent"><th scope="row" style="text-align:left;font-weight:normal;padding:1px 16px 1px 0;border:none">%s</th>`+
				`<td style="text-align:left;padding:1px 0;border:none;font-family:var(--jp-code-font-family,monospace)">%s</td></tr>`,
				esc(r[0]), esc(r[1]))
		}
		b.WriteString(`</table>`)
	}
	fmt.Fprintf(&b, `<div>%s</div></div>`, esc(f.advice))
	return b.String()
}

// held shows one line: a tick, what held with its value, and a remark in a
// quiet colour.
func held(what, value, remark string) {
	text := "✓ " + what
	h := `<div style="line-height:1.5"><b style="` + styleHeld + `">✓</b> ` + esc(what)
	if value != "" {
		text += " = " + value
		h += ` = <b>` + esc(value) + `</b>`
	}
	if remark != "" {
		text += "  (" + remark + ")"
		h += ` <span style="` + styleMuted + `">(` + esc(remark) + `)</span>`
	}
	screen.show(block{HTML: h + `</div>`, Text: text})
}

const (
	checkInputs = "Check the line that computes it and the values that go in. Correct this cell and run it again."
	checkNaN    = "NaN means that something had no answer on the way, such as 0/0. Check each value that goes in."
)

func adviceFor(vs ...float64) string {
	for _, v := range vs {
		if math.IsNaN(v) {
			return checkNaN
		}
	}
	return checkInputs
}

// A formula that refuses its arguments ends the cell as [Check] does, with the
// message that says which argument is wrong, which value it has and what would
// be right.
func init() { arg.Uncaught = Check }

// Must returns v when err is nil, and otherwise ends the cell with the message
// of err: for what measures or reads a file. Formulas need it not, see package
// roofline.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends the cell with the message of err when it is not nil.
func Check(err error) {
	if err == nil {
		return
	}
	failure{
		title:  "This has no answer",
		what:   err.Error(),
		advice: "Change the value in this cell and run it again.",
	}.stop()
}

// Positive ends the cell unless v, the value of the constant or quantity with
// this name, is positive and finite.
func Positive(name string, v float64) {
	if !(v > 0) || math.IsInf(v, 1) {
		Check(fmt.Errorf("%s is %s: it must be positive and finite", name, short(v)))
	}
}

// Between ends the cell unless v, the value of the constant or quantity with
// this name, is from lo to hi.
func Between(name string, v, lo, hi float64) {
	if !(lo <= v && v <= hi) {
		Check(fmt.Errorf("%s is %s: it must be from %s to %s", name, short(v), short(lo), short(hi)))
	}
}

// short writes a number in full as it was typed, unless it is huge.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return exact(v)
}

// Equal asserts that got is exactly want. NaN equals nothing.
func Equal[T comparable](what string, got, want T) {
	same, err := equal(got, want)
	if same {
		held(what, plain(any(got)), "")
		return
	}
	f := failure{
		title:  "Not equal",
		what:   what,
		rows:   [][2]string{{"expected", exact(any(want))}, {"got", exact(any(got))}},
		advice: checkInputs,
	}
	if err != "" {
		f.rows = append(f.rows, [2]string{"note", err})
	}
	if g, ok := toFloat(got); ok {
		if w, ok := toFloat(want); ok {
			f.rows = append(f.rows, [2]string{"difference", exact(g - w)})
			f.advice = adviceFor(g, w)
		}
	}
	f.stop()
}

// equal compares, and says so instead of panicking when an interface value
// holds something that cannot be compared.
func equal[T comparable](a, b T) (same bool, problem string) {
	defer func() {
		if r := recover(); r != nil {
			same, problem = false, fmt.Sprint(r)
		}
	}()
	return a == b, ""
}

// Close asserts that got is want within 1e-12, relative to want: the same
// number but for the rounding of the last digits.
func Close(what string, got, want float64) { Within(what, got, want, 1e-12) }

// Within asserts that |got - want| <= relTol·|want|. NaN and infinities never
// pass.
func Within(what string, got, want, relTol float64) {
	diff := math.Abs(got - want)
	limit := relTol * math.Abs(want)
	if diff <= limit && relTol >= 0 && !math.IsInf(limit, 0) {
		remark := ""
		if relTol > 1e-9 {
			remark = fmt.Sprintf("within %s of %s", percent(relTol), num.Plain(want))
		}
		held(what, num.Plain(got), remark)
		return
	}
	f := failure{
		title: "Not close enough",
		what:  what,
		rows: [][2]string{
			{"expected", exact(want)},
			{"got", exact(got)},
			{"difference", exact(got - want)},
			{"tolerance", fmt.Sprintf("%s (%s relative)", exact(limit), exact(relTol))},
		},
		advice: adviceFor(got, want, relTol),
	}
	if relTol < 0 {
		f.advice = "The tolerance must not be negative."
	}
	f.stop()
}

func percent(r float64) string { return strconv.FormatFloat(100*r, 'g', 6, 64) + "%" }

// Shows asserts that got, written with a fmt verb such as "%.1f", reads want:
// that the number printed in the text is the number computed.
func Shows(what string, got float64, format, want string) {
	s := fmt.Sprintf(format, got)
	if s == want && !math.IsNaN(got) {
		remark := ""
		if full := num.Plain(got); full != s {
			remark = full
		}
		held(what, s, remark)
		return
	}
	failure{
		title: "Does not read as written",
		what:  what,
		rows: [][2]string{
			{"expected", want},
			{"got", fmt.Sprintf("%s  (%s, written with %s)", s, exact(got), format)},
		},
		advice: adviceFor(got),
	}.stop()
}

// Holds asserts a claim that is not a number. The claim is a sentence that is
// true when ok is.
func Holds(what string, ok bool) {
	if ok {
		held(what, "", "")
		return
	}
	failure{title: "Does not hold", what: what, advice: checkInputs}.stop()
}

// toFloat converts any number.
func toFloat(v any) (float64, bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return 0, false
	case r.CanFloat():
		return r.Float(), true
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	}
	return 0, false
}
