package transformer

import (
	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/pick"
)

const hub = "config.json of huggingface.co/"

// Presets returns the models that have names. Each shape is that of the
// model's own config.json, of which a copy in its published form is in testdata.
func Presets() []Model {
	// llama is the shape that most models since Llama share: rotations for
	// positions, gated feed-forward blocks, two norms without bias in a layer.
	llama := func(id, name, source string, layers, width, heads, kv, ffn, vocab int64) Model {
		return Model{ID: id, Name: name, Source: hub + source, Layers: layers, Width: width, Heads: heads, KVHeads: kv,
			HeadDim: width / heads, FFN: ffn, Gated: true, Vocab: vocab, Norms: 2}
	}
	with := func(m Model, change func(*Model)) Model { change(&m); return m }
	return []Model{
		llama("llama-2-7b", "Llama 2 7B", "meta-llama/Llama-2-7b-hf", 32, 4096, 32, 32, 11008, 32000),
		llama("llama-3-8b", "Llama 3 8B", "meta-llama/Meta-Llama-3-8B", 32, 4096, 32, 8, 14336, 128256),
		llama("llama-3-70b", "Llama 3 70B", "meta-llama/Meta-Llama-3-70B", 80, 8192, 64, 8, 28672, 128256),
		llama("llama-3-405b", "Llama 3.1 405B", "meta-llama/Llama-3.1-405B", 126, 16384, 128, 8, 53248, 128256),
		with(llama("mistral-7b", "Mistral 7B v0.1", "mistralai/Mistral-7B-v0.1", 32, 4096, 32, 8, 14336, 32000), func(m *Model) {
			m.Window, m.WindowLayers = 4096, 32
		}),
		with(llama("mixtral-8x7b", "Mixtral 8×7B", "mistralai/Mixtral-8x7B-v0.1", 32, 4096, 32, 8, 0, 32000), func(m *Model) {
			m.Experts = Experts{Total: 8, Active: 2, Width: 14336}
		}),
		with(llama("deepseek-v3", "DeepSeek-V3", "deepseek-ai/DeepSeek-V3, without the module that predicts a second token", 61, 7168, 128, 128, 18432, 129280), func(m *Model) {
			m.HeadDim = 192
			m.Experts = Experts{Total: 256, Active: 8, Shared: 1, Width: 2048, DenseLayers: 3, RouterBias: true}
			m.Latent = Latent{QRank: 1536, KVRank: 512, NopeDim: 128, RopeDim: 64, Value: 128}
		}),
		with(llama("qwen2.5-7b", "Qwen2.5 7B", "Qwen/Qwen2.5-7B", 28, 3584, 28, 4, 18944, 152064), func(m *Model) {
			m.QKVBias = true
		}),
		with(llama("qwen3-30b-a3b", "Qwen3 30B-A3B", "Qwen/Qwen3-30B-A3B", 48, 2048, 32, 4, 0, 151936), func(m *Model) {
			m.HeadDim, m.QKNorm = 128, true
			m.Experts = Experts{Total: 128, Active: 8, Width: 768}
		}),
		with(llama("gemma-2-9b", "Gemma 2 9B", "google/gemma-2-9b", 42, 3584, 16, 8, 14336, 256000), func(m *Model) {
			m.HeadDim, m.Norms, m.Tied = 256, 4, true
			m.Window, m.WindowLayers = 4096, 21
		}),
		{ID: "gpt-2-xl", Name: "GPT-2 XL", Source: hub + "openai-community/gpt2-xl", Layers: 48, Width: 1600, Heads: 25, KVHeads: 25,
			HeadDim: 64, FFN: 6400, Vocab: 50257, Tied: true, Positions: 1024, Norms: 2, NormBias: true, QKVBias: true, OutBias: true, FFNBias: true},
		with(llama("smollm2-135m", "SmolLM2 135M", "HuggingFaceTB/SmolLM2-135M-Instruct", 30, 576, 9, 3, 1536, 49152), func(m *Model) {
			m.Tied = true
		}),
	}
}

// FindPreset returns the preset of a name: its ID, its name in full, or any part
// of them that no other has, without regard to case, spaces and punctuation.
// The error lists the presets that come nearest.
func FindPreset(name string) (Model, error) {
	all := Presets()
	at, err := pick.One("transformer", "model", name, len(all), func(i int) []string { return []string{all[i].ID, all[i].Name} })
	if err != nil {
		return Model{}, err
	}
	return all[at], nil
}

// Preset returns the preset that [FindPreset] finds, and panics if there is
// none.
func Preset(name string) Model {
	m, err := FindPreset(name)
	arg.Check(err)
	return m
}
