package bench

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WriteBenchmarks prints results in the Go benchmark format, one line a sample, so
// that benchstat can read and compare them. A space in a name becomes "_". cpu is
// the model of the CPU.
func WriteBenchmarks(w io.Writer, cpu string, results ...Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, strings.Join(strings.Fields(cpu), " "))
	b.WriteString("Unit GFLOP/s better=higher\nUnit GB/s better=higher\n")
	for _, r := range results {
		first, size := utf8.DecodeRuneInString(r.Name)
		name := "Benchmark" + string(unicode.ToUpper(first)) + strings.Join(strings.Fields(r.Name[size:]), "_")
		if r.Threads > 0 {
			name += fmt.Sprintf("-%d", r.Threads)
		}
		for _, s := range r.Samples {
			fmt.Fprintf(&b, "%s\t%d\t%.6g ns/op", name, r.Calls, s*1e9)
			one := r
			one.Min = s
			for _, q := range one.Quantities()[1:] {
				fmt.Fprintf(&b, "\t%.6g %s", q.Value, q.Unit)
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
