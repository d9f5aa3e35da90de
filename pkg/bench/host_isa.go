package bench

import "golang.org/x/sys/cpu"

// vectorISA names the vector and fused multiply-add instruction sets that both
// the CPU and the operating system offer.
func vectorISA() []string {
	var have []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse2", cpu.X86.HasSSE2},
		{"sse4.2", cpu.X86.HasSSE42},
		{"avx", cpu.X86.HasAVX},
		{"avx2", cpu.X86.HasAVX2},
		{"fma", cpu.X86.HasFMA},
		{"avx512f", cpu.X86.HasAVX512F},
		{"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512bw", cpu.X86.HasAVX512BW},
		{"avx512vl", cpu.X86.HasAVX512VL},
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
	} {
		if f.has {
			have = append(have, f.name)
		}
	}
	return have
}
