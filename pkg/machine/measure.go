package machine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"memorywall/pkg/bench"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/matmul"
	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

// Options say how [Measure] measures. The zero value is the default for every field.
type Options struct {
	// Time is how long the measurement may take, roughly; 0 means [DefaultTime]. It
	// ends earlier when all figures were found again.
	Time time.Duration
	// Threads is what "all cores" means; 0 means GOMAXPROCS, or the cores that
	// this process may run on if they are fewer: threads that have to wait for
	// each other's core measure nothing.
	Threads int
	// MaxBytes is the most memory to use; 0 means no limit of its own. More than a
	// quarter of what is free is never used. With less than 4 times the last-level
	// caches there is no roof of memory, and a warning says so.
	MaxBytes int64
	// Tuning, if not zero, is kept as the choice for multiplies, and nothing is tried.
	Tuning matmul.Tuning
	// Progress is as in [bench.Options].
	Progress func(done, total int)

	// host replaces what the system reports, in tests.
	host *Host
}

// Defaults of [Options].
const (
	DefaultTime = 12 * time.Second
	QuickTime   = 4 * time.Second
)

const (
	minTime  = 50 * time.Millisecond
	minBytes = 64 << 10
	// unknownFirst stands for the first-level data cache where none is known.
	unknownFirst = 32 << 10
	// methodVersion of the method: raised when figures stop being comparable.
	methodVersion = "2"
	// A sample is short, so that on a busy machine some samples find it undisturbed.
	sampleTime = time.Millisecond
	longPass   = 4 * time.Millisecond // a pass above this is sampled part by part
	wideSpread = 0.05                 // of a best rate above its median, or above that of another visit
)

func (o Options) complete(h Host) (Options, error) {
	if o.Time == 0 {
		o.Time = DefaultTime
	}
	if bench.Quick() {
		o.Time = min(o.Time, time.Second)
	}
	if o.Threads == 0 {
		o.Threads = min(h.GOMAXPROCS, h.Usable)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = math.MaxInt / 4
	}
	switch {
	case o.Time < minTime || o.Time > time.Hour:
		return o, fmt.Errorf("machine: Options.Time is %v: it must be from %v to %v, or 0 for %v", o.Time, minTime, time.Hour, DefaultTime)
	case o.Threads < 1 || o.Threads > h.Cores:
		return o, fmt.Errorf("machine: Options.Threads is %d: it must be from 1 to %d, or 0 for all cores that may be used", o.Threads, h.Cores)
	case o.Tuning != (matmul.Tuning{}) && o.Tuning.Validate() != nil:
		return o, fmt.Errorf("machine: Options.Tuning: %w", o.Tuning.Validate())
	case o.MaxBytes < minBytes || o.MaxBytes > math.MaxInt/4:
		return o, fmt.Errorf("machine: Options.MaxBytes is %d: it must be from %s to %s, or 0 for the default", o.MaxBytes, num.Binary(float64(minBytes), "B"), num.Binary(float64(math.MaxInt/4), "B"))
	}
	return o, nil
}

// Measure measures the roofs of this machine: peaks of every instruction
// set in float32 and float64, and bandwidths of loads, copies and triads over
// working sets from half of the first-level cache to 4 times the last-level ones,
// each for one thread and for all, and what a call costs. Clock, method, host,
// warnings and every sample are in the result's Measured.
//
// The two numbers of the machine itself are those of all threads: the float32
// peak of the best instruction set, and the bandwidth of the outermost level.
//
// When the context ends, so does the measurement, with the context's error.
func Measure(ctx context.Context, o Options) (Machine, error) {
	h := ReadHost()
	if o.host != nil {
		h = *o.host
	}
	o, err := o.complete(h)
	if err != nil {
		return Machine{}, err
	}
	m := &meter{ctx: ctx, host: h, o: o, start: time.Now()}
	defer m.close()
	results, err := m.measure()
	if err != nil {
		return Machine{}, err
	}
	return m.machine(results)
}

