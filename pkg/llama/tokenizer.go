package llama

import (
	"container/heap"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Token is the number of a piece of text in a model's vocabulary.
type Token = int32

// A Tokenizer cuts text into the tokens of one model by byte-level pair
// encoding: the text is split into words, and in each word the pair of
// neighbours that was learned first is joined, until no learned pair is left.
type Tokenizer struct {
	pieces  []string // the bytes of each token
	special []bool   // control tokens, which no text encodes to
	byName  map[string]Token
	bytes   [256]Token // the token of a single byte, or -1
	merges  map[[2]Token]merge
	words   wordRule
	end     map[Token]bool // tokens that end an answer
	eos     Token
	bos     Token // in front of every text, or -1
	chat    *template
}

// A merge is a learned pair: its rank, the lower the earlier it is joined, and
// the token that it becomes.
type merge struct {
	rank int32
	to   Token
}

// Kinds of token (tokenizer.ggml.token_type of the GGUF specification).
const (
	tokenNormal      = 1
	tokenUnknown     = 2
	tokenControl     = 3
	tokenUserDefined = 4
	tokenUnused      = 5
)

// Tokenizer builds the tokenizer that the file describes. It returns an error
// that names what it cannot do right: another kind of tokenizer than byte-level
// BPE, another way to split words than those in wordRules, merges that do not
// fit the vocabulary.
func (f *File) Tokenizer() (*Tokenizer, error) {
	model, err := f.String("tokenizer.ggml.model")
	if err != nil {
		return nil, err
	}
	if model != "gpt2" {
		return nil, fmt.Errorf("llama: the file has a tokenizer of kind %q: only byte-level BPE (\"gpt2\") can be used", model)
	}
	pre, err := f.String("tokenizer.ggml.pre")
	if err != nil {
		return nil, err
	}
	rule, ok := wordRules[pre]
	if !ok {
		return nil, fmt.Errorf("llama: the file splits words as %q does: known are %s", pre, strings.Join(names(wordRules), ", "))
	}
	pieces, err := f.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return nil, err
	}
	if len(pieces) == 0 || len(pieces) > math.MaxInt32 {
		return nil, fmt.Errorf("llama: %w: a vocabulary of %d tokens", ErrMetadata, len(pieces))
	}
	t := &Tokenizer{words: rule, pieces: pieces, special: make([]bool, len(pieces)),
		byName: make(map[string]Token, len(pieces)), bos: -1, end: map[Token]bool{}}
	for i, p := range pieces {
		if _, again := t.byName[p]; again {
			return nil, fmt.Errorf("llama: %w: duplicate token %q", ErrMetadata, p)
		}
		t.byName[p] = Token(i)
	}
	if err := t.readMerges(f); err != nil {
		return nil, err
	}
	kinds, err := f.Ints("tokenizer.ggml.token_type")
	if err != nil {
		return nil, err
	}
	if err := t.readPieces(kinds); err != nil {
		return nil, err
	}
	if err := t.readEnds(f); err != nil {
		return nil, err
	}
	t.chat, err = readTemplate(f, t)
	return t, err
}

// readMerges fills the table of pairs. A pair is written "left right", in the
// alphabet in which each byte is one letter.
func (t *Tokenizer) readMerges(f *File) error {
	list, err := f.Strings("tokenizer.ggml.merges")
	if err != nil {
		return err
	}
	t.merges = make(map[[2]Token]merge, len(list))
	for rank, pair := range list {
		left, right, ok := strings.Cut(pair, " ")
		l, okL := t.byName[left]
		r, okR := t.byName[right]
		to, okTo := t.byName[left+right]
		if !ok || !okL || !okR || !okTo {
			return fmt.Errorf("llama: %w: merge %d, %q, does not join two tokens into one", ErrMetadata, rank, pair)
		}
		if _, again := t.merges[[2]Token{l, r}]; !again {
			t.merges[[2]Token{l, r}] = merge{int32(rank), to}
		}
	}
	return nil
}

