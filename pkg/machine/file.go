package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"memorywall/pkg/internal/arg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memorywall/pkg/roofline"
)

// SchemaVersion is the version of the machine file that [Encode] writes and
// [Decode] reads; see the package's documentation.
const SchemaVersion = 1

// FileName is the name of the file that keeps this machine's roofs.
const FileName = "my-roof.json"

type machineFile struct {
	Schema *int `json:"schema"`
	Machine
}

// Encode returns the machine file of m, or an error if m is no machine that
// [Decode] would take.
func Encode(m Machine) ([]byte, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	version := SchemaVersion
	text, err := json.MarshalIndent(machineFile{&version, m}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("machine: %q: %w", m.Name, err)
	}
	return append(text, '\n'), nil
}

// Decode returns the machine of a machine file. The error says what is wrong:
// invalid JSON, a duplicate key, an unknown version, a figure that is missing or
// impossible.
func Decode(text []byte) (Machine, error) {
	// The version first: a later form may have other types.
	var version struct {
		Schema *int `json:"schema"`
	}
	if err := decode(text, &version); err != nil {
		return Machine{}, err
	}
	if version.Schema == nil {
		return Machine{}, errors.New("machine: file has no schema: it must have the key \"schema\" with the version of its form")
	}
	if *version.Schema != SchemaVersion {
		return Machine{}, fmt.Errorf("machine: file has schema %d: this program reads schema %d", *version.Schema, SchemaVersion)
	}
	var f machineFile
	if err := decode(text, &f); err != nil {
		return Machine{}, err
	}
	if err := duplicate(json.NewDecoder(bytes.NewReader(text)), ""); err != nil {
		return Machine{}, err
	}
	if err := f.Machine.validate(); err != nil {
		return Machine{}, err
	}
	if f.Machine.Measured != nil {
		f.Machine.Tolerance = roofline.Slack
	}
	return f.Machine, nil
}

func (m Machine) validate() error {
	if err := m.Machine.Validate(); err != nil || m.Measured == nil {
		return err
	}
	d := m.Measured
	err := d.Validate()
	switch {
	case err != nil:
	case !slices.ContainsFunc(d.Peaks, func(p ComputePeak) bool { return p.FLOPS == m.Peak }):
		err = fmt.Errorf("machine: peak_flops is %g: it must be one of the measured peaks", m.Peak)
	case !slices.ContainsFunc(d.Levels, func(l Level) bool { return l.Bandwidth == m.Bandwidth }):
		err = fmt.Errorf("machine: bandwidth_bytes_per_s is %g: it must be that of one of the measured levels", m.Bandwidth)
	default:
		return nil
	}
	return fmt.Errorf("%w (machine %q)", err, m.Name)
}

// decode decodes one JSON value and nothing after it.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(v)
	if err == nil {
		if _, extra := d.Token(); extra != io.EOF {
			return fmt.Errorf("machine: file goes on after its JSON, at byte %d", d.InputOffset())
		}
		return nil
	}
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("machine: file is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("machine: file is truncated after %d bytes", len(text))
	case errors.As(err, &syntax):
		at := max(0, min(int(syntax.Offset)-1, len(text)))
		for _, word := range []string{"NaN", "Infinity", "Inf"} {
			if bytes.HasPrefix(text[at:], []byte(word)) {
				return fmt.Errorf("machine: file holds %s at byte %d: JSON has no such number, and no figure may be one", word, at)
			}
		}
		return fmt.Errorf("machine: file is invalid JSON, at byte %d: %w", at, err)
	}
	return fmt.Errorf("machine: file: %w", err)
}

// duplicate returns an error if an object of the next value, which is valid JSON, has
// a key twice: of two figures nobody knows which one is meant. Keys differ by case
// alone where the decoder takes them for the same.
func duplicate(d *json.Decoder, path string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	open, _ := t.(json.Delim)
	seen := map[string]bool{}
	for i := 0; (open == '{' || open == '[') && d.More(); i++ {
		inner := fmt.Sprintf("%s[%d]", path, i)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name := fmt.Sprint(key)
			inner = strings.TrimPrefix(path+"."+name, ".")
			if seen[strings.ToLower(name)] {
				return fmt.Errorf("machine: file has a duplicate key: %.100q", inner)
			}
			seen[strings.ToLower(name)] = true
		}
		if err := duplicate(d, inner); err != nil {
			return err
		}
	}
	if open != 0 {
		_, err = d.Token() // the closing one
	}
	return err
}

