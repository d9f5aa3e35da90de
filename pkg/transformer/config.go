package transformer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// config is a config.json in the form of Hugging Face, by its keys. A key whose
// value is null is missing. The first mistake is kept.
type config struct {
	keys map[string]json.RawMessage
	err  error
}

func (c *config) refuse(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("transformer: config: "+format, args...)
	}
}

func (c *config) has(key string) bool {
	v, ok := c.keys[key]
	return ok && string(v) != "null"
}

// get returns the value of a key, or another one where it is missing.
func get[T any](c *config, key, what string, missing T) T {
	if !c.has(key) {
		return missing
	}
	var v T
	if json.Unmarshal(c.keys[key], &v) != nil {
		c.refuse("%s is %.40s: it must be %s", key, c.keys[key], what)
	}
	return v
}

func (c *config) flag(key string, missing bool) bool { return get(c, key, "true or false", missing) }
func (c *config) list(key string) []string           { return get[[]string](c, key, "a list of texts", nil) }

// figure returns a whole number, as which 8192.0 counts too.
func (c *config) figure(key string, missing int64) int64 {
	const what = "a whole number"
	v := get(c, key, what, float64(missing))
	if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
		c.refuse("%s is %s: it must be %s below 2^53", key, c.keys[key], what)
	}
	return int64(v)
}

// need is figure of a key that must be there.
func (c *config) need(key string) int64 {
	if !c.has(key) {
		c.refuse("%s is missing: the file must have it", key)
	}
	return c.figure(key, 0)
}

// architectures holds, for each architecture that [ReadConfig] knows, what it
// adds to the shape that all but GPT-2 share.
var architectures = map[string]func(c *config, m *Model){
	"LlamaForCausalLM": func(c *config, m *Model) {
		c.biases(m)
		m.FFNBias = c.flag("mlp_bias", false)
	},
	"MistralForCausalLM": (*config).windowAll,
	"Phi3ForCausalLM":    (*config).windowAll,
	"MixtralForCausalLM": func(c *config, m *Model) {
		c.windowAll(m)
		m.Experts = Experts{Total: c.need("num_local_experts"), Active: c.need("num_experts_per_tok"), Width: m.FFN}
		m.FFN = 0
	},
	"Qwen2ForCausalLM": func(c *config, m *Model) {
		m.QKVBias = true
		c.windowFrom(m)
	},
	"Qwen3ForCausalLM": (*config).qwen3,
	"Qwen3MoeForCausalLM": func(c *config, m *Model) {
		c.qwen3(m)
		m.Experts = Experts{Total: c.need("num_experts"), Active: c.need("num_experts_per_tok"), Width: c.need("moe_intermediate_size")}
		m.FFN = 0
	},
	"Gemma2ForCausalLM": func(c *config, m *Model) {
		m.Norms = 4
		m.Tied = c.flag("tie_word_embeddings", true)
		m.HeadDim = c.need("head_dim")
		if !c.has("layer_types") { // every other layer, the first one too
			m.Window, m.WindowLayers = c.need("sliding_window"), (m.Layers+1)/2
		}
	},
	"DeepseekV2ForCausalLM": (*config).deepseek,
	"DeepseekV3ForCausalLM": (*config).deepseek,
	"GPT2LMHeadModel":       nil,
}

