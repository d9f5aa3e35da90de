package lesson

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)

// Progress returns a function that shows how far a long run is, as one bar
// that updates in place. Call it with the number done and the total; the bar
// is complete when done reaches total.
func Progress(title string) func(done, total int) {
	var (
		mu    sync.Mutex
		last  time.Time
		start = time.Now()
		id    = "memorywall-progress-" + gonbui.UniqueId()
	)
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if done < total && now.Sub(last) < 100*time.Millisecond {
			return
		}
		last = now
		total = max(total, 1)
		done = min(max(done, 0), total)
		if done == total {
			s := fmt.Sprintf("%s: done in %s", title, SI(now.Sub(start).Seconds(), "s"))
			screen.show(block{ID: id, HTML: `<div>` + esc(s) + `</div>`, Text: s + "\n"})
			return
		}
		const width = 30
		filled := width * done / total
		s := fmt.Sprintf("%s [%s%s] %d of %d", title, strings.Repeat("#", filled), strings.Repeat(".", width-filled), done, total)
		screen.show(block{
			ID:   id,
			HTML: fmt.Sprintf(`<div>%s <progress value="%d" max="%d"></progress> %d of %d</div>`, esc(title), done, total, done, total),
			Text: s,
		})
	}
}
