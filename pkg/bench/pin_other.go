//go:build !linux

package bench

// pin does nothing: the system places its threads by itself.
func pin(i, threads int) {}