// A meter measures one machine's roofs.
type meter struct {
	ctx   context.Context
	host  Host
	o     Options
	start time.Time

	crews  bench.Crews
	buffer []byte
	free   func()
	// inCache says why the whole buffer may live in a cache in part, if it may.
	inCache string

	cases    []bench.Case
	points   []point   // of each case
	clock    []float64 // readings, Hz
	l1Load   float64   // bytes a cycle; 0 if it was not measured
	tuning   []Choice
	warnings []string
}

// A point is the figure that a case finds: one of them is set.
type point struct {
	peak      *ComputePeak
	bandwidth *BandwidthPoint
	call      *Call
}

func (m *meter) close() {
	m.crews.Close()
	if m.free != nil {
		m.free()
	}
}

// threadCounts returns 1, and what all cores are if that is more.
func (m *meter) threadCounts() []int { return slices.Compact([]int{1, m.o.Threads}) }

func (m *meter) measure() ([]bench.Result, error) {
	m.warmUp()
	if err := m.allocate(); err != nil {
		return nil, err
	}
	var err error
	if m.tuning, err = m.tune(); err != nil {
		return nil, err
	}
	for _, t := range m.threadCounts() {
		err := cmp.Or(addPeaks[float32](m, t, "FP32", 4), addPeaks[float64](m, t, "FP64", 8), addPeaks[int32](m, t, "INT8", 1))
		if err != nil {
			return nil, err
		}
		if err := m.addBandwidths(t); err != nil {
			return nil, err
		}
		m.addCall(t)
	}
	left := max(time.Millisecond, m.o.Time-time.Since(m.start))
	results, err := bench.Sample(m.ctx, bench.Options{MinTime: sampleTime, Time: left, SpreadLimit: wideSpread, Progress: m.o.Progress}, m.cases...)
	if err != nil {
		return nil, err
	}
	m.clock = append(m.clock, readClock())
	return results, m.readL1Load()
}

func (m *meter) add(c bench.Case, p point) {
	m.cases, m.points = append(m.cases, c), append(m.points, p)
}

// readClock reads the clock of one core: the best of some short chains of adds.
func readClock() float64 {
	best := 0.0
	for range 6 {
		begin := time.Now()
		_, adds := probe.AddChain(1500, 1, 3)
		if d := time.Since(begin).Seconds(); d > 0 {
			best = max(best, float64(adds)/d)
		}
	}
	return best
}

// warmUp works until the clock no longer rises, for half a second at most.
func (m *meter) warmUp() {
	last := readClock()
	for end := time.Now().Add(min(500*time.Millisecond, m.o.Time/8)); time.Now().Before(end); {
		for busy := time.Now().Add(20 * time.Millisecond); time.Now().Before(busy); {
			readClock()
		}
		now := readClock()
		if now <= 1.005*last {
			break
		}
		last = now
	}
}

// first returns the first-level data cache's size.
func (m *meter) first() int64 { return cmp.Or(m.host.Core.L1, unknownFirst) }

// allocate gets the buffer and lets each thread write its own part, as far as
// time allows: memory that was never touched is slow to get on some machines.
func (m *meter) allocate() error {
	bytes, doubt := m.host.MemorySet(m.o.Threads, m.o.MaxBytes)
	bytes = max(bytes, minBytes, minSet(m.o.Threads))
	p, free, err := probe.Alloc(bytes)
	if err != nil {
		return err
	}
	m.free = free
	// Part by part, so that it can end early. A thread's part must stay its own
	// when the buffer becomes shorter, so the parts are dealt out in stripes.
	const stripe = 8 << 20
	end := m.start.Add(m.o.Time * 3 / 10)
	filled := int64(0)
	for filled < bytes && (filled == 0 || time.Now().Before(end)) {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		chunk := min(bytes-filled, int64(stripe*m.o.Threads))
		each := chunk / int64(m.o.Threads) / probe.RoundBytes * probe.RoundBytes
		m.crews.Of(m.o.Threads).Run(func(i int) {
			from := filled + int64(i)*each
			to := from + each
			if i == m.o.Threads-1 {
				to = filled + chunk
			}
			probe.Fill(p[from:to])
		})
		filled += chunk
	}
	m.buffer = p[:filled]
	if filled < bytes && doubt == "" {
		_, doubt = m.host.MemorySet(m.o.Threads, filled)
	}
	if m.inCache = doubt; doubt != "" {
		m.warnings = append(m.warnings, "no roof of memory: "+doubt)
	}
	return nil
}

