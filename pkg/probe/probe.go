// Package probe holds the loops that find the roofs of a processor: multiply-adds
// in registers and nothing else (its peak), reads, copies and triads of an array
// (its bandwidths), and a chain of adds (its clock). Each exists in assembly for
// every instruction set, and in plain Go, which says what the assembly equals.
//
// The loops do their work and keep no time: package bench times them.
package probe

//go:generate sh -c "cd ../_asm && go run ./probe ../probe"

import (
	"fmt"
	"strings"
	"unsafe"
)

// The names of the instruction sets. Scalar is one number at a time, in
// assembly; Go is plain Go, which exists everywhere.
const (
	AVX512 = "avx512"
	AVX2   = "avx2"
	SSE2   = "sse2"
	NEON   = "neon"
	Scalar = "scalar"
	Go     = "go"
)

// RoundBytes is what one round of a memory loop takes of each array. The
// lengths of the arrays are multiples of it.
const RoundBytes = 512

// AlignBytes is what the addresses of the arrays are multiples of: one cache
// line of most CPUs, and the widest vector.
const AlignBytes = 64

// Float is a floating-point type that has loops.
type Float interface{ float32 | float64 }

// Number is a type of sums: of products in the same type, or an int32 for products of
// bytes, four at a time.
type Number interface{ Float | int32 }

// ComputeISAs names the instruction sets that [NewCompute] takes on this CPU,
// the widest first. The last is [Go].
func ComputeISAs[T Number]() []string {
	return names(computes[T](), func(c compute[T]) string { return c.isa })
}

// MemoryISAs names the instruction sets that [NewMemory] takes on this CPU, the
// widest first. The last is [Go].
func MemoryISAs() []string { return names(memories(), func(m memory) string { return m.isa }) }

func names[T any](all []T, name func(T) string) []string {
	var s []string
	for _, x := range all {
		s = append(s, name(x))
	}
	return s
}

// find returns the one called isa, or the first for "".
func find[T any](all []T, isa string, name func(T) string) (T, error) {
	for _, x := range all {
		if isa == "" || name(x) == isa {
			return x, nil
		}
	}
	var none T
	return none, fmt.Errorf("probe: ISA is %q: this machine has %s", isa, strings.Join(names(all, name), ", "))
}

// A form is what a loop does to each of its numbers s in a round.
type form int

const (
	sums      form = iota // s += x·y
	steps                 // s = s·x + y
	mulAdd                // s *= x for the first half of them, s += y for the second
	dots                  // s += x₀·y₀ + x₁·y₁ + x₂·y₂ + x₃·y₃ of the bytes of x and y
	dotsApart             // the same in several instructions
)

// compute is a loop of multiply-adds. Its state is x, y, then the numbers.
type compute[T Number] struct {
	isa     string
	form    form
	numbers int
	loop    func(n int, p *T)
}

// computes lists the loops of this CPU, the widest first.
func computes[T Number]() []compute[T] {
	for _, all := range []any{computes32(), computes64(), computes8()} {
		if all, ok := all.([]compute[T]); ok {
			return all
		}
	}
	panic("probe: no such type")
}

// A Compute does multiply-adds in registers and nothing else. Timed, it gives
// the peak of one core. It is for one goroutine at a time.
type Compute[T Number] struct {
	compute compute[T]
	state   []T // x, y, then the numbers
}

// NewCompute returns the loop of an instruction set of [ComputeISAs], "" for
// the widest. Its numbers are of plain size and stay so however long it runs.
func NewCompute[T Number](isa string) (*Compute[T], error) {
	c, err := find(computes[T](), isa, func(c compute[T]) string { return c.isa })
	if err != nil {
		return nil, err
	}
	k := &Compute[T]{compute: c, state: make([]T, 2+c.numbers)}
	switch s := any(k.state).(type) {
	case []float32:
		begin(c.form, s)
	case []float64:
		begin(c.form, s)
	case []int32:
		s[0], s[1] = 0x5a3c6967, -0x12345679
	}
	return k, nil
}

