package facts

import (
	"fmt"
	"math"

	"memorywall/pkg/chips"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// The fast memory of the A100, in bytes. Source: NVIDIA A100 Tensor Core GPU
// Architecture, whitepaper, 2020: combined L1 data cache and shared memory and
// register file of one streaming multiprocessor, and L2 cache. Its KB and MB are
// powers of two.
const (
	a100SMs       = 108
	a100L1        = 192 * kib
	a100Registers = 256 * kib
	a100Shared    = 164 * kib // of the L1, what a program may use as shared memory
	a100L2        = 40 * kib * kib
)

// The numbers of the chapter on the size of a tile.
func chapter05(f *Group) {
	chip := roofline.A100()
	s, ridge := chip.ElemBytes, chip.Ridge()

	const b = 64
	f.add("n", size, "b", b, "b_over_s", b/float64(s))

	const room = 64 * kib
	largest := tiling.LargestTile(room, s)
	f.add("kib", kib, "bytes_64kib", room, "root_64kib", math.Sqrt(room/(3*float64(s))))
	f.add("rounded_up", largest+1, "rounded_up_bytes", tiling.FastBytes(largest+1, s))
	// Two tiles instead of three: 2b²s ≤ room is 3b²s ≤ 1.5·room.
	f.add("forgotten_c", tiling.LargestTile(room*3/2, s))

	hand := roofline.Square(4, s)
	for tile := int64(1); tile <= hand.N; tile++ {
		t := tiling.Tiled(hand, tile)
		f.add(fmt.Sprintf("hand_loads_b%d", tile), t.Loads)
		f.add(fmt.Sprintf("hand_bytes_b%d", tile), t.Bytes(s))
		f.add(fmt.Sprintf("hand_intensity_b%d", tile), t.Intensity(s))
		f.add(fmt.Sprintf("hand_room_b%d", tile), tiling.FastBytes(tile, s))
	}
	f.add("hand_stores", tiling.Compulsory(hand).Stores, "hand_flops", hand.FLOPs())
	f.add("hand_capacity", 60)

	exact := tiling.RidgeTile(size, s, ridge)
	few := tiling.TilesPerSide(size, exact)
	f.add("two_n", 2*size, "two_t_plus_one_at_exact", 2*few+1)
	f.add("two_t_plus_one_one_smaller", 2*(few+1)+1, "n_over_tiles_at_exact", size/float64(few))

	tiles := float64(tiling.FastBytes(exact, s))
	f.add("a100_sms", a100SMs, "a100_l1_kib", a100L1/kib)
	f.add("a100_registers_kib", a100Registers/kib, "a100_l2_mib", a100L2/(kib*kib))
	f.add("a100_sm_bytes", a100L1+a100Registers, "ridge_tiles_over_l1", tiles/a100L1)
	f.add("ridge_tiles_in_l2", math.Floor(a100L2/tiles))
	f.add("a100_l1_tile", tiling.LargestTile(a100L1, s))

	sliver := fewestElements(roofline.Square(size, s), ridge)
	sums := 2*(sliver.BM+sliver.BN) + 4*sliver.BM*sliver.BN // FP16 operands, float32 sums
	f.add("sliver_rows", sliver.BM, "sliver_columns", sliver.BN)
	f.add("sliver_kib", float64(s*sliver.FastElems())/kib, "sliver_sums_kib", float64(sums)/kib)
	f.add("a100_sm_kib", (a100L1+a100Registers)/kib, "a100_shared_kib", a100Shared/kib)
	f.add("a100_shared_and_registers_kib", (a100Shared+a100Registers)/kib)
	double := fewestElements(roofline.Square(2*size, s), ridge)
	sums = 2*(double.BM+double.BN) + 4*double.BM*double.BN
	f.add("double_sliver_rows", double.BM, "double_sliver_columns", double.BN, "double_sums_kib", float64(sums)/kib)

	int8 := chips.Named(chip.Name).Machine("INT8")
	f.add("int8_peak_tops", int8.Peak/1e12, "int8_ridge", int8.Ridge())
	f.add("int8_tile", tiling.RidgeTile(size, int8.ElemBytes, int8.Ridge()))
	f.add("int8_bytes", tiling.FastBytes(exact, int8.ElemBytes))
	f.add("one_byte_tile", tiling.RidgeTile(size, 1, ridge))
	// FP16 activations and C, weights of one byte: each tile of A brings twice the
	// bytes of a tile of B, so the loads count for 3/2 bytes an element.
	mixed := int64(1)
	for t := tiling.Tiled(roofline.Square(size, s), mixed); float64(t.FLOPs) < ridge*float64(3*t.Loads/2+2*t.Stores); {
		mixed++
		t = tiling.Tiled(roofline.Square(size, s), mixed)
	}
	f.add("mixed_tile", mixed)
	f.add("tiles_before_rounding", (2*size/(float64(s)*ridge)-1)/2)

	f.add("no_answer_n", 256, "q1_b", 100, "q1_bytes", tiling.FastBytes(100, s))
	f.add("q3_kib", questionKB)

	thumb := int64(tiling.RuleOfThumbTile(ridge, s))
	intensity := tiling.Intensity(size, thumb, s)
	f.add("q4_quotient", size/float64(thumb), "q4_tiles", tiling.TilesPerSide(size, thumb))
	f.add("q4_intensity", intensity, "q4_percent", 100*chip.Attainable(intensity)/chip.Peak)

	const thousand = 1024
	tile := tiling.RidgeTile(thousand, s, ridge)
	f.add("q5_n", thousand, "q5_tile", tile)
	f.add("q5_intensity_2", tiling.Intensity(thousand, tile, s))
	f.add("q5_intensity_3", tiling.Intensity(thousand, tile-1, s), "q5_smaller_n", 766)
	f.add("q5_smaller_tile", tiling.RidgeTile(766, s, ridge), "q5_larger_n", 3000)
	f.add("q5_larger_tile", tiling.RidgeTile(3000, s, ridge))

	f.add("q6_start", 400)
	smallest := smallestSquare(float32s, ridge)
	f.add("q6_n", smallest, "q6_before", smallest-1)
	f.add("q6_best_before", roofline.Square(smallest-1, float32s).Intensity())

	enough := func(tile int64) float64 { return math.Ceil(float64(tiling.FastBytes(tile, s)) / kib) }
	f.add("q7_kib", enough(tile), "q7_kib_4096", enough(exact))
}

// fewestElements returns the shape of the tiles that reach the ridge with the
// least fast memory.
func fewestElements(g roofline.GEMM, ridge float64) tiling.Rect {
	lo, hi := int64(3), g.M*g.N // the best shape reaches the ridge at hi, not at lo
	for hi-lo > 1 {
		middle := (lo + hi) / 2
		if _, t := tiling.BestRect(g, middle); t.Intensity(g.ElemBytes) >= ridge {
			hi = middle
		} else {
			lo = middle
		}
	}
	shape, _ := tiling.BestRect(g, hi)
	return shape
}
