package cache

import "math/bits"

// wide holds sets of many ways. Each set is a ring of nodes in the order of
// use; a table finds the node of a line (with a map of Go in its place the loops
// take twice as long). Node s is the anchor of set s: after
// it comes the line used last, before it the one unused for longest.
type wide struct {
	sets, ways int
	used       []int32 // lines in each set
	nodes      []node
	table      []int32 // open addressing with linear probing; 0 is a free place
	bits       uint    // log2 of len(table)
	filled     int
}

type node struct {
	entry      uint64 // as in level.entries
	prev, next int32
}

func newWide(sets, ways int) *wide {
	return &wide{sets: sets, ways: ways, used: make([]int32, sets)}
}

func (w *wide) clear() {
	clear(w.used)
	w.nodes = append(w.nodes[:0], make([]node, w.sets)...)
	for s := range w.sets {
		w.nodes[s] = node{entry: empty, prev: int32(s), next: int32(s)}
	}
	w.bits, w.filled = 10, 0
	w.table = make([]int32, 1<<w.bits)
}

func (w *wide) place(line uint64) int {
	return int(line * 0x9e3779b97f4a7c15 >> (64 - w.bits)) // 2^64 over the golden ratio
}

// find returns the node of a line, or −1. Where there are several sets, a line
// is in none but its own.
func (w *wide) find(line uint64) int32 {
	for i := w.place(line); ; i = (i + 1) & (len(w.table) - 1) {
		n := w.table[i]
		if n == 0 {
			return -1
		}
		n-- // the table holds the node's number plus one
		if w.nodes[n].entry>>1 == line {
			return n
		}
	}
}

// access makes the line the one used last of its set and returns whether it was
// there. If it was not, the entry that had to leave for it is returned, or
// empty.
func (w *wide) access(set int, line, write uint64) (hit bool, victim uint64) {
	anchor := int32(set)
	if first := w.nodes[anchor].next; first != anchor && w.nodes[first].entry>>1 == line {
		w.nodes[first].entry |= write
		return true, empty
	}
	if n := w.find(line); n >= 0 {
		w.use(anchor, n, write)
		return true, empty
	}
	n := int32(len(w.nodes))
	victim = empty
	if int(w.used[set]) == w.ways {
		n = w.nodes[anchor].prev
		victim = w.nodes[n].entry
		w.remove(victim >> 1)
		w.unlink(n)
	} else {
		w.used[set]++
		w.nodes = append(w.nodes, node{})
	}
	w.nodes[n].entry = line<<1 | write
	w.linkFirst(anchor, n)
	w.insert(line, n)
	return false, victim
}

// use makes the line of a node the one used last of its set.
func (w *wide) use(anchor, n int32, write uint64) {
	w.nodes[n].entry |= write
	if w.nodes[anchor].next != n {
		w.unlink(n)
		w.linkFirst(anchor, n)
	}
}

func (w *wide) unlink(n int32) {
	prev, next := w.nodes[n].prev, w.nodes[n].next
	w.nodes[prev].next, w.nodes[next].prev = next, prev
}

func (w *wide) linkFirst(anchor, n int32) {
	first := w.nodes[anchor].next
	w.nodes[n].prev, w.nodes[n].next = anchor, first
	w.nodes[anchor].next, w.nodes[first].prev = n, n
}

func (w *wide) insert(line uint64, n int32) {
	if 2*w.filled >= len(w.table) {
		w.grow()
	}
	w.filled++
	i := w.place(line)
	for w.table[i] != 0 {
		i = (i + 1) & (len(w.table) - 1)
	}
	w.table[i] = n + 1
}

func (w *wide) grow() {
	old := w.table
	w.bits = uint(bits.Len(uint(len(old))))
	w.table = make([]int32, 1<<w.bits)
	w.filled = 0
	for _, n := range old {
		if n != 0 {
			w.insert(w.nodes[n-1].entry>>1, n-1)
		}
	}
}

// remove takes a line out of the table and closes the gap: of those that follow
// without a free place between, each that may stand in the gap moves there.
func (w *wide) remove(line uint64) {
	last := len(w.table) - 1
	i := w.place(line)
	for w.nodes[w.table[i]-1].entry>>1 != line {
		i = (i + 1) & last
	}
	w.filled--
	for j := (i + 1) & last; w.table[j] != 0; j = (j + 1) & last {
		home := w.place(w.nodes[w.table[j]-1].entry >> 1)
		if (j-home)&last >= (j-i)&last { // its search begins at the gap or before it
			w.table[i] = w.table[j]
			i = j
		}
	}
	w.table[i] = 0
}

// each calls f with every entry, set by set, the one unused for longest first.
func (w *wide) each(f func(entry uint64)) {
	for s := range w.sets {
		for n := w.nodes[s].prev; n != int32(s); n = w.nodes[n].prev {
			f(w.nodes[n].entry)
		}
	}
}
