package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// config holds the keys of a config.json in the form of Hugging Face that say
// something of the shape. A key that is missing or null is nil.
type config struct {
	Architectures []string `json:"architectures"`
	NameOrPath    string   `json:"_name_or_path"`

	Layers  *int64 `json:"num_hidden_layers"`
	Width   *int64 `json:"hidden_size"`
	Heads   *int64 `json:"num_attention_heads"`
	KVHeads *int64 `json:"num_key_value_heads"`
	HeadDim *int64 `json:"head_dim"`
	FFN     *int64 `json:"intermediate_size"`
	Vocab   *int64 `json:"vocab_size"`

	Tied          *bool `json:"tie_word_embeddings"`
	AttentionBias bool  `json:"attention_bias"`
	MLPBias       bool  `json:"mlp_bias"`

	Window         *int64   `json:"sliding_window"`
	UseWindow      *bool    `json:"use_sliding_window"`
	FullLayers     *int64   `json:"max_window_layers"`
	LayerTypes     []string `json:"layer_types"`
	LocalExperts   *int64   `json:"num_local_experts"`
	Experts        *int64   `json:"num_experts"`
	RoutedExperts  *int64   `json:"n_routed_experts"`
	ActiveExperts  *int64   `json:"num_experts_per_tok"`
	SharedExperts  *int64   `json:"n_shared_experts"`
	ExpertWidth    *int64   `json:"moe_intermediate_size"`
	DenseLayers    *int64   `json:"first_k_dense_replace"`
	ExpertEvery    *int64   `json:"moe_layer_freq"`
	SparseEvery    *int64   `json:"decoder_sparse_step"`
	DenseLayerList []int64  `json:"mlp_only_layers"`
	TopK           string   `json:"topk_method"`

	QRank   *int64 `json:"q_lora_rank"`
	KVRank  *int64 `json:"kv_lora_rank"`
	NopeDim *int64 `json:"qk_nope_head_dim"`
	RopeDim *int64 `json:"qk_rope_head_dim"`
	Value   *int64 `json:"v_head_dim"`

	// The names that GPT-2 has for them.
	GPTLayers *int64 `json:"n_layer"`
	GPTWidth  *int64 `json:"n_embd"`
	GPTHeads  *int64 `json:"n_head"`
	GPTFFN    *int64 `json:"n_inner"`
	Positions *int64 `json:"n_positions"`
}

// architectures holds, for each architecture that [ReadConfig] knows, what it
// adds to the shape that all but GPT-2 share.
var architectures = map[string]func(c *config, m *Model, need needs){
	"LlamaForCausalLM": func(c *config, m *Model, need needs) {
		m.QKVBias, m.OutBias, m.FFNBias = c.AttentionBias, c.AttentionBias, c.MLPBias
	},
	"MistralForCausalLM": func(c *config, m *Model, need needs) { c.windowAll(m) },
	"Phi3ForCausalLM":    func(c *config, m *Model, need needs) { c.windowAll(m) },
	"MixtralForCausalLM": func(c *config, m *Model, need needs) {
		c.windowAll(m)
		m.Experts = Experts{Total: need("num_local_experts", c.LocalExperts), Active: need("num_experts_per_tok", c.ActiveExperts), Width: m.FFN}
		m.FFN = 0
	},
	"Qwen2ForCausalLM": func(c *config, m *Model, need needs) {
		m.QKVBias = true
		c.windowFrom(m, need)
	},
	"Qwen3ForCausalLM": func(c *config, m *Model, need needs) {
		m.QKNorm, m.QKVBias, m.OutBias = true, c.AttentionBias, c.AttentionBias
		c.windowFrom(m, need)
	},
	"Qwen3MoeForCausalLM": func(c *config, m *Model, need needs) {
		m.QKNorm, m.QKVBias, m.OutBias = true, c.AttentionBias, c.AttentionBias
		c.windowFrom(m, need)
		m.Experts = Experts{Total: need("num_experts", c.Experts), Active: need("num_experts_per_tok", c.ActiveExperts), Width: need("moe_intermediate_size", c.ExpertWidth)}
		m.FFN = 0
	},
	"Gemma2ForCausalLM": func(c *config, m *Model, need needs) {
		m.Norms = 4
		m.Tied = c.Tied == nil || *c.Tied
		m.HeadDim = need("head_dim", c.HeadDim)
		if c.LayerTypes == nil { // every other layer, the first one too
			m.Window, m.WindowLayers = need("sliding_window", c.Window), (m.Layers+1)/2
		}
	},
	"DeepseekV2ForCausalLM": (*config).deepseek,
	"DeepseekV3ForCausalLM": (*config).deepseek,
	"GPT2LMHeadModel":       nil,
}

// needs returns the figure of a key, and notes that it is missing.
type needs = func(key string, v *int64) int64

