package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memorywall/pkg/roofline"
)

// refused fails unless err is there and its message holds every part.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error is %q, want it to say %q", err, part)
		}
	}
}

func mustBuild(t testing.TB, few int64, levels ...Config) *Hierarchy {
	t.Helper()
	return build(few, levels)
}

// contents lists every set in the order of use, as the reference does.
func (l *level) contents() [][]refLine {
	sets := make([][]refLine, l.sets)
	for s := range sets {
		if l.wide != nil {
			for n := l.wide.nodes[s].next; n != int32(s); n = l.wide.nodes[n].next {
				e := l.wide.nodes[n].entry
				sets[s] = append(sets[s], refLine{int64(e >> 1), e&dirty != 0})
			}
			continue
		}
		for _, e := range l.entries[s*l.ways : (s+1)*l.ways] {
			if e != empty {
				sets[s] = append(sets[s], refLine{int64(e >> 1), e&dirty != 0})
			}
		}
	}
	return sets
}

// same fails unless the counts and what is in the caches are the same.
func same(t *testing.T, what string, h *Hierarchy, r *reference) bool {
	t.Helper()
	for i, want := range r.stats() {
		if got := h.Stats()[i]; got != want {
			t.Errorf("%s: counted %+v, want %+v", what, got, want)
			return false
		}
		for s, set := range h.levels[i].contents() {
			if !slices.Equal(set, r.levels[i].sets[s]) {
				t.Errorf("%s: set %d of %s holds %v, want %v", what, s, want.Name, set, r.levels[i].sets[s])
				return false
			}
		}
	}
	return true
}

// hierarchies are small caches of every kind: one set, one way, a number of
// sets that is no power of two, many ways, several levels, lines that grow.
var hierarchies = map[string][]Config{
	"direct":     {{SizeBytes: 64, LineBytes: 8, Ways: 1}},
	"two ways":   {{SizeBytes: 128, LineBytes: 16, Ways: 2}},
	"odd sets":   {{SizeBytes: 3 * 3 * 8, LineBytes: 8, Ways: 3}},
	"one line":   {{SizeBytes: 4, LineBytes: 4, Ways: 1}},
	"full":       {FullyAssociative("F", 11, 8)},
	"bytes":      {FullyAssociative("", 32, 1)},
	"two levels": {{SizeBytes: 64, LineBytes: 8, Ways: 2}, {SizeBytes: 256, LineBytes: 8, Ways: 4}},
	"growing":    {{SizeBytes: 64, LineBytes: 8, Ways: 4}, {SizeBytes: 192, LineBytes: 16, Ways: 3}, FullyAssociative("F", 30, 32)},
	"small L2":   {{SizeBytes: 128, LineBytes: 16, Ways: 0}, {SizeBytes: 32, LineBytes: 16, Ways: 1}},
	"through": {{SizeBytes: 64, LineBytes: 8, Ways: 2, Policy: WriteThrough},
		{SizeBytes: 128, LineBytes: 16, Ways: 4}},
	"through below": {{SizeBytes: 64, LineBytes: 8, Ways: 2}, {SizeBytes: 128, LineBytes: 8, Ways: 4, Policy: WriteThrough},
		{SizeBytes: 256, LineBytes: 8, Ways: 4}},
}

// The fast simulator counts what the plain one counts and holds what it holds,
// after every single access.
func TestAccessByAccess(t *testing.T) {
	for name, levels := range hierarchies {
		for _, few := range []int64{0, fewWays} { // hashed sets, and rows of entries
			t.Run(fmt.Sprintf("%s/few=%d", name, few), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				h, r := mustBuild(t, few, levels...), newReference(levels...)
				for i := range 3000 {
					addr, bytes, write := rng.Int64N(700), 1+rng.Int64N(20), rng.IntN(3) == 0
					if rng.IntN(4) > 0 {
						addr = addr % 90
					}
					var err error
					if write {
						err = roofline.Maybe(func() { h.Write(addr, bytes) })
					} else {
						err = roofline.Maybe(func() { h.Read(addr, bytes) })
					}
					if err != nil {
						t.Fatal(err)
					}
					r.access(addr, bytes, write)
					if !same(t, fmt.Sprintf("access %d", i), h, r) {
						return
					}
					if i == 2000 {
						h.Flush()
						r.flush()
						if !same(t, "flushed", h, r) {
							return
						}
					}
				}
				h.Reset()
				if !same(t, "reset", h, newReference(levels...)) {
					return
				}
			})
		}
	}
}

