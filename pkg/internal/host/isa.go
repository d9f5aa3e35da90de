package host

import (
	"slices"

	"golang.org/x/sys/cpu"
)

// features are the instruction sets that a program here may ask for, by name. What
// GODEBUG=cpu.NAME=off takes away is not there, which is how a machine is tried
// as an older one.
var features = []struct {
	name string
	has  bool
}{
	{"sse2", cpu.X86.HasSSE2},
	{"sse4.2", cpu.X86.HasSSE42},
	{"avx", cpu.X86.HasAVX},
	{"avx2", cpu.X86.HasAVX2},
	{"fma", cpu.X86.HasFMA},
	{"bmi2", cpu.X86.HasBMI2},
	{"avx512f", cpu.X86.HasAVX512F},
	{"avx512dq", cpu.X86.HasAVX512DQ},
	{"avx512bw", cpu.X86.HasAVX512BW},
	{"avx512vl", cpu.X86.HasAVX512VL},
	{"avx512vbmi", cpu.X86.HasAVX512VBMI},
	{"avx512vnni", cpu.X86.HasAVX512VNNI},
	{"avx512bf16", cpu.X86.HasAVX512BF16},
	{"amx-tile", cpu.X86.HasAMXTile},
	{"amx-int8", cpu.X86.HasAMXInt8},
	{"amx-bf16", cpu.X86.HasAMXBF16},
	{"asimd", cpu.ARM64.HasASIMD},
	{"asimdhp", cpu.ARM64.HasASIMDHP},
	{"asimddp", cpu.ARM64.HasASIMDDP},
	{"i8mm", cpu.ARM64.HasI8MM},
	{"sve", cpu.ARM64.HasSVE},
	{"sve2", cpu.ARM64.HasSVE2},
	{"neon", cpu.ARM.HasNEON},
	{"vfpv4", cpu.ARM.HasVFPv4},
	{"rvv", cpu.RISCV64.HasV},
	{"vx", cpu.S390X.HasVX},
	{"vxe", cpu.S390X.HasVXE},
}

// Has reports whether both the CPU and the operating system offer all of the
// named instruction sets; see [Host.ISA] for the names. A name that is not known
// is not offered.
func Has(names ...string) bool {
	for _, name := range names {
		if !slices.Contains(isa, name) {
			return false
		}
	}
	return true
}

var isa = func() (have []string) {
	for _, f := range features {
		if f.has {
			have = append(have, f.name)
		}
	}
	return have
}()
