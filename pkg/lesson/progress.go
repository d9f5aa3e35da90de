package lesson

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Progress returns a function that shows how far a long run is, as one bar
// that updates in place. Call it with the number done and the total; the bar
// is complete when done reaches total.
func Progress(title string) func(done, total int) {
	var (
		mu    sync.Mutex
		last  time.Time
		start = time.Now()
		id    = fmt.Sprintf("memorywall-progress-%d-%d", os.Getpid(), start.UnixNano())
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
			screen.show(block{ID: id, HTML: `<div style="` + styleMuted + `">` + esc(s) + `</div>`, Text: s + "\n"})
			return
		}
		const width = 30
		filled := width * done / total
		screen.show(block{
			ID: id,
			HTML: fmt.Sprintf(`<div style="display:flex;align-items:center">%s`+
				`<div style="width:200px;height:10px;margin:0 10px;border:1px solid #8c959f;border-radius:5px">`+
				`<div style="width:%.1f%%;height:10px;background:#0072b2;border-radius:4px"></div></div>%d of %d</div>`,
				esc(title), 100*float64(done)/float64(total), done, total),
			Text: fmt.Sprintf("%s [%s%s] %d of %d", title, strings.Repeat("#", filled), strings.Repeat(".", width-filled), done, total),
		})
	}
}

// Writer returns a writer whose text grows in one place of the cell's output while
// it is being written.
func Writer() io.Writer {
	return &writer{id: fmt.Sprintf("memorywall-text-%d-%d", os.Getpid(), time.Now().UnixNano())}
}

type writer struct {
	mu   sync.Mutex
	id   string
	text strings.Builder
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	text := w.text.String()
	screen.show(block{ID: w.id, HTML: `<div style="white-space:pre-wrap;line-height:1.5">` + esc(text) + `</div>`, Text: text})
	return len(p), nil
}
