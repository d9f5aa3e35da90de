//go:build !linux && !darwin

package host

// readSystem reads nothing: what this system reports is not known here, and
// the facts stay unknown.
func (h *Host) readSystem() {}
