package matmul

import "fmt"

// MultiplyBatch computes count products C = A·B of one shape, or C = A·B + β·C with
// the option [Beta]: a holds count matrices of m×k, one after the other without
// gaps, b as many of k×n, and c of m×n. The arguments are checked once, and the
// threads called once and given several products each, as long as a product is
// not large enough for all of them. It returns an error, and leaves c alone, in the
// cases of [Func].
func MultiplyBatch[T Float](count, m, n, k int, a, b, c []T, opts ...Option) error {
	p, o, err := choose[T](opts)
	if err != nil {
		return err
	}
	if err := notNegative("count", count); err != nil || count == 0 {
		return err
	}
	if err := checkGEMM(m, n, k, a, k, b, n, c, n); err != nil {
		return err
	}
	// As one tall matrix each.
	for _, x := range []struct {
		name       string
		x          []T
		rows, cols int
	}{{"a", a, m, k}, {"b", b, k, n}, {"c", c, m, n}} {
		each := x.rows * x.cols
		if each > 0 && len(x.x)/each < count {
			return fmt.Errorf("matmul: %s has %d elements: count = %d matrices of %d×%d need more", x.name, len(x.x), count, x.rows, x.cols)
		}
	}
	c = c[:count*m*n]
	if !apart(c, len(c), a, count*m*k) || !apart(c, len(c), b, count*k*n) {
		return fmt.Errorf("matmul: c shares memory with a or b: the results must lie apart from the inputs")
	}
	if m == 0 || n == 0 {
		return nil
	}
	if k == 0 || o.beta != 0 && o.beta != 1 {
		scale(T(o.beta), count*m, n, c, n)
	}
	if k == 0 {
		return nil
	}
	if o.beta != 0 {
		o.beta = 1
	}
	serial := o.serial(p.engine.serialFLOPs())
	if !p.engine.isSmall(m, n, k) || 2*m*n*k > serial {
		for i := range count {
			p.work(&o, m, n, k, a[i*m*k:], k, b[i*k*n:], n, c[i*m*n:], n)
		}
		return nil
	}
	threads := 1
	if count > serial/(2*m*n*k) {
		threads = min(o.most(), count)
	}
	if threads == 1 {
		p.engine.batch(o.beta != 0, count, m, n, k, a, b, c)
		return nil
	}
	// A few parts for each thread, in case one loses its core.
	each := blocksOf(count, 4*threads)
	var s spawned
	o.do(&s, blocksOf(count, each), threads, func(part, _ int) {
		i := part * each
		p.engine.batch(o.beta != 0, min(each, count-i), m, n, k, a[i*m*k:], b[i*k*n:], c[i*m*n:])
	})
	return nil
}

// batch computes small products one after the other: where one tile holds C, with
// nothing but the tile.
func (e *engine[T]) batch(add bool, count, m, n, k int, a, b, c []T) {
	kern := e.kern
	if k > maxKC || n > kern.nr || m > kern.tall || n > kern.nr/2 && m > kern.few && m != kern.mr {
		for i := range count {
			e.direct(maxKC, add, m, n, k, a[i*m*k:], k, b[i*k*n:], n, c[i*m*n:], n)
		}
		return
	}
	tile := kern.tile
	for i := range count {
		ap, bp := &a[i*m*k], &b[i*k*n]
		tile(k, ap, k, bp, n, &c[i*m*n], n, m, n, add, ap, bp, 0, nil)
	}
}
