package roofline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// SchemaVersion is the version of the machine file that [EncodeMachine] writes
// and [DecodeMachine] reads; see the package's documentation.
const SchemaVersion = 1

type machineFile struct {
	Schema *int `json:"schema"`
	Machine
}

// EncodeMachine returns the machine file of m, or an error if m is no machine
// that [DecodeMachine] would take.
func EncodeMachine(m Machine) ([]byte, error) {
	if err := m.validateAll(); err != nil {
		return nil, err
	}
	version := SchemaVersion
	text, err := json.MarshalIndent(machineFile{&version, m}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("roofline: machine %q: %w", m.Name, err)
	}
	return append(text, '\n'), nil
}

// DecodeMachine returns the machine of a machine file. The error says what is
// wrong: no JSON, an unknown version, a figure that is missing or impossible.
func DecodeMachine(text []byte) (Machine, error) {
	// The version first: a later form may have other types.
	var version struct {
		Schema *int `json:"schema"`
	}
	if err := decode(text, &version); err != nil {
		return Machine{}, err
	}
	if version.Schema == nil {
		return Machine{}, errors.New("roofline: machine file has no schema: it must have the key \"schema\" with the version of its form")
	}
	if *version.Schema != SchemaVersion {
		return Machine{}, fmt.Errorf("roofline: machine file has schema %d: this program reads schema %d", *version.Schema, SchemaVersion)
	}
	var f machineFile
	if err := decode(text, &f); err != nil {
		return Machine{}, err
	}
	if err := f.Machine.validateAll(); err != nil {
		return Machine{}, err
	}
	return f.Machine, nil
}

func (m Machine) validateAll() error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.Measured == nil {
		return nil
	}
	if err := m.Measured.Validate(); err != nil {
		return fmt.Errorf("%w (machine %q)", err, m.Name)
	}
	return nil
}

// decode decodes one JSON value and nothing after it.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(v)
	if err == nil {
		if _, extra := d.Token(); extra != io.EOF {
			return fmt.Errorf("roofline: machine file goes on after its JSON, at byte %d", d.InputOffset())
		}
		return nil
	}
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("roofline: machine file is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("roofline: machine file breaks off after %d bytes", len(text))
	case errors.As(err, &syntax):
		at := max(0, min(int(syntax.Offset)-1, len(text)))
		for _, word := range []string{"NaN", "Infinity", "Inf"} {
			if bytes.HasPrefix(text[at:], []byte(word)) {
				return fmt.Errorf("roofline: machine file holds %s at byte %d: JSON has no such number, and no figure may be one", word, at)
			}
		}
		return fmt.Errorf("roofline: machine file is no JSON, at byte %d: %w", at, err)
	}
	return fmt.Errorf("roofline: machine file: %w", err)
}
