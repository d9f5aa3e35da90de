package roofline

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
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
		Name: "a laptop, 2 cores", Source: "measured", Format: "FP32", ElemBytes: 4, Peak: 200e9, Bandwidth: 20e9,
		Measured: &Measured{
			Date: "2026-11-30T09:00:00Z", Seconds: 12.5,
			Host:     Host{CPU: "some CPU", Arch: "amd64", OS: "linux", Cores: 2, Threads: 2, Caches: []Cache{{Level: 1, Bytes: 32768, Cores: 1}}, ISA: []string{"avx2"}},
			Method:   []string{"by a clock"},
			Versions: map[string]string{"go": "go1.26"},
			Clock:    Clock{Hz: 3e9, Least: 2.9e9, Most: 3e9, Samples: []float64{3e9, 2.9e9}},
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
			Warnings: []string{"the clock moved"},
		},
	}
}

func TestMachineFileRoundTrip(t *testing.T) {
	for _, m := range []Machine{A100(), sampleMachine()} {
		text, err := EncodeMachine(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeMachine(text)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s comes back as %+v", m.Name, got)
		}
		// Its keys are those of a plain machine too, and a plain machine's decoder takes it.
		var plain Machine
		if err := json.Unmarshal(text, &plain); err != nil || !reflect.DeepEqual(plain, m) {
			t.Errorf("%s as a plain machine is %+v (%v)", m.Name, plain, err)
		}
	}
}

func TestDecodeMachineRefuses(t *testing.T) {
	good, err := EncodeMachine(sampleMachine())
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
		{"nothing", " \n", "machine file is empty"},
		{"half a file", string(good[:len(good)/2]), "breaks off"},
		{"no JSON", "peak = 3", "is no JSON"},
		{"two files", string(good) + "{}", "goes on after its JSON"},
		{"a list", "[]", "machine file: json:"},
		{"no version", replace(`"schema": 1,`, ``), "has no schema"},
		{"another version", replace(`"schema": 1,`, `"schema": 2,`), "has schema 2: this program reads schema 1"},
		{"NaN", replace(`"peak_flops": 200000000000`, `"peak_flops": NaN`), "holds NaN at byte"},
		{"infinite", replace(`"peak_flops": 200000000000`, `"peak_flops": Infinity`), "holds Infinity"},
		{"beyond a float", replace(`"peak_flops": 200000000000`, `"peak_flops": 1e999`), "1e999"},
		{"a text for a number", replace(`"peak_flops": 200000000000`, `"peak_flops": "much"`), "peak_flops"},
		{"no peak", replace(`"peak_flops": 200000000000,`, ``), "peak is 0 FLOP/s"},
		{"no name", replace(`"name": "a laptop, 2 cores",`, ``), "name is empty"},
		{"no bandwidth", replace(`"bandwidth_bytes_per_s": 20000000000,`, ``), "bandwidth is 0 bytes/s"},
		{"no date", replace(`"date": "2026-11-30T09:00:00Z",`, ``), "date is empty"},
		{"no clock", replace(`"hz": 3000000000,`, ``), "clock: hz is 0"},
		{"no loads", replace(`"bytes_per_cycle": 60,`, ``), "l1_load: 0 and 64"},
		{"a negative sample", replace(`99000000000,`, `-1,`), "is -1"},
		{"no threads", replace(`"threads": 2,`, ``), "threads is 0"},
		{"an unknown loop", replace(`"loop": "copy"`, `"loop": "dance"`), `loop is "dance"`},
		{"no working set", replace(`"working_set_bytes": 16384,`, ``), "working_set_bytes is 0"},
		{"a level upside down", replace(`"to_bytes": 32768,`, `"to_bytes": 3,`), "from 16384 to 3"},
		{"a level without rates", replace(`"load": 300000000000`, `"load": 0`), `rate of "load" is 0`},
	} {
		m, err := DecodeMachine([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "roofline: ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if !reflect.DeepEqual(m, Machine{}) {
			t.Errorf("%s: a machine beside the error", c.name)
		}
	}
	// A key that a later program of this version adds does no harm.
	if _, err := DecodeMachine([]byte(replace(`"schema": 1,`, `"schema": 1, "colour": "blue",`))); err != nil {
		t.Error(err)
	}
}

func TestEncodeMachineRefuses(t *testing.T) {
	m := sampleMachine()
	m.Measured.Peaks[1].Samples = []float64{math.NaN()}
	if _, err := EncodeMachine(m); err == nil || !strings.Contains(err.Error(), "peaks[1]: samples[0] is NaN") {
		t.Errorf("error %v", err)
	}
	if _, err := EncodeMachine(Machine{}); err == nil {
		t.Error("no machine is encoded")
	}
	m = sampleMachine()
	m.Measured.Levels = nil
	if _, err := EncodeMachine(m); err == nil || !strings.Contains(err.Error(), "0 levels") {
		t.Errorf("error %v", err)
	}
}

