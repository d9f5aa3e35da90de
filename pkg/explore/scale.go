package explore

import (
	"math/big"
	"sort"
	"strings"
)

// A scale is what a slider runs along: places from 0 on, each with a value that
// is greater than the one before, so that every move changes the setting.
type scale struct {
	places int64
	value  func(at int64) *big.Rat // of a place
}

// at returns the last place whose value is not above v, or the first place.
func (s scale) at(v *big.Rat) int64 {
	above := sort.Search(int(s.places), func(at int) bool { return s.value(int64(at)).Cmp(v) > 0 })
	return int64(max(above-1, 0))
}

// How many steps a slider takes from each power of two to the next: where few do,
// and where the neighbours of a setting matter.
const (
	coarsely = 8
	finely   = 256
)

// octaves runs over whole numbers from least to most, which are at least 1: each
// one up to twice the steps, then so many steps from each power of two to the
// next. Its last place is most itself.
func octaves(least, most, steps int64) scale {
	first, last := place(least, steps), place(most, steps)
	if standing(last, steps) < most {
		last++
	}
	return scale{last - first + 1, func(at int64) *big.Rat {
		return new(big.Rat).SetInt64(min(standing(first+at, steps), most))
	}}
}

// place returns where v stands, counted from 1 at place 0, with so many steps
// from each power of two to the next, or each whole number where those are fewer.
func place(v, steps int64) int64 {
	octave := int64(0)
	for v>>octave >= 2*steps {
		octave++
	}
	if step := v >> octave; step >= steps {
		return steps - 1 + octave*steps + step - steps
	}
	return v - 1
}

// standing returns the least number at a place.
func standing(at, steps int64) int64 {
	if at < steps {
		return at + 1
	}
	octave, step := (at+1-steps)/steps, (at+1-steps)%steps
	return (steps + step) << octave
}

// decades runs from 10^from to 10^to, whose exponents are at least 1, in ninety
// steps a decade: 1.0, 1.1, 1.2 …
func decades(from, to int64) scale {
	const steps = 90
	return scale{(to-from)*steps + 1, func(at int64) *big.Rat {
		tenth := power(10, from+at/steps-1)
		return new(big.Rat).SetInt(tenth.Mul(tenth, big.NewInt(10+at%steps)))
	}}
}

// evenly runs from 1 to a whole number in at most a thousand equal steps.
func evenly(most *big.Int) scale {
	last := int64(1000)
	if most.Cmp(big.NewInt(last)) <= 0 {
		last = most.Int64() - 1
	}
	steps := max(last, 1)
	return scale{last + 1, func(at int64) *big.Rat {
		// 1 + ⌈at·(most − 1)/steps⌉
		v := new(big.Int).Sub(most, big.NewInt(1))
		v.Mul(v, big.NewInt(at)).Add(v, big.NewInt(steps-1)).Quo(v, big.NewInt(steps))
		return new(big.Rat).SetInt(v.Add(v, big.NewInt(1)))
	}}
}

// decimal writes a positive float64 so that it reads back as the same: in full
// below ten thousand, else with a prefix, "312T" or "2.039T", or an exponent.
func decimal(v float64) string {
	digits, exponent := scientific(v)
	return prefixed(digits, exponent, 4)
}

// billions is decimal with B for a billion, as the sizes of models are given.
func billions(v float64) string {
	text := decimal(v)
	if number, ok := strings.CutSuffix(text, "G"); ok {
		return number + "B"
	}
	return text
}

// binary writes a whole number of bytes with a binary prefix where it is a
// multiple of that: 1048576 is 1MiB, 1000 is 1000.
func binary(v *big.Rat) string {
	number, prefix := new(big.Int).Set(v.Num()), ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		whole, rest := new(big.Int).QuoRem(number, big.NewInt(1024), new(big.Int))
		if rest.Sign() != 0 || whole.Sign() == 0 {
			break
		}
		number, prefix = whole, next+"B"
	}
	return number.String() + prefix
}
