package transformer

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
)

func config0(t testing.TB, id string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + id + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Totals are those that the checkpoints declare (safetensors metadata on
// huggingface.co; DeepSeek-V3 without its module for a second token). Active
// counts are published rounded: Mixtral 12.9e9 (Mistral), DeepSeek-V3 37e9.
func TestParams(t *testing.T) {
	for _, c := range []struct {
		id                  string
		total, active, read int64
	}{
		{"llama-2-7b", 6_738_415_616, 6_738_415_616, 6_738_415_616 - 32000*4096},
		{"llama-3-8b", 8_030_261_248, 8_030_261_248, 8_030_261_248 - 128256*4096},
		{"llama-3-70b", 70_553_706_496, 70_553_706_496, 70_553_706_496 - 128256*8192},
		{"llama-3-405b", 405_853_388_800, 405_853_388_800, 405_853_388_800 - 128256*16384},
		{"mistral-7b", 7_241_732_096, 7_241_732_096, 7_241_732_096 - 32000*4096},
		{"mixtral-8x7b", 46_702_792_704, 12_879_925_248, 12_879_925_248 - 32000*4096},
		{"deepseek-v3", 671_026_419_200, 37_552_297_472, 37_552_297_472 - 129280*7168},
		{"qwen2.5-7b", 7_615_616_512, 7_615_616_512, 7_615_616_512 - 152064*3584},
		{"qwen3-30b-a3b", 30_532_122_624, 3_353_032_704, 3_353_032_704 - 151936*2048},
		{"gemma-2-9b", 9_241_705_984, 9_241_705_984, 9_241_705_984},
		{"gpt-2-xl", 1_557_611_200, 1_557_611_200, 1_557_611_200 - 1024*1600},
		{"smollm2-135m", 134_515_008, 134_515_008, 134_515_008},
	} {
		p := Preset(c.id).Params()
		if p.Total != c.total || p.Active != c.active || p.Read != c.read {
			t.Errorf("%s: %+v, want total %d, active %d, read %d", c.id, p, c.total, c.active, c.read)
		}
	}
}

func TestPresetsAreTheirConfigs(t *testing.T) {
	for _, want := range Presets() {
		got, err := ReadConfig(config0(t, want.ID))
		if err != nil {
			t.Errorf("%s: %v", want.ID, err)
			continue
		}
		got.ID, got.Name, got.Source = want.ID, want.Name, want.Source
		if got != want {
			t.Errorf("%s: config gives\n%+v, preset\n%+v", want.ID, got, want)
		}
		if !strings.HasPrefix(want.Source, hub) {
			t.Errorf("%s: source %q", want.ID, want.Source)
		}
	}
}

func TestReadConfigRefuses(t *testing.T) {
	whole := string(config0(t, "deepseek-v3"))
	for _, key := range []string{"architectures", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
		"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size", "first_k_dense_replace"} {
		_, err := ReadConfig([]byte(strings.Replace(whole, `"`+key+`"`, `"not_`+key+`"`, 1)))
		if err == nil || !strings.Contains(err.Error(), ": "+key+" is missing") {
			t.Errorf("without %s: %v", key, err)
		}
	}
	change := func(id, from, to string) string {
		text := string(config0(t, id))
		if !strings.Contains(text, from) {
			t.Fatalf("%s has no %s", id, from)
		}
		return strings.Replace(text, from, to, 1)
	}
	for _, c := range []struct{ text, want string }{
		{"", "no JSON object"}, {"[]", "no JSON object"}, {"{", "no JSON object"}, {"{}", "architectures is missing"},
		{`{"architectures": ["T5ForConditionalGeneration"]}`, `architectures is "T5ForConditionalGeneration": it must be one of DeepseekV2ForCausalLM, `},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": 4096.5`), "hidden_size is 4096.5: it must be a whole number"},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": "4096"`), `hidden_size is "4096": it must be a whole number`},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": 1e300`), "hidden_size is 1e300: it must be a whole number"},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": 4096, "hidden_size": 8192`), `duplicate key "hidden_size"`},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": 4096, "other": {}, "other": []`), `duplicate key "other"`},
		{change("llama-3-8b", `"tie_word_embeddings": false`, `"tie_word_embeddings": 0`), "tie_word_embeddings is 0: it must be true or false"},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": null`), "hidden_size is missing"},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": 4095`), "hidden_size is 4095: the 32 heads must divide it"},
		{change("llama-3-8b", `"hidden_size": 4096`, `"hidden_size": 0`), "width is 0: it must be at least 1"},
		{change("llama-3-8b", `"num_key_value_heads": 8`, `"num_key_value_heads": 33`), "KV heads is 33: it must be at most the 32 heads"},
		{change("llama-3-8b", `"num_key_value_heads": 8`, `"num_key_value_heads": 5`), "heads is 32: the 5 KV heads must divide it"},
		{change("llama-3-8b", `"num_key_value_heads": 8`, `"num_key_value_heads": -8`), "KV heads is -8"},
		{change("mixtral-8x7b", `"num_experts_per_tok": 2`, `"num_experts_per_tok": 9`), "active experts is 9: it must be at most the 8 experts"},
		{change("deepseek-v3", `"moe_layer_freq": 1`, `"moe_layer_freq": 2`), "moe_layer_freq is 2: only 1 is known"},
		{change("qwen3-30b-a3b", `"decoder_sparse_step": 1`, `"decoder_sparse_step": 2`), "decoder_sparse_step is 2: only 1 is known"},
		{change("qwen3-30b-a3b", `"mlp_only_layers": []`, `"mlp_only_layers": [3]`), "mlp_only_layers has 1 layers"},
		{change("gpt-2-xl", `"n_embd"`, `"embd"`), "n_embd is missing"},
		{change("llama-3-8b", `"vocab_size"`, `"layer_types": ["sliding_attention"], "vocab_size"`), "layer_types has 1 layers"},
	} {
		if m, err := ReadConfig([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %+v, %v, want %q", c.text, m, err, c.want)
		}
	}
}