// readPieces turns the letters of each token back into bytes.
func (t *Tokenizer) readPieces(kinds []int64) error {
	if len(kinds) != len(t.pieces) {
		return fmt.Errorf("llama: %w: %d tokens and %d token types", ErrMetadata, len(t.pieces), len(kinds))
	}
	for b := range t.bytes {
		t.bytes[b] = -1
	}
	var raw []byte
	for i, p := range t.pieces {
		switch kinds[i] {
		case tokenControl, tokenUnknown, tokenUnused:
			t.special[i] = true
			continue
		case tokenUserDefined:
			return fmt.Errorf("llama: token %q is user-defined, to be found in a text before it is split: this cannot be done yet", p)
		}
		raw = raw[:0]
		for _, letter := range p {
			b, ok := byteOfLetter[letter]
			if !ok {
				return fmt.Errorf("llama: %w: token %d, %q, has the letter %q, which stands for no byte", ErrMetadata, i, p, letter)
			}
			raw = append(raw, b)
		}
		t.pieces[i] = string(raw)
		if len(raw) == 1 {
			t.bytes[raw[0]] = Token(i)
		}
	}
	return nil
}

// readEnds finds the tokens that begin a text and end an answer.
func (t *Tokenizer) readEnds(f *File) error {
	id := func(key string) (Token, error) {
		n, err := f.Int(key)
		if err == nil && (n < 0 || n >= int64(len(t.pieces))) {
			err = fmt.Errorf("llama: %w: %q is %d: the vocabulary has %d tokens", ErrMetadata, key, n, len(t.pieces))
		}
		return Token(n), err
	}
	var err error
	if t.eos, err = id("tokenizer.ggml.eos_token_id"); err != nil {
		return err
	}
	t.end[t.eos] = true
	for _, name := range []string{"<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>"} {
		if i, ok := t.byName[name]; ok && t.special[i] {
			t.end[i] = true
		}
	}
	if f.Has("tokenizer.ggml.add_bos_token") {
		add, err := f.Bool("tokenizer.ggml.add_bos_token")
		if err != nil {
			return err
		}
		if add {
			if t.bos, err = id("tokenizer.ggml.bos_token_id"); err != nil {
				return err
			}
		}
	}
	return nil
}

// Vocab returns how many tokens there are.
func (t *Tokenizer) Vocab() int { return len(t.pieces) }

// Ends reports whether a token ends an answer.
func (t *Tokenizer) Ends(token Token) bool { return t.end[token] }

// Special returns the control token of that name.
func (t *Tokenizer) Special(name string) (Token, bool) {
	i, ok := t.byName[name]
	return i, ok && t.special[i]
}

// Piece returns the bytes that a token stands for, which need not be whole
// letters. A control token stands for none. It panics if token is not one of the
// vocabulary.
func (t *Tokenizer) Piece(token Token) string {
	if t.special[token] {
		return ""
	}
	return t.pieces[token]
}

// Decode returns the text of tokens, without the control tokens.
func (t *Tokenizer) Decode(tokens []Token) string {
	var b strings.Builder
	for _, k := range tokens {
		b.WriteString(t.Piece(k))
	}
	return b.String()
}

// Encode returns the tokens of a text; [Tokenizer.Decode] gives the text back,
// byte for byte (with Qwen2 in Unicode's form NFC, into which its tokenizer puts a
// text first). What looks like a control token in it is plain text. It returns
// an error for a byte that the vocabulary cannot express: the bytes that occur
// in no UTF-8, and with some models a few control characters.
func (t *Tokenizer) Encode(text string) ([]Token, error) {
	tokens := make([]Token, 0, len(text)/3+1)
	if t.bos >= 0 {
		tokens = append(tokens, t.bos)
	}
	return t.encode(tokens, text)
}