// begin sets the state of a loop. Bits are mixed: some CPUs run faster on numbers that
// are mostly zeros. A sum grows by very little, so that it stays plain for hours.
func begin[T Float](f form, state []T) {
	switch f {
	case sums:
		state[0], state[1] = 0.7390851332151607, 1e-9
	case steps:
		state[0], state[1] = 0.7390851332151607, 0.1415926535897932
	case mulAdd:
		state[0], state[1] = 1, 1e-9
	}
	for i := range state[2:] {
		state[2+i] = 0.5 + T(i)/64
	}
}

// ISA names the instruction set.
func (c *Compute[T]) ISA() string { return c.compute.isa }

// Fused says whether the loop is made of multiply-adds: s += x·y, or in plain
// Go s = s·x + y, for every number s. Where the CPU has no such instruction, the
// first half of the numbers is multiplied by x, and y is added to the second
// half. For sums of products of bytes it says that one instruction does it all.
func (c *Compute[T]) Fused() bool { return c.compute.form != mulAdd && c.compute.form != dotsApart }

// FLOPs returns what one round of [Compute.Run] does: a multiply-add is 2, of bytes
// too.
func (c *Compute[T]) FLOPs() int {
	return c.compute.numbers * map[form]int{sums: 2, steps: 2, mulAdd: 1, dots: 8, dotsApart: 8}[c.compute.form]
}

// Run does rounds rounds; below 1 it does nothing.
func (c *Compute[T]) Run(rounds int) {
	if rounds >= 1 {
		c.compute.loop(rounds, &c.state[0])
	}
}

// memory is the loops over arrays of one instruction set.
type memory struct {
	isa                string
	load               func(p *byte, rounds, passes int, out *uint64)
	copy, copyStream   func(dst, src *byte, rounds, passes int)
	triad, triadStream func(a, b, c, s *float64, rounds, passes int)
}

// Memory reads and writes arrays. Timed, it gives the bandwidths of one core.
type Memory struct{ m memory }

// NewMemory returns the loops of an instruction set of [MemoryISAs], "" for the
// widest.
func NewMemory(isa string) (Memory, error) {
	m, err := find(memories(), isa, func(m memory) string { return m.isa })
	return Memory{m}, err
}

// ISA names the instruction set.
func (m Memory) ISA() string { return m.m.isa }

// Streams says whether the loops exist with streaming (non-temporal) stores,
// which write a line without reading it first.
func (m Memory) Streams() bool { return m.m.copyStream != nil }

// Load reads p, passes times over. It returns an error unless p is aligned to
// [AlignBytes], its length is a positive multiple of [RoundBytes], and passes
// is positive.
func (m Memory) Load(p []byte, passes int) error {
	_, err := m.read(p, passes)
	return err
}

// read returns the exclusive or of the words that the loop has kept.
func (m Memory) read(p []byte, passes int) (uint64, error) {
	if err := m.check(passes, p); err != nil {
		return 0, err
	}
	var out [8]uint64
	m.m.load(&p[0], len(p)/RoundBytes, passes, &out[0])
	var x uint64
	for _, w := range out {
		x ^= w
	}
	return x, nil
}

// Copy copies src to dst, passes times over, with streaming stores if asked
// and if [Memory.Streams]. It returns an error unless the arrays are of the same
// length, do not overlap, and are as those of [Memory.Load].
func (m Memory) Copy(dst, src []byte, passes int, streaming bool) error {
	if err := m.check(passes, dst, src); err != nil {
		return err
	}
	loop := m.m.copy
	if streaming && m.Streams() {
		loop = m.m.copyStream
	}
	loop(&dst[0], &src[0], len(dst)/RoundBytes, passes)
	return nil
}

