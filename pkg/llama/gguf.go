package llama

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// A File is a parsed GGUF file: what it says of the model, and its tensors. The
// form is that of the specification, docs/gguf.md of ggml, versions 2 and 3,
// little-endian.
type File struct {
	Version uint32
	Tensors []Tensor // in the order of the file

	meta    map[string]value
	byName  map[string]int
	release func() error
	intact  func() error // nil unless the file is mapped
}

// A Tensor is a matrix or vector of a file. Its data lie in the file's mapping.
type Tensor struct {
	Name string
	Type TensorType
	Dims []int // the length of a row first, as the file has them
	Data []byte
}

// TensorType is the number that a GGUF file gives to a form of storage.
type TensorType uint32

// A storage is how many weights share a block, and the bytes of the block.
type storage struct {
	name           string
	weights, bytes int
}

// The types that a file may name (enum ggml_type of ggml.h). Those that this
// package computes with are in formats; the others are known by name and size,
// so that a refusal can say what the file holds.
var storages = map[TensorType]storage{
	0: {"F32", 1, 4}, 1: {"F16", 1, 2}, 2: {"Q4_0", 32, 18}, 3: {"Q4_1", 32, 20},
	6: {"Q5_0", 32, 22}, 7: {"Q5_1", 32, 24}, 8: {"Q8_0", 32, 34}, 9: {"Q8_1", 32, 36},
	10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110}, 12: {"Q4_K", 256, 144}, 13: {"Q5_K", 256, 176},
	14: {"Q6_K", 256, 210}, 15: {"Q8_K", 256, 292}, 20: {"IQ4_NL", 32, 18}, 23: {"IQ4_XS", 256, 136},
	24: {"I8", 1, 1}, 25: {"I16", 1, 2}, 26: {"I32", 1, 4}, 27: {"I64", 1, 8}, 28: {"F64", 1, 8},
	30: {"BF16", 1, 2},
}

