package probe

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// The name of each instruction set, and that one runs, is what a run without
// assembly must not lose.
func TestISAs(t *testing.T) {
	for what, all := range map[string][]string{"float32": ComputeISAs[float32](), "float64": ComputeISAs[float64](), "int32": ComputeISAs[int32](), "memory": MemoryISAs()} {
		if len(all) == 0 || all[len(all)-1] != Go {
			t.Errorf("%s: %v: the last must be plain Go", what, all)
		}
	}
	if _, err := NewCompute[float32]("vax"); err == nil || !strings.Contains(err.Error(), `ISA is "vax"`) {
		t.Errorf("error %v", err)
	}
	if _, err := NewMemory("vax"); err == nil || !strings.Contains(err.Error(), `ISA is "vax"`) {
		t.Errorf("error %v", err)
	}
}

func TestCompute(t *testing.T) {
	t.Run("float32", testCompute[float32])
	t.Run("float64", testCompute[float64])
}

// Powers of two keep every step exact, so that fused and mulAdd agree bit for bit.
func testCompute[T Float](t *testing.T) {
	for _, isa := range ComputeISAs[T]() {
		for _, rounds := range []int{1, 2, 7} {
			for _, xy := range [][2]T{{1, 1}, {2, 0}, {0.5, 4}, {-1, 3}} {
				c, err := NewCompute[T](isa)
				if err != nil {
					t.Fatal(err)
				}
				c.state[0], c.state[1] = xy[0], xy[1]
				n := len(c.state[2:])
				want := make([]T, 2+n)
				want[0], want[1] = xy[0], xy[1]
				for i := range n {
					c.state[2:][i] = T(i + 1)
					want[2+i] = T(i + 1)
				}
				c.Run(rounds)
				perNumber := 2
				switch c.compute.form {
				case sums:
					sumsGo(rounds, &want[0], n)
				case steps:
					stepsGo(rounds, &want[0], n)
				case mulAdd:
					apartGo(rounds, &want[0], n)
					perNumber = 1
				}
				if c.FLOPs() != perNumber*n || c.Fused() != (perNumber == 2) {
					t.Errorf("%s: %d FLOPs a round for %d numbers", isa, c.FLOPs(), n)
				}
				for i, got := range c.state[2:] {
					if got != want[2+i] {
						t.Fatalf("%s: number %d after %d rounds with %v is %v, want %v", isa, i, rounds, xy, got, want[2+i])
					}
				}
			}
		}
	}
}

// Sums of products of bytes wrap around and are the same everywhere, on bytes from
// their least to their most.
func TestDots(t *testing.T) {
	for _, isa := range ComputeISAs[int32]() {
		for _, xy := range [][2]int32{{0x7f7f7f7f, -0x7f7f7f80}, {0x7f007f00, 0x7f7f7f7f}, {0x04030201, 0x7f80ff01}, {0x5a3c6967, -0x12345679}} {
			c, err := NewCompute[int32](isa)
			if err != nil {
				t.Fatal(err)
			}
			c.state[0], c.state[1] = xy[0], xy[1]
			n, per := len(c.state[2:]), 8
			want := slices.Clone(c.state)
			for i := range n {
				c.state[2:][i] = int32(i) << 20
				want[2+i] = int32(i) << 20
			}
			c.Run(7)
			if c.compute.form == steps {
				stepsGo(7, &want[0], n)
				per = 2
			} else {
				dotsGo(7, &want[0], n)
			}
			if !slices.Equal(c.state, want) || c.FLOPs() != per*n {
				t.Errorf("%s, %#x: %d FLOPs, %v, want %v", isa, xy, c.FLOPs(), c.state, want)
			}
		}
	}
}

// The numbers stay what they are from the start: no overflow, no denormals.
func TestComputeStaysPlain(t *testing.T) {
	t.Run("float32", testComputeStaysPlain[float32])
	t.Run("float64", testComputeStaysPlain[float64])
}

func testComputeStaysPlain[T Float](t *testing.T) {
	for _, isa := range ComputeISAs[T]() {
		c, err := NewCompute[T](isa)
		if err != nil {
			t.Fatal(err)
		}
		c.Run(0)
		c.Run(100_000)
		for i, v := range c.state[2:] {
			if !(math.Abs(float64(v)) > 1e-3 && math.Abs(float64(v)) < 1e3) {
				t.Errorf("%s: number %d has become %v", isa, i, v)
			}
		}
	}
}

// ints fills an array with small integers, which every triad keeps exact.
func ints(p []byte, add int) {
	for i := range Numbers(p) {
		Numbers(p)[i] = float64((i*7+add)%101 - 50)
	}
}

func array(t *testing.T, bytes int) []byte {
	t.Helper()
	p, free, err := Alloc(int64(bytes))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	Fill(p)
	return p
}

func TestMemory(t *testing.T) {
	for _, isa := range MemoryISAs() {
		m, err := NewMemory(isa)
		if err != nil {
			t.Fatal(err)
		}
		if m.ISA() != isa {
			t.Errorf("%q is called %q", isa, m.ISA())
		}
		for _, rounds := range []int{1, 2, 5} {
			for _, passes := range []int{1, 2, 3} {
				t.Run(fmt.Sprintf("%s/rounds=%d/passes=%d", isa, rounds, passes), func(t *testing.T) {
					testMemory(t, m, rounds*RoundBytes, passes)
				})
			}
		}
	}
}

