package cache

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/tiling"
)

// A sender sends the accesses of loops to a sink.
type sender struct {
	to   Sink
	s    int64 // bytes of an element
	body []Access
}

func (l Layout) sender(to Sink) *sender {
	return &sender{to: to, s: l.ElemBytes, body: make([]Access, 0, 4)}
}

// add adds an access to one element in each round. The stride is in elements.
func (x *sender) add(addr, stride int64, write bool) *sender {
	x.body = append(x.body, Access{Addr: addr, Stride: stride * x.s, Bytes: x.s, Write: write})
	return x
}

func (x *sender) read(addr, stride int64) *sender  { return x.add(addr, stride, false) }
func (x *sender) write(addr, stride int64) *sender { return x.add(addr, stride, true) }

// times ends the body: it is done so many times.
func (x *sender) times(count int64) {
	if x.to == nil {
		arg.Refuse("to", nil, "cache: to is nil: it must be a Hierarchy or a Scratchpad")
	}
	x.to.Loop(count, x.body)
	x.body = x.body[:0]
}

// Naive sends the accesses of the three plain loops of C = A·B:
//
//	for i < m { for j < n {
//		sum = 0                            // stays in a register
//		for p < k { sum += A[i,p]·B[p,j] } // read A, read B
//		C[i,j] = sum                       // write C
//	} }
//
// These are 2mnk reads and mn writes.
func (l Layout) Naive(to Sink) {
	arg.Check(l.Validate())
	x := l.sender(to)
	for i := range l.M {
		for j := range l.N {
			x.read(l.a(i, 0), 1).read(l.b(0, j), l.LDB).times(l.K)
			x.write(l.c(i, j), 0).times(1)
		}
	}
}

// Reordered sends the accesses of the loops in the order i, p, j, after C has
// been set to 0:
//
//	for i < m { for j < n { C[i,j] = 0 } }             // write C
//	for i < m { for p < k {
//		aip = A[i,p]                                   // read A
//		for j < n { C[i,j] += aip·B[p,j] }             // read B, read C, write C
//	} }
//
// These are mk + 2mnk reads and mn + mnk writes.
func (l Layout) Reordered(to Sink) {
	arg.Check(l.Validate())
	x := l.sender(to)
	l.zero(x, 0, 0, l.M, l.N)
	for i := range l.M {
		l.addTile(x, i, 0, 0, 1, l.N, l.K)
	}
}

// Tiled sends the accesses of the multiply in tiles of C of bm×bn, with k in
// steps of bk. A tile of C is set to 0 first; within a step the loops are those
// of Reordered:
//
//	for tiles of C {
//		C tile = 0
//		for steps of k { C tile += A tile · B tile, in the order i, p, j }
//	}
func (l Layout) Tiled(to Sink, r tiling.Rect) {
	l.checkTiles(r)
	x := l.sender(to)
	for i := int64(0); i < l.M; i += min(r.BM, l.M-i) {
		rows := min(r.BM, l.M-i)
		for j := int64(0); j < l.N; j += min(r.BN, l.N-j) {
			cols := min(r.BN, l.N-j)
			l.zero(x, i, j, rows, cols)
			for p := int64(0); p < l.K; p += min(r.BK, l.K-p) {
				l.addTile(x, i, j, p, rows, cols, min(r.BK, l.K-p))
			}
		}
	}
}

// TiledIn is Tiled with the placement of the model: each tile is put into the
// scratchpad before it is used and leaves it afterwards. It returns what
// crossed, which is what [tiling.TiledRect] says. The scratchpad must be empty
// and have room for one tile each of A, B and C; an access to anything that it
// does not hold is an error.
func (l Layout) TiledIn(s *Scratchpad, r tiling.Rect) tiling.Traffic {
	l.checkTiles(r)
	if s.held != 0 {
		arg.Refuse("scratchpad", s.held, "cache: the scratchpad holds %d elements: it must be empty: drop them, or take a new one", s.held)
	}
	before := s.traffic
	x := l.sender(s)
	flops := int64(0)
	for i := int64(0); i < l.M; i += min(r.BM, l.M-i) {
		rows := min(r.BM, l.M-i)
		for j := int64(0); j < l.N; j += min(r.BN, l.N-j) {
			cols := min(r.BN, l.N-j)
			c := block{Addr: l.c(i, j), Rows: rows, Cols: cols, LD: l.LDC, ElemBytes: l.ElemBytes}
			s.reserve(c)
			l.zero(x, i, j, rows, cols)
			for p := int64(0); p < l.K; p += min(r.BK, l.K-p) {
				depth := min(r.BK, l.K-p)
				a := block{Addr: l.a(i, p), Rows: rows, Cols: depth, LD: l.LDA, ElemBytes: l.ElemBytes}
				b := block{Addr: l.b(p, j), Rows: depth, Cols: cols, LD: l.LDB, ElemBytes: l.ElemBytes}
				s.load(a)
				s.load(b)
				l.addTile(x, i, j, p, rows, cols, depth)
				flops += 2 * rows * cols * depth
				s.drop(a)
				s.drop(b)
			}
			s.store(c)
			s.drop(c)
		}
	}
	return tiling.Traffic{
		Loads:  s.traffic.Loads - before.Loads,
		Stores: s.traffic.Stores - before.Stores,
		FLOPs:  flops,
	}
}

