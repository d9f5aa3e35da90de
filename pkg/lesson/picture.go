package lesson

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"memorywall/pkg/internal/svg"
)

// renderEnv names the environment variable that holds the folder in which
// scripts/charts/render.mjs waits for figures. Without it figures have no static
// picture, and are drawn by the page alone.
const renderEnv = "MEMORYWALL_RENDER"

// renderLimit bounds the wait for a picture: the first one may find the
// renderer still starting.
var renderLimit = 2 * time.Second

// picture returns the option drawn as SVG, or nil when there is no renderer
// that answers in time. A figure is handed over as a file NAME.json and comes
// back as NAME.svg, both complete when they are there.
func picture(option []byte, id string, width, height int) []byte {
	folder := os.Getenv(renderEnv)
	if folder == "" {
		return nil
	}
	name := filepath.Join(folder, fmt.Sprintf("%d-%s", os.Getpid(), id))
	asked, err := json.Marshal(map[string]any{"id": id, "width": width, "height": height, "option": json.RawMessage(option)})
	if err == nil {
		err = os.WriteFile(name+".new", asked, 0o600)
	}
	if err == nil {
		err = os.Rename(name+".new", name+".json")
	}
	if err != nil {
		return nil
	}
	defer os.Remove(name + ".svg")
	for deadline := time.Now().Add(renderLimit); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if drawn, err := os.ReadFile(name + ".svg"); err == nil {
			if len(drawn) == 0 { // the renderer could not
				return nil
			}
			return []byte(svg.Still(string(drawn)))
		}
	}
	os.Remove(name + ".json")
	return nil
}
