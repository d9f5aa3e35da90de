package explore_test

import (
	"fmt"

	"memorywall/pkg/explore"
)

func ExampleDraw() {
	view, err := explore.Draw("roofline", map[string]string{"m": "4096", "n": "4096", "k": "4096", "traffic": "naive"}, 760)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range view.Values[:3] {
		fmt.Println(v.Label+":", v.Text)
	}
	// Output:
	// work: 137,438,953,472 FLOPs
	// loads: 137,438,953,472 elements
	// stores: 16,777,216 elements
}