func (l Layout) checkTiles(r tiling.Rect) {
	arg.Check(l.Validate())
	tiling.TiledRect(l.GEMM, r) // refuses bad sides, and counts beyond int64
}

// zero writes rows×cols elements of C from (i, j) on.
func (l Layout) zero(x *sender, i, j, rows, cols int64) {
	for r := range rows {
		x.write(l.c(i+r, j), 1).times(cols)
	}
}

// addTile does C += A·B for one tile each, in the order i, p, j.
func (l Layout) addTile(x *sender, i, j, p, rows, cols, depth int64) {
	for r := i; r < i+rows; r++ {
		for q := p; q < p+depth; q++ {
			x.read(l.a(r, q), 0).times(1)
			x.read(l.b(q, j), 1).read(l.c(r, j), 1).write(l.c(r, j), 1).times(cols)
		}
	}
}

// Blocking holds the sizes of the packed multiply, in elements. A tile of C of
// MR×NR stays in registers while a panel of A (MR×KC) and a panel of B (KC×NR)
// stream past it; a block of B (KC×NC) and a block of C (MC×NC) stay in larger
// caches.
type Blocking struct {
	MR, NR, KC, MC, NC int64
}

// Validate returns an error that names the first size below 1.
func (b Blocking) Validate() error {
	for _, size := range []struct {
		name  string
		value int64
	}{{"MR", b.MR}, {"NR", b.NR}, {"KC", b.KC}, {"MC", b.MC}, {"NC", b.NC}} {
		if size.value < 1 {
			return arg.Errorf(size.name, size.value, "cache: blocking %s is %d: it must be at least 1", size.name, size.value)
		}
	}
	return nil
}

// Packed sends the accesses of the multiply with packed panels, five loops
// round a microkernel:
//
//	for jc over blocks of NC columns of B and C {
//		for ic over blocks of MC rows of A and C {
//			for pc over blocks of KC of the depth {
//				pack the block of B: panels of KC×NR, one after another
//				for ir over panels of MR rows {
//					pack the panel of A, MR×KC
//					for jr over panels of NR columns {
//						C tile (+)= panel of A · panel of B
//	} } } } }
//
// Packing reads and writes each element once. The microkernel reads, for each
// step of the depth, MR elements of A and NR of B, keeps the tile of C in
// registers, and writes it at the end; from the second block of the depth on it
// reads C first. The two buffers lie behind the matrices. A vector instruction
// would read several elements in one access; the lines are the same.
func (l Layout) Packed(to Sink, b Blocking) {
	arg.Check(l.Validate())
	arg.Check(b.Validate())
	l.FLOPs()
	b.MR, b.NR, b.KC = min(b.MR, l.M), min(b.NR, l.N), min(b.KC, l.K)
	b.MC, b.NC = min(b.MC, l.M), min(b.NC, l.N)
	room := num.Sum{{l.end()}, {3, pageBytes}, {l.ElemBytes, b.KC, b.MR}, {l.ElemBytes, b.KC, b.NC}, {l.ElemBytes, b.KC, b.NR}}
	if _, ok := room.Int64(); !ok {
		arg.Refuse("blocking", b, "cache: the packed panels end at address %s: they must end before 2^63: use smaller blocks", room.Big())
	}
	k := packed{Layout: l, Blocking: b, sender: l.sender(to)}
	k.panelA = pages(l.end())
	k.blockB = pages(k.panelA + b.KC*b.MR*l.ElemBytes)
	for jc := int64(0); jc < l.N; jc += min(b.NC, l.N-jc) {
		for ic := int64(0); ic < l.M; ic += min(b.MC, l.M-ic) {
			for pc := int64(0); pc < l.K; pc += min(b.KC, l.K-pc) {
				k.block(ic, jc, pc, min(b.MC, l.M-ic), min(b.NC, l.N-jc), min(b.KC, l.K-pc))
			}
		}
	}
}

type packed struct {
	Layout
	Blocking
	*sender
	panelA, blockB int64 // addresses of the packed copies
}

// block does the two inner loops for one block of C and of the depth.
func (k packed) block(ic, jc, pc, mc, nc, kc int64) {
	for jr := int64(0); jr < nc; jr += min(k.NR, nc-jr) {
		for p := range kc {
			k.read(k.b(pc+p, jc+jr), 1).write(k.inB(kc, jr, p), 1).times(min(k.NR, nc-jr))
		}
	}
	for ir := int64(0); ir < mc; ir += min(k.MR, mc-ir) {
		rows := min(k.MR, mc-ir)
		for r := range rows {
			k.read(k.a(ic+ir+r, pc), 1).write(k.panelA+r*kc*k.s, 1).times(kc)
		}
		for jr := int64(0); jr < nc; jr += min(k.NR, nc-jr) {
			cols := min(k.NR, nc-jr)
			for p := range kc {
				k.read(k.panelA+p*k.s, kc).times(rows)
				k.read(k.inB(kc, jr, p), 1).times(cols)
			}
			for r := range rows {
				c := k.c(ic+ir+r, jc+jr)
				if pc > 0 {
					k.read(c, 1)
				}
				k.write(c, 1).times(cols)
			}
		}
	}
}

// inB is the address of row p of the packed panel of B whose first column in
// the block is jr.
func (k packed) inB(kc, jr, p int64) int64 { return k.blockB + (jr*kc+p*k.NR)*k.s }
