package cache

import (
	"fmt"
	"math"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
)

// Policy says what a level does with writes.
type Policy int

const (
	// WriteBack keeps a written line and writes it to the next level when it is
	// evicted. A write that misses brings the line in first (write-allocate).
	WriteBack Policy = iota
	// WriteThrough hands every write on to the next level at once. A write that
	// misses brings nothing in (no write-allocate).
	WriteThrough
)

func (p Policy) String() string {
	if p < WriteBack || p > WriteThrough {
		return fmt.Sprintf("Policy(%d)", int(p))
	}
	return []string{"write-back", "write-through"}[p]
}

// MaxLines is the greatest number of lines in one level.
const MaxLines = 1 << 24

// Config describes one level of cache.
type Config struct {
	Name      string // for tables and errors; empty stands for L1, L2, … by position
	SizeBytes int64  // capacity: a multiple of Ways·LineBytes
	LineBytes int64  // a power of two
	Ways      int64  // lines of one set; 0 is fully associative: one set of all lines
	Policy    Policy // what happens to writes
}

// FullyAssociative returns a cache of so many lines in a single set. A size
// beyond int64 is taken for the largest int64, which is more than any cache may
// have: see [Config.Validate].
func FullyAssociative(name string, lines, lineBytes int64) Config {
	size, ok := num.Sum{{lines, lineBytes}}.Int64()
	if !ok {
		size = math.MaxInt64
	}
	return Config{Name: name, SizeBytes: size, LineBytes: lineBytes}
}

// Lines returns SizeBytes/LineBytes, or 0 where [Config.Validate] gives an error.
func (c Config) Lines() int64 {
	if c.Validate() != nil {
		return 0
	}
	return c.lines()
}

// Sets returns the number of sets, or 0 where [Config.Validate] gives an error.
func (c Config) Sets() int64 {
	switch {
	case c.Validate() != nil:
		return 0
	case c.Ways == 0:
		return 1
	}
	return c.lines() / c.Ways
}

func (c Config) lines() int64 { return c.SizeBytes / c.LineBytes }

// Validate returns an error that names the first value that no cache can have.
func (c Config) Validate() error {
	switch {
	case c.LineBytes < 1 || c.LineBytes&(c.LineBytes-1) != 0:
		return arg.Errorf("line", c.LineBytes, "cache: %s: line is %d bytes: it must be a power of two", c.name(), c.LineBytes)
	case c.SizeBytes < 1:
		return arg.Errorf("size", c.SizeBytes, "cache: %s: size is %d bytes: it must be at least one line", c.name(), c.SizeBytes)
	case c.Ways < 0:
		return arg.Errorf("ways", c.Ways, "cache: %s: ways is %d: it must be at least 1, or 0 for fully associative", c.name(), c.Ways)
	case c.lines() > MaxLines:
		return arg.Errorf("size", c.SizeBytes, "cache: %s: size is %d bytes, %d lines: it must be at most %d lines", c.name(), c.SizeBytes, c.lines(), MaxLines)
	case c.SizeBytes%c.LineBytes != 0:
		return arg.Errorf("size", c.SizeBytes, "cache: %s: size is %d bytes: it must be a multiple of the line, %d bytes", c.name(), c.SizeBytes, c.LineBytes)
	case c.Ways > 0 && c.lines()%c.Ways != 0:
		return arg.Errorf("size", c.SizeBytes, "cache: %s: size is %d bytes: it must be a multiple of ways × line, %d × %d bytes", c.name(), c.SizeBytes, c.Ways, c.LineBytes)
	case c.Policy != WriteBack && c.Policy != WriteThrough:
		return arg.Errorf("policy", c.Policy, "cache: %s: policy is %v: it must be WriteBack or WriteThrough", c.name(), c.Policy)
	}
	return nil
}

func (c Config) name() string {
	if c.Name == "" {
		return "a level"
	}
	return c.Name
}

// Stats is what one level has counted. An access is a read or write of bytes
// within one line; one that spans lines counts once for each.
type Stats struct {
	Name      string
	LineBytes int64

	Reads, Writes           int64 // accesses that came from above
	ReadMisses, WriteMisses int64 // those of them that found no line

	Fills      int64 // lines read from below
	WriteBacks int64 // lines written below
	BytesIn    int64 // bytes read from below: Fills·LineBytes
	BytesOut   int64 // bytes written below: WriteBacks·LineBytes, and what is written through
}

// Accesses returns Reads + Writes.
func (s Stats) Accesses() int64 { return s.Reads + s.Writes }

// Misses returns ReadMisses + WriteMisses.
func (s Stats) Misses() int64 { return s.ReadMisses + s.WriteMisses }

// Bytes returns BytesIn + BytesOut: the traffic across the lower boundary.
func (s Stats) Bytes() int64 { return s.BytesIn + s.BytesOut }
