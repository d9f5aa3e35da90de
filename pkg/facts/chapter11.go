package facts

import (
	"memorywall/pkg/chips"
	"memorywall/pkg/roofline"
	"memorywall/pkg/serving"
	"memorywall/pkg/transformer"
)

// onA100 is a preset in 2 bytes on the reference chip.
func onA100(model string) serving.Setup {
	return serving.Setup{Model: transformer.Preset(model), Storage: transformer.Same("FP16"),
		Chip: serving.On(chips.Named(roofline.A100().Name), "FP16"), Chips: 1}
}

// The numbers of the chapter on whole models.
func chapter11(f *Group) {
	fp16 := transformer.Named("FP16")
	toy := transformer.Model{Name: "toy", Layers: 2, Width: 8, Heads: 4, KVHeads: 2, HeadDim: 2, FFN: 16, Gated: true, Vocab: 32, Norms: 2}
	p := toy.Params()
	f.add("hand_ffn", toy.FFN, "hand_vocab", toy.Vocab)
	for _, part := range toy.Parts() {
		switch part.Name {
		case transformer.Attention:
			f.add("hand_attention", part.Params, "hand_attention_layer", part.Params/toy.Layers)
		case transformer.FeedForward:
			f.add("hand_feed_forward", part.Params)
			f.add("hand_feed_forward_layer", part.Params/toy.Layers)
		case transformer.NormPart:
			f.add("hand_norms", part.Params)
		case transformer.InputTable:
			f.add("hand_table", part.Params)
		}
	}
	f.add("hand_params", p.Total, "hand_read", p.Read, "hand_kv_elements", toy.KVElems())
	f.add("hand_kv_bytes", toy.KVBytesPerToken(fp16), "hand_kv_bytes_3", toy.KVBytes(3, fp16))
	own := toy
	own.KVHeads = own.Heads
	f.add("hand_kv_bytes_own", own.KVBytesPerToken(fp16))

	s := onA100("llama-3-8b")
	m := s.Model
	p = m.Params()
	f.add("layers", m.Layers, "heads", m.Heads, "kv_heads", m.KVHeads, "head_dim", m.HeadDim)
	f.add("read", p.Read, "weights", fp16.Size(p.Total), "kv", m.KVBytesPerToken(fp16))
	const context, gib = 4096, 1 << 30
	f.add("context", context, "request", m.KVBytes(context, fp16))
	own = m
	own.KVHeads = own.Heads
	f.add("kv_own", own.KVBytesPerToken(fp16))
	for _, id := range []string{"llama-3-70b", "deepseek-v3"} {
		f.add("kv_"+id, transformer.Preset(id).KVBytesPerToken(fp16))
	}
	f.add("kv_405b_16000", float64(transformer.Preset("llama-3-405b").KVBytes(16000, fp16))/gib)
	f.add("tokens_16000", 16000, "published_405b", 15.38)
	f.add("kv_405b_128000", float64(transformer.Preset("llama-3-405b").KVBytes(128_000, fp16))/gib)
	f.add("tokens_128000", 128_000, "published_405b_long", 123.05)

	one := s.Answer(serving.Ask{Batch: 1, Context: context, Prompt: 2048})
	f.add("prompt", 2048, "ttft_ms", *one.TTFT*1e3, "one_ms", one.TPOT*1e3)
	b64 := s.Answer(serving.Ask{Batch: 64, Context: context})
	f.add("b64_kv_gb", b64.ChipKV/1e9, "b64_ms", b64.TPOT*1e3, "b64_all", b64.All)
	f.add("gain_64", b64.All/one.All)
	// The most tokens/s that a context leaves, however large the batch.
	f.add("most_4096", s.Chip.Bandwidth/float64(m.KVBytes(context, fp16)))
	batch, _ := s.RidgeBatch(1)
	f.add("ridge_1", batch)
	f.add("ridge_last", first(func(context int64) bool { _, ok := s.RidgeBatch(context); return !ok })-1)
	cross, _ := serving.Crossover(float64(p.Total), 2, 0, 0, s.Chip.Peak, s.Chip.Bandwidth)
	f.add("crossover", cross)
	f.add("crossover_none", first(func(context int64) bool {
		_, ok := serving.Crossover(float64(p.Total), 2, float64(m.KVBytesPerToken(fp16)), float64(context), s.Chip.Peak, s.Chip.Bandwidth)
		return !ok
	}))

	f.add("label", s.Chip.Memory, "fits", s.MaxRequests(context))
	f.add("fits_real", (float64(s.Chip.Memory)-float64(fp16.Size(p.Total)))/float64(m.KVBytes(context, fp16)))
	small := s
	small.Storage.Weights = transformer.Named("Q4_0")
	f.add("q4_bits", small.Storage.Weights.Bits())
	f.add("q4_weights", small.Storage.Weights.Size(p.Total))
	f.add("q4_fits", small.MaxRequests(context))
	a := small.Answer(serving.Ask{Batch: 1, Context: context})
	f.add("q4_ms", a.TPOT*1e3, "q4_times", one.TPOT/a.TPOT)
	a = small.Answer(serving.Ask{Batch: 64, Context: context})
	f.add("q4_b64_times", b64.TPOT/a.TPOT)
	short, _ := small.RidgeBatch(1)
	f.add("q4_ridge", short)
	half := s
	half.Storage.KV = transformer.Named("FP8")
	f.add("kv8_fits", half.MaxRequests(context))

	// A mixture of experts, and published rates (gpt-fast's README, one A100).
	x := transformer.Preset("mixtral-8x7b")
	q := x.Params()
	const w = 2039e9
	f.add("mix_total", q.Total, "mix_active", q.Active, "mix_read", q.Read)
	f.add("mix_bound_total", w/float64(q.Total), "mix_bound_read", w/float64(q.Read))
	const mixed = 97.92
	f.add("mix_measured", mixed)
	mbu, _ := serving.MBU(mixed, float64(q.Read), w)
	f.add("mix_mbu", mbu)
	above, _ := serving.MBU(mixed, float64(q.Total), w)
	f.add("mix_above", above, "mix_touched_8", x.Touched(8))
	d := transformer.Preset("deepseek-v3")
	f.add("ds_experts", d.Experts.Total, "ds_touched_32", d.Touched(32))
	f.add("ds_touched_128", d.Touched(128), "b32", 32, "b64", 64, "b128", 128)
	f.add("intensity_8b", m.DecodeIntensity(fp16), "intensity_mla", d.DecodeIntensity(fp16))
	f.add("flashmla", 256, "h800_ridge", 865/3.35)

	seven := transformer.Preset("llama-2-7b")
	const wide, narrow, faster = 104.9, 196.80, 862.69e9 // tokens/s in 16 and in 4 bits, bytes/s of the latter
	mbu16, _ := serving.MBU(wide, 1397.31e9/wide, w)
	mbu4, _ := serving.MBU(narrow, faster/narrow, w)
	f.add("fast_rate_16", wide, "fast_mbu_16", mbu16, "fast_mbu_4", mbu4)
	f.add("fast_gain_4", narrow/wide)
	f.add("fast_bits_4", 8*faster/narrow/float64(seven.Params().Read))

	f.add("q1_bytes", float64(transformer.Preset("llama-3-70b").KVBytes(8*context, fp16))/gib)
	f.add("q1_tokens", 8*context)
	f.add("q1_long", float64(transformer.Preset("llama-3-70b").KVBytes(128_000, fp16))/gib)
	ownHeads := transformer.Preset("llama-3-70b")
	ownHeads.KVHeads = ownHeads.Heads
	f.add("q1_own", ownHeads.KVBytes(8*context, fp16), "q1_published", 10.4)
	f.add("q1_published_own", 32, "gib_power", 30, "sixteen", 16)
	seventy := serving.Setup{Model: transformer.Preset("llama-3-70b"), Storage: transformer.Same("FP16"), Chip: serving.On(chips.Named("H100 SXM"), "FP16"), Chips: 4}
	f.add("q2_requests", seventy.MaxRequests(context))
	seventy.Storage = transformer.Same("FP8")
	f.add("q2_requests_8", seventy.MaxRequests(context), "q2_published", 360)
	matrixBatch := func(ridge float64, n int64, weights string) float64 {
		b, _ := transformer.MatrixBatch(ridge, n, n, transformer.Named(weights), transformer.Named("bf16"))
		return b
	}
	v5e := func(n int64) float64 { return matrixBatch(1.97e14/8.2e11, n, "int8") }
	f.add("q3_small", v5e(1024), "q3_n_small", 1024)
	f.add("q3_a100", matrixBatch(roofline.A100().Ridge(), 4096, "bf16"))
	f.add("q3_a100_one", matrixBatch(roofline.A100().Ridge(), 4096, "int8"))
	f.add("q3_a100_half", matrixBatch(roofline.A100().Ridge(), 4096, "int4"))
	f.add("q3_batch", v5e(4096), "q3_whole", 137, "q3_limit", v5e(1<<60), "q3_n", 4096)
	flash := transformer.PrefillAttention{Tokens: 2048, HeadDim: 128}
	f.add("q4_flash", flash.Intensity(fp16))
	flash.Spilled = true
	f.add("q4_spilled", flash.Intensity(fp16), "q4_d", 128, "q5_rate", 100)
	book, _ := serving.MBU(100, 2*modelSize, 2e12)
	f.add("q5_used", 100*2*modelSize, "q5_mbu", 100*book, "q5_published", 700)
	f.add("q6_wh", 512*serving.JoulesPerToken(400, 1900)/3600)
	f.add("q6_mwh", serving.JoulesPerToken(400, 1900)/3.6)
	f.add("q6_j", serving.JoulesPerToken(400, 1900), "q6_rate", 1900, "q6_watts", 400)
	f.add("q6_tokens", 512, "q6_one", 1165, "q6_many", 22286)
	f.add("q6_cost", serving.CostPerMillion(2, 1165))
	f.add("q6_cost_many", serving.CostPerMillion(2, 22286))
	tiny := seven.Decode(1, 1).Bytes(transformer.Same("FP16"))
	f.add("q7_share", 100*tiny.Activations/tiny.Weights, "q7_batch", 512)
	full := seven.Decode(512, 1)
	moved := full.Bytes(transformer.Same("FP16"))
	f.add("q7_intensity", float64(full.FLOPs())/(moved.Weights+moved.KV+moved.Activations))
	f.add("q7_published", 512/(1+0.1*512), "q7_tenth", 0.1)
	long := s
	long.Storage.KV = transformer.Named("FP8")
	f.add("q9_context", s.MaxContext(8), "q9_context_8", long.MaxContext(8))
	tool := serving.Setup{Model: m, Storage: transformer.Same("BF16"), Chip: serving.On(chips.Named("H100 SXM"), "BF16"), Chips: 1}
	tool.Chip.Peak /= 2
	const tax = 32 * 10e-6
	step := tool.Answer(serving.Ask{Batch: 1, Context: 2048, Prompt: 2048})
	f.add("q8_published", 70.97)
	f.add("q8_each", 1e3*((2*float64(m.Params().Total)+float64(m.KVBytes(2048, fp16)))/tool.Chip.Bandwidth+tax))
	f.add("q8_tax", 1e3*tax, "q8_first_less", 1e3**step.TTFT)
	f.add("q8_each_less", 1e3*(step.Memory+tax))
}
