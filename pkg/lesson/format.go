package lesson

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"memorywall/pkg/internal/num"
)

// SI writes v with an SI prefix before its unit: SI(312e12, "FLOP/s") is
// "312 TFLOP/s", SI(0.13483, "s") is "134.8 ms". It has four significant digits
// at most: zeros at the end stand where digits were cut off, and the whole part
// is never cut. A unit of "bytes" becomes "B" behind a prefix. Only seconds take
// prefixes below one, and none above. A value that the prefixes do not reach is
// written with a power of ten: "1e300 FLOP/s".
func SI(v float64, unit string) string { return num.SI(v, unit) }

// Short writes v to four significant digits, the whole part in full: a factor
// of 1062.5 is "1,063", one of 3.04 "3.04".
func Short(v float64) string { return num.Short(v) }

// plain writes any value as a reader wants it in a line or a table cell.
func plain(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case string:
		return x
	case float64:
		return num.Plain(x)
	case float32:
		return num.Plain(float64(x))
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	}
	if r := reflect.ValueOf(v); r.CanInt() || r.CanUint() {
		return num.Group(fmt.Sprintf("%d", v))
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
