package transformer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"memorywall/pkg/internal/arg"
)

const gib = 1 << 30

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Rows 1 to 5 of the worked examples. Sources: Hugging Face's blog on the
// cache's size (pull request 2345): 1.95 and 15.62 "GB", which are GiB; 4.88 and
// 39.06 likewise; 15.38 and 123.05 for 405B, which counts 16 KV heads where the
// model has 8 and so twice too much; 300 KiB for GPT-2 XL. rohitg00, pull request
// 57: "10.4 GB" for Llama 3 70B at 32K, which is 10.0 GiB at 32,768 tokens and
// 10.49 GB at 32,000, and "MHA 32 GB", which is 85.9 GB.
func TestKVCache(t *testing.T) {
	bf16 := Named("bf16")
	for _, c := range []struct {
		id            string
		token         int64
		context       int64
		gib           float64
		wrong, factor float64
	}{
		{"llama-3-8b", 131_072, 16_000, 1.953, 1.95, 1}, {"llama-3-8b", 131_072, 128_000, 15.625, 15.62, 1},
		{"llama-3-70b", 327_680, 16_000, 4.883, 4.88, 1}, {"llama-3-70b", 327_680, 128_000, 39.06, 39.06, 1},
		{"llama-3-405b", 516_096, 16_000, 7.690, 15.38, 2}, {"llama-3-405b", 516_096, 128_000, 61.52, 123.05, 2},
		{"gpt-2-xl", 300 * 1024, 1, 300.0 / (1 << 20), 300.0 / (1 << 20), 1},
		{"llama-3-70b", 327_680, 32_768, 10.0, 10.0, 1},
		{"deepseek-v3", 61 * (512 + 64) * 2, 1, 70272.0 / gib, 70272.0 / gib, 1},
		{"smollm2-135m", 23_040, 1, 23040.0 / gib, 23040.0 / gib, 1},
	} {
		m := Preset(c.id)
		if got := m.KVBytesPerToken(bf16); got != c.token {
			t.Errorf("%s: %d bytes a token, want %d", c.id, got, c.token)
		}
		got := float64(m.KVBytes(c.context, bf16))
		near(t, c.id+" GiB", got/gib, c.gib, 5e-4)
		near(t, c.id+" published", c.wrong, c.factor*c.gib, 2e-3)
	}
	near(t, "70B at 32,000", float64(Preset("llama-3-70b").KVBytes(32_000, bf16)), 10.49e9, 5e-4)
	mha := Preset("llama-3-70b")
	mha.KVHeads = mha.Heads
	near(t, "70B with heads of their own", float64(mha.KVBytes(32_768, bf16)), 85.9e9, 5e-4)
	if a, b := Preset("llama-3-8b").KVBytesPerToken(Named("fp8")), Preset("llama-3-8b").KVBytesPerToken(Named("q4_0")); a != 65_536 || b != 36_864 {
		t.Errorf("%d and %d bytes in 8 and in 4.5 bits", a, b)
	}
}

func TestWindow(t *testing.T) {
	bf16 := Named("bf16")
	m := Preset("mistral-7b")
	for context, want := range map[int64]int64{1: 1, 4096: 4096, 4097: 4096, 32768: 4096} {
		if got := m.KVBytes(context, bf16); got != want*131072 {
			t.Errorf("cache of %d tokens is %d bytes", context, got)
		}
		if got := m.Decode(1, context).Bytes(Same("bf16")).KV; got != float64(want*131072) {
			t.Errorf("a step at %d tokens moves %v bytes of cache", context, got)
		}
	}
	g := Preset("gemma-2-9b") // half of the layers
	if got := g.KVBytes(8192, bf16); got != (4096+8192)*21*2*8*256*2 {
		t.Errorf("gemma keeps %d bytes", got)
	}
	// A window that is never full changes nothing.
	wide := m
	wide.Window = 1 << 40
	none := m
	none.Window, none.WindowLayers = 0, 0
	if a, b := wide.Prefill(5000).FLOPs(), none.Prefill(5000).FLOPs(); a != b {
		t.Errorf("%d and %d FLOPs", a, b)
	}
	// Keys that queries see, one by one.
	for _, window := range []int64{1, 3, 4, 100} {
		sum := int64(0)
		for n := int64(0); n < 12; n++ {
			if got := seen(n, window); got != sum {
				t.Errorf("seen(%d, %d) = %d, want %d", n, window, got, sum)
			}
			sum += min(n+1, window)
		}
	}
}

