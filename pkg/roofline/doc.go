// Package roofline is the roofline model of a machine with two levels of
// memory: a large slow one with a limited bandwidth, and a small fast one in
// which data moves for free.
//
// A machine is described by its peak (FLOP/s) and its bandwidth (bytes/s). A
// run is described by its work (FLOPs) and its traffic (bytes that cross
// between slow and fast memory). Their quotient is the arithmetic intensity,
// in FLOP/byte. From these four numbers follow the most that the run can
// attain and the shortest time that it can take.
//
// One multiply-add counts as 2 FLOPs, as in the vendors' own figures. GB is
// 10^9 bytes. Sizes and counts are int64 on every platform; a count that does
// not fit matches [ErrOverflow] and is never a wrapped number.
//
// The formulas return their value alone. A mistake in a call is a panic with an
// [*Error], which names the argument and says what would be right; [Maybe]
// turns it into an error where the arguments are a user's. A cell of the lesson
// shows it as a message.
//
// Nothing here measures or draws, and nothing but the standard library is
// imported.
package roofline