// Peak returns a case of multiply-adds in registers and nothing else on all threads of
// a crew, those of bytes for int32, with an instruction set of [probe.ComputeISAs], "" for the widest: the
// peak is its rate.
func Peak[T probe.Number](crew *bench.Crew, isa string) (c bench.Case, fused bool, err error) {
	const rounds = 500
	loops := make([]*probe.Compute[T], crew.Threads())
	for i := range loops {
		if loops[i], err = probe.NewCompute[T](isa); err != nil {
			return c, false, err
		}
	}
	return bench.Case{
		Name:    fmt.Sprintf("peak %s %T on %s", loops[0].ISA(), T(0), Threads(crew.Threads())),
		Threads: crew.Threads(), MinTime: sampleTime, Work: bench.Work{FLOPs: float64(crew.Threads()) * rounds * float64(loops[0].FLOPs())},
		Timed: func(calls int) (time.Duration, error) {
			return crew.Run(func(i int) { loops[i].Run(rounds * calls) }), nil
		},
	}, loops[0].Fused(), nil
}

func addPeaks[T probe.Number](m *meter, threads int, format string, elem int64) error {
	for _, isa := range probe.ComputeISAs[T]() {
		c, fused, err := Peak[T](m.crews.Of(threads), isa)
		if err != nil {
			return err
		}
		// The clock is read over the whole run.
		c.Warm = func() { m.clock = append(m.clock, readClock()) }
		m.add(c, point{peak: &ComputePeak{ISA: isa, Fused: fused, Format: format, ElemBytes: elem, Threads: threads}})
	}
	return nil
}

// addBandwidths adds the sweep for a number of threads: loads at two sizes to
// an octave, copies and triads at one. The largest working set gets streaming
// stores as well, and the next narrower vectors, which can be faster there.
func (m *meter) addBandwidths(threads int) error {
	sets := workingSets(m.first()/2, int64(len(m.buffer)), threads)
	isas := probe.MemoryISAs()
	for i, set := range sets {
		loops, with := []string{LoadLoop, CopyLoop, TriadLoop}, isas[:1]
		switch last := len(sets) - 1; {
		case i == last:
			loops, with = Loops(), isas[:max(1, min(2, len(isas)-1))]
		case (last-i)%2 != 0:
			loops = loops[:1]
		}
		for _, isa := range with {
			memory, err := probe.NewMemory(isa)
			if err != nil {
				return err
			}
			for _, loop := range loops {
				if memory.Streams() || loop != CopyStreamLoop && loop != TriadStreamLoop {
					m.addBandwidth(memory, loop, threads, set)
				}
			}
		}
	}
	return nil
}

func (m *meter) addBandwidth(memory probe.Memory, loop string, threads int, set int64) {
	c, set := bandwidth(m.crews.Of(threads), memory, loop, m.buffer, set)
	if last := m.host.LastLevel(threads); last > 0 && set > last {
		c.Warm = func() {} // nothing of it stays in a cache
	}
	m.add(c, point{bandwidth: &BandwidthPoint{Loop: loop, ISA: memory.ISA(), Threads: threads, WorkingSet: set}})
}

// minSet is the smallest working set, in bytes: any loop can cut it into equal
// arrays for so many threads.
func minSet(threads int) int64 { return 6 * probe.RoundBytes * int64(threads) }

