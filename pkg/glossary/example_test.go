package glossary_test

import (
	"fmt"

	"memorywall/pkg/glossary"
)

func ExampleLookup() {
	term, err := glossary.Lookup("intensity")
	fmt.Println(term.Name, term.Unit, term.Link(), err)
	_, err = glossary.Lookup("machine balance")
	fmt.Println(err)
	// Output:
	// arithmetic intensity FLOP/byte glossary.ipynb#cell-id=term-arithmetic-intensity <nil>
	// glossary: name is "machine balance": this lesson says "ridge point"
}

func ExampleFind() {
	const text = "The compulsory traffic of a tile"
	for _, use := range glossary.Find(text) {
		fmt.Println(text[use.Start:use.End])
	}
	// Output:
	// compulsory traffic
	// tile
}
