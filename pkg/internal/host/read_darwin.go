package host

import "golang.org/x/sys/unix"

func (h *Host) readSystem() { h.readSysctl(unix.Sysctl, unix.SysctlRaw) }
