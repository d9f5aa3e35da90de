package facts

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Value returns the number that expr stands for: a key of All, which may be
// scaled by plain numbers:
//
//	naive_vs_ideal_4096_fp16.floor_math_s*1e3
//	chip.peak_flops/1e12
//	tile_sweep_4096_fp16[b=64].fast_bytes/1024
func Value(expr string) (float64, error) {
	c, err := all()
	if err != nil {
		return 0, err
	}
	return valueIn(c.byKey, expr)
}

// Check returns nil if displayed, a numeral as it stands in a text, is the
// value of expr (as for Value) correctly rounded to the digits shown. An exact
// half may be rounded either way.
//
// A numeral may have a sign, thousands separators (commas or thin spaces, all
// of them or none), digits after a point, and a power of ten (3.12e14). Digits
// left of the point are digits shown: 1,700 is not 1,664 rounded. A fraction
// such as 1/3 is right if it is the value within 1e-12.
func Check(displayed, expr string) error {
	c, err := all()
	if err != nil {
		return err
	}
	return checkIn(c.byKey, displayed, expr)
}

func valueIn(m map[string]float64, expr string) (float64, error) {
	expr = strings.TrimSpace(expr)
	end := strings.IndexAny(expr, "*/")
	if end < 0 {
		end = len(expr)
	}
	key, rest := strings.TrimSpace(expr[:end]), expr[end:]
	v, ok := m[key]
	if !ok {
		return 0, fmt.Errorf("facts: no number has the key %q%s", key, nearest(m, key))
	}
	for rest != "" {
		op := rest[0]
		rest = rest[1:]
		end := strings.IndexAny(rest, "*/")
		if end < 0 {
			end = len(rest)
		}
		text := strings.TrimSpace(rest[:end])
		rest = rest[end:]
		scale, err := strconv.ParseFloat(text, 64)
		if err != nil || !(scale > 0) || math.IsInf(scale, 1) {
			return 0, fmt.Errorf("facts: scale is %q in %q: it must be a positive number, such as 1e3", text, expr)
		}
		if op == '*' {
			v *= scale
		} else {
			v /= scale
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("facts: %s is %g: it must be finite", expr, v)
	}
	return v, nil
}

var (
	numeral  = regexp.MustCompile(`^[-−+]?(?:\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:[\x{2009}\x{202f}]\d{3})+)(?:\.(\d+))?(?:[eE]([-+]?\d{1,3}))?$`)
	fraction = regexp.MustCompile(`^[-−]?\d{1,18}/[1-9]\d{0,17}$`)
	plain    = strings.NewReplacer("−", "-", ",", "", "\u2009", "", "\u202f", "")
)

func checkIn(m map[string]float64, displayed, expr string) error {
	v, err := valueIn(m, expr)
	if err != nil {
		return err
	}
	displayed = strings.TrimSpace(displayed)
	if fraction.MatchString(displayed) {
		shown, _ := new(big.Rat).SetString(plain.Replace(displayed))
		f, _ := shown.Float64()
		if !(math.Abs(f-v) <= 1e-12*math.Abs(f)) {
			return fmt.Errorf("facts: %s is %v: the text says %s, which is %v", expr, v, displayed, f)
		}
		return nil
	}
	parts := numeral.FindStringSubmatch(displayed)
	if parts == nil {
		return fmt.Errorf("facts: the text says %q for %s: that is not a numeral; it must be like 1,234.5, 3.12e14 or 1/3", displayed, expr)
	}
	shown, _ := new(big.Rat).SetString(plain.Replace(displayed))
	exponent := 0
	if parts[2] != "" {
		exponent, _ = strconv.Atoi(parts[2])
	}
	// One unit of the last digit shown is 10^(exponent − digits after the
	// point); the value may be half of that away.
	half := new(big.Rat).Mul(big.NewRat(1, 2), pow10(exponent-len(parts[1])))
	off := new(big.Rat).Sub(shown, new(big.Rat).SetFloat64(v))
	if off.Abs(off).Cmp(half) > 0 {
		return fmt.Errorf("facts: %s is %v: the text says %s, which is not that rounded to the digits shown", expr, v, displayed)
	}
	return nil
}

func pow10(e int) *big.Rat {
	p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil))
	if e < 0 {
		p.Inv(p)
	}
	return p
}

// nearest returns a hint with the key that shares the longest beginning with
// the one that is missing.
func nearest(m map[string]float64, key string) string {
	best, length := "", 0
	for k := range m {
		n := 0
		for n < len(k) && n < len(key) && k[n] == key[n] {
			n++
		}
		if n > length || n == length && n > 0 && k < best {
			best, length = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; the nearest is %q", best)
}
