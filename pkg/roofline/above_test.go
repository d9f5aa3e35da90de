package roofline

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestCheckDot(t *testing.T) {
	m := Machine{Name: "toy", Format: "FP32", ElemBytes: 4, Peak: 100e9, Bandwidth: 10e9} // ridge 10
	for _, c := range []struct {
		name             string
		intensity, flops float64
		want             string // of the cause; empty: below the roof
	}{
		{"under the slope", 1, 9e9, ""},
		{"on the slope", 1, 10e9, ""},
		{"within the slack", 1, 10.4e9, ""},
		{"under the peak", 100, 99e9, ""},
		{"above the slope", 2, 40e9, "it would need 2e+10 bytes/s and the roof has 1e+10; likely its data came from a nearer level"},
		{"above the peak", 100, 130e9, "above the peak itself; likely the peak is that of fewer cores, of narrower instructions or of a wider number format than FP32"},
		{"above both", 1, 130e9, "above the peak itself"},
	} {
		err := m.CheckDot(c.name, c.intensity, c.flops)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		e, ok := AboveRoof(fmt.Errorf("wrapped: %w", err))
		if !ok || e.Dot != c.name || e.Machine != "toy" || e.FLOPS != c.flops || !strings.Contains(e.Cause, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("%.2f times the roof", c.flops/min(100e9, 10e9*c.intensity))) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct {
		intensity, flops float64
		want             string
	}{{0, 1, "intensity is 0"}, {1, math.NaN(), "performance is NaN"}, {1, -1, "performance is -1"}, {math.NaN(), 1, "intensity is NaN"}} {
		err := m.CheckDot("dot", c.intensity, c.flops)
		if _, above := AboveRoof(err); err == nil || above || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	m.Format = ""
	if e, ok := AboveRoof(m.CheckDot("dot", 100, 130e9)); !ok || strings.Contains(e.Cause, "format") || !strings.Contains(e.Cause, "of fewer cores or of narrower instructions, it was measured") {
		t.Errorf("without a format: %v", e)
	}
	if _, ok := AboveRoof(nil); ok {
		t.Error("no error is above a roof")
	}
}

// A data sheet's figures are exact to the last digit that it prints; only
// measured roofs get [Slack].
func TestCheckDotOfADataSheet(t *testing.T) {
	mi300x := Machine{Name: "a chip", Format: "FP16", ElemBytes: 2, Peak: 1307.4e12, Bandwidth: 5300e9}
	measured := A100()
	measured.Tolerance = Slack
	for _, c := range []struct {
		name             string
		m                Machine
		intensity, flops float64
		above            bool
	}{
		{"half a unit of 312 TFLOP/s", A100(), 1000, 312.4e12, false},
		{"more than half a unit", A100(), 1000, 312.6e12, true},
		{"104% of the peak", A100(), 1000, 1.04 * 312e12, true},
		{"half a unit of 2039 GB/s", A100(), 1, 2039.4e9, false},
		{"more than half a unit", A100(), 1, 2039.6e9, true},
		{"5563 GB/s on 5300", mi300x, 1, 5563e9, true},
		{"104% of a measured peak", measured, 1000, 1.04 * 312e12, false},
		{"106% of a measured peak", measured, 1000, 1.06 * 312e12, true},
	} {
		if _, above := AboveRoof(c.m.CheckDot(c.name, c.intensity, c.flops)); above != c.above {
			t.Errorf("%s: above the roof is %t", c.name, above)
		}
	}
}