// Row 13: Llama 3 8B, prompt of 2048. The source counts all parameters as
// multiplied and attention over the whole square.
func TestPassFLOPs(t *testing.T) {
	m := Preset("llama-3-8b")
	p := m.Params()
	const n = 2048
	square := int64(4 * 32 * n * n * 4096)
	causal := int64(4 * 32 * (n * (n + 1) / 2) * 4096)
	near(t, "the source's count", float64(2*p.Total*n+square), 35.09e12, 1e-3)
	if got := m.Prefill(n).FLOPs(); got != 2*p.Matrix*n+causal {
		t.Errorf("prefill is %d FLOPs, want %d", got, 2*p.Matrix*n+causal)
	}
	if got := m.Decode(32, n).FLOPs(); got != 32*(2*p.Matrix+4*32*n*4096) {
		t.Errorf("a step is %d FLOPs", got)
	}
	if got := m.Decode(32, n).Bytes(Same("bf16")); got.Weights != 2*float64(p.Read) || got.KV != 32*n*131072 {
		t.Errorf("a step moves %+v", got)
	}
	if got := m.Prefill(n).Bytes(Same("bf16")); got.Weights != 2*float64(p.Read) || got.KV != n*131072 {
		t.Errorf("prefill moves %+v", got)
	}
	d := Preset("deepseek-v3")
	if got, want := d.Decode(1, 1000).Parts[2].FLOPs, int64(61*1000*2*128*1088); got != want {
		t.Errorf("latent attention is %d FLOPs, want %d", got, want)
	}
	if got, want := d.Prefill(1000).Parts[2].FLOPs, int64(61*500500*2*128*(192+128)); got != want {
		t.Errorf("latent attention of a prefill is %d FLOPs, want %d", got, want)
	}
}

// A prompt in chunks does the work of the whole one, and reads the weights and
// the earlier cache again.
func TestChunks(t *testing.T) {
	for _, id := range []string{"llama-3-8b", "mistral-7b", "gpt-2-xl"} {
		m := Preset(id)
		for _, chunk := range []int64{1, 7, 512, 5000, 9000} {
			var flops, tokens int64
			for _, p := range m.PrefillChunks(5000, chunk) {
				flops += p.FLOPs()
				tokens += p.Tokens
			}
			if want := m.Prefill(5000).FLOPs(); flops != want || tokens != 5000 {
				t.Errorf("%s in chunks of %d: %d tokens, %d FLOPs, whole %d", id, chunk, tokens, flops, want)
			}
		}
	}
	passes := Preset("llama-3-8b").PrefillChunks(1000, 400)
	kv := 0.0
	for _, p := range passes {
		kv += p.Bytes(Same("bf16")).KV
	}
	if len(passes) != 3 || kv != (400+800+1000)*131072 {
		t.Errorf("%d chunks move %v bytes of cache", len(passes), kv)
	}
}

