package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/internal/yamlfile"
)

// Load reads a machine description from a file.
func Load(name string) (*Machine, error) {
	data, err := yamlfile.Read(name)
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
	// The YAML package panics at paths through some malformed input.
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%s: malformed YAML: %v", file, r)
		}
	}()
	var d description
	tree, err := yamlfile.Decode(file, data, &d)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file, tree: tree, used: make(map[string]bool)}
	m = r.machine(&d)
	if r.err != nil {
		return nil, r.err
	}
	m.Path = file
	m.Name = strings.TrimSuffix(filepath.Base(file), ".yaml")
	return m, nil
}
