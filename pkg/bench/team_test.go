package bench

import "testing"

// No thread or nothing to do is no mistake.
func TestTogetherWithNothing(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {-1, 1}, {1, 0}, {2, -1}} {
		if got := Together(c[0], c[1], func(int, int) { t.Errorf("%v: called", c) }); len(got) != 0 {
			t.Errorf("Together(%d, %d) gives %v", c[0], c[1], got)
		}
	}
}
