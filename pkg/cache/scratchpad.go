package cache

import (
	"math/bits"
	"slices"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/tiling"
)

// Scratchpad is the fast memory of the model: it has room for so many elements,
// and what it holds is what it was told to hold.
type Scratchpad struct {
	capacity   int64
	held, most int64
	blocks     []Block
	traffic    tiling.Traffic
}

// Block is a part of a matrix: Rows×Cols elements, the first of them at Addr,
// with LD elements from one row to the next.
type Block struct {
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
func (s *Scratchpad) Held() (now, most int64) { return s.held, s.most }

// Traffic returns the elements loaded and stored so far. FLOPs are not counted.
func (s *Scratchpad) Traffic() tiling.Traffic { return s.traffic }

// Reserve makes room for a block without loading it: an output begins so. A
// block that makes no sense, or ends beyond 2^62 bytes, is an error, and so is
// one that there is not enough room for.
func (s *Scratchpad) Reserve(b Block) {
	if b.Rows < 1 || b.Cols < 1 || b.LD < b.Cols || b.ElemBytes < 1 || b.Addr < 0 {
		arg.Refuse("block", b, "cache: block is %+v: sizes must be at least 1, LD at least Cols and Addr at least 0", b)
	}
	need, ok := num.Sum{{b.Rows, b.Cols}}.Int64()
	if !ok || need > s.capacity-s.held {
		arg.Refuse("block", b, "cache: a block of %d×%d elements does not fit: the scratchpad holds %d of %d", b.Rows, b.Cols, s.held, s.capacity)
	}
	end := num.Sum{{b.Rows, b.LD, b.ElemBytes}, {b.Addr}}
	if v, ok := end.Int64(); !ok || bits.Len64(uint64(v)) > 62 {
		arg.Refuse("block", b, "cache: block is %+v: it ends at address %s, and must end before 2^62", b, end.Big())
	}
	s.blocks = append(s.blocks, b)
	s.held += need
	s.most = max(s.most, s.held)
}

// Load is Reserve and counts the elements as loaded.
func (s *Scratchpad) Load(b Block) {
	s.Reserve(b)
	s.traffic.Loads += b.Rows * b.Cols
}

// Store counts the elements of a block that is held as stored.
func (s *Scratchpad) Store(b Block) {
	s.index(b)
	s.traffic.Stores += b.Rows * b.Cols
}

// Drop gives up a block that is held. What was not stored is lost.
func (s *Scratchpad) Drop(b Block) {
	i := s.index(b)
	s.blocks = slices.Delete(s.blocks, i, i+1)
	s.held -= b.Rows * b.Cols
}

func (s *Scratchpad) index(b Block) int {
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