// Path returns the path of this machine's file: in the checkout, if the current
// folder is part of it, else in the current folder.
func Path() string {
	dir, err := os.Getwd()
	for err == nil {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		if missing == nil && strings.HasPrefix(string(text), "module memorywall\n") {
			return filepath.Join(dir, FileName)
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return FileName
}

// Save writes a machine file. The file appears as a whole or not at all, and a file
// that was there stays until then and gives its mode to the new one. Where path is
// a symbolic link, what it names is written.
func Save(path string, m Machine) (err error) {
	text, err := Encode(m)
	if err != nil {
		return err
	}
	if path == "" {
		return errors.New("machine: the path of the machine file is empty: give the file a name")
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("machine: cannot write %s: %w", path, err)
		}
	}()
	target, mode := Target(path), fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}

// Target returns the file that is written for a path: what it names as a symbolic
// link, whether that is there yet or not, or itself.
func Target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	link, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(link):
		return link
	}
	return filepath.Join(filepath.Dir(path), link)
}

// Load reads a machine file. The error names the file and what is wrong with it.
func Load(path string) (Machine, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return Machine{}, fmt.Errorf("machine: there is no machine file %s: go run ./scripts/roof writes one", path)
		}
		return Machine{}, fmt.Errorf("machine: cannot read the machine file: %w", err)
	}
	m, err := Decode(text)
	if err != nil {
		return m, fmt.Errorf("machine: %s: %w", path, err)
	}
	if m.Measured != nil {
		if _, err := time.Parse(time.RFC3339, m.Measured.Date); err != nil {
			return Machine{}, fmt.Errorf("machine: %s: date is %q: it must be of the form 2006-01-02T15:04:05Z", path, m.Measured.Date)
		}
	}
	return m, nil
}

// Mine returns the roofs of this machine: those that its file keeps, or, where there
// is no file, or it is another machine's, those that are measured now, for
// [QuickTime] if o has no time, and saved; a warning says if they cannot be. All
// chapters take their roofs from here.
func Mine(ctx context.Context, o Options) (Machine, error) {
	m, err := Load(Path())
	if err == nil && Other(m, ReadHost()) == "" {
		return m, nil
	}
	if _, missing := os.Stat(Path()); err != nil && missing == nil {
		return Machine{}, err
	}
	if o.Time == 0 {
		o.Time = QuickTime
	}
	if m, err = Measure(ctx, o); err != nil {
		return Machine{}, err
	}
	if err := Save(Path(), m); err != nil {
		m.Measured.Warnings = append(m.Measured.Warnings, "not kept, the next chapter measures again: "+err.Error())
	}
	return m, nil
}

// Here is [Mine] for a cell: with the usual options, and what went wrong as a panic
// that the lesson shows.
func Here() Machine {
	m, err := Mine(context.Background(), Options{})
	if err != nil {
		arg.Panic(arg.Errorf("machine", Path(), "%w", err))
	}
	return m
}

// Other says in which way a measured machine is another one than a host, or nothing
// if it may be the same.
func Other(m Machine, h Host) string {
	if m.Measured == nil {
		return m.Name + " is not measured"
	}
	was := m.Measured.Host
	switch {
	case was.CPU != h.CPU || was.Arch != h.Arch || was.OS != h.OS:
		return fmt.Sprintf("the roofs are those of another machine: %s, %s/%s", was.CPU, was.OS, was.Arch)
	case was.Threads > 1 && was.Threads > h.Cores:
		return fmt.Sprintf("the roofs are those of %d threads, and this machine has %d logical cores", was.Threads, h.Cores)
	}
	return ""
}
