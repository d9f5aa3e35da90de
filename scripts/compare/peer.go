package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// A peer is a program that has what we time against. It answers each line with a
// line, after a first one that says what it is. Outside of its turns it is stopped:
// its threads may wait for work in a busy loop, and would take the cores from whoever
// has the turn.
type peer struct {
	is string

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(cmd *exec.Cmd) (*peer, error) {
	p := &peer{cmd: cmd}
	var said bytes.Buffer
	cmd.Stderr = &said
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if p.is, err = p.answer(); err == nil {
		return p, p.signal(syscall.SIGSTOP)
	}
	p.stop()
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return nil, errors.New(cmp.Or(lines[len(lines)-1], err.Error()))
}

// turn lets the program run while f does.
func (p *peer) turn(f func() error) error {
	if err := p.signal(syscall.SIGCONT); err != nil {
		return err
	}
	return errors.Join(f(), p.signal(syscall.SIGSTOP))
}

// errCannot is the error where the program answers "?".
var errCannot = errors.New("it cannot do that")

// ask sends a line, within a turn, and reads the numbers that answer it.
func (p *peer) ask(numbers []any, format string, args ...any) error {
	_, err := fmt.Fprintf(p.in, format+"\n", args...)
	var line string
	if err == nil {
		line, err = p.answer()
	}
	if line == "?" {
		return errCannot
	}
	if err == nil {
		_, err = fmt.Sscan(line, numbers...)
	}
	if err != nil {
		return fmt.Errorf("%s said %.100q: %w", p.is, line, err)
	}
	return nil
}

func (p *peer) answer() (string, error) {
	line, err := p.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

func (p *peer) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%s: %w", p.is, err)
	}
	return nil
}

func (p *peer) stop() {
	p.in.Close()
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
	p.cmd.Wait()         //nolint:errcheck // killed
}
