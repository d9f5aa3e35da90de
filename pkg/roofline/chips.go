package roofline

// A100 returns the reference chip of the lesson, the NVIDIA A100 80GB SXM.
//
// Its peak is the dense FP16/BF16 Tensor Core rate, 312 TFLOP/s; the figure
// marked "with sparsity" on the sheet is twice that and is not used. The same
// rate follows from the clock: 1410 MHz · 432 Tensor Cores · 256 multiply-adds
// a cycle · 2 FLOPs = 311.9 TFLOP/s. Its bandwidth is that of the HBM2e
// memory, 2039 GB/s with GB = 10^9 bytes.
func A100() Machine {
	return Machine{
		Name:      "NVIDIA A100 80GB SXM",
		Source:    "NVIDIA A100 Tensor Core GPU data sheet, revision Jun21, 80GB SXM column",
		Format:    "FP16",
		ElemBytes: 2,
		Peak:      312e12,
		Bandwidth: 2039e9,
	}
}
