// Package arg is how the packages of the model refuse an argument: a mistake in
// a call is a panic with an [*Error], which names the argument and its value
// and says what would be right.
package arg

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
)

// ErrOverflow is found (errors.Is) in every [*Error] about a count that does
// not fit in int64.
var ErrOverflow = errors.New("a count must be at most 9223372036854775807 (int64)")

// Error is a mistake in a call.
type Error struct {
	Arg   string // the argument: "peak"
	Value string // its value: "0"
	Text  string // the whole message
	Err   error  // what errors.Is and errors.As find, if anything
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns the error about an argument with this name and value; format
// and args are those of fmt.Errorf.
func Errorf(name string, value any, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Arg: name, Value: fmt.Sprint(value), Text: err.Error(), Err: errors.Unwrap(err)}
}

// Refuse panics with that error.
func Refuse(name string, value any, format string, args ...any) {
	Panic(Errorf(name, value, format, args...))
}

// Overflow returns the error about a count, named with its arguments, that is
// about v and so does not fit in int64.
func Overflow(pkg, name string, v float64) *Error {
	return Errorf(name, v, "%s: %s is about %.6g: %w", pkg, name, v, ErrOverflow)
}

// Uncaught, where it is set, takes a mistake that no [Maybe] waits for. The
// lesson shows it in the notebook and ends the cell. If it returns, Panic
// panics.
var Uncaught func(error)

var waiting atomic.Int32

// Panic panics with e.
func Panic(e *Error) {
	if Uncaught != nil && waiting.Load() == 0 {
		Uncaught(e)
	}
	panic(e)
}

// Check panics with err, an [*Error], unless it is nil.
func Check(err error) {
	if err != nil {
		Panic(err.(*Error))
	}
}

// Maybe calls fn and returns the [*Error] that it panics with, or nil. Other
// panics go on.
func Maybe(fn func()) (err error) {
	waiting.Add(1)
	defer func() {
		waiting.Add(-1)
		switch v := recover().(type) {
		case nil:
		case *Error:
			err = v
		default:
			panic(v)
		}
	}()
	fn()
	return nil
}

// AtLeast panics unless v is at least low.
func AtLeast(pkg, name string, v, low int64) {
	if v < low {
		Refuse(name, v, "%s: %s is %d: it must be at least %d", pkg, name, v, low)
	}
}

// Size panics unless v is at least 1.
func Size(pkg, name string, v int64) { AtLeast(pkg, name, v, 1) }

// ElemBytes panics unless s, the bytes of an element, is at least 1.
func ElemBytes(pkg string, s int64) {
	if s < 1 {
		Refuse("element size", s, "%s: element size is %d bytes: it must be at least 1", pkg, s)
	}
}

// Positive panics unless v is positive and finite. NaN is neither.
func Positive(pkg, name string, v float64, unit string) {
	if !(v > 0) || math.IsInf(v, 1) {
		Refuse(name, v, "%s: %s is %g %s: it must be positive and finite", pkg, name, v, unit)
	}
}

// Try is [Maybe] for a function with a result.
func Try[T any](fn func() T) (v T, err error) {
	err = Maybe(func() { v = fn() })
	return v, err
}
