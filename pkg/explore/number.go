package explore

import (
	"fmt"
	"math/big"
	"strings"

	"memorywall/pkg/internal/num"
)

// measure is how a number may be written: with which units, and whether B
// stands for a billion, as it does in the sizes of models.
type measure struct {
	units    []string
	billions bool
}

var (
	count     = measure{}
	flops     = measure{units: []string{"FLOP/s", "FLOPS"}}
	perSecond = measure{units: []string{"B/s", "bytes/s"}}
	bytesUnit = measure{units: []string{"B", "bytes", "byte"}}
	weights   = measure{billions: true}
)

// prefixes by what they multiply with. Those for parts of one are left out: no
// setting has use for them, and m for a million is a common slip.
var prefixes = []struct {
	text  string
	times *big.Int
}{
	{"Ki", power(2, 10)}, {"Mi", power(2, 20)}, {"Gi", power(2, 30)}, {"Ti", power(2, 40)}, {"Pi", power(2, 50)}, {"Ei", power(2, 60)},
	{"k", power(10, 3)}, {"K", power(10, 3)}, {"M", power(10, 6)}, {"G", power(10, 9)}, {"T", power(10, 12)}, {"P", power(10, 15)}, {"E", power(10, 18)},
	{"", power(10, 0)},
}

func power(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}

// Limits of what is read as a number at all, far beyond any setting.
const (
	longestNumber   = 64 // characters
	longestExponent = 3  // digits
	figures         = "0123456789"
)

// parse reads a number exactly: digits, which commas or underscores may group
// in threes, a point, an exponent, a prefix and a unit.
func (m measure) parse(text string) (*big.Rat, bool) {
	text = strings.TrimSpace(text)
	unsigned, negative := strings.CutPrefix(text, "-")
	rest := strings.TrimLeft(unsigned, figures+",_.")
	whole, part, _ := strings.Cut(strings.TrimSuffix(unsigned, rest), ".")
	exponent := ""
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		signed := strings.TrimLeft(rest[1:], "+-")
		if unit := strings.TrimLeft(signed, figures); unit != signed { // else it is the E of exa
			exponent, rest = strings.TrimSuffix(rest, unit), unit
		}
	}
	whole, ok := ungroup(whole)
	times, known := m.suffix(strings.TrimSpace(rest))
	if !ok || !known || whole+part == "" || strings.Trim(part, figures) != "" || len(text) > longestNumber || len(strings.TrimLeft(exponent, "eE+-")) > longestExponent {
		return nil, false
	}
	number, ok := new(big.Rat).SetString("0" + whole + "." + part + "0" + exponent)
	if !ok {
		return nil, false
	}
	if negative {
		number.Neg(number)
	}
	return number.Mul(number, new(big.Rat).SetInt(times)), true
}

// ungroup takes the signs out that group digits in threes.
func ungroup(whole string) (string, bool) {
	for _, sign := range []string{",", "_"} {
		groups := strings.Split(whole, sign)
		for i, g := range groups[:len(groups)-1] {
			if len(groups[i+1]) != 3 || i == 0 && (g == "" || len(g) > 3) {
				return "", false
			}
		}
		whole = strings.Join(groups, "")
	}
	return whole, true
}

// suffix returns what a prefix, a unit or both multiply with. Letters may be of
// either case, but for a prefix of one letter without a unit: nothing else would
// tell m from M.
func (m measure) suffix(text string) (*big.Int, bool) {
	if m.billions && (text == "B" || text == "b") {
		return power(10, 9), true
	}
	for _, p := range prefixes {
		rest, ok := cutFold(text, p.text)
		if !ok {
			continue
		}
		if rest == "" && (text == p.text || len(p.text) > 1) {
			return p.times, true
		}
		for _, unit := range m.units {
			if strings.EqualFold(strings.TrimSpace(rest), unit) {
				return p.times, true
			}
		}
	}
	return nil, false
}

// cutFold is strings.CutPrefix for a prefix in either case.
func cutFold(text, prefix string) (rest string, ok bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// A field is a setting that is a number.
type field struct {
	key, label  string
	measure     measure
	real        bool // may have a fraction
	least, most *big.Int
	usual       string
	unit        string // of least and most in messages
	examples    string // of what may be typed
	scale       scale
}

// right says what the setting must be.
func (f field) right() string {
	kind := "a whole number"
	if f.real {
		kind = "a number"
	}
	s := fmt.Sprintf("%s from %s to %s", kind, short(f.least), short(f.most))
	if f.unit != "" {
		s += " " + f.unit
	}
	return s
}

// short writes a bound: in full, or a power of ten where that is long.
func short(v *big.Int) string {
	text := v.String()
	if zeros := len(text) - 1; zeros > 9 && text == "1"+strings.Repeat("0", zeros) {
		return fmt.Sprintf("1e%d", zeros)
	}
	return num.Group(text)
}

// read returns the number in text, or an error that says what would be right.
func (f field) read(text string) (*big.Rat, error) {
	text = strings.TrimSpace(text)
	number, ok := (*big.Rat)(nil), false
	if place, slides := strings.CutPrefix(text, "@"); slides {
		at, isNumber := count.parse(place)
		if !isNumber || !at.IsInt() || at.Sign() < 0 || at.Num().Cmp(big.NewInt(f.scale.places-1)) > 0 {
			return nil, fmt.Errorf("%s is %s: a place on its slider must be a whole number from @0 to @%d", named(f.label), quoted(text), f.scale.places-1)
		}
		number, ok = f.scale.value(at.Num().Int64()), true
	} else {
		number, ok = f.measure.parse(text)
	}
	low, high := new(big.Rat).SetInt(f.least), new(big.Rat).SetInt(f.most)
	if !ok || number.Cmp(low) < 0 || number.Cmp(high) > 0 || !f.real && !number.IsInt() {
		shown := quoted(text)
		if ok && len(text) < 24 {
			shown = text // a number needs no quotes
		}
		return nil, fmt.Errorf("%s is %s: it must be %s, such as %s", named(f.label), shown, f.right(), f.examples)
	}
	return number, nil
}
