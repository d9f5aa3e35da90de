package matmul_test

import (
	"fmt"
	"log"

	"memorywall/pkg/matmul"
)

// C = A·B for row-major matrices: 2×3 times 3×2.
func ExampleMultiply() {
	a := []float32{
		1, 2, 3,
		4, 5, 6,
	}
	b := []float32{
		1, 0,
		0, 1,
		2, 2,
	}
	c := make([]float32, 4)
	if err := matmul.Multiply(2, 2, 3, a, 3, b, 2, c, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output: [7 8 16 17]
}

// A leading dimension that is too small is refused, and the result left alone.
func ExampleMultiply_error() {
	c := make([]float64, 4)
	err := matmul.Multiply(2, 2, 3, make([]float64, 6), 2, make([]float64, 6), 2, c, 2)
	fmt.Println(err)
	// Output: matmul: lda is 2: it must be at least k = 3, the row of a
}

// Three products of 1×2 and 2×1 in one call.
func ExampleMultiplyBatch() {
	a := []float32{1, 2, 3, 4, 5, 6}
	b := []float32{1, 1, 1, 0, 0, 1}
	c := make([]float32, 3)
	if err := matmul.MultiplyBatch(3, 1, 1, 2, a, b, c); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output: [3 3 6]
}

// C = A·B + C in plain Go on one thread.
func ExampleNew() {
	add, err := matmul.New[float64](matmul.ISA("go"), matmul.Threads(1), matmul.Beta(1))
	if err != nil {
		log.Fatal(err)
	}
	c := []float64{100}
	if err := add(1, 1, 2, []float64{1, 2}, 2, []float64{3, 4}, 1, c, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output: [111]
}

// A row of 32 weights of 4 bits, as a GGUF file stores it, and its product with
// activations: weight i is 0.5·i - 1 for i below 16, and -1 from there on.
func ExampleNewWeights() {
	data := []byte{0x00, 0x38, 0x00, 0xbc} // 0.5 and -1 in binary16
	for i := range 16 {
		data = append(data, byte(i))
	}
	w, err := matmul.NewWeights(matmul.Q4_1, 1, 32, data)
	if err != nil {
		log.Fatal(err)
	}
	x, y := make([]float32, 32), make([]float32, 1)
	x[3], x[31] = 2, 10
	if err := w.Mul(y, x, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Bytes(), "bytes:", y)
	// Output: 20 bytes: [-9]
}

// Many short products on threads that stay awake in between.
func ExampleTeam() {
	team := matmul.NewTeam(2)
	defer team.Close()
	multiply, err := matmul.New[float32](matmul.OnTeam(team))
	if err != nil {
		log.Fatal(err)
	}
	x, y := []float32{1, 1}, make([]float32, 2)
	for range 5 {
		if err := multiply(1, 2, 2, x, 2, []float32{1, 1, 1, 0}, 2, y, 2); err != nil {
			log.Fatal(err)
		}
		x, y = y, x
	}
	fmt.Println(x)
	// Output: [13 8]
}