// Loops of any strides, with bodies longer than the ways and accesses that span
// lines, count as their accesses one by one.
func TestLoopIsItsAccesses(t *testing.T) {
	for name, levels := range hierarchies {
		for _, few := range []int64{0, fewWays} { // hashed sets, and rows of entries
			t.Run(fmt.Sprintf("%s/few=%d", name, few), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(3, 4))
				h, r := mustBuild(t, few, levels...), newReference(levels...)
				for i := range 400 {
					count, body := randomLoop(rng)
					h.Loop(count, body)
					r.Loop(count, body)
					if !same(t, fmt.Sprintf("loop %d, %d × %+v", i, count, body), h, r) {
						return
					}
				}
			})
		}
	}
}

func randomLoop(rng *rand.Rand) (count int64, body []Access) {
	count = rng.Int64N(40)
	for range rng.IntN(6) {
		a := Access{Addr: 2000 + rng.Int64N(300), Stride: rng.Int64N(41) - 20, Bytes: 1 + rng.Int64N(8), Write: rng.IntN(3) == 0}
		if rng.IntN(3) > 0 { // elements in a row, as the multiplies have them
			a.Bytes = 4
			a.Addr -= a.Addr % 4
			a.Stride = []int64{0, 4, 4, 64, -4}[rng.IntN(5)]
		}
		body = append(body, a)
	}
	return count, body
}

// FuzzHierarchy makes caches and accesses from bytes.
func FuzzHierarchy(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint8(4), uint8(0), uint64(1))
	f.Add(uint8(0), uint8(1), uint8(1), uint8(7), uint64(2))
	f.Add(uint8(5), uint8(0), uint8(30), uint8(9), uint64(3))
	f.Fuzz(func(t *testing.T, lineLog, ways, sets, more uint8, seed uint64) {
		line := int64(1) << (lineLog % 6)
		first := Config{SizeBytes: line * (int64(ways)%5 + 1) * (int64(sets)%9 + 1), LineBytes: line, Ways: int64(ways)%5 + 1, Policy: Policy(more >> 7)}
		second := Config{SizeBytes: 4 * line * (int64(more)%16 + 1), LineBytes: line << (more % 3), Ways: 0, Policy: Policy(more >> 6 & 1)}
		second.SizeBytes = max(second.SizeBytes/second.LineBytes, 1) * second.LineBytes
		rng := rand.New(rand.NewPCG(seed, 5))
		for _, few := range []int64{0, fewWays} {
			h, r := mustBuild(t, few, first, second), newReference(first, second)
			for range 40 {
				count, body := randomLoop(rng)
				h.Loop(count, body)
				r.Loop(count, body)
				if !same(t, fmt.Sprintf("%d × %+v", count, body), h, r) {
					return
				}
			}
			h.Flush()
			r.flush()
			same(t, "flushed", h, r)
		}
	})
}

func TestConfigErrors(t *testing.T) {
	ok := Config{Name: "L1", SizeBytes: 48 << 10, LineBytes: 64, Ways: 12}
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.LineBytes = 48 }, "cache: L1: line is 48 bytes: it must be a power of two"},
		{func(c *Config) { c.LineBytes = 0 }, "cache: L1: line is 0 bytes: it must be a power of two"},
		{func(c *Config) { c.LineBytes = math.MinInt64 }, "line is -9223372036854775808 bytes"},
		{func(c *Config) { c.SizeBytes = 0 }, "cache: L1: size is 0 bytes: it must be at least one line"},
		{func(c *Config) { c.SizeBytes = 1000 }, "cache: L1: size is 1000 bytes: it must be a multiple of the line, 64 bytes"},
		{func(c *Config) { c.SizeBytes = 13 * 64 }, "cache: L1: size is 832 bytes: it must be a multiple of ways × line, 12 × 64 bytes"},
		{func(c *Config) { c.Ways = 1000 }, "must be a multiple of ways × line, 1000 × 64 bytes"},
		{func(c *Config) { c.Ways = math.MaxInt64 }, "must be a multiple of ways × line"},
		{func(c *Config) { c.Ways = -1 }, "cache: L1: ways is -1: it must be at least 1, or 0 for fully associative"},
		{func(c *Config) { c.SizeBytes = 1 << 40 }, "17179869184 lines: it must be at most 16777216 lines"},
		{func(c *Config) { c.Policy = 7 }, "cache: L1: policy is Policy(7): it must be WriteBack or WriteThrough"},
		{func(c *Config) { c.Name, c.LineBytes = "", 3 }, "cache: L1: line is 3 bytes"},
	} {
		bad := ok
		c.change(&bad)
		err := roofline.Maybe(func() { New(bad) })
		refused(t, err, c.want)
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v is valid", bad)
		}
		if bad.Lines() != 0 || bad.Sets() != 0 {
			t.Errorf("%+v has %d lines in %d sets", bad, bad.Lines(), bad.Sets())
		}
	}
	if got := ok.Lines(); got != 48<<10/64 || ok.Sets() != got/12 {
		t.Errorf("%d lines in %d sets", got, ok.Sets())
	}
	// Sizes that would wrap to something small.
	for _, c := range []Config{FullyAssociative("F", 1<<58+16, 64), FullyAssociative("F", 16, 1<<60)} {
		if err := c.Validate(); err == nil || c.SizeBytes != math.MaxInt64 {
			t.Errorf("%+v is valid (%v)", c, err)
		}
	}
	refused(t, FullyAssociative("F", 1<<58+16, 64).Validate(), "it must be at most 16777216 lines")
	err := roofline.Maybe(func() { New() })
	refused(t, err, "cache: levels is 0: there must be at least 1")
	err = roofline.Maybe(func() { New(ok, Config{SizeBytes: 1 << 20, LineBytes: 32, Ways: 16}) })
	refused(t, err, "cache: L2: line is 32 bytes: it must be at least that of L1 above it, 64")
	err = roofline.Maybe(func() { New(ok, Config{Name: "second", SizeBytes: 1, LineBytes: 64, Ways: 16}) })
	refused(t, err, "cache: second: size is 1 bytes: it must be a multiple of the line")
	if got := New(ok, Config{SizeBytes: 1 << 20, LineBytes: 64}).Levels(); got[0] != ok || got[1].Name != "L2" || got[1].Sets() != 1 {
		t.Errorf("levels are %+v", got)
	}
	if WriteBack.String() != "write-back" || WriteThrough.String() != "write-through" {
		t.Errorf("policies are %v and %v", WriteBack, WriteThrough)
	}
}

