// Package lesson is what a notebook cell calls to show things: asserts that
// print what held, tables, figures, drawings of tiles, live explorers, and
// progress.
//
// Inside a GoNB notebook everything is sent as rich display data, never to
// standard output: the two take different pipes, and only one of them keeps
// the order. Outside a notebook the same calls print plain text.
//
// A call that cannot do what it says (an assert that does not hold, an error
// handed to [Must], a figure with a NaN in it) shows what is wrong and what to
// do about it, and ends the program with exit status 1.
//
// It is the only package of this module that knows go-echarts and gonbui.
package lesson
