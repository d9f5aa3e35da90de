package facts

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

// Report holds every number that the lesson quotes. Its JSON form is what
// `go run ./scripts/report --json` prints. The tags unit and name say how to
// show a field; scripts/report reads them, and columns for the table of steps.
type Report struct {
	Chip          Chip             `json:"chip" name:"The reference chip"`
	TwoByTwo      Multiply         `json:"two_by_two_float32" name:"A 2×2 by 2×2 multiply, float32"`
	BestCase      []BestCase       `json:"best_case_intensity_float32" name:"Best-case intensity of an n×n×n multiply, float32: 2n/3s"`
	NaiveVersus   NaiveVersusIdeal `json:"naive_vs_ideal_4096_fp16" name:"No reuse against the best case: n = 4096, FP16, on the reference chip"`
	WorkedExample WorkedExample    `json:"worked_example_4x4_tile_2" name:"The 4×4 example in 2×2 tiles"`
	CountedSweep  []Counted        `json:"counted_sweep_128_fp16" name:"Counted by running the tiled loops: n = 128, FP16"`
	TileSweep     []TileRow        `json:"tile_sweep_4096_fp16" name:"Tile sizes: n = 4096, FP16"`
	Capacity      []CapacityRow    `json:"capacity_fp16_4096" name:"Largest tile for a fast memory: n = 4096, FP16"`
	RidgeTile     RidgeTile        `json:"ridge_tile_4096_fp16" name:"Tile size that reaches the ridge: n = 4096, FP16"`
	Decode        Decode           `json:"decode_vs_prefill_4096_fp16" name:"Decode and prefill: (m×4096)·(4096×4096), FP16"`
	SevenBillion  Weights          `json:"seven_billion_params_fp16" name:"Seven billion parameters, FP16"`
	CheckYourself CheckYourself    `json:"check_yourself_48kib_float32_4096" name:"Check yourself: 48 KiB, float32, n = 4096"`
}

// Chip is the reference chip and its ridge.
type Chip struct {
	Name      string  `json:"name" name:"chip"`
	Source    string  `json:"source" name:"source"`
	Peak      float64 `json:"peak_flops" unit:"FLOP/s" name:"peak"`
	Bandwidth float64 `json:"bandwidth_bytes_per_s" unit:"B/s" name:"bandwidth"`
	ElemBytes int64   `json:"elem_bytes" unit:"bytes" name:"element size"`
	Ridge     float64 `json:"ridge_flop_per_byte" unit:"FLOP/byte" name:"ridge"`
}

// Multiply is the work, compulsory traffic and best-case intensity of a multiply.
type Multiply struct {
	FLOPs     int64   `json:"flops" unit:"FLOPs" name:"work"`
	MinBytes  int64   `json:"min_bytes" unit:"bytes" name:"compulsory traffic"`
	Intensity float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
}

// BestCase is the best-case intensity at one size.
type BestCase struct {
	N         int64   `json:"n" name:"n"`
	Intensity float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
}

// NaiveVersusIdeal sets the multiply without reuse beside the best case.
type NaiveVersusIdeal struct {
	FLOPs             int64   `json:"flops" unit:"FLOPs" name:"work"`
	NaiveLoads        int64   `json:"naive_loads" unit:"elements" name:"loads without reuse"`
	NaiveStores       int64   `json:"naive_stores" unit:"elements" name:"stores"`
	NaiveBytes        int64   `json:"naive_bytes" unit:"bytes" name:"traffic without reuse"`
	NaiveIntensity    float64 `json:"naive_intensity" unit:"FLOP/byte" name:"intensity without reuse"`
	MinBytes          int64   `json:"min_bytes" unit:"bytes" name:"compulsory traffic"`
	MinIntensity      float64 `json:"min_intensity" unit:"FLOP/byte" name:"best-case intensity"`
	NaiveAttainable   float64 `json:"naive_attainable_flops" unit:"FLOP/s" name:"attainable without reuse"`
	NaivePercent      float64 `json:"naive_percent_of_peak" unit:"%" name:"that is, of the peak"`
	FloorMath         float64 `json:"floor_math_s" unit:"s" name:"time floor of the math"`
	FloorNaiveTraffic float64 `json:"floor_naive_traffic_s" unit:"s" name:"time floor of the traffic without reuse"`
	FloorMinTraffic   float64 `json:"floor_min_traffic_s" unit:"s" name:"time floor of the compulsory traffic"`
	NaiveOverMath     float64 `json:"naive_over_math" unit:"times" name:"traffic without reuse over math"`
}

