//go:build peer && amd64 && linux

package bench

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

var (
	peerBytes = flag.Int64("peer.bytes", 512<<20, "bytes of all arrays, on each side")
	peerTime  = flag.Duration("peer.time", 2*time.Second, "time for each figure, both sides together")
	peerOnly  = flag.String("peer.only", "", "only the figures whose name contains this")
)

// TestPeer holds the probes against C, by turns within one run, and prints the
// rates. By hand, on a quiet machine, with gcc:
//
//	go test -tags peer -run Peer -v ./pkg/bench -args -peer.time 5s [-peer.only triad]
//
// The stores are alike on both sides: plain against plain, streaming against
// streaming. gcc makes the plain copy a call of memcpy unless told not to; that
// one is printed too, and held against nothing, since memcpy may stream.
func TestPeer(t *testing.T) {
	c := startPeer(t)
	counts := []int{1}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		counts = append(counts, n)
	}
	fmt.Println(ReadHost())
	fmt.Printf("%-40s %10s %10s %10s %10s %8s %8s\n", "", "ours", "median", "C", "median", "best", "median")
	teams := map[int]*team{}
	for _, n := range counts {
		teams[n] = newTeam(n)
		defer teams[n].close()
	}
	for _, n := range counts {
		for _, isa := range probe.ComputeISAs[float64]() {
			if isa == probe.AVX512 || isa == probe.AVX2 {
				peerFMA[float32](t, c, teams[n], n, isa, "f32", 0.98)
				peerFMA[float64](t, c, teams[n], n, isa, "f64", 0.98)
			}
		}
	}
	p, free, err := probe.Alloc(*peerBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	n := counts[len(counts)-1]
	teams[n].run(1, func(i, _ int) {
		each := len(p) / n / probe.RoundBytes * probe.RoundBytes
		probe.Fill(p[i*each:][:each])
	})
	m := &meter{buffer: p}
	for _, n := range counts {
		for _, loop := range roofline.Loops() {
			want := 0.97
			if loop == roofline.LoadLoop {
				want = 0 // C's loop adds up; ours only loads
			}
			best := 0.0
			for _, isa := range probe.MemoryISAs()[:2] {
				memory, err := probe.NewMemory(isa)
				if err != nil {
					t.Fatal(err)
				}
				point := m.bandwidthPoint(memory, loop, n, *peerBytes)
				ask := func(name string) func(times int) []float64 {
					at := 0
					return func(times int) []float64 {
						from := at
						at += times
						return c.ask(t, "memory %s %d %d %d %d %d", name, *peerBytes, point.parts, from, n, times)
					}
				}
				at := 0
				ours := func(times int) []float64 {
					from := at
					at += times
					return teams[n].run(times, func(i, k int) { point.call(i, 1, (from+k)%point.parts) })
				}
				best = max(best, turns(t, fmt.Sprintf("%s %s, %s", loop, isa, roofline.Threads(n)), "GB/s", point.work/1e9, ours, ask(loop)))
				if loop == roofline.CopyLoop {
					turns(t, fmt.Sprintf("%s %s against memcpy, %s", loop, isa, roofline.Threads(n)), "GB/s", point.work/1e9, ours, ask("copy-memcpy"))
				}
			}
			if !(best >= want) {
				t.Errorf("%s, %s: %.3f of C's: want %v", loop, roofline.Threads(n), best, want)
			}
		}
	}
}

func peerFMA[T probe.Float](t *testing.T, c *peer, team *team, n int, isa, name string, want float64) {
	loops := make([]*probe.Compute[T], n)
	for i := range loops {
		var err error
		if loops[i], err = probe.NewCompute[T](isa); err != nil {
			t.Fatal(err)
		}
	}
	const rounds = 150_000 // about a millisecond
	got := turns(t, fmt.Sprintf("fma %s %s, %s", name, isa, roofline.Threads(n)), "GFLOP/s",
		float64(loops[0].FLOPs())*rounds*float64(n)/1e9,
		func(times int) []float64 { return team.run(times, func(i, _ int) { loops[i].Run(rounds) }) },
		func(times int) []float64 { return c.ask(t, "fma %s %s %d %d %d", name, isa, n, rounds, times) })
	if !(got >= want) {
		t.Errorf("fma %s %s, %s: %.3f of C's: want %v", name, isa, roofline.Threads(n), got, want)
	}
}

// turns lets both sides run by turns and returns our best rate over theirs.
func turns(t *testing.T, what, unit string, work float64, ours, theirs func(times int) []float64) float64 {
	t.Helper()
	if !strings.Contains(what, *peerOnly) {
		return math.Inf(1)
	}
	ours(8) // touch what is new
	theirs(8)
	var a, b []float64
	for start := time.Now(); len(a) == 0 || time.Since(start) < *peerTime; {
		a = append(a, ours(8)...)
		b = append(b, theirs(8)...)
	}
	best, other := work/slices.Min(a), work/slices.Min(b)
	mid, otherMid := work/median(a), work/median(b)
	fmt.Printf("%-40s %10.2f %10.2f %10.2f %10.2f %8.3f %8.3f  %s, %d samples\n", what, best, mid, other, otherMid, best/other, mid/otherMid, unit, len(a))
	return best / other
}

type peer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	program := filepath.Join(t.TempDir(), "peer")
	cmd := exec.Command("gcc", "-O3", "-march=native", "-pthread", "-o", program, filepath.Join("testdata", "peer.c"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	run := exec.Command(program)
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := run.Wait(); err != nil {
			t.Errorf("peer: %v", err)
		}
	})
	return &peer{in, bufio.NewReader(out)}
}

// ask returns the seconds that the peer answers.
func (p *peer) ask(t *testing.T, format string, args ...any) []float64 {
	t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("peer, "+format+": %v", append(args, err)...)
	}
	var s []float64
	for _, f := range strings.Fields(line) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, v)
	}
	return s
}
