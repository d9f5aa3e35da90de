package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memorywall/pkg/roofline"
)

// MachineFile is the name of the file that keeps this machine's roofs.
const MachineFile = "my-roof.json"

// MachinePath returns the path of this machine's file: in the checkout, if the
// current folder is part of it, else in the current folder.
func MachinePath() string {
	dir, err := os.Getwd()
	for err == nil {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		if missing == nil && strings.HasPrefix(string(text), "module memorywall\n") {
			return filepath.Join(dir, MachineFile)
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return MachineFile
}

// SaveMachine writes a machine file; see package roofline for its form. The file
// appears as a whole or not at all, and a file that was there stays until then.
func SaveMachine(path string, m roofline.Machine) (err error) {
	text, err := roofline.EncodeMachine(m)
	if err != nil {
		return err
	}
	if path == "" {
		return errors.New("bench: the path of the machine file is empty: give the file a name")
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("bench: cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("bench: cannot write %s: %w", path, err)
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// LoadMachine reads a machine file. The error names the file and what is wrong
// with it.
func LoadMachine(path string) (roofline.Machine, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return roofline.Machine{}, fmt.Errorf("bench: there is no machine file %s: go run ./scripts/roof writes one", path)
		}
		return roofline.Machine{}, fmt.Errorf("bench: cannot read the machine file: %w", err)
	}
	m, err := roofline.DecodeMachine(text)
	if err != nil {
		return m, fmt.Errorf("bench: %s: %w", path, err)
	}
	if m.Measured != nil {
		if _, err := time.Parse(time.RFC3339, m.Measured.Date); err != nil {
			return roofline.Machine{}, fmt.Errorf("bench: %s: date is %q: it must be of the form 2006-01-02T15:04:05Z", path, m.Measured.Date)
		}
	}
	return m, nil
}
