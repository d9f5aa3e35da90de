package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/roofline"
)

func TestBadArguments(t *testing.T) {
	f := func() {}
	w := Work{FLOPs: 1}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name  string
		run   func() (Result, error)
		parts []string
	}{
		{"nil function", func() (Result, error) { return Run("a", w, Options{}, nil) }, []string{`"a"`, "nil"}},
		{"no name", func() (Result, error) { return Run("", w, Options{}, f) }, []string{"name", "empty"}},
		{"negative samples", func() (Result, error) { return Run("a", w, Options{Samples: -1}, f) }, []string{"Options.Samples is -1"}},
		{"many samples", func() (Result, error) { return Run("a", w, Options{Samples: maxSamples + 1}, f) }, []string{"Options.Samples is 10001"}},
		{"negative time", func() (Result, error) { return Run("a", w, Options{MinTime: -1}, f) }, []string{"Options.MinTime is -1ns"}},
		{"an hour a sample", func() (Result, error) { return Run("a", w, Options{MinTime: time.Hour}, f) }, []string{"Options.MinTime is 1h0m0s"}},
		{"negative spread", func() (Result, error) { return Run("a", w, Options{SpreadLimit: -0.1}, f) }, []string{"Options.SpreadLimit is -0.1"}},
		{"NaN spread", func() (Result, error) { return Run("a", w, Options{SpreadLimit: nan}, f) }, []string{"Options.SpreadLimit is NaN"}},
		{"infinite spread", func() (Result, error) { return Run("a", w, Options{SpreadLimit: inf}, f) }, []string{"Options.SpreadLimit is +Inf"}},
		{"NaN work", func() (Result, error) { return Run("a", Work{FLOPs: nan}, Options{}, f) }, []string{`"a"`, "Work.FLOPs is NaN"}},
		{"infinite work", func() (Result, error) { return Run("a", Work{Bytes: inf}, Options{}, f) }, []string{"Work.Bytes is +Inf"}},
		{"negative work", func() (Result, error) { return Run("a", Work{Bytes: -1}, Options{}, f) }, []string{"Work.Bytes is -1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.run()
			wantError(t, err, c.parts...)
		})
	}

	_, err := Compare(Options{})
	wantError(t, err, "0 cases")
	_, err = Compare(Options{}, Case{Name: "a", Run: f}, Case{Name: "a", Run: f})
	wantError(t, err, "case 1", `"a"`, "another")
	_, err = Compare(Options{}, Case{Name: "a", Run: f, Threads: -2})
	wantError(t, err, `"a"`, "Threads", "-2")
	_, err = Compare(Options{}, Case{Name: "a", Run: f}, Case{Name: "b"})
	wantError(t, err, `"b"`, "nil")
	_, err = Compare(Options{}, Case{Name: "a", Run: f, Timed: func(int) (time.Duration, error) { return 1, nil }})
	wantError(t, err, `"a"`, "there are two")
	_, err = Compare(Options{Time: -1}, Case{Name: "a", Run: f})
	wantError(t, err, "Options.Time is -1ns")
}

