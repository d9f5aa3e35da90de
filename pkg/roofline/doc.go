// Package roofline is the roofline model of a machine with two levels of
// memory: a large slow one with a limited bandwidth, and a small fast one in
// which data moves for free.
//
// A machine is described by its peak (FLOP/s) and its bandwidth (bytes/s). A
// run is described by its work (FLOPs) and its traffic (bytes that cross
// between slow and fast memory). Their quotient is the arithmetic intensity,
// in FLOP/byte. From these four numbers follow what the run can attain at
// most and how long it takes at least.
//
// One multiply-add counts as 2 FLOPs, as in the vendors' own figures. GB is
// 10^9 bytes. Sizes and counts are int64 on every platform; a count that does
// not fit is an error that matches [ErrOverflow], never a wrapped number.
// Every function checks its arguments, and nothing here panics.
//
// Nothing here measures or draws, and nothing but the standard library is
// imported.
package roofline