// ReadConfig returns the model of a config.json in the form of Hugging Face. The
// error says what is wrong: no JSON, an architecture that it does not know, a
// key that is missing or a duplicate, a figure that cannot be right. Keys that
// say nothing of the shape are not looked at; a module that predicts a second
// token (num_nextn_predict_layers) is left out.
func ReadConfig(text []byte) (Model, error) {
	var c config
	if err := json.Unmarshal(text, &c.keys); err != nil {
		return Model{}, fmt.Errorf("transformer: config is no JSON object: %w", err)
	}
	if key := duplicateKey(text); key != "" {
		return Model{}, fmt.Errorf("transformer: config: duplicate key %q", key)
	}
	m := Model{Source: "config.json"}
	name := "missing"
	if all := c.list("architectures"); len(all) > 0 {
		name = all[0]
	} else {
		c.refuse("architectures is missing: the file must have it")
	}
	add, known := architectures[name]
	if !known {
		c.refuse("architectures is %q: it must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(architectures)), ", "))
		return Model{}, c.err
	}
	m.Name = get(&c, "_name_or_path", "a text", name)
	m.HeadDim = c.figure("head_dim", 0)
	if add == nil {
		c.gpt2(&m)
	} else {
		c.shared(&m)
		add(&c, &m)
	}
	for _, key := range []string{"decoder_sparse_step", "moe_layer_freq"} {
		if every := c.figure(key, 1); every != 1 {
			c.refuse("%s is %d: only 1 is known, experts in every layer", key, every)
		}
	}
	if dense := get[[]int64](&c, "mlp_only_layers", "a list of layers", nil); len(dense) > 0 {
		c.refuse("mlp_only_layers has %d layers: it must be empty", len(dense))
	}
	if m.HeadDim == 0 && m.Heads > 0 {
		if m.Width%m.Heads != 0 {
			c.refuse("hidden_size is %d: the %d heads must divide it where head_dim is missing", m.Width, m.Heads)
		}
		m.HeadDim = m.Width / m.Heads
	}
	if c.err != nil {
		return Model{}, c.err
	}
	if err := m.Validate(); err != nil {
		return Model{}, fmt.Errorf("config: %w", err)
	}
	return m, nil
}

// duplicateKey returns a key that a JSON object has twice, or "".
func duplicateKey(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.Token() // the brace, or null
	seen := map[string]bool{}
	for d.More() {
		token, _ := d.Token()
		key, _ := token.(string)
		if seen[key] {
			return key
		}
		seen[key] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
	}
	return ""
}

// shared reads what all but GPT-2 have under the same names.
func (c *config) shared(m *Model) {
	m.Layers, m.Width, m.Heads = c.need("num_hidden_layers"), c.need("hidden_size"), c.need("num_attention_heads")
	m.FFN, m.Vocab, m.Gated, m.Norms = c.need("intermediate_size"), c.need("vocab_size"), true, 2
	m.Tied = c.flag("tie_word_embeddings", false)
	m.KVHeads = c.figure("num_key_value_heads", m.Heads) // as the form has it where the key is missing
	kinds := c.list("layer_types")
	for _, kind := range kinds {
		if kind == "sliding_attention" {
			m.WindowLayers++
		}
	}
	if n := int64(len(kinds)); n > 0 && n != m.Layers {
		c.refuse("layer_types has %d layers: num_hidden_layers is %d", n, m.Layers)
	}
	if m.WindowLayers > 0 {
		m.Window = c.need("sliding_window")
	}
}

func (c *config) gpt2(m *Model) {
	m.Vocab, m.Layers, m.Width = c.need("vocab_size"), c.need("n_layer"), c.need("n_embd")
	m.Heads, m.Positions = c.need("n_head"), c.need("n_positions")
	m.KVHeads, m.FFN = m.Heads, c.figure("n_inner", 4*m.Width)
	m.Tied = c.flag("tie_word_embeddings", true)
	m.Norms, m.NormBias, m.QKVBias, m.OutBias, m.FFNBias = 2, true, true, true, true
}

func (c *config) biases(m *Model) {
	m.QKVBias = c.flag("attention_bias", false)
	m.OutBias = m.QKVBias
}

func (c *config) qwen3(m *Model) {
	m.QKNorm = true
	c.biases(m)
	c.windowFrom(m)
}

// windowAll gives every layer the window, if there is one.
func (c *config) windowAll(m *Model) {
	if c.has("sliding_window") && !c.has("layer_types") {
		m.Window, m.WindowLayers = c.need("sliding_window"), m.Layers
	}
}

// windowFrom gives the layers from max_window_layers on the window, if it is
// used at all: such files have a sliding_window that is switched off.
func (c *config) windowFrom(m *Model) {
	if c.flag("use_sliding_window", false) && !c.has("layer_types") {
		m.Window = c.need("sliding_window")
		if m.WindowLayers = m.Layers - c.need("max_window_layers"); m.WindowLayers <= 0 {
			m.Window, m.WindowLayers = 0, 0
		}
	}
}

func (c *config) deepseek(m *Model) {
	m.Latent = Latent{QRank: c.figure("q_lora_rank", 0), KVRank: c.need("kv_lora_rank"),
		NopeDim: c.need("qk_nope_head_dim"), RopeDim: c.need("qk_rope_head_dim"), Value: c.need("v_head_dim")}
	m.HeadDim = m.Latent.NopeDim + m.Latent.RopeDim
	m.OutBias = c.flag("attention_bias", false)
	m.Experts = Experts{Total: c.need("n_routed_experts"), Active: c.need("num_experts_per_tok"),
		Width: c.need("moe_intermediate_size"), DenseLayers: c.need("first_k_dense_replace"),
		Shared: c.figure("n_shared_experts", 0), RouterBias: get(c, "topk_method", "a text", "") == "noaux_tc"}
}
