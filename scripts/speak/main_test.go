package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memorywall/pkg/llama"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/speak"
)

// recorded returns a measured machine of a file, in place of this one.
func recorded(context.Context, machine.Options) (machine.Machine, error) {
	return machine.Load(filepath.Join("..", "..", "pkg", "machine", "testdata", "schema1.json"))
}

// tiny writes a small model into a file of its own.
func tiny(t *testing.T) string {
	t.Helper()
	h, err := os.Open(filepath.Join("..", "..", "pkg", "llama", "testdata", "tiny-llama.gguf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	z, err := gzip.NewReader(h)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, &out, &errs, recorded)
	return code, out.String(), errs.String()
}

func TestAnswer(t *testing.T) {
	path := tiny(t)
	code, out, errs := call(t.Context(), "--model", path, "--tokens", "20", "--seed", "4", "Alice was")
	if code != 0 || !strings.Contains(out, "the roof allows") || !strings.Contains(errs, "continues the text") {
		t.Fatalf("code %d\n%s\n%s", code, out, errs)
	}
	text, _, _ := strings.Cut(out, "\n\nread ")
	if _, again, _ := call(t.Context(), "--model", path, "--tokens", "20", "--seed", "4", "Alice was"); !strings.HasPrefix(again, text+"\n\nread ") {
		t.Errorf("the same seed wrote %q, then %q", text, again)
	}
	code, out, _ = call(t.Context(), "--model", path, "--tokens", "20", "--seed", "4", "--batch", "3", "--threads", "1", "--json", "Alice was")
	var r map[string]any
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("code %d, %v\n%s", code, err, out)
	}
	var want string // JSON has no place for bytes that are no text
	if b, err := json.Marshal(text); err != nil || json.Unmarshal(b, &want) != nil {
		t.Fatal(err)
	}
	if r["text"] != want || len(r["texts"].([]any)) != 3 {
		t.Errorf("text %q, alone it was %q; texts %v", r["text"], text, r["texts"])
	}
	for _, key := range []string{"prompt_tokens", "prefill_tokens_per_s", "decode_tokens_per_s", "roof_tokens_per_s", "bytes_per_step"} {
		if v, ok := r[key].(float64); !ok || !(v > 0) {
			t.Errorf("%s is %v", key, r[key])
		}
	}
}

func TestMistakes(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.gguf")
	for want, args := range map[string][]string{
		"there is no question": {},
		"--tokens is 0":        {"--tokens", "0", "x"},
		"--threads is -1":      {"--threads", "-1", "x"},
		"--batch is 0":         {"--batch", "0", "x"},
		"--temperature is 0":   {"--model", tiny(t), "--temperature", "0", "x"},
		"invalid value":        {"--seed", "-1", "x"},
	} {
		if code, _, errs := call(t.Context(), args...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%v: code %d, %q: it must say %q", args, code, errs, want)
		}
	}
	if code, _, errs := call(t.Context(), "--model", none, "x"); code != 1 || !strings.Contains(errs, "none.gguf") {
		t.Errorf("no such file: code %d, %q", code, errs)
	}
	t.Setenv("MEMORYWALL_MODEL", none)
	if code, _, errs := call(t.Context(), "x"); code != 1 || !strings.Contains(errs, "./scripts/lesson --setup-only") {
		t.Errorf("no model: code %d, %q", code, errs)
	}
}

// What a model of a stranger writes does not steer a terminal, and elsewhere stays
// as it is.
func TestVisible(t *testing.T) {
	const text = "a\tb\n\x1b[31m"
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as terminals are
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if got := visible(device, text); got != "a\tb\n\\x1b[31m" {
		t.Errorf("%q", got)
	}
	if got := visible(&bytes.Buffer{}, text); got != text {
		t.Errorf("%q", got)
	}
}

// writer cancels after some text.
type writer struct {
	text   bytes.Buffer
	cancel func()
}

func (w *writer) Write(p []byte) (int, error) {
	if w.text.Len() > 20 {
		w.cancel()
	}
	return w.text.Write(p)
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &writer{cancel: cancel}, &bytes.Buffer{}
	code := run(ctx, []string{"--model", tiny(t), "--tokens", "200", "--temperature", "1", "Alice was"}, out, errs, recorded)
	if code != 130 || !strings.Contains(out.text.String(), "cut after") || !strings.Contains(errs.String(), "stopped") {
		t.Errorf("code %d\n%s\n%s", code, &out.text, errs)
	}
}

// TestParis asks the lesson's model what every reader will ask it.
func TestParis(t *testing.T) {
	if _, err := llama.FindModel(); errors.Is(err, llama.ErrNoModel) && os.Getenv("MEMORYWALL_MODEL") == "" {
		t.Skip(err)
	}
	for _, args := range [][]string{{"--greedy"}, {}} {
		code, out, errs := call(t.Context(), append(args, "--tokens", "30", "What is the capital of France?")...)
		if code != 0 || !strings.Contains(out, "Paris") {
			t.Errorf("%v: code %d: %s%s", args, code, out, errs)
		}
	}
}

// TestCountsOfTheFile: what a step reads of its weights is what the file holds.
func TestCountsOfTheFile(t *testing.T) {
	m, err := llama.Random(llama.Lesson(), matmul.Q4_1, matmul.Q8_0, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := speak.Decode(m, 1, 1, matmul.Float16)
	if want := float64(m.WeightBytes() + 140544); s.Weights != want { // norms: 61 vectors of 576 numbers
		t.Errorf("%g bytes of weights, want %g", s.Weights, want)
	}
	if s.KV != 23040 {
		t.Errorf("%g bytes of the cache, want 30·2·3·64·2", s.KV)
	}
	// By hand: 2 FLOPs for each weight of the matrices, and for one key 4 for each
	// element of the queries.
	if want := float64(2*(106168320+28311552) + 4*30*576); s.FLOPs != want {
		t.Errorf("%g FLOPs, want %g", s.FLOPs, want)
	}
	roof := speak.Roof{Read: 40e9, Peak: 400e9, Threads: 2}
	if got, want := roof.DecodeRate(m, 1, 0, 1, matmul.Float16), 40e9/s.Bytes(); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g tokens/s, want %g", got, want)
	}
	many := speak.Decode(m, 64, 1, matmul.Float16) // bound by the arithmetic
	if got, want := roof.DecodeRate(m, 64, 0, 1, matmul.Float16), 64*400e9/many.FLOPs; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g tokens/s of 64, want %g", got, want)
	}
	chunks := speak.Prefill(m, 700, 512, matmul.Float16)
	if len(chunks) != 2 || chunks[0].Tokens != 0 || chunks[1].Tokens != 1 || chunks[0].Weights >= chunks[1].Weights {
		t.Errorf("chunks %+v", chunks)
	}
}
