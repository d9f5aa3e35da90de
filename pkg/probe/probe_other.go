//go:build (!amd64 && !arm64) || noasm

package probe

func computes32() []compute[float32] { return []compute[float32]{goCompute[float32]()} }
func computes64() []compute[float64] { return []compute[float64]{goCompute[float64]()} }
func computes8() []compute[int32]    { return []compute[int32]{goCompute[int32]()} }
func memories() []memory             { return []memory{goMemory()} }
