package llama

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A ggufWriter writes GGUF files for tests, valid or not.
type ggufWriter struct{ bytes.Buffer }

func (w *ggufWriter) put(vs ...any) *ggufWriter {
	for _, v := range vs {
		switch v := v.(type) {
		case string:
			binary.Write(w, binary.LittleEndian, uint64(len(v)))
			w.WriteString(v)
		default:
			binary.Write(w, binary.LittleEndian, v)
		}
	}
	return w
}

func header(tensors, keys uint64) *ggufWriter {
	w := &ggufWriter{}
	w.WriteString("GGUF")
	return w.put(uint32(3), tensors, keys)
}

// tensor appends what the header says of one tensor.
func (w *ggufWriter) tensor(name string, kind uint32, offset uint64, dims ...uint64) *ggufWriter {
	w.put(name, uint32(len(dims)))
	for _, d := range dims {
		w.put(d)
	}
	return w.put(kind, offset)
}

// data pads to a multiple of 32 and appends n bytes.
func (w *ggufWriter) data(n int) []byte {
	w.Write(make([]byte, (32-w.Len()%32)%32+n))
	return w.Bytes()
}

func TestParse(t *testing.T) {
	w := header(2, 6).
		put("a.text", uint32(kindString), "hello").
		put("a.int", uint32(kindU32), uint32(7)).
		put("a.float", uint32(kindF32), float32(0.5)).
		put("a.truth", uint32(kindBool), uint8(1)).
		put("a.texts", uint32(kindArray), uint32(kindString), uint64(2), "x", "").
		put("a.ints", uint32(kindArray), uint32(kindI8), uint64(2), int8(-1), int8(2)).
		tensor("second", 0, 64, 3).
		tensor("first", 8, 0, 32, 1)
	f, err := Parse(w.data(64 + 12))
	if err != nil {
		t.Fatal(err)
	}
	text, err1 := f.String("a.text")
	n, err2 := f.Int("a.int")
	x, err3 := f.Float("a.float")
	truth, err4 := f.Bool("a.truth")
	texts, err5 := f.Strings("a.texts")
	ints, err6 := f.Ints("a.ints")
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %v %v %v %v %v", text, n, x, truth, texts, ints); got != "hello 7 0.5 true [x ] [-1 2]" {
		t.Errorf("metadata: %s", got)
	}
	first, err := f.Tensor("first")
	if err != nil || len(first.Data) != 34 {
		t.Errorf("first: %d bytes, %v", len(first.Data), err)
	}
	for _, err := range []error{
		func() error { _, err := f.Int("a.none"); return err }(),
		func() error { _, err := f.Int("a.text"); return err }(),
		func() error { _, err := f.Int("a.ints"); return err }(),
		func() error { _, err := f.Strings("a.ints"); return err }(),
		func() error { _, err := f.Ints("a.texts"); return err }(),
		func() error { _, err := f.String("a.texts"); return err }(),
	} {
		if !errors.Is(err, ErrMetadata) || !strings.Contains(err.Error(), "a.") {
			t.Errorf("a wrong key: %v", err)
		}
	}
}

