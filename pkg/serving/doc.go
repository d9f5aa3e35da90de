// Package serving puts a language model on chips: what fits into their memory,
// how long a prefill and a step of decoding take at least, what holds them back,
// what splitting a step over several chips changes, and what it costs.
//
// Times are those of package roofline, with all their terms: compute, memory,
// network and latency. A time is between [roofline.Times.Overlapped], the
// largest of them, and [roofline.Times.Serial], their sum.
//
// What crosses slow memory in a step is the weights, once, and the cache.
// Activations are left out: a chip can hand them on from part to part without
// storing them, so the times stay lower bounds. FLOPs are those of all matrices,
// the output layer among them for every token, and of attention itself.
//
// A mistake in a call is a panic with an [*arg.Error].
package serving
