package probe

import (
	"runtime/debug"
	"syscall"
	"testing"
)

// Loops that end at a page that cannot be read: one byte too far is a fault.
func TestMemoryStaysInside(t *testing.T) {
	page := syscall.Getpagesize()
	arrays := make([][]byte, 3)
	for i := range arrays {
		p, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Munmap(p) })
		for _, wall := range [][]byte{p[:page], p[2*page:]} {
			if err := syscall.Mprotect(wall, syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
		}
		arrays[i] = p[page:][:page:page]
	}
	for _, isa := range MemoryISAs() {
		m, err := NewMemory(isa)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Load(arrays[0], 2); err != nil {
			t.Fatal(err)
		}
		for _, streaming := range []bool{false, true} {
			if err := m.Copy(arrays[0], arrays[1], 2, streaming); err != nil {
				t.Fatal(err)
			}
			if err := m.Triad(arrays[0], arrays[1], arrays[2], 2, 2, streaming); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A page that cannot be read, wherever it is, is a fault: a load leaves no page out.
func TestLoadReadsEveryPage(t *testing.T) {
	const pages = 5
	page := syscall.Getpagesize()
	p, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(p) })
	for _, isa := range MemoryISAs() {
		m, err := NewMemory(isa)
		if err != nil {
			t.Fatal(err)
		}
		for i := range pages {
			hole := p[i*page:][:page]
			if err := syscall.Mprotect(hole, syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
			if !faults(func() { err = m.Load(p, 1) }) {
				t.Errorf("%s: page %d was not read (%v)", isa, i, err)
			}
			if err := syscall.Mprotect(hole, syscall.PROT_READ); err != nil {
				t.Fatal(err)
			}
			if faults(func() { err = m.Load(p, 1) }) || err != nil {
				t.Errorf("%s: a fault where every page can be read (%v)", isa, err)
			}
		}
	}
}

func faults(f func()) (yes bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { yes = recover() != nil }()
	f()
	return false
}