func (t TensorType) String() string {
	if s, ok := storages[t]; ok {
		return s.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// What makes a file invalid. Errors of [Parse] and [Open] wrap one of them and
// say where in the file it is.
var (
	ErrMagic     = errors.New("not a GGUF file")
	ErrVersion   = errors.New("unknown GGUF version")
	ErrTruncated = errors.New("truncated file")
	ErrOverlong  = errors.New("overlong file")
	ErrOverlap   = errors.New("overlapping tensors")
	ErrCount     = errors.New("invalid count")
	ErrType      = errors.New("unknown type")
	ErrMetadata  = errors.New("invalid metadata")
	ErrTensor    = errors.New("invalid tensor")
	ErrChanged   = errors.New("file changed while it was in use")
)

const (
	maxEntries   = 1 << 16 // metadata keys, or tensors: far more than any model has
	maxName      = 1 << 10 // bytes of a key or of a tensor's name
	maxDims      = 4
	maxAlignment = 1 << 20
)

// Parse reads a GGUF file that lies in memory. Every count and offset is
// checked against the length of data before it is used: an invalid file gets an
// error that wraps one of the Err values, and takes no more memory than a
// few times its header.
func Parse(data []byte) (*File, error) {
	r := &reader{data: data}
	f := &File{meta: map[string]value{}, byName: map[string]int{}}
	if string(r.take(4)) != "GGUF" {
		return nil, fmt.Errorf("llama: %w: it begins with %q, not with \"GGUF\"", ErrMagic, data[:min(4, len(data))])
	}
	f.Version = r.u32()
	if r.err == nil && f.Version != 2 && f.Version != 3 {
		return nil, fmt.Errorf("llama: %w %d: versions 2 and 3 can be read (a big-endian file has such a number too)", ErrVersion, f.Version)
	}
	tensors, keys := r.count("tensors", 24), r.count("metadata keys", 13)
	for range keys {
		r.keyValue(f.meta)
	}
	align := uint64(32)
	if v, ok := f.meta["general.alignment"]; ok && r.err == nil {
		a, ok := v.integer()
		if !ok || v.n >= 0 || a < 1 || a > maxAlignment || a&(a-1) != 0 {
			return nil, fmt.Errorf("llama: %w: general.alignment must be a power of two up to %d", ErrMetadata, maxAlignment)
		}
		align = uint64(a)
	}
	var offsets []uint64
	for range tensors {
		t, offset := r.tensor(align)
		if r.err != nil {
			break
		}
		if _, again := f.byName[t.Name]; again {
			return nil, fmt.Errorf("llama: %w: duplicate name %q", ErrTensor, t.Name)
		}
		f.byName[t.Name] = len(f.Tensors)
		f.Tensors, offsets = append(f.Tensors, t), append(offsets, offset)
	}
	if r.err != nil {
		return nil, r.err
	}
	return f, f.place(data, r.at, align, offsets)
}

// place gives each tensor its data, which begin at the first aligned byte after
// the header, lie apart, and fill the file.
func (f *File) place(data []byte, header int, align uint64, offsets []uint64) error {
	if len(offsets) == 0 {
		return fmt.Errorf("llama: %w: the file has no tensors", ErrTensor)
	}
	up := func(n uint64) uint64 { return (n + align - 1) / align * align }
	start := up(uint64(header))
	order := make([]int, len(offsets))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	end, before := uint64(0), ""
	for _, i := range order {
		t := &f.Tensors[i]
		size, err := t.size()
		if err != nil {
			return err
		}
		if offsets[i] < end {
			return fmt.Errorf("llama: %w: %q begins at byte %d of the data, before the end of %q at %d",
				ErrOverlap, t.Name, offsets[i], before, end)
		}
		if start > uint64(len(data)) || offsets[i] > uint64(len(data))-start || size > uint64(len(data))-start-offsets[i] {
			return fmt.Errorf("llama: %w: %q needs %d bytes at byte %d of the data: the file has %d bytes",
				ErrTruncated, t.Name, size, offsets[i], len(data))
		}
		at := start + offsets[i]
		t.Data = data[at : at+size : at+size]
		end, before = offsets[i]+size, t.Name
	}
	if last := start + up(end); uint64(len(data)) > last {
		return fmt.Errorf("llama: %w: %d bytes, and its last tensor ends at %d", ErrOverlong, len(data), last)
	}
	return nil
}

// size returns the bytes of the tensor's data.
func (t *Tensor) size() (uint64, error) {
	s := storages[t.Type]
	if t.Dims[0]%s.weights != 0 {
		return 0, fmt.Errorf("llama: %w: %q has rows of %d weights: %s has blocks of %d", ErrTensor, t.Name, t.Dims[0], s.name, s.weights)
	}
	n := uint64(t.Dims[0]/s.weights) * uint64(s.bytes) // at most 2⁴⁰·292
	for _, d := range t.Dims[1:] {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 {
			return 0, fmt.Errorf("llama: %w: %q has dimensions %v: more bytes than can be counted", ErrCount, t.Name, t.Dims)
		}
		n = lo
	}
	return n, nil
}

// Tensor returns the tensor of that name, or an error that names it.
func (f *File) Tensor(name string) (*Tensor, error) {
	i, ok := f.byName[name]
	if !ok {
		return nil, fmt.Errorf("llama: %w: the file has no %q", ErrTensor, name)
	}
	return &f.Tensors[i], nil
}

// Has reports whether the metadata have the key.
func (f *File) Has(key string) bool { _, ok := f.meta[key]; return ok }

// String returns the text under a metadata key.
func (f *File) String(key string) (string, error) { return get(f, key, "a text", false, value.text) }

// Int returns the whole number under a metadata key.
func (f *File) Int(key string) (int64, error) {
	return get(f, key, "a whole number", false, value.integer)
}

// Float returns the number under a metadata key.
func (f *File) Float(key string) (float64, error) {
	return get(f, key, "a finite number", false, value.float)
}

// Bool returns the truth value under a metadata key.
func (f *File) Bool(key string) (bool, error) {
	return get(f, key, "true or false", false, value.truth)
}

// Strings returns the list of texts under a metadata key.
func (f *File) Strings(key string) ([]string, error) {
	return get(f, key, "an array of texts", true, value.texts)
}

// Ints returns the list of whole numbers under a metadata key.
func (f *File) Ints(key string) ([]int64, error) {
	return get(f, key, "an array of whole numbers", true, value.integers)
}

// get returns the value under a key as what it must be, an array or a single one.
func get[T any](f *File, key, want string, array bool, as func(value) (T, bool)) (x T, err error) {
	v, ok := f.meta[key]
	if !ok {
		return x, fmt.Errorf("llama: %w: the key %q is missing", ErrMetadata, key)
	}
	if (v.n >= 0) == array {
		if x, ok := as(v); ok {
			return x, nil
		}
	}
	have := fmt.Sprintf("of type %d", v.kind)
	if v.n >= 0 {
		have = fmt.Sprintf("an array of %d %s", v.n, have)
	}
	return x, fmt.Errorf("llama: %w: %q is %s: it must be %s", ErrMetadata, key, have, want)
}

// A kind is the number that GGUF gives to a type of metadata.
type kind uint32

const (
	kindU8 kind = iota
	kindI8
	kindU16
	kindI16
	kindU32
	kindI32
	kindF32
	kindBool
	kindString
	kindArray
	kindU64
	kindI64
	kindF64
	kinds
)

// kindBytes is the size of one value, 0 where it varies.
var kindBytes = [kinds]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

// A value is one entry of the metadata: n values of a kind, still as the file
// has them. A single one that is no array has n = -1.
type value struct {
	kind kind
	n    int
	raw  []byte
}

// element returns the bits of the i-th value, which has a fixed size, and that.
func (v value) element(i int) (bits uint64, size int) {
	size = kindBytes[v.kind]
	for j, b := range v.raw[i*size:][:size] {
		bits |= uint64(b) << (8 * j)
	}
	return bits, size
}

func (v value) integer() (int64, bool) { return v.whole(0) }

// whole is the i-th value as a whole number, if it is one.
func (v value) whole(i int) (int64, bool) {
	switch v.kind {
	case kindI8, kindI16, kindI32, kindI64:
		bits, size := v.element(i)
		unused := 64 - 8*size
		return int64(bits<<unused) >> unused, true
	case kindU8, kindU16, kindU32, kindU64:
		bits, _ := v.element(i)
		return int64(bits), bits <= math.MaxInt64
	}
	return 0, false
}

// float is a single value as a finite number, if it is one.
func (v value) float() (float64, bool) {
	var x float64
	switch v.kind {
	case kindF32:
		bits, _ := v.element(0)
		x = float64(math.Float32frombits(uint32(bits)))
	case kindF64:
		bits, _ := v.element(0)
		x = math.Float64frombits(bits)
	default:
		i, ok := v.whole(0)
		return float64(i), ok
	}
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

func (v value) truth() (bool, bool) { return v.kind == kindBool && v.raw[0] != 0, v.kind == kindBool }

func (v value) text() (string, bool) {
	if v.kind != kindString {
		return "", false
	}
	return string(v.raw[8:]), true
}

func (v value) texts() ([]string, bool) {
	if v.kind != kindString {
		return nil, false
	}
	all, raw := make([]string, v.n), v.raw
	for i := range all {
		n := binary.LittleEndian.Uint64(raw)
		all[i] = string(raw[8 : 8+n])
		raw = raw[8+n:]
	}
	return all, true
}

func (v value) integers() ([]int64, bool) {
	all := make([]int64, v.n)
	for i := range all {
		var ok bool
		if all[i], ok = v.whole(i); !ok {
			return nil, false
		}
	}
	return all, true
}

// A reader walks through the header. After the first error it reads zeros.
type reader struct {
	data []byte
	at   int
	err  error
}

// fail keeps the first error.
func (r *reader) fail(kind error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("llama: %w: byte %d: %s", kind, r.at, fmt.Sprintf(format, args...))
	}
}

// take returns the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)-r.at) {
		r.fail(ErrTruncated, "%d bytes are needed here, and the file has %d more", n, len(r.data)-r.at)
	}
	if r.err != nil {
		return nil
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads how many entries follow, each of at least so many bytes.
func (r *reader) count(what string, each uint64) int {
	n := r.u64()
	if n > maxEntries || n > uint64(len(r.data))/each {
		r.fail(ErrCount, "%d %s in a file of %d bytes: at most %d can be", n, what, len(r.data),
			min(maxEntries, uint64(len(r.data))/each))
		return 0
	}
	return int(n)
}

// name reads a key or the name of a tensor.
func (r *reader) name(what string) string {
	n := r.u64()
	if n == 0 || n > maxName {
		r.fail(ErrCount, "%s of %d bytes: it must have 1 to %d", what, n, maxName)
	}
	b := r.take(n)
	if !utf8.Valid(b) {
		r.fail(ErrMetadata, "%s %q is no UTF-8", what, b)
	}
	return string(b)
}

func (r *reader) keyValue(meta map[string]value) {
	key := r.name("a key")
	v := value{kind: kind(r.u32()), n: -1}
	if v.kind == kindArray {
		v.kind = kind(r.u32())
		if v.kind == kindArray {
			r.fail(ErrType, "%q is an array of arrays, which no model has", key)
		}
		n := r.u64()
		if n > uint64(len(r.data)-r.at) {
			r.fail(ErrCount, "%q has %d values, and the file has %d more bytes", key, n, len(r.data)-r.at)
		}
		v.n = int(n)
	}
	if v.kind >= kinds {
		r.fail(ErrType, "%q has values of type %d", key, v.kind)
	}
	if r.err != nil {
		return
	}
	start := r.at
	switch n := uint64(max(v.n, 1)); {
	case v.n == 0:
	case v.kind == kindString:
		for i := uint64(0); i < n && r.err == nil; i++ {
			r.take(r.u64())
		}
	default:
		r.take(n * uint64(kindBytes[v.kind])) // n is at most the file's length
	}
	if _, again := meta[key]; again {
		r.fail(ErrMetadata, "duplicate key %q", key)
	}
	if r.err == nil {
		v.raw = r.data[start:r.at]
		meta[strings.Clone(key)] = v
	}
}

// tensor reads what the header says of one tensor.
func (r *reader) tensor(align uint64) (Tensor, uint64) {
	t := Tensor{Name: r.name("a tensor's name")}
	dims := r.u32()
	if dims < 1 || dims > maxDims {
		r.fail(ErrCount, "%q has %d dimensions: it must have 1 to %d", t.Name, dims, maxDims)
	}
	for i := uint32(0); i < dims && r.err == nil; i++ {
		d := r.u64()
		if d < 1 || d > 1<<40 {
			r.fail(ErrCount, "%q has a dimension of %d", t.Name, d)
		}
		if d > math.MaxInt {
			r.fail(ErrCount, "%q has a dimension of %d, more than this machine can count", t.Name, d)
		}
		t.Dims = append(t.Dims, int(d))
	}
	t.Type = TensorType(r.u32())
	if _, known := storages[t.Type]; !known {
		r.fail(ErrType, "%q is stored as type %d", t.Name, uint32(t.Type))
	}
	offset := r.u64()
	if offset%align != 0 {
		r.fail(ErrTensor, "%q begins at byte %d of the data, which is no multiple of %d", t.Name, offset, align)
	}
	return t, offset
}
