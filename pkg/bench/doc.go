// Package bench measures how fast a function runs on this machine, and says
// how far the figure can be trusted.
//
// A run warms the function up, finds how many calls one sample needs so that
// the clock's resolution no longer matters, and then takes the samples. Every
// sample is kept. The best sample gives the rates: noise only ever adds time.
// The median stands beside it. Doubt (a wide spread, a single sample, a
// function too short to time) is data: it goes into the result's warnings and
// never removes a sample.
//
// Alternatives are timed in one run, in turn (A B A B …), so that a change of
// the machine's state meets all of them; see [Compare] and [Speedups].
//
// [MeasureRoof] finds the roofs of a machine: its peaks, and the bandwidth of
// each level of its memory. [SaveMachine] and [LoadMachine] keep them in a file,
// and [LadderPrograms] and [DecodePrograms] measure the lesson's kernels to be
// held against them.
//
// [ReadHost] tells which machine it was. [FiveRates] is the short self-test of
// a machine: a plain loop, a library, and a matrix–vector multiply.
package bench
