package tiling_test

import (
	"fmt"

	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

func ExampleMultiply() {
	a := tiling.FromRows([][]int{{1, 2}, {3, 4}})
	for tile := 1; tile <= 2; tile++ {
		c, traffic := tiling.Multiply(a, a, tile)
		fmt.Println("tile", tile, "product", c.ToRows(), "loads", traffic.Loads, "stores", traffic.Stores)
	}
	// Output:
	// tile 1 product [[7 10] [15 22]] loads 16 stores 4
	// tile 2 product [[7 10] [15 22]] loads 8 stores 4
}

func ExamplePartialProduct() {
	a := tiling.FromRows([][]int{{1, 2, 3}, {4, 5, 6}})
	b := tiling.FromRows([][]int{{1, 0}, {0, 1}, {1, 1}})
	for p := range 2 { // k = 3 in tiles of 2: the second is thin
		part := tiling.PartialProduct(a, b, 2, 0, 0, p)
		fmt.Println(part.ToRows())
	}
	// Output:
	// [[1 2] [4 5]]
	// [[3 3] [6 6]]
}

func ExampleSteps() {
	g := roofline.GEMM{M: 2, N: 3, K: 2, ElemBytes: 2}
	steps := tiling.Steps(g, 2)
	for s := range steps {
		fmt.Printf("C tile (%d, %d), k tile %d: %d×%d and %d×%d, %d loads\n",
			s.I, s.J, s.P, s.Rows, s.Depth, s.Depth, s.Cols, s.Loads)
	}
	// Output:
	// C tile (0, 0), k tile 0: 2×2 and 2×2, 8 loads
	// C tile (0, 1), k tile 0: 2×2 and 2×1, 6 loads
}

func ExampleTiled() {
	g := roofline.Square(4096, 2)
	for _, tile := range []int64{1, 64, 4096} {
		traffic := tiling.Tiled(g, tile)
		intensity := traffic.Intensity(g.ElemBytes)
		fmt.Printf("b = %d: %.1f FLOP/byte\n", tile, intensity)
	}
	// Output:
	// b = 1: 0.5 FLOP/byte
	// b = 64: 31.8 FLOP/byte
	// b = 4096: 1365.3 FLOP/byte
}

func ExampleLargestTile() {
	fmt.Println(tiling.LargestTile(64<<10, 2))
	fmt.Println(roofline.Maybe(func() { tiling.LargestTile(5, 2) }))
	// Output:
	// 104
	// tiling: capacity is 5 bytes: one element each of A, B and C at 2 bytes needs at least 6
}

func ExampleRidgeTile() {
	ridge := roofline.A100().Ridge()
	fmt.Println(tiling.RidgeTile(4096, 2, ridge))
	fmt.Println(roofline.Maybe(func() { tiling.RidgeTile(128, 2, ridge) }))
	// Output:
	// 342
	// tiling: no tile reaches the ridge of 153.016 FLOP/byte at n = 128, element size 2: the best is the whole matrix as one tile, b = 128, with 42.6667 FLOP/byte; use a larger n, smaller elements, or a machine with a lower ridge
}

func ExampleBestRect() {
	g := roofline.Square(4096, 2)
	const capacity = 32 << 10 // elements: 64 KiB
	bound := tiling.LoadLowerBound(g, capacity)
	b := tiling.LargestTile(capacity*g.ElemBytes, g.ElemBytes)
	square := tiling.Tiled(g, b)
	shape, best := tiling.BestRect(g, capacity)
	fmt.Printf("no schedule: %d loads\n", bound.Loads)
	fmt.Printf("%+v: %d loads\n", shape, best.Loads)
	fmt.Printf("%d×%d tiles: %d loads\n", b, b, square.Loads)
	// Output:
	// no schedule: 742407373 loads
	// {BM:171 BN:187 BK:1}: 771751936 loads
	// 104×104 tiles: 1342177280 loads
}
