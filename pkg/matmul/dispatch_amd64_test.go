//go:build amd64 && !noasm

package matmul

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What GODEBUG takes away takes the kernels that need it with it. A second run
// of this program says what is left.
func TestGODEBUGTakesKernelsAway(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	if raceEnabled {
		t.Skip("nothing is shared between threads here")
	}
	for _, c := range []struct {
		debug string
		gone  []string
	}{
		{"cpu.all=off", []string{"avx512", "avx2"}},
		{"cpu.avx=off", []string{"avx512", "avx2"}},
		{"cpu.avx2=off", []string{"avx512", "avx2"}},
		{"cpu.fma=off", []string{"avx512", "avx2"}},
		{"cpu.avx512f=off", []string{"avx512"}},
		{"cpu.avx512dq=off", []string{"avx512"}},
		{"cpu.bmi2=off", []string{"avx512"}},
		{"cpu.nonsense=off,=,", nil},
	} {
		run := exec.Command(program, "-test.run=^TestRequiredISAs$", "-test.v")
		run.Env = append(os.Environ(), "GODEBUG="+os.Getenv("GODEBUG")+","+c.debug, requireISA+"=")
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("GODEBUG=%s: %v\n%s", c.debug, err, out)
		}
		found := regexp.MustCompile(`kernels: (.*)`).FindSubmatch(out)
		if found == nil {
			t.Fatalf("GODEBUG=%s: no kernels in\n%s", c.debug, out)
		}
		var want []string
		for _, isa := range ISAs() {
			if !slices.Contains(c.gone, isa) {
				want = append(want, isa)
			}
		}
		if got := string(found[1]); got != strings.Join(want, ", ") {
			t.Errorf("GODEBUG=%s leaves %s, want %s", c.debug, got, strings.Join(want, ", "))
		}
	}
}
