package lesson

import (
	"encoding/gob"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// notebook sends blocks to the GoNB kernel over its two pipes, with gonbui's
// protocol. The package gonbui itself speaks it too, but brings net and klog
// along, and with them a quarter of the time that a cell takes to build.
//
// A pipe carries one stream of gob: a cell that shows things with this package
// must not show others with gonbui.
type notebook struct {
	to, from string // paths of the pipes

	mu    sync.Mutex
	send  *gob.Encoder
	acks  chan int
	count int
	lost  bool // the kernel does not answer
}

// ackLimit bounds the wait for the kernel to take what was sent.
var ackLimit = 10 * time.Second

func (n *notebook) rich() bool { return true }

func (n *notebook) show(b block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost {
		fmt.Println(b.Text)
		return
	}
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: b.Text}
	if b.HTML != "" {
		data[protocol.MIMETextHTML] = b.HTML
	}
	if b.Markdown != "" {
		data[protocol.MIMETextMarkdown] = b.Markdown
	}
	err := n.open()
	if err == nil {
		err = n.send.Encode(&protocol.DisplayData{Data: data, DisplayID: b.ID})
	}
	if err == nil {
		err = n.wait()
	}
	if err != nil {
		n.lost = true
		fmt.Fprintf(os.Stderr, "lesson: cannot show output in the notebook: %v. A cell that uses this package must not use gonbui.\n", err)
		fmt.Println(b.Text)
	}
}

// open opens the pipes once. Both calls wait for the kernel to open its end.
func (n *notebook) open() error {
	if n.send != nil {
		return nil
	}
	to, err := os.OpenFile(n.to, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	from, err := os.Open(n.from)
	if err != nil {
		return err
	}
	n.send = gob.NewEncoder(to)
	n.acks = make(chan int, 16)
	go func() {
		receive := gob.NewDecoder(from)
		for {
			var v protocol.CommValue
			if receive.Decode(&v) != nil {
				close(n.acks)
				return
			}
			if id, ok := v.Value.(int); ok && v.Address == protocol.GonbuiSyncAckAddress {
				n.acks <- id
			}
		}
	}()
	return nil
}

// wait returns when the kernel has read all that was sent. The program may end
// right after, and what is in the pipe by then is lost.
func (n *notebook) wait() error {
	n.count++
	err := n.send.Encode(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMECommValue: protocol.CommValue{Address: protocol.GonbuiSyncAddress, Value: n.count},
	}})
	if err != nil {
		return err
	}
	limit := time.NewTimer(ackLimit)
	defer limit.Stop()
	for {
		select {
		case id, ok := <-n.acks:
			if !ok {
				return fmt.Errorf("the kernel closed its pipe")
			}
			if id == n.count {
				return nil
			}
		case <-limit.C:
			return fmt.Errorf("the kernel does not answer")
		}
	}
}
