package facts

import "memorywall/pkg/transformer"

// The numbers of the chapter in which a model speaks: the counts of its shape, and
// an invented machine. Nothing measured is here.
func init() {
	register(func(add func(key string, value float64)) {
		const giga = 1e9
		m := transformer.Preset("smollm2-135m")
		parts := map[string]int64{}
		for _, p := range m.Parts() {
			parts[p.Name] = p.Read
		}
		q4, q8, fp16 := transformer.Named("Q4_1"), transformer.Named("Q8_0"), transformer.Named("FP16")
		matrices := parts[transformer.Attention] + parts[transformer.FeedForward]
		table, norms := parts[transformer.OutputLayer], parts[transformer.NormPart]
		weights := q4.Size(matrices) + q8.Size(table) + transformer.Named("FP32").Size(norms)
		kv := m.KVBytesPerToken(fp16)
		flops := 2 * (matrices + table)

		add("ch13.layers", float64(m.Layers))
		add("ch13.width", float64(m.Width))
		add("ch13.heads", float64(m.Heads))
		add("ch13.kv_heads", float64(m.KVHeads))
		add("ch13.head_dim", float64(m.HeadDim))
		add("ch13.ffn", float64(m.FFN))
		add("ch13.vocab", float64(m.Vocab))
		add("ch13.params", float64(m.Params().Total))
		add("ch13.matrix_weights", float64(matrices))
		add("ch13.matrix_bits", q4.Bits())
		add("ch13.matrix_bytes", float64(q4.Size(matrices)))
		add("ch13.table_weights", float64(table))
		add("ch13.table_bits", q8.Bits())
		add("ch13.table_bytes", float64(q8.Size(table)))
		add("ch13.norm_bytes", float64(transformer.Named("FP32").Size(norms)))
		add("ch13.step_bytes", float64(weights))
		add("ch13.kv_bytes", float64(kv))
		add("ch13.step_flops", float64(flops))
		add("ch13.block", float64(q4.Elems))
		add("ch13.block_bytes", float64(q4.Bytes))

		// An invented machine.
		const bandwidth, peak, context = 40, 400, 256
		step := float64(weights) + context*float64(kv)
		add("ch13.bandwidth", bandwidth)
		add("ch13.peak", peak)
		add("ch13.ridge", float64(peak)/bandwidth)
		add("ch13.rate", bandwidth*giga/float64(weights))
		add("ch13.context", context)
		add("ch13.context_bytes", context*float64(kv))
		add("ch13.context_rate", bandwidth*giga/step)
		add("ch13.intensity", float64(flops)/float64(weights))
		add("ch13.batch", float64(peak)/bandwidth/(float64(flops)/float64(weights)))
		add("ch13.prompt", 200)
		add("ch13.prompt_flops", 200*2*float64(matrices))
		add("ch13.prompt_ms", 1e3*200*2*float64(matrices)/(peak*giga))
		add("ch13.float32_bytes", float64(transformer.Named("FP32").Size(matrices+table+norms)))
		add("ch13.float32_over", float64(transformer.Named("FP32").Size(matrices+table+norms))/float64(weights))

		// The questions.
		add("ch13.q2_full_kv", float64(kv*m.Heads/m.KVHeads))
		add("ch13.q3_bandwidth", 20)
		add("ch13.q3_rate", 20*giga/float64(weights))
		add("ch13.q4_context", 4096)
		add("ch13.q4_bytes", 4096*float64(kv))
		add("ch13.q4_rate", bandwidth*giga/(float64(weights)+4096*float64(kv)))
		add("ch13.q5_context", 500)
		add("ch13.q5_flops", 500*2*float64(matrices))
		add("ch13.q7_kv", float64(m.KVBytesPerToken(q8)))
		add("ch13.q7_saved", 1-float64(m.KVBytesPerToken(q8))/float64(kv))
	})
}
