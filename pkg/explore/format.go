package explore

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// scientific returns the significant digits of a positive number and its power
// of ten: 312e12 is "312" and 14. A precision above 0 is how many digits there
// are at most; zeros at their end stand where digits were cut off, unless nine
// digits show no difference: that is the noise of arithmetic. 0 gives as many as
// it takes to read the same float64 back.
func scientific(v float64, precision int) (digits string, exponent int) {
	digits, exponent = split(strconv.FormatFloat(v, 'e', -1, 64))
	if precision == 0 || len(digits) <= precision {
		return digits, exponent
	}
	digits, exponent = split(strconv.FormatFloat(v, 'e', 8, 64))
	if digits = strings.TrimRight(digits, "0"); len(digits) > precision {
		digits, exponent = split(strconv.FormatFloat(v, 'e', precision-1, 64))
	}
	return digits, exponent
}

// split takes a number such as 3.12e+14 apart.
func split(text string) (digits string, exponent int) {
	m, e, _ := strings.Cut(text, "e")
	exponent, _ = strconv.Atoi(e)
	return strings.Replace(m, ".", "", 1), exponent
}

// mantissa puts the point after so many digits.
func mantissa(digits string, whole int) string {
	if len(digits) <= whole {
		return digits + strings.Repeat("0", whole-len(digits))
	}
	return digits[:whole] + "." + digits[whole:]
}

// significant is how many digits of a number are shown, where not all are. It is
// what the chapters print, and what lesson.SI writes.
const significant = 4

// si writes a number with a prefix before its unit, four digits of it: 2.039
// TB/s, 134.8 ms. Where the prefixes end it is a power of ten. Seconds take
// prefixes below one alone, all else takes them above.
func si(v float64, unit string) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strings.TrimSpace(strconv.FormatFloat(v, 'g', -1, 64) + " " + unit)
	}
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	digits, exponent := scientific(v, significant)
	names := []string{"p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"}
	const one = 4
	group := (exponent+3*one)/3 - one // thousands, rounded down
	switch {
	case unit == "s" && -3*one <= exponent && exponent < 0:
	case unit != "s" && 3 <= exponent && group < len(names)-one:
	default:
		return sign + counted(plain(v), unit)
	}
	if group != 0 && unit == "bytes" {
		unit = "B"
	}
	return strings.TrimSpace(sign + mantissa(digits, 1+exponent-3*group) + " " + names[one+group] + unit)
}

// plain writes a number to four digits and its whole part in full; small and
// large ones as powers of ten.
func plain(v float64) string {
	digits, exponent := scientific(v, significant)
	switch {
	case v == 0:
		return "0"
	case exponent < -3 || exponent > 9:
		return mantissa(digits, 1) + "e" + strconv.Itoa(exponent)
	case exponent < 0:
		return "0." + strings.Repeat("0", -1-exponent) + digits
	case exponent >= significant:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return grouped(mantissa(digits, 1+exponent))
}

// counted writes a number and what it counts, if anything, which is one after 1:
// "1 byte".
func counted(number, unit string) string {
	switch unit {
	case "bytes", "elements", "requests", "weights", "FLOPs":
		if number == "1" {
			unit = strings.TrimSuffix(unit, "s")
		}
	}
	return strings.TrimSpace(number + " " + unit)
}

// percent writes a share to three digits: 0.327%.
func percent(share float64) string {
	if share == 1 {
		return "100%"
	}
	digits, exponent := scientific(100*share, 3)
	switch {
	case exponent < -3:
		return mantissa(digits, 1) + "e" + strconv.Itoa(exponent) + "%"
	case exponent < 0:
		return "0." + strings.Repeat("0", -1-exponent) + digits + "%"
	}
	return grouped(mantissa(digits, 1+exponent)) + "%"
}

// longest is how many digits of a whole number are written in full.
const longest = 18

// integer writes a whole number in full, with commas, or to four digits where
// that is long.
func integer(v *big.Int) string {
	text := v.String()
	if len(text) <= longest {
		return grouped(text)
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return plain(f)
}

// kibi writes bytes with a binary prefix: 64 KiB.
func kibi(v *big.Int) string {
	names := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i, divisor := 0, big.NewInt(1)
	for i < len(names)-1 && new(big.Int).Quo(v, divisor).Cmp(big.NewInt(1024)) >= 0 {
		divisor = new(big.Int).Mul(divisor, big.NewInt(1024))
		i++
	}
	f, _ := new(big.Rat).SetFrac(v, divisor).Float64()
	if i == 0 {
		return counted(integer(v), "bytes")
	}
	return plain(f) + " " + names[i]
}

// grouped puts a comma between each three digits of the whole part.
func grouped(text string) string {
	whole, rest := text, ""
	if i := strings.IndexAny(text, ".e"); i >= 0 {
		whole, rest = text[:i], text[i:]
	}
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	return b.String() + rest
}
