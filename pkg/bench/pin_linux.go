package bench

import "golang.org/x/sys/unix"

// pin keeps the calling thread on the i-th core that it may use, if there are
// just as many as threads: then a busy system cannot put two of them on one.
func pin(i, threads int) {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil || may.Count() != threads {
		return
	}
	for cpu := range len(may) * 64 {
		if !may.IsSet(cpu) {
			continue
		}
		if i == 0 {
			var one unix.CPUSet
			one.Set(cpu)
			_ = unix.SchedSetaffinity(0, &one) // a wish
			return
		}
		i--
	}
}