// What a file says of windows and of its KV heads, in the forms that are about.
func TestReadConfigForms(t *testing.T) {
	read := func(id string, pairs ...string) Model {
		t.Helper()
		m, err := ReadConfig([]byte(strings.NewReplacer(pairs...).Replace(string(config0(t, id)))))
		if err != nil {
			t.Error(err)
		}
		return m
	}
	if m := read("qwen2.5-7b", `"use_sliding_window": false`, `"use_sliding_window": true`, `"max_window_layers": 28`, `"max_window_layers": 20`); m.Window != 131072 || m.WindowLayers != 8 {
		t.Errorf("window of %d in %d layers", m.Window, m.WindowLayers)
	}
	if m := read("llama-2-7b", `"num_key_value_heads": 32,`, ``); m.KVHeads != 32 {
		t.Errorf("%d KV heads where the key is missing", m.KVHeads)
	}
	if m := read("llama-2-7b", `"hidden_size": 4096`, `"hidden_size": 4096.0`); m.Width != 4096 {
		t.Errorf("width %d of 4096.0", m.Width)
	}
	if m := read("mistral-7b", `"sliding_window": 4096`, `"sliding_window": null`); m.Window != 0 || m.WindowLayers != 0 {
		t.Errorf("window of %d in %d layers", m.Window, m.WindowLayers)
	}
	if m := read("deepseek-v3", `"q_lora_rank": 1536`, `"q_lora_rank": null`); m.Latent.QRank != 0 {
		t.Errorf("query rank %d", m.Latent.QRank)
	}
}

func FuzzReadConfig(f *testing.F) {
	for _, m := range Presets() {
		f.Add(config0(f, m.ID))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ReadConfig(text)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Errorf("read a model that cannot be right: %v", err)
		}
		err = arg.Maybe(func() {
			p := m.Params()
			if p.Total < 1 || p.Active > p.Total || p.Read < 1 {
				t.Errorf("%+v has %+v", m, p)
			}
		})
		if err != nil && !errors.Is(err, arg.ErrOverflow) {
			t.Error(err)
		}
	})
}

func TestValidateRefuses(t *testing.T) {
	for _, c := range []struct {
		id     string
		change func(*Model)
		want   string
	}{
		{"llama-3-8b", func(m *Model) { m.Layers = 0 }, "layers is 0"},
		{"llama-3-8b", func(m *Model) { m.HeadDim = -1 }, "head dimension is -1"},
		{"llama-3-8b", func(m *Model) { m.KVHeads = 64 }, "KV heads is 64: it must be at most the 32 heads"},
		{"llama-3-8b", func(m *Model) { m.KVHeads = 7 }, "heads is 32: the 7 KV heads must divide it"},
		{"llama-3-8b", func(m *Model) { m.FFN = 0 }, "feed-forward width is 0"},
		{"llama-3-8b", func(m *Model) { m.Experts.Shared = 1 }, "experts is 0"},
		{"mixtral-8x7b", func(m *Model) { m.Experts.Active = 9 }, "active experts is 9: it must be at most the 8 experts"},
		{"mixtral-8x7b", func(m *Model) { m.Experts.Active = 0 }, "active experts is 0"},
		{"mixtral-8x7b", func(m *Model) { m.Experts.Width = 0 }, "expert width is 0"},
		{"deepseek-v3", func(m *Model) { m.Experts.DenseLayers = 62 }, "dense layers is 62"},
		{"deepseek-v3", func(m *Model) { m.HeadDim = 128 }, "head dimension is 128: with latent attention it must be the sum of its parts, 128 + 64"},
		{"deepseek-v3", func(m *Model) { m.Latent.KVRank = 0 }, "latent rank is 0"},
		{"deepseek-v3", func(m *Model) { m.Latent.Value = 0 }, "value dimension is 0"},
		{"mistral-7b", func(m *Model) { m.WindowLayers = 33 }, "window layers is 33"},
		{"mistral-7b", func(m *Model) { m.Window = 0 }, "window is 0"},
	} {
		m := Preset(c.id)
		c.change(&m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.id, err, c.want)
		}
		if err := arg.Maybe(func() { m.Params() }); err == nil {
			t.Errorf("%s: %s: its parameters were counted", c.id, c.want)
		}
	}
	m := Preset("llama-3-8b")
	m.Width, m.FFN = math.MaxInt64/2, math.MaxInt64/2
	if err := arg.Maybe(func() { m.Params() }); !errors.Is(err, arg.ErrOverflow) || !strings.Contains(err.Error(), "parameters of") {
		t.Errorf("overflow: %v", err)
	}
}

