package matmul

//go:generate sh -c "cd ../_asm && go run ./matmul ../matmul"

import (
	"fmt"
	"runtime"
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

// Options choose how the packed multiply runs. The zero value is the best
// kernel on all cores.
type Options struct {
	ISA      string    // one of [ISAs]; "" is the best
	Threads  int       // at most [MaxThreads]; 0 is GOMAXPROCS at the time of each call, which follows a cgroup's quota
	Blocking *Blocking // nil is what [NewBlocking] gives for [HostCaches]; MR and NR must be the kernel's
}

// MaxThreads is the most threads that one multiply uses.
const MaxThreads = 1024

// New returns C = A·B and C += A·B as the options say. For a given number of
// threads the results are the same bit for bit from run to run.
func New[T Float](o Options) (multiply, add Func[T], err error) {
	p, err := choose[T](o)
	if err != nil {
		return nil, nil, err
	}
	return p.fn(o.Threads, false), p.fn(o.Threads, true), nil
}

// choose returns the pool that the options ask for.
func choose[T Float](o Options) (*pool[T], error) {
	if o.Threads < 0 || o.Threads > MaxThreads {
		return nil, fmt.Errorf("matmul: threads is %d: it must be from 1 to %d, or 0 for all cores", o.Threads, MaxThreads)
	}
	p, err := poolOf[T](o.ISA)
	if err != nil {
		return nil, err
	}
	if o.Blocking != nil {
		if err := o.Blocking.Validate(); err != nil {
			return nil, err
		}
		k := p.engine.kern
		if o.Blocking.MR != k.mr || o.Blocking.NR != k.nr {
			return nil, fmt.Errorf("matmul: blocking has tiles of %d×%d: the %s kernel's are %d×%d",
				o.Blocking.MR, o.Blocking.NR, k.isa, k.mr, k.nr)
		}
		e := *p.engine
		e.blk, e.thin = *o.Blocking, *o.Blocking
		p = &pool[T]{engine: &e}
	}
	return p, nil
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

func (p *pool[T]) fn(threads int, add bool) Func[T] {
	return func(m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
		return p.call(threads, add, m, n, k, a, lda, b, ldb, c, ldc)
	}
}

// call checks the arguments.
func (p *pool[T]) call(threads int, add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	if err := checkGEMM(m, n, k, a, lda, b, ldb, c, ldc); err != nil {
		return err
	}
	p.work(threads, add, m, n, k, a, lda, b, ldb, c, ldc)
	return nil
}

// work settles what has no work in it, and does the rest.
func (p *pool[T]) work(threads int, add bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	switch {
	case m == 0 || n == 0:
	case k == 0:
		if !add {
			zeroMatrix(m, n, c, ldc)
		}
	case p.engine.isSmall(m, n, k):
		p.engine.direct(maxKC, add, m, n, k, a, lda, b, ldb, c, ldc)
	default:
		if threads == 0 {
			threads = min(runtime.GOMAXPROCS(0), MaxThreads)
		}
		p.do(threads, add, m, n, k, a, lda, b, ldb, c, ldc)
	}
}

// Multiply computes C = A·B with the best kernel on all cores. See [Func].
func Multiply[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return pools[T]()[0].call(0, false, m, n, k, a, lda, b, ldb, c, ldc)
}

// AddMultiply computes C += A·B as [Multiply] does.
func AddMultiply[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return pools[T]()[0].call(0, true, m, n, k, a, lda, b, ldb, c, ldc)
}

// SIMD computes C = A·B with the best kernel on one thread. See [Func].
func SIMD[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return pools[T]()[0].call(1, false, m, n, k, a, lda, b, ldb, c, ldc)
}

// AddSIMD computes C += A·B as [SIMD] does.
func AddSIMD[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return pools[T]()[0].call(1, true, m, n, k, a, lda, b, ldb, c, ldc)
}

// Packed computes C = A·B with packed panels and the plain Go kernel on one
// thread. See [Func].
func Packed[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return goPool[T]().call(1, false, m, n, k, a, lda, b, ldb, c, ldc)
}

// AddPacked computes C += A·B as [Packed] does.
func AddPacked[T Float](m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) error {
	return goPool[T]().call(1, true, m, n, k, a, lda, b, ldb, c, ldc)
}

func goPool[T Float]() *pool[T] {
	ps := pools[T]()
	return ps[len(ps)-1]
}
