package lesson_test

import (
	"fmt"

	"memorywall/pkg/lesson"
	"memorywall/pkg/roofline"
)

func ExampleCurve() {
	intensity := func(n int64) float64 { return roofline.Square(n, 2).Intensity() }
	line := lesson.Curve("best case", lesson.Doubling(3, 12), intensity)
	for _, p := range line.Points {
		fmt.Println(p.X, p.Y)
	}
	// Output:
	// 3 1
	// 6 2
	// 12 4
}