// Every figure of a measured machine is looked at: 0 where there must be one,
// what is negative, NaN or infinite.
func TestMeasuredValidate(t *testing.T) {
	for name, at := range map[string]func(d *Measured) *float64{
		"clock: hz":                           func(d *Measured) *float64 { return &d.Clock.Hz },
		"clock: least":                        func(d *Measured) *float64 { return &d.Clock.Least },
		"clock: most":                         func(d *Measured) *float64 { return &d.Clock.Most },
		"clock: samples[1]":                   func(d *Measured) *float64 { return &d.Clock.Samples[1] },
		"l1_load":                             func(d *Measured) *float64 { return &d.L1Load.BytesPerCycle },
		"peaks[1]: flops":                     func(d *Measured) *float64 { return &d.Peaks[1].FLOPS },
		"peaks[1]: median":                    func(d *Measured) *float64 { return &d.Peaks[1].Median },
		"peaks[0]: samples[1]":                func(d *Measured) *float64 { return &d.Peaks[0].Samples[1] },
		"bandwidths[2]: bytes_per_s":          func(d *Measured) *float64 { return &d.Bandwidths[2].BytesPerS },
		"bandwidths[2]: with_write_allocate":  func(d *Measured) *float64 { return &d.Bandwidths[2].WithWriteAllocate },
		"bandwidths[2]: median":               func(d *Measured) *float64 { return &d.Bandwidths[2].Median },
		"bandwidths[0]: samples[2]":           func(d *Measured) *float64 { return &d.Bandwidths[0].Samples[2] },
		"levels[3]: bandwidth_bytes_per_s is": func(d *Measured) *float64 { return &d.Levels[3].Bandwidth },
		"l1_load: 60 and":                     func(d *Measured) *float64 { return &d.L1Load.Ports },
	} {
		for _, bad := range []float64{0, -1, nan, inf} {
			if bad == 0 && name == "l1_load: 60 and" {
				continue // not known
			}
			m := sampleMachine()
			*at(m.Measured) = bad
			refused(t, m.Measured.Validate(), "measured "+name)
		}
	}
	for want, change := range map[string]func(d *Measured){
		"date is empty":                     func(d *Measured) { d.Date = "" },
		"host.threads is 0":                 func(d *Measured) { d.Host.Threads = 0 },
		"clock: samples is empty":           func(d *Measured) { d.Clock.Samples = nil },
		"0 peaks, 3 bandwidths":             func(d *Measured) { d.Peaks = nil },
		"3 peaks, 0 bandwidths":             func(d *Measured) { d.Bandwidths = nil },
		`peaks[0]: isa is ""`:               func(d *Measured) { d.Peaks[0].ISA = "" },
		`isa is "avx2" and format ""`:       func(d *Measured) { d.Peaks[0].Format = "" },
		"peaks[0]: threads is 0":            func(d *Measured) { d.Peaks[0].Threads = 0 },
		"peaks[0]: elem_bytes is 0":         func(d *Measured) { d.Peaks[0].ElemBytes = 0 },
		"peaks[0]: samples is empty":        func(d *Measured) { d.Peaks[0].Samples = nil },
		"bandwidths[0]: threads is 0":       func(d *Measured) { d.Bandwidths[0].Threads = 0 },
		"bandwidths[0]: working_set":        func(d *Measured) { d.Bandwidths[0].WorkingSet = 0 },
		"bandwidths[0]: samples is empty":   func(d *Measured) { d.Bandwidths[0].Samples = nil },
		"levels[0]: name is empty":          func(d *Measured) { d.Levels[0].Name = "" },
		"levels[0]: threads is 0":           func(d *Measured) { d.Levels[0].Threads = 0 },
		"levels[0]: working sets from 0":    func(d *Measured) { d.Levels[0].From = 0 },
		"levels[0]: reported_bytes is -1":   func(d *Measured) { d.Levels[0].Reported = -1 },
		`levels[0]: rate of "load" is NaN`:  func(d *Measured) { d.Levels[0].Rates[LoadLoop] = nan },
		`levels[0]: rate of "load" is +Inf`: func(d *Measured) { d.Levels[0].Rates[LoadLoop] = inf },
		`levels[0]: rate of "dance" is 1`:   func(d *Measured) { d.Levels[0].Rates["dance"] = 1 },
	} {
		m := sampleMachine()
		change(m.Measured)
		refused(t, m.Measured.Validate(), "measured ", want)
	}
	// Of several wrong figures the first is named, each time.
	for range 50 {
		m := sampleMachine()
		m.Measured.Bandwidths[0] = BandwidthPoint{Loop: LoadLoop, Threads: 1, WorkingSet: 1}
		refused(t, m.Measured.Validate(), "bandwidths[0]: bytes_per_s is 0")
		m = sampleMachine()
		m.Measured.Levels[0].Rates = map[string]float64{TriadLoop: -3, LoadLoop: -1, CopyLoop: -2}
		refused(t, m.Measured.Validate(), `levels[0]: rate of "copy" is -2`)
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
	// A level that no roof can be made of, in a machine that nobody validated.
	m.Measured.Levels[1].Bandwidth = inf
	_, err := m.Roofs(1, "FP32", "")
	refused(t, err, "bandwidth is +Inf bytes/s")
	m.Measured.Levels = m.Measured.Levels[:2]
	_, err = m.Roofs(2, "FP32", "")
	refused(t, err, "threads is 2: no level was measured with so many")
}

func FuzzDecodeMachine(f *testing.F) {
	for _, m := range []Machine{A100(), sampleMachine()} {
		text, err := EncodeMachine(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema":1}`))
	f.Add([]byte(`{"schema":NaN}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := DecodeMachine(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "roofline: ") {
				t.Errorf("error %v", err)
			}
			return
		}
		// What is taken can be used, and comes back.
		if err := Maybe(func() { m.Ridge() }); err != nil {
			t.Error(err)
		}
		again, err := EncodeMachine(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeMachine(again)
		if err != nil {
			t.Fatal(err)
		}
		third, err := EncodeMachine(back)
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("another file after a round trip (%v)", err)
		}
	})
}

func TestRoofs(t *testing.T) {
	m := sampleMachine()
	roofs, err := m.Roofs(1, "FP32", "")
	if err != nil || len(roofs) != 2 {
		t.Fatalf("%v, %v", roofs, err)
	}
	if r := roofs[0]; r.Name != "L1, one core" || r.Peak != 100e9 || r.Bandwidth != 300e9 || r.ElemBytes != 4 {
		t.Errorf("%+v", r)
	}
	if r := roofs[1]; r.Name != "memory, one core" || r.Bandwidth != 12e9 {
		t.Errorf("%+v", r)
	}
	if roofs, err = m.Roofs(1, "FP32", "scalar"); err != nil || roofs[0].Peak != 12e9 {
		t.Errorf("%+v, %v", roofs, err)
	}
	if roofs, err = m.Roofs(2, "FP32", ""); err != nil || roofs[1].Name != "memory, 2 cores" || roofs[1].Peak != 200e9 {
		t.Errorf("%+v, %v", roofs, err)
	}
	a := A100()
	if roofs, err = a.Roofs(1, "FP16", ""); err != nil || len(roofs) != 1 || roofs[0] != a {
		t.Errorf("%+v, %v", roofs, err)
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
		{Machine{}, 1, "", "", "name is empty"},
	} {
		if _, err := c.m.Roofs(c.threads, c.format, c.isa); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestWriteAllocate(t *testing.T) {
	for loop, want := range map[string]float64{LoadLoop: 1, CopyLoop: 1.5, TriadLoop: 4.0 / 3, CopyStreamLoop: 1, TriadStreamLoop: 1} {
		if got := WriteAllocate(loop); got != want {
			t.Errorf("%s: %v", loop, got)
		}
	}
}

func TestRoofFor(t *testing.T) {
	m := sampleMachine()
	for bytes, want := range map[int64]string{1: "L1, one core", 32768: "L1, one core", 1<<24 - 1: "L1, one core", 1 << 24: "memory, one core", 1 << 40: "memory, one core"} {
		if r, err := m.RoofFor(1, "FP32", "", bytes); err != nil || r.Name != want {
			t.Errorf("%d bytes: %s, %v, want %s", bytes, r.Name, err, want)
		}
	}
	a := A100()
	if r, err := a.RoofFor(1, "FP16", "", 1); err != nil || r != a {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := m.RoofFor(1, "FP32", "", 0); err == nil || !strings.Contains(err.Error(), "bytes is 0") {
		t.Errorf("error %v", err)
	}
	if r, err := m.RoofFor(5, "FP32", "", 1); err == nil || !reflect.DeepEqual(r, Machine{}) {
		t.Errorf("a roof for five threads: %+v, %v", r, err)
	}
	if r, err := a.RoofFor(1, "FP32", "", 1); err == nil || !reflect.DeepEqual(r, Machine{}) {
		t.Errorf("a roof for another format: %+v, %v", r, err)
	}
}
