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
func init() {
	register(func(add func(key string, value float64)) {
		fp16 := transformer.Named("FP16")
		toy := transformer.Model{Name: "toy", Layers: 2, Width: 8, Heads: 4, KVHeads: 2, HeadDim: 2, FFN: 16, Gated: true, Vocab: 32, Norms: 2}
		p := toy.Params()
		add("ch11.hand_ffn", float64(toy.FFN))
		add("ch11.hand_vocab", float64(toy.Vocab))
		for _, part := range toy.Parts() {
			switch part.Name {
			case transformer.Attention:
				add("ch11.hand_attention", float64(part.Params))
				add("ch11.hand_attention_layer", float64(part.Params/toy.Layers))
			case transformer.FeedForward:
				add("ch11.hand_feed_forward", float64(part.Params))
				add("ch11.hand_feed_forward_layer", float64(part.Params/toy.Layers))
			case transformer.NormPart:
				add("ch11.hand_norms", float64(part.Params))
			case transformer.InputTable:
				add("ch11.hand_table", float64(part.Params))
			}
		}
		add("ch11.hand_params", float64(p.Total))
		add("ch11.hand_read", float64(p.Read))
		add("ch11.hand_kv_elements", float64(toy.KVElems()))
		add("ch11.hand_kv_bytes", float64(toy.KVBytesPerToken(fp16)))
		add("ch11.hand_kv_bytes_3", float64(toy.KVBytes(3, fp16)))
		own := toy
		own.KVHeads = own.Heads
		add("ch11.hand_kv_bytes_own", float64(own.KVBytesPerToken(fp16)))

		s := onA100("llama-3-8b")
		m := s.Model
		p = m.Params()
		add("ch11.layers", float64(m.Layers))
		add("ch11.heads", float64(m.Heads))
		add("ch11.kv_heads", float64(m.KVHeads))
		add("ch11.head_dim", float64(m.HeadDim))
		add("ch11.read", float64(p.Read))
		add("ch11.weights", float64(fp16.Size(p.Total)))
		add("ch11.kv", float64(m.KVBytesPerToken(fp16)))
		const context, gib = 4096, 1 << 30
		add("ch11.context", context)
		add("ch11.request", float64(m.KVBytes(context, fp16)))
		own = m
		own.KVHeads = own.Heads
		add("ch11.kv_own", float64(own.KVBytesPerToken(fp16)))
		for _, id := range []string{"llama-3-70b", "deepseek-v3"} {
			add("ch11.kv_"+id, float64(transformer.Preset(id).KVBytesPerToken(fp16)))
		}
		add("ch11.kv_405b_16000", float64(transformer.Preset("llama-3-405b").KVBytes(16000, fp16))/gib)
		add("ch11.tokens_16000", 16000)
		add("ch11.published_405b", 15.38)
		add("ch11.kv_405b_128000", float64(transformer.Preset("llama-3-405b").KVBytes(128_000, fp16))/gib)
		add("ch11.tokens_128000", 128_000)
		add("ch11.published_405b_long", 123.05)

		one := s.Answer(serving.Ask{Batch: 1, Context: context, Prompt: 2048})
		add("ch11.prompt", 2048)
		add("ch11.ttft_ms", *one.TTFT*1e3)
		add("ch11.one_ms", one.TPOT*1e3)
		b64 := s.Answer(serving.Ask{Batch: 64, Context: context})
		add("ch11.b64_kv_gb", b64.ChipKV/1e9)
		add("ch11.b64_ms", b64.TPOT*1e3)
		add("ch11.b64_all", b64.All)
		add("ch11.gain_64", b64.All/one.All)
		// The most tokens/s that a context leaves, however large the batch.
		add("ch11.most_4096", s.Chip.Bandwidth/float64(m.KVBytes(context, fp16)))
		batch, _ := s.RidgeBatch(1)
		add("ch11.ridge_1", float64(batch))
		last := int64(1)
		for _, ok := s.RidgeBatch(last + 1); ok; _, ok = s.RidgeBatch(last + 1) {
			last++
		}
		add("ch11.ridge_last", float64(last))
		cross, _ := serving.Crossover(float64(p.Total), 2, 0, 0, s.Chip.Peak, s.Chip.Bandwidth)
		add("ch11.crossover", cross)
		none := 1.0
		for {
			if _, ok := serving.Crossover(float64(p.Total), 2, float64(m.KVBytesPerToken(fp16)), none, s.Chip.Peak, s.Chip.Bandwidth); !ok {
				break
			}
			none++
		}
		add("ch11.crossover_none", none)

		add("ch11.label", float64(s.Chip.Memory))
		add("ch11.fits", float64(s.MaxRequests(context)))
		add("ch11.fits_real", (float64(s.Chip.Memory)-float64(fp16.Size(p.Total)))/float64(m.KVBytes(context, fp16)))
		small := s
		small.Storage.Weights = transformer.Named("Q4_0")
		add("ch11.q4_bits", small.Storage.Weights.Bits())
		add("ch11.q4_weights", float64(small.Storage.Weights.Size(p.Total)))
		add("ch11.q4_fits", float64(small.MaxRequests(context)))
		a := small.Answer(serving.Ask{Batch: 1, Context: context})
		add("ch11.q4_ms", a.TPOT*1e3)
		add("ch11.q4_times", one.TPOT/a.TPOT)
		a = small.Answer(serving.Ask{Batch: 64, Context: context})
		add("ch11.q4_b64_times", b64.TPOT/a.TPOT)
		short, _ := small.RidgeBatch(1)
		add("ch11.q4_ridge", float64(short))
		half := s
		half.Storage.KV = transformer.Named("FP8")
		add("ch11.kv8_fits", float64(half.MaxRequests(context)))

		// A mixture of experts, and published rates (gpt-fast's README, one A100).
		x := transformer.Preset("mixtral-8x7b")
		q := x.Params()
		const w = 2039e9
		add("ch11.mix_total", float64(q.Total))
		add("ch11.mix_active", float64(q.Active))
		add("ch11.mix_read", float64(q.Read))
		add("ch11.mix_bound_total", w/float64(q.Total))
		add("ch11.mix_bound_read", w/float64(q.Read))
		const mixed = 97.92
		add("ch11.mix_measured", mixed)
		mbu, _ := serving.MBU(mixed, float64(q.Read), w)
		add("ch11.mix_mbu", mbu)
		above, _ := serving.MBU(mixed, float64(q.Total), w)
		add("ch11.mix_above", above)
		add("ch11.mix_touched_8", x.Touched(8))
		d := transformer.Preset("deepseek-v3")
		add("ch11.ds_experts", float64(d.Experts.Total))
		add("ch11.ds_touched_32", d.Touched(32))
		add("ch11.ds_touched_128", d.Touched(128))
		add("ch11.b32", 32)
		add("ch11.b64", 64)
		add("ch11.b128", 128)
		add("ch11.intensity_8b", m.DecodeIntensity(fp16))
		add("ch11.intensity_mla", d.DecodeIntensity(fp16))
		add("ch11.flashmla", 256)
		add("ch11.h800_ridge", 865/3.35)

		seven := transformer.Preset("llama-2-7b")
		const wide, narrow, faster = 104.9, 196.80, 862.69e9 // tokens/s in 16 and in 4 bits, bytes/s of the latter
		mbu16, _ := serving.MBU(wide, 1397.31e9/wide, w)
		mbu4, _ := serving.MBU(narrow, faster/narrow, w)
		add("ch11.fast_rate_16", wide)
		add("ch11.fast_mbu_16", mbu16)
		add("ch11.fast_mbu_4", mbu4)
		add("ch11.fast_gain_4", narrow/wide)
		add("ch11.fast_bits_4", 8*faster/narrow/float64(seven.Params().Read))

		add("ch11.q1_bytes", float64(transformer.Preset("llama-3-70b").KVBytes(8*context, fp16))/gib)
		add("ch11.q1_tokens", 8*context)
		add("ch11.q1_long", float64(transformer.Preset("llama-3-70b").KVBytes(128_000, fp16))/gib)
		ownHeads := transformer.Preset("llama-3-70b")
		ownHeads.KVHeads = ownHeads.Heads
		add("ch11.q1_own", float64(ownHeads.KVBytes(8*context, fp16)))
		add("ch11.q1_published", 10.4)
		add("ch11.q1_published_own", 32)
		add("ch11.gib_power", 30)
		add("ch11.sixteen", 16)
		seventy := serving.Setup{Model: transformer.Preset("llama-3-70b"), Storage: transformer.Same("FP16"), Chip: serving.On(chips.Named("H100 SXM"), "FP16"), Chips: 4}
		add("ch11.q2_requests", float64(seventy.MaxRequests(context)))
		seventy.Storage = transformer.Same("FP8")
		add("ch11.q2_requests_8", float64(seventy.MaxRequests(context)))
		add("ch11.q2_published", 360)
		matrixBatch := func(ridge float64, n int64, weights string) float64 {
			b, _ := transformer.MatrixBatch(ridge, n, n, transformer.Named(weights), transformer.Named("bf16"))
			return b
		}
		v5e := func(n int64) float64 { return matrixBatch(1.97e14/8.2e11, n, "int8") }
		add("ch11.q3_small", v5e(1024))
		add("ch11.q3_n_small", 1024)
		add("ch11.q3_a100", matrixBatch(roofline.A100().Ridge(), 4096, "bf16"))
		add("ch11.q3_a100_one", matrixBatch(roofline.A100().Ridge(), 4096, "int8"))
		add("ch11.q3_a100_half", matrixBatch(roofline.A100().Ridge(), 4096, "int4"))
		add("ch11.q3_batch", v5e(4096))
		add("ch11.q3_whole", 137)
		add("ch11.q3_limit", v5e(1<<60))
		add("ch11.q3_n", 4096)
		flash := transformer.PrefillAttention{Tokens: 2048, HeadDim: 128}
		add("ch11.q4_flash", flash.Intensity(fp16))
		flash.Spilled = true
		add("ch11.q4_spilled", flash.Intensity(fp16))
		add("ch11.q4_d", 128)
		add("ch11.q5_rate", 100)
		book, _ := serving.MBU(100, 2*modelSize, 2e12)
		add("ch11.q5_used", 100*2*modelSize)
		add("ch11.q5_mbu", 100*book)
		add("ch11.q5_published", 700)
		add("ch11.q6_wh", 512*serving.JoulesPerToken(400, 1900)/3600)
		add("ch11.q6_j", serving.JoulesPerToken(400, 1900))
		add("ch11.q6_rate", 1900)
		add("ch11.q6_watts", 400)
		add("ch11.q6_tokens", 512)
		add("ch11.q6_one", 1165)
		add("ch11.q6_many", 22286)
		add("ch11.q6_cost", serving.CostPerMillion(2, 1165))
		add("ch11.q6_cost_many", serving.CostPerMillion(2, 22286))
		tiny := seven.Decode(1, 1).Bytes(transformer.Same("FP16"))
		add("ch11.q7_share", 100*tiny.Activations/tiny.Weights)
		add("ch11.q7_batch", 512)
		full := seven.Decode(512, 1)
		moved := full.Bytes(transformer.Same("FP16"))
		add("ch11.q7_intensity", float64(full.FLOPs())/(moved.Weights+moved.KV+moved.Activations))
		add("ch11.q7_published", 512/(1+0.1*512))
		add("ch11.q7_tenth", 0.1)
		long := s
		long.Storage.KV = transformer.Named("FP8")
		add("ch11.q9_context", float64(s.MaxContext(8)))
		add("ch11.q9_context_8", float64(long.MaxContext(8)))
		tool := serving.Setup{Model: m, Storage: transformer.Same("BF16"), Chip: serving.On(chips.Named("H100 SXM"), "BF16"), Chips: 1}
		tool.Chip.Peak /= 2
		const tax = 32 * 10e-6
		step := tool.Answer(serving.Ask{Batch: 1, Context: 2048, Prompt: 2048})
		add("ch11.q8_published", 70.97)
		add("ch11.q8_each", 1e3*((2*float64(m.Params().Total)+float64(m.KVBytes(2048, fp16)))/tool.Chip.Bandwidth+tax))
		add("ch11.q8_tax", 1e3*tax)
		add("ch11.q8_first_less", 1e3**step.TTFT)
		add("ch11.q8_each_less", 1e3*(step.Memory+tax))
	})
}
