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
func init() {
	register(func(add func(key string, value float64)) {
		chip := roofline.A100()
		s, ridge := chip.ElemBytes, chip.Ridge()

		const b = 64
		add("ch05.n", size)
		add("ch05.b", b)
		add("ch05.b_over_s", b/float64(s))

		const room = 64 * kib
		largest := tiling.LargestTile(room, s)
		add("ch05.kib", kib)
		add("ch05.bytes_64kib", room)
		add("ch05.root_64kib", math.Sqrt(room/(3*float64(s))))
		add("ch05.rounded_up", float64(largest+1))
		add("ch05.rounded_up_bytes", float64(tiling.FastBytes(largest+1, s)))
		// Two tiles instead of three: 2b²s ≤ room is 3b²s ≤ 1.5·room.
		add("ch05.forgotten_c", float64(tiling.LargestTile(room*3/2, s)))

		hand := roofline.Square(4, s)
		for tile := int64(1); tile <= hand.N; tile++ {
			t := tiling.Tiled(hand, tile)
			add(fmt.Sprintf("ch05.hand_loads_b%d", tile), float64(t.Loads))
			add(fmt.Sprintf("ch05.hand_bytes_b%d", tile), float64(t.Bytes(s)))
			add(fmt.Sprintf("ch05.hand_intensity_b%d", tile), t.Intensity(s))
			add(fmt.Sprintf("ch05.hand_room_b%d", tile), float64(tiling.FastBytes(tile, s)))
		}
		add("ch05.hand_stores", float64(tiling.Compulsory(hand).Stores))
		add("ch05.hand_flops", float64(hand.FLOPs()))
		add("ch05.hand_capacity", 60)

		exact := tiling.RidgeTile(size, s, ridge)
		few := tiling.TilesPerSide(size, exact)
		add("ch05.two_n", 2*size)
		add("ch05.two_t_plus_one_at_exact", float64(2*few+1))
		add("ch05.two_t_plus_one_one_smaller", float64(2*(few+1)+1))
		add("ch05.n_over_tiles_at_exact", size/float64(few))

		tiles := float64(tiling.FastBytes(exact, s))
		add("ch05.a100_sms", a100SMs)
		add("ch05.a100_l1_kib", a100L1/kib)
		add("ch05.a100_registers_kib", a100Registers/kib)
		add("ch05.a100_l2_mib", a100L2/(kib*kib))
		add("ch05.a100_sm_bytes", a100L1+a100Registers)
		add("ch05.ridge_tiles_over_l1", tiles/a100L1)
		add("ch05.ridge_tiles_in_l2", math.Floor(a100L2/tiles))
		add("ch05.a100_l1_tile", float64(tiling.LargestTile(a100L1, s)))

		sliver := fewestElements(roofline.Square(size, s), ridge)
		sums := 2*(sliver.BM+sliver.BN) + 4*sliver.BM*sliver.BN // FP16 operands, float32 sums
		add("ch05.sliver_rows", float64(sliver.BM))
		add("ch05.sliver_columns", float64(sliver.BN))
		add("ch05.sliver_kib", float64(s*sliver.FastElems())/kib)
		add("ch05.sliver_sums_kib", float64(sums)/kib)
		add("ch05.a100_sm_kib", (a100L1+a100Registers)/kib)
		add("ch05.a100_shared_kib", a100Shared/kib)
		add("ch05.a100_shared_and_registers_kib", (a100Shared+a100Registers)/kib)

		int8 := chips.Named(chip.Name).Machine("INT8")
		add("ch05.int8_peak_tops", int8.Peak/1e12)
		add("ch05.int8_ridge", int8.Ridge())
		add("ch05.int8_tile", float64(tiling.RidgeTile(size, int8.ElemBytes, int8.Ridge())))
		add("ch05.int8_bytes", float64(tiling.FastBytes(exact, int8.ElemBytes)))
		add("ch05.tiles_before_rounding", (2*size/(float64(s)*ridge)-1)/2)

		add("ch05.no_answer_n", 256)
		add("ch05.q1_b", 100)
		add("ch05.q1_bytes", float64(tiling.FastBytes(100, s)))
		add("ch05.q3_kib", questionKB)

		thumb := int64(tiling.RuleOfThumbTile(ridge, s))
		intensity := tiling.Intensity(size, thumb, s)
		add("ch05.q4_quotient", size/float64(thumb))
		add("ch05.q4_tiles", float64(tiling.TilesPerSide(size, thumb)))
		add("ch05.q4_intensity", intensity)
		add("ch05.q4_percent", 100*chip.Attainable(intensity)/chip.Peak)

		const thousand = 1024
		tile := tiling.RidgeTile(thousand, s, ridge)
		add("ch05.q5_n", thousand)
		add("ch05.q5_tile", float64(tile))
		add("ch05.q5_intensity_2", tiling.Intensity(thousand, tile, s))
		add("ch05.q5_intensity_3", tiling.Intensity(thousand, tile-1, s))
		add("ch05.q5_smaller_n", 766)
		add("ch05.q5_smaller_tile", float64(tiling.RidgeTile(766, s, ridge)))
		add("ch05.q5_larger_n", 3000)
		add("ch05.q5_larger_tile", float64(tiling.RidgeTile(3000, s, ridge)))

		add("ch05.q6_start", 400)
		smallest, _ := smallestSquare(float32s, func(best float64) bool { return best >= ridge })
		add("ch05.q6_n", float64(smallest))
		add("ch05.q6_before", float64(smallest-1))
		add("ch05.q6_best_before", roofline.Square(smallest-1, float32s).Intensity())

		enough := func(tile int64) float64 { return math.Ceil(float64(tiling.FastBytes(tile, s)) / kib) }
		add("ch05.q7_kib", enough(tile))
		add("ch05.q7_kib_4096", enough(exact))
	})
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