// workingSets returns the working sets of a sweep, in bytes of all threads: from
// first for each thread to the limit for all of them, in steps of √2 that end there.
func workingSets(first, limit int64, threads int) []int64 {
	unit := minSet(threads)
	smallest := max(first*int64(threads), unit)
	var sets []int64
	for i := 0; ; i++ {
		v := int64(float64(limit)*math.Pow(2, -float64(i)/2)) / unit * unit
		if v < smallest && len(sets) > 0 {
			break
		}
		if v = max(v, unit); len(sets) == 0 || v != sets[len(sets)-1] {
			sets = append(sets, v)
		}
		if v <= unit {
			break
		}
	}
	slices.Reverse(sets)
	return sets
}

// bandwidth returns a case that goes through a working set of a buffer, on all threads
// of a crew, and the bytes of the set as the threads and arrays cut it.
func bandwidth(crew *bench.Crew, memory probe.Memory, loop string, buffer []byte, set int64) (bench.Case, int64) {
	threads := int64(crew.Threads())
	loads, stores := arrays(loop)
	arrays := loads + stores
	each := set / threads / arrays / probe.RoundBytes * probe.RoundBytes // bytes of one array of one thread
	set = each * arrays * threads
	// A pass that takes long is sampled part by part in turn: each part is then as long
	// since its last use as in whole passes.
	const expected = 8e9 // bytes a second and thread: only the length of a sample hangs on it
	parts := int64(1)
	if s := float64(set) / float64(threads) / expected; s > longPass.Seconds() {
		parts = int64(min(s/sampleTime.Seconds(), float64(each/(16*probe.RoundBytes))))
	}
	n := each / parts / probe.RoundBytes * probe.RoundBytes
	run := func(i, passes, part int64) {
		cut := func(k int64) []byte { return buffer[(i*arrays+k)*each+part*n:][:n:n] }
		var err error
		switch loop {
		case LoadLoop:
			err = memory.Load(cut(0), int(passes))
		case CopyLoop, CopyStreamLoop:
			err = memory.Copy(cut(0), cut(1), int(passes), loop == CopyStreamLoop)
		default:
			err = memory.Triad(cut(0), cut(1), cut(2), 0.5, int(passes), loop == TriadStreamLoop)
		}
		if err != nil {
			panic(err) // the sizes above are always right
		}
	}
	at := int64(0)
	return bench.Case{
		Name:    fmt.Sprintf("%s %s of %s on %s", memory.ISA(), loop, num.Binary(float64(set), "B"), Threads(int(threads))),
		Threads: int(threads), Work: bench.Work{Bytes: float64(n * arrays * threads)},
		Timed: func(calls int) (time.Duration, error) {
			from := at
			at += int64(calls)
			return crew.Run(func(i int) {
				if parts == 1 {
					run(int64(i), int64(calls), 0)
					return
				}
				for k := range int64(calls) {
					run(int64(i), 1, (from+k)%parts)
				}
			}), nil
		},
	}, set
}

// Read returns a case that reads, in each call, what next returns, all of it on the
// threads of a crew, by the load loops that read it fastest: the bandwidth is its
// rate. All that next returns must be equally long and aligned as by [probe.Alloc].
func Read(crew *bench.Crew, next func() []byte) (bench.Case, error) {
	memory, err := fastestLoad(next())
	threads := crew.Threads()
	part := len(next()) / threads / probe.RoundBytes * probe.RoundBytes
	return bench.Case{
		Name: "loads from memory on " + Threads(threads), Threads: threads, MinTime: sampleTime, Work: bench.Work{Bytes: float64(threads) * float64(part)},
		Warm: func() {},
		Timed: func(calls int) (time.Duration, error) {
			arrays := make([][]byte, calls)
			for k := range arrays {
				arrays[k] = next()
			}
			errs := make([]error, threads)
			d := crew.Run(func(i int) {
				for _, p := range arrays {
					errs[i] = memory.Load(p[i*part:][:part], 1)
				}
			})
			return d, cmp.Or(errs...)
		},
	}, err
}

