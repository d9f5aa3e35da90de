package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memorywall/pkg/internal/host"
	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

// A small measurement has every figure, makes a machine file, and leaves no
// thread behind. How high the figures are is nobody's business here.
func TestMeasureRoof(t *testing.T) {
	threads := min(2, runtime.NumCPU())
	var done, total int
	m, err := MeasureRoof(context.Background(), RoofOptions{
		Time: leastRoofTime, Threads: threads, MaxBytes: 256 << 10,
		Progress: func(d, n int) {
			if d < done || total != 0 && n != total {
				t.Errorf("progress goes from %d of %d to %d of %d", done, total, d, n)
			}
			done, total = d, n
		},
		host: &Host{Cores: threads, Usable: threads, GOMAXPROCS: threads, LastLevels: []int64{64 << 10},
			Caches: []host.Cache{{Level: 1, Type: "data", Bytes: 16 << 10, Cores: 1}, {Level: 2, Type: "unified", Bytes: 64 << 10, Cores: 1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if total == 0 || done != total {
		t.Errorf("progress ends at %d of %d", done, total)
	}
	d := m.Measured
	counts := []int{1}
	if threads > 1 {
		counts = append(counts, threads)
	}
	for _, n := range counts {
		for _, isa := range probe.ComputeISAs() {
			for _, format := range []string{"FP32", "FP64"} {
				if p, err := d.Peak(n, format, isa); err != nil || len(p.Samples) < fewestSamples {
					t.Errorf("%s %s on %d: %d samples (%v)", isa, format, n, len(p.Samples), err)
				}
			}
		}
		for _, format := range []string{"FP32", "FP64"} {
			if roofs, err := m.Roofs(n, format, ""); err != nil || len(roofs) == 0 {
				t.Errorf("%d roofs on %d (%v)", len(roofs), n, err)
			}
		}
		seen := map[string]int{}
		for _, b := range d.Bandwidths {
			if b.Threads == n {
				seen[b.Loop]++
			}
			if b.WithWriteAllocate != b.BytesPerS*roofline.WriteAllocate(b.Loop) || b.WorkingSet > 256<<10 || len(b.Samples) < fewestSamples {
				t.Errorf("%+v", b)
			}
		}
		want := []string{roofline.LoadLoop, roofline.CopyLoop, roofline.TriadLoop}
		if memory, err := probe.NewMemory(""); err == nil && memory.Streams() {
			want = roofline.Loops()
		}
		for _, loop := range want {
			if seen[loop] == 0 {
				t.Errorf("no %s on %d", loop, n)
			}
		}
	}
	if m.Format != "FP32" || m.ElemBytes != 4 || d.Clock.Hz <= 0 || d.Host.Threads != threads || len(d.Method) == 0 || d.L1Load == nil {
		t.Errorf("%+v", m)
	}
	path := filepath.Join(t.TempDir(), "roof.json")
	if err := SaveMachine(path, m); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadMachine(path); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("another machine comes back (%v)", err)
	}
}

func TestMeasureRoofEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MeasureRoof(ctx, RoofOptions{MaxBytes: 256 << 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	// In the middle of it.
	ctx, cancel = context.WithCancel(context.Background())
	_, err := MeasureRoof(ctx, RoofOptions{MaxBytes: 256 << 10, Progress: func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestRoofOptionsRefuse(t *testing.T) {
	for _, c := range []struct {
		o    RoofOptions
		want string
	}{
		{RoofOptions{Time: time.Millisecond}, "Time is 1ms"},
		{RoofOptions{Time: -1}, "Time is -1ns"},
		{RoofOptions{Threads: -1}, "Threads is -1"},
		{RoofOptions{Threads: 1 << 20}, "Threads is 1048576"},
		{RoofOptions{MaxBytes: 5}, "MaxBytes is 5"},
	} {
		if _, err := MeasureRoof(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// More threads than cores would wait for each other.
func TestRoofThreads(t *testing.T) {
	for _, c := range []struct {
		h    Host
		want int
	}{{Host{Cores: 8, Usable: 8, GOMAXPROCS: 4}, 4}, {Host{Cores: 8, Usable: 2, GOMAXPROCS: 8}, 2}, {Host{Cores: 2, Usable: 2, GOMAXPROCS: 16}, 2}} {
		if o, err := (RoofOptions{}).complete(c.h); err != nil || o.Threads != c.want {
			t.Errorf("%+v: %d threads, %v; want %d", c.h, o.Threads, err, c.want)
		}
	}
}

// Every thread is in the work at once: each waits there for the others.
func TestTeam(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		team := newTeam(n)
		for range 20 {
			const times = 4
			var in [times]atomic.Int32
			seen := make([][times]int, n)
			seconds := team.run(times, func(i, k int) {
				seen[i][k]++
				in[k].Add(1)
				for in[k].Load() < int32(n) {
					runtime.Gosched()
				}
			})
			for i := range seen {
				if seen[i] != [times]int{1, 1, 1, 1} {
					t.Fatalf("thread %d of %d was called %v times", i, n, seen[i])
				}
			}
			if len(seconds) != times || !(slices.Min(seconds) >= 0) {
				t.Fatalf("%v seconds", seconds)
			}
		}
		team.close()
	}
}

func TestWorkingSets(t *testing.T) {
	for _, c := range []struct {
		first, most int64
		threads     int
	}{{16 << 10, 256 << 20, 1}, {24 << 10, 1920 << 20, 2}, {16 << 10, 64 << 10, 1}, {32 << 10, 64 << 10, 8}, {48 << 10, 64 << 10, 64}} {
		sets := workingSets(c.first, c.most, c.threads)
		unit := int64(6 * probe.RoundBytes * c.threads)
		if len(sets) == 0 || sets[len(sets)-1] > max(c.most, unit) || sets[len(sets)-1] <= c.most-unit {
			t.Errorf("%+v: %v", c, sets)
		}
		for i, s := range sets {
			if s%unit != 0 || s < unit || i > 0 && (s <= sets[i-1] || float64(s) > 1.6*float64(sets[i-1]) && s-sets[i-1] > unit) {
				t.Errorf("%+v: %d after %v", c, s, sets[:i])
			}
		}
		if first := c.first * int64(c.threads); sets[0] > 2*max(first, unit) {
			t.Errorf("%+v begins at %d", c, sets[0])
		}
	}
}

// All parts of a long pass together are the pass, but for a last bit.
func TestParts(t *testing.T) {
	memory, err := probe.NewMemory("")
	if err != nil {
		t.Fatal(err)
	}
	for _, loop := range roofline.Loops() {
		for _, set := range []int64{3 << 10, 96 << 10, 72 << 20} {
			p, free, err := probe.Alloc(set)
			if err != nil {
				t.Fatal(err)
			}
			probe.Fill(p)
			m := &meter{buffer: p}
			point := m.bandwidthPoint(memory, loop, 1, set)
			if got := point.bandwidth.WorkingSet; got > set || got < set-3*probe.RoundBytes {
				t.Errorf("%s of %d goes over %d", loop, set, got)
			}
			if small := set < 1<<20; small != (point.parts == 0) {
				t.Errorf("%s of %d has %d parts", loop, set, point.parts)
			}
			pass := point.work * float64(max(1, point.parts))
			if !(pass <= float64(set)) || !(pass >= 0.95*float64(set)) {
				t.Errorf("%s: %d parts of %v bytes make %v, not %d", loop, point.parts, point.work, pass, set)
			}
			if point.parts > 0 && loop == roofline.CopyLoop {
				x := probe.Numbers(p)
				x[len(x)/2] = 42
				for k := range point.parts {
					point.call(0, 1, k)
				}
				if x[0] != 42 {
					t.Errorf("the parts of a copy did not copy")
				}
			}
			free()
		}
	}
}

// curveOf makes the loads of some levels: a plateau up to each capacity, a slide
// to the next one, and noise that only ever lowers a rate.
func curveOf(threads int, noise float64, random *rand.Rand, capacities []int64, rates []float64, from, to int64) []roofline.BandwidthPoint {
	var points []roofline.BandwidthPoint
	for set := float64(from); set <= float64(to); set *= math.Sqrt2 {
		// Time for one byte: the part that fits is fast, the rest is not.
		level := 0
		for level < len(capacities) && set > float64(capacities[level]) {
			level++
		}
		rate := rates[level]
		if level < len(capacities) && set > 0.8*float64(capacities[level]) {
			rate = 1 / (0.6/rates[level] + 0.4/rates[level+1])
		}
		rate *= 1 - noise*random.Float64()
		for loop, share := range map[string]float64{roofline.LoadLoop: 1, roofline.TriadLoop: 0.7} {
			points = append(points, roofline.BandwidthPoint{Loop: loop, Threads: threads, WorkingSet: int64(set), BytesPerS: rate * share})
		}
	}
	return points
}

func TestLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const kib, mib = 1 << 10, 1 << 20
	for _, c := range []struct {
		name       string
		threads    int
		capacities []int64
		rates      []float64
		from, to   int64
		caches     []host.Cache
		names      []string
		warnings   []string
	}{
		{
			"three caches", 1, []int64{48 * kib, 2 * mib, 32 * mib}, []float64{400e9, 150e9, 40e9, 12e9}, 24 * kib, 128 * mib,
			[]host.Cache{{Level: 1, Type: "instruction", Bytes: 32 * kib, Cores: 1}, {Level: 1, Type: "data", Bytes: 48 * kib, Cores: 1}, {Level: 2, Type: "unified", Bytes: 2 * mib, Cores: 1}, {Level: 3, Type: "unified", Bytes: 32 * mib, Cores: 8}},
			[]string{"L1", "L2", "L3", "memory"}, nil,
		},
		{
			"private and shared, four threads", 4, []int64{4 * 32 * kib, 4 * mib, 16 * mib}, []float64{1600e9, 600e9, 150e9, 30e9}, 64 * kib, 64 * mib,
			[]host.Cache{{Level: 1, Type: "data", Bytes: 32 * kib, Cores: 1}, {Level: 2, Type: "unified", Bytes: 1 * mib, Cores: 1}, {Level: 3, Type: "unified", Bytes: 16 * mib, Cores: 4}},
			[]string{"L1", "L2", "L3", "memory"}, nil,
		},
		{
			"nothing reported", 1, []int64{32 * kib, 1 * mib}, []float64{200e9, 60e9, 10e9}, 16 * kib, 64 * mib,
			nil, []string{"up to 22.63 KiB", "up to 724.1 KiB", "memory"}, nil,
		},
		{
			"a flat curve", 1, nil, []float64{10e9}, 16 * kib, 64 * mib,
			[]host.Cache{{Level: 1, Type: "data", Bytes: 32 * kib}, {Level: 2, Type: "unified", Bytes: 1 * mib}},
			[]string{"memory"}, []string{"no knee in the curve where L1 of 32 KiB ends", "no knee in the curve where L2 of 1 MiB ends"},
		},
		{
			"a part of the last cache is out of reach", 1, []int64{32 * kib, 4 * mib}, []float64{200e9, 60e9, 10e9}, 16 * kib, 64 * mib,
			[]host.Cache{{Level: 1, Type: "data", Bytes: 32 * kib}, {Level: 3, Type: "unified", Bytes: 100 * mib}},
			[]string{"L1", "L3 up to 2.828 MiB", "cache or memory"}, []string{"inside of what is reported as L3 of 100 MiB"},
		},
		{
			"a knee that no cache explains", 1, []int64{32 * kib, 8 * mib}, []float64{200e9, 60e9, 10e9}, 16 * kib, 128 * mib,
			[]host.Cache{{Level: 1, Type: "data", Bytes: 32 * kib}},
			[]string{"L1", "up to 5.657 MiB", "memory"}, []string{"where no cache is reported to end"},
		},
	} {
		for _, noise := range []float64{0, 0.03} {
			t.Run(fmt.Sprintf("%s/noise=%v", c.name, noise), func(t *testing.T) {
				points := curveOf(c.threads, noise, random, c.capacities, c.rates, c.from, c.to)
				// Points of another number of threads, and in another order, change nothing.
				// So does a slower loop over the same working set.
				slow := points[0]
				slow.Loop, slow.BytesPerS = roofline.LoadLoop, 1
				points = append(points, slow, roofline.BandwidthPoint{Loop: roofline.LoadLoop, Threads: c.threads + 1, WorkingSet: 1 << 20, BytesPerS: 1e15})
				random.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
				levels, warnings := levelsOf(points, c.threads, c.caches, c.to >= 60*mib && !strings.HasPrefix(c.name, "a part"))
				var names []string
				for i, l := range levels {
					names = append(names, l.Name)
					if l.Threads != c.threads || l.From > l.To || i > 0 && l.From <= levels[i-1].To {
						t.Errorf("%+v after %+v", l, levels[:i])
					}
					if want := c.rates[i]; !(l.Bandwidth <= want*(1+1e-9)) || !(l.Bandwidth >= want*(1-noise)*0.99) {
						t.Errorf("%s: %.4g B/s, want %.4g", l.Name, l.Bandwidth, want)
					}
					if l.Rates[roofline.LoadLoop] != l.Bandwidth || !(math.Abs(l.Rates[roofline.TriadLoop]/l.Bandwidth-0.7) <= 0.7*noise+1e-9) {
						t.Errorf("%s: rates %v", l.Name, l.Rates)
					}
				}
				if !slices.Equal(names, c.names) {
					t.Errorf("levels %q, want %q", names, c.names)
				}
				if len(warnings) != len(c.warnings) {
					t.Errorf("warnings %q, want %q", warnings, c.warnings)
				}
				for _, want := range c.warnings {
					if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, want) }) {
						t.Errorf("warnings %q, want %q", warnings, want)
					}
				}
			})
		}
	}
	// The outermost level does not take its rates from where it begins.
	var slide []roofline.BandwidthPoint
	for i := range 12 {
		slide = append(slide, roofline.BandwidthPoint{Loop: roofline.LoadLoop, Threads: 1, WorkingSet: 1 << (20 + i), BytesPerS: 10e9 * (1 - 0.01*float64(i))})
	}
	if levels, _ := levelsOf(slide, 1, nil, true); len(levels) != 1 || levels[0].Bandwidth != slide[9].BytesPerS {
		t.Errorf("a curve that slides: %+v, want %v B/s", levels, slide[9].BytesPerS)
	}
	if levels, warnings := levelsOf(nil, 1, nil, true); levels != nil || warnings != nil {
		t.Errorf("levels of nothing: %v, %v", levels, warnings)
	}
}

func TestDoubts(t *testing.T) {
	good := func() *roofline.Measured {
		return &roofline.Measured{
			Host:   roofline.Host{Threads: 2},
			Clock:  roofline.Clock{Hz: 3e9, Least: 2.95e9, Most: 3e9},
			L1Load: &roofline.L1Load{BytesPerCycle: 125, Ports: 128},
			Peaks:  []roofline.ComputePeak{{ISA: "avx2", Format: "FP32", Threads: 1, FLOPS: 100, Median: 99}},
			Bandwidths: []roofline.BandwidthPoint{
				{Loop: roofline.LoadLoop, Threads: 1, WorkingSet: 4096, BytesPerS: 100, Median: 98},
				{Loop: roofline.CopyLoop, Threads: 2, WorkingSet: 1 << 20, BytesPerS: 100, Median: 98},
			},
		}
	}
	if got := doubts(good(), Host{}); len(got) != 0 {
		t.Errorf("doubts about nothing: %q", got)
	}
	for _, c := range []struct {
		name   string
		change func(d *roofline.Measured, h *Host)
		want   string
	}{
		{"quota", func(_ *roofline.Measured, h *Host) { h.Quota = 1.5 }, "the CPU quota is 1.5 cores, and 2 threads were used"},
		{"clock", func(d *roofline.Measured, _ *Host) { d.Clock.Least = 2e9 }, "the clock moved between 2 and 3 GHz"},
		{"peak", func(d *roofline.Measured, _ *Host) { d.Peaks[0].Median = 80 }, "in 1 of 3 figures the best lies more than 5% above the median (most: avx2 FP32 on one core by 25%)"},
		{"bandwidth", func(d *roofline.Measured, _ *Host) { d.Bandwidths[1].Median = 50 }, "copy of 1 MiB on 2 cores by 100%"},
		{"no median", func(d *roofline.Measured, _ *Host) { d.Bandwidths[1].Median = math.NaN() }, "wide spread"},
		{"ports", func(d *roofline.Measured, _ *Host) { d.L1Load.BytesPerCycle = 64 }, "loads from L1 reach 64 bytes a cycle, and the load ports can do 128"},
	} {
		d, h := good(), Host{}
		c.change(d, &h)
		if got := doubts(d, h); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Samples planted in a meter come out as figures and as reasons for doubt.
func TestPlantedSamples(t *testing.T) {
	steady := []float64{100, 99.8, 99.7, 99.9, 99.6, 99.5}
	for _, c := range []struct {
		name  string
		rates []float64 // of avx2 on all cores
		begun []int
		best  float64
		want  string // part of the only warning; none if empty
	}{
		{"all alike", steady, []int{0, 3}, 100, ""},
		{"one sample disturbed", []float64{100, 99.8, 60, 99.9, 99.6, 99.5}, []int{0, 3}, 100, ""},
		{"most samples disturbed", []float64{100, 93, 92, 91, 93, 94}, []int{0, 3}, 100, "in 1 of 3 figures the best lies more than 5% above the median (most: avx2 FP32 on 2 cores by 8%)"},
		{"a slow time of the run", []float64{93, 92.9, 92.8, 100, 99.9, 99.8}, []int{0, 3}, 100, "in 1 of 3 figures the best of one visit lies more than 5% above that of another (most: avx2 FP32 on 2 cores by 8%): another run"},
		{"a slow time later", []float64{100, 99.9, 99.8, 92.8, 92.9, 93}, []int{0, 3}, 100, "of one visit lies more than 5% above that of another"},
		{"the third time is the charm", []float64{93, 93, 93, 93, 93, 93, 100, 100, 100}, []int{0, 3, 6}, 100, "median"},
		{"almost as slow", []float64{96, 95.9, 95.8, 100, 99.9, 99.8}, []int{0, 3}, 100, ""},
		{"one visit only", []float64{93, 92.9, 92.8}, []int{0}, 93, ""},
		{"a visit without a sample", steady, []int{0, 3, 6}, 100, ""},
	} {
		peak := func(threads int) *point {
			return &point{threads: threads, rates: steady, begun: []int{0, 3},
				peak: &roofline.ComputePeak{ISA: "avx2", Fused: true, Format: "FP32", ElemBytes: 4, Threads: threads}}
		}
		disturbed := peak(2)
		disturbed.rates, disturbed.begun = c.rates, c.begun
		load := &point{threads: 1, rates: steady, begun: []int{0, 3},
			bandwidth: &roofline.BandwidthPoint{Loop: roofline.LoadLoop, ISA: "avx2", Threads: 1, WorkingSet: 1 << 20}}
		m := &meter{o: RoofOptions{Threads: 2}, start: time.Now(), clock: []float64{3e9, 3e9}, points: []*point{peak(1), disturbed, load}}
		got, err := m.machine()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got.Peak != c.best {
			t.Errorf("%s: the peak is %v, want %v", c.name, got.Peak, c.best)
		}
		var doubts []string
		for _, w := range got.Measured.Warnings {
			if strings.HasPrefix(w, "wide spread") {
				doubts = append(doubts, w)
			}
		}
		switch {
		case c.want == "" && len(doubts) > 0, c.want != "" && !strings.Contains(strings.Join(doubts, "\n"), c.want):
			t.Errorf("%s: %q, want %q", c.name, doubts, c.want)
		}
	}
}

// A figure that cannot be right is an error, not a machine.
func TestImpossibleSamples(t *testing.T) {
	for want, change := range map[string]func(m *meter){
		"clock: hz is 0":       func(m *meter) { m.clock = []float64{0} },
		"peak is +Inf FLOP/s":  func(m *meter) { m.points[0].rates = []float64{math.Inf(1)} },
		"bandwidth is +Inf":    func(m *meter) { m.points[1].rates = []float64{math.Inf(1)} },
		"no measured peak for": func(m *meter) { m.points[0].peak.Format = "FP64" },
	} {
		m := &meter{o: RoofOptions{Threads: 1}, start: time.Now(), clock: []float64{3e9}, points: []*point{
			{rates: []float64{1e9}, peak: &roofline.ComputePeak{ISA: "avx2", Format: "FP32", ElemBytes: 4, Threads: 1}},
			{rates: []float64{1e9}, bandwidth: &roofline.BandwidthPoint{Loop: roofline.LoadLoop, ISA: "avx2", Threads: 1, WorkingSet: 1 << 20}},
		}}
		if _, err := m.machine(); err != nil {
			t.Fatal(err)
		}
		change(m)
		if _, err := m.machine(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// What the machine file keeps of a host: no caches of instructions.
func TestMeasuredHost(t *testing.T) {
	h := Host{CPU: "c", Cores: 4, Quota: 1.5, Memory: 1 << 30, Caches: []host.Cache{
		{Level: 1, Type: "data", Bytes: 48 << 10, Cores: 1}, {Level: 1, Type: "instruction", Bytes: 32 << 10}, {Level: 2, Type: "unified", Bytes: 1 << 20, Cores: 2}}}
	got := kept(h, 3)
	want := roofline.Host{CPU: "c", Cores: 4, Threads: 3, Quota: 1.5, Memory: 1 << 30, Caches: []roofline.Cache{{Level: 1, Bytes: 48 << 10, Cores: 1}, {Level: 2, Bytes: 1 << 20, Cores: 2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Stretches fall from one to the next: what rises again belongs to the one before.
func TestStretchesFall(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  []stretch
	}{
		{[]float64{100, 100, 100, 100, 50, 50, 50, 50, 80, 80, 80, 80}, []stretch{{0, 4}, {4, 12}}},
		{[]float64{100, 100, 100, 100, 50, 50, 50, 50, 20, 20, 20, 20}, []stretch{{0, 4}, {4, 8}, {8, 12}}},
		{[]float64{20, 20, 20, 20, 100, 100, 100, 100}, []stretch{{0, 8}}},
		{[]float64{7}, []stretch{{0, 1}}},
	} {
		if got := stretches(c.rates); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.rates, got, c.want)
		}
	}
}

// Each point is visited twice at different times, while time is left, and again
// only if its samples do not agree.
func TestVisits(t *testing.T) {
	for _, c := range []struct {
		p    point
		want bool
	}{
		{point{rates: []float64{100, 100, 100}, begun: []int{0}}, false},
		{point{rates: []float64{100, 100, 100, 100, 100, 100}, begun: []int{0, 3}}, true},
		{point{rates: []float64{100, 90, 80, 70, 60, 50}, begun: []int{0, 3}}, false},
		{point{rates: make([]float64, mostSamples), begun: []int{0}}, true},
	} {
		if got := c.p.done(); got != c.want {
			t.Errorf("%v from %v: done is %v", c.p.rates, c.p.begun, got)
		}
	}
	m := &meter{ctx: context.Background(), start: time.Now(), o: RoofOptions{Time: time.Hour, MaxBytes: 1 << 20}}
	defer m.close()
	m.deadline = m.start.Add(30 * time.Second)
	var order []int
	for i := range 3 {
		m.points = append(m.points, &point{
			peak: &roofline.ComputePeak{}, threads: 1, weight: 1, work: 1, reps: 1,
			call: func(int, int, int) {
				if n := len(order); n == 0 || order[n-1] != i {
					order = append(order, i)
				}
				time.Sleep(time.Millisecond)
			},
		})
	}
	p, free, err := probe.Alloc(64 << 10)
	if err != nil {
		t.Fatal(err)
	}
	m.buffer, m.free = p, free
	if err := m.sampleAll(); err != nil {
		t.Fatal(err)
	}
	if len(order) < 6 || !slices.Equal(order[:6], []int{0, 1, 2, 0, 1, 2}) {
		t.Errorf("visited in the order %v", order)
	}
}

// Many threads and little memory: every thread still has its part of the buffer.
func TestManyThreadsFit(t *testing.T) {
	m := &meter{ctx: context.Background(), start: time.Now(), o: RoofOptions{Threads: 50, MaxBytes: leastRoofBytes, Time: time.Minute}}
	defer m.close()
	if err := m.allocate(); err != nil {
		t.Fatal(err)
	}
	if err := m.addBandwidths(50); err != nil {
		t.Fatal(err)
	}
	if len(m.points) == 0 {
		t.Fatal("no points")
	}
	for _, p := range m.points {
		for i := range 50 {
			p.call(i, 1, 0)
		}
	}
}

func TestLoadPorts(t *testing.T) {
	for _, c := range []struct {
		cpu, isa string
		has      []string
		want     float64
	}{
		{"Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "avx512", []string{"avx2", "avx512f"}, 128},
		{"Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "avx2", []string{"avx2", "avx512f"}, 0},
		{"Intel(R) Core(TM) i7-8700K", "avx2", []string{"avx2"}, 0},
		{"AMD EPYC 7763 64-Core Processor", "avx2", []string{"avx2"}, 64},
		{"AMD EPYC 7R32", "avx2", []string{"avx2"}, 64},
		{"AMD EPYC 7601 32-Core Processor", "avx2", []string{"avx2"}, 0},
		{"AMD EPYC 9654 96-Core Processor", "avx512", []string{"avx2", "avx512f"}, 64},
		{"AMD EPYC 9755 128-Core Processor", "avx512", []string{"avx2", "avx512f"}, 0},
		{"Apple M2", "go", []string{"asimd"}, 0},
		{"AMD EPYC 7", "avx2", []string{"avx2"}, 0},
		{"AMD EPYC 7é3", "avx2", []string{"avx2"}, 0},
		{"", "avx512", []string{"avx512f"}, 0},
	} {
		got, source := loadPorts(Host{CPU: c.cpu, ISA: c.has}, c.isa)
		if got != c.want || (source != "") != (c.want != 0) {
			t.Errorf("%s with %s: %v (%q), want %v", c.cpu, c.isa, got, source, c.want)
		}
	}
}

func TestSettled(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  bool
	}{{nil, false}, {[]float64{100, 100}, false}, {[]float64{100, 99.5, 20, 99.2}, true}, {[]float64{100, 99.5, 98.9}, false}} {
		if got := (&point{rates: c.rates}).settled(); got != c.want {
			t.Errorf("%v: %v", c.rates, got)
		}
	}
}

func TestSaveMachineLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "roof.json")
	if err := SaveMachine(path, roofline.A100()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// What cannot be saved leaves the file that was there.
	if err := SaveMachine(path, roofline.Machine{Name: "none"}); err == nil {
		t.Error("no machine is saved")
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v)", err)
	}
	// A folder in the way: the rename fails, and its temporary file goes.
	blocked := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := SaveMachine(blocked, roofline.A100()); err == nil || !strings.Contains(err.Error(), "cannot write "+blocked) {
		t.Errorf("error %v", err)
	}
	if err := SaveMachine(filepath.Join(dir, "nowhere", "roof.json"), roofline.A100()); err == nil {
		t.Error("saved in a folder that is not there")
	}
	if err := SaveMachine("", roofline.A100()); err == nil || !strings.Contains(err.Error(), "path of the machine file is empty") {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d entries are left: %v (%v)", len(entries), entries, err)
	}
}

func TestLoadMachineRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := roofline.A100()
	m.Measured = &roofline.Measured{
		Date: "2026-01-02T03:04:05Z", Host: roofline.Host{Threads: 1},
		Clock:      roofline.Clock{Hz: 1, Least: 1, Most: 1, Samples: []float64{1}},
		Peaks:      []roofline.ComputePeak{{ISA: "go", Format: "FP32", ElemBytes: 4, Threads: 1, FLOPS: 1, Median: 1, Samples: []float64{1}}},
		Bandwidths: []roofline.BandwidthPoint{{Loop: roofline.LoadLoop, Threads: 1, WorkingSet: 1, BytesPerS: 1, WithWriteAllocate: 1, Median: 1, Samples: []float64{1}}},
		Levels:     []roofline.Level{{Name: "memory", Threads: 1, From: 1, To: 1, Bandwidth: 1}},
	}
	text, err := roofline.EncodeMachine(m)
	if err != nil {
		t.Fatal(err)
	}
	sample := string(text)
	if _, err := LoadMachine(write("good.json", sample)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.json"), "there is no machine file"},
		{dir, "cannot read the machine file"},
		{write("empty.json", ""), "empty.json: roofline: machine file is empty"},
		{write("date.json", strings.Replace(sample, `"date": "2026`, `"date": "yesterday 2026`, 1)), "it must be of the form"},
		{write("later.json", `{"schema": 99}`), "schema 99: this program reads schema 1"},
	} {
		if _, err := LoadMachine(c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestMachinePath(t *testing.T) {
	path := MachinePath()
	if filepath.Base(path) != MachineFile {
		t.Errorf("path %s", path)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "pkg", "bench", "roof_test.go")); err != nil {
		t.Errorf("%s is not in the checkout", path)
	}
	t.Chdir(t.TempDir())
	if path := MachinePath(); path != MachineFile {
		t.Errorf("outside of the checkout the path is %s", path)
	}
}

func TestTogetherTimes(t *testing.T) {
	var calls [3][2]int
	seconds := Together(3, 2, func(i, k int) { calls[i][k]++ })
	if want := [3][2]int{{1, 1}, {1, 1}, {1, 1}}; calls != want {
		t.Errorf("calls %v, want %v", calls, want)
	}
	if len(seconds) != 2 || !(seconds[0] >= 0 && seconds[1] >= 0) {
		t.Errorf("seconds %v: want two that are not negative", seconds)
	}
}

func TestFastestLoad(t *testing.T) {
	p, free, err := probe.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	probe.Fill(p)
	m, err := FastestLoad(p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(probe.MemoryISAs(), m.ISA()) {
		t.Errorf("ISA %q is none of %v", m.ISA(), probe.MemoryISAs())
	}
	if _, err := FastestLoad(p[:probe.RoundBytes-1]); err == nil {
		t.Error("no error for a length that is no multiple of a round")
	}
}
