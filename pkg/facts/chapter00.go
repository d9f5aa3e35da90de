package facts

import (
	"math"

	"memorywall/pkg/roofline"
)

// The numbers of the index: how much of its time the A100 waits when a program
// does some FLOPs with each number that arrives.
func chapter00(f *Group) {
	chip := roofline.A100()
	ridge := chip.Ridge()
	f.add("flops_per_number", ridge*float64(chip.ElemBytes))
	f.add("smallest_work_fp16", math.Ceil(ridge*float64(chip.ElemBytes)))
	f.add("flops_per_four_byte_number", ridge*4, "smallest_work_four_bytes", math.Ceil(ridge*4))

	const gigabyte = 1e9
	floors := chip.Times(1, gigabyte)
	f.add("gigabyte_ms", floors.Memory*1e3, "gigabyte_flops", floors.Memory*chip.Peak)

	moreBandwidth, morePeak := chip, chip
	moreBandwidth.Bandwidth *= 2
	morePeak.Peak *= 2
	for _, w := range []struct {
		key  string
		chip roofline.Machine
		work float64 // FLOPs with each number
	}{
		{"two", chip, 2},
		{"hundred", chip, 100},
		{"two_double_bandwidth", moreBandwidth, 2},
		{"two_double_peak", morePeak, 2},
	} {
		speed := w.chip.Attainable(w.work / float64(w.chip.ElemBytes))
		f.add("waiting_"+w.key+"_percent", 100*(1-speed/w.chip.Peak))
	}
}
