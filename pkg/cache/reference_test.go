package cache

import (
	"fmt"
	"slices"
)

// reference is the simulator that is plain to see: every set is a list of
// lines in the order of use, every access goes through it alone.
type reference struct{ levels []*refLevel }

type refLevel struct {
	c     Config
	sets  [][]refLine // of each set, the line used last comes first
	next  *refLevel
	stats Stats
}

type refLine struct {
	number int64
	dirty  bool
}

func newReference(levels ...Config) *reference {
	r := &reference{}
	for i, c := range levels {
		l := &refLevel{c: c, sets: make([][]refLine, c.Sets()), stats: Stats{Name: c.Name, LineBytes: c.LineBytes}}
		if c.Name == "" {
			l.stats.Name = fmt.Sprintf("L%d", i+1)
		}
		r.levels = append(r.levels, l)
		if i > 0 {
			r.levels[i-1].next = l
		}
	}
	return r
}

func (r *reference) access(addr, bytes int64, write bool) {
	top := r.levels[0]
	for at := addr; at < addr+bytes; {
		end := min(addr+bytes, (at/top.c.LineBytes+1)*top.c.LineBytes)
		top.access(at, end-at, write, true)
		at = end
	}
}

// access is one access within a line. Its bytes come from the program or from
// the level above.
func (l *refLevel) access(addr, bytes int64, write, program bool) {
	line := addr / l.c.LineBytes
	set := &l.sets[line%l.c.Sets()]
	at := slices.IndexFunc(*set, func(x refLine) bool { return x.number == line })
	hit := at >= 0
	if write {
		l.stats.Writes++
	} else {
		l.stats.Reads++
	}
	if !hit && write {
		l.stats.WriteMisses++
	}
	if !hit && !write {
		l.stats.ReadMisses++
	}
	through := write && l.c.Policy == WriteThrough
	switch {
	case hit:
		x := (*set)[at]
		x.dirty = x.dirty || write && !through
		*set = slices.Insert(slices.Delete(*set, at, at+1), 0, x)
	case !through:
		ways := int(l.c.Ways)
		if l.c.Ways == 0 {
			ways = int(l.c.SizeBytes / l.c.LineBytes)
		}
		if len(*set) == ways {
			victim := (*set)[ways-1]
			*set = (*set)[:ways-1]
			l.evict(victim)
		}
		if write && !program && bytes == l.c.LineBytes {
			// nothing of the old line is left
		} else {
			l.stats.Fills++
			l.stats.BytesIn += l.c.LineBytes
			if l.next != nil {
				l.next.access(line*l.c.LineBytes, l.c.LineBytes, false, false)
			}
		}
		*set = slices.Insert(*set, 0, refLine{line, write})
	}
	if through {
		l.stats.BytesOut += bytes
		if l.next != nil {
			l.next.access(addr, bytes, true, false)
		}
	}
}

func (l *refLevel) evict(x refLine) {
	if !x.dirty {
		return
	}
	l.stats.WriteBacks++
	l.stats.BytesOut += l.c.LineBytes
	if l.next != nil {
		l.next.access(x.number*l.c.LineBytes, l.c.LineBytes, true, false)
	}
}

func (r *reference) flush() {
	for _, l := range r.levels {
		for s := range l.sets {
			for i := len(l.sets[s]) - 1; i >= 0; i-- {
				l.evict(l.sets[s][i])
			}
			l.sets[s] = nil
		}
	}
}

func (r *reference) stats() []Stats {
	var all []Stats
	for _, l := range r.levels {
		all = append(all, l.stats)
	}
	return all
}

// Loop makes the reference a Sink: access by access.
func (r *reference) Loop(count int64, body []Access) {
	for round := range count {
		for _, a := range body {
			r.access(a.Addr+round*a.Stride, a.Bytes, a.Write)
		}
	}
}
