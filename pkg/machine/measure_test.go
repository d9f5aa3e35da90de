package machine

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
	"testing"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/host"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/probe"
)

// A small measurement has every figure, makes a machine file, and leaves no
// thread behind. How high the figures are is nobody's business here.
func TestMeasure(t *testing.T) {
	threads := min(2, runtime.NumCPU())
	var done, total int
	m, err := Measure(context.Background(), Options{
		Time: minTime, Threads: threads, MaxBytes: 256 << 10,
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
		for format, isas := range map[string][]string{"FP32": probe.ComputeISAs[float32](), "FP64": probe.ComputeISAs[float64](), "INT8": probe.ComputeISAs[int32]()} {
			for _, isa := range isas {
				if p, err := d.Peak(n, format, isa); err != nil || len(p.Samples) < 3 {
					t.Errorf("%s %s on %d: %d samples (%v)", isa, format, n, len(p.Samples), err)
				}
			}
		}
		for _, format := range []string{"FP32", "FP64"} {
			if roofs := m.Roofs(n, format, ""); len(roofs) == 0 {
				t.Errorf("no roofs on %d", n)
			}
		}
		seen := map[string]int{}
		for _, b := range d.Bandwidths {
			if b.Threads == n {
				seen[b.Loop]++
			}
			if b.WithWriteAllocate != b.BytesPerS*WriteAllocate(b.Loop) || b.WorkingSet > 256<<10 || len(b.Samples) < 3 {
				t.Errorf("%+v", b)
			}
		}
		want := []string{LoadLoop, CopyLoop, TriadLoop}
		if memory, err := probe.NewMemory(""); err == nil && memory.Streams() {
			want = Loops()
		}
		for _, loop := range want {
			if seen[loop] == 0 {
				t.Errorf("no %s on %d", loop, n)
			}
		}
	}
	if m.Format != "FP32" || m.ElemBytes != 4 || d.Clock.Hz <= 0 || d.Host.Threads != threads || len(d.Method) == 0 || d.L1Load == nil || len(d.Calls) != len(counts) || d.Asked != minTime.Seconds() {
		t.Errorf("%+v", m)
	}
	path := filepath.Join(t.TempDir(), "roof.json")
	if err := Save(path, m); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(path); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("another machine comes back (%v)", err)
	}
}

func TestMeasureRoofEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, Options{MaxBytes: 256 << 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	// In the middle of it.
	ctx, cancel = context.WithCancel(context.Background())
	_, err := Measure(ctx, Options{MaxBytes: 256 << 10, Progress: func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOptionsRefuse(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Time: time.Millisecond}, "Time is 1ms"},
		{Options{Time: -1}, "Time is -1ns"},
		{Options{Threads: -1}, "Threads is -1"},
		{Options{Threads: 1 << 20}, "Threads is 1048576"},
		{Options{MaxBytes: 5}, "MaxBytes is 5"},
	} {
		if _, err := Measure(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
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
		if o, err := (Options{}).complete(c.h); err != nil || o.Threads != c.want {
			t.Errorf("%+v: %d threads, %v; want %d", c.h, o.Threads, err, c.want)
		}
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
	crew := bench.NewCrew(1)
	defer crew.Close()
	for _, loop := range Loops() {
		for _, set := range []int64{3 << 10, 96 << 10, 72 << 20} {
			p, free, err := probe.Alloc(set)
			if err != nil {
				t.Fatal(err)
			}
			probe.Fill(p)
			c, got := bandwidth(crew, memory, loop, p, set)
			if got > set || got < set-3*probe.RoundBytes {
				t.Errorf("%s of %d goes over %d", loop, set, got)
			}
			parts := math.Round(float64(got) / c.Work.Bytes)
			if small := set < 1<<20; small != (parts == 1) {
				t.Errorf("%s of %d has %v parts", loop, set, parts)
			}
			if pass := c.Work.Bytes * parts; !(pass <= float64(set)) || !(pass >= 0.95*float64(set)) {
				t.Errorf("%s: %v parts of %v bytes make %v, not %d", loop, parts, c.Work.Bytes, pass, set)
			}
			if parts > 1 && loop == CopyLoop {
				x := probe.Numbers(p)
				x[len(x)/2] = 42
				for range 3 {
					if _, err := c.Timed(int(parts) / 3); err != nil {
						t.Error(err)
					}
				}
				if _, err := c.Timed(3); err != nil || x[0] != 42 || x[len(x)/2-1-int(c.Work.Bytes)/16] != x[len(x)-1-int(c.Work.Bytes)/16] {
					t.Errorf("the parts of a copy did not copy (%v)", err)
				}
			}
			free()
		}
	}
}

// curveOf makes the loads of some levels: a plateau up to each capacity, a slide
// to the next one, and noise that only ever lowers a rate.
func curveOf(threads int, noise float64, random *rand.Rand, capacities []int64, rates []float64, from, to int64) []BandwidthPoint {
	var points []BandwidthPoint
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
		for loop, share := range map[string]float64{LoadLoop: 1, TriadLoop: 0.7} {
			points = append(points, BandwidthPoint{Loop: loop, Threads: threads, WorkingSet: int64(set), BytesPerS: rate * share})
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
				slow.Loop, slow.BytesPerS = LoadLoop, 1
				points = append(points, slow, BandwidthPoint{Loop: LoadLoop, Threads: c.threads + 1, WorkingSet: 1 << 20, BytesPerS: 1e15})
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
					if l.Rates[LoadLoop] != l.Bandwidth || !(math.Abs(l.Rates[TriadLoop]/l.Bandwidth-0.7) <= 0.7*noise+1e-9) {
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
	var slide []BandwidthPoint
	for i := range 12 {
		slide = append(slide, BandwidthPoint{Loop: LoadLoop, Threads: 1, WorkingSet: 1 << (20 + i), BytesPerS: 10e9 * (1 - 0.01*float64(i))})
	}
	if levels, _ := levelsOf(slide, 1, nil, true); len(levels) != 1 || levels[0].Bandwidth != slide[9].BytesPerS {
		t.Errorf("a curve that slides: %+v, want %v B/s", levels, slide[9].BytesPerS)
	}
	// Which working sets give a level's bandwidth: those from twice the end of the level
	// before on, to its own end, of every loop; and in the outermost level those from a
	// quarter of the largest on.
	var curve []BandwidthPoint
	put := func(loop string, kib int64, rate float64) {
		curve = append(curve, BandwidthPoint{Loop: loop, Threads: 1, WorkingSet: kib << 10, BytesPerS: rate})
	}
	for _, load := range [][2]float64{{16, 100}, {24, 100}, {32, 100}, {48, 100}, {64, 100}, {90, 52}, {128, 50}, {180, 50}, {256, 50}, {512, 49}, {1024, 48},
		{2048, 10.9}, {4096, 10.5}, {8192, 10}, {16384, 10}, {32768, 10}} {
		put(LoadLoop, int64(load[0]), load[1])
	}
	for _, copied := range [][2]float64{
		{64, 90},    // the end of the first level
		{65, 99},    // between two levels: of neither
		{90, 98},    // of the second level, but not clear of the first
		{123, 97},   // more than a bit too small
		{125, 60},   // a bit too small, as arrays of whole rounds are: counts
		{1024, 55},  // the end of the second level
		{1025, 70},  // past it
		{7900, 19},  // just below a quarter of the largest
		{8000, 18},  // a bit below: counts
		{32769, 17}, // past the largest
	} {
		put(CopyLoop, int64(copied[0]), copied[1])
	}
	levels, _ := levelsOf(curve, 1, nil, true)
	for i, want := range []struct{ load, copy float64 }{{100, 90}, {50, 60}, {10, 18}} {
		if len(levels) != 3 || levels[i].Rates[LoadLoop] != want.load || levels[i].Rates[CopyLoop] != want.copy || levels[i].Bandwidth != max(want.load, want.copy) {
			t.Errorf("level %d of %d: %+v; want %+v", i, len(levels), levels[min(i, len(levels)-1)], want)
		}
	}
	if levels, warnings := levelsOf(nil, 1, nil, true); levels != nil || warnings != nil {
		t.Errorf("levels of nothing: %v, %v", levels, warnings)
	}
}

func TestDoubts(t *testing.T) {
	good := func() *Measured {
		return &Measured{Host: MeasuredHost{Threads: 2}, Clock: Clock{Hz: 3e9, Min: 2.95e9, Max: 3e9}, L1Load: &L1Load{BytesPerCycle: 125, Ports: 128}}
	}
	if got := doubts(good()); len(got) != 0 {
		t.Errorf("doubts about nothing: %q", got)
	}
	for _, c := range []struct {
		name   string
		change func(d *Measured)
		want   string
	}{
		{"quota", func(d *Measured) { d.Host.Quota = 1.5 }, "the CPU quota is 1.5 cores, and 2 threads were used"},
		{"clock", func(d *Measured) { d.Clock.Min = 2e9 }, "the clock moved between 2 and 3 GHz"},
		{"ports", func(d *Measured) { d.L1Load.BytesPerCycle = 64 }, "loads from L1 reach 64 bytes a cycle, and the load ports can do 128"},
	} {
		d := good()
		c.change(d)
		if got := doubts(d); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	d := good()
	d.Host.Quota = 2
	if got := doubts(d); len(got) != 0 {
		t.Errorf("a quota that is enough: %q", got)
	}
}

// Samples planted in a run come out as figures and as reasons for doubt.
func TestPlantedSamples(t *testing.T) {
	steady := []float64{100, 99.8, 99.7, 99.9, 99.6, 99.5}
	result := func(name string, visits []int, rates ...float64) bench.Result {
		r := bench.Result{Name: name, Work: bench.Work{FLOPs: 1}, Visits: visits}
		for _, rate := range rates {
			r.Samples = append(r.Samples, 1/rate)
		}
		r.Min, r.Spread = slices.Min(r.Samples), num.Median(r.Samples)/slices.Min(r.Samples)-1
		return r
	}
	for _, c := range []struct {
		name   string
		rates  []float64 // of avx2 on all cores
		visits []int
		best   float64
		want   string // part of the only warning; none if empty
	}{
		{"all alike", steady, []int{0, 3}, 100, ""},
		{"one sample disturbed", []float64{100, 99.8, 60, 99.9, 99.6, 99.5}, []int{0, 3}, 100, ""},
		{"most samples disturbed", []float64{100, 93, 92, 91, 93, 96}, []int{0, 3}, 100, "in 1 of 3 figures the best lies more than 5% above the median (most: peak by 8%)"},
		{"a slow time of the run", []float64{93, 92.9, 92.8, 100, 99.9, 99.8}, []int{0, 3}, 100, "in 1 of 3 figures the best of one visit lies more than 5% above that of any other (most: peak by 8%): another run"},
		{"a slow time later", []float64{100, 99.9, 99.8, 92.8, 92.9, 93}, []int{0, 3}, 100, "of one visit lies more than 5% above that of any other"},
		{"found again at a third time", []float64{93, 93, 93, 100, 100, 100, 99, 99, 99}, []int{0, 3, 6}, 100, ""},
		{"almost as slow", []float64{96, 95.9, 95.8, 100, 99.9, 99.8}, []int{0, 3}, 100, ""},
		{"one visit only", []float64{93, 92.9, 92.8}, []int{0}, 93, ""},
	} {
		m := &meter{o: Options{Threads: 2}, start: time.Now(), clock: []float64{3e9, 3e9}}
		for _, threads := range []int{1, 2} {
			m.points = append(m.points, point{peak: &ComputePeak{ISA: "avx2", Fused: true, Format: "FP32", ElemBytes: 4, Threads: threads}})
		}
		m.points = append(m.points, point{bandwidth: &BandwidthPoint{Loop: LoadLoop, ISA: "avx2", Threads: 2, WorkingSet: 1 << 20}})
		got, err := m.machine([]bench.Result{result("one", []int{0, 3}, steady...), result("peak", c.visits, c.rates...), result("load", []int{0, 3}, steady...)})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !(math.Abs(got.Peak-c.best) <= 1e-9) {
			t.Errorf("%s: the peak is %v, want %v", c.name, got.Peak, c.best)
		}
		var doubts []string
		for _, w := range got.Measured.Warnings {
			if strings.HasPrefix(w, "wide spread") {
				doubts = append(doubts, w)
			}
		}
		if len(doubts) > 1 || (len(doubts) == 1) != (c.want != "") || !strings.Contains(strings.Join(doubts, "\n"), c.want) {
			t.Errorf("%s: %q, want %q", c.name, doubts, c.want)
		}
	}
}

// A figure that cannot be right is an error, not a machine.
func TestImpossibleSamples(t *testing.T) {
	results := func() []bench.Result {
		return []bench.Result{{Name: "peak", Work: bench.Work{FLOPs: 1}, Samples: []float64{1}}, {Name: "load", Work: bench.Work{Bytes: 1}, Samples: []float64{1}}}
	}
	for want, change := range map[string]func(m *meter, r []bench.Result){
		"":                     func(*meter, []bench.Result) {},
		"clock.hz is 0":        func(m *meter, _ []bench.Result) { m.clock = []float64{0} },
		"peak is +Inf FLOP/s":  func(_ *meter, r []bench.Result) { r[0].Samples = []float64{0} },
		"bandwidth is +Inf":    func(_ *meter, r []bench.Result) { r[1].Samples = []float64{0} },
		"no measured peak for": func(m *meter, _ []bench.Result) { m.points[0].peak.Format = "FP64" },
	} {
		m := &meter{o: Options{Threads: 1}, start: time.Now(), clock: []float64{3e9}, points: []point{
			{peak: &ComputePeak{ISA: "avx2", Format: "FP32", ElemBytes: 4, Threads: 1}}, {bandwidth: &BandwidthPoint{Loop: LoadLoop, ISA: "avx2", Threads: 1, WorkingSet: 1 << 20}}}}
		r := results()
		change(m, r)
		if _, err := m.machine(r); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
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

// Many threads and little memory: every thread still has its part of the buffer.
func TestManyThreadsFit(t *testing.T) {
	m := &meter{ctx: context.Background(), start: time.Now(), o: Options{Threads: 50, MaxBytes: minBytes, Time: time.Minute}}
	defer m.close()
	if err := m.allocate(); err != nil {
		t.Fatal(err)
	}
	if err := m.addBandwidths(50); err != nil {
		t.Fatal(err)
	}
	if len(m.cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range m.cases {
		if _, err := c.Timed(1); err != nil {
			t.Error(err)
		}
	}
}

// Where the working sets cannot go far enough beyond the caches, there is no roof of
// memory, and the last level says so.
func TestNoRoofOfMemory(t *testing.T) {
	h := Host{Cores: 2, Usable: 2, GOMAXPROCS: 1, LastLevels: []int64{128 << 10, 128 << 10}, Core: host.Core{L1: 16 << 10}}
	for _, c := range []struct {
		bytes int64
		want  string
	}{{512 << 10, "memory"}, {256 << 10, "cache or memory"}} {
		o := Options{Time: minTime, MaxBytes: c.bytes, host: &h}
		m, err := Measure(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		levels := m.Measured.Levels
		if got := levels[len(levels)-1].Name; got != c.want || !strings.HasSuffix(m.Source, "bandwidth of "+c.want) {
			t.Errorf("%d bytes: the last level is %q, and the source %q; want %q", c.bytes, got, m.Source, c.want)
		}
		if got := strings.Contains(strings.Join(m.Measured.Warnings, "\n"), "no roof of memory: the data are at most 256 KiB, 2 times"); got != (c.want != "memory") {
			t.Errorf("%d bytes: warnings %q", c.bytes, m.Measured.Warnings)
		}
	}
}

// The kept roofs are taken, or measured and kept where there are none, or those of
// another machine; a file that is damaged is an error, and one that cannot be written
// a reason for doubt.
func TestMine(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	quick := Options{Time: minTime, Threads: 1, MaxBytes: 256 << 10}
	first, err := Mine(context.Background(), quick)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Mine(context.Background(), Options{Time: -1}) // which nothing measures with
	if err != nil || again.Measured.Date != first.Measured.Date || again.Peak != first.Peak {
		t.Errorf("the kept roofs are %v and not %v (%v)", again.Peak, first.Peak, err)
	}
	first.Measured.Host.CPU = "another"
	if err := Save(FileName, first); err != nil {
		t.Fatal(err)
	}
	if m, err := Mine(context.Background(), quick); err != nil || m.Measured.Host.CPU == "another" {
		t.Errorf("the roofs are those of another machine (%v)", err)
	}
	if err := os.WriteFile(FileName, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Mine(context.Background(), quick); err == nil || !strings.Contains(err.Error(), "file is truncated") {
		t.Errorf("a damaged file: %v", err)
	}
	// A link into a folder that is not there.
	if err := errors.Join(os.Remove(FileName), os.Symlink(filepath.Join(dir, "none", "x"), FileName)); err != nil {
		t.Fatal(err)
	}
	m, err := Mine(context.Background(), quick)
	if err != nil || !strings.Contains(strings.Join(m.Measured.Warnings, "\n"), "not kept") {
		t.Errorf("where nothing can be written: %v", err)
	}
}

func TestLoadPorts(t *testing.T) {
	for _, c := range []struct {
		cpu, isa string
		want     float64
	}{
		{"Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "avx512", 128},
		{"Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "avx2", 0},
		{"Intel(R) Core(TM) i7-8700K", "avx2", 0},
		{"AMD EPYC 7763 64-Core Processor", "avx2", 64},
		{"AMD EPYC 7R32", "avx2", 64},
		{"AMD EPYC 7601 32-Core Processor", "avx2", 0},
		{"AMD EPYC 9654 96-Core Processor", "avx512", 64},
		{"AMD EPYC 9755 128-Core Processor", "avx512", 0},
		{"Apple M2", "go", 0},
		{"AMD EPYC 7", "avx2", 0},
		{"AMD EPYC 7é3", "avx2", 0},
		{"", "avx512", 0},
	} {
		got, source := loadPort(c.cpu, c.isa)
		if got != c.want || (source != "") != (c.want != 0) {
			t.Errorf("%s with %s: %v (%q), want %v", c.cpu, c.isa, got, source, c.want)
		}
	}
}

func TestSaveLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "roof.json")
	if err := Save(path, a100()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// What cannot be saved leaves the file that was there.
	if err := Save(path, Machine{}); err == nil {
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
	if err := Save(blocked, a100()); err == nil || !strings.Contains(err.Error(), "cannot write "+blocked) {
		t.Errorf("error %v", err)
	}
	if err := Save(filepath.Join(dir, "nowhere", "roof.json"), a100()); err == nil {
		t.Error("saved in a folder that is not there")
	}
	if err := Save("", a100()); err == nil || !strings.Contains(err.Error(), "path of the machine file is empty") {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d entries are left: %v (%v)", len(entries), entries, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := a100()
	m.Measured = &Measured{
		Date: "2026-01-02T03:04:05Z", Host: MeasuredHost{Threads: 1},
		Clock:      Clock{Hz: 1, Min: 1, Max: 1, Samples: []float64{1}},
		Peaks:      []ComputePeak{{ISA: "go", Format: "FP32", ElemBytes: 4, Threads: 1, FLOPS: 1, Median: 1, Samples: []float64{1}}},
		Bandwidths: []BandwidthPoint{{Loop: LoadLoop, Threads: 1, WorkingSet: 1, BytesPerS: 1, WithWriteAllocate: 1, Median: 1, Samples: []float64{1}}},
		Levels:     []Level{{Name: "memory", Threads: 1, From: 1, To: 1, Bandwidth: 1}},
	}
	m.Peak, m.Bandwidth = 1, 1
	text, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	sample := string(text)
	if _, err := Load(write("good.json", sample)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.json"), "there is no machine file"},
		{dir, "cannot read the machine file"},
		{write("empty.json", ""), "empty.json: machine: file is empty"},
		{write("date.json", strings.Replace(sample, `"date": "2026`, `"date": "yesterday 2026`, 1)), "it must be of the form"},
		{write("later.json", `{"schema": 99}`), "schema 99: this program reads schema 1"},
	} {
		if _, err := Load(c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestPath(t *testing.T) {
	path := Path()
	if filepath.Base(path) != FileName {
		t.Errorf("path %s", path)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "pkg", "machine", "machine.go")); err != nil {
		t.Errorf("%s is not in the checkout", path)
	}
	t.Chdir(t.TempDir())
	if path := Path(); path != FileName {
		t.Errorf("outside of the checkout the path is %s", path)
	}
}

func TestFastestLoad(t *testing.T) {
	p, free, err := probe.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	probe.Fill(p)
	m, err := fastestLoad(p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(probe.MemoryISAs(), m.ISA()) {
		t.Errorf("ISA %q is none of %v", m.ISA(), probe.MemoryISAs())
	}
	if _, err := fastestLoad(p[:probe.RoundBytes-1]); err == nil {
		t.Error("no error for a length that is no multiple of a round")
	}
}
