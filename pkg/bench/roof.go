package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"memorywall/pkg/probe"
	"memorywall/pkg/roofline"
)

// RoofOptions say how [MeasureRoof] measures. The zero value is the default for
// every field.
type RoofOptions struct {
	// Time is how long the measurement may take, roughly; 0 means
	// [DefaultRoofTime]. With less time there are fewer samples.
	Time time.Duration
	// Threads is what "all cores" means; 0 means GOMAXPROCS, or the cores that
	// this process may run on if they are fewer: threads that have to wait for
	// each other's core measure nothing.
	Threads int
	// MaxBytes is the most memory to use; 0 means no limit of its own. More than a
	// quarter of what is free is never used. With less than 4 times the last-level
	// caches there is no roof of memory, and a warning says so.
	MaxBytes int64
	// Progress is as in [Options].
	Progress func(done, total int)

	// host replaces what the system reports, in tests.
	host *Host
}

// Defaults of [RoofOptions].
const (
	DefaultRoofTime = 12 * time.Second
	QuickRoofTime   = 4 * time.Second
)

const (
	leastRoofTime  = 50 * time.Millisecond
	leastRoofBytes = 64 << 10
	// unknownFirst stands for the first-level data cache where none is known.
	unknownFirst = 32 << 10
	// methodVersion of the method: raised when figures stop being comparable.
	methodVersion = "1"
)

// Sampling. A sample is short, so that on a busy machine some samples find it
// undisturbed.
const (
	sampleSeconds = 1e-3
	longPass      = 4e-3 // a pass above this is sampled part by part
	fewestSamples = 3    // and as many in a row
	visits        = 2    // at different times of the run, for a disturbance can outlast a visit
	wantedSamples = visits * fewestSamples
	mostSamples   = 30
	// A point is settled when its three best samples agree this far.
	settled = 0.01
)

func (o RoofOptions) complete(h Host) (RoofOptions, error) {
	if o.Time == 0 {
		o.Time = DefaultRoofTime
	}
	if o.Threads == 0 {
		o.Threads = min(h.GOMAXPROCS, h.Usable)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = math.MaxInt / 4
	}
	switch {
	case o.Time < leastRoofTime || o.Time > time.Hour:
		return o, fmt.Errorf("bench: RoofOptions.Time is %v: it must be from %v to %v, or 0 for %v", o.Time, leastRoofTime, time.Hour, DefaultRoofTime)
	case o.Threads < 1 || o.Threads > h.Cores:
		return o, fmt.Errorf("bench: RoofOptions.Threads is %d: it must be from 1 to %d, or 0 for all cores that may be used", o.Threads, h.Cores)
	case o.MaxBytes < leastRoofBytes || o.MaxBytes > math.MaxInt/4:
		return o, fmt.Errorf("bench: RoofOptions.MaxBytes is %d: it must be from %s to %s, or 0 for the default", o.MaxBytes, binarySize(leastRoofBytes), binarySize(math.MaxInt/4))
	}
	return o, nil
}

// MeasureRoof measures the roofs of this machine: peaks of every instruction
// set in float32 and float64, and bandwidths of loads, copies and triads over
// working sets from half of the first-level cache to 4 times the last one, each
// for one thread and for all. Clock, method, host, warnings and every sample
// are in the result's Measured.
//
// The two numbers of the machine itself are those of all threads: the float32
// peak of the best instruction set, and the bandwidth of the outermost level.
//
// When the context ends, so does the measurement, with the context's error.
func MeasureRoof(ctx context.Context, o RoofOptions) (roofline.Machine, error) {
	h := ReadHost()
	if o.host != nil {
		h = *o.host
	}
	o, err := o.complete(h)
	if err != nil {
		return roofline.Machine{}, err
	}
	m := &meter{ctx: ctx, host: h, o: o, start: time.Now()}
	m.deadline = m.start.Add(o.Time)
	defer m.close()
	if err := m.measure(); err != nil {
		return roofline.Machine{}, err
	}
	return m.machine()
}

// A meter measures one machine's roofs.
type meter struct {
	ctx      context.Context
	host     Host
	o        RoofOptions
	start    time.Time
	deadline time.Time

	teams  map[int]*team // by threads
	buffer []byte
	free   func()
	// inCache says why the whole buffer may live in a cache in part, if it may.
	inCache string
	cursor  int // where the next part of a long pass begins, in parts

	clock    []float64 // readings, Hz
	l1Load   float64   // bytes a cycle; 0 if it was not measured
	points   []*point
	warnings []string
}