// fastestLoad returns the loops of the instruction set that reads p fastest on
// one thread. The widest vectors are not always the fastest: a load of a whole cache
// line leaves nothing in the line for a second load, which some prefetchers wait
// for.
func fastestLoad(p []byte) (fastest probe.Memory, err error) {
	const turns = 4
	p = p[:len(p)/probe.RoundBytes*probe.RoundBytes]
	isas := probe.MemoryISAs()
	var best time.Duration
	for range turns {
		for _, isa := range isas[:max(1, min(2, len(isas)-1))] { // the narrow ones and plain Go are slower
			m, err := probe.NewMemory(isa)
			if err != nil {
				return fastest, err
			}
			begin := time.Now()
			if err := m.Load(p, 1); err != nil {
				return fastest, err
			}
			if d := time.Since(begin); best == 0 || d < best {
				fastest, best = m, d
			}
		}
	}
	return fastest, nil
}

// addCall adds what it costs to start work on so many threads.
func (m *meter) addCall(threads int) {
	c := bench.Case{Name: "call on " + Threads(threads)}
	x, y := []float32{1}, []float32{0}
	c.Run = func() { _ = matmul.Multiply(1, 1, 1, x, 1, x, 1, y, 1) }
	if threads > 1 {
		c.Run = func() { gather(threads) }
	}
	m.add(c, point{call: &Call{Threads: threads}})
}

// gather starts goroutines until so many are at work at the same time, each on a
// thread of its own, and ends them.
func gather(threads int) {
	var here atomic.Int64
	var done sync.WaitGroup
	meet := func() {
		here.Add(1)
		for i := 1; here.Load() < int64(threads); i++ {
			if i%(1<<20) == 0 {
				runtime.Gosched() // fewer may run at once
			}
		}
	}
	for range threads - 1 {
		done.Go(meet)
	}
	meet()
	done.Wait()
}

// readL1Load loads half of the first-level cache over and over, and reads the
// clock right after.
func (m *meter) readL1Load() error {
	memory, err := probe.NewMemory("")
	if err != nil {
		return err
	}
	n := min(m.first()/2, int64(len(m.buffer))) / probe.RoundBytes * probe.RoundBytes
	set := m.buffer[:max(n, probe.RoundBytes)]
	const (
		tries  = 25
		loaded = 64 << 20 // bytes of one try
	)
	passes := loaded / len(set)
	// The best of each: an interruption makes either longer.
	var rate, clock float64
	for range tries {
		begin := time.Now()
		err := memory.Load(set, passes)
		middle := time.Now()
		if err != nil {
			return err
		}
		_, adds := probe.AddChain(1500, 1, 3)
		end := time.Now()
		if load, chain := middle.Sub(begin).Seconds(), end.Sub(middle).Seconds(); load > 0 && chain > 0 {
			rate = max(rate, float64(passes*len(set))/load)
			clock = max(clock, float64(adds)/chain)
		}
	}
	if clock > 0 {
		m.l1Load = rate / clock
	}
	return nil
}

