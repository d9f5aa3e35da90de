package facts

import (
	"fmt"
	"math"

	"memorywall/pkg/chips"
	"memorywall/pkg/roofline"
	"memorywall/pkg/transformer"
)

// The numbers of the chapter on decode and prefill.
func init() {
	register(func(add func(key string, value float64)) {
		chip := roofline.A100()
		s, ridge := chip.ElemBytes, chip.Ridge()
		layer := func(m, n int64) roofline.GEMM { return roofline.GEMM{M: m, N: n, K: n, ElemBytes: s} }
		add("ch06.n", size)

		// m = (sr/2) / (1 − sr/n) for k = n.
		sr := float64(s) * ridge
		add("ch06.batch_rule", sr/2)
		add("ch06.batch_rule_whole", math.Ceil(sr/2))
		add("ch06.batch_correction", 1/(1-sr/size))
		add("ch06.batch_fractional", sr/2/(1-sr/size))
		add("ch06.batch_before", float64(roofline.BatchToRidge(chip, size, size)-1))

		const small = 4
		add("ch06.hand_weights", small*small)
		add("ch06.hand_flops_per_token", float64(layer(1, small).FLOPs()))
		for _, m := range []int64{1, 2, 4, 8} {
			g := layer(m, small)
			bytes := g.MinBytes()
			add(fmt.Sprintf("ch06.hand_flops_m%d", m), float64(g.FLOPs()))
			add(fmt.Sprintf("ch06.hand_elements_m%d", m), float64(bytes/s))
			add(fmt.Sprintf("ch06.hand_bytes_m%d", m), float64(bytes))
			add(fmt.Sprintf("ch06.hand_intensity_m%d", m), g.Intensity())
		}

		// One step for m tokens: two FLOPs with each weight and token, each
		// weight read once.
		step := func(m float64) roofline.Times {
			return chip.Times(2*modelSize*m, roofline.WeightBytes(chip, modelSize))
		}
		const prompt = 1024
		add("ch06.prompt", prompt)
		add("ch06.prompt_ms", step(prompt).Overlapped()*1e3)
		add("ch06.token_math_ms", step(prompt).Overlapped()/prompt*1e3)
		add("ch06.output_over_prompt", step(1).Overlapped()/(step(prompt).Overlapped()/prompt))
		const tableM = 128
		add("ch06.table_m", tableM)
		add("ch06.table_math_ms", step(tableM).Compute*1e3)

		const little = 256
		add("ch06.small_n", little)
		add("ch06.small_limit", roofline.BatchLimit(little, little, s))

		const question = 700
		add("ch06.q1_prompt", question)
		add("ch06.q1_intensity", layer(question, size).Intensity())

		// A batch that reaches the ridge of one matrix, in a whole model with its KV
		// cache, on a chip of 80 GB: the shape of Llama 2 7B, 7e9 weights.
		llama, fp16 := transformer.Preset("Llama 2 7B"), transformer.Named("fp16")
		batch := roofline.BatchToRidge(chip, size, size)
		kv := float64(batch * llama.KVBytesPerToken(fp16)) // for one more token of each request
		capacity, _ := chips.Named(chip.Name).Capacity()
		weights := roofline.WeightBytes(chip, modelSize)
		add("ch06.layers", float64(llama.Layers))
		add("ch06.kv_bytes", float64(llama.KVBytesPerToken(fp16)))
		add("ch06.kv_doubles", math.Ceil(weights/kv))
		add("ch06.kv_overflows", math.Floor((float64(capacity)-weights)/kv)+1)
		add("ch06.capacity_gb", float64(capacity)/1e9)
		add("ch06.embedding_gb", float64(llama.Vocab*llama.Width*s)/1e9)

		int8 := chips.Named(chip.Name).Machine("INT8")
		add("ch06.int8_batch", float64(roofline.BatchToRidge(int8, size, size)))
		small8, _ := transformer.MatrixBatch(ridge, size, size, transformer.Named("int8"), fp16)
		add("ch06.weights8_batch", math.Ceil(small8))

		oneByte := chip
		oneByte.ElemBytes = 1
		add("ch06.q3_ms", roofline.WeightReadTime(oneByte, modelSize)*1e3)
		add("ch06.q3_tokens", roofline.TokensPerSecond(oneByte, modelSize))

		add("ch06.q4_params", 10*modelSize)
		add("ch06.q4_ms", roofline.WeightReadTime(chip, 10*modelSize)*1e3)
		add("ch06.q4_tokens", roofline.TokensPerSecond(chip, 10*modelSize))

		double := chip
		double.Bandwidth *= 2
		add("ch06.q5_ridge", double.Ridge())
		add("ch06.q5_batch", float64(roofline.BatchToRidge(double, size, size)))

		half := int64(1)
		for chip.Attainable(layer(half, size).Intensity()) < chip.Peak/2 {
			half++
		}
		add("ch06.q7_batch", float64(half))

		// The largest k = n without a batch: its limit is n/s.
		none := int64(1)
		for roofline.BatchLimit(none+1, none+1, s) <= ridge {
			none++
		}
		add("ch06.q8_none", float64(none))
		add("ch06.q8_none_limit", roofline.BatchLimit(none, none, s))
		add("ch06.q8_some", float64(none+1))
		add("ch06.q8_batch", float64(roofline.BatchToRidge(chip, none+1, none+1)))
	})
}