// ReadConfig returns the model of a config.json in the form of Hugging Face. The
// error says what is wrong: no JSON, an architecture that it does not know, a
// key that is missing, a figure that cannot be right. Keys that say nothing of
// the shape are not looked at; a module that predicts a second token
// (num_nextn_predict_layers) is left out.
func ReadConfig(text []byte) (Model, error) {
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return Model{}, fmt.Errorf("transformer: config: %s is %s: it must be of type %s", wrong.Field, wrong.Value, wrong.Type)
		}
		return Model{}, fmt.Errorf("transformer: config is no JSON object: %w", err)
	}
	if len(c.Architectures) == 0 {
		return Model{}, missing("architectures")
	}
	name := c.Architectures[0]
	add, known := architectures[name]
	if !known {
		return Model{}, fmt.Errorf("transformer: config: architectures is %q: it must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(architectures)), ", "))
	}
	var absent string
	need := func(key string, v *int64) int64 {
		if v == nil {
			if absent == "" {
				absent = key
			}
			return 0
		}
		return *v
	}
	m := Model{Name: c.NameOrPath, Source: "config.json"}
	if m.Name == "" {
		m.Name = name
	}
	if add == nil {
		m.Vocab, m.Layers, m.Width = need("vocab_size", c.Vocab), need("n_layer", c.GPTLayers), need("n_embd", c.GPTWidth)
		m.Heads, m.Positions = need("n_head", c.GPTHeads), need("n_positions", c.Positions)
		m.KVHeads, m.FFN = m.Heads, 4*m.Width
		if c.GPTFFN != nil {
			m.FFN = *c.GPTFFN
		}
		m.Tied = c.Tied == nil || *c.Tied
		m.Norms, m.NormBias, m.QKVBias, m.OutBias, m.FFNBias = 2, true, true, true, true
	} else {
		m.Layers, m.Width, m.Heads = need("num_hidden_layers", c.Layers), need("hidden_size", c.Width), need("num_attention_heads", c.Heads)
		m.FFN, m.Vocab, m.Gated, m.Norms = need("intermediate_size", c.FFN), need("vocab_size", c.Vocab), true, 2
		m.Tied = c.Tied != nil && *c.Tied
		m.KVHeads = m.Heads // as the form has it where the key is missing
		if c.KVHeads != nil {
			m.KVHeads = *c.KVHeads
		}
		add(&c, &m, need)
		for _, kind := range c.LayerTypes {
			if kind == "sliding_attention" {
				m.WindowLayers++
			}
		}
		if m.WindowLayers > 0 {
			m.Window = need("sliding_window", c.Window)
		}
		if n := int64(len(c.LayerTypes)); n > 0 && n != m.Layers {
			return Model{}, fmt.Errorf("transformer: config: layer_types has %d layers: num_hidden_layers is %d", n, m.Layers)
		}
	}
	if absent != "" {
		return Model{}, missing(absent)
	}
	if c.HeadDim != nil && m.Latent == (Latent{}) {
		m.HeadDim = *c.HeadDim
	} else if m.HeadDim == 0 && m.Heads > 0 {
		if m.Width%m.Heads != 0 {
			return Model{}, fmt.Errorf("transformer: config: hidden_size is %d: the %d heads must divide it where head_dim is missing", m.Width, m.Heads)
		}
		m.HeadDim = m.Width / m.Heads
	}
	for _, every := range []struct {
		key string
		v   *int64
	}{{"decoder_sparse_step", c.SparseEvery}, {"moe_layer_freq", c.ExpertEvery}} {
		if every.v != nil && *every.v != 1 {
			return Model{}, fmt.Errorf("transformer: config: %s is %d: only 1 is known, experts in every layer", every.key, *every.v)
		}
	}
	if len(c.DenseLayerList) > 0 {
		return Model{}, fmt.Errorf("transformer: config: mlp_only_layers has %d layers: it must be empty", len(c.DenseLayerList))
	}
	if err := m.Validate(); err != nil {
		return Model{}, fmt.Errorf("config: %w", err)
	}
	return m, nil
}

func missing(key string) error {
	return fmt.Errorf("transformer: config: %s is missing: the file must have it", key)
}

// windowAll gives every layer the window, if there is one.
func (c *config) windowAll(m *Model) {
	if c.Window != nil && c.LayerTypes == nil {
		m.Window, m.WindowLayers = *c.Window, m.Layers
	}
}

// windowFrom gives the layers from max_window_layers on the window, if it is
// used at all: such files have a sliding_window that is switched off.
func (c *config) windowFrom(m *Model, need needs) {
	if c.UseWindow != nil && *c.UseWindow && c.LayerTypes == nil {
		m.Window = need("sliding_window", c.Window)
		if m.WindowLayers = m.Layers - need("max_window_layers", c.FullLayers); m.WindowLayers <= 0 {
			m.Window, m.WindowLayers = 0, 0
		}
	}
}

func (c *config) deepseek(m *Model, need needs) {
	m.Latent = Latent{KVRank: need("kv_lora_rank", c.KVRank), NopeDim: need("qk_nope_head_dim", c.NopeDim),
		RopeDim: need("qk_rope_head_dim", c.RopeDim), Value: need("v_head_dim", c.Value)}
	if c.QRank != nil {
		m.Latent.QRank = *c.QRank
	}
	m.HeadDim = m.Latent.NopeDim + m.Latent.RopeDim
	m.QKVBias, m.OutBias = false, c.AttentionBias
	m.Experts = Experts{Total: need("n_routed_experts", c.RoutedExperts), Active: need("num_experts_per_tok", c.ActiveExperts),
		Width: need("moe_intermediate_size", c.ExpertWidth), DenseLayers: need("first_k_dense_replace", c.DenseLayers),
		RouterBias: c.TopK == "noaux_tc"}
	if c.SharedExperts != nil {
		m.Experts.Shared = *c.SharedExperts
	}
}
