package facts

import (
	"math/big"
	"strconv"
	"strings"
)

func shownTo(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// oneMore returns a plain decimal with its last digit one unit further from 0.
func oneMore(shown string) string {
	whole, fraction, _ := strings.Cut(shown, ".")
	n, _ := new(big.Int).SetString(whole+fraction, 10)
	if strings.HasPrefix(shown, "-") {
		n.Sub(n, big.NewInt(1))
	} else {
		n.Add(n, big.NewInt(1))
	}
	s := new(big.Int).Abs(n).String()
	if missing := len(fraction) + 1 - len(s); missing > 0 {
		s = strings.Repeat("0", missing) + s
	}
	if len(fraction) > 0 {
		s = s[:len(s)-len(fraction)] + "." + s[len(s)-len(fraction):]
	}
	if strings.HasPrefix(shown, "-") {
		s = "-" + s
	}
	return s
}

// half reports whether v is half-way between two numerals of that many digits.
func half(v float64, digits int) bool {
	twice := new(big.Rat).SetFloat64(v)
	twice.Mul(twice, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)))
	twice.Mul(twice, big.NewRat(2, 1))
	return twice.IsInt() && twice.Num().Bit(0) == 1
}
