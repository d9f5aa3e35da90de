package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func call0(args ...string) (code int, out, errs string) {
	var stdout, stderr strings.Builder
	code = run(args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func count(t *testing.T, args ...string) map[string]any {
	t.Helper()
	code, out, errs := call0(append(args, "--json")...)
	if code != 0 {
		t.Fatalf("%v: %d, %s", args, code, errs)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func near(t *testing.T, what string, got any, want, tol float64) {
	t.Helper()
	if v, ok := got.(float64); !ok || !(math.Abs(v-want) <= tol*math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestJSON(t *testing.T) {
	v := count(t, "--model", "llama-3-70b", "--chip", "NVIDIA H100 SXM", "--chips", "4", "--batch", "32", "--context", "4096", "--prompt", "2048")
	for key, want := range map[string]float64{
		"params_total": 70_553_706_496, "params_active": 70_553_706_496, "params_read": 69_503_033_344, "weight_bytes": 139_006_066_688,
		"kv_bytes_per_token": 327_680, "max_requests": 133, "network_bytes_per_chip": 125_829_120, "network_s": 125_829_120 / 450e9,
		"tpot_s": (139_006_066_688.0/4 + 8*16*4096*327_680/4/16) / 3350e9,
	} {
		if key == "tpot_s" { // norms stand on every chip
			want = (34_753_495_040 + 32*4096*327_680/4) / 3350e9
		}
		near(t, key, v[key], want, 1e-9)
	}
	if v["fits"] != true || v["bound"] != "memory" || v["ridge_batch"] != nil || v["memory_from"] != "label × 10^9" || v["ttft_s"].(float64) >= v["ttft_serial_s"].(float64) {
		t.Errorf("%v", v)
	}
	near(t, "all", v["tokens_per_s_all"], 32*v["tokens_per_s_each"].(float64), 1e-12)

	v = count(t, "--model", "llama3 8b", "--chip", "a100 80gb sxm", "--context", "1")
	near(t, "ridge batch", v["ridge_batch"], 154, 0)
	if v["ttft_s"] != nil {
		t.Errorf("a first token without a prompt: %v", v["ttft_s"])
	}
	v = count(t, "--model", "llama-3-70b", "--chip", "H100 SXM", "--chips", "4", "--weights", "fp8", "--kv", "fp8")
	near(t, "requests in 8 bits", v["max_requests"], 371, 0)
	v = count(t, "--model", "mixtral-8x7b", "--chip", "A100 80GB SXM", "--weights", "int8", "--measured", "97.92", "--context", "1", "--price", "2")
	near(t, "MBU of a mixture", v["mbu"], 0.612, 2e-3) // 0.62 with the input table
	near(t, "price", v["price_per_million_tokens"], 2/3600.0/97.92*1e6, 1e-12)
	near(t, "joules", v["joules_per_token"], 400/97.92, 1e-12)
	v = count(t, "--model", "deepseek-v3", "--chip", "GB200", "--chips", "64", "--split", "expert", "--batch", "64")
	near(t, "experts touched", v["experts_touched"], 256*(1-math.Pow(31.0/32, 64)), 1e-12)
	v = count(t, "--model", "llama-3-8b", "--chip", "v5e", "--peak", "int8", "--weights", "4.5 bits", "--chips", "512", "--split", "pipeline", "--link", "45", "--chips", "4")
	if v["memory_from"] != "known bytes" || v["peak_format"] != "INT8" {
		t.Errorf("%v", v)
	}
	v = count(t, "--model", "llama-3-8b", "--chip", "A100 80GB SXM", "--launch", "1ms")
	if v["bound"] != "latency" {
		t.Errorf("bound by %v", v["bound"])
	}
}

func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	text, err := os.ReadFile("../../pkg/transformer/testdata/llama-3-8b.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	near(t, "parameters", count(t, "--config", file, "--chip", "L4")["params_total"], 8_030_261_248, 0)
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "hidden_size", "width", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call0("--config", file, "--chip", "L4"); code != 2 || !strings.Contains(errs, "hidden_size is missing") {
		t.Errorf("%d: %s", code, errs)
	}
}

// What a file of a stranger says reaches no terminal raw, in the answer or an error,
// and neither do names; a device that never ends fills no memory.
func TestHostileNames(t *testing.T) {
	text, err := os.ReadFile("../../pkg/transformer/testdata/llama-3-8b.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const evil = `"\u001b[31m\u202e\n` // escapes of JSON
	named := write("named.json", strings.Replace(string(text), "{", `{"_name_or_path": `+evil+strings.Repeat("x", 5000)+`",`, 1))
	for _, args := range [][]string{
		{"--config", named, "--chip", "L4"},
		{"--config", named, "--chip", "L4", "--json"},
		{"--config", named, "--chip", "L4", "--chips", "2", "--split", "expert", "--link", "1"},
		{"--config", write("kind.json", strings.Replace(string(text), `"LlamaForCausalLM"`, evil+strings.Repeat("x", 5000)+`"`, 1)), "--chip", "L4"},
		{"--config", write("no.json", "\x1b[31m{"), "--chip", "L4"},
		{"--config", filepath.Join(dir, "\x1b[31m"), "--chip", "L4"},
		{"--model", "llama\x1b[31m\n\u202e" + strings.Repeat("x", 5000), "--chip", "L4"},
		{"--model", "llama-3-8b", "--chip", "\x1b[31mL4"},
		{"--model", "llama-3-8b", "--chip", "L4", "--weights", "\x1b[31m"},
		{"--model", "llama-3-8b", "--chip", "L4", "--csv", "--sweep", "batch=\x1b"},
		{"--\x1b[31m"},
	} {
		_, out, errs := call0(args...)
		never := "\x1b\u202e"
		if strings.HasPrefix(out, "{") { // JSON spells out what a program may not take
			never = "\x1b"
		}
		if out+errs == "" || strings.ContainsAny(out+errs, never) {
			t.Errorf("%.80q: %.200q, %.200q", args, out, errs)
		}
		for _, line := range strings.Split(out+errs, "\n") {
			if len(line) > 600 && !strings.HasPrefix(out, "{") {
				t.Errorf("%.80q: a line of %d bytes: %.100q", args, len(line), line)
			}
		}
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if code, _, errs := call0("--config", "/dev/zero", "--chip", "L4"); code != 2 || !strings.Contains(errs, "more than 16MiB") {
			t.Errorf("%d: %s", code, errs)
		}
	}
}

// A model with a table of positions has no longer context, and is asked for none.
func TestPositions(t *testing.T) {
	v := count(t, "--model", "gpt-2-xl", "--chip", "L4")
	near(t, "context", v["context"], 1024, 0)
	near(t, "longest context", v["max_context"], 1024, 0)
	for _, args := range [][]string{{"--context", "1025"}, {"--prompt", "2000"}} {
		code, _, errs := call0(append([]string{"--model", "gpt-2-xl", "--chip", "L4"}, args...)...)
		if code != 2 || !strings.Contains(errs, "is "+args[1]+": the table of positions of GPT-2 XL has 1024") {
			t.Errorf("%v: %d, %s", args, code, errs)
		}
	}
}

func TestTextAndList(t *testing.T) {
	code, out, errs := call0("--model", "llama-3-70b", "--chip", "H100 SXM", "--chips", "4", "--batch", "32", "--prompt", "2048", "--measured", "1000", "--price", "2")
	for _, want := range []string{"at most 133 requests", "memory (of that time", "a chip sends", "125.8 MB", "what would help", "MBU", "J a token", "a million tokens", "time to first token"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%d, no %q in:\n%s%s", code, want, out, errs)
		}
	}
	if code, out, _ := call0("--model", "llama-3-70b", "--chip", "L4"); code != 0 || !strings.Contains(out, "NO: the weights on a chip are 141.1 GB") {
		t.Errorf("%d: %s", code, out)
	}
	code, out, _ = call0("--list")
	for _, want := range []string{"NVIDIA H100 SXM", "deepseek-v3", "671026419200", "Q4_1", "no source found"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%d, no %q in the list", code, want)
		}
	}
	if code, out, _ := call0("--help"); code != 0 || !strings.Contains(out, "usage: ") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestSweep(t *testing.T) {
	rows := func(args ...string) [][]string {
		t.Helper()
		code, out, errs := call0(append([]string{"--model", "llama-3-8b", "--chip", "H100 SXM", "--csv"}, args...)...)
		all, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if code != 0 || err != nil {
			t.Fatalf("%v: %d, %s, %v", args, code, errs, err)
		}
		return all
	}
	if got := rows(); len(got) != 12 || got[11][0] != "1024" || got[0][6] != "tpot_s" {
		t.Errorf("%v", got)
	}
	if got := rows("--sweep", "context=1000, 2000"); len(got) != 3 || got[2][1] != "2000" {
		t.Errorf("%v", got)
	}
	got := rows("--sweep", "chips=1,3,16")
	if len(got) != 4 || got[1][12] != "" || !strings.Contains(got[2][12], "divides the heads") || !strings.Contains(got[3][12], "give --link") {
		t.Errorf("%v", got)
	}
}

func TestMistakes(t *testing.T) {
	base := []string{"--model", "llama-3-8b", "--chip", "H100 SXM"}
	with := func(args ...string) []string { return append(append([]string{}, base...), args...) }
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "there is none of that name; the nearest are"},
		{[]string{"--model", "llama-3", "--chip", "L4"}, "it fits more than one: llama-3-8b"},
		{[]string{"--model", "llama-5-8b", "--chip", "L4"}, "the nearest are llama-3-8b"},
		{[]string{"--model", "llama-3-8b", "--chip", "H100"}, "it fits more than one: NVIDIA H100 SXM, NVIDIA H100 PCIe, NVIDIA H100 NVL"},
		{[]string{"--model", "llama-3-8b", "--chip", "H300 SXM"}, "the nearest are NVIDIA H"},
		{with("--config", "x"), "choose one"},
		{[]string{"--config", "/no/such", "--chip", "L4"}, "no such file"},
		{with("--split", "model"), "it must be one of tensor, pipeline, expert, data"},
		{with("--split", "expert", "--chips", "2"), "has no experts"},
		{with("--chips", "3"), "divides the heads, 32"},
		{with("--chips", "0"), "chips is 0"},
		{with("--chips", "16"), "give --link"},
		{with("--chips", "2", "--link", "-1"), "--link is"},
		{[]string{"--model", "llama-3-8b", "--chip", "H100 PCIe", "--chips", "2"}, "link is unknown"},
		{[]string{"--model", "llama-3-8b", "--chip", "Gaudi 3", "--chips", "2"}, "domain is unknown"},
		{[]string{"--model", "llama-3-8b", "--chip", "A100 80GB SXM", "--peak", "fp8"}, "has no units for it"},
		{[]string{"--model", "llama-3-8b", "--chip", "H100 NVL"}, "no rates of it were found"},
		{with("--weights", "int3"), "format is \"int3\""},
		{with("--batch", "0"), "batch is 0"},
		{with("--price", "1e308", "--measured", "1e-6"), "cost is +Inf a million tokens: it must be positive and finite"},
		{with("--watts", "1e308", "--chips", "4"), "power is +Inf W: it must be positive and finite"},
		{with("--context", "0"), "context is 0"},
		{with("--context", "-1"), "context is -1"},
		{with("--prompt", "0"), "--prompt is 0"},
		{with("--chunk", "5"), "goes with --prompt"},
		{with("--batch", "9223372036854775807"), "9223372036854775807"},
		{with("--batch", "9223372036854775808"), "out of range"},
		{with("--batch", "1.5"), "invalid value"},
		{with("--hop", "-1s"), "hop is -1"},
		{with("--measured", "NaN"), "--measured is NaN"},
		{with("--measured", "400"), "--measured: the rate needs"},
		{with("--json", "--csv"), "choose one"},
		{with("--sweep", "batch"), "goes with --csv"},
		{with("--csv", "--sweep", "bits"), "it must be batch, context or chips"},
		{with("--csv", "--sweep", "batch=1,x"), "is no whole number"},
		{with("--list"), "it goes alone"},
		{with("more"), "there are only flags"},
	} {
		code, out, errs := call0(c.args...)
		if code == 0 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d, %q, %q, want %q", c.args, code, out, errs, c.want)
		}
	}
}
