package roofline

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

var (
	nan  = math.NaN()
	inf  = math.Inf(1)
	tiny = math.SmallestNonzeroFloat64
)

// near fails unless got is want within 1e-12, relative. NaN fails.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// refused fails unless err is there and its message holds every part.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range append([]string{"roofline: "}, parts...) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error is %q, want it to say %q", err, part)
		}
	}
}

// machine returns a valid machine with a ridge of peak/bandwidth.
func machine(peak, bandwidth float64, elemBytes int64) Machine {
	return Machine{Name: "test", ElemBytes: elemBytes, Peak: peak, Bandwidth: bandwidth}
}

func TestA100(t *testing.T) {
	m := A100()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	if m.Source == "" || m.Format != "FP16" || m.ElemBytes != 2 {
		t.Errorf("A100 is %+v: want a source, FP16 and 2 bytes", m)
	}
	ridge := m.Ridge()
	near(t, "ridge", ridge, 312e12/2039e9)

	// The data sheet rounds what the clock gives.
	const clock, cores, multiplyAdds = 1410e6, 432, 256
	if fromClock := float64(clock * cores * multiplyAdds * 2); !(math.Abs(fromClock/m.Peak-1) < 1e-3) {
		t.Errorf("peak is %g, the clock gives %g", m.Peak, fromClock)
	}
}

func TestMachineErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Machine)
		want   []string
	}{
		{"no name", func(m *Machine) { m.Name = "" }, []string{"machine name is empty", "give the machine a name"}},
		{"element size 0", func(m *Machine) { m.ElemBytes = 0 }, []string{"element size is 0 bytes", "at least 1"}},
		{"element size negative", func(m *Machine) { m.ElemBytes = -2 }, []string{"element size is -2 bytes", "at least 1"}},
		{"peak 0", func(m *Machine) { m.Peak = 0 }, []string{"peak is 0 FLOP/s", "positive and finite"}},
		{"peak negative", func(m *Machine) { m.Peak = -1 }, []string{"peak is -1 FLOP/s", "positive and finite"}},
		{"peak NaN", func(m *Machine) { m.Peak = nan }, []string{"peak is NaN FLOP/s", "positive and finite"}},
		{"peak infinite", func(m *Machine) { m.Peak = inf }, []string{"peak is +Inf FLOP/s", "positive and finite"}},
		{"peak -infinite", func(m *Machine) { m.Peak = -inf }, []string{"peak is -Inf FLOP/s", "positive and finite"}},
		{"bandwidth 0", func(m *Machine) { m.Bandwidth = 0 }, []string{"bandwidth is 0 bytes/s", "positive and finite"}},
		{"bandwidth negative", func(m *Machine) { m.Bandwidth = -3 }, []string{"bandwidth is -3 bytes/s", "positive and finite"}},
		{"bandwidth NaN", func(m *Machine) { m.Bandwidth = nan }, []string{"bandwidth is NaN bytes/s", "positive and finite"}},
		{"bandwidth infinite", func(m *Machine) { m.Bandwidth = inf }, []string{"bandwidth is +Inf bytes/s", "positive and finite"}},
		{"ridge too large", func(m *Machine) { m.Peak, m.Bandwidth = 1e300, 1e-300 }, []string{"1e+300", "1e-300", "ridge must be positive and finite"}},
		{"ridge too small", func(m *Machine) { m.Peak, m.Bandwidth = 1e-300, 1e300 }, []string{"1e-300", "1e+300", "ridge must be positive and finite"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := A100()
			c.change(&m)
			refused(t, m.Validate(), c.want...)

			// Every function with a machine refuses it the same way.
			for name, call := range map[string]func() error{
				"Ridge":           func() error { err := Maybe(func() { m.Ridge() }); return err },
				"Classify":        func() error { err := Maybe(func() { m.Classify(1) }); return err },
				"Attainable":      func() error { err := Maybe(func() { m.Attainable(1) }); return err },
				"Times":           func() error { err := Maybe(func() { m.Times(1, 1) }); return err },
				"BatchToRidge":    func() error { err := Maybe(func() { BatchToRidge(m, 4096, 4096) }); return err },
				"WeightBytes":     func() error { err := Maybe(func() { WeightBytes(m, 1) }); return err },
				"WeightReadTime":  func() error { err := Maybe(func() { WeightReadTime(m, 1) }); return err },
				"TokensPerSecond": func() error { err := Maybe(func() { TokensPerSecond(m, 1) }); return err },
			} {
				err := call()
				if err == nil || err.Error() != m.Validate().Error() {
					t.Errorf("%s: error is %v, want that of Validate", name, err)
				}
			}
		})
	}
}

func TestMachineJSON(t *testing.T) {
	data, err := json.Marshal(A100())
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"name", "source", "format", "elem_bytes", "peak_flops", "bandwidth_bytes_per_s"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("%s has no key %q", data, key)
		}
		delete(keys, key)
	}
	if len(keys) != 0 {
		t.Errorf("keys that nobody asked for: %v", keys)
	}
	var back Machine
	if err := json.Unmarshal(data, &back); err != nil || back != A100() {
		t.Errorf("back from JSON: %+v, %v", back, err)
	}
}
