//go:build js && wasm

// Command wasm is pkg/explore for the browser. It puts one function into the
// page, memorywallDraw(name, settings, width): the name of an explorer, its
// settings as a JSON object of texts, and the width of the picture in pixels.
// The answer is the explore.View as JSON, or {"failed": "why"}.
package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"

	"memorywall/pkg/explore"
)

func main() {
	js.Global().Set("memorywallDraw", js.FuncOf(draw))
	select {} // the page calls draw from now on
}

func draw(_ js.Value, args []js.Value) any {
	if len(args) != 3 {
		return failed(fmt.Errorf("memorywallDraw takes a name, settings and a width: %d arguments came", len(args)))
	}
	var settings map[string]string
	if err := json.Unmarshal([]byte(args[1].String()), &settings); err != nil {
		return failed(fmt.Errorf("settings must be a JSON object of texts: %w", err))
	}
	view, err := explore.Draw(args[0].String(), settings, args[2].Int())
	if err != nil {
		return failed(err)
	}
	answer, err := json.Marshal(view)
	if err != nil {
		return failed(err)
	}
	return string(answer)
}

func failed(err error) string {
	answer, _ := json.Marshal(map[string]string{"failed": err.Error()}) // texts always encode
	return string(answer)
}
