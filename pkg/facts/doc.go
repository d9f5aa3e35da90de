// Package facts computes every number that the lesson says in words, so that
// no text quotes a number that no code stands behind.
//
// [Quoted] is the lesson's report. [All] is the same flat, by key, together
// with the numbers of single chapters (the files chapterNN.go). [Check] holds
// a numeral in a text against the number of its key. All of it is computed
// from a few inputs: the reference chip, the sizes that are asked about and
// the two matrices of the worked example.
package facts
