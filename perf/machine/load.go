package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"presage/perf/internal/yamldepth"
)

// maxFileBytes bounds a description: a hundred times the longest one.
const maxFileBytes = 1 << 20

// Load reads a machine description from a file.
func Load(name string) (*Machine, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	return Parse(name, data)
}

// Find reads the description called name, such as "origin2000" for
// origin2000.yaml, from the first of the folders that has it. If none has, the
// error lists the available names.
func Find(name string, dirs ...fs.FS) (*Machine, error) {
	for _, dir := range dirs {
		data, err := fs.ReadFile(dir, name+".yaml")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("machine: %w", err)
		}
		return Parse(name+".yaml", data)
	}
	names, err := Names(dirs...)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("machine: no description of %q; there are %s, or name a .yaml file", name, strings.Join(names, ", "))
}

// Names returns the names of the descriptions in the folders, ascending.
func Names(dirs ...fs.FS) ([]string, error) {
	var names []string
	for _, dir := range dirs {
		files, err := fs.Glob(dir, "*.yaml")
		if err != nil {
			return nil, fmt.Errorf("machine: %w", err)
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Parse reads a machine description. Unknown keys, missing values and
// impossible ones are errors that begin with file:line:column. The machine is
// named after the file.
func Parse(file string, data []byte) (m *Machine, err error) {
	// The YAML package panics at some malformed input, such as a tag before a
	// missing sequence.
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%s: malformed YAML: %v", file, r)
		}
	}()
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s: %d bytes are too many for a machine description (at most %d)", file, len(data), maxFileBytes)
	}
	if err := yamldepth.Check(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var d description
	if err := yaml.UnmarshalWithOptions(data, &d, yaml.Strict()); err != nil {
		return nil, positioned(file, err)
	}
	r, err := newReader(file, data)
	if err != nil {
		return nil, err
	}
	m = r.machine(&d)
	if r.err != nil {
		return nil, r.err
	}
	m.Path = file
	m.Name = strings.TrimSuffix(filepath.Base(file), ".yaml")
	return m, nil
}

// positioned puts file:line:column before an error of the YAML package.
func positioned(file string, err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		p := y.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", file, p.Line, p.Column, y.GetMessage())
	}
	return fmt.Errorf("%s: %w", file, err)
}