// WorkedExample is the multiply that the reader follows by hand.
type WorkedExample struct {
	A              [][]int64   `json:"A" name:"A"`
	B              [][]int64   `json:"B" name:"B"`
	C              [][]int64   `json:"C" name:"C = A·B"`
	Steps          [][4]int64  `json:"steps" name:"steps in loop order" columns:"tile row,tile column,tile along k,loads"`
	Loads          int64       `json:"loads" unit:"elements" name:"loads"`
	Stores         int64       `json:"stores" unit:"elements" name:"stores"`
	FLOPs          int64       `json:"flops" unit:"FLOPs" name:"work"`
	NaiveLoads     int64       `json:"naive_loads" unit:"elements" name:"loads without reuse"`
	NaivePerNumber float64     `json:"naive_intensity_per_number" unit:"FLOPs per number moved" name:"intensity without reuse"`
	TiledPerNumber float64     `json:"tiled_intensity_per_number" unit:"FLOPs per number moved" name:"intensity in tiles"`
	TopLeft        [][][]int64 `json:"top_left_partial_products" name:"partial products of the top-left tile of C"`
}

// Counted is what the tiled loops counted, and what the formula says.
type Counted struct {
	B         int64   `json:"b" name:"b"`
	Loads     int64   `json:"loads" unit:"elements" name:"loads"`
	Formula   int64   `json:"formula" unit:"elements" name:"2n³/b"`
	Stores    int64   `json:"stores" unit:"elements" name:"stores"`
	FLOPs     int64   `json:"flops" unit:"FLOPs" name:"work"`
	Intensity float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
}

// TileRow is the traffic at one tile size.
type TileRow struct {
	B            int64   `json:"b" name:"b"`
	Loads        int64   `json:"loads" unit:"elements" name:"loads"`
	BytesOverMin float64 `json:"bytes_over_min" unit:"times" name:"traffic over compulsory"`
	Intensity    float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
	FastBytes    int64   `json:"fast_bytes" unit:"bytes" name:"fast memory"`
}

// CapacityRow is the largest tile for one size of fast memory.
type CapacityRow struct {
	KiB       int64   `json:"kib" unit:"KiB" name:"fast memory"`
	MaxTile   int64   `json:"max_tile" name:"largest b"`
	Intensity float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
}

// RidgeTile is the three answers to: how large a tile reaches the ridge?
type RidgeTile struct {
	RuleOfThumb      float64 `json:"rule_of_thumb" unit:"elements" name:"rule of thumb, s·ridge"`
	Fractional       float64 `json:"with_store_term_fractional" unit:"elements" name:"with the stores of C"`
	FractionalCeil   int64   `json:"with_store_term_ceil" unit:"elements" name:"the same, rounded up"`
	Exact            int64   `json:"exact" unit:"elements" name:"with whole tiles: smallest b"`
	IntensityAtExact float64 `json:"intensity_at_exact" unit:"FLOP/byte" name:"intensity at that b"`
	TilesAtExact     int64   `json:"tiles_per_side_at_exact" name:"tiles per side at that b"`
	IntensitySmaller float64 `json:"intensity_one_smaller" unit:"FLOP/byte" name:"intensity at b − 1"`
	TilesSmaller     int64   `json:"tiles_per_side_one_smaller" name:"tiles per side at b − 1"`
	FastBytesAtExact int64   `json:"fast_bytes_at_exact" unit:"bytes" name:"fast memory at that b"`
}

// Decode is the multiply of m tokens with a square weight matrix.
type Decode struct {
	Rows         []DecodeRow `json:"rows" name:"by batch"`
	BatchToRidge int64       `json:"batch_to_reach_ridge" name:"smallest batch at the ridge"`
}

// DecodeRow is that multiply at one batch.
type DecodeRow struct {
	M          int64   `json:"m" name:"m"`
	Intensity  float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
	Bound      string  `json:"bound" name:"bound"`
	Attainable float64 `json:"attainable_flops" unit:"FLOP/s" name:"attainable"`
	Percent    float64 `json:"percent_of_peak" unit:"%" name:"of the peak"`
}

// Weights is what reading a model's weights once costs.
type Weights struct {
	Params    float64 `json:"params" name:"parameters"`
	Bytes     float64 `json:"weight_bytes" unit:"bytes" name:"weights"`
	ReadTime  float64 `json:"weight_read_s" unit:"s" name:"time to read them once"`
	MaxTokens float64 `json:"max_tokens_per_s" unit:"tokens/s" name:"decode rate at batch 1, at most"`
}

// CheckYourself is the answer to the capacity question.
type CheckYourself struct {
	MaxTile   int64   `json:"max_tile" name:"largest b"`
	Intensity float64 `json:"intensity" unit:"FLOP/byte" name:"intensity"`
}

