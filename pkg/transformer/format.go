package transformer

import (
	"math/big"
	"strings"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Format is a number format as it lies in memory: Elems elements take Bytes
// bytes, scales and all.
type Format struct {
	Name         string
	Elems, Bytes int64
	Note         string
}

// Formats returns the number formats that have names.
func Formats() []Format {
	return []Format{
		{"FP32", 1, 4, ""},
		{"TF32", 1, 4, "kept as FP32, multiplied with 10 bits of fraction"},
		{"BF16", 1, 2, ""},
		{"FP16", 1, 2, ""},
		{"FP8", 1, 1, ""},
		{"INT8", 1, 1, ""},
		{"FP4", 2, 1, "without scales"},
		{"INT4", 2, 1, "without scales"},
		{"INT4-G32", 32, 20, "a 16-bit scale and zero for 32 weights: 5 bits a weight"},
		{"INT4-G128", 128, 66, "a 16-bit scale for 128 weights: 4.125 bits a weight"},
		{"MXFP4", 32, 17, "an 8-bit scale for 32 weights: 4.25 bits a weight (OCP Microscaling 1.0)"},
		{"NVFP4", 16, 9, "an 8-bit scale for 16 weights: 4.5 bits a weight"},
		{"Q8_0", 32, 34, "GGUF: a 16-bit scale for 32 weights: 8.5 bits a weight"},
		{"Q4_0", 32, 18, "GGUF: a 16-bit scale for 32 weights: 4.5 bits a weight"},
		{"Q4_1", 32, 20, "GGUF: a 16-bit scale and minimum for 32 weights: 5 bits a weight"},
	}
}

// ParseFormat returns the format of a name, in any case ("bf16", "q4_0"), or of
// a number of bits ("4.5 bits", "5.31 bits").
func ParseFormat(name string) (Format, error) {
	text := strings.TrimSpace(name)
	var names []string
	for _, f := range Formats() {
		if strings.EqualFold(f.Name, text) {
			return f, nil
		}
		names = append(names, f.Name)
	}
	if number, ok := strings.CutSuffix(strings.ToLower(text), "bits"); ok && len(number) < 20 {
		bits, ok := new(big.Rat).SetString(strings.TrimSpace(number))
		if ok && bits.Sign() > 0 && bits.Cmp(big.NewRat(64, 1)) <= 0 && !strings.ContainsAny(number, "ep/x") {
			bits.Quo(bits, big.NewRat(8, 1))
			return Format{Name: text, Elems: bits.Denom().Int64(), Bytes: bits.Num().Int64()}, nil
		}
	}
	return Format{}, arg.Errorf("format", name,
		`transformer: format is %q: it must be one of %s, or a number of bits such as "4.5 bits"`, name, strings.Join(names, ", "))
}

// Named returns the format of a name that [ParseFormat] takes, and panics for
// one that it does not.
func Named(name string) Format {
	f, err := ParseFormat(name)
	arg.Check(err)
	return f
}

// Bits returns the bits of an element, with its share of the scales.
func (f Format) Bits() float64 {
	f.check()
	return num.Ratio(num.Sum{{8, f.Bytes}}, num.Sum{{f.Elems}})
}

// Size returns the bytes of so many elements, rounded up to a whole byte. It
// panics if elems is negative, the format is empty, or the bytes leave int64.
func (f Format) Size(elems int64) int64 {
	f.check()
	arg.AtLeast("transformer", "elements", elems, 0)
	// In two steps, so that no product leaves int64 before its quotient.
	whole := count("bytes in "+f.Name, num.Sum{{elems / f.Elems, f.Bytes}})
	rest := num.CeilDiv(count("bytes in "+f.Name, num.Sum{{elems % f.Elems, f.Bytes}}), f.Elems)
	return count("bytes in "+f.Name, num.Sum{{whole}, {rest}})
}

// bytes returns the bytes of an expected number of elements.
func (f Format) bytes(elems float64) float64 {
	f.check()
	return elems * float64(f.Bytes) / float64(f.Elems)
}

func (f Format) check() {
	if f.Elems < 1 || f.Bytes < 1 {
		arg.Refuse("format", f.Name, "transformer: format is %q of %d bytes for %d elements: both must be at least 1", f.Name, f.Bytes, f.Elems)
	}
}
