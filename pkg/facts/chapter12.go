package facts

import (
	"fmt"

	"memorywall/pkg/chips"
	"memorywall/pkg/serving"
	"memorywall/pkg/transformer"
)

// The numbers of the chapter on many chips.
func chapter12(f *Group) {
	const hop = 1e-6
	one := onA100("llama-3-8b")
	two := one
	two.Chips = 2
	two.Hop = hop
	l := two.Decode(1, 1)
	f.add("width", one.Model.Width, "layers", one.Model.Layers)
	message := float64(one.Model.Width) * 2
	f.add("message", message)
	sent, hops := serving.AllReduce(message, 2)
	f.add("sent", sent, "hops", hops, "reduces", 2*float64(one.Model.Layers))
	f.add("sent_step", l.Sent, "network_us", l.Sent/two.Chip.Link*1e6, "hops_step", l.Hops)
	f.add("latency_us", l.Hops*hop*1e6, "link", two.Chip.Link)
	alone := one.Answer(serving.Ask{Batch: 1, Context: 1})
	f.add("one_ms", alone.TPOT*1e3)
	half := two.Answer(serving.Ask{Batch: 1, Context: 1})
	f.add("two_ms", half.TPOT*1e3, "two_serial_ms", half.TPOTSerial*1e3)

	seventy := serving.Setup{Model: transformer.Preset("llama-3-70b"), Storage: transformer.Same("BF16"), Chip: serving.On(chips.Named("H100 SXM"), "BF16"), Chips: 4}
	m, _ := serving.AllReduce(32*float64(seventy.Model.Width)*2, 4)
	f.add("seventy_batch", 32, "seventy_message", 32*float64(seventy.Model.Width)*2)
	f.add("seventy_sent", m, "seventy_reduces", 2*float64(seventy.Model.Layers))
	l = seventy.Decode(32, 4096)
	f.add("seventy_step", l.Sent, "seventy_network_ms", l.Sent/seventy.Chip.Link*1e3)
	f.add("seventy_weights_ms", l.Weights/seventy.Chip.Bandwidth*1e3)
	f.add("seventy_link", seventy.Chip.Link)

	// One user and many on more and more H100.
	user := serving.Setup{Model: transformer.Preset("llama-3-8b"), Storage: transformer.Same("BF16"), Chip: seventy.Chip, Hop: hop}
	for _, p := range []int64{1, 4, 8} {
		user.Chips = p
		a := user.Answer(serving.Ask{Batch: 1, Context: 1024})
		f.add(fmt.Sprintf("user_%d_ms", p), a.TPOT*1e3)
	}
	f.add("user_context", 1024)
	replicas := user
	replicas.Split, replicas.Chips = serving.Data, 8
	f.add("replicas_all", replicas.Answer(serving.Ask{Batch: 8, Context: 1024}).All)
	replicas.Chips = 1
	f.add("replica_all", replicas.Answer(serving.Ask{Batch: 1, Context: 1024}).All)

	// The ridge points of the table.
	ridge := func(name, format string) float64 {
		c := chips.Named(name)
		return c.Rate(format).Dense.Value / c.Bandwidth.Value
	}
	f.add("ridge_v100", ridge("V100 SXM2", "FP16"))
	f.add("ridge_a100", ridge("A100 80GB SXM", "BF16"), "ridge_h100", ridge("H100 SXM", "BF16"))
	f.add("ridge_b200", ridge("B200", "BF16"), "ridge_h100_fp8", ridge("H100 SXM", "FP8"))
	f.add("ridge_b200_fp4", ridge("B200", "FP4"))
	f.add("year_v100", chips.Named("V100 SXM2").Year.Value)
	f.add("year_b200", chips.Named("B200").Year.Value)

	rack := serving.On(chips.Named("GB200"), "BF16")
	f.add("sixteen", 16)

	d := transformer.Preset("deepseek-v3")
	apart := serving.Setup{Model: d, Storage: transformer.Same("FP8"), Chip: rack, Chips: 8, Split: serving.Expert}
	l = apart.Decode(256, 4096)
	f.add("q3_sent", l.Sent, "q3_resident", apart.Resident(), "q3_batch", 256)

	fsdp := 6 * 7e10 * 1.64e7 / (13.5 * 3600)
	f.add("q4_flops", fsdp, "q4_tokens", 1.64e7, "q4_one", 100*fsdp/312e12)
	f.add("q4_all", 100*fsdp/(16*312e12), "q4_published", 45.51, "q4_peak", 312)
	f.add("q5_one_way", 100*380.0/450, "q5_measured", 380, "q5_measured_both", 749)
	f.add("q5_both_ways", 100*749e9/(2*seventy.Chip.Link), "q5_h100_rate", 794.5)
	f.add("q5_h100_peak", seventy.Chip.Peak/1e12, "q5_h100", 100*794.5e12/seventy.Chip.Peak)
	f.add("q5_mi_rate", 1565, "q5_mi_published", 68.0)
	f.add("q5_mi_peak", chips.Named("MI355X").Rate("BF16").Dense.Value/1e12)
	f.add("q5_mi", 100*1565e12/chips.Named("MI355X").Rate("BF16").Dense.Value)
	gb200 := chips.Named("GB200").Rate("BF16").Dense.Value
	f.add("q5_gb200_rate", 1822, "q5_gb200_peak", gb200/1e12, "q5_gb200", 100*1822e12/gb200)
	f.add("q5_both", 2*seventy.Chip.Link/1e9)
	slow := user
	slow.Hop, slow.Chip.Link = 0, 32e9
	f.add("q6_link", slow.Chip.Link)
	pipeline := one
	pipeline.Split, pipeline.Chips = serving.Pipeline, 2
	a := pipeline.Answer(serving.Ask{Batch: 1, Context: 1})
	f.add("pipe_ms", a.TPOT*1e3, "pipe_one_all", a.All)
	f.add("pipe_two_all", pipeline.Answer(serving.Ask{Batch: 2, Context: 1}).All)
	slowHop := user
	slowHop.Chips, slowHop.Hop = 8, 0
	f.add("q7_ms", slowHop.Answer(serving.Ask{Batch: 1, Context: 1024}).TPOT*1e3)
}
