package matmul

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/num"
)

// Caches are the sizes in bytes of what one core can count on.
type Caches struct {
	L1 int64 // first level, data
	L2 int64 // second level
	L3 int64 // the core's part of the last level; 0 where there is none
}

// Blocking holds the sizes that the packed multiply works in, in elements. At
// each level of the memory hierarchy one operand stays while the other two
// stream past it: the argument of 3b²s ≤ capacity, once per level.
//
//	registers  a tile of C, MR×NR, while p runs over KC
//	L1         a panel of A, MR×KC, while jr runs over the panels of B
//	L2         a block of B, KC×NC, while ir runs over the rows; the next arrives
//	L3         a block of C, MC×NC, while pc runs over the depth
type Blocking struct {
	MR, NR int
	KC     int
	NC     int
	MC     int
}

// Limits of the blocks where caches are huge or unknown: beyond these there is
// nothing left to win, and the packed copies only grow.
const (
	maxKC = 1024
	maxNC = 4096
	maxMC = 8192
)

// NewBlocking returns the largest blocking for a tile of mr×nr elements of
// elemBytes bytes that satisfies, on the given caches,
//
//	L1Bytes ≤ L1,  L2Bytes ≤ ¾·L2,  L3Bytes ≤ L3/2
//
// The rest is for what streams through. A cache of 0 bytes counts as
// the level above it. Where a cache is too small for a single tile's worth, the
// block is one tile and the inequality cannot hold.
func NewBlocking(mr, nr int, elemBytes int64, c Caches) (Blocking, error) {
	if mr < 1 || nr < 1 {
		return Blocking{}, fmt.Errorf("matmul: tile is %d×%d: it must be 1×1 or more", mr, nr)
	}
	if elemBytes < 1 {
		return Blocking{}, fmt.Errorf("matmul: element size is %d bytes: it must be 1 or more", elemBytes)
	}
	if c.L1 < 0 || c.L2 < 0 || c.L3 < 0 {
		return Blocking{}, fmt.Errorf("matmul: caches are %+v: a size must be 0 or more", c)
	}
	b := Blocking{MR: mr, NR: nr}
	l3 := max(c.L3, c.L2, c.L1)
	m, n := int64(mr), int64(nr)
	b.KC = max(1, multiple((c.L1/elemBytes-m*n)/(m+n), 8, maxKC))
	b.NC = b.widest(elemBytes, c, maxNC)
	b.MC = max(mr, multiple(l3/2/elemBytes/(int64(b.NC)+int64(b.KC)), mr, maxMC))
	return b, nil
}

// widest returns the largest NC, up to a limit, with which L2Bytes is within
// three quarters of L2.
func (b Blocking) widest(elemBytes int64, c Caches, limit int) int {
	k := int64(b.KC)
	return max(b.NR, multiple((max(c.L2, c.L1)/4*3/elemBytes-int64(b.MR)*k)/(2*k), b.NR, limit))
}

const (
	// shallowKC is how many rows of B the first level of a TLB is sure to reach
	// at once when each lies in a page of its own: 64 entries for data on Intel
	// since Haswell and on AMD since Zen, 96 on the newest (Intel 64 and IA-32
	// Architectures Optimization Reference Manual, 248966; Software Optimization
	// Guide for the AMD Family 17h Processors, 55723).
	shallowKC = 64
	// shallowNC keeps such a block to a page or two along each of its rows.
	shallowNC = 1024
)

// shallow returns the blocking for an A of few rows. A block of B is packed by
// the first tiles that read it; where few others follow, it is as important
// that these find its rows quickly as that tiles of C are seldom visited.
func (b Blocking) shallow(elemBytes int64, c Caches) Blocking {
	b.KC = min(b.KC, shallowKC)
	b.NC = b.widest(elemBytes, c, max(b.NR, shallowNC))
	return b
}

// multiple returns the largest multiple of q that is at most v and at most
// limit, or v itself if that would be 0.
func multiple(v int64, q, limit int) int {
	v = min(v, int64(limit))
	if v < int64(q) {
		return int(v)
	}
	return int(v) - int(v)%q
}

func roundUp(v, q int) int { return (v + q - 1) / q * q }

// L1Bytes is what the loop jr keeps in L1 at a time: a panel of A (MR×KC), one
// panel of B (KC×NR) and a tile of C, for elements of elemBytes bytes. Bytes
// beyond int64 are given as the largest int64, here and in [Blocking.L2Bytes] and
// [Blocking.L3Bytes].
func (b Blocking) L1Bytes(elemBytes int64) int64 {
	m, n, k := int64(b.MR), int64(b.NR), int64(b.KC)
	return most(num.Sum{{m, k, elemBytes}, {k, n, elemBytes}, {m, n, elemBytes}})
}

// L2Bytes is what the loop ir keeps in L2: a block of B (KC×NC), the next one on
// its way from memory, and a panel of A (MR×KC).
func (b Blocking) L2Bytes(elemBytes int64) int64 {
	m, n, k := int64(b.MR), int64(b.NC), int64(b.KC)
	return most(num.Sum{{2, k, n, elemBytes}, {m, k, elemBytes}})
}

// L3Bytes is what the loop pc keeps in L3: a block of C (MC×NC) and the block
// of A (MC×KC) that updates it.
func (b Blocking) L3Bytes(elemBytes int64) int64 {
	m, n, k := int64(b.MC), int64(b.NC), int64(b.KC)
	return most(num.Sum{{m, n, elemBytes}, {m, k, elemBytes}})
}

// most returns a count of sizes that are not negative, or the largest int64
// where it is more.
func most(count num.Sum) int64 {
	if v, ok := count.Int64(); ok {
		return v
	}
	return math.MaxInt64
}

// Validate refuses sizes below 1 and blocks that are no whole number of tiles.
func (b Blocking) Validate() error {
	for _, f := range []struct {
		name string
		v    int
	}{{"MR", b.MR}, {"NR", b.NR}, {"KC", b.KC}, {"NC", b.NC}, {"MC", b.MC}} {
		if f.v < 1 {
			return fmt.Errorf("matmul: blocking %s is %d: it must be 1 or more", f.name, f.v)
		}
	}
	if b.NC%b.NR != 0 {
		return fmt.Errorf("matmul: blocking NC is %d: it must be a multiple of NR = %d", b.NC, b.NR)
	}
	if b.MC%b.MR != 0 {
		return fmt.Errorf("matmul: blocking MC is %d: it must be a multiple of MR = %d", b.MC, b.MR)
	}
	return nil
}

// part returns the length of each part when n is cut into as few even parts as
// possible of at most size: a multiple of unit, the last part being shorter.
func part(n, size, unit int) int {
	count := (n-1)/size + 1
	return min(size, n, roundUp((n-1)/count+1, unit))
}

// tileRows returns how many rows the next tile takes of the rows that are left:
// full, or up to few, so that none is very thin.
func tileRows(left, full, few int) int {
	switch {
	case left == full || left >= full+min(few, full)/2:
		return full
	case left <= min(few, full):
		return left
	}
	few = min(few, full)
	return blocksOf(left, blocksOf(left, few))
}
