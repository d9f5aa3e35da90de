package explore

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"memorywall/pkg/chips"
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

// reader reads the settings of an explorer one by one. On the way it makes the
// controls, notes what is wrong, and keeps each setting in its fixed form.
type reader struct {
	given    map[string]string
	form     map[string]string
	controls []Control
	errors   []FieldError
}

func (r *reader) fail(key, format string, args ...any) {
	r.errors = append(r.errors, FieldError{Key: key, Message: fmt.Sprintf(format, args...)})
}

// failed notes an error of the packages below, whose names say nothing to a
// reader of a page.
func (r *reader) failed(key string, err error) {
	text := err.Error()
	for _, name := range []string{"roofline: ", "tiling: ", "chips: ", "serving: ", "transformer: "} {
		text = strings.TrimPrefix(text, name)
	}
	r.fail(key, "%s", text)
}

func (r *reader) well() bool { return len(r.errors) == 0 }

// wrong tells whether a setting cannot be right.
func (r *reader) wrong(key string) bool {
	return slices.ContainsFunc(r.errors, func(e FieldError) bool { return e.Key == key })
}

// number reads a setting that is a number. write gives its fixed form. The
// control is there for the caller to add to.
func (r *reader) number(f field, write func(*big.Rat) string) (*big.Rat, *Control) {
	text := strings.TrimSpace(r.given[f.key])
	if text == "" {
		text = f.usual
	}
	r.controls = append(r.controls, Control{
		Key: f.key, Label: f.label, Text: text,
		Help:   fmt.Sprintf("%s, such as %s", f.right(), f.examples),
		Slider: &Slider{Most: f.scale.places - 1},
	})
	c := &r.controls[len(r.controls)-1]
	v, err := f.read(text)
	if err != nil {
		r.errors = append(r.errors, FieldError{Key: f.key, Message: err.Error()})
		return new(big.Rat).SetInt(f.least), c // so that the caller can go on to the next setting
	}
	c.Text, c.Slider.At = write(v), f.scale.at(v)
	r.form[f.key] = c.Text
	return v, c
}

// integer reads a whole number that fits in int64.
func (r *reader) integer(f field) (int64, *Control) {
	v, c := r.number(f, digits)
	return v.Num().Int64(), c
}

func digits(v *big.Rat) string { return v.Num().String() }

// float reads a number as the float64 nearest to it.
func (r *reader) float(f field) (float64, *Control) {
	f.real = true
	v, c := r.number(f, func(v *big.Rat) string {
		near, _ := v.Float64()
		if f.measure.billions {
			return billions(near)
		}
		return decimal(near)
	})
	near, _ := v.Float64()
	return near, c
}

// choice reads a setting that is one of several, the first of them by default.
func (r *reader) choice(key, label, help string, options []Option) (string, *Control) {
	text := strings.TrimSpace(r.given[key])
	if text == "" {
		text = options[0].Value
	}
	at := slices.IndexFunc(options, func(o Option) bool { return strings.EqualFold(o.Value, text) || strings.EqualFold(o.Label, text) })
	if at < 0 {
		var values []string
		for _, o := range options {
			values = append(values, o.Value)
		}
		r.fail(key, "%s is %s: it must be one of %s", named(label), quoted(text), strings.Join(values, ", "))
		at = 0
	}
	r.controls = append(r.controls, Control{Key: key, Label: label, Help: help, Text: options[at].Value, Options: options})
	r.form[key] = options[at].Value
	return options[at].Value, &r.controls[len(r.controls)-1]
}

// ownChip is the chip whose figures the reader sets.
const ownChip = "custom"

// slug is the name of a chip as a link writes it.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9') })
	return strings.Join(words, "-")
}

// usualFormat returns the number format that a chip is shown with at first: that
// of the lesson's own figures, or the one that comes nearest.
func usualFormat(c chips.Chip) string {
	for _, format := range []string{"FP16", "BF16"} {
		if hasFormat(c, format) {
			return format
		}
	}
	return c.Rates[0].Format
}

func hasFormat(c chips.Chip, format string) bool {
	return slices.ContainsFunc(c.Rates, func(rate chips.Rate) bool { return rate.Format == format })
}

// catalogue returns the chips whose rates are known, with those rates whose
// elements are whole bytes.
func catalogue() []chips.Chip {
	var known []chips.Chip
	for _, c := range chips.All() {
		c.Rates = slices.DeleteFunc(slices.Clone(c.Rates), func(r chips.Rate) bool { return r.Bits < 8 })
		if len(c.Rates) > 0 {
			known = append(known, c)
		}
	}
	return known
}

