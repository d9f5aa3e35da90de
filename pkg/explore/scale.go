package explore

import (
	"math/big"
	"strings"
)

// A scale is what a slider runs along: places from 0 on, each with a value that
// is greater than the one before, so that every move changes the setting.
type scale interface {
	places() int64
	value(at int64) *big.Rat // of a place
	at(v *big.Rat) int64     // the last place whose value is not above v, or the first place
}

// octaves runs over whole numbers from least to most, which are at least 1: each
// one up to 8, then eight steps from each power of two to the next.
type octaves struct{ least, most int64 }

const perOctave = 8

func (o octaves) places() int64 { return place(o.most, perOctave) - place(o.least, perOctave) + 1 }

func (o octaves) value(at int64) *big.Rat {
	return new(big.Rat).SetInt64(standing(at+place(o.least, perOctave), perOctave))
}

func (o octaves) at(v *big.Rat) int64 {
	whole := new(big.Int).Quo(v.Num(), v.Denom())
	if whole.Cmp(big.NewInt(o.most)) >= 0 {
		return o.places() - 1
	}
	return place(max(whole.Int64(), o.least), perOctave) - place(o.least, perOctave)
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

// upTo runs over whole numbers from 1 to most: each one up to 512, then 256 steps
// from each power of two to the next. Its last place is most itself.
type upTo struct{ most int64 }

const finely = 256

func (u upTo) places() int64 {
	last := place(u.most, finely)
	if standing(last, finely) < u.most {
		last++
	}
	return last + 1
}

func (u upTo) value(at int64) *big.Rat {
	return new(big.Rat).SetInt64(min(standing(at, finely), u.most))
}

func (u upTo) at(v *big.Rat) int64 {
	whole := new(big.Int).Quo(v.Num(), v.Denom())
	if whole.Cmp(big.NewInt(u.most)) >= 0 {
		return u.places() - 1
	}
	return place(max(whole.Int64(), 1), finely)
}

// decades runs from 10^from to 10^to in ninety steps a decade: 1.0, 1.1, 1.2 …
type decades struct{ from, to int64 }

const perDecade = 90

func (d decades) places() int64 { return (d.to-d.from)*perDecade + 1 }

func (d decades) value(at int64) *big.Rat {
	tenths := new(big.Rat).SetInt64(10 + at%perDecade)
	exponent := d.from + at/perDecade - 1
	shift := new(big.Rat).SetInt(power(10, max(exponent, -exponent)))
	if exponent < 0 {
		shift.Inv(shift)
	}
	return tenths.Mul(tenths, shift)
}

func (d decades) at(v *big.Rat) int64 {
	low, high := int64(0), d.places()-1 // the place is in between
	for low < high {
		middle := (low + high + 1) / 2
		if d.value(middle).Cmp(v) <= 0 {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// evenly runs from 1 to a whole number in at most a thousand equal steps.
type evenly struct{ most *big.Int }

func (e evenly) places() int64 {
	const steps = 1000
	if e.most.Cmp(big.NewInt(steps)) <= 0 {
		return e.most.Int64()
	}
	return steps + 1
}

func (e evenly) value(at int64) *big.Rat {
	last := e.places() - 1
	if last == 0 {
		return new(big.Rat).SetInt64(1)
	}
	// 1 + ⌈at·(most − 1)/last⌉
	v := new(big.Int).Sub(e.most, big.NewInt(1))
	v.Mul(v, big.NewInt(at)).Add(v, big.NewInt(last-1)).Quo(v, big.NewInt(last))
	return new(big.Rat).SetInt(v.Add(v, big.NewInt(1)))
}

func (e evenly) at(v *big.Rat) int64 {
	last := e.places() - 1
	if last == 0 {
		return 0
	}
	whole := new(big.Int).Quo(v.Num(), v.Denom())
	whole.Sub(whole, big.NewInt(1)).Mul(whole, big.NewInt(last))
	whole.Quo(whole, new(big.Int).Sub(e.most, big.NewInt(1)))
	return min(max(whole.Int64(), 0), last)
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