func TestDefaults(t *testing.T) {
	o, err := Options{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if o.MinTime != DefaultMinTime || o.Samples != DefaultSamples || o.SpreadLimit != DefaultSpread || o.timer == nil {
		t.Errorf("completed zero value is %+v", o)
	}
	t.Setenv("MEMORYWALL_QUICK", "1")
	if o, err = (Options{}).complete(); err != nil || o.MinTime != 2*time.Millisecond || o.Samples != 2 {
		t.Errorf("completed in haste: %+v, %v", o, err)
	}
}

func TestNothingRunsOnBadArguments(t *testing.T) {
	ran := false
	_, err := Compare(Options{}, Case{Name: "a", Run: func() { ran = true }}, Case{Name: "b"})
	wantError(t, err, `"b"`)
	if ran {
		t.Error("the first case ran although the second is bad")
	}
}

func TestCalibration(t *testing.T) {
	for _, c := range []struct {
		name       string
		cost       time.Duration
		resolution time.Duration
		minTime    time.Duration
		low, high  int // calls of a sample
	}{
		{"100 ns", 100, 0, 20 * time.Millisecond, 200_000, 240_001},
		{"3 µs", 3_000, 0, 20 * time.Millisecond, 6_667, 8_001},
		{"just one sample long", 20 * time.Millisecond, 0, 20 * time.Millisecond, 1, 1},
		{"just shorter than a sample", 20*time.Millisecond - 1, 0, 20 * time.Millisecond, 2, 2},
		{"longer than a sample", time.Second, 0, 20 * time.Millisecond, 1, 1},
		{"the clock's steps ask for more", time.Millisecond, time.Millisecond, time.Millisecond, 100, 121},
		{"a step longer than a call", time.Microsecond, time.Millisecond, time.Millisecond, 100_000, 121_000},
		{"the clock may not ask for more than a second", time.Millisecond, 50 * time.Millisecond, time.Millisecond, 1000, 1200},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &fakeClock{resolution: c.resolution}
			o := clock.options()
			o.MinTime = c.minTime
			r, err := Run("f", Work{FLOPs: 50}, o, func() { clock.work(c.cost) })
			if err != nil {
				t.Fatal(err)
			}
			if r.Calls < c.low || r.Calls > c.high {
				t.Errorf("%d calls a sample; want %d to %d", r.Calls, c.low, c.high)
			}
			if len(r.Samples) != DefaultSamples {
				t.Errorf("%d samples; want %d", len(r.Samples), DefaultSamples)
			}
			for _, s := range r.Samples {
				// A sample is wrong by less than one step of the clock.
				tol := c.resolution.Seconds()/float64(r.Calls) + 1e-15
				if !(math.Abs(s-c.cost.Seconds()) <= tol) {
					t.Errorf("a sample says %v s a call; a call takes %v s", s, c.cost.Seconds())
				}
			}
		})
	}
}

// A slow function is called no more often than needed: once to warm up, unless
// the first call may have been slow for being the first.
func TestSlowFunctionsAreCalledFewTimes(t *testing.T) {
	for _, c := range []struct {
		cost time.Duration
		want int
	}{
		{slowFactor * DefaultMinTime, 1 + DefaultSamples},
		{DefaultMinTime, 3 + DefaultSamples},
	} {
		clock := &fakeClock{}
		calls := 0
		_, err := Run("slow", Work{}, clock.options(), func() { calls++; clock.work(c.cost) })
		if err != nil {
			t.Fatal(err)
		}
		if calls != c.want {
			t.Errorf("a function of %v was called %d times; want %d", c.cost, calls, c.want)
		}
	}
}