// testMemory holds the loops against plain loops. The arrays stand in larger
// ones, and what is round them must stay as it is.
func testMemory(t *testing.T, m Memory, n, passes int) {
	const guard = 2 * AlignBytes
	whole := make([][]byte, 3)
	for i := range whole {
		whole[i] = array(t, n+2*guard)
		ints(whole[i], 13*i)
	}
	inner := func(i int) []byte { return whole[i][guard:][:n:n] }
	a, b, c := inner(0), inner(1), inner(2)
	before := func(i int) []float64 { return append([]float64(nil), Numbers(whole[i])...) }
	same := func(what string, i int, want []float64) {
		t.Helper()
		for j, got := range Numbers(whole[i]) {
			if got != want[j] {
				t.Fatalf("%s: word %d of array %d is %v, want %v", what, j-guard/8, i, got, want[j])
			}
		}
	}

	// What a loop keeps: the last eight vectors, or in plain Go all of it.
	kept := map[string]int{AVX512: 512, AVX2: 256, SSE2: 128, NEON: 256, Go: n}[m.ISA()]
	var want uint64
	for range passes {
		if want = 0; m.ISA() == Go && passes%2 == 0 {
			break // each word cancels out
		}
		for _, v := range Numbers(b)[(n-kept)/8:] {
			want ^= math.Float64bits(v)
		}
	}
	if got, err := m.read(b, passes); err != nil || got != want {
		t.Errorf("load: %x, want %x (%v)", got, want, err)
	}

	for _, streaming := range []bool{false, true} {
		wantA, wantB, wantC := before(0), before(1), before(2)
		for i, v := range Numbers(b) {
			wantA[guard/8+i] = v
		}
		if err := m.Copy(a, b, passes, streaming); err != nil {
			t.Fatal(err)
		}
		same("copy", 0, wantA)
		same("copy's source", 1, wantB)
		for i := range Numbers(a) {
			wantA[guard/8+i] = Numbers(b)[i] + 3*Numbers(c)[i]
		}
		if err := m.Triad(a, b, c, 3, passes, streaming); err != nil {
			t.Fatal(err)
		}
		same("triad", 0, wantA)
		same("triad's b", 1, wantB)
		same("triad's c", 2, wantC)
		ints(whole[0], 77)
	}
}

func TestMemoryRefuses(t *testing.T) {
	m, err := NewMemory("")
	if err != nil {
		t.Fatal(err)
	}
	p := array(t, 4*RoundBytes)
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"no pass", func() error { return m.Load(p, 0) }, "passes is 0"},
		{"no bytes", func() error { return m.Load(nil, 1) }, "array 0 has 0 bytes"},
		{"a part of a round", func() error { return m.Load(p[:RoundBytes+64], 1) }, "positive multiple of 512"},
		{"not aligned", func() error { return m.Load(p[8:][:RoundBytes], 1) }, "no multiple of 64"},
		{"lengths", func() error { return m.Copy(p[:RoundBytes], p[RoundBytes:], 1, false) }, "equally long"},
		{"lengths", func() error { return m.Triad(p[:RoundBytes], p[RoundBytes:][:RoundBytes], p, 1, 1, true) }, "array 2 has 2048 bytes"},
		{"the same array", func() error { return m.Copy(p, p, 1, false) }, "arrays 0 and 1 overlap: they must be disjoint"},
		{"an overlap", func() error { return m.Copy(p[RoundBytes:][:2*RoundBytes], p[:2*RoundBytes], 1, true) }, "arrays 0 and 1 overlap"},
		{"b is c", func() error {
			return m.Triad(p[:RoundBytes], p[RoundBytes:][:RoundBytes], p[RoundBytes:][:RoundBytes], 1, 1, false)
		}, "arrays 1 and 2 overlap"},
		{"no loops", func() error { return Memory{}.Load(p, 1) }, "the Memory has no loops: take it from NewMemory"},
		{"no loops", func() error { return Memory{}.Copy(p[:RoundBytes], p[RoundBytes:][:RoundBytes], 1, true) }, "take it from NewMemory"},
		{"no memory", func() error { _, _, err := Alloc(0); return err }, "bytes is 0"},
		{"too much memory", func() error { _, _, err := Alloc(math.MaxInt64); return err }, "bytes is 9223372036854775807"},
		{"too much memory", func() error { _, _, err := Alloc(1<<40 + 1); return err }, "bytes is 1099511627777: it must be from 1 to "},
	} {
		if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAddChain(t *testing.T) {
	for _, rounds := range []int{1, 2, 100} {
		x, adds := AddChain(rounds, 5, 3)
		if adds != int64(rounds)*64 || x != 5+3*uint64(adds) {
			t.Errorf("%d rounds: %d after %d adds", rounds, x, adds)
		}
		if other := addChainGo(rounds, 5, 3); other != x {
			t.Errorf("%d rounds: plain Go says %d, not %d", rounds, other, x)
		}
	}
	if x, adds := AddChain(0, 5, 3); x != 5 || adds != 0 {
		t.Errorf("no round: %d after %d adds", x, adds)
	}
}

func TestFill(t *testing.T) {
	p := array(t, 1<<20)
	for i, v := range Numbers(p) {
		if !(v >= 1 && v < 2) {
			t.Fatalf("number %d is %v", i, v)
		}
	}
	x := Numbers(p)
	if bits.OnesCount64(math.Float64bits(x[1])^math.Float64bits(x[400])) == 0 || x[0] != x[512] {
		t.Error("the pattern does not repeat as it should")
	}
	Fill(nil)
	Fill(make([]byte, 7))
}
