package llama

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Message is a part of a conversation.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// A template is the ChatML form of a conversation: each message between
// <|im_start|> and <|im_end|>, with its role on the first line.
type template struct {
	start, end Token
	system     string // the system message where the conversation has none; "" for none
}

var systemInTemplate = regexp.MustCompile(`(?s)<\|im_start\|>system(?:\\n|\n)([^'"{}|]*?)<\|im_end\|>`)

// readTemplate recognises the form of the file's template for conversations. A
// file without one, or with one of another form, has nil: its model continues
// texts, and [Tokenizer.Chat] says so.
func readTemplate(f *File, t *Tokenizer) (*template, error) {
	const key = "tokenizer.chat_template"
	if !f.Has(key) {
		return nil, nil
	}
	text, err := f.String(key)
	if err != nil {
		return nil, err
	}
	start, okStart := t.Special("<|im_start|>")
	end, okEnd := t.Special("<|im_end|>")
	if !okStart || !okEnd || !strings.Contains(text, "<|im_start|>") {
		return nil, nil
	}
	c := &template{start: start, end: end}
	if m := systemInTemplate.FindStringSubmatch(text); m != nil {
		c.system = m[1]
	}
	return c, nil
}

// ErrNoTemplate says that a model has no form for conversations that is known
// here: give it the text as it is.
var ErrNoTemplate = errors.New("the file has no template for conversations of the ChatML form")

// Chat returns the tokens of a conversation in the model's own form, up to where
// the model's answer begins. Control tokens come from the form alone: text in a
// message that looks like one stays text. It returns an error for an empty
// conversation, an unknown role, and a model without a form for conversations
// ([ErrNoTemplate]).
func (t *Tokenizer) Chat(messages ...Message) ([]Token, error) {
	if t.chat == nil {
		return nil, fmt.Errorf("llama: %w", ErrNoTemplate)
	}
	if len(messages) == 0 {
		return nil, fmt.Errorf("llama: a conversation without a message")
	}
	if messages[0].Role != "system" && t.chat.system != "" {
		messages = append([]Message{{"system", t.chat.system}}, messages...)
	}
	var tokens []Token
	var err error
	add := func(text string) {
		if err == nil {
			tokens, err = t.encode(tokens, text)
		}
	}
	for _, m := range messages {
		switch m.Role {
		case "system", "user", "assistant":
		default:
			return nil, fmt.Errorf("llama: a message has the role %q: it must be system, user or assistant", m.Role)
		}
		tokens = append(tokens, t.chat.start)
		add(m.Role + "\n" + m.Content)
		tokens = append(tokens, t.chat.end)
		add("\n")
	}
	tokens = append(tokens, t.chat.start)
	add("assistant\n")
	return tokens, err
}
