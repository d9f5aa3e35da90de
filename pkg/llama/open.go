package llama

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Open maps a GGUF file into memory and parses it. Nothing is read but the
// header; the tensors' bytes come when they are first used. Close it when
// nothing that was made of it is in use any more.
func Open(path string) (*File, error) {
	h, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err == nil && (info.Size() > maxMapping || info.Size() < 1) {
		err = fmt.Errorf("%w: %s has %d bytes", ErrTruncated, path, info.Size())
	}
	var data []byte
	var unmap func() error
	if err == nil {
		data, unmap, err = mapFile(h, int(info.Size()))
	}
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("llama: %w", err)
	}
	release := func() error { return errors.Join(unmap(), h.Close()) }
	var f *File
	err = guard(path, func() (err error) {
		f, err = Parse(data)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, release())
	}
	f.release = release
	f.intact = func() error {
		if now, err := h.Stat(); err != nil || now.Size() < int64(len(data)) {
			return fmt.Errorf("llama: %w: %s", ErrChanged, path)
		}
		return nil
	}
	return f, nil
}

const maxMapping = int64(^uint(0) >> 1)

// Close gives the mapping back. Whatever points into the tensors must not be
// used afterwards.
func (f *File) Close() error {
	if f.release == nil {
		return nil
	}
	release := f.release
	f.release, f.intact = nil, nil
	return release()
}

// guard runs f, and turns the fault of reading a mapped file that another
// program has cut short meanwhile (SIGBUS) into an error.
func guard(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			err = fmt.Errorf("llama: %w: %s", ErrChanged, path)
		}
	}()
	return f()
}

// guard runs f, which reads the weights, with [guard] where they lie in a file.
func (m *Model) guard(f func() error) error {
	if m.file == nil {
		return f()
	}
	return guard(m.path, f)
}

// ModelFile is where the lesson's set-up puts the model, from the checkout.
const ModelFile = ".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf"

// ErrNoModel says that there is no model, and what fetches it.
var ErrNoModel = errors.New("no language model here: fetch it with ./scripts/lesson --setup-only, or name a GGUF file")

// FindModel returns the path of the lesson's model: what the environment
// variable MEMORYWALL_MODEL names, or else [ModelFile] in the checkout that the
// working folder belongs to. Where neither is, the error wraps [ErrNoModel].
func FindModel() (string, error) {
	if path := os.Getenv("MEMORYWALL_MODEL"); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("llama: MEMORYWALL_MODEL: %w (%w)", err, ErrNoModel)
		}
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("llama: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, filepath.FromSlash(ModelFile)); isFile(path) {
			return path, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("llama: %w", ErrNoModel)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.FileMode(0)
}
