// Package cache simulates what a processor's caches do with the addresses that
// the loops of a matrix multiply touch.
//
// The model of package tiling has a fast memory in which the program itself
// says what stays. A cache decides alone: it keeps what was used last, in whole
// lines, and a line may only go to a few places. This package counts what that
// changes.
//
//   - A [Hierarchy] is one or more levels of set-associative cache, each with
//     least-recently-used replacement, write-back and write-allocate. It counts
//     accesses, misses, lines filled and lines written back for each level, and
//     so the bytes across each boundary.
//   - A [Layout] places A, B and C in memory. Its methods Naive, Reordered,
//     Tiled and Packed send the addresses of these loops to a Hierarchy.
//   - A [Scratchpad] is the fast memory of the model: it holds what it is told
//     to hold. [Layout.TiledIn] sends the same addresses to it, and what it
//     counts is tiling's closed form.
//   - [NaiveLines] and [TiledLines] say from which capacity on
//     a least-recently-used cache keeps what these loops use again.
//
// Nothing is timed and no data is moved: addresses are numbers.
package cache