func TestAccessErrors(t *testing.T) {
	h := mustBuild(t, fewWays, Config{SizeBytes: 64, LineBytes: 8, Ways: 2})
	for _, c := range []struct {
		addr, bytes int64
		want        string
	}{
		{-1, 4, "cache: address is -1: it must be at least 0"},
		{0, 0, "cache: bytes of an access is 0: it must be at least 1"},
		{0, -4, "cache: bytes of an access is -4"},
		{math.MaxInt64, 1, "cache: an access of 1 bytes at address 9223372036854775807: it must end before 2^63"},
	} {
		refused(t, roofline.Maybe(func() { h.Read(c.addr, c.bytes) }), c.want)
		refused(t, roofline.Maybe(func() { h.Write(c.addr, c.bytes) }), c.want)
		refused(t, roofline.Maybe(func() { h.Loop(1, []Access{{Addr: c.addr, Bytes: c.bytes}}) }), c.want)
	}
	refused(t, roofline.Maybe(func() { h.Loop(-1, nil) }), "cache: count is -1: it must be at least 0")
	for _, a := range []Access{
		{Addr: 10, Stride: -6, Bytes: 1}, // 10, 4, −2
		{Addr: 10, Stride: math.MaxInt64/2 + 1, Bytes: 1},
		{Addr: 10, Stride: math.MaxInt64, Bytes: 1},
		{Addr: 10, Stride: math.MinInt64, Bytes: 1},
	} {
		refused(t, roofline.Maybe(func() { h.Loop(3, []Access{a}) }), "a loop of 3 rounds from address 10 with stride", "from 0 to 2^63")
	}
	if got := h.Stats()[0]; got != (Stats{Name: "L1", LineBytes: 8}) {
		t.Errorf("what is refused is counted: %+v", got)
	}
	// The last line there is.
	h.Read(math.MaxInt64-1, 1)
	h.Loop(1, []Access{{Addr: math.MaxInt64 - 8, Stride: math.MinInt64, Bytes: 8}})
	if err := roofline.Maybe(func() { h.Loop(0, []Access{{Addr: -1}}) }); err != nil {
		t.Errorf("no rounds: %v", err)
	}
}

