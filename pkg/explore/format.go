package explore

import (
	"math/big"
	"strconv"
	"strings"

	"memorywall/pkg/internal/num"
)

// scientific returns the significant digits of a positive number, as many as it
// takes to read the same float64 back, and its power of ten: 312e12 is "312"
// and 14.
func scientific(v float64) (digits string, exponent int) {
	m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	exponent, _ = strconv.Atoi(e)
	return strings.Replace(m, ".", "", 1), exponent
}

// mantissa puts the point after so many digits.
func mantissa(digits string, whole int) string {
	switch {
	case whole <= 0:
		return "0." + strings.Repeat("0", -whole) + digits
	case len(digits) <= whole:
		return digits + strings.Repeat("0", whole-len(digits))
	}
	return digits[:whole] + "." + digits[whole:]
}

// longest is how many digits of a whole number are written in full.
const longest = 18

// integer writes a whole number in full, with commas, or to four digits where
// that is long.
func integer(v *big.Int) string {
	text := v.String()
	if len(text) <= longest {
		return num.Group(text)
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return num.Short(f)
}

// kibi writes bytes with a binary prefix: 64 KiB.
func kibi(v *big.Int) string {
	if v.IsInt64() && v.Int64() < 1024 {
		return num.Join(num.Group(v.String()), "bytes")
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return num.Binary(f, "bytes")
}
