package lesson

import (
	"fmt"
	"math"
	"testing"
)

type named int

func (n named) String() string { return "named" }

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "–"},
		{"as it is", "as it is"},
		{1234567, "1,234,567"},
		{int64(-1234), "-1,234"},
		{uint8(200), "200"},
		{uint64(math.MaxUint64), "18,446,744,073,709,551,615"},
		{int64(math.MinInt64), "-9,223,372,036,854,775,808"},
		{1.0 / 3, "0.333333"},
		{float32(0.1), "0.1"},
		{100.0, "100"},
		{true, "true"},
		{named(3), "named"},
		{fmt.Errorf("oh"), "oh"},
		{math.NaN(), "NaN"},
		{[]int{1, 2}, "[1 2]"},
	} {
		if got := plain(c.v); got != c.want {
			t.Errorf("plain(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestExactTellsValuesApart(t *testing.T) {
	a, b := 0.1+0.2, 0.3
	if a == b {
		t.Skip("this processor adds more exactly")
	}
	if exact(a) == exact(b) {
		t.Errorf("exact(%v) = exact(%v) = %q", a, b, exact(a))
	}
}
