package matmul

// MulT computes y = x·w, the product with the weights turned: y of m×Cols, x of
// m×Rows, both row-major without gaps,
//
//	y[i*Cols+j] = Σ x[i*Rows+r] · w[r, j]
//
// on the thread of the caller, and y = x·w + β·y with the option [Beta]. For the
// rest it is as [Weights.Mul].
func (w Weights) MulT(y, x []float32, m int, opts ...Option) error {
	o, err := settle(opts)
	if err != nil {
		return err
	}
	k, err := weightKernelOf(o.isa)
	if err != nil {
		return err
	}
	if err := w.check(y, x, m, w.cols, w.rows); err != nil || m == 0 {
		return err
	}
	if o.beta != 0 && o.beta != 1 {
		for i := range y[:m*w.cols] {
			y[i] *= float32(o.beta)
		}
	}
	add := o.beta != 0
	blocks := w.cols / QuantBlock
	if k.turned[w.format] == nil {
		blocks = 0
	}
	for i := 0; i < m && blocks > 0; {
		n := 1
		for _, most := range k.turnedRows {
			if most <= m-i {
				n = most
				break
			}
		}
		k.turned[w.format](blocks, &w.data[0], w.rowBytes, w.rows, &x[i*w.rows], w.rows, &y[i*w.cols], w.cols, n, add)
		i += n
	}
	for done := blocks * QuantBlock; done < w.cols; done += QuantBlock {
		w.turnedGo(y, x, m, done, min(QuantBlock, w.cols-done), add)
	}
	return nil
}

// turnedGo is MulT for n columns from first on, at most [QuantBlock].
func (w Weights) turnedGo(y, x []float32, m, first, n int, add bool) {
	l := layouts[w.format]
	at := first / l.weights * l.bytes
	var buf [QuantBlock]float32
	for i := range m {
		var sums [QuantBlock]float32
		for r := range w.rows {
			decodeBlock(w.format, &buf, n, w.row(r)[at:])
			v := x[i*w.rows+r]
			for j := range n {
				sums[j] += v * buf[j]
			}
		}
		to := y[i*w.cols+first:][:n]
		for j := range to {
			if add {
				sums[j] += to[j]
			}
			to[j] = sums[j]
		}
	}
}

// decodeBlock decodes n weights. It calls no function through a pointer, so that
// dst can stay on the stack.
func decodeBlock(f WeightFormat, dst *[QuantBlock]float32, n int, src []byte) {
	switch f {
	case Float32:
		decodeFloat32(dst[:n], src)
	case BFloat16:
		decodeBFloat16(dst[:n], src)
	case Float16:
		decodeFloat16(dst[:n], src)
	case Q8_0:
		decodeQ8_0(dst[:n], src)
	case Q4_0:
		decodeQ4_0(dst[:n], src)
	case Q4_1:
		decodeQ4_1(dst[:n], src)
	}
}