// machine puts the samples together.
func (m *meter) machine(results []bench.Result) (Machine, error) {
	d := &Measured{
		Date: m.start.UTC().Format(time.RFC3339), Asked: m.o.Time.Seconds(),
		Host:     MeasuredHost{m.host, m.o.Threads},
		Versions: map[string]string{"go": runtime.Version(), "method": methodVersion},
		Method:   method(),
		Clock:    Clock{Hz: slices.Max(m.clock), Min: slices.Min(m.clock), Max: slices.Max(m.clock), Samples: m.clock},
		Tuning:   m.tuning,
	}
	if m.l1Load > 0 {
		d.L1Load = &L1Load{BytesPerCycle: m.l1Load}
		if memory, err := probe.NewMemory(""); err == nil {
			d.L1Load.Ports, d.L1Load.Source = loadPort(m.host.CPU, memory.ISA())
		}
	}
	for i, p := range m.points {
		r := results[i]
		rates := make([]float64, len(r.Samples))
		for k, s := range r.Samples {
			rates[k] = max(r.Work.FLOPs, r.Work.Bytes) / s
		}
		best, median := slices.Max(rates), num.Median(rates)
		switch {
		case p.peak != nil:
			c := *p.peak
			c.FLOPS, c.Median, c.Samples = best, median, rates
			d.Peaks = append(d.Peaks, c)
		case p.bandwidth != nil:
			b := *p.bandwidth
			b.BytesPerS, b.Median, b.Samples = best, median, rates
			b.WithWriteAllocate = best * WriteAllocate(b.Loop)
			d.Bandwidths = append(d.Bandwidths, b)
		default:
			d.Calls = append(d.Calls, Call{p.call.Threads, r.Min, r.Median, r.Samples})
		}
	}
	for _, t := range m.threadCounts() {
		levels, warnings := levelsOf(d.Bandwidths, t, m.host.Caches, m.inCache == "")
		d.Levels = append(d.Levels, levels...)
		m.warnings = append(m.warnings, warnings...)
	}
	d.Warnings = append(append(m.warnings, doubts(d)...), disturbed(results)...)
	d.Seconds = time.Since(m.start).Seconds()

	peak, err := d.Peak(m.o.Threads, "FP32", "")
	if err != nil {
		return Machine{}, err
	}
	outer := d.Levels[len(d.Levels)-1]
	r := Machine{roofline.Machine{
		Name:   fmt.Sprintf("%s, %s", cmp.Or(m.host.CPU, "unknown CPU"), Threads(m.o.Threads)),
		Source: fmt.Sprintf("measured %s: peak with %s, bandwidth of %s", m.start.Format(time.DateOnly), peak.ISA, outer.Name),
		Format: peak.Format, ElemBytes: peak.ElemBytes, Peak: peak.FLOPS, Bandwidth: outer.Bandwidth,
		Latency: d.Latency(m.o.Threads), Tolerance: roofline.Slack,
	}, d}
	return r, r.validate()
}

// method says how the figures were found.
func method() []string {
	return []string{
		"Every figure is the best of its samples, which are all kept; the median stands beside it. A sample lasts about a millisecond, and is the time from the first thread's begin to the last one's end. Each figure is visited twice at least, at different times of the run, if time allows, and again until its best was found at two visits.",
		"Peaks: independent chains of multiply-adds in registers, one multiply-add counted as 2 FLOPs; where the CPU has no fused multiply-add, multiplies and adds apart. INT8: bytes multiplied and added up in 32 bits, a multiply-add counted as 2 as well; without an instruction for it, in three.",
		"Bandwidths: loops over arrays of float64 with the widest vectors, again and again over one working set; over the largest one with the next narrower vectors too. Bytes are those that the program sees: 8 an element for a load, 16 for a copy, 24 for a triad a = b + s·c. With write-allocate counts the read of each stored line too: 24 for a copy, 32 for a triad. Streaming stores read no line first, and are loops of their own.",
		"A working set that takes long to go through is sampled part by part in turn, so that each part has been left alone for as long as in a whole pass.",
		"Levels: stretches of the load curve over which the rate stays about the same. A level's bandwidth is the most that any loop saw there. It is memory where the working sets reach 4 times the last-level caches of the threads.",
		"Calls: on one thread a multiply of one by one element; on several the start of that many goroutines, until all are at work at once, and their end.",
		"Tuning: each number of the multiplies that no fact of the host decides is tried in some values, in turn, in products of a few rows with a matrix from memory, and in small ones on all threads. Another value than the default is chosen where it is 5% faster or more in the middle turn, and faster in three quarters of the turns.",
		"Clock: a chain of dependent adds of two registers, one a cycle.",
	}
}
