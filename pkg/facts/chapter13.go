package facts

import "memorywall/pkg/transformer"

// The numbers of the chapter in which a model speaks: the counts of its shape, and
// an invented machine. Nothing measured is here.
func chapter13(f *Group) {
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

	f.add("layers", m.Layers, "width", m.Width, "heads", m.Heads, "kv_heads", m.KVHeads)
	f.add("head_dim", m.HeadDim, "ffn", m.FFN, "vocab", m.Vocab, "params", m.Params().Total)
	f.add("matrix_weights", matrices, "matrix_bits", q4.Bits())
	f.add("matrix_bytes", q4.Size(matrices), "table_weights", table, "table_bits", q8.Bits())
	f.add("table_bytes", q8.Size(table), "norm_bytes", transformer.Named("FP32").Size(norms))
	f.add("step_bytes", weights, "kv_bytes", kv, "step_flops", flops, "block", q4.Elems)
	f.add("block_bytes", q4.Bytes)

	// An invented machine.
	const bandwidth, peak, context = 40, 400, 256
	step := float64(weights) + context*float64(kv)
	f.add("bandwidth", bandwidth, "peak", peak, "ridge", float64(peak)/bandwidth)
	f.add("rate", bandwidth*giga/float64(weights), "context", context)
	f.add("context_bytes", context*float64(kv), "context_rate", bandwidth*giga/step)
	f.add("intensity", float64(flops)/float64(weights))
	f.add("batch", float64(peak)/bandwidth/(float64(flops)/float64(weights)), "prompt", 200)
	f.add("prompt_flops", 200*2*float64(matrices))
	f.add("prompt_ms", 1e3*200*2*float64(matrices)/(peak*giga))
	f.add("float32_bytes", transformer.Named("FP32").Size(matrices+table+norms))
	f.add("float32_over", float64(transformer.Named("FP32").Size(matrices+table+norms))/float64(weights))

	// The questions.
	f.add("q2_full_kv", kv*m.Heads/m.KVHeads, "q3_bandwidth", 20)
	f.add("q3_rate", 20*giga/float64(weights), "q4_context", 4096, "q4_bytes", 4096*float64(kv))
	f.add("q4_rate", bandwidth*giga/(float64(weights)+4096*float64(kv)), "q5_context", 500)
	f.add("q5_flops", 500*2*float64(matrices), "q7_kv", m.KVBytesPerToken(q8))
	f.add("q7_saved", 1-float64(m.KVBytesPerToken(q8))/float64(kv))
}
