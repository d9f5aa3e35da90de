package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

//go:embed helper/openblas.c
var helperSource []byte

// openBLAS is the running helper.
type openBLAS struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	dir    string
	config string
}

// findLibrary asks numpy where its OpenBLAS lies.
const findLibrary = `
import glob, os, numpy
home = os.path.dirname(numpy.__file__)
for pattern in ("../numpy.libs/*openblas*", ".libs/*openblas*", ".dylibs/*openblas*"):
    for path in sorted(glob.glob(os.path.join(home, pattern))):
        print(os.path.realpath(path))
`

func startOpenBLAS(ctx context.Context, python, core string) (*openBLAS, error) {
	candidates := []string{python}
	if python == "" {
		candidates = []string{filepath.Join(".venv", "bin", "python"), "python3"}
	}
	var library string
	var problems []error
	for _, p := range candidates {
		out, err := exec.CommandContext(ctx, p, "-c", findLibrary).Output()
		if err != nil {
			var ended *exec.ExitError
			if errors.As(err, &ended) {
				err = fmt.Errorf("%s cannot import numpy (%w): %s -m pip install -r scripts/requirements-compare.txt", p, err, p)
			}
			problems = append(problems, err)
			continue
		}
		if library, _, _ = strings.Cut(string(out), "\n"); library != "" {
			break
		}
		problems = append(problems, fmt.Errorf("the numpy of %s bundles no OpenBLAS", p))
	}
	if library == "" {
		return nil, errors.Join(problems...)
	}
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		return nil, err
	}
	b := &openBLAS{dir: dir}
	if err := b.start(ctx, library, core); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

func (b *openBLAS) start(ctx context.Context, library, core string) error {
	source, program := filepath.Join(b.dir, "openblas.c"), filepath.Join(b.dir, "openblas")
	if err := os.WriteFile(source, helperSource, 0o600); err != nil {
		return err
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-o", program, source, "-ldl").CombinedOutput(); err != nil {
		first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("%s cannot build the helper: %w: %.200s", cc, err, first)
	}
	b.cmd = exec.CommandContext(ctx, program, library)
	for _, v := range os.Environ() {
		// Nothing shall keep the library from its best kernel.
		if !strings.HasPrefix(v, "OPENBLAS_") && !strings.HasPrefix(v, "OMP_") && !strings.HasPrefix(v, "GOTO_") {
			b.cmd.Env = append(b.cmd.Env, v)
		}
	}
	if core != "" {
		b.cmd.Env = append(b.cmd.Env, "OPENBLAS_CORETYPE="+core)
	}
	b.cmd.Stderr = os.Stderr
	in, err := b.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	b.in, b.out = in, bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		return err
	}
	b.config, err = b.ask("config")
	return err
}

// ask sends one command and returns the helper's line.
func (b *openBLAS) ask(format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(b.in, format+"\n", args...); err != nil {
		return "", fmt.Errorf("OpenBLAS helper: %w", err)
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("OpenBLAS helper: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// tell sends a command that is answered by ok.
func (b *openBLAS) tell(format string, args ...any) error {
	answer, err := b.ask(format, args...)
	if err == nil && answer != "ok" {
		err = fmt.Errorf("OpenBLAS helper said %.100q, not ok", answer)
	}
	return err
}

// run makes reps calls and returns the seconds they took and one element of the
// result.
func (b *openBLAS) run(reps int) (seconds, element float64, err error) {
	line, err := b.ask("run %d", reps)
	if err != nil {
		return 0, 0, err
	}
	var cpu float64
	if _, err := fmt.Fscan(bytes.NewReader([]byte(line)), &seconds, &cpu, &element); err != nil {
		return 0, 0, fmt.Errorf("OpenBLAS helper said %q: %w", line, err)
	}
	return seconds, element, nil
}

// pause takes the helper off the cores, and resume lets it go on.
func (b *openBLAS) pause() error { return b.signal(syscall.SIGSTOP) }

func (b *openBLAS) resume() error { return b.signal(syscall.SIGCONT) }

func (b *openBLAS) signal(s syscall.Signal) error {
	if err := b.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("OpenBLAS helper: %w", err)
	}
	return nil
}

func (b *openBLAS) stop() {
	if b.in != nil {
		b.in.Close()
	}
	if b.cmd != nil && b.cmd.Process != nil {
		b.cmd.Process.Signal(syscall.SIGCONT) //nolint:errcheck // it may have ended
		b.cmd.Wait()                          //nolint:errcheck // it ends when its input does
	}
	os.RemoveAll(b.dir)
}