// A point is one figure in the making. Exactly one of peak and bandwidth is set.
type point struct {
	peak      *roofline.ComputePeak
	bandwidth *roofline.BandwidthPoint
	threads   int
	weight    float64 // of its share of the time

	reps  int
	work  float64 // FLOPs or bytes of one rep of all threads
	call  func(i, reps, part int)
	warm  func(i int) // brings the working set into the caches; nil if nothing stays there
	parts int         // of a pass that is sampled part by part, else 0
	rates []float64
	begun []int // how many rates there were when each visit began
}

func (m *meter) close() {
	for _, t := range m.teams {
		t.close()
	}
	if m.free != nil {
		m.free()
	}
}

func (m *meter) team(threads int) *team {
	if m.teams == nil {
		m.teams = map[int]*team{}
	}
	if m.teams[threads] == nil {
		m.teams[threads] = newTeam(threads)
	}
	return m.teams[threads]
}

func (m *meter) warn(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

// threadCounts returns 1, and what all cores are if that is more.
func (m *meter) threadCounts() []int {
	if m.o.Threads == 1 {
		return []int{1}
	}
	return []int{1, m.o.Threads}
}

func (m *meter) measure() error {
	m.warmUp()
	if err := m.allocate(); err != nil {
		return err
	}
	for _, t := range m.threadCounts() {
		if err := m.addPeaks(t); err != nil {
			return err
		}
		if err := m.addBandwidths(t); err != nil {
			return err
		}
	}
	if len(m.points) == 0 {
		return errors.New("bench: nothing to measure")
	}
	runtime.GC()
	return m.sampleAll()
}

// readClock notes the clock of one core: the best of some short chains of adds.
func (m *meter) readClock() float64 {
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
	last := m.readClock()
	for end := time.Now().Add(min(500*time.Millisecond, m.o.Time/8)); time.Now().Before(end); {
		for busy := time.Now().Add(20 * time.Millisecond); time.Now().Before(busy); {
			m.readClock()
		}
		now := m.readClock()
		if now <= 1.005*last {
			break
		}
		last = now
	}
}

// first returns the first-level data cache's size.
func (m *meter) first() int64 {
	for _, c := range m.host.Caches {
		if c.Level == 1 && c.Type != "instruction" {
			return c.Bytes
		}
	}
	return unknownFirst
}

// allocate gets the buffer and lets each thread write its own part, as far as
// time allows: memory that was never touched is slow to get on some machines.
func (m *meter) allocate() error {
	bytes, doubt := m.host.MemorySet(m.o.Threads, m.o.MaxBytes)
	bytes = max(bytes, leastRoofBytes, leastSet(m.o.Threads))
	p, free, err := probe.Alloc(bytes)
	if err != nil {
		return err
	}
	m.free = free
	t := m.team(m.o.Threads)
	// Part by part, so that it can end early. A thread's part must stay its own
	// when the buffer becomes shorter, so the parts are dealt out in stripes.
	const stripe = 8 << 20
	end := m.start.Add(m.o.Time * 3 / 10)
	filled := int64(0)
	for filled < bytes {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		chunk := min(bytes-filled, int64(stripe*m.o.Threads))
		each := chunk / int64(m.o.Threads) / probe.RoundBytes * probe.RoundBytes
		t.run(1, func(i, _ int) {
			from := filled + int64(i)*each
			to := from + each
			if i == m.o.Threads-1 {
				to = filled + chunk
			}
			probe.Fill(p[from:to])
		})
		filled += chunk
		if time.Now().After(end) {
			break
		}
	}
	m.buffer = p[:filled]
	if filled < bytes && doubt == "" {
		_, doubt = m.host.MemorySet(m.o.Threads, filled)
	}
	if m.inCache = doubt; doubt != "" {
		m.warn("no roof of memory: %s", doubt)
	}
	return nil
}

func (m *meter) addPeaks(threads int) error {
	for _, isa := range probe.ComputeISAs() {
		if err := addPeak[float32](m, threads, isa, "FP32", 4); err != nil {
			return err
		}
		if err := addPeak[float64](m, threads, isa, "FP64", 8); err != nil {
			return err
		}
	}
	return nil
}

func addPeak[T probe.Float](m *meter, threads int, isa, format string, elem int64) error {
	loops := make([]*probe.Compute[T], threads)
	for i := range loops {
		c, err := probe.NewCompute[T](isa)
		if err != nil {
			return err
		}
		loops[i] = c
	}
	const rounds = 500
	p := &point{
		peak:    &roofline.ComputePeak{ISA: isa, Fused: loops[0].Fused(), Format: format, ElemBytes: elem, Threads: threads},
		threads: threads, weight: 1, work: float64(threads) * rounds * float64(loops[0].FLOPs()),
		call: func(i, reps, _ int) { loops[i].Run(rounds * reps) },
	}
	if isa == probe.ComputeISAs()[0] {
		p.weight = 4
	}
	p.weight *= share(threads)
	m.points = append(m.points, p)
	return nil
}

// addBandwidths adds the sweep for a number of threads: loads at two sizes to
// an octave, copies and triads at one. The largest working set gets streaming
// stores as well, and the next narrower vectors, which can be faster there.
func (m *meter) addBandwidths(threads int) error {
	memory, err := probe.NewMemory("")
	if err != nil {
		return err
	}
	sets := workingSets(m.first()/2, int64(len(m.buffer)), threads)
	for i, set := range sets {
		if i == len(sets)-1 {
			break
		}
		loops := []string{roofline.LoadLoop}
		if (len(sets)-1-i)%2 == 0 {
			loops = append(loops, roofline.CopyLoop, roofline.TriadLoop)
		}
		for _, loop := range loops {
			p := m.bandwidthPoint(memory, loop, threads, set)
			p.weight = share(threads)
			m.points = append(m.points, p)
		}
	}
	isas := probe.MemoryISAs()
	for _, isa := range isas[:max(1, min(2, len(isas)-1))] {
		memory, err := probe.NewMemory(isa)
		if err != nil {
			return err
		}
		for _, loop := range roofline.Loops() {
			if !memory.Streams() && (loop == roofline.CopyStreamLoop || loop == roofline.TriadStreamLoop) {
				continue
			}
			p := m.bandwidthPoint(memory, loop, threads, sets[len(sets)-1])
			p.weight = 3 * share(threads)
			m.points = append(m.points, p)
		}
	}
	return nil
}

// share is how much more of the time a point of several threads gets: on a busy
// machine all of them are seldom undisturbed together.
func share(threads int) float64 {
	if threads > 1 {
		return 3
	}
	return 1
}

// leastSet is the smallest working set, in bytes: any loop can cut it into equal
// arrays for so many threads.
func leastSet(threads int) int64 { return 6 * probe.RoundBytes * int64(threads) }

// workingSets returns the working sets of a sweep, in bytes of all threads: from
// first for each thread to most for all of them, in steps of √2 that end at most.
func workingSets(first, most int64, threads int) []int64 {
	unit := leastSet(threads)
	least := max(first*int64(threads), unit)
	var sets []int64
	for i := 0; ; i++ {
		v := int64(float64(most)*math.Pow(2, -float64(i)/2)) / unit * unit
		if v < least && len(sets) > 0 {
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

// arraysOf returns how many arrays a loop has.
func arraysOf(loop string) int {
	switch loop {
	case roofline.LoadLoop:
		return 1
	case roofline.CopyLoop, roofline.CopyStreamLoop:
		return 2
	}
	return 3
}

func (m *meter) bandwidthPoint(memory probe.Memory, loop string, threads int, set int64) *point {
	arrays := arraysOf(loop)
	each := set / int64(threads) / int64(arrays) / probe.RoundBytes * probe.RoundBytes // bytes of one array of one thread
	set = each * int64(arrays) * int64(threads)
	array := func(i, k int) []byte {
		from := (int64(i)*int64(arrays) + int64(k)) * each
		return m.buffer[from:][:each:each]
	}
	// run goes over part of parts of the arrays.
	run := func(i, passes, part, parts int) {
		n := each / int64(parts) / probe.RoundBytes * probe.RoundBytes
		cut := func(k int) []byte { return array(i, k)[int64(part)*n:][:n] }
		var err error
		switch loop {
		case roofline.LoadLoop:
			err = memory.Load(cut(0), passes)
		case roofline.CopyLoop, roofline.CopyStreamLoop:
			err = memory.Copy(cut(0), cut(1), passes, loop == roofline.CopyStreamLoop)
		default:
			err = memory.Triad(cut(0), cut(1), cut(2), 0.5, passes, loop == roofline.TriadStreamLoop)
		}
		if err != nil {
			panic(err) // the sizes above are always right
		}
	}
	p := &point{
		bandwidth: &roofline.BandwidthPoint{Loop: loop, ISA: memory.ISA(), Threads: threads, WorkingSet: set},
		threads:   threads, weight: 1, work: float64(set),
		call: func(i, reps, _ int) { run(i, reps, 0, 1) },
	}
	if last := m.host.LastLevel(threads); last == 0 || set <= last {
		p.warm = func(i int) { run(i, 1, 0, 1) }
	}
	p.split(each, func(i, part int) { run(i, 1, part, p.parts) })
	return p
}

// split lets a long pass be sampled part by part. Each part is then as long
// since its last use as in whole passes.
func (p *point) split(each int64, run func(i, part int)) {
	const expected = 8e9 // bytes a second and thread: only the length of a sample hangs on it
	seconds := p.work / float64(p.threads) / expected
	if seconds <= longPass {
		return
	}
	p.parts = int(min(seconds/sampleSeconds, float64(each/(16*probe.RoundBytes))))
	p.work = p.work / float64(each) * float64(each/int64(p.parts)/probe.RoundBytes*probe.RoundBytes)
	p.call = func(i, _, part int) { run(i, part) }
}

// sampleAll takes the samples: of each point once, in three quarters of the time,
// then of each once more, and then again of those that have not settled, while
// time is left.
func (m *meter) sampleAll() error {
	progress := newSteps(len(m.points)+1, m.o.Progress)
	turn := func(points []*point, end time.Time, enough int) error {
		weight := 0.0
		for _, p := range points {
			weight += p.weight
		}
		for i, p := range points {
			if i%8 == 0 {
				m.clock = append(m.clock, m.readClock())
			}
			left := time.Until(end).Seconds()
			if left <= 0 && len(p.rates) > 0 {
				break
			}
			if err := m.sample(p, max(0, left)*p.weight/weight, enough); err != nil {
				return err
			}
			weight -= p.weight
			if enough == fewestSamples {
				progress.step()
			}
		}
		return nil
	}
	first := m.start.Add(m.o.Time * 3 / 4)
	open := m.points
	for enough := fewestSamples; len(open) > 0; enough += fewestSamples {
		if err := turn(open, first, enough); err != nil {
			return err
		}
		first = m.deadline
		if !time.Now().Before(m.deadline) {
			break
		}
		open = slices.DeleteFunc(slices.Clone(m.points), func(p *point) bool { return p.done() })
	}
	m.clock = append(m.clock, m.readClock())
	if err := m.readL1Load(); err != nil {
		return err
	}
	progress.step()
	return nil
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

// sample takes samples of a point for some seconds, until there are enough and
// they agree, but some at any rate.
func (m *meter) sample(p *point, seconds float64, enough int) error {
	t := m.team(p.threads)
	begin := time.Now()
	p.begun = append(p.begun, len(p.rates))
	if p.warm != nil {
		t.run(1, func(i, _ int) { p.warm(i) })
	}
	if p.reps == 0 {
		p.calibrate(t)
	}
	most := min(mostSamples, mostSamples/visits*len(p.begun)) // some are left for the next visit
	// Several samples in a row while the threads have their cores.
	burst := fewestSamples
	for n := 0; ; {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		from := m.cursor
		m.cursor += burst
		part := func(k int) int {
			if p.parts == 0 {
				return 0
			}
			return (from + k) % p.parts
		}
		for _, s := range t.run(burst, func(i, k int) { p.call(i, p.reps, part(k)) }) {
			if s > 0 {
				p.rates = append(p.rates, p.work*float64(p.reps)/s)
				n++
			}
		}
		all := len(p.rates)
		switch took := time.Since(begin); {
		case all >= most, all >= enough && p.settled(), n >= fewestSamples && took.Seconds() >= seconds:
			return nil
		case n == 0 && took > 10*time.Second:
			return errors.New("bench: the clock stands still: no sample takes any time")
		}
	}
}

// calibrate finds the reps of one sample.
func (p *point) calibrate(t *team) {
	p.reps = 1
	if p.parts > 0 {
		return
	}
	for range 30 {
		s := slices.Min(t.run(2, func(i, _ int) { p.call(i, p.reps, 0) }))
		if s >= 0.7*sampleSeconds {
			return
		}
		p.reps = int(math.Ceil(float64(p.reps) * min(50, max(1.1, sampleSeconds/max(s, 1e-9)))))
	}
}

// done says whether another visit would tell nothing.
func (p *point) done() bool {
	return len(p.rates) >= mostSamples || len(p.begun) >= visits && p.settled()
}

// apart returns how far the best rates of the visits lie apart: 0.05 is 5%.
func (p *point) apart() float64 {
	least, most := math.Inf(1), 0.0
	for v, from := range p.begun {
		to := len(p.rates)
		if v+1 < len(p.begun) {
			to = p.begun[v+1]
		}
		if from < to {
			best := slices.Max(p.rates[from:to])
			least, most = min(least, best), max(most, best)
		}
	}
	if most == 0 {
		return 0
	}
	return most/least - 1
}

// settled says whether the best samples agree.
func (p *point) settled() bool {
	n := len(p.rates)
	if n < fewestSamples {
		return false
	}
	s := slices.Sorted(slices.Values(p.rates))
	return s[n-fewestSamples] >= (1-settled)*s[n-1]
}
