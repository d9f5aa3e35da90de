package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"memorywall/pkg/bench"
)

//go:embed helper/openblas.c
var helperSource []byte

// findLibrary asks numpy where its OpenBLAS lies.
const findLibrary = `
import glob, os, numpy
home = os.path.dirname(numpy.__file__)
for pattern in ("../numpy.libs/*openblas*", ".libs/*openblas*", ".dylibs/*openblas*"):
    for path in sorted(glob.glob(os.path.join(home, pattern))):
        print(os.path.realpath(path))
`

func startOpenBLAS(ctx context.Context, python, core string) (*peer, error) {
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
	defer os.RemoveAll(dir) // a program that runs needs its file no more
	return startBLAS(ctx, dir, library, core)
}

// startBLAS builds the helper in a folder and starts it.
func startBLAS(ctx context.Context, dir, library, core string) (*peer, error) {
	source, program := filepath.Join(dir, "openblas.c"), filepath.Join(dir, "openblas")
	if err := os.WriteFile(source, helperSource, 0o600); err != nil {
		return nil, err
	}
	cc := cmp.Or(os.Getenv("CC"), "cc")
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-o", program, source, "-ldl").CombinedOutput(); err != nil {
		first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		return nil, fmt.Errorf("%s cannot build the helper: %w: %.200s", cc, err, first)
	}
	cmd := exec.CommandContext(ctx, program, library)
	for _, v := range os.Environ() {
		// Nothing shall keep the library from its best kernel.
		if !strings.HasPrefix(v, "OPENBLAS_") && !strings.HasPrefix(v, "OMP_") && !strings.HasPrefix(v, "GOTO_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if core != "" {
		cmd.Env = append(cmd.Env, "OPENBLAS_CORETYPE="+core)
	}
	return startPeer(cmd)
}

const openBLASName = "OpenBLAS"

// blasCase returns a case for what OpenBLAS's helper can do of a job.
func blasCase(b *peer, j job, threads int) (bench.Case, error) {
	done, short := 0, true // calls, and whether one takes less than a turn
	run := func(calls int) (time.Duration, error) {
		var seconds, got float64
		err := b.ask([]any{&seconds, &got}, "run %d", calls)
		done += calls
		if want := j.first((done - 1) % j.copies); err == nil && !(math.Abs(got-want) <= 0) {
			err = fmt.Errorf("the result begins with %v: it must be %v", got, want)
		}
		return time.Duration(seconds * 1e9), err
	}
	timed := func(calls int) (d time.Duration, err error) {
		err = b.turn(func() error {
			// A call that is not timed wakes the threads and gets the caches back.
			if short {
				if _, err := run(1); err != nil {
					return err
				}
			}
			d, err = run(calls)
			short = d < turn*time.Duration(calls)
			return err
		})
		return d, err
	}
	err := b.turn(func() error {
		return errors.Join(b.ask(nil, "threads %d", threads), b.ask(nil, "%s", j.blas))
	})
	return bench.Case{Name: openBLASName, Warm: func() {}, Timed: timed}, err
}
