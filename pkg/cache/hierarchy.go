package cache

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/arg"
)

// Hierarchy is a stack of caches above memory. It is not safe for use by
// several goroutines at once.
type Hierarchy struct {
	configs []Config
	levels  []*level // the one next to the processor first
	steps   []step   // what Loop works with
}

// New returns empty caches, the one next to the processor first. At least one
// level is needed, and the lines of a level must be no larger than those of the
// level below it.
//
// A level that misses asks the next one for the line. Levels neither include
// nor exclude each other: each keeps what it was asked for. A dirty line that
// is evicted is written to the next level, before the new line is fetched. If
// that write covers a whole line of the next level and misses there, nothing
// needs to be fetched for it.
func New(levels ...Config) *Hierarchy { return build(fewWays, levels) }

func build(few int64, levels []Config) *Hierarchy {
	if len(levels) == 0 {
		arg.Refuse("levels", 0, "cache: levels is 0: there must be at least 1")
	}
	h := &Hierarchy{configs: make([]Config, len(levels)), levels: make([]*level, len(levels))}
	for i, c := range levels {
		if c.Name == "" {
			c.Name = fmt.Sprintf("L%d", i+1)
		}
		arg.Check(c.Validate())
		if i > 0 && c.LineBytes < levels[i-1].LineBytes {
			arg.Refuse("line", c.LineBytes, "cache: %s: line is %d bytes: it must be at least that of %s above it, %d", c.Name, c.LineBytes, h.configs[i-1].Name, levels[i-1].LineBytes)
		}
		h.configs[i] = c
	}
	var below *level
	for i := len(levels) - 1; i >= 0; i-- {
		below = newLevel(h.configs[i], below, few)
		h.levels[i] = below
	}
	return h
}

// Levels returns the description of each level, as built.
func (h *Hierarchy) Levels() []Config { return append([]Config(nil), h.configs...) }

// Stats returns what each level has counted since New or Reset.
func (h *Hierarchy) Stats() []Stats {
	all := make([]Stats, len(h.levels))
	for i, l := range h.levels {
		all[i] = l.stats
	}
	return all
}

// Memory returns what the last level has counted: its Fills, WriteBacks and
// bytes are what memory sees.
func (h *Hierarchy) Memory() Stats { return h.levels[len(h.levels)-1].stats }

// Reset empties all levels, without writing anything back, and sets the counts
// to 0.
func (h *Hierarchy) Reset() {
	for _, l := range h.levels {
		l.clear()
		l.stats = Stats{Name: l.stats.Name, LineBytes: l.stats.LineBytes}
	}
}

// Flush writes every dirty line back, from the first level to memory, and
// leaves all levels empty. The counts go on.
func (h *Hierarchy) Flush() {
	for _, l := range h.levels {
		l.flush()
	}
}

// Read is a read of bytes at an address.
func (h *Hierarchy) Read(addr, bytes int64) { h.access(addr, bytes, 0) }

// Write is a write of bytes at an address.
func (h *Hierarchy) Write(addr, bytes int64) { h.access(addr, bytes, dirty) }

func noLevels() {
	arg.Refuse("Hierarchy", "empty", "cache: the Hierarchy has no levels: New makes one that has")
}

func (h *Hierarchy) access(addr, bytes int64, write uint64) {
	if len(h.levels) == 0 {
		noLevels()
	}
	checkAccess(addr, bytes)
	h.span(uint64(addr), uint64(bytes), write)
}

// span is an access that may reach over several lines.
func (h *Hierarchy) span(addr, bytes, write uint64) {
	top := h.levels[0]
	for bytes > 0 {
		part := min(bytes, 1<<top.shift-addr&(1<<top.shift-1))
		top.arrive(addr, part, write, true)
		addr += part
		bytes -= part
	}
}

func checkAccess(addr, bytes int64) {
	arg.AtLeast("cache", "address", addr, 0)
	arg.Size("cache", "bytes of an access", bytes)
	if addr > math.MaxInt64-bytes {
		arg.Refuse("address", addr, "cache: an access of %d bytes at address %d: it must end before 2^63", bytes, addr)
	}
}

// Access is one access in the body of a loop.
type Access struct {
	Addr   int64 // in the first round
	Stride int64 // bytes from one round to the next; may be 0 or negative
	Bytes  int64
	Write  bool
}

// A Sink takes the accesses of a loop: a Hierarchy or a Scratchpad.
type Sink interface {
	// Loop does the accesses of the body in order, and that count times; after
	// each round every access moves on by its stride. It does not keep body.
	Loop(count int64, body []Access)
}

