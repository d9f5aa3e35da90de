package pick

import (
	"strings"
	"testing"
)

func TestOne(t *testing.T) {
	things := []string{"NVIDIA L4", "NVIDIA L40S", "NVIDIA B200", "NVIDIA GB200", "NVIDIA A100 40GB SXM", "NVIDIA A100 80GB SXM", "Mixtral 8×7B"}
	one := func(text string) (int, error) {
		return One("p", "thing", text, len(things), func(i int) []string { return []string{things[i]} })
	}
	for text, want := range map[string]string{
		"L4": "NVIDIA L4", "nvidia l4": "NVIDIA L4", "l40": "NVIDIA L40S", "b200": "NVIDIA B200", "gb": "NVIDIA GB200", "a10080gbsxm": "NVIDIA A100 80GB SXM",
		"A100 80": "NVIDIA A100 80GB SXM", "sxm 40": "NVIDIA A100 40GB SXM", "8x7b": "Mixtral 8×7B", "ixtra": "Mixtral 8×7B",
	} {
		if i, err := one(text); err != nil || things[i] != want {
			t.Errorf("%q is %q, %v, want %q", text, things[i], err, want)
		}
	}
	for text, want := range map[string]string{
		"sxm 4": "there is none", "A100": "it fits more than one: NVIDIA A100 40GB SXM, NVIDIA A100 80GB SXM", "": "there is none", " - ": "there is none",
		"A100 90": "nearest are NVIDIA A100 40GB SXM, NVIDIA A100 80GB SXM", "mistral": "nearest are Mixtral 8×7B",
	} {
		if i, err := one(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %d, %v, want %q", text, i, err, want)
		}
	}
}
