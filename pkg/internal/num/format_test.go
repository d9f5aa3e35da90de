package num

import (
	"math"
	"testing"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{SI(312000000000000.0, "FLOP/s"), "312 TFLOP/s"},
		{SI(2039000000000.0, "bytes/s"), "2.039 TB/s"},
		{SI(0.13483, "s"), "134.8 ms"},
		{SI(0.00044051, "s"), "440.5 µs"},
		{SI(4.937e-08, "s"), "49.37 ns"},
		{SI(7200, "s"), "7,200 s"},
		{SI(12345.678, "s"), "12,346 s"},
		{SI(0.00035902, "s"), "359.0 µs"},
		{SI(0.00686611, "s"), "6.866 ms"},
		{SI(0.30000000000000004, "s"), "300 ms"},
		{SI(1, "s"), "1 s"},
		{SI(999.97, "B"), "1.000 kB"},
		{SI(999.94, "B"), "999.9 B"},
		{SI(-1500, "B"), "-1.5 kB"},
		{SI(0, "B"), "0 B"},
		{SI(64240000000000.0, "FLOP/s"), "64.24 TFLOP/s"},
		{SI(14000000000.0, "bytes"), "14 GB"},
		{SI(512, "bytes"), "512 bytes"},
		{SI(0.9999999, "s"), "1.000 s"},
		{SI(0.99999, "s"), "1.000 s"},
		{SI(1e-14, "s"), "0.01 ps"},
		{SI(2.0/3, "FLOP/s"), "0.6667 FLOP/s"}, {SI(1, "bytes"), "1 byte"}, {SI(1e30, "FLOP/s"), "1e30 FLOP/s"}, {Join("1.0", "bytes"), "1.0 bytes"}, {Join("1", "elements"), "1 element"}, {Percent(1e-9), "1e-7%"},
		{SI(1e-15, "s"), "1e-15 s"},
		{SI(5e-324, "s"), "4.941e-324 s"},
		{SI(1000000000000000.0, "s"), "1e15 s"},
		{SI(1e+21, "FLOP/s"), "1e21 FLOP/s"},
		{SI(4.9037e+287, ""), "4.904e287"},
		{SI(-1e+300, "bytes"), "-1e300 bytes"},
		{SI(5e+20, "FLOPs"), "500 EFLOP"},
		{Value(153.0161844, "FLOP/byte", 0), "153.016 FLOP/byte"},
		{Value(4096, "", 2), "4,096"},
		{Value(137438953472, "elements", 0), "137,438,953,472 elements"},
		{Value(65536, "bytes", 2), "64 KiB"},
		{Value(701784, "bytes", 2), "685.3 KiB"},
		{Value(701784, "bytes", 10), "701.8 kB"},
		{Value(24, "bytes", 2), "24 bytes"},
		{Value(0.5, "FLOP/byte", 10), "0.5 FLOP/byte"},
		{Value(0.000123456789, "", 0), "0.000123457"},
		{Value(1.23456789e-05, "", 0), "1.23457e-5"},
		{Value(1234567.89, "", 0), "1.23457e6"},
		{Value(12345.678, "", 0), "12,345.7"},
		{Value(312000000000000.0, "FLOP/s", 10), "312 TFLOP/s"},
		{Value(0.5, "s", 0), "500 ms"},
		{Value(99.8, "%", 0), "99.8 %"},
		{Value(-0.25, "", 0), "-0.25"},
		{Value(1e+20, "", 0), "1e20"},
		{SI(math.NaN(), "s"), "NaN s"}, {SI(math.Inf(1), "s"), "+Inf s"}, {SI(math.Inf(-1), "s"), "-Inf s"},
		{Short(153.0161), "153.0"}, {Short(153), "153"}, {Short(1365.333), "1,365"}, {Short(0.49994), "0.4999"}, {Short(0.0012345), "0.001234"}, {Short(0), "0"},
		{Short(1.2e-7), "1.2e-7"}, {Short(1.2e-10), "1.2e-10"}, {Short(-70670.4), "-70,670"}, {Short(math.NaN()), "NaN"}, {Short(1e15), "1e15"},
		{Plain(1.0 / 3), "0.333333"}, {Plain(1234567), "1,234,567"}, {Plain(math.Copysign(0, -1)), "0"}, {Plain(math.Inf(-1)), "-Inf"},
		{Percent(1), "100%"}, {Percent(0.00326657), "0.327%"}, {Percent(0.787), "78.7%"}, {Percent(0.99996), "100%"}, {Percent(12.345), "1,230%"},
		{Binary(1023, "bytes"), "1,023 bytes"}, {Binary(1<<62, "bytes"), "4 EiB"}, {Binary(-701784, "B"), "-685.3 KiB"},
		{Group("-1234567.8901"), "-1,234,567.8901"}, {Group("+Inf"), "+Inf"}, {Group("12e300"), "12e300"}, {Group(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// What the browser writes at ticks, it writes in these units.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		unit     string
		log      bool
		base     int
		greatest float64
		count    int
		last     Step
		inTicks  bool
	}{
		{"s", false, 0, 3, 5, Step{1, " s"}, true},
		{"s", true, 10, 3, 5, Step{1, " s"}, true},
		{"bytes", true, 2, 1 << 30, 7, Step{1 << 60, " EiB"}, true},
		{"bytes", false, 0, 4, 0, Step{}, false},
		{"FLOP/s", true, 10, 1e12, 7, Step{1e18, "E"}, false},
		{"", true, 2, 4096, 0, Step{}, false},
		{"elements", false, 0, 4e6, 7, Step{1e18, "E"}, false},
	} {
		steps, inTicks := Steps(c.unit, c.log, c.base, c.greatest)
		if len(steps) != c.count || inTicks != c.inTicks || c.count > 0 && steps[c.count-1] != c.last {
			t.Errorf("Steps(%q, %v, %d, %v) = %v, %v", c.unit, c.log, c.base, c.greatest, steps, inTicks)
		}
	}
}
