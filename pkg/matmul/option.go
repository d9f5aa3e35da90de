package matmul

import (
	"fmt"
	"runtime"
)

// An Option is one wish for how a product runs; the zero value is none. A later
// option of a kind takes the place of an earlier one. What an option says of
// another kind of product than the one that it is given to changes nothing.
type Option struct {
	team    *Team
	threads int
	int8    bool
	isa     string
	beta    float64
	blocks  Blocking
	tuning  Tuning
}

// OnTeam runs the product on a team's threads. A nil team is none.
func OnTeam(t *Team) Option { return Option{team: t} }

// Threads runs the product on so many threads, at most [MaxThreads]; 0 is
// GOMAXPROCS at the time of the call. Where there is a team, it decides.
func Threads(n int) Option { return Option{threads: n} }

// Beta adds β times what the result held before, as BLAS does: with 0, the
// default, that is not read, whatever it is.
func Beta(beta float64) Option { return Option{beta: beta} }

// ISA runs the product with the kernels of an instruction set, one of [ISAs]; ""
// is the best.
func ISA(name string) Option { return Option{isa: name} }

// Blocks runs the packed multiply in these blocks, not in those that [NewBlocking]
// gives for [HostCaches], however few rows there are: MR and NR must be the kernel's.
// Blocks may be as large as the matrices, which leaves the loops without blocks.
func Blocks(b Blocking) Option { return Option{blocks: b} }

// Int8Activations lets a product with weights of Q8_0, Q4_0 or Q4_1 round each 32
// activations that meet a block of weights to 8 bits: with M the largest
// magnitude among them, to the nearest multiple of M/127, so that an activation
// moves by M/254 at most, but for the rounding of M/127 and of the quotient (where
// M/127 is subnormal, to 0). The products of a block are summed exactly then. An
// activation that is not finite makes NaN of all results of its row. With other
// formats it changes nothing.
func Int8Activations() Option { return Option{int8: true} }

func settle(opts []Option) (Option, error) {
	var all Option
	for _, o := range opts {
		if o.team != nil {
			all.team = o.team
		}
		if o.threads != 0 {
			all.threads = o.threads
		}
		if o.tuning != (Tuning{}) {
			all.tuning = o.tuning
		}
		if o.blocks != (Blocking{}) {
			all.blocks = o.blocks
		}
		if o.isa != "" {
			all.isa = o.isa
		}
		if o.beta != 0 {
			all.beta = o.beta
		}
		all.int8 = all.int8 || o.int8
	}
	if all.threads < 0 || all.threads > MaxThreads {
		return all, fmt.Errorf("matmul: threads is %d: it must be from 1 to %d, or 0 for all cores", all.threads, MaxThreads)
	}
	return all, nil
}

// most returns how many threads may work at once.
func (o *Option) most() int {
	switch {
	case o.team != nil:
		return o.team.Threads()
	case o.threads == 0:
		return min(runtime.GOMAXPROCS(0), MaxThreads)
	}
	return o.threads
}

// serial returns the FLOPs below which one thread is best: much less with a team
// than where another thread must be started, for which they are given.
func (o *Option) serial(starting int) int {
	if o.team != nil {
		return min(starting, 3e5)
	}
	return starting
}

// do calls f for n parts on the threads of the team, or on threads of its own.
func (o *Option) do(s *spawned, n, threads int, f func(part, thread int)) {
	if o.team != nil {
		o.team.Do(n, f)
	} else {
		s.do(n, threads, f)
	}
}