// A step is an access of a loop on its way.
type step struct {
	addr, bytes, write uint64
	stride             int64
	left               int64  // rounds that stay on the line, this one counted; 0 if it spans lines
	line               uint64 // that it is on
	first              int    // where the entry used last of its set is, in a level of few ways
	node               int32  // where it found its line last, in a level of many ways
	hops               bool   // never spans lines, and leaves its line every round
}

// Loop does the accesses of the body in order, and that count times; after each
// round every access moves on by its stride. A count of 0 does nothing. The
// counts are those of the single accesses, one by one.
//
// What makes it fast: while no access of the body leaves its line, every round
// touches the same lines in the same order. Once the first round is done, all
// of them are in the first level if that has at least as many ways as the body
// has accesses, for nothing that was used since can push them out. So the
// further rounds on these lines all hit, and leave the order of use as it is:
// they are only counted.
func (h *Hierarchy) Loop(count int64, body []Access) {
	arg.AtLeast("cache", "count", count, 0)
	if len(h.levels) == 0 {
		noLevels()
	}
	top := h.levels[0]
	line := uint64(1) << top.shift
	steps := h.steps[:0]
	reads, writes := int64(0), int64(0)
	hops, spans := false, false // some access hops, some may span lines
	for _, a := range body {
		if count == 0 {
			break
		}
		checkLoop(count, a)
		s := step{addr: uint64(a.Addr), bytes: uint64(a.Bytes), stride: a.Stride}
		if a.Write {
			s.write = dirty
			writes++
		} else {
			reads++
		}
		aligned := line%s.bytes == 0 && (s.addr|uint64(s.stride))%s.bytes == 0
		s.hops = aligned && (a.Stride >= int64(line) || a.Stride <= -int64(line))
		hops, spans = hops || s.hops, spans || !aligned
		s.settle(top)
		steps = append(steps, s)
	}
	h.steps = steps
	if len(steps) == 0 {
		return
	}
	through := top.through && writes > 0 // the next level sees every single one
	batch := len(steps) <= top.ways
	for count > 0 {
		rounds := int64(1)
		if !hops || spans {
			rounds = count
			for i := range steps {
				rounds = min(rounds, steps[i].left)
			}
		}
		if rounds == 0 || through { // 0: some access spans lines
			rounds = 1
			for i := range steps {
				h.span(steps[i].addr, steps[i].bytes, steps[i].write)
			}
		} else {
			if !batch {
				rounds = 1
			}
			for i := range steps {
				s := &steps[i]
				if w := top.wide; w != nil {
					set := top.setOf(s.line)
					if w.nodes[s.node].entry>>1 == s.line { // still there: nothing to search for
						w.use(int32(set), s.node, s.write)
						continue
					}
					top.access(s.line, s.write, false)
					s.node = w.nodes[set].next
					continue
				}
				if e := &top.entries[s.first]; *e&^dirty == s.line<<1 { // the most frequent case by far
					*e |= s.write
					continue
				}
				top.access(s.line, s.write, false)
			}
			top.stats.Reads += rounds * reads
			top.stats.Writes += rounds * writes
		}
		count -= rounds
		for i := range steps {
			s := &steps[i]
			if s.hops { // then it was a single round
				s.addr += uint64(s.stride)
				s.line = s.addr >> top.shift
				s.first = top.setOf(s.line) * top.ways
				continue
			}
			s.addr += uint64(rounds * s.stride)
			if s.left -= rounds; s.left <= 0 {
				s.settle(top)
			}
		}
	}
}

// settle finds the line that the access is on and how long it stays there.
func (s *step) settle(top *level) {
	s.line = s.addr >> top.shift
	s.first = top.setOf(s.line) * top.ways
	if s.hops {
		s.left = 1
		return
	}
	line := int64(1) << top.shift
	at := int64(s.addr) & (line - 1)
	room := line - at - int64(s.bytes) // behind the access, on its line
	switch {
	case room < 0:
		s.left = 0
	case s.stride == 0:
		s.left = math.MaxInt64
	case s.stride > room || -s.stride > at:
		s.left = 1
	case s.stride > 0:
		s.left = room/s.stride + 1
	default:
		s.left = at/-s.stride + 1
	}
}

// checkLoop refuses an access that leaves the addresses there are, in any of
// count ≥ 1 rounds.
func checkLoop(count int64, a Access) {
	checkAccess(a.Addr, a.Bytes)
	if a.Stride == 0 || count == 1 {
		return
	}
	far := a.Stride * (count - 1)
	last := a.Addr + far
	if far/(count-1) != a.Stride || (a.Stride > 0) != (last > a.Addr) || last < 0 || last > math.MaxInt64-a.Bytes {
		arg.Refuse("stride", a.Stride, "cache: a loop of %d rounds from address %d with stride %d: all of it must lie from 0 to 2^63", count, a.Addr, a.Stride)
	}
}
