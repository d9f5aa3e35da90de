package matmul

//go:generate sh -c "cd ../_asm && go run ./matmul ../matmul"

import (
	"fmt"
	"strings"
	"sync"
)

// pools32 and pools64 hold one pool for each kernel that this CPU can run, the
// best first.
var (
	pools32 = sync.OnceValue(func() []*pool[float32] { return newPools(kernels32()) })
	pools64 = sync.OnceValue(func() []*pool[float64] { return newPools(kernels64()) })
)

// weightPool holds the kernels for weights, the best first, in the order of the
// pools.
var weightPool = sync.OnceValue(weightKernels)

// weightKernelOf returns the kernel of an instruction set, the best for "".
func weightKernelOf(isa string) (*weightKernel, error) {
	for _, k := range weightPool() {
		if isa == "" || k.isa == isa {
			return k, nil
		}
	}
	return nil, noISA(isa)
}

func noISA(isa string) error {
	return fmt.Errorf("matmul: ISA is %q: this machine has %s", isa, strings.Join(ISAs(), ", "))
}

func newPools[T Float](kernels []*kernel[T]) []*pool[T] {
	var ps []*pool[T]
	for _, k := range kernels {
		ps = append(ps, &pool[T]{engine: newEngine(k, HostCaches())})
	}
	return ps
}

func pools[T Float]() []*pool[T] {
	if ps, ok := any(pools32()).([]*pool[T]); ok {
		return ps
	}
	return any(pools64()).([]*pool[T])
}

// ISAs names the instruction sets whose kernels this CPU can run and this build
// holds, the best first. The last is "go", the plain Go kernel.
func ISAs() []string {
	var names []string
	for _, p := range pools32() {
		names = append(names, p.engine.kern.isa)
	}
	return names
}

// MaxThreads is the most threads that one multiply uses.
const MaxThreads = 1024

// New returns C = A·B + β·C as the options say, by default the best kernel on all
// cores and β = 0. For a given number of threads the results are the same bit for
// bit from run to run.
func New[T Float](opts ...Option) (Func[T], error) {
	p, o, err := choose[T](opts)
	if err != nil {
		return nil, err
	}
	return p.fn(o), nil
}

// choose returns the pool that the options ask for, and the options as one.
func choose[T Float](opts []Option) (*pool[T], Option, error) {
	o, err := settle(opts)
	if err != nil {
		return nil, o, err
	}
	p, err := poolOf[T](o.isa)
	if err != nil {
		return nil, o, err
	}
	if o.tuning == (Tuning{}) && o.blocks == (Blocking{}) {
		return p, o, nil
	}
	e := *p.engine // one of its own
	if o.tuning != (Tuning{}) {
		if err := o.tuning.Validate(); err != nil {
			return nil, o, err
		}
		e.tuning = o.tuning
	}
	if o.blocks != (Blocking{}) {
		if err := o.blocks.Validate(); err != nil {
			return nil, o, err
		}
		if o.blocks.MR != e.kern.mr || o.blocks.NR != e.kern.nr {
			return nil, o, fmt.Errorf("matmul: blocking has tiles of %d×%d: the %s kernel's are %d×%d",
				o.blocks.MR, o.blocks.NR, e.kern.isa, e.kern.mr, e.kern.nr)
		}
		e.blk, e.thin, e.fewRows = o.blocks, o.blocks, 0
	}
	return &pool[T]{engine: &e}, o, nil
}

// poolOf returns the pool of an instruction set, of the best for "".
func poolOf[T Float](isa string) (*pool[T], error) {
	for _, p := range pools[T]() {
		if isa == "" || p.engine.kern.isa == isa {
			return p, nil
		}
	}
	return nil, noISA(isa)
}

// BlockingOf returns the blocking that [New] uses by default with an
// instruction set, "" for the best. An A of few rows gets shallower blocks of B,
// or none.
func BlockingOf[T Float](isa string) (Blocking, error) {
	p, err := poolOf[T](isa)
	if err != nil {
		return Blocking{}, err
	}
	return p.engine.blk, nil
}

func (p *pool[T]) fn(o Option) Func[T] {
	return func(m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
		return p.call(&o, m, n, k, a, lda, b, ldb, c, ldc)
	}
}

// call checks the arguments.
func (p *pool[T]) call(o *Option, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if err := checkGEMM(m, n, k, a, lda, b, ldb, c, ldc); err != nil {
		return err
	}
	p.work(o, m, n, k, a, lda, b, ldb, c, ldc)
	return nil
}

// work settles what has no product in it, and does the rest.
func (p *pool[T]) work(o *Option, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	add := o.beta != 0
	if k == 0 && !add || add && o.beta != 1 {
		scale(T(o.beta), m, n, c, ldc)
	}
	switch {
	case k == 0:
	case p.engine.isSmall(m, n, k) && 2*m*n*k <= o.serial(p.engine.serialFLOPs()):
		p.engine.direct(maxKC, add, m, n, k, a, lda, b, ldb, c, ldc)
	default:
		p.do(o, add, m, n, k, a, lda, b, ldb, c, ldc)
	}
}

// What a call passes on is a pointer: small products take less time than copying it.
var allThreads, oneThread = Option{}, Threads(1)

// Multiply computes C = A·B with the best kernel on all cores. See [Func].
func Multiply[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return pools[T]()[0].call(&allThreads, m, n, k, a, lda, b, ldb, c, ldc)
}

// SIMD computes C = A·B with the best kernel on one thread. See [Func].
func SIMD[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return pools[T]()[0].call(&oneThread, m, n, k, a, lda, b, ldb, c, ldc)
}

// Packed computes C = A·B with packed panels and the plain Go kernel on one
// thread. See [Func].
func Packed[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	ps := pools[T]()
	return ps[len(ps)-1].call(&oneThread, m, n, k, a, lda, b, ldb, c, ldc)
}
