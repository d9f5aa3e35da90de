// Package pick finds what a reader means by a name or a part of one.
package pick

import (
	"slices"
	"strings"
	"unicode"

	"memorywall/pkg/internal/arg"
)

// One returns the index of the one of n things that text names. A thing has one
// or more names, the first of them the one to list. Text is a whole name, or a
// part of the names of one thing alone, or words that all begin words of its
// names, without regard to case, spaces and punctuation. A whole name goes
// before whole words of it, these before a part, and a part that begins with a
// word before one that does not.
// The error, an [*arg.Error] of pkg about the argument what, lists the things
// that text would fit, or those whose names come nearest.
func One(pkg, what, text string, n int, names func(i int) []string) (int, error) {
	wanted := strings.Join(words(text), "")
	fits := []func(name []string) bool{
		func(name []string) bool { return strings.Join(name, "") == wanted },
		func(name []string) bool { // whole words
			for i := range name {
				for j := range name[i:] {
					if strings.Join(name[i:i+j+1], "") == wanted {
						return true
					}
				}
			}
			return false
		},
		func(name []string) bool { // from the beginning of a word
			return slices.ContainsFunc(tails(name), func(tail string) bool { return strings.HasPrefix(tail, wanted) })
		},
		func(name []string) bool { return strings.Contains(strings.Join(name, ""), wanted) },
		func(name []string) bool {
			for _, word := range words(text) {
				if !slices.ContainsFunc(name, func(of string) bool { return begins(of, word) }) {
					return false
				}
			}
			return true
		},
	}
	list := func(of []int) string {
		var text []string
		for _, i := range of {
			text = append(text, names(i)[0])
		}
		return strings.Join(text, ", ")
	}
	refuse := func(why, names string) error {
		return arg.Errorf(what, text, "%s: %s is %q: %s %s", pkg, what, text, why, names)
	}
	for _, fit := range fits {
		var found []int
		for i := range n {
			if wanted != "" && slices.ContainsFunc(names(i), func(name string) bool { return fit(words(name)) }) {
				found = append(found, i)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return 0, refuse("it fits more than one:", list(found))
		}
	}
	near, far := make([]int, n), make([]int, n)
	for i := range n {
		near[i], far[i] = i, 1<<30
		for _, name := range names(i) {
			far[i] = min(far[i], distance(wanted, strings.Join(words(name), "")))
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return far[a] - far[b] })
	return 0, refuse("there is none of that name; the nearest are", list(near[:min(5, n)]))
}

// words splits a name into its words in lower case, without punctuation.
func words(name string) []string {
	name = strings.ReplaceAll(strings.ToLower(name), "×", "x")
	return strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// begins reports whether a word of a name begins with another, numbers whole:
// 4 is no beginning of 405b.
func begins(of, word string) bool {
	rest, ok := strings.CutPrefix(of, word)
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return ok && (rest == "" || !digit(word[len(word)-1]) || !digit(rest[0]))
}

// tails returns what is left of a name from each of its words on.
func tails(name []string) []string {
	var t []string
	for i := range name {
		t = append(t, strings.Join(name[i:], ""))
	}
	return t
}

// distance is the least number of letters to change, add or leave out so that
// a becomes a part of b, and then how much of b is left, for ties.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // a part may begin anywhere
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			same := before
			if a[i] != b[j] {
				same++
			}
			before = row[j+1]
			row[j+1] = min(same, row[j]+1, row[j+1]+1)
		}
	}
	return 1000*slices.Min(row) + len(b)
}