// Row 14, FlashMLA's own document: "≈ 2h_q = 256" and at least 128, so compute-
// bound; the exact count is 128·1088/576 = 241.8, just below the ridge of 258.2.
// Row 15: FlashAttention on 2048 tokens of 128: 1024 (causal half of it), and
// 60.2 where scores and weights go through memory.
func TestAttentionIntensity(t *testing.T) {
	bf16 := Named("bf16")
	for id, want := range map[string]float64{"llama-2-7b": 1, "llama-3-8b": 4, "llama-3-70b": 8, "llama-3-405b": 16, "qwen2.5-7b": 7,
		"deepseek-v3": 128.0 * 1088 / 576} {
		near(t, id, Preset(id).DecodeIntensity(bf16), want, 1e-15)
		w := Preset(id).Decode(3, 777).Parts[2]
		near(t, id+" counted", float64(w.FLOPs)/w.Bytes(Same("bf16")).KV, want, 1e-15)
	}
	if ridge := 865.0 / 3.35; !(Preset("deepseek-v3").DecodeIntensity(bf16) < ridge) {
		t.Errorf("above the ridge of %v", ridge)
	}
	for _, c := range []struct {
		a    PrefillAttention
		want float64
	}{
		{PrefillAttention{2048, 128, false, false}, 1024}, {PrefillAttention{2048, 128, true, false}, 512.25},
		{PrefillAttention{2048, 128, false, true}, 60.235},
	} {
		near(t, "prefill attention", c.a.Intensity(bf16), c.want, 1e-5)
	}
}

// Row 10: v5e, 1.97e14 FLOP/s and 8.2e11 bytes/s, int8 weights with bf16
// arithmetic and activations; 120 is scaling-book's (question 2), the limit of
// large matrices. Row 11: A100, n = 4096, weights of 2, 1 and ½ byte; 166 for 2
// is chapter 06's.
func TestMatrixBatch(t *testing.T) {
	bf16, int8, int4 := Named("bf16"), Named("int8"), Named("int4")
	for _, c := range []struct {
		ridge float64
		n     int64
		w     Format
		want  float64
	}{
		{1.97e14 / 8.2e11, 4096, int8, 136.1}, {1.97e14 / 8.2e11, 1024, int8, 226.3}, {1.97e14 / 8.2e11, 1 << 60, int8, 120.1},
		{312.0 / 2.039, 4096, bf16, 165.4}, {312.0 / 2.039, 4096, int8, 82.7}, {312.0 / 2.039, 4096, int4, 41.3},
	} {
		got, ok := MatrixBatch(c.ridge, c.n, c.n, c.w, bf16)
		if !ok || !(math.Abs(got-c.want) <= 0.05) {
			t.Errorf("ridge %v, n = %d, %s: batch %v, %v, want %v", c.ridge, c.n, c.w.Name, got, ok, c.want)
		}
	}
	if b, ok := MatrixBatch(200, 200, 200, int8, bf16); ok {
		t.Errorf("batch %v where there is none", b)
	}
}

func TestPassRefuses(t *testing.T) {
	m := Preset("llama-3-8b")
	for want, bad := range map[string]func(){
		"batch is 0":      func() { m.Decode(0, 1) },
		"context is 0":    func() { m.Decode(1, 0) },
		"context is -1":   func() { m.KVBytes(-1, Named("bf16")) },
		"prompt is 0":     func() { m.Prefill(0) },
		"chunk is 0":      func() { m.PrefillChunks(1, 0) },
		"requests is 0":   func() { m.Pass(Span{0, 0, 1}) },
		"tokens before":   func() { m.Pass(Span{1, -1, 1}) },
		"new tokens is 0": func() { m.Pass(Span{1, 0, 0}) },
		"ridge is NaN":    func() { MatrixBatch(math.NaN(), 1, 1, Named("bf16"), Named("bf16")) },
		"k is 0":          func() { MatrixBatch(1, 0, 1, Named("bf16"), Named("bf16")) },
		"prompt is -2":    func() { PrefillAttention{Tokens: -2, HeadDim: 1}.Intensity(Named("bf16")) },
		`format is ""`:    func() { m.Decode(1, 1).Bytes(Storage{}) },
		"layers is 0":     func() { Model{}.KVElems() },
	} {
		if err := arg.Maybe(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, big := range []func(){
		func() { m.Decode(math.MaxInt64, 1) }, func() { m.Decode(1, math.MaxInt64) }, func() { m.Prefill(math.MaxInt64) },
		func() { m.KVBytes(math.MaxInt64, Named("bf16")) },
	} {
		if err := arg.Maybe(big); !errors.Is(err, arg.ErrOverflow) {
			t.Errorf("%v, want an overflow", err)
		}
	}
}
