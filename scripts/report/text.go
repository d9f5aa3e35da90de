package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"memorywall/pkg/facts"
)

// printText prints the report, section by section under its key, and then the
// numbers of single chapters. It goes through the fields of facts.Report, so
// a number that is added there is printed here.
func printText(w io.Writer) error {
	r, err := facts.Quoted()
	if err != nil {
		return err
	}
	chapters, err := facts.Chapters()
	if err != nil {
		return err
	}
	var b strings.Builder
	report := reflect.ValueOf(r)
	for i := range report.NumField() {
		field := report.Type().Field(i)
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s   [%s]\n", field.Tag.Get("name"), field.Tag.Get("json"))
		section(&b, report.Field(i))
	}
	if len(chapters) > 0 {
		b.WriteString("\nNumbers of single chapters, by key\n")
		t := table(&b)
		for _, key := range slices.Sorted(maps.Keys(chapters)) {
			fmt.Fprintf(t, "\t%s\t%s\n", key, number(chapters[key], ""))
		}
		t.Flush()
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// section prints an object as lines of name and value, and a list of objects
// as a table.
func section(b *strings.Builder, v reflect.Value) {
	if v.Kind() == reflect.Slice {
		rows(b, v)
		return
	}
	t := table(b)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name, unit := field.Tag.Get("name"), field.Tag.Get("unit")
		if value.Kind() != reflect.Slice {
			fmt.Fprintf(t, "\t%s\t%s\n", name, one(value, unit))
			continue
		}
		t.Flush()
		fmt.Fprintf(b, "  %s\n", name)
		switch columns := field.Tag.Get("columns"); {
		case columns != "":
			grid(b, strings.Split(columns, ","), value)
		case value.Index(0).Kind() == reflect.Struct:
			rows(b, value)
		case value.Index(0).Index(0).Kind() == reflect.Slice:
			for part := range value.Len() {
				grid(b, nil, value.Index(part))
				if part < value.Len()-1 {
					b.WriteString("    and\n")
				}
			}
		default:
			grid(b, nil, value)
		}
		t = table(b)
	}
	t.Flush()
}

// rows prints a list of objects: a head of names and units, then the values.
func rows(b *strings.Builder, v reflect.Value) {
	t := aligned(b)
	kind := v.Type().Elem()
	for i := range kind.NumField() {
		fmt.Fprintf(t, "  %s\t", kind.Field(i).Tag.Get("name"))
	}
	fmt.Fprintln(t)
	for i := range kind.NumField() {
		fmt.Fprintf(t, "  %s\t", column(kind.Field(i).Tag.Get("unit")))
	}
	fmt.Fprintln(t)
	for row := range v.Len() {
		for i := range kind.NumField() {
			value := v.Index(row).Field(i)
			_, scale := scaled(kind.Field(i).Tag.Get("unit"))
			switch value.Kind() {
			case reflect.Float64:
				fmt.Fprintf(t, "  %s\t", digits(value.Float()*scale))
			default:
				fmt.Fprintf(t, "  %s\t", one(value, ""))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// grid prints a list of lists of integers.
func grid(b *strings.Builder, head []string, v reflect.Value) {
	t := aligned(b)
	for _, name := range head {
		fmt.Fprintf(t, "  %s\t", name)
	}
	if head != nil {
		fmt.Fprintln(t)
	}
	for row := range v.Len() {
		for i := range v.Index(row).Len() {
			fmt.Fprintf(t, "  %d\t", v.Index(row).Index(i).Int())
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func table(b *strings.Builder) *tabwriter.Writer {
	return tabwriter.NewWriter(b, 2, 0, 2, ' ', 0)
}

func aligned(b *strings.Builder) *tabwriter.Writer {
	return tabwriter.NewWriter(b, 4, 0, 0, ' ', tabwriter.AlignRight)
}

// one returns text, an integer or a real with its unit.
func one(v reflect.Value, unit string) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int64:
		return join(grouped(strconv.FormatInt(v.Int(), 10)), unit)
	}
	return number(v.Float(), unit)
}

func number(v float64, unit string) string {
	unit, scale := scaled(unit)
	return join(digits(v*scale), unit)
}

func join(digits, unit string) string {
	if unit == "" {
		return digits
	}
	return digits + " " + unit
}

func column(unit string) string {
	unit, _ = scaled(unit)
	return unit
}

// scaled returns the unit in which the lesson gives a quantity, and how many
// of it are one of the report's.
func scaled(unit string) (string, float64) {
	switch unit {
	case "FLOP/s":
		return "TFLOP/s", 1e-12
	case "B/s":
		return "GB/s", 1e-9
	case "s":
		return "ms", 1e3
	}
	return unit, 1
}

// digits returns an integer in full, another real with six digits.
func digits(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	after := 5 - int(math.Floor(math.Log10(math.Abs(v))))
	s := strconv.FormatFloat(v, 'f', max(after, 0), 64)
	if after > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return grouped(s)
}

// grouped puts commas between the thousands of a plain decimal.
func grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}
