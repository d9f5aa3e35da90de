//go:build !(amd64 || arm64) || noasm

package matmul

func kernels32() []*kernel[float32] { return []*kernel[float32]{goKernel[float32]()} }

func kernels64() []*kernel[float64] { return []*kernel[float64]{goKernel[float64]()} }

func weightKernels() []*weightKernel { return []*weightKernel{goWeightKernel()} }
