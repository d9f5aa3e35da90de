// Package roofline is the roofline model of a machine with two levels of
// memory: a large slow one with a limited bandwidth, and a small fast one in
// which data moves for free.
//
// A machine is described by its peak (FLOP/s) and its bandwidth (bytes/s). A
// run is described by its work (FLOPs) and its traffic (bytes that cross
// between slow and fast memory). Their quotient is the arithmetic intensity,
// in FLOP/byte. From these four numbers follow what the run can attain at
// most and how long it takes at the least.
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
// # The machine file
//
// [EncodeMachine] and [DecodeMachine] write and read a machine as JSON, measured
// or from a data sheet. The file is an object with these keys; rates are in
// FLOP/s and bytes/s, sizes in bytes, and GB or GiB appear nowhere:
//
//	schema                 1, the version of this form ([SchemaVersion])
//	name, source           what machine, and where the figures come from
//	format, elem_bytes     number format of the peak ("FP32") and bytes of an element
//	peak_flops             for a measured machine: all threads, widest instructions
//	bandwidth_bytes_per_s  for a measured machine: all threads, outermost level
//	latency_s              of a launch, a hop or a call, s; left out where it is 0
//	measured               only for a measured machine, the keys of [Measured]:
//	  date                 when it began, in the form of RFC 3339
//	  seconds              how long it took
//	  host                 [Host]: cpu, arch, os, cores, threads, caches, isa …
//	  method               sentences: how each figure was found, and what it counts
//	  versions             of the program and of Go
//	  clock                [Clock]: hz, least, most, samples
//	  l1_load              [L1Load]: bytes_per_cycle against ports_bytes_per_cycle
//	  peaks                [ComputePeak]: isa, format, threads, flops, median, samples
//	  bandwidths           [BandwidthPoint]: loop, isa, threads, working_set_bytes,
//	                       bytes_per_s, with_write_allocate, median, samples
//	  levels               [Level]: name, threads, reported_bytes, from_bytes,
//	                       to_bytes, bandwidth_bytes_per_s, and the rate of each loop
//	  warnings             reasons for doubt
//
// A key may be added without a new version; readers ignore keys that they do
// not know. A key that changes its meaning makes a new version.
//
// Nothing here measures or draws, and nothing but the standard library is
// imported.
package roofline
