package facts

import (
	"fmt"
	"math"

	"memorywall/pkg/chips"
	"memorywall/pkg/roofline"
	"memorywall/pkg/transformer"
)

// The numbers of the chapter on decode and prefill.
func chapter06(f *Group) {
	chip := roofline.A100()
	s, ridge := chip.ElemBytes, chip.Ridge()
	layer := func(m, n int64) roofline.GEMM { return roofline.GEMM{M: m, N: n, K: n, ElemBytes: s} }
	f.add("n", size)

	// m = (sr/2) / (1 − sr/n) for k = n.
	sr := float64(s) * ridge
	f.add("batch_rule", sr/2, "batch_rule_whole", math.Ceil(sr/2))
	f.add("batch_correction", 1/(1-sr/size), "batch_fractional", sr/2/(1-sr/size))
	f.add("batch_before", roofline.BatchToRidge(chip, size, size)-1)

	const small = 4
	f.add("hand_weights", small*small, "hand_flops_per_token", layer(1, small).FLOPs())
	for _, m := range []int64{1, 2, 4, 8} {
		g := layer(m, small)
		bytes := g.MinBytes()
		f.add(fmt.Sprintf("hand_flops_m%d", m), g.FLOPs())
		f.add(fmt.Sprintf("hand_elements_m%d", m), bytes/s)
		f.add(fmt.Sprintf("hand_bytes_m%d", m), bytes)
		f.add(fmt.Sprintf("hand_intensity_m%d", m), g.Intensity())
	}

	// One step for m tokens: two FLOPs with each weight and token, each
	// weight read once.
	step := func(m float64) roofline.Times {
		return chip.Times(2*modelSize*m, roofline.WeightBytes(chip, modelSize))
	}
	const prompt = 1024
	f.add("prompt", prompt, "prompt_ms", step(prompt).Overlapped()*1e3)
	f.add("token_math_ms", step(prompt).Overlapped()/prompt*1e3)
	f.add("output_over_prompt", step(1).Overlapped()/(step(prompt).Overlapped()/prompt))
	const tableM = 128
	f.add("table_m", tableM, "table_math_ms", step(tableM).Compute*1e3)

	const little = 256
	f.add("small_n", little, "small_limit", roofline.BatchLimit(little, little, s))

	const question = 700
	f.add("q1_prompt", question, "q1_intensity", layer(question, size).Intensity())

	// A batch that reaches the ridge of one matrix, in a whole model with its KV
	// cache, on a chip of 80 GB: the shape of Llama 2 7B, 7e9 weights.
	llama, fp16 := transformer.Preset("Llama 2 7B"), transformer.Named("fp16")
	batch := roofline.BatchToRidge(chip, size, size)
	kv := float64(batch * llama.KVBytesPerToken(fp16)) // for one more token of each request
	capacity, _ := chips.Named(chip.Name).Capacity()
	weights := roofline.WeightBytes(chip, modelSize)
	f.add("layers", llama.Layers, "kv_bytes", llama.KVBytesPerToken(fp16))
	f.add("kv_doubles", math.Ceil(weights/kv))
	f.add("kv_overflows", math.Floor((float64(capacity)-weights)/kv)+1)
	f.add("capacity_gb", float64(capacity)/1e9)
	f.add("embedding_gb", float64(llama.Vocab*llama.Width*s)/1e9)

	int8 := chips.Named(chip.Name).Machine("INT8")
	f.add("int8_batch", roofline.BatchToRidge(int8, size, size))
	small8, _ := transformer.MatrixBatch(ridge, size, size, transformer.Named("int8"), fp16)
	f.add("weights8_batch", math.Ceil(small8))

	oneByte := chip
	oneByte.ElemBytes = 1
	f.add("q3_ms", roofline.WeightReadTime(oneByte, modelSize)*1e3)
	f.add("q3_tokens", roofline.TokensPerSecond(oneByte, modelSize))

	f.add("q4_params", 10*modelSize, "q4_ms", roofline.WeightReadTime(chip, 10*modelSize)*1e3)
	f.add("q4_tokens", roofline.TokensPerSecond(chip, 10*modelSize))

	double := chip
	double.Bandwidth *= 2
	f.add("q5_ridge", double.Ridge(), "q5_batch", roofline.BatchToRidge(double, size, size))

	f.add("q7_batch", first(func(m int64) bool { return chip.Attainable(layer(m, size).Intensity()) >= chip.Peak/2 }))

	// The largest k = n without a batch: its limit is n/s.
	none := first(func(n int64) bool { return roofline.BatchLimit(n, n, s) > ridge }) - 1
	f.add("q8_none", none, "q8_none_limit", roofline.BatchLimit(none, none, s))
	f.add("q8_some", none+1, "q8_batch", roofline.BatchToRidge(chip, none+1, none+1))
}
