package bench

import (
	"strings"
	"testing"
	"time"
)

// fakeClock is a clock that only work moves. Its readings are rounded down to
// whole steps of its resolution.
type fakeClock struct {
	at         time.Duration
	cpuAt      time.Duration
	resolution time.Duration
	reading    time.Duration // what one reading costs
}

func (c *fakeClock) now() time.Time {
	c.at += c.reading
	at := c.at
	if c.resolution > 0 {
		at -= at % c.resolution
	}
	return time.Unix(1_000_000, 0).Add(at)
}

func (c *fakeClock) work(d time.Duration) { c.at += d }

// options returns options that measure with the clock.
func (c *fakeClock) options() Options {
	t := &timer{now: c.now, resolution: c.resolution, maxCalls: 1 << 20}
	return Options{timer: t}
}

// wantError checks that err is there and says each of the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", parts)
	}
	for _, p := range append(parts, "bench: ") {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// wantWarnings checks that there are as many warnings as parts, and that each
// says its part.
func wantWarnings(t *testing.T, got []string, parts ...string) {
	t.Helper()
	if len(got) != len(parts) {
		t.Fatalf("warnings are %q; want %d that say %q", got, len(parts), parts)
	}
	for i, p := range parts {
		if !strings.Contains(got[i], p) {
			t.Errorf("warning %d is %q: it does not say %q", i, got[i], p)
		}
	}
}
