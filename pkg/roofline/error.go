package roofline

import "memorywall/pkg/internal/arg"

// Error is what the packages of the model panic with when they refuse an
// argument: it names the argument and its value and says what would be right.
type Error = arg.Error

// ErrOverflow is found (errors.Is) in every [Error] about a count that does not
// fit in int64.
var ErrOverflow = arg.ErrOverflow

// Maybe calls fn and returns the [*Error] that it panics with, or nil: for
// programs whose arguments come from a user.
func Maybe(fn func()) error { return arg.Maybe(fn) }

// UnreachableError is found (errors.As) in an [Error] that says that no size
// whatever reaches the ridge.
type UnreachableError struct {
	Text  string  // the whole message
	Ridge float64 // the intensity that was asked for, FLOP/byte
	Best  float64 // the greatest intensity, or its supremum, FLOP/byte
}

func (e *UnreachableError) Error() string { return e.Text }

// Panic panics with an [*Error] that holds e.
func (e *UnreachableError) Panic() {
	arg.Refuse("ridge", e.Ridge, "%w", e)
}