var (
	peakField = field{key: "peak", label: "Peak, FLOP/s", measure: flops, least: power(10, 0), most: power(10, 21), unit: "FLOP/s",
		examples: "312T or 312e12", scale: decades(9, 18)}
	bandwidthField = field{key: "bandwidth", label: "Bandwidth, bytes/s", measure: perSecond, least: power(10, 0), most: power(10, 18), unit: "bytes/s",
		examples: "2039G or 2.039e12", scale: decades(9, 15)}
	elemField = field{key: "elem", label: "Bytes of an element, s", measure: bytesUnit, least: power(10, 0), most: big.NewInt(16), unit: "bytes",
		usual: "2", examples: "2 for FP16 or 4 for FP32", scale: octaves(1, 16, coarsely)}
)

// machine reads the settings of a chip: one of the catalogue and a number
// format, or figures of the reader's own. A figure that is given counts before
// that of the catalogue, and then the chip is the reader's own.
func (r *reader) machine() (roofline.Machine, []string) {
	list := catalogue()
	reference := roofline.A100()
	name := strings.TrimSpace(r.given["chip"])
	if name == "" {
		name = slug(reference.Name)
	}
	at := slices.IndexFunc(list, func(c chips.Chip) bool { return slug(c.Name) == slug(name) })
	custom := slug(name) == ownChip
	if at < 0 && !custom {
		var slugs []string
		for _, c := range list {
			slugs = append(slugs, slug(c.Name))
		}
		r.fail("chip", "Chip is %s: it must be %s or one of %s", quoted(name), ownChip, strings.Join(slugs, ", "))
		custom = true
	}
	base, format, notes := reference, "", []string{}
	var formats []Option
	if !custom {
		chip := list[at]
		format = strings.ToUpper(strings.TrimSpace(r.given["format"]))
		if format == "" {
			format = usualFormat(chip)
		}
		if err := arg.Maybe(func() { base = chip.Machine(format) }); err != nil {
			r.failed("format", err)
			base = chip.Machine(usualFormat(chip))
		}
		for _, rate := range chip.Rates {
			formats = append(formats, Option{Value: rate.Format, Label: rate.Format,
				Sets: map[string]string{"peak": "", "bandwidth": "", "elem": ""}})
		}
		notes = append(notes, base.Name+", "+base.Format+". Source: "+base.Source+".")
		if chip.Note != "" {
			notes = append(notes, "Note: "+chip.Note+".")
		}
	}

	machine := roofline.Machine{Name: base.Name, Format: base.Format, Source: base.Source}
	first := len(r.controls)
	r.controls = append(r.controls, Control{}, Control{}) // chip and format, filled in below
	peak, bandwidth, elem := peakField, bandwidthField, elemField
	peak.usual, bandwidth.usual, elem.usual = decimal(base.Peak), decimal(base.Bandwidth), fmt.Sprint(base.ElemBytes)
	machine.Peak, _ = r.float(peak)
	machine.Bandwidth, _ = r.float(bandwidth)
	machine.ElemBytes, _ = r.integer(elem)
	custom = custom || machine.Peak != base.Peak || machine.Bandwidth != base.Bandwidth || machine.ElemBytes != base.ElemBytes
	if custom {
		format = ""
	}

	own := Option{Value: ownChip, Label: "figures of your own", Sets: map[string]string{"format": ""}}
	for _, c := range r.controls[first+2:] {
		own.Sets[c.Key] = c.Text
	}
	options := []Option{own}
	for _, c := range list {
		o := Option{Value: slug(c.Name), Label: c.Name, Sets: map[string]string{"peak": "", "bandwidth": "", "elem": ""}}
		if !hasFormat(c, format) {
			o.Sets["format"] = ""
		}
		options = append(options, o)
	}
	chip := Control{Key: "chip", Label: "Chip", Help: "a chip of the catalogue, or figures of your own", Options: options}
	formatControl := Control{Key: "format", Label: "Number format", Help: "what the chip's peak is for", Options: formats}
	if custom {
		machine.Name, machine.Format, machine.Source = "your chip", "", ""
		notes = notes[:0]
		chip.Text = ownChip
		formatControl.Off = true
		formatControl.Options = []Option{{Value: "", Label: "–"}}
	} else {
		chip.Text, formatControl.Text = slug(base.Name), format
		r.form["format"] = format
		for _, key := range []string{"peak", "bandwidth", "elem"} {
			delete(r.form, key)
		}
	}
	r.form["chip"] = chip.Text
	r.controls[first], r.controls[first+1] = chip, formatControl
	return machine, notes
}

// named is the label of a setting as the subject of a sentence: "b, tile size,".
func named(label string) string {
	if strings.Contains(label, ",") {
		label += ","
	}
	return label
}

// sets adds to what a change of each of these settings entails.
func (r *reader) sets(key, text string, of ...string) {
	for i := range r.controls {
		if slices.Contains(of, r.controls[i].Key) {
			r.controls[i].Sets = map[string]string{key: text}
		}
	}
}
