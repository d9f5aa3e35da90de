package llama

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"memorywall/pkg/internal/num"
	"memorywall/pkg/matmul"
)

// A Cache holds the keys and values of one sequence: what attention needs of the
// tokens that were read and written before, so that none is computed twice.
type Cache struct {
	config   Config
	format   matmul.WeightFormat
	capacity int
	length   int

	// For each layer and KV head the values of all tokens, one row of HeadDim
	// elements after the other, and the keys in blocks of keyBlock tokens, each
	// turned: HeadDim rows of keyBlock elements. Both products of attention are
	// then sums of rows.
	keys, values []byte
	elem         int // bytes of an element
}

// NewCache returns an empty cache for so many tokens, in Float32 or Float16. It
// returns an error for another format, and for a capacity below 1 or above what
// the model was trained for.
func (m *Model) NewCache(capacity int, format matmul.WeightFormat) (*Cache, error) {
	if capacity < 1 || capacity > m.Context {
		return nil, fmt.Errorf("llama: capacity is %d: this model can look back on 1 to %d tokens", capacity, m.Context)
	}
	c := &Cache{config: m.Config, format: format, capacity: capacity}
	switch format {
	case matmul.Float32:
		c.elem = 4
	case matmul.Float16:
		c.elem = 2
	default:
		return nil, fmt.Errorf("llama: a cache in %v: it can be in Float32 or Float16", format)
	}
	token := m.Layers * m.kvWidth() * c.elem
	c.keys, c.values = make([]byte, c.blocks()*keyBlock*token), make([]byte, capacity*token)
	return c, nil
}

// Len returns how many tokens the cache holds.
func (c *Cache) Len() int { return c.length }

// Cap returns how many tokens it has room for.
func (c *Cache) Cap() int { return c.capacity }

// Bytes returns what the keys and values of its tokens take.
func (c *Cache) Bytes() int { return 2 * c.config.Layers * c.length * c.config.kvWidth() * c.elem }

// Truncate forgets all but the first n tokens. It panics if n is negative or
// above Len.
func (c *Cache) Truncate(n int) {
	if n < 0 || n > c.length {
		panic(fmt.Sprintf("llama: truncate to %d: the cache has %d tokens", n, c.length))
	}
	c.length = n
}

// Fill makes the cache hold n tokens with random keys and values, for timing: a
// step behind them takes as long as behind a real text. It panics if n is
// negative or above Cap.
func (c *Cache) Fill(n int) {
	if n < 0 || n > c.capacity {
		panic(fmt.Sprintf("llama: fill with %d tokens: the cache has room for %d", n, c.capacity))
	}
	random := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, c.config.kvWidth())
	for position := range n {
		for i := range x {
			x[i] = random.Float32() - 0.5
		}
		for layer := range c.config.Layers {
			c.put(layer, position, x, x)
		}
	}
	c.length = n
}

// clone returns a cache of its own with the same tokens and the same room.
func (c *Cache) clone() *Cache {
	d := *c
	d.keys, d.values = slices.Clone(c.keys), slices.Clone(c.values)
	return &d
}

// blocks is how many blocks of keys there are of each layer and head.
func (c *Cache) blocks() int { return num.CeilDiv(c.capacity, keyBlock) }

// block returns the keys from..to of one layer and head as HeadDim×(to-from)
// weights, or a few more columns up to a multiple of [matmul.QuantBlock], and the
// values as (to-from)×HeadDim. All must be of one block of keys.
func (c *Cache) block(layer, head, from, to int) (keys, values matmul.Weights) {
	d := c.config.HeadDim
	size := d * keyBlock * c.elem
	block := ((layer*c.config.KVHeads+head)*c.blocks() + from/keyBlock) * size
	first, n := from%keyBlock, num.CeilDiv(to-from, matmul.QuantBlock)*matmul.QuantBlock
	at := ((layer*c.config.KVHeads+head)*c.capacity + from) * d * c.elem
	return c.weights(c.keys[block:], d, keyBlock).Columns(first, first+n), c.weights(c.values[at:], to-from, d)
}

func (c *Cache) weights(data []byte, rows, cols int) matmul.Weights {
	w, err := matmul.NewWeights(c.format, rows, cols, data[:rows*cols*c.elem])
	if err != nil {
		panic(err) // the sizes are the cache's own
	}
	return w
}

// put stores the keys and values of one token, KVHeads×HeadDim elements each.
func (c *Cache) put(layer, position int, key, value []float32) {
	d := c.config.HeadDim
	row, gap := d*c.elem, keyBlock*c.elem
	for h := range c.config.KVHeads {
		head := layer*c.config.KVHeads + h
		values := c.values[(head*c.capacity+position)*row:][:row]
		keys := c.keys[(head*c.blocks()+position/keyBlock)*d*gap+position%keyBlock*c.elem:]
		store(values, key[h*d:][:d], c.elem) // to take the keys from
		for i := range d {
			for j, v := range values[i*c.elem:][:c.elem] {
				keys[i*gap+j] = v
			}
		}
		store(values, value[h*d:][:d], c.elem)
	}
}

func store(dst []byte, x []float32, elem int) {
	if elem == 4 {
		for i, v := range x {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
		}
		return
	}
	toFloat16s(dst, x)
}

// toFloat16 rounds to the nearest IEEE 754 binary16, ties to even; what is too
// large becomes infinite.
func toFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	sign, abs := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 // NaN
	case abs >= 0x477ff000:
		return sign | 0x7c00 // 65520 and above round to infinity
	case abs < 0x38800000: // subnormal: the sum's last place is 2^-24
		return sign | uint16(math.Float32bits(math.Float32frombits(abs)+0.5)-0x3f000000)
	}
	return sign | uint16((abs+0xfff+abs>>13&1-0x38000000)>>13)
}
