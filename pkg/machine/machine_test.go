package machine

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/host"
	"memorywall/pkg/roofline"
)

func sampleMachine() Machine {
	point := func(loop string, threads int, set int64, rate float64) BandwidthPoint {
		return BandwidthPoint{Loop: loop, ISA: "avx2", Threads: threads, WorkingSet: set, BytesPerS: rate,
			WithWriteAllocate: rate * WriteAllocate(loop), Median: rate * 0.99, Samples: []float64{rate, rate * 0.99, rate * 0.9}}
	}
	level := func(name string, threads int, from, to int64, rate float64) Level {
		return Level{Name: name, Threads: threads, Reported: to, From: from, To: to, Bandwidth: rate, Rates: map[string]float64{LoadLoop: rate, TriadLoop: rate / 2}}
	}
	return Machine{
		Machine: roofline.Machine{Name: "a laptop, 2 cores", Source: "measured", Format: "FP32", ElemBytes: 4, Peak: 200e9, Bandwidth: 20e9, Tolerance: roofline.Slack},
		Measured: &Measured{
			Date: "2026-11-30T09:00:00Z", Seconds: 12.5,
			Host:     MeasuredHost{Host{CPU: "some CPU", Arch: "amd64", OS: "linux", Cores: 2, Caches: []host.Cache{{Level: 1, Bytes: 32768, Cores: 1}}, ISA: []string{"avx2"}}, 2},
			Method:   []string{"by a clock"},
			Versions: map[string]string{"go": "go1.26"},
			Clock:    Clock{Hz: 3e9, Min: 2.9e9, Max: 3e9, Samples: []float64{3e9, 2.9e9}},
			L1Load:   &L1Load{BytesPerCycle: 60, Ports: 64, Source: "a manual"},
			Peaks: []ComputePeak{
				{ISA: "avx2", Fused: true, Format: "FP32", ElemBytes: 4, Threads: 1, FLOPS: 100e9, Median: 99e9, Samples: []float64{99e9, 100e9}},
				{ISA: "scalar", Fused: true, Format: "FP32", ElemBytes: 4, Threads: 1, FLOPS: 12e9, Median: 12e9, Samples: []float64{12e9}},
				{ISA: "avx2", Fused: true, Format: "FP32", ElemBytes: 4, Threads: 2, FLOPS: 200e9, Median: 190e9, Samples: []float64{200e9}},
			},
			Bandwidths: []BandwidthPoint{point(LoadLoop, 1, 16384, 300e9), point(CopyLoop, 1, 1<<26, 10e9), point(TriadStreamLoop, 2, 1<<27, 20e9)},
			Levels: []Level{
				level("L1", 1, 16384, 32768, 300e9), level("memory", 1, 1<<24, 1<<26, 12e9),
				level("L1", 2, 32768, 65536, 600e9), level("memory", 2, 1<<24, 1<<26, 20e9),
			},
			Calls:    []Call{{Threads: 2, Seconds: 3e-6, Median: 4e-6, Samples: []float64{5e-6, 3e-6, 4e-6}}},
			Tuning:   []Choice{{Name: "streams", Value: 8, Tried: []Trial{{8, []float64{1}}, {16, []float64{2, 3}}}}},
			Warnings: []string{"the clock moved"},
		},
	}
}

func a100() Machine { return Machine{Machine: roofline.A100()} }

