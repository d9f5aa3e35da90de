package num

import (
	"math"
	"strconv"
	"strings"
)

// Numbers from here on are written with a power of ten.
const huge = 1e15

// A prefix stands before a unit and multiplies it.
type prefix struct {
	text  string
	times float64
}

var (
	decimal = []prefix{{"p", 1e-12}, {"n", 1e-9}, {"µ", 1e-6}, {"m", 1e-3}, {"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}}
	one     = 4 // of decimal
	binary  = []prefix{{"", 1}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50}, {"Ei", 1 << 60}}
)

// short are the units that are abbreviated behind a prefix.
var short = map[string]string{"bytes": "B", "byte": "B", "bytes/s": "B/s", "byte/s": "B/s", "FLOPs": "FLOP"}

// with writes a unit behind a prefix.
func (p prefix) with(unit string) string {
	if s, ok := short[unit]; ok && p.text != "" {
		unit = s
	}
	return p.text + unit
}

// SI writes v with an SI prefix before its unit: SI(312e12, "FLOP/s") is
// "312 TFLOP/s", SI(0.13483, "s") is "134.8 ms". It has the digits of [Short].
// A unit of "bytes" becomes "B" behind a prefix. Only seconds take prefixes
// below one, and none above. A value that the prefixes do not reach is written
// with a power of ten: "1e300 FLOP/s".
func SI(v float64, unit string) string {
	a := math.Abs(v)
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return Join(Plain(v), unit)
	}
	if unit == "s" && (a < 0.995e-14 || a >= huge) || a >= 0.99995e21 {
		return Join(general(v, significant), unit)
	}
	i, last := one, len(decimal)-1
	if unit == "s" {
		i, last = 0, one
	}
	// 999.97 rounds to 1000: one prefix further.
	for i < last && math.Abs(rounded(v/decimal[i].times)) >= 1000 {
		i++
	}
	return Join(Short(v/decimal[i].times), decimal[i].with(unit))
}

// Binary writes v with a binary prefix: 65536 bytes are "64 KiB".
func Binary(v float64, unit string) string { return inBinary(v, unit, Short) }

func inBinary(v float64, unit string, write func(float64) string) string {
	i := 0
	for i < len(binary)-1 && math.Abs(v) >= binary[i+1].times {
		i++
	}
	return Join(write(v/binary[i].times), binary[i].with(unit))
}

// Join writes a number and its unit, if it has one, which is singular after 1:
// "1 byte".
func Join(number, unit string) string {
	switch unit {
	case "bytes", "elements", "requests", "weights", "FLOPs":
		if number == "1" {
			unit = strings.TrimSuffix(unit, "s")
		}
	}
	return strings.TrimSpace(number + " " + unit)
}

// Prefixed tells which units take SI prefixes.
func Prefixed(unit string) bool {
	switch unit {
	case "s", "B", "byte", "bytes", "B/s", "bytes/s", "FLOP", "FLOPs", "FLOP/s":
		return true
	}
	return false
}

// Bytes tells which units count bytes.
func Bytes(unit string) bool { return unit == "B" || unit == "bytes" || unit == "byte" }

// Value writes v with its unit as tooltips and tables do: with a prefix where
// the unit takes one and the value is large or small (a binary prefix for bytes
// where base is 2), else to six significant digits.
func Value(v float64, unit string, base int) string {
	a := math.Abs(v)
	switch {
	case base == 2 && Bytes(unit) && a >= 1024:
		return Binary(v, unit)
	case Prefixed(unit) && v != 0 && (unit == "s" || a >= 1e4 || a < 1e-2):
		return SI(v, unit)
	}
	return Join(Plain(v), unit)
}

// A Step is a unit of the ticks of an axis, and how much it is.
type Step struct {
	Times float64
	Unit  string
}

// Steps returns the units in which the ticks of an axis are written, smallest
// first: a tick takes the last of them that is not above it. Where the unit
// itself stands in ticks ("10 ms", "64 KiB") inTicks is true, and the title of
// the axis need not say it. log tells of a log axis of the given base, and
// largest is the greatest magnitude on the axis: SI prefixes begin at 10,000
// there, and a linear axis has one unit throughout.
func Steps(unit string, log bool, base int, largest float64) (steps []Step, inTicks bool) {
	of := func(list []prefix, unit, space string) {
		for _, p := range list {
			steps = append(steps, Step{p.times, space + p.with(unit)})
		}
	}
	switch {
	case unit == "s":
		of(decimal[:one+1], "s", " ")
		return steps, true
	case log && base == 2 && Bytes(unit):
		of(binary, "B", " ")
		return steps, true
	case log && base != 2, !log && largest >= 1e5:
		of(decimal[one:], "", "")
	}
	return steps, false
}

// general writes v to so many significant digits, with a power of ten where it
// is very large or small: "1.5e-7".
func general(v float64, count int) string {
	m, e, ok := strings.Cut(strconv.FormatFloat(v, 'g', count, 64), "e")
	if !ok {
		return m
	}
	exponent, _ := strconv.Atoi(e)
	return m + "e" + strconv.Itoa(exponent)
}

// significant is how many digits of a number are shown where not all are.
const significant = 4

// rounded returns v to the digits that Short writes.
func rounded(v float64) float64 { return digits(v, significant) }

// digits rounds v to so many significant digits.
func digits(v float64, count int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', count, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// Short writes v to four significant digits, the whole part in full. Zeros at
// the end stand only where digits were cut off; a difference that nine digits do
// not show is the noise of arithmetic.
func Short(v float64) string {
	switch {
	case v == 0:
		return "0" // and not "-0"
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Plain(v)
	case math.Abs(v) >= huge || math.Abs(v) < 1e-4:
		return general(v, significant)
	}
	_, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', significant-1, 64), "e")
	exponent, _ := strconv.Atoi(power)
	s := strconv.FormatFloat(v, 'f', max(0, significant-1-exponent), 64)
	if shown, err := strconv.ParseFloat(s, 64); err == nil && shown == digits(v, 9) && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return Group(s)
}

// Plain writes v to six significant digits, whole numbers in full.
func Plain(v float64) string {
	switch {
	case v == 0:
		return "0" // and not "-0"
	case v == math.Trunc(v) && math.Abs(v) < huge:
		return Group(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return Group(general(v, 6)) // NaN and infinite values too
}

// Percent writes a share to three significant digits: "0.327%".
func Percent(share float64) string {
	return Plain(digits(100*share, 3)) + "%"
}

// Group puts a comma between each three digits of the whole part of a decimal
// number: "137438953472" becomes "137,438,953,472". Text that is no number
// stays as it is.
func Group(s string) string {
	digits, sign := strings.CutPrefix(s, "-")
	whole := len(digits)
	if i := strings.IndexAny(digits, ".e"); i >= 0 {
		whole = i
	}
	var b strings.Builder
	if sign {
		b.WriteByte('-')
	}
	for i, r := range digits[:whole] {
		if r < '0' || r > '9' {
			return s // NaN, Inf
		}
		if i > 0 && (whole-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String() + digits[whole:]
}