func TestPresetNames(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"llama-3-8b", "llama-3-8b"}, {"Llama 3 8B", "llama-3-8b"}, {"LLAMA3 70b", "llama-3-70b"}, {"405b", "llama-3-405b"},
		{"mixtral", "mixtral-8x7b"}, {"8×7B", "mixtral-8x7b"}, {"gpt2", "gpt-2-xl"}, {"smol", "smollm2-135m"}, {"llama 70b", "llama-3-70b"}, {"deepseek", "deepseek-v3"},
	} {
		if m, err := FindPreset(c.name); err != nil || m.ID != c.want {
			t.Errorf("Preset(%q) = %q, %v", c.name, m.ID, err)
		}
	}
	for _, c := range []struct{ name, want string }{
		{"llama-3", "it fits more than one: llama-3-8b, llama-3-70b, llama-3-405b"},
		{"lamma-3-8", "nearest are llama-3-8b"}, {"llama-4-70b", "nearest are llama-3-70b"}, {"", "there is none"}, {"mixtrl", "nearest are mixtral-8x7b"},
	} {
		if m, err := FindPreset(c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Preset(%q) = %q, %v, want %q", c.name, m.ID, err, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name  string
		elems int64
		bytes int64
		bits  float64
	}{
		{"bf16", 3, 6, 16}, {"INT4", 3, 2, 4}, {"q4_0", 64, 36, 4.5}, {"Q4_1", 32, 20, 5}, {"q8_0", 32, 34, 8.5}, {"4.5 bits", 16, 9, 4.5},
		{"5.31 bits", 800, 531, 5.31}, {"nvfp4", 16, 9, 4.5}, {"mxfp4", 32, 17, 4.25}, {"INT4-g128", 128, 66, 4.125}, {"fp32", 0, 0, 32},
	} {
		f, err := ParseFormat(c.name)
		if err != nil || f.Size(c.elems) != c.bytes || f.Bits() != c.bits {
			t.Errorf("%s: %+v (%v)", c.name, f, err)
		}
	}
	for _, name := range []string{"", "bits", "0 bits", "-4 bits", "nan bits", "1e9 bits", "65 bits", "int3", "1/3 bits"} {
		if f, err := ParseFormat(name); err == nil || !strings.Contains(err.Error(), "format is") {
			t.Errorf("ParseFormat(%q) = %+v, %v", name, f, err)
		}
	}
	q4 := Named("q4_0")
	if got := q4.Size(math.MaxInt64); got != math.MaxInt64/32*18+18 { // 31/32 of a block is a block but for half a byte
		t.Errorf("%d bytes for the most elements", got)
	}
	for _, bad := range []func(){
		func() { Named("fp32").Size(math.MaxInt64) }, func() { q4.Size(-1) }, func() { Format{}.Size(1) }, func() { Named("x") },
	} {
		if arg.Maybe(bad) == nil {
			t.Error("taken")
		}
	}
}

// Row 9 of the worked examples: DeepSeek-V3, 256 experts, 8 a token.
func TestTouched(t *testing.T) {
	m := Preset("deepseek-v3")
	for _, c := range []struct {
		batch int64
		want  float64
	}{{1, 8}, {32, 163.3}, {128, 251.6}, {256, 255.9}} {
		if got := m.Touched(c.batch); !(math.Abs(got-c.want) <= 0.05) {
			t.Errorf("batch %d touches %v experts, want %v", c.batch, got, c.want)
		}
	}
	if got := m.ReadParams(1); got != float64(m.Params().Read) {
		t.Errorf("one token reads %v parameters", got)
	}
	if arg.Maybe(func() { Preset("llama-3-8b").Touched(1) }) == nil || arg.Maybe(func() { m.Touched(0) }) == nil {
		t.Error("taken")
	}
}