func (t *Tokenizer) encode(tokens []Token, text string) ([]Token, error) {
	var w word
	if t.words.composed {
		text = norm.NFC.String(text)
	}
	for len(text) > 0 {
		n := t.words.next(text)
		for i := range n {
			if t.bytes[text[i]] < 0 {
				return nil, fmt.Errorf("llama: the text has the byte 0x%02X, which the model's vocabulary cannot express", text[i])
			}
		}
		tokens = w.encode(tokens, t, text[:n])
		text = text[n:]
	}
	return tokens, nil
}

// A word is a list of tokens that are being joined: each symbol knows its
// neighbours, and the pairs that can be joined wait in a heap.
type word struct {
	symbols []symbol
	pairs   pairs
}

type symbol struct {
	token       Token // -1: joined into its left neighbour
	left, right int32 // -1 at the ends
}

// A pair is a symbol and its right neighbour, as they were when it was found.
type pair struct {
	at        int32
	left, to  Token
	rightward Token
	rank      int32
}

type pairs []pair

func (p pairs) Len() int      { return len(p) }
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].at < p[j].at
}
func (p *pairs) Push(x any) { *p = append(*p, x.(pair)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// encode appends the tokens of one word, each time joining the pair of lowest
// rank, the leftmost of several. The heap makes a word of n bytes n·log n work.
func (w *word) encode(tokens []Token, t *Tokenizer, text string) []Token {
	w.symbols, w.pairs = w.symbols[:0], w.pairs[:0]
	for i := range len(text) {
		w.symbols = append(w.symbols, symbol{t.bytes[text[i]], int32(i) - 1, int32(i) + 1})
	}
	w.symbols[len(text)-1].right = -1
	for i := range len(text) - 1 {
		w.find(t, int32(i))
	}
	for len(w.pairs) > 0 {
		p := heap.Pop(&w.pairs).(pair)
		s := &w.symbols[p.at]
		if s.token != p.left || s.right < 0 || w.symbols[s.right].token != p.rightward {
			continue // one of the two was joined with another meanwhile
		}
		r := &w.symbols[s.right]
		s.token, r.token, s.right = p.to, -1, r.right
		if s.right >= 0 {
			w.symbols[s.right].left = p.at
			w.find(t, p.at)
		}
		if s.left >= 0 {
			w.find(t, s.left)
		}
	}
	for i := int32(0); i >= 0; i = w.symbols[i].right {
		tokens = append(tokens, w.symbols[i].token)
	}
	return tokens
}

// find puts the symbol at i and its right neighbour on the heap, if they are a
// learned pair.
func (w *word) find(t *Tokenizer, i int32) {
	l, r := w.symbols[i].token, w.symbols[w.symbols[i].right].token
	if m, ok := t.merges[[2]Token{l, r}]; ok {
		heap.Push(&w.pairs, pair{at: i, left: l, rightward: r, to: m.to, rank: m.rank})
	}
}

// byteOfLetter is the alphabet of byte-level BPE (GPT-2, encoder.py): a byte that
// is a visible character of Latin-1 stands for itself, the others for the letters
// from U+0100 on.
var byteOfLetter = func() map[rune]byte {
	bytes := make(map[rune]byte, 256)
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if !('!' <= r && r <= '~' || '¡' <= r && r <= '¬' || '®' <= r && r <= 'ÿ') {
			r, next = next, next+1
		}
		bytes[r] = byte(b)
	}
	return bytes
}()

// whole returns the length of the part of text that ends with a whole letter:
// what comes behind is the beginning of one whose other bytes are yet to come.
func whole(text []byte) int {
	for back := 1; back <= min(utf8.UTFMax-1, len(text)); back++ {
		if rest := text[len(text)-back:]; utf8.RuneStart(rest[0]) {
			if utf8.FullRune(rest) {
				break
			}
			return len(text) - back
		}
	}
	return len(text)
}
