package cache

// A level is one cache. Lines are numbered: address / line size.
type level struct {
	stats   Stats
	next    *level // nil above memory
	shift   uint   // log2 of the line size
	ways    int
	sets    uint64
	mask    uint64 // sets − 1 where sets is a power of two, else 0
	through bool

	// With few ways a set is a row of entries, the line used last in front.
	// An entry is a line's number times two, plus one where it is dirty.
	entries []uint64

	wide *wide // with many ways
}

const (
	empty = ^uint64(0) // no line has this number
	dirty = 1

	fewWays = 24 // up to here searching a row is faster than hashing
)

func newLevel(c Config, next *level, few int64) *level {
	l := &level{
		stats:   Stats{Name: c.Name, LineBytes: c.LineBytes},
		next:    next,
		sets:    uint64(c.Sets()),
		ways:    int(c.Lines() / c.Sets()),
		through: c.Policy == WriteThrough,
	}
	for 1<<l.shift < c.LineBytes {
		l.shift++
	}
	if l.sets&(l.sets-1) == 0 {
		l.mask = l.sets - 1
	}
	if int64(l.ways) <= few {
		l.entries = make([]uint64, c.Lines())
	} else {
		l.wide = newWide(int(l.sets), l.ways)
	}
	l.clear()
	return l
}

// clear empties the level, dirty lines too.
func (l *level) clear() {
	for i := range l.entries {
		l.entries[i] = empty
	}
	if l.wide != nil {
		l.wide.clear()
	}
}

func (l *level) setOf(line uint64) int {
	if l.mask != 0 || l.sets == 1 {
		return int(line & l.mask)
	}
	return int(line % l.sets)
}

// arrive is an access to bytes within one line, by the program or by the level
// above.
func (l *level) arrive(addr, bytes, write uint64, program bool) {
	if write == 0 {
		l.stats.Reads++
	} else {
		l.stats.Writes++
		if l.through {
			l.writeThrough(addr, bytes)
			return
		}
	}
	whole := write != 0 && !program && bytes == 1<<l.shift
	l.access(addr>>l.shift, write, whole)
}

// access finds a line or brings it in, and makes it the one used last. It
// counts misses and what they cost; the access itself is counted by the caller.
// whole says that a write covers the whole line, so that nothing has to be
// fetched for it.
func (l *level) access(line, write uint64, whole bool) {
	if l.wide != nil {
		hit, victim := l.wide.access(l.setOf(line), line, write)
		if !hit {
			l.missed(line, victim, write, whole)
		}
		return
	}
	at := l.setOf(line) * l.ways
	set := l.entries[at : at+l.ways : at+l.ways]
	key := line << 1
	moved := set[0]
	if moved&^dirty == key {
		set[0] = moved | write
		return
	}
	// Each entry moves back by one, up to the place of the line that is used,
	// or out at the end.
	for i := 1; i < len(set); i++ {
		moved, set[i] = set[i], moved
		if moved&^dirty == key {
			set[0] = moved | write
			return
		}
	}
	set[0] = key | write
	l.missed(line, moved, write, whole)
}

// missed counts a miss and moves what it moves: first the victim goes down, if
// it is dirty, then the line comes up.
func (l *level) missed(line, victim, write uint64, whole bool) {
	if write == 0 {
		l.stats.ReadMisses++
	} else {
		l.stats.WriteMisses++
	}
	if victim != empty && victim&dirty != 0 {
		l.writeBack(victim >> 1)
	}
	if whole {
		return
	}
	l.stats.Fills++
	l.stats.BytesIn += l.stats.LineBytes
	if l.next != nil {
		l.next.arrive(line<<l.shift, 1<<l.shift, 0, false)
	}
}

func (l *level) writeBack(line uint64) {
	l.stats.WriteBacks++
	l.stats.BytesOut += l.stats.LineBytes
	if l.next != nil {
		l.next.arrive(line<<l.shift, 1<<l.shift, dirty, false)
	}
}

// writeThrough is a write of a level that keeps no dirty lines.
func (l *level) writeThrough(addr, bytes uint64) {
	line := addr >> l.shift
	if l.has(line) {
		l.access(line, 0, false)
	} else {
		l.stats.WriteMisses++
	}
	l.stats.BytesOut += int64(bytes)
	if l.next != nil {
		l.next.arrive(addr, bytes, dirty, false)
	}
}

func (l *level) has(line uint64) bool {
	if l.wide != nil {
		return l.wide.find(line) >= 0
	}
	at := l.setOf(line) * l.ways
	for _, e := range l.entries[at : at+l.ways] {
		if e&^dirty == line<<1 {
			return true
		}
	}
	return false
}

// flush writes the dirty lines back, set by set, the one unused for longest
// first, and leaves the level empty.
func (l *level) flush() {
	if l.wide != nil {
		l.wide.each(func(entry uint64) {
			if entry&dirty != 0 {
				l.writeBack(entry >> 1)
			}
		})
	}
	for at := 0; at < len(l.entries); at += l.ways {
		for i := at + l.ways - 1; i >= at; i-- {
			if e := l.entries[i]; e != empty && e&dirty != 0 {
				l.writeBack(e >> 1)
			}
		}
	}
	l.clear()
}
