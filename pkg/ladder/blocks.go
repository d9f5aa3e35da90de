package ladder

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/num"
	"memorywall/pkg/machine"
	"memorywall/pkg/matmul"
	"memorywall/pkg/roofline"
)

// Way is one way to run the packed multiply: with which microkernel, on how many
// threads, in which blocks.
type Way struct {
	ISA     string           // one of [matmul.ISAs]; "" is the best
	Threads int              // 0 is all that Go programs use here
	Blocks  *matmul.Blocking // nil is those for the caches of this machine
	// NoBlocks makes one block as large as the matrices. Then all of B comes by
	// for each MR rows of A.
	NoBlocks bool
}

// bandFLOPs is the work of a call of [InBlocks] for each thread: of the plain kernel,
// and of the others.
const plainFLOPs, bandFLOPs = 2.3e9, 16e9

// InBlocks returns the packed multiply of n×n matrices as a step for [Time]. It
// computes a band of the rows of C over all of B, so that a call takes tenths of a
// second. Its traffic is that between memory and the last-level cache where the
// matrices are larger than that cache: in blocks as [Blocked] counts it; without, A
// once, and B once for each MR rows of A. It panics if w is not a way to run.
func InBlocks(name string, n int, w Way) Step {
	arg.Size("ladder", "n", int64(n))
	if w.ISA == "" {
		w.ISA = matmul.ISAs()[0]
	}
	blocks, err := matmul.BlockingOf[float32](w.ISA)
	if err != nil {
		arg.Refuse("ISA", w.ISA, "ladder: %w", err)
	}
	switch {
	case w.NoBlocks:
		blocks = Square(blocks, n)
	case w.Blocks != nil:
		blocks = *w.Blocks
	}
	if w.Threads == 0 {
		w.Threads = machine.ReadHost().GOMAXPROCS
	}
	multiply, err := matmul.New[float32](matmul.ISA(w.ISA), matmul.Threads(w.Threads), matmul.Blocks(blocks))
	if err != nil {
		arg.Refuse("blocks", blocks, "ladder: %w", err)
	}
	flops := bandFLOPs
	if w.ISA == "go" {
		flops = plainFLOPs
	}
	rows := min(n, max(1, w.Threads*int(inBand(flops)/(2*float64(n)*float64(n)))))
	if w.NoBlocks {
		blocks.MC = blocks.MR // B comes by once for each
	}
	moved := Blocked(roofline.GEMM{M: int64(rows), N: int64(n), K: int64(n), ElemBytes: 4}, blocks)
	return Step{Name: name, Multiply: multiply, Threads: w.Threads, Rows: rows, Bytes: moved.Bytes(4)}
}

// Panels returns blocks of the best kernel: KC elements along k, NC in panels of NR
// columns and MC in tiles of MR rows. It panics unless each is at least 1.
func Panels(kc, ncPanels, mcTiles int) *matmul.Blocking {
	arg.Size("ladder", "kc", int64(kc))
	arg.Size("ladder", "ncPanels", int64(ncPanels))
	arg.Size("ladder", "mcTiles", int64(mcTiles))
	b, err := matmul.BlockingOf[float32]("")
	if err != nil {
		arg.Refuse("ISA", "", "ladder: %w", err)
	}
	b.KC, b.NC, b.MC = kc, ncPanels*b.NR, mcTiles*b.MR
	return &b
}

// Square returns the blocks with KC and NC of side, rounded up to whole panels, and
// one block of C from top to bottom: what the block of B alone does.
func Square(b matmul.Blocking, side int) matmul.Blocking {
	b.KC = side
	b.NC = num.CeilDiv(side, b.NR) * b.NR
	b.MC = num.CeilDiv(maxSide, b.MR) * b.MR
	return b
}