// By hand: two ways, one set of two lines of 8 bytes.
func TestByHand(t *testing.T) {
	h := mustBuild(t, fewWays, Config{SizeBytes: 16, LineBytes: 8, Ways: 2})
	for _, step := range []struct {
		addr  int64
		write bool
		want  Stats // counted so far
	}{
		{0, false, Stats{Reads: 1, ReadMisses: 1, Fills: 1}},
		{4, true, Stats{Reads: 1, Writes: 1, ReadMisses: 1, Fills: 1}},                                  // line 0, now dirty
		{8, false, Stats{Reads: 2, Writes: 1, ReadMisses: 2, Fills: 2}},                                 // line 1
		{16, false, Stats{Reads: 3, Writes: 1, ReadMisses: 3, Fills: 3, WriteBacks: 1}},                 // line 2 pushes out line 0
		{8, false, Stats{Reads: 4, Writes: 1, ReadMisses: 3, Fills: 3, WriteBacks: 1}},                  // line 1 is still there
		{0, true, Stats{Reads: 4, Writes: 2, ReadMisses: 3, WriteMisses: 1, Fills: 4, WriteBacks: 1}},   // pushes out line 2, clean
		{16, true, Stats{Reads: 4, Writes: 3, ReadMisses: 3, WriteMisses: 2, Fills: 5, WriteBacks: 1}},  // pushes out line 1
		{24, false, Stats{Reads: 5, Writes: 3, ReadMisses: 4, WriteMisses: 2, Fills: 6, WriteBacks: 2}}, // pushes out line 0
		{24, false, Stats{Reads: 6, Writes: 3, ReadMisses: 4, WriteMisses: 2, Fills: 6, WriteBacks: 2}},
	} {
		var err error
		if step.write {
			err = roofline.Maybe(func() { h.Write(step.addr, 4) })
		} else {
			err = roofline.Maybe(func() { h.Read(step.addr, 4) })
		}
		want := step.want
		want.Name, want.LineBytes = "L1", 8
		want.BytesIn, want.BytesOut = 8*want.Fills, 8*want.WriteBacks
		if got := h.Memory(); err != nil || got != want {
			t.Errorf("address %d: %+v, %v; want %+v", step.addr, got, err, want)
		}
	}
	h.Flush() // line 2 is dirty
	got := h.Memory()
	if got.WriteBacks != 3 || got.Accesses() != 9 || got.Misses() != 6 || got.Bytes() != 8*(6+3) {
		t.Errorf("flushed: %+v", got)
	}
}

// A write that covers a line of the level below needs nothing from memory.
func TestWholeLinesAreNotFetched(t *testing.T) {
	for _, c := range []struct{ lower, fills int64 }{{8, 0}, {16, 1}} {
		h := mustBuild(t, fewWays, Config{SizeBytes: 8, LineBytes: 8, Ways: 1}, Config{SizeBytes: 2 * c.lower, LineBytes: c.lower, Ways: 1})
		read := func(addr int64) {
			h.Read(addr, 8)
		}
		h.Write(0, 8)
		// Push line 0 out of the lower level only: the upper one is asked for
		// nothing that is in the same place above.
		h.levels[1].clear()
		before := h.Memory().Fills
		h.levels[0].flush()
		if got := h.Memory().Fills - before; got != c.fills {
			t.Errorf("lines of %d bytes below: writing back 8 bytes fetches %d lines, want %d", c.lower, got, c.fills)
		}
		read(0)
		if got := h.Memory().Fills - before; got != c.fills {
			t.Errorf("the line that was written back is not in the lower level")
		}
	}
}

// A level of many ways hashes its lines. What it holds is where it looks.
func TestWideLooksAndFinds(t *testing.T) {
	const ways = 5000
	w := newWide(1, ways)
	w.clear()
	rng := rand.New(rand.NewPCG(6, 7))
	for range 200_000 {
		line := rng.Uint64N(3 * ways)
		if rng.IntN(2) == 0 {
			line *= 4096 // far apart
		}
		w.access(0, line, 0)
	}
	held := 0
	w.each(func(entry uint64) {
		if n := w.find(entry >> 1); n < 0 || w.nodes[n].entry != entry {
			t.Errorf("line %d is held and not found", entry>>1)
		}
		held++
	})
	filled := 0
	for _, n := range w.table {
		if n != 0 {
			filled++
		}
	}
	if held != ways || filled != ways || w.filled != ways {
		t.Errorf("%d lines are held, %d places of the table are filled and %d counted, want %d", held, filled, w.filled, ways)
	}
}

// What was not made with New says so.
func TestWithoutLevels(t *testing.T) {
	var h Hierarchy
	layout := Place(roofline.Square(4, 4))
	for what, use := range map[string]func(){
		"Read": func() { h.Read(0, 4) }, "Write": func() { h.Write(0, 4) },
		"Loop": func() { h.Loop(1, []Access{{Bytes: 4}}) }, "Naive": func() { layout.Naive(&h) },
	} {
		if err := roofline.Maybe(use); err == nil || !strings.Contains(err.Error(), "has no levels") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := roofline.Maybe(func() { layout.Naive(nil) }); err == nil || !strings.Contains(err.Error(), "to is nil") {
		t.Errorf("Naive without a sink: %v", err)
	}
}