// Triad does a[i] = b[i] + s·c[i], passes times over, on arrays of float64 given
// as bytes, otherwise as [Memory.Copy] does.
func (m Memory) Triad(a, b, c []byte, s float64, passes int, streaming bool) error {
	if err := m.check(passes, a, b, c); err != nil {
		return err
	}
	loop := m.m.triad
	if streaming && m.Streams() {
		loop = m.m.triadStream
	}
	loop(number(a), number(b), number(c), &s, len(a)/RoundBytes, passes)
	return nil
}

func number(p []byte) *float64 { return (*float64)(unsafe.Pointer(&p[0])) }

// Numbers returns the float64s that p holds, less what does not fill one.
// p must be aligned to 8 bytes, as what [Alloc] returns is.
func Numbers(p []byte) []float64 {
	if len(p) < 8 {
		return nil
	}
	return unsafe.Slice(number(p), len(p)/8)
}

func (m Memory) check(passes int, arrays ...[]byte) error {
	if m.m.load == nil {
		return fmt.Errorf("probe: the Memory has no loops: take it from NewMemory")
	}
	if passes < 1 {
		return fmt.Errorf("probe: passes is %d: it must be at least 1", passes)
	}
	for i, p := range arrays {
		switch {
		case len(p) == 0 || len(p)%RoundBytes != 0:
			return fmt.Errorf("probe: array %d has %d bytes: the length must be a positive multiple of %d", i, len(p), RoundBytes)
		case len(p) != len(arrays[0]):
			return fmt.Errorf("probe: array %d has %d bytes: the first has %d, and all must be equally long", i, len(p), len(arrays[0]))
		case uintptr(unsafe.Pointer(&p[0]))%AlignBytes != 0:
			return fmt.Errorf("probe: array %d begins at an address that is no multiple of %d: take it from Alloc", i, AlignBytes)
		}
		for j, q := range arrays[:i] {
			if at, other := uintptr(unsafe.Pointer(&p[0])), uintptr(unsafe.Pointer(&q[0])); max(at, other)-min(at, other) < uintptr(len(p)) {
				return fmt.Errorf("probe: arrays %d and %d overlap: they must be disjoint", j, i)
			}
		}
	}
	return nil
}

// chainAdds is how many adds one round of the clock's loop does.
const chainAdds = 64

// AddChain does rounds·64 adds x += y, each of which needs the one before, and
// returns x with the number of adds. One add takes one clock cycle on common
// CPUs, so that the adds divided by the time are the clock in Hz.
func AddChain(rounds int, x, y uint64) (result uint64, adds int64) {
	if rounds < 1 {
		return x, 0
	}
	return addChain(rounds, x, y), int64(rounds) * chainAdds
}

// Alloc returns memory that holds zeros, aligned to [AlignBytes] at least, in
// huge pages where the system gives them, and a function that gives it back.
// A page comes from the memory nearest to the core that writes to it first: let
// each thread [Fill] its own part. Pages that were never written to may all be
// the same one, and measure nothing.
func Alloc(bytes int64) (p []byte, free func(), err error) {
	if bytes < 1 || bytes > maxAlloc {
		return nil, nil, fmt.Errorf("probe: bytes is %d: it must be from 1 to %d", bytes, maxAlloc)
	}
	return alloc(int(bytes))
}

// maxAlloc is more than any machine needs here, and keeps lengths within int on
// 32 bits too. A length beyond the address space would be no error in all systems,
// but the end of the program.
const maxAlloc = int64(min(1<<40, int64(^uint(0)>>1)/2))

// Fill writes float64 numbers of plain size all over p.
func Fill(p []byte) {
	x := Numbers(p)
	if len(x) == 0 {
		return
	}
	const pattern = 512
	for i := range min(pattern, len(x)) {
		x[i] = 1 + float64(i)/pattern
	}
	for n := pattern; n < len(x); n *= 2 {
		copy(x[n:], x[:n])
	}
}
