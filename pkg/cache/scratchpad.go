package cache

import (
	"slices"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/tiling"
)

// Scratchpad is the fast memory of the model: it has room for so many elements,
// and what it holds is what it was told to hold.
type Scratchpad struct {
	capacity  int64
	held, max int64
	blocks    []block
	traffic   tiling.Traffic
}

// block is a part of a matrix: Rows×Cols elements, the first of them at Addr,
// with LD elements from one row to the next.
type block struct {
	Addr       int64 // bytes
	Rows, Cols int64 // elements
	LD         int64 // elements
	ElemBytes  int64
}

// NewScratchpad returns an empty scratchpad with room for capacity elements.
func NewScratchpad(capacity int64) *Scratchpad {
	arg.Size("cache", "capacity", capacity)
	return &Scratchpad{capacity: capacity}
}

// Held returns the number of elements that are held now, and the most that
// were held at any time.
func (s *Scratchpad) Held() (now, max int64) { return s.held, s.max }

// Traffic returns the elements loaded and stored so far. FLOPs are not counted.
func (s *Scratchpad) Traffic() tiling.Traffic { return s.traffic }

// reserve makes room for a block without loading it: an output begins so.
func (s *Scratchpad) reserve(b block) {
	need := b.Rows * b.Cols
	if need > s.capacity-s.held {
		arg.Refuse("block", b, "cache: a block of %d×%d elements does not fit: the scratchpad holds %d of %d", b.Rows, b.Cols, s.held, s.capacity)
	}
	s.blocks = append(s.blocks, b)
	s.held += need
	s.max = max(s.max, s.held)
}

// load is reserve and counts the elements as loaded.
func (s *Scratchpad) load(b block) {
	s.reserve(b)
	s.traffic.Loads += b.Rows * b.Cols
}

// store counts the elements of a block that is held as stored.
func (s *Scratchpad) store(b block) {
	s.index(b)
	s.traffic.Stores += b.Rows * b.Cols
}

// drop gives up a block that is held. What was not stored is lost.
func (s *Scratchpad) drop(b block) {
	i := s.index(b)
	s.blocks = slices.Delete(s.blocks, i, i+1)
	s.held -= b.Rows * b.Cols
}

func (s *Scratchpad) index(b block) int {
	i := slices.Index(s.blocks, b)
	if i < 0 {
		arg.Refuse("block", b, "cache: block is %+v: the scratchpad does not hold it", b)
	}
	return i
}

// Loop does the accesses of the body as [Hierarchy.Loop] does. An access to
// anything that is not held is an error: nothing is loaded by itself.
func (s *Scratchpad) Loop(count int64, body []Access) {
	arg.AtLeast("cache", "count", count, 0)
	for _, a := range body {
		if count > 0 {
			checkLoop(count, a)
		}
	}
	if !slices.ContainsFunc(body, func(a Access) bool { return a.Stride != 0 }) {
		count = min(count, 1) // every round is the same
	}
	for round := range count {
		for _, a := range body {
			if addr := a.Addr + round*a.Stride; !s.holds(addr, a.Bytes) {
				arg.Refuse("address", addr, "cache: an access of %d bytes at address %d: the scratchpad does not hold them", a.Bytes, addr)
			}
		}
	}
}

func (s *Scratchpad) holds(addr, bytes int64) bool {
	for _, b := range s.blocks {
		if addr < b.Addr {
			continue
		}
		row, at := (addr-b.Addr)/(b.LD*b.ElemBytes), (addr-b.Addr)%(b.LD*b.ElemBytes)
		if row < b.Rows && at+bytes <= b.Cols*b.ElemBytes {
			return true
		}
	}
	return false
}