func TestMachineFileRoundTrip(t *testing.T) {
	for _, m := range []Machine{a100(), sampleMachine()} {
		text, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s comes back as %+v", m.Name, got)
		}
		// Its keys are those of a plain machine too, and a plain machine's decoder takes it.
		var plain Machine
		err = json.Unmarshal(text, &plain)
		plain.Tolerance = m.Tolerance // follows from how the machine came about
		if err != nil || !reflect.DeepEqual(plain, m) {
			t.Errorf("%s as a plain machine is %+v (%v)", m.Name, plain, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, err := Encode(sampleMachine())
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, new string) string {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("the file has no %s", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", " \n", "machine: file is empty"},
		{"half a file", string(good[:len(good)/2]), "is truncated"},
		{"no JSON", "peak = 3", "is invalid JSON"},
		{"two files", string(good) + "{}", "goes on after its JSON"},
		{"a list", "[]", "machine: file: json:"},
		{"no version", replace(`"schema": 1,`, ``), "has no schema"},
		{"another version", replace(`"schema": 1,`, `"schema": 2,`), "has schema 2: this program reads schema 1"},
		{"NaN", replace(`"peak_flops": 200000000000`, `"peak_flops": NaN`), "holds NaN at byte"},
		{"infinite", replace(`"peak_flops": 200000000000`, `"peak_flops": Infinity`), "holds Infinity"},
		{"beyond a float", replace(`"peak_flops": 200000000000`, `"peak_flops": 1e999`), "1e999"},
		{"a text for a number", replace(`"peak_flops": 200000000000`, `"peak_flops": "much"`), "peak_flops"},
		{"no peak", replace(`"peak_flops": 200000000000,`, ``), "peak is 0 FLOP/s"},
		{"a peak that nobody measured", replace(`"peak_flops": 200000000000`, `"peak_flops": 300000000000`), "peak_flops is 3e+11: it must be one of the measured peaks"},
		{"a bandwidth that nobody measured", replace(`"bandwidth_bytes_per_s": 20000000000,`, `"bandwidth_bytes_per_s": 21000000000,`), "bandwidth_bytes_per_s is 2.1e+10: it must be that of one of the measured levels"},
		{"no name", replace(`"name": "a laptop, 2 cores",`, ``), "name is empty"},
		{"no bandwidth", replace(`"bandwidth_bytes_per_s": 20000000000,`, ``), "bandwidth is 0 bytes/s"},
		{"no date", replace(`"date": "2026-11-30T09:00:00Z",`, ``), "date is empty"},
		{"no clock", replace(`"hz": 3000000000,`, ``), "clock.hz is 0"},
		{"no loads", replace(`"bytes_per_cycle": 60,`, ``), "l1_load.bytes_per_cycle is 0"},
		{"a negative sample", replace(`99000000000,`, `-1,`), "is -1"},
		{"no threads", replace(`"threads": 2,`, ``), "threads is 0"},
		{"an unknown loop", replace(`"loop": "copy"`, `"loop": "dance"`), `loop is "dance"`},
		{"no working set", replace(`"working_set_bytes": 16384,`, ``), "working_set_bytes is 0"},
		{"a level upside down", replace(`"to_bytes": 32768,`, `"to_bytes": 3,`), "levels[0].to_bytes is 3: it must be at least from_bytes, 16384"},
		{"a key twice", replace(`"hz": 3000000000,`, `"hz": 3000000000, "hz": 4000000000,`), `duplicate key: "measured.clock.hz"`},
		{"a key twice but for its case", replace(`"peak_flops": 200000000000,`, `"peak_flops": 200000000000, "Peak_FLOPS": 1,`), `duplicate key: "Peak_FLOPS"`},
		{"a key twice in a list", replace(`"loop": "copy",`, `"loop": "copy", "loop": "copy",`), `duplicate key: "measured.bandwidths[1].loop"`},
		{"a level without rates", replace(`"load": 300000000000`, `"load": 0`), `rates.load is 0`},
	} {
		m, err := Decode([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !regexp.MustCompile("^(machine|roofline): ").MatchString(err.Error()) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if !reflect.DeepEqual(m, Machine{}) {
			t.Errorf("%s: a machine beside the error", c.name)
		}
	}
	// A key that a later program of this version adds does no harm.
	if _, err := Decode([]byte(replace(`"schema": 1,`, `"schema": 1, "colour": "blue",`))); err != nil {
		t.Error(err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	m := sampleMachine()
	m.Measured.Peaks[1].Samples = []float64{math.NaN()}
	if _, err := Encode(m); err == nil || !strings.Contains(err.Error(), "peaks[1].samples[0] is NaN") {
		t.Errorf("error %v", err)
	}
	if _, err := Encode(Machine{}); err == nil {
		t.Error("no machine is encoded")
	}
	m = sampleMachine()
	m.Measured.Levels = nil
	if _, err := Encode(m); err == nil || !strings.Contains(err.Error(), "levels is empty") {
		t.Errorf("error %v", err)
	}
}

// Every figure of a measured machine is looked at: 0 where there must be one,
// what is negative, NaN or infinite.
func TestMeasuredValidate(t *testing.T) {
	for name, at := range map[string]func(d *Measured) *float64{
		"clock.hz":                           func(d *Measured) *float64 { return &d.Clock.Hz },
		"clock.least":                        func(d *Measured) *float64 { return &d.Clock.Min },
		"clock.most":                         func(d *Measured) *float64 { return &d.Clock.Max },
		"clock.samples[1]":                   func(d *Measured) *float64 { return &d.Clock.Samples[1] },
		"l1_load.bytes_per_cycle":            func(d *Measured) *float64 { return &d.L1Load.BytesPerCycle },
		"peaks[1].flops":                     func(d *Measured) *float64 { return &d.Peaks[1].FLOPS },
		"peaks[1].median":                    func(d *Measured) *float64 { return &d.Peaks[1].Median },
		"peaks[0].samples[1]":                func(d *Measured) *float64 { return &d.Peaks[0].Samples[1] },
		"bandwidths[2].bytes_per_s":          func(d *Measured) *float64 { return &d.Bandwidths[2].BytesPerS },
		"bandwidths[2].with_write_allocate":  func(d *Measured) *float64 { return &d.Bandwidths[2].WithWriteAllocate },
		"bandwidths[2].median":               func(d *Measured) *float64 { return &d.Bandwidths[2].Median },
		"bandwidths[0].samples[2]":           func(d *Measured) *float64 { return &d.Bandwidths[0].Samples[2] },
		"calls[0].seconds":                   func(d *Measured) *float64 { return &d.Calls[0].Seconds },
		"calls[0].median":                    func(d *Measured) *float64 { return &d.Calls[0].Median },
		"levels[3].bandwidth_bytes_per_s is": func(d *Measured) *float64 { return &d.Levels[3].Bandwidth },
		"l1_load.ports_bytes_per_cycle":      func(d *Measured) *float64 { return &d.L1Load.Ports },
	} {
		for _, bad := range []float64{0, -1, nan, inf} {
			if bad == 0 && name == "l1_load.ports_bytes_per_cycle" {
				continue // not known
			}
			m := sampleMachine()
			*at(m.Measured) = bad
			refused(t, m.Measured.Validate(), "measured "+name)
		}
	}
	for want, change := range map[string]func(d *Measured){
		"seconds is -1: it must be finite and at least 0":                                  func(d *Measured) { d.Seconds = -1 },
		"asked_seconds is NaN":                                                             func(d *Measured) { d.Asked = nan },
		"host.cpu_quota_cores is -2":                                                       func(d *Measured) { d.Host.Quota = -2 },
		"host.cores is -1":                                                                 func(d *Measured) { d.Host.Cores = -1 },
		"host.memory_bytes is -1":                                                          func(d *Measured) { d.Host.Memory = -1 },
		"host.caches[0].bytes is -4: it must be at least 0":                                func(d *Measured) { d.Host.Caches[0].Bytes = -4 },
		"clock.least is 3e+09: it must be at most clock.most, 2.9e+09":                     func(d *Measured) { d.Clock.Min, d.Clock.Max = d.Clock.Max, d.Clock.Min },
		"peaks[0].flops is 1e+11: it must be no worse than the median, 1.01e+11":           func(d *Measured) { d.Peaks[0].Median = 101e9 },
		"peaks[1].flops is 1.3e+10: it must be the best of its samples, 1.2e+10":           func(d *Measured) { d.Peaks[1].FLOPS = 13e9 },
		"bandwidths[0].bytes_per_s is 2.98e+11: it must be the best of its samples, 3e+11": func(d *Measured) { d.Bandwidths[0].BytesPerS = 298e9 },
		"calls[0].seconds is 3e-06: it must be no worse than the median, 2e-06":            func(d *Measured) { d.Calls[0].Median = 2e-6 },
		`tuning[0].value is 9: it must be one of the values that were tried`:               func(d *Measured) { d.Tuning[0].Value = 9 },
		"date is empty":                                        func(d *Measured) { d.Date = "" },
		"host.threads is 0":                                    func(d *Measured) { d.Host.Threads = 0 },
		"clock.samples is empty":                               func(d *Measured) { d.Clock.Samples = nil },
		"peaks is empty: it must be one or more":               func(d *Measured) { d.Peaks = nil },
		"bandwidths is empty":                                  func(d *Measured) { d.Bandwidths = nil },
		`peaks[0].isa is empty: it must be named`:              func(d *Measured) { d.Peaks[0].ISA = "" },
		`peaks[0].format is empty`:                             func(d *Measured) { d.Peaks[0].Format = "" },
		"peaks[0].threads is 0":                                func(d *Measured) { d.Peaks[0].Threads = 0 },
		"peaks[0].elem_bytes is 0":                             func(d *Measured) { d.Peaks[0].ElemBytes = 0 },
		"peaks[0].samples is empty":                            func(d *Measured) { d.Peaks[0].Samples = nil },
		"bandwidths[0].threads is 0":                           func(d *Measured) { d.Bandwidths[0].Threads = 0 },
		"bandwidths[0].working_set":                            func(d *Measured) { d.Bandwidths[0].WorkingSet = 0 },
		"bandwidths[0].samples is empty":                       func(d *Measured) { d.Bandwidths[0].Samples = nil },
		"levels[0].name is empty":                              func(d *Measured) { d.Levels[0].Name = "" },
		"levels[0].threads is 0":                               func(d *Measured) { d.Levels[0].Threads = 0 },
		"levels[0].from_bytes is 0":                            func(d *Measured) { d.Levels[0].From = 0 },
		"levels[0].reported_bytes is -1":                       func(d *Measured) { d.Levels[0].Reported = -1 },
		`levels[0].rates.load is NaN`:                          func(d *Measured) { d.Levels[0].Rates[LoadLoop] = nan },
		`levels[0].rates.load is +Inf`:                         func(d *Measured) { d.Levels[0].Rates[LoadLoop] = inf },
		`levels[0].rates is "dance": it must be of load, copy`: func(d *Measured) { d.Levels[0].Rates["dance"] = 1 },
	} {
		m := sampleMachine()
		change(m.Measured)
		refused(t, m.Measured.Validate(), "measured ", want)
	}
	// Of several wrong figures the first is named, each time.
	for range 50 {
		m := sampleMachine()
		m.Measured.Bandwidths[0] = BandwidthPoint{Loop: LoadLoop, Threads: 1, WorkingSet: 1}
		refused(t, m.Measured.Validate(), "bandwidths[0].bytes_per_s is 0")
		m = sampleMachine()
		m.Measured.Levels[0].Rates = map[string]float64{TriadLoop: -3, LoadLoop: -1, CopyLoop: -2}
		refused(t, m.Measured.Validate(), `levels[0].rates.copy is -2`)
	}
	m := sampleMachine()
	m.Measured.L1Load.Ports = 0 // not known
	m.Measured.Bandwidths[0].WorkingSet, m.Measured.Levels[0].From = 1, 1
	if err := m.Measured.Validate(); err != nil {
		t.Error(err)
	}
	// One of each is enough.
	d := *m.Measured
	d.Peaks, d.Bandwidths, d.Levels = d.Peaks[:1], d.Bandwidths[:1], d.Levels[:1]
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	// No level for so many threads, in a machine that nobody validated.
	m.Measured.Levels = m.Measured.Levels[:2]
	refused(t, arg.Maybe(func() { m.Roofs(2, "FP32", "") }), "threads is 2: no level was measured with so many")
}

func FuzzDecode(f *testing.F) {
	for _, m := range []Machine{a100(), sampleMachine()} {
		text, err := Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema":1}`))
	f.Add([]byte(`{"schema":NaN}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode(text)
		if err != nil {
			if !regexp.MustCompile("^(machine|roofline): ").MatchString(err.Error()) {
				t.Errorf("error %v", err)
			}
			return
		}
		// What is taken can be used, and comes back.
		if err := arg.Maybe(func() { m.Ridge() }); err != nil {
			t.Error(err)
		}
		again, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		third, err := Encode(back)
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("another file after a round trip (%v)", err)
		}
	})
}

func TestRoofs(t *testing.T) {
	m := sampleMachine()
	roofs := m.Roofs(1, "FP32", "")
	if len(roofs) != 2 {
		t.Fatalf("%v", roofs)
	}
	if r := roofs[0]; r.Name != "L1, one core" || r.Peak != 100e9 || r.Bandwidth != 300e9 || r.ElemBytes != 4 {
		t.Errorf("%+v", r)
	}
	if r := m.Memory(1, "FP32", ""); r != roofs[1] || r.Name != "memory, one core" || r.Bandwidth != 12e9 {
		t.Errorf("%+v", r)
	}
	if roofs = m.Roofs(1, "FP32", "scalar"); roofs[0].Peak != 12e9 {
		t.Errorf("%+v", roofs)
	}
	if roofs = m.Roofs(2, "FP32", ""); roofs[1].Name != "memory, 2 cores" || roofs[1].Peak != 200e9 {
		t.Errorf("%+v", roofs)
	}
	a := a100()
	if roofs = a.Roofs(1, "FP16", ""); len(roofs) != 1 || roofs[0] != a.Machine {
		t.Errorf("%+v", roofs)
	}
	if got := m.Measured.Latency(2); got != 3e-6 || m.Measured.Latency(1) != 0 {
		t.Errorf("a call on 2 threads costs %v s", got)
	}
	for _, c := range []struct {
		m           Machine
		threads     int
		format, isa string
		want        string
	}{
		{m, 3, "FP32", "", "no measured peak for FP32 on 3 cores"},
		{m, 1, "FP16", "", "there are FP32 avx2 on one core"},
		{m, 2, "FP32", "scalar", `instruction set "scalar"`},
		{a, 1, "FP32", "", "is known for FP16 only"},
	} {
		refused(t, arg.Maybe(func() { c.m.Roofs(c.threads, c.format, c.isa) }), c.want)
	}
}

func TestWriteAllocate(t *testing.T) {
	for loop, want := range map[string]float64{LoadLoop: 1, CopyLoop: 1.5, TriadLoop: 4.0 / 3, CopyStreamLoop: 1, TriadStreamLoop: 1} {
		if got := WriteAllocate(loop); got != want {
			t.Errorf("%s: %v", loop, got)
		}
	}
}

// The innermost level that has room for all the data: what fits in part is held
// against the next one.
func TestRoofFor(t *testing.T) {
	m := sampleMachine()
	for bytes, want := range map[int64]string{1: "L1, one core", 32768: "L1, one core", 32769: "memory, one core", 1 << 24: "memory, one core", 1 << 40: "memory, one core"} {
		if r := m.RoofFor(1, "FP32", "", bytes); r.Name != want {
			t.Errorf("%d bytes: %s, want %s", bytes, r.Name, want)
		}
	}
	// Where the system reports no capacity, the working sets of the level tell it.
	m.Measured.Levels[0].Reported, m.Measured.Levels[0].To = 0, 20000
	if in, out := m.RoofFor(1, "FP32", "", 20000), m.RoofFor(1, "FP32", "", 20001); in.Name != "L1, one core" || out.Name != "memory, one core" {
		t.Errorf("%s and %s", in.Name, out.Name)
	}
	a := a100()
	if r := a.RoofFor(1, "FP16", "", 1); r != a.Machine {
		t.Errorf("%+v", r)
	}
	refused(t, arg.Maybe(func() { m.RoofFor(1, "FP32", "", 0) }), "bytes is 0")
	refused(t, arg.Maybe(func() { m.RoofFor(5, "FP32", "", 1) }), "on 5 cores")
	refused(t, arg.Maybe(func() { a.RoofFor(1, "FP32", "", 1) }), "FP16 only")
}

// A file of the first form, as it was written before host facts, calls and tuning
// were kept, loads, and says the same when it is written again.
func TestStoredFile(t *testing.T) {
	m, err := Load(filepath.Join("testdata", "schema1.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := m.Measured
	if m.Name != "AMD EPYC, 2 cores" || m.Peak <= 0 || d.Host.Threads != 2 || d.Host.Cores != 2 || len(d.Host.Caches) != 3 || len(d.Levels) != 8 && len(d.Levels) < 2 || d.Asked != 0 {
		t.Errorf("%+v with %d levels", m.Machine, len(d.Levels))
	}
	text, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Decode(text); err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("another machine comes back (%v)", err)
	}
	for _, threads := range []int{1, 2} {
		if r := m.Memory(threads, "FP32", ""); !(r.Peak > 0 && r.Bandwidth > 0) {
			t.Errorf("%+v", r)
		}
	}
}

// A stored roof is another machine's, or may be this one's.
func TestOther(t *testing.T) {
	m := sampleMachine()
	here := Host{CPU: "some CPU", Arch: "amd64", OS: "linux", Cores: 2}
	small, other := here, here
	small.Cores, other.CPU = 1, "another CPU"
	for _, c := range []struct {
		m    Machine
		h    Host
		want string
	}{{m, here, ""}, {m, other, "those of another machine: some CPU, linux/amd64"}, {m, small, "those of 2 threads, and this machine has 1"}, {a100(), here, "not measured"}} {
		if got := Other(c.m, c.h); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

var nan, inf = math.NaN(), math.Inf(1)

func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q", err, part)
		}
	}
}