// TestHostileFiles gives each kind of invalid file its named error.
func TestHostileFiles(t *testing.T) {
	good := func() *ggufWriter { return header(1, 0).tensor("t", 0, 0, 8) }
	valid := good().data(32)
	if _, err := Parse(valid); err != nil {
		t.Fatal(err)
	}
	one := func(key ...any) []byte { return header(1, 1).put(key...).tensor("t", 0, 0, 8).data(32) }
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":                  {nil, ErrMagic},
		"magic":                  {append([]byte("GGML"), valid[4:]...), ErrMagic},
		"version 1":              {func() []byte { b := bytes.Clone(valid); b[4] = 1; return b }(), ErrVersion},
		"big-endian":             {func() []byte { b := bytes.Clone(valid); b[4], b[7] = 0, 3; return b }(), ErrVersion},
		"truncated header":       {valid[:30], ErrTruncated},
		"truncated data":         {valid[:len(valid)-1], ErrTruncated},
		"overlong":               {append(bytes.Clone(valid), make([]byte, 64)...), ErrOverlong},
		"no tensors":             {header(0, 0).data(0), ErrTensor},
		"huge tensor count":      {header(1<<60, 0).data(0), ErrCount},
		"huge key count":         {header(1, 1<<62).data(0), ErrCount},
		"more tensors than said": {header(2, 0).tensor("t", 0, 0, 8).data(32), ErrCount},
		"overlapping":            {header(2, 0).tensor("t", 0, 0, 16).tensor("u", 0, 32, 8).data(64), ErrOverlap},
		"same place":             {header(2, 0).tensor("t", 0, 0, 8).tensor("u", 0, 0, 8).data(64), ErrOverlap},
		"duplicate tensor":       {header(2, 0).tensor("t", 0, 0, 8).tensor("t", 0, 32, 8).data(64), ErrTensor},
		"unaligned":              {header(1, 0).tensor("t", 0, 4, 8).data(64), ErrTensor},
		"offset overflow":        {header(1, 0).tensor("t", 0, 1<<64-32, 8).data(32), ErrTruncated},
		"unknown tensor type":    {header(1, 0).tensor("t", 99, 0, 8).data(32), ErrType},
		"zero dimension":         {header(1, 0).tensor("t", 0, 0, 8, 0).data(32), ErrCount},
		"huge dimension":         {header(1, 0).tensor("t", 0, 0, 1<<62).data(32), ErrCount},
		"dimensions overflow":    {header(1, 0).tensor("t", 0, 0, 1<<40, 1<<40, 1<<40, 1<<40).data(32), ErrCount},
		"no dimension":           {header(1, 0).tensor("t", 0, 0).data(32), ErrCount},
		"five dimensions":        {header(1, 0).tensor("t", 0, 0, 1, 1, 1, 1, 1).data(32), ErrCount},
		"part of a block":        {header(1, 0).tensor("t", 8, 0, 31).data(64), ErrTensor},
		"huge name":              {header(1, 0).put(uint64(1<<63), "x").data(64), ErrCount},
		"empty name":             {header(1, 0).tensor("", 0, 0, 8).data(64), ErrCount},
		"name that is no text":   {header(1, 0).tensor("\xff", 0, 0, 8).data(64), ErrMetadata},
		"unknown value type":     {one("k", uint32(13)), ErrType},
		"array of arrays":        {one("k", uint32(kindArray), uint32(kindArray), uint64(1), uint32(kindArray)), ErrType},
		"huge array":             {one("k", uint32(kindArray), uint32(kindU64), uint64(1<<61)), ErrCount},
		"array past the end":     {one("k", uint32(kindArray), uint32(kindU64), uint64(60)), ErrTruncated},
		"huge text":              {one("k", uint32(kindString), uint64(1<<63)), ErrTruncated},
		"huge texts":             {one("k", uint32(kindArray), uint32(kindString), uint64(2), "", uint64(1<<63)), ErrTruncated},
		"duplicate key":          {header(1, 2).put("k", uint32(kindU8), uint8(1), "k", uint32(kindU8), uint8(1)).tensor("t", 0, 0, 8).data(32), ErrMetadata},
		"alignment 0":            {one("general.alignment", uint32(kindU32), uint32(0)), ErrMetadata},
		"alignment 48":           {one("general.alignment", uint32(kindU32), uint32(48)), ErrMetadata},
		"alignment text":         {one("general.alignment", uint32(kindString), "32"), ErrMetadata},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Parse(c.data)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<16 {
				t.Errorf("%d bytes were allocated for a file of %d", n, len(c.data))
			}
		})
	}
}

