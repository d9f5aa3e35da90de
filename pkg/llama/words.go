package llama

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A wordRule says how a text is split into words before pairs are joined. All of
// them descend from one regular expression (GPT-2, encoder.py):
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// and, with modern set, from its successor (Llama 3, tokenizer.py):
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// A scanner does what they say: Go's regular expressions know no (?!\S).
type wordRule struct {
	modern   bool
	digits   int  // so many numerals in a word at most; 0: no limit
	alone    bool // each numeral is cut out first, so that a word ends before it
	composed bool // the text is put into Unicode's form NFC first
}

// wordRules are the rules by the name that a file gives (tokenizer.ggml.pre), as
// llama-vocab.cpp of llama.cpp has them; that Qwen2 composes stands in its
// tokenizer.json alone.
var wordRules = map[string]wordRule{
	"gpt-2":     {},
	"smollm":    {digits: 1, alone: true},
	"qwen2":     {modern: true, digits: 1, composed: true},
	"llama-bpe": {modern: true, digits: 3},
	"llama3":    {modern: true, digits: 3},
}

func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A class is what the rules tell apart.
type class uint8

const (
	other class = iota
	letter
	numeral
	space
)

func classOf(text string) (class, int) {
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && n == 1:
		return other, 1 // a byte of no letter
	case unicode.IsLetter(r):
		return letter, n
	case unicode.IsNumber(r):
		return numeral, n
	case unicode.IsSpace(r):
		return space, n
	}
	return other, n
}

// run returns the length of the beginning of text that is all of one class, and
// at most limit characters (0: no limit).
func run(text string, c class, limit int) int {
	at := 0
	for count := 0; at < len(text) && (limit == 0 || count < limit); count++ {
		k, n := classOf(text[at:])
		if k != c {
			break
		}
		at += n
	}
	return at
}

// next returns the length of the first word of text, which is not empty.
func (w wordRule) next(text string) int {
	if n := contraction(text, w.modern); n > 0 {
		return n
	}
	c, n := classOf(text)
	if w.alone && c == numeral {
		return n
	}
	if w.modern {
		return w.nextModern(text, c, n)
	}
	lead := 0
	if text[0] == ' ' && len(text) > 1 {
		if k, _ := classOf(text[1:]); k != space && !(w.alone && k == numeral) {
			c, lead = k, 1
		}
	}
	if c != space {
		return lead + run(text[lead:], c, 0)
	}
	return w.blank(text)
}

func (w wordRule) nextModern(text string, c class, n int) int {
	if c == letter {
		return run(text, letter, 0)
	}
	if c != numeral && text[0] != '\r' && text[0] != '\n' && n < len(text) {
		if k := run(text[n:], letter, 0); k > 0 {
			return n + k
		}
	}
	if c == numeral {
		return run(text, numeral, w.digits)
	}
	lead := 0
	if text[0] == ' ' {
		lead = 1
	}
	if k := run(text[lead:], other, 0); k > 0 {
		end := lead + k
		return end + len(text[end:]) - len(strings.TrimLeft(text[end:], "\r\n"))
	}
	blank := text[:run(text, space, 0)]
	if last := strings.LastIndexAny(blank, "\r\n"); last >= 0 {
		return last + 1
	}
	return w.blank(text)
}

// blank is the part \s+(?!\S)|\s+: a stretch of spaces leaves its last one to
// the word behind it, if it has another.
func (w wordRule) blank(text string) int {
	n := run(text, space, 0)
	if n == len(text) {
		return n
	}
	if w.alone {
		if k, _ := classOf(text[n:]); k == numeral {
			return n // cut there already
		}
	}
	_, last := utf8.DecodeLastRuneInString(text[:n])
	if n > last {
		return n - last
	}
	return n
}

// contraction returns the length of 's, 't, 're and so on at the beginning.
func contraction(text string, anyCase bool) int {
	if text[0] != '\'' {
		return 0
	}
	for _, end := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if len(text) > len(end) {
			if got := text[1 : 1+len(end)]; got == end || anyCase && strings.EqualFold(got, end) {
				return 1 + len(end)
			}
		}
	}
	return 0
}