// What the lesson asks about. All the rest of the report follows from it.
const (
	size       = 4096 // n of the large multiply
	countedN   = 128  // n of the sweep that runs the loops
	exampleB   = 2    // tile of the 4×4 example
	float32s   = 4    // bytes
	kib        = 1024 // bytes
	modelSize  = 7e9  // parameters
	questionKB = 48   // KiB of fast memory in the capacity question
)

var (
	bestCaseSizes = []int64{2, 16, 256, 4096}
	countedTiles  = []int64{4, 8, 16, 32, 64, 128}
	sweepTiles    = []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}
	capacitiesKiB = []int64{16, 64, 256, 1024}

	// Batches on both sides of the ridge; the two next to it are added.
	fewTokens  = []int64{1, 2, 8, 16, 32, 64, 128}
	manyTokens = []int64{256, 512, 1024, 4096}
)

// exampleA and exampleRight are the matrices of the 4×4 example.
var (
	exampleA = [][]int64{
		{1, 2, 0, 1},
		{3, 1, 2, 0},
		{0, 1, 1, 2},
		{2, 0, 1, 1},
	}
	exampleRight = [][]int64{
		{1, 2, 2, 1},
		{0, 1, 1, 0},
		{2, 1, 0, 1},
		{1, 2, 1, 0},
	}
)

// Quoted computes the report. The result is the same in every call; it is
// shared, so do not change what its slices hold.
func Quoted() (Report, error) { return quoted() }

var quoted = sync.OnceValues(compute)

func compute() (r Report, err error) {
	if err = roofline.Maybe(func() { r = report() }); err != nil {
		return Report{}, fmt.Errorf("facts: %w", err)
	}
	return r, nil
}

func report() Report {
	chip := roofline.A100()
	fp16 := chip.ElemBytes
	return Report{
		Chip:          theChip(chip),
		TwoByTwo:      workOf(roofline.Square(2, float32s)),
		BestCase:      bestCase(),
		NaiveVersus:   naiveVersusIdeal(chip, roofline.Square(size, fp16)),
		WorkedExample: workedExample(),
		CountedSweep:  countedSweep(countedN, fp16),
		TileSweep:     tileSweep(size, fp16),
		Capacity:      capacity(size, fp16),
		RidgeTile:     ridgeTile(chip, size),
		Decode:        decode(chip, size, size),
		SevenBillion:  weights(chip, modelSize),
		CheckYourself: checkYourself(questionKB*kib, size, float32s),
	}
}

func theChip(m roofline.Machine) Chip {
	return Chip{
		Name: m.Name, Source: m.Source,
		Peak: m.Peak, Bandwidth: m.Bandwidth, ElemBytes: m.ElemBytes,
		Ridge: m.Ridge(),
	}
}

func workOf(g roofline.GEMM) Multiply {
	return Multiply{
		FLOPs:     g.FLOPs(),
		MinBytes:  g.MinBytes(),
		Intensity: g.Intensity(),
	}
}

func bestCase() (rows []BestCase) {
	for _, n := range bestCaseSizes {
		rows = append(rows, BestCase{N: n, Intensity: roofline.Square(n, float32s).Intensity()})
	}
	return rows
}

func naiveVersusIdeal(m roofline.Machine, g roofline.GEMM) NaiveVersusIdeal {
	naive := tiling.Naive(g)
	least := tiling.Compulsory(g)
	naiveBytes := naive.Bytes(g.ElemBytes)
	leastBytes := least.Bytes(g.ElemBytes)
	intensity := naive.Intensity(g.ElemBytes)
	attainable := m.Attainable(intensity)
	slow := m.Times(float64(naive.FLOPs), float64(naiveBytes))
	fast := m.Times(float64(least.FLOPs), float64(leastBytes))
	return NaiveVersusIdeal{
		FLOPs:             naive.FLOPs,
		NaiveLoads:        naive.Loads,
		NaiveStores:       naive.Stores,
		NaiveBytes:        naiveBytes,
		NaiveIntensity:    intensity,
		MinBytes:          leastBytes,
		MinIntensity:      least.Intensity(g.ElemBytes),
		NaiveAttainable:   attainable,
		NaivePercent:      100 * attainable / m.Peak,
		FloorMath:         slow.Compute,
		FloorNaiveTraffic: slow.Memory,
		FloorMinTraffic:   fast.Memory,
		NaiveOverMath:     slow.Memory / slow.Compute,
	}
}