// TestHostileModels damages one thing of a valid model at a time: it must be
// refused with the thing's name.
func TestHostileModels(t *testing.T) {
	data := unzip(t, "tiny-llama.gguf.gz")
	parseModel(t, data)
	for name, c := range map[string]struct {
		old, new string // of equal length
		want     string // in the error
	}{
		"architecture":     {"\x05\x00\x00\x00\x00\x00\x00\x00llama", "\x05\x00\x00\x00\x00\x00\x00\x00mamba", `architecture is "mamba"`},
		"absent key":       {"llama.block_count", "llama.block_xount", "llama.block_count"},
		"absent tensor":    {"blk.1.ffn_down.weight", "blk.1.ffn_xxxx.weight", "blk.1.ffn_down.weight"},
		"absent tokens":    {"tokenizer.ggml.tokens", "tokenizer.ggml.xxxxxx", "tokenizer.ggml.tokens"},
		"absent merges":    {"tokenizer.ggml.merges", "tokenizer.ggml.xxxxxx", "tokenizer.ggml.merges"},
		"absent types":     {"tokenizer.ggml.token_type", "tokenizer.ggml.xxxxx_type", "tokenizer.ggml.token_type"},
		"absent end":       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.xxx_token_id", "tokenizer.ggml.eos_token_id"},
		"SentencePiece":    {"\x04\x00\x00\x00\x00\x00\x00\x00gpt2", "\x04\x00\x00\x00\x00\x00\x00\x00bert", `kind "bert"`},
		"word rule":        {"llama-bpe", "llama-xxx", `"llama-xxx"`},
		"many layers":      {"llama.block_count\x04\x00\x00\x00\x02", "llama.block_count\x04\x00\x00\x00\x07", "blk.2."},
		"few layers":       {"llama.block_count\x04\x00\x00\x00\x02", "llama.block_count\x04\x00\x00\x00\x01", "blk.1."},
		"no layers":        {"llama.block_count\x04\x00\x00\x00\x02", "llama.block_count\x04\x00\x00\x00\x00", "block_count is 0"},
		"heads":            {"llama.attention.head_count\x04\x00\x00\x00\x04", "llama.attention.head_count\x04\x00\x00\x00\x03", "must divide"},
		"width":            {"llama.embedding_length\x04\x00\x00\x00\x20", "llama.embedding_length\x04\x00\x00\x00\x24", "token_embd.weight"},
		"rotation in part": {"llama.rope.dimension_count\x04\x00\x00\x00\x08", "llama.rope.dimension_count\x04\x00\x00\x00\x04", "RoPE over 4 of the 8"},
		"end out of range": {"eos_token_id\x04\x00\x00\x00\x61\x01", "eos_token_id\x04\x00\x00\x00\x62\x01", "eos_token_id"},
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Count(data, []byte(c.old)) != 1 && name != "architecture" {
				t.Fatalf("%q occurs %d times", c.old, bytes.Count(data, []byte(c.old)))
			}
			f, err := Parse(bytes.Replace(data, []byte(c.old), []byte(c.new), 1))
			if err == nil {
				_, err = newModel(f)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v: it must say %q", err, c.want)
			}
		})
	}
	for key, value := range map[string]any{
		"expert_count": uint32(8), "attention.sliding_window": uint32(128), "rope.scaling.type": "yarn",
		"attention.value_length": uint32(16), "rope.scale_linear": float32(4),
	} {
		t.Run(key, func(t *testing.T) {
			f, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			w := &ggufWriter{}
			w.put(value)
			kinds := map[string]kind{"string": kindString, "uint32": kindU32, "float32": kindF32}
			f.meta["llama."+key] = valueOf(kinds[fmt.Sprintf("%T", value)], w.Bytes())
			if _, err = newModel(f); err == nil || !strings.Contains(err.Error(), "not supported") {
				t.Errorf("error %v: it must say that it is not supported", err)
			}
		})
	}
}

func valueOf(k kind, raw []byte) value { return value{kind: k, n: -1, raw: raw} }

// TestTruncatedWhileMapped cuts a file short under the feet of a model: an error,
// not the end of the program.
func TestTruncatedWhileMapped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped there")
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	data := unzip(t, "tiny-llama.gguf.gz")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r := runner(t, m, Options{})
	c := cache(t, m, 16, 0)
	if _, err := r.Prefill(t.Context(), c, []Token{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(data))/2); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Decode(t.Context(), []*Cache{c}, []Token{4}); !errors.Is(err, ErrChanged) {
		t.Errorf("cut before the step: %v", err)
	}
	m.file.intact = nil // as if it were cut between the look at its size and the use of its bytes
	if _, err := r.Decode(t.Context(), []*Cache{c}, []Token{4}); !errors.Is(err, ErrChanged) {
		t.Errorf("cut within the step: %v", err)
	}
	if _, err := Load(path); !errors.Is(err, ErrTruncated) {
		t.Errorf("loaded again: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.gguf")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.gguf"): "none.gguf",
		dir:                             "no regular file",
		empty:                           "0 bytes",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v: it must say %q", path, err, want)
		}
	}
	t.Setenv("MEMORYWALL_MODEL", filepath.Join(dir, "none.gguf"))
	if _, err := FindModel(); !errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), "./scripts/lesson --setup-only") {
		t.Errorf("no model: %v", err)
	}
}

// FuzzParse: an invalid file gets an error that wraps one of the named ones, and
// a model that is accepted can be run.
func FuzzParse(f *testing.F) {
	f.Add(header(1, 0).tensor("t", 0, 0, 8).data(32))
	f.Add(header(1, 1).put("k", uint32(kindArray), uint32(kindString), uint64(2), "a", "b").tensor("t", 8, 0, 32).data(64))
	for _, name := range []string{"llama", "qwen2", "qwen3"} {
		f.Add(unzip(f, "tiny-"+name+".gguf.gz"))
	}
	named := []error{ErrMagic, ErrVersion, ErrTruncated, ErrOverlong, ErrOverlap, ErrCount, ErrType, ErrMetadata, ErrTensor}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			for _, n := range named {
				if errors.Is(err, n) {
					return
				}
			}
			t.Fatalf("an error without a name: %v", err)
		}
		for _, tensor := range file.Tensors {
			if len(tensor.Data) > len(data) {
				t.Fatalf("%s has %d bytes in a file of %d", tensor.Name, len(tensor.Data), len(data))
			}
		}
		m, err := newModel(file)
		if err != nil || m.Context > 1<<12 {
			return
		}
		r, err := m.NewRunner(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		c, err := m.NewCache(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Prefill(t.Context(), c, []Token{0}); err != nil {
			t.Fatal(err)
		}
	})
}
