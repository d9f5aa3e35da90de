package lesson

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// SI writes v with an SI prefix before its unit: SI(312e12, "FLOP/s") is
// "312 TFLOP/s", SI(0.13483, "s") is "134.8 ms". It has four significant digits
// at most, as in the explorers: zeros at the end stand where digits were cut
// off, and the whole part is never cut. A unit of "bytes" becomes "B" when a
// prefix is needed. Seconds take no prefix above one. A value that the prefixes
// do not reach is written with a power of ten: "1e+300 FLOP/s".
func SI(v float64, unit string) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strings.TrimSpace(plainFloat(v) + " " + unit)
	}
	if a := math.Abs(v); a < 0.995e-14 || a >= 0.99995e21 || unit == "s" && a >= huge {
		return strings.TrimSpace(strconv.FormatFloat(v, 'g', 4, 64) + " " + unit)
	}
	prefixes := []string{"p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"}
	const one = 4
	i := one
	for a := math.Abs(v); i > 0 && a < 1; i-- {
		a *= 1000
		v *= 1000
	}
	if unit != "s" {
		for ; i < len(prefixes)-1 && math.Abs(v) >= 1000; i++ {
			v /= 1000
		}
	}
	s := decimals(v)
	// 999.97 rounds to 1000: one prefix further.
	if (s == "1,000" || s == "-1,000") && i < len(prefixes)-1 && !(unit == "s" && i >= one) {
		i++
		s = decimals(v / 1000)
	}
	if prefixes[i] != "" {
		switch unit {
		case "bytes", "byte":
			unit = "B"
		case "bytes/s", "byte/s":
			unit = "B/s"
		case "FLOPs":
			unit = "FLOP"
		}
	}
	return strings.TrimSpace(s + " " + prefixes[i] + unit)
}

// binary writes v with a binary prefix: 65536 bytes are "64 KiB".
func binary(v float64, unit string, write func(float64) string) string {
	prefixes := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi"}
	i := 0
	for ; i < len(prefixes)-1 && math.Abs(v) >= 1024; i++ {
		v /= 1024
	}
	if i > 0 && bytesUnit(unit) {
		unit = "B"
	}
	return strings.TrimSpace(write(v) + " " + prefixes[i] + unit)
}

func bytesUnit(unit string) bool { return unit == "B" || unit == "bytes" || unit == "byte" }

// scaled tells which units take SI prefixes.
var scaled = map[string]bool{
	"s": true, "B": true, "byte": true, "bytes": true, "B/s": true, "bytes/s": true,
	"FLOP": true, "FLOPs": true, "FLOP/s": true,
}

// withUnit writes a value as tooltips and the tables behind figures say it.
func withUnit(v float64, unit string, base int) string {
	a := math.Abs(v)
	switch {
	case base == 2 && bytesUnit(unit) && a >= 1024:
		return binary(v, unit, decimals)
	case scaled[unit] && v != 0 && (unit == "s" || a >= 1e4 || a < 1e-2):
		return SI(v, unit)
	}
	return strings.TrimSpace(plainFloat(v) + " " + unit)
}

// huge numbers are not written in full.
const huge = 1e15

// decimals writes v to four significant digits, the whole part in full. Zeros
// at the end stand only where digits were cut off.
func decimals(v float64) string {
	if math.Abs(v) >= huge {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	if v == 0 {
		return "0" // and not "-0"
	}
	_, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', 3, 64), "e")
	exponent, _ := strconv.Atoi(power)
	s := strconv.FormatFloat(v, 'f', max(0, 3-exponent), 64)
	// A difference that nine digits do not show is the noise of arithmetic.
	if shown, err := strconv.ParseFloat(s, 64); err == nil && shown == digits(v) && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return group(s)
}

// group puts a comma between each three digits of the whole part of a decimal
// number: "137438953472" becomes "137,438,953,472".
func group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, rest := s, ""
	if i := strings.IndexAny(s, ".e"); i >= 0 {
		whole, rest = s[:i], s[i:]
	}
	for _, r := range whole {
		if r < '0' || r > '9' {
			return sign + s // NaN, Inf
		}
	}
	var b strings.Builder
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String() + rest
}

// plainFloat writes v to six significant digits, whole numbers in full.
func plainFloat(v float64) string {
	switch {
	case v == 0:
		return "0" // and not "-0"
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case v == math.Trunc(v) && math.Abs(v) < huge:
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return group(strconv.FormatFloat(v, 'g', 6, 64))
}

// plain writes any value as a reader wants it in a line or a table cell.
func plain(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case string:
		return x
	case float64:
		return plainFloat(x)
	case float32:
		return plainFloat(float64(x))
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	}
	if r := reflect.ValueOf(v); r.CanInt() || r.CanUint() {
		return group(fmt.Sprintf("%d", v))
	}
	return fmt.Sprintf("%v", v)
}

// exact writes a value so that two different values never look the same:
// floats in the shortest form that reads back as the same number.
func exact(v any) string {
	switch x := v.(type) {
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(x), 'g', -1, 32)
	case string:
		return strconv.Quote(x)
	}
	return plain(v)
}

// raw writes a value for other programs to read: a number in full and without
// commas, anything else as plain does.
func raw(v any) string {
	bits := 64
	switch x := v.(type) {
	case nil:
		return ""
	case written:
		v = x.v
	case float32:
		bits = 32
	case fmt.Stringer, error:
		return plain(v)
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return strconv.FormatInt(r.Int(), 10)
	case r.CanUint():
		return strconv.FormatUint(r.Uint(), 10)
	case r.CanFloat():
		f := r.Float()
		if a := math.Abs(f); f == 0 || a >= 1e-4 && a < 1e21 {
			return strconv.FormatFloat(f, 'f', -1, bits)
		}
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	return plain(v)
}

// number reports whether v is set right-aligned in a table.
func number(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return looksNumeric(x)
	case written:
		return looksNumeric(x.text)
	case fmt.Stringer, error:
		return false
	}
	r := reflect.ValueOf(v)
	return r.CanInt() || r.CanUint() || r.CanFloat()
}

// looksNumeric reports whether a string starts as a number does.
func looksNumeric(s string) bool {
	s = strings.TrimLeft(s, "+-−≈≤≥<> ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}