func TestColdFirstCallDoesNotDecide(t *testing.T) {
	clock := &fakeClock{}
	calls := 0
	r, err := Run("cold", Work{}, clock.options(), func() {
		if calls++; calls == 1 {
			clock.work(3 * DefaultMinTime)
		}
		clock.work(time.Microsecond)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := int(DefaultMinTime / time.Microsecond); r.Calls < want {
		t.Errorf("%d calls a sample; want at least %d", r.Calls, want)
	}
	if r.Max > 1.001e-6 {
		t.Errorf("the cold call is in a sample: %v", r.Samples)
	}
}

// One disturbance makes a short time long: the calls of a sample are those that last
// long enough when they are looked at again.
func TestOneDisturbanceDoesNotDecideTheCalibration(t *testing.T) {
	for _, c := range []struct{ disturbed, cost, want int }{{2, 1000, 20_000}, {2, 19_000_000, 2}} {
		clock := &fakeClock{}
		calls := 0
		r, err := Run("disturbed", Work{}, clock.options(), func() {
			if calls++; calls == c.disturbed {
				clock.work(DefaultMinTime)
			}
			clock.work(time.Duration(c.cost))
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Calls < c.want {
			t.Errorf("%d calls of %d ns in a sample; want at least %d", r.Calls, c.cost, c.want)
		}
	}
}

// scripted returns a function whose warm-up calls take warm, and whose timed
// samples (of one call each) take the times of the script in turn.
func scripted(clock *fakeClock, warm time.Duration, script ...time.Duration) func() {
	calls := 0
	return func() {
		i := calls - 3 // a function as long as a sample is called three times to warm up
		calls++
		if i < 0 {
			clock.work(warm)
			return
		}
		clock.work(script[i])
	}
}

func TestStatisticsKeepEverySample(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name             string
		script           []time.Duration
		min, median, max float64
		spread           float64
		warnings         []string
	}{
		{"steady", []time.Duration{30 * ms, 31 * ms, 30 * ms}, 0.030, 0.030, 0.031, 0, nil},
		{"odd count", []time.Duration{36 * ms, 30 * ms, 33 * ms}, 0.030, 0.033, 0.036, 0.1, []string{"10.0% above the best (limit 5%)"}},
		{"even count", []time.Duration{30 * ms, 34 * ms, 32 * ms, 40 * ms}, 0.030, 0.033, 0.040, 0.1, []string{"the median of 4 samples"}},
		{"at the limit", []time.Duration{20 * ms, 21 * ms, 21 * ms}, 0.020, 0.021, 0.021, 0.05, nil},
		{"one far out", []time.Duration{30 * ms, 30 * ms, 30 * ms, 90 * ms, 30 * ms}, 0.030, 0.030, 0.090, 0, []string{"worst sample took 3.0 times"}},
		{"single", []time.Duration{30 * ms}, 0.030, 0.030, 0.030, 0, []string{"one sample only"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &fakeClock{}
			o := clock.options()
			o.Samples = len(c.script)
			// Exactly at the limit is within it, whatever the rounding.
			o.SpreadLimit = DefaultSpread + 1e-12
			r, err := Run("f", Work{}, o, scripted(clock, 25*ms, c.script...))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.script {
				if r.Samples[i] != want.Seconds() {
					t.Errorf("sample %d is %v s; it took %v", i, r.Samples[i], want)
				}
			}
			for _, f := range []struct {
				name      string
				got, want float64
			}{{"min", r.Min, c.min}, {"median", r.Median, c.median}, {"max", r.Max, c.max}, {"spread", r.Spread, c.spread}} {
				if !(math.Abs(f.got-f.want) <= 1e-12) {
					t.Errorf("%s is %v; want %v", f.name, f.got, f.want)
				}
			}
			wantWarnings(t, r.Warnings, c.warnings...)
		})
	}
}

func TestRates(t *testing.T) {
	r := Result{Work: Work{FLOPs: 3e9, Bytes: 1e9}, Min: 0.5, Median: 1}
	if got := r.GFLOPS(); got != 6 {
		t.Errorf("GFLOPS is %v; want 6 (from the best sample)", got)
	}
	if got := r.GBps(); got != 2 {
		t.Errorf("GBps is %v; want 2", got)
	}
	want := []Quantity{{0.5, "s", Lower}, {6, "GFLOP/s", Higher}, {2, "GB/s", Higher}}
	if got := r.Quantities(); !slices.Equal(got, want) {
		t.Errorf("quantities are %v; want %v", got, want)
	}
	r.Work = Work{}
	if r.GFLOPS() != 0 || r.GBps() != 0 || len(r.Quantities()) != 1 {
		t.Errorf("rates of uncounted work: %v", r.Quantities())
	}
	if i, err := arg.Try((Work{FLOPs: 3, Bytes: 2}).Intensity); err != nil || i != 1.5 {
		t.Errorf("intensity is %v, %v; want 1.5", i, err)
	}
	err := roofline.Maybe(func() { Work{FLOPs: 3}.Intensity() })
	wantError(t, err, "Work.Bytes is 0")
	err = roofline.Maybe(func() { Work{FLOPs: -3, Bytes: 1}.Intensity() })
	wantError(t, err, "Work.FLOPs is -3")
	err = roofline.Maybe(func() { Work{Bytes: 3}.Intensity() })
	wantError(t, err, "Work.FLOPs is 0")
	err = roofline.Maybe(func() { Work{FLOPs: 1, Bytes: 5e-324}.Intensity() })
	wantError(t, err, "Work.Intensity is +Inf FLOP/byte")
	err = roofline.Maybe(func() { Work{FLOPs: 5e-324, Bytes: 1e9}.Intensity() })
	wantError(t, err, "is 0 FLOP/byte: it must be positive and finite")
}

// A clock that is set during the run: a step back ends it with an error that
// says so, a step forward makes one sample long and loses nothing else.
func TestClockSteps(t *testing.T) {
	for _, c := range []struct {
		step time.Duration
		at   int // call
	}{{-time.Hour, 4}, {-30 * time.Millisecond, 5}, {time.Hour, 5}} {
		clock := &fakeClock{}
		calls := 0
		r, err := Run("stepped", Work{}, clock.options(), func() {
			clock.work(DefaultMinTime)
			if calls++; calls == c.at {
				clock.work(c.step)
			}
		})
		if c.step < 0 {
			wantError(t, err, `"stepped": the clock went back by `, "during 1 calls: measure again")
			continue
		}
		if err != nil || len(r.Samples) != DefaultSamples || r.Min != DefaultMinTime.Seconds() || r.Median != r.Min || !(r.Max > 3600) {
			t.Errorf("%+v, %v", r, err)
		}
		wantWarnings(t, r.Warnings, "the worst sample took")
	}
	// Back while the calls of a sample are being found: more calls are tried.
	clock := &fakeClock{}
	calls := 0
	r, err := Run("stepped early", Work{}, clock.options(), func() {
		clock.work(DefaultMinTime)
		if calls++; calls == 2 {
			clock.work(-time.Hour)
		}
	})
	if err != nil || r.Min != DefaultMinTime.Seconds() {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTooFast(t *testing.T) {
	clock := &fakeClock{}
	_, err := Run("nothing", Work{}, clock.options(), func() {})
	wantError(t, err, `"nothing"`, "no time")

	// Time that only the calibration sees.
	clock = &fakeClock{}
	calls := 0
	_, err = Run("soon nothing", Work{}, clock.options(), func() {
		if calls++; calls <= 3 {
			clock.work(DefaultMinTime)
		}
	})
	wantError(t, err, `"soon nothing"`, "no time")
}

func TestDoubtAboutShortCalls(t *testing.T) {
	// A step of 50 ms: even a sample of a second is wrong by up to 5%.
	clock := &fakeClock{resolution: 50 * time.Millisecond}
	r, err := Run("coarse", Work{}, clock.options(), func() { clock.work(time.Millisecond) })
	if err != nil {
		t.Fatal(err)
	}
	wantWarnings(t, r.Warnings, "the clock moves in steps of 50 ms")

	// What counts is the shortest sample, wherever it stands.
	clock = &fakeClock{resolution: time.Millisecond}
	o := clock.options()
	o.SpreadLimit, o.Samples = 10, 3
	r, err = Run("shorter", Work{}, o, scripted(clock, 120*time.Millisecond, 90*time.Millisecond, 50*time.Millisecond, 90*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	wantWarnings(t, r.Warnings, "the shortest sample took 50 ms and the clock moves in steps of 1 ms: the time can be 2.0% wrong")

	clock = &fakeClock{}
	o = clock.options()
	o.timer.call = 2e-9
	for cost, warnings := range map[time.Duration][]string{
		callMargin*2 - 1: {"a call took 99 ns, of which 2 ns is what the timing loop adds"},
		callMargin*2 + 1: nil,
	} {
		r, err = Run("short", Work{}, o, func() { clock.work(cost) })
		if err != nil {
			t.Fatal(err)
		}
		wantWarnings(t, r.Warnings, warnings...)
	}
}

func TestBusy(t *testing.T) {
	for _, c := range []struct {
		name     string
		threads  int
		cpu      time.Duration // of each call, which takes 30 ms
		busy     float64
		warnings []string
	}{
		{"one thread, undisturbed", 1, 30 * time.Millisecond, 1, nil},
		{"one thread, half the time", 1, 15 * time.Millisecond, 0.5, []string{"0.50 cores were at work on average for 1 thread"}},
		{"two threads", 2, 57 * time.Millisecond, 1.9, nil},
		{"two threads, one core", 2, 30 * time.Millisecond, 1, []string{"1.00 cores were at work on average for 2 threads"}},
		{"threads not stated", 0, 3 * time.Millisecond, 0.1, nil},
		{"CPU time unknown", 2, 0, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &fakeClock{}
			o := clock.options()
			o.timer.cpu = func() time.Duration { return clock.cpuAt }
			r, err := Compare(o, Case{Name: "f", Threads: c.threads, Run: func() {
				clock.work(30 * time.Millisecond)
				clock.cpuAt += c.cpu
			}})
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(r[0].Busy-c.busy) <= 1e-12) {
				t.Errorf("busy is %v; want %v", r[0].Busy, c.busy)
			}
			if r[0].Threads != c.threads {
				t.Errorf("threads are %d; want %d", r[0].Threads, c.threads)
			}
			wantWarnings(t, r[0].Warnings, c.warnings...)
		})
	}
}

func TestCompareInterleaves(t *testing.T) {
	clock := &fakeClock{}
	o := clock.options()
	o.Samples = 3
	var order strings.Builder
	// A's samples take two calls each, so that one untimed call goes before
	// them; B's take one.
	r, err := Compare(o,
		Case{Name: "A", Run: func() { order.WriteByte('A'); clock.work(15 * time.Millisecond) }},
		Case{Name: "B", Run: func() { order.WriteByte('B'); clock.work(40 * time.Millisecond) }},
	)
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Name != "A" || r[1].Name != "B" || r[0].Calls != 2 || r[1].Calls != 1 {
		t.Fatalf("results are %v", r)
	}
	const warm = "A" + "A" + "AA" + "AA" + "BBB"
	if got, want := order.String(), warm+"AAAB"+"AAAB"+"AAAB"; got != want {
		t.Errorf("order of calls is %s; want %s", got, want)
	}
	if !r[0].Started.Equal(r[1].Started) {
		t.Errorf("results of one run started at %v and %v", r[0].Started, r[1].Started)
	}
}

func TestVerify(t *testing.T) {
	clock := &fakeClock{}
	var order strings.Builder
	c := Case{
		Name:   "f",
		Run:    func() { order.WriteByte('r'); clock.work(time.Second) },
		Verify: func() error { order.WriteByte('v'); clock.work(time.Hour); return nil },
	}
	r, err := Compare(clock.options(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := order.String(), "rv"+strings.Repeat("r", DefaultSamples); got != want {
		t.Errorf("order is %s; want %s", got, want)
	}
	if r[0].Max != 1 {
		t.Errorf("verification was timed: %v", r[0].Samples)
	}

	order.Reset()
	wrong := errors.New("element 3 is 7")
	c.Verify = func() error { return wrong }
	_, err = Compare(clock.options(), c)
	wantError(t, err, `"f"`, "element 3 is 7")
	if !errors.Is(err, wrong) {
		t.Error("the error does not wrap what Verify returned")
	}
	if order.String() != "r" {
		t.Errorf("calls after a wrong result: %s", order.String())
	}
}

func TestProgress(t *testing.T) {
	clock := &fakeClock{}
	o := clock.options()
	o.Samples = 3
	var seen []string
	o.Progress = func(done, total int) {
		seen = append(seen, fmt.Sprintf("%d/%d", done, total))
		clock.work(time.Hour) // must not enter a sample
	}
	step := func() { clock.work(50 * time.Millisecond) }
	r, err := Compare(o, Case{Name: "A", Run: step}, Case{Name: "B", Run: step})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0/8", "1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"}
	if !slices.Equal(seen, want) {
		t.Errorf("progress is %v; want %v", seen, want)
	}
	for _, r := range r {
		if r.Max != 0.05 {
			t.Errorf("%s: progress was timed: %v", r.Name, r.Samples)
		}
	}
}

func TestSpeedups(t *testing.T) {
	clock := &fakeClock{}
	const ms = time.Millisecond
	o := clock.options()
	o.Samples = 3
	// The machine slows down in the second round, for both.
	r, err := Compare(o,
		Case{Name: "slow", Run: scripted(clock, 60*ms, 60*ms, 120*ms, 66*ms)},
		Case{Name: "fast", Run: scripted(clock, 30*ms, 30*ms, 60*ms, 30*ms)},
	)
	if err != nil {
		t.Fatal(err)
	}
	s := Speedups(r[0], r[1])
	want := Speedup{Base: "slow", Other: "fast", Rounds: []float64{2, 2, 2.2}, Min: 2, Median: 2, Max: 2.2}
	if s.Base != want.Base || s.Other != want.Other {
		t.Errorf("speedup is of %q over %q", s.Other, s.Base)
	}
	got := append(slices.Clone(s.Rounds), s.Min, s.Median, s.Max)
	for i, w := range append(slices.Clone(want.Rounds), want.Min, want.Median, want.Max) {
		if !(math.Abs(got[i]-w) <= 1e-12) {
			t.Errorf("speedup is %+v; want %+v", s, want)
			break
		}
	}
	if got, want := s.String(), "fast runs at 2 times the speed of slow (median of 3 rounds, 2 to 2.2)"; got != want {
		t.Errorf("String is %q; want %q", got, want)
	}

	// What came back from a file can still be paired.
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back []Result
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if again := Speedups(back[0], back[1]); !reflect.DeepEqual(again, s) {
		t.Errorf("after JSON: %+v; want %+v", again, s)
	}

	clock.work(time.Second)
	other, err := Run("apart", Work{}, o, func() { clock.work(30 * ms) })
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, arg.Maybe(func() { Speedups(r[0], other) }), `"slow"`, `"apart"`, "not timed in one run")
	wantError(t, arg.Maybe(func() { Speedups(Result{Name: "a"}, Result{Name: "b"}) }), "not timed in one run")
	empty := Result{Name: "a", Started: clock.now()}
	wantError(t, arg.Maybe(func() { Speedups(empty, empty) }), "no samples")
	zero := r[1]
	zero.Samples = []float64{0.03, 0, 0.03}
	wantError(t, arg.Maybe(func() { Speedups(r[0], zero) }), "round 1")
}

func TestResolution(t *testing.T) {
	for _, c := range []struct {
		name  string
		clock fakeClock
		want  time.Duration
	}{
		{"steps longer than a reading", fakeClock{resolution: time.Millisecond, reading: 100}, time.Millisecond},
		{"readings longer than a step", fakeClock{resolution: 1, reading: 100}, 100},
		{"stands still", fakeClock{}, 0},
	} {
		if got := resolution(c.clock.now); got != c.want {
			t.Errorf("%s: resolution is %v; want %v", c.name, got, c.want)
		}
	}
	clock := &fakeClock{reading: 16384}
	if got := newTimer(clock.now, nil).call; !(math.Abs(got-1e-9) <= 1e-15) {
		t.Errorf("an empty call costs %v s; want 1e-9: one reading over 16384 calls", got)
	}
}

func TestFormats(t *testing.T) {
	r := Result{Name: "f", Work: Work{FLOPs: 1e9, Bytes: 2e9}, Threads: 2, Min: 0.5, Spread: 0.0123, Samples: []float64{0.5, 0.6}}
	if got, want := r.String(), "f: 2 GFLOP/s, 4 GB/s, 500 ms a call (best of 2, median +1.2%), 2 threads"; got != want {
		t.Errorf("String is %q; want %q", got, want)
	}
	r = Result{Name: "f", Min: 0.5, Samples: []float64{0.5}, Threads: 1, Warnings: []string{"x"}}
	if got, want := r.String(), "f: 500 ms a call (best of 1, median +0.0%), 1 thread, 1 warning"; got != want {
		t.Errorf("String is %q; want %q", got, want)
	}
}

// The machine's own clock works with the harness: no figure is asserted.
func TestRealClock(t *testing.T) {
	x := 1.0
	r, err := Run("multiply", Work{FLOPs: 1000}, Options{MinTime: time.Microsecond, Samples: 2}, func() {
		for range 1000 {
			x *= 1.0000001
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Min > 0) || !(r.GFLOPS() > 0) || len(r.Samples) != 2 || r.Started.IsZero() {
		t.Errorf("result is %+v", r)
	}
}

// What keeps its own clock is timed by that, and its error ends the run.
func TestTimed(t *testing.T) {
	clock := &fakeClock{}
	calls, warmed := 0, 0
	c := Case{Name: "beside", Warm: func() { warmed++ }, Timed: func(n int) (time.Duration, error) {
		clock.work(time.Hour) // what the caller's clock says does not count
		calls += n
		return time.Duration(n) * 4 * time.Millisecond, nil
	}}
	r, err := Compare(clock.options(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Min != 0.004 || r[0].Max != 0.004 || r[0].Calls < 5 || warmed != DefaultSamples {
		t.Errorf("%+v, warmed up %d times", r[0], warmed)
	}
	broken := errors.New("gone")
	c.Timed = func(int) (time.Duration, error) { return 0, broken }
	_, err = Compare(clock.options(), c)
	wantError(t, err, `"beside"`, "gone")
	if !errors.Is(err, broken) {
		t.Error("the error does not wrap what Timed returned")
	}
}

// Compare with a time goes on until the best samples of all cases agree, in whole
// rounds.
func TestCompareTakesItsTime(t *testing.T) {
	for _, c := range []struct {
		time    time.Duration
		samples int
	}{{0, 2}, {250 * time.Millisecond, 3}, {time.Minute, 9}} {
		clock := &fakeClock{}
		o := clock.options()
		o.Samples, o.Time = 2, c.time
		n := 0
		r, err := Compare(o, Case{Name: "restless", Run: func() {
			// The three best agree from the ninth sample on.
			cost := []time.Duration{25, 25, 25, 29, 28, 27, 26, 25, 24, 23, 22, 22}[min(n, 11)]
			n++
			clock.work(cost * time.Millisecond)
		}}, Case{Name: "steady", Run: func() { clock.work(20 * time.Millisecond) }})
		if err != nil {
			t.Fatal(err)
		}
		if len(r[0].Samples) != c.samples && c.time != time.Minute || len(r[1].Samples) != len(r[0].Samples) || !r[0].settled() && c.time == time.Minute {
			t.Errorf("%v: %d samples and %d: %v", c.time, len(r[0].Samples), len(r[1].Samples), r[0].Samples)
		}
	}
}

// Sample comes back to each case at another time of the run, and goes on with those
// whose best was seen at one visit alone, for as long as there is time.
func TestSample(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		time   time.Duration
		slow   func(visit int) bool // of the case that is disturbed
		visits int                  // of that case
		doubt  string
	}{
		{"steady", 10 * time.Second, func(int) bool { return false }, 2, ""},
		{"slow at first", 10 * time.Second, func(v int) bool { return v == 0 }, 3, ""},
		{"fast once: all of the time is used", 10 * time.Second, func(v int) bool { return v != 1 }, 0, "the best of one visit lies 8.0% below that of the others: another run"},
		{"no time for a second visit", 1, func(int) bool { return false }, 1, ""},
	} {
		clock := &fakeClock{}
		o := clock.options()
		o.MinTime, o.Time = ms, c.time
		visit := -1
		var seen []string
		o.Progress = func(done, total int) { seen = append(seen, fmt.Sprintf("%d/%d", done, total)) }
		r, err := Sample(context.Background(), o,
			Case{Name: "disturbed", Warm: func() { visit++ }, Run: func() {
				if visit >= 0 && c.slow(visit) {
					clock.work(80 * time.Microsecond)
				}
				clock.work(ms)
			}},
			Case{Name: "steady", Run: func() { clock.work(2 * ms) }})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r[0].Visits); c.visits > 0 && got != c.visits || len(r[0].Samples) != visitSamples*got {
			t.Errorf("%s: %d visits with %d samples; want %d visits", c.name, got, len(r[0].Samples), c.visits)
		}
		if c.visits == 0 && clock.at < c.time {
			t.Errorf("%s: it ended after %v of %v", c.name, clock.at, c.time)
		}
		if len(r[1].Visits) > 2 {
			t.Errorf("%s: the steady one was visited %d times", c.name, len(r[1].Visits))
		}
		if c.doubt == "" {
			wantWarnings(t, r[0].Warnings)
		} else if !strings.Contains(strings.Join(r[0].Warnings, "\n"), c.doubt) {
			t.Errorf("%s: warnings %q", c.name, r[0].Warnings)
		}
		if seen[0] != "0/4" || seen[len(seen)-1] != "4/4" {
			t.Errorf("%s: progress is %v", c.name, seen)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	clock := &fakeClock{}
	_, err := Sample(ctx, clock.options(), Case{Name: "a", Run: func() { clock.work(time.Second); cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSettled(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    bool
	}{{nil, false}, {[]float64{100, 100}, false}, {[]float64{100, 100.5, 500, 100.9}, true}, {[]float64{100, 100.5, 101.1}, false}} {
		r := Result{Samples: c.samples}
		if got := r.settled(); got != c.want {
			t.Errorf("%v: %v", c.samples, got)
		}
	}
}

// Every thread is in the work at once: each waits there for the others.
func TestCrew(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		crew := NewCrew(n)
		for range 20 {
			var in atomic.Int32
			seen := make([]int, n)
			d := crew.Run(func(i int) {
				seen[i]++
				in.Add(1)
				for in.Load() < int32(n) {
					runtime.Gosched()
				}
			})
			if d < 0 || slices.ContainsFunc(seen, func(calls int) bool { return calls != 1 }) {
				t.Fatalf("%d threads were called %v times in %v", n, seen, d)
			}
		}
		crew.Close()
	}
}

// benchstat reads a name without spaces, an even number of fields, one line a sample.
func TestWriteBenchmarks(t *testing.T) {
	var b strings.Builder
	err := WriteBenchmarks(&b, "Some  CPU", Result{Name: "gemm float32 64×64", Work: Work{FLOPs: 2e6, Bytes: 1e6}, Threads: 2, Calls: 3, Samples: []float64{0.001, 0.002}}, Result{Name: "éa", Calls: 1, Samples: []float64{3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"cpu: Some CPU\n", "Unit GFLOP/s better=higher\n",
		"BenchmarkGemm_float32_64×64-2\t3\t1e+06 ns/op\t2 GFLOP/s\t1 GB/s\nBenchmarkGemm_float32_64×64-2\t3\t2e+06 ns/op\t1 GFLOP/s\t0.5 GB/s\n",
		"BenchmarkÉa\t1\t3e+09 ns/op\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
