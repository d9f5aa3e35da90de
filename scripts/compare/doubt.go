package main

import (
	"fmt"
	"strings"
)

const (
	// A median below this part of its best says that turns were disturbed.
	leastMedian = 0.8
	// Several threads on idle cores of their own do at least so many times the work of one,
	// however the clock falls when more cores are busy.
	leastGain = 1.3
)

// doubt returns why a row may be wrong, or nothing. The rows are those that were
// measured before it.
func doubt(r Row, before []Row) string {
	var all []string
	low := func(name string, median, best float64) {
		if median < leastMedian*best {
			all = append(all, fmt.Sprintf("the median of %s is %.0f%% below its best", name, 100*(1-median/best)))
		}
	}
	low("ours", r.OursMedian, r.Ours)
	if r.OpenBLAS != nil && r.OpenBLASMedian != nil {
		low("openblas", *r.OpenBLASMedian, *r.OpenBLAS)
	}
	one := 0.0
	for _, b := range before {
		if b.DType == r.DType && b.ISA == r.ISA && b.Threads == 1 {
			one = max(one, b.Peak)
		}
	}
	if r.Threads > 1 && r.Peak < leastGain*one {
		all = append(all, fmt.Sprintf("the peak of %d threads is %.2f times that of one", r.Threads, r.Peak/one))
	}
	return strings.Join(all, ", ")
}

// summary returns a line on the doubtful rows, or nothing if there are none.
func summary(rows []Row) string {
	n := 0
	for _, r := range rows {
		if r.Doubt != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	is := "are"
	if n == 1 {
		is = "is"
	}
	return fmt.Sprintf("%d of %s %s doubtful: a median lies more than 20%% below its best, or several threads have a peak below 1.3 times that of one; "+
		"other work on the machine, a changing clock or threads that share a core do that: run it again when the machine is quiet\n", n, counted(len(rows), "row"), is)
}
