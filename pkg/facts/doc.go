// Package facts computes every number that the lesson says in words, so that
// no text quotes a number that no code stands behind.
//
// A number has a key, and a function that computes it: those of the report are
// in report.go, those of single chapters in chapterNN.go. [All] gives them by
// key, [Groups] in order and with names for the eye, and [Check] holds a
// numeral in a text against the number of its key. All of it follows from a
// few inputs: the reference chip, the sizes that are asked about and the two
// matrices of the worked example.
package facts
