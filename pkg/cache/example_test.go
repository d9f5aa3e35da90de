package cache_test

import (
	"fmt"

	"memorywall/pkg/cache"
	"memorywall/pkg/roofline"
	"memorywall/pkg/tiling"
)

func ExampleHierarchy() {
	l1 := cache.Config{Name: "L1", SizeBytes: 48 << 10, LineBytes: 64, Ways: 12}
	l2 := cache.Config{Name: "L2", SizeBytes: 2 << 20, LineBytes: 64, Ways: 16}
	h := cache.New(l1, l2)
	layout := cache.Place(roofline.Square(128, 4))
	if err := roofline.Maybe(func() { layout.Tiled(h, tiling.SquareTile(32)) }); err != nil {
		fmt.Println(err)
		return
	}
	h.Flush()
	for _, s := range h.Stats() {
		fmt.Printf("%s: %d accesses, %d misses, %d bytes in, %d bytes out\n", s.Name, s.Accesses(), s.Misses(), s.BytesIn, s.BytesOut)
	}
	// Output:
	// L1: 6373376 accesses, 8864 misses, 567296 bytes in, 141568 bytes out
	// L2: 11076 accesses, 3072 misses, 196608 bytes in, 65536 bytes out
}

// The fast memory of the model, and a cache of the same size.
func ExampleLayout_TiledIn() {
	g := roofline.Square(64, 4)
	tile := tiling.SquareTile(16)
	layout := cache.Place(g)
	room := tile.FastElems()
	pad := cache.NewScratchpad(room)
	traffic := layout.TiledIn(pad, tile)
	fmt.Println("model:", traffic.Loads, "loads with room for", room)

	need := cache.TiledLines(g, tile, 1)
	for _, capacity := range []int64{room, need} {
		h := cache.New(cache.FullyAssociative("cache", capacity, g.ElemBytes))
		if err := roofline.Maybe(func() { layout.Tiled(h, tile) }); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("cache:", h.Memory().Misses(), "misses with room for", capacity)
	}
	// Output:
	// model: 32768 loads with room for 768
	// cache: 47664 misses with room for 768
	// cache: 36864 misses with room for 1009
}

func ExampleNew() {
	err := roofline.Maybe(func() { cache.New(cache.Config{Name: "L1", SizeBytes: 48 << 10, LineBytes: 64, Ways: 10}) })
	fmt.Println(err)
	// Output:
	// cache: L1: size is 49152 bytes: it must be a multiple of ways × line, 10 × 64 bytes
}
