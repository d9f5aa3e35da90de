//go:build amd64 && !noasm

package matmul

import "memorywall/pkg/internal/host"

// haveAVX2 and haveAVX512 say what the CPU and the operating system offer, less
// what GODEBUG=cpu.avx=off, cpu.avx2=off and cpu.avx512f=off take away.
var (
	haveAVX2   = host.Has("avx", "avx2", "fma")
	haveAVX512 = haveAVX2 && host.Has("bmi2", "avx512f", "avx512dq", "avx512vl", "avx512bw")
	haveVNNI   = haveAVX512 && host.Has("avx512vbmi", "avx512vnni")
)

// kernels32 and kernels64 list what this CPU can run, the best first.
func kernels32() []*kernel[float32] {
	var ks []*kernel[float32]
	if haveAVX512 {
		ks = append(ks, &kernel[float32]{
			isa: "avx512", mr: 14, nr: 32, tall: 16, few: 12, tile: tileF32AVX512, dot: dotF32AVX512, dotRows: 8,
			rows: rowsF32AVX512, lanes: 16, depths: [5]int{1: 8, 2: 8, 3: 4, 4: 4},
		})
	}
	if haveAVX2 {
		ks = append(ks, &kernel[float32]{
			isa: "avx2", mr: 6, nr: 16, tall: 12, few: 8, tile: tileF32AVX2, dot: dotF32AVX2, dotRows: 8,
			rows: rowsF32AVX2, lanes: 8, depths: [5]int{1: 8, 2: 4, 3: 2, 4: 2},
		})
	}
	return append(ks, goKernel[float32]())
}

func kernels64() []*kernel[float64] {
	var ks []*kernel[float64]
	if haveAVX512 {
		ks = append(ks, &kernel[float64]{
			isa: "avx512", mr: 14, nr: 16, tall: 16, few: 12, tile: tileF64AVX512, dot: dotF64AVX512, dotRows: 8,
			rows: rowsF64AVX512, lanes: 8, depths: [5]int{1: 8, 2: 8, 3: 4, 4: 4},
		})
	}
	if haveAVX2 {
		ks = append(ks, &kernel[float64]{
			isa: "avx2", mr: 6, nr: 8, tall: 12, few: 8, tile: tileF64AVX2, dot: dotF64AVX2, dotRows: 8,
			rows: rowsF64AVX2, lanes: 4, depths: [5]int{1: 8, 2: 4, 3: 2, 4: 2},
		})
	}
	return append(ks, goKernel[float64]())
}

func weightKernels() []*weightKernel {
	var ks []*weightKernel
	if haveAVX2 {
		avx2 := &weightKernel{
			isa: "avx2", wide: 4, wideInt8: 2, quantize: quantizeAVX2, transpose: transposeAVX2,
			turnedRows: []int{3, 2, 1},
			turned: [weightFormats]func(int, *byte, int, int, *float32, int, *float32, int, int, bool){
				Float32:  turnedFloat32AVX2,
				BFloat16: turnedBFloat16AVX2,
				Float16:  turnedFloat16AVX2,
			},
			decode: [weightFormats]func(int, *byte, *float32){
				Float32:  decodeFloat32AVX2,
				BFloat16: decodeBFloat16AVX2,
				Float16:  decodeFloat16AVX2,
				Q8_0:     decodeQ8_0AVX2,
				Q4_0:     decodeQ4_0AVX2,
				Q4_1:     decodeQ4_1AVX2,
			},
			dot: [weightFormats]func(int, *byte, int, int, *float32, int, *float32, int, int, bool){
				Float32:  dotFloat32AVX2,
				BFloat16: dotBFloat16AVX2,
				Float16:  dotFloat16AVX2,
				Q8_0:     dotQ8_0AVX2,
				Q4_0:     dotQ4_0AVX2,
				Q4_1:     dotQ4_1AVX2,
			},
			dotInt8: [weightFormats]func(int, *byte, int, int, *byte, int, *float32, int, int, bool){
				Q8_0: dotInt8Q8_0AVX2,
				Q4_0: dotInt8Q4_0AVX2,
				Q4_1: dotInt8Q4_1AVX2,
			},
			lanes: 8, spread: spreadAVX2, tileLeast: [weightFormats]int{Q8_0: 7, Q4_0: 3, Q4_1: 3},
			unpack: [weightFormats]func(int, *byte, int, int, *byte, int, int){
				Q8_0: unpackQ8_0AVX2,
				Q4_0: unpackQ4_0AVX2,
				Q4_1: unpackQ4_1AVX2,
			},
			tileInt8: [weightFormats]func(int, *byte, *byte, int, *float32, int){
				Q8_0: tileInt8Q8_0AVX2,
				Q4_0: tileInt8Q4_0AVX2,
				Q4_1: tileInt8Q4_1AVX2,
			},
		}
		if haveAVX512 {
			avx512 := *avx2
			avx512.isa, avx512.wide, avx512.turnedRows = "avx512", 8, []int{8, 4, 3, 2, 1}
			avx512.turned = [weightFormats]func(int, *byte, int, int, *float32, int, *float32, int, int, bool){
				Float32:  turnedFloat32AVX512,
				BFloat16: turnedBFloat16AVX512,
				Float16:  turnedFloat16AVX512,
			}
			avx512.decode = [weightFormats]func(int, *byte, *float32){
				Float32:  decodeFloat32AVX512,
				BFloat16: decodeBFloat16AVX512,
				Float16:  decodeFloat16AVX512,
				Q8_0:     decodeQ8_0AVX512,
				Q4_0:     decodeQ4_0AVX512,
				Q4_1:     decodeQ4_1AVX512,
			}
			avx512.dot = [weightFormats]func(int, *byte, int, int, *float32, int, *float32, int, int, bool){
				Float32:  dotFloat32AVX512,
				BFloat16: dotBFloat16AVX512,
				Float16:  dotFloat16AVX512,
				Q8_0:     dotQ8_0AVX512,
				Q4_0:     dotQ4_0AVX512,
				Q4_1:     dotQ4_1AVX512,
			}
			if haveVNNI { // else products with 8-bit activations are AVX2's
				avx512.quantize, avx512.triples, avx512.spread = quantizeAVX512, triplesAVX512, spreadAVX512
				avx512.wideInt8, avx512.lanes, avx512.flip = 8, 16, 128
				avx512.dotInt8 = [weightFormats]func(int, *byte, int, int, *byte, int, *float32, int, int, bool){
					Q8_0: dotInt8Q8_0AVX512,
					Q4_0: dotInt8Q4_0AVX512,
					Q4_1: dotInt8Q4_1AVX512,
				}
				avx512.tileLeast = [weightFormats]int{Q8_0: 9, Q4_0: 9, Q4_1: 9}
				avx512.tileInt8 = [weightFormats]func(int, *byte, *byte, int, *float32, int){
					Q8_0: tileInt8Q4_0AVX512,
					Q4_0: tileInt8Q4_0AVX512,
					Q4_1: tileInt8Q4_1AVX512,
				}
			}
			ks = append(ks, &avx512)
		}
		ks = append(ks, avx2)
	}
	return append(ks, goWeightKernel())
}