func workedExample() WorkedExample {
	a := tiling.FromRows(exampleA)
	b := tiling.FromRows(exampleRight)
	c, counted := tiling.Multiply(a, b, exampleB)
	g := roofline.GEMM{M: int64(a.Rows), N: int64(b.Cols), K: int64(a.Cols), ElemBytes: 1} // 1: per number moved
	naive := tiling.Naive(g)
	w := WorkedExample{
		A: a.ToRows(), B: b.ToRows(), C: c.ToRows(),
		Loads: counted.Loads, Stores: counted.Stores, FLOPs: counted.FLOPs,
		NaiveLoads:     naive.Loads,
		NaivePerNumber: naive.Intensity(1),
		TiledPerNumber: counted.Intensity(1),
	}
	for s := range tiling.Steps(g, exampleB) {
		w.Steps = append(w.Steps, [4]int64{s.I, s.J, s.P, s.Loads})
		if s.I == 0 && s.J == 0 {
			part := tiling.PartialProduct(a, b, exampleB, int(s.I), int(s.J), int(s.P))
			w.TopLeft = append(w.TopLeft, part.ToRows())
		}
	}
	return w
}

// countedSweep runs the tiled loops. The counts do not depend on what the
// matrices hold.
func countedSweep(n int, elemBytes int64) (rows []Counted) {
	a := tiling.New[int32](n, n)
	g := roofline.Square(int64(n), elemBytes)
	for _, b := range countedTiles {
		_, counted := tiling.Multiply(a, a, int(b))
		rows = append(rows, Counted{
			B:         b,
			Loads:     counted.Loads,
			Formula:   g.FLOPs() / b,
			Stores:    counted.Stores,
			FLOPs:     counted.FLOPs,
			Intensity: counted.Intensity(elemBytes),
		})
	}
	return rows
}

func tileSweep(n, elemBytes int64) (rows []TileRow) {
	g := roofline.Square(n, elemBytes)
	least := tiling.Compulsory(g).Bytes(elemBytes)
	for _, b := range sweepTiles {
		t := tiling.Tiled(g, b)
		rows = append(rows, TileRow{
			B:            b,
			Loads:        t.Loads,
			BytesOverMin: float64(t.Bytes(elemBytes)) / float64(least),
			Intensity:    t.Intensity(elemBytes),
			FastBytes:    tiling.FastBytes(b, elemBytes),
		})
	}
	return rows
}

func capacity(n, elemBytes int64) (rows []CapacityRow) {
	for _, c := range capacitiesKiB {
		b := tiling.LargestTile(c*kib, elemBytes)
		rows = append(rows, CapacityRow{KiB: c, MaxTile: b, Intensity: tiling.Intensity(n, b, elemBytes)})
	}
	return rows
}

func ridgeTile(m roofline.Machine, n int64) RidgeTile {
	s, ridge := m.ElemBytes, m.Ridge()
	b := tiling.RidgeTile(n, s, ridge)
	fractional := tiling.FractionalRidgeTile(n, s, ridge)
	return RidgeTile{
		RuleOfThumb:      tiling.RuleOfThumbTile(ridge, s),
		Fractional:       fractional,
		FractionalCeil:   int64(math.Ceil(fractional)),
		Exact:            b,
		IntensityAtExact: tiling.Intensity(n, b, s),
		TilesAtExact:     tiling.TilesPerSide(n, b),
		IntensitySmaller: tiling.Intensity(n, b-1, s),
		TilesSmaller:     tiling.TilesPerSide(n, b-1),
		FastBytesAtExact: tiling.FastBytes(b, s),
	}
}

func decode(m roofline.Machine, k, n int64) Decode {
	batch := roofline.BatchToRidge(m, k, n)
	d := Decode{BatchToRidge: batch}
	for _, tokens := range slices.Concat(fewTokens, []int64{batch - 1, batch}, manyTokens) {
		intensity := roofline.GEMM{M: tokens, N: n, K: k, ElemBytes: m.ElemBytes}.Intensity()
		attainable := m.Attainable(intensity)
		d.Rows = append(d.Rows, DecodeRow{
			M:          tokens,
			Intensity:  intensity,
			Bound:      m.Classify(intensity).String(),
			Attainable: attainable,
			Percent:    100 * attainable / m.Peak,
		})
	}
	return d
}

func weights(m roofline.Machine, params float64) Weights {
	return Weights{
		Params:    params,
		Bytes:     roofline.WeightBytes(m, params),
		ReadTime:  roofline.WeightReadTime(m, params),
		MaxTokens: roofline.TokensPerSecond(m, params),
	}
}

func checkYourself(capacityBytes, n, elemBytes int64) CheckYourself {
	b := tiling.LargestTile(capacityBytes, elemBytes)
	return CheckYourself{MaxTile: b, Intensity: tiling.Intensity(n, b, elemBytes)}
}
