// Package engines chooses the engine that runs an executable: an objfile.File and a
// name go in, an engine.Engine comes out. It is the only package that names the
// implementations; a new one is added in function all.
package engines

import (
	"errors"
	"fmt"
	"strings"

	"presage/perf/engine"
	"presage/perf/engine/native"
	"presage/perf/engine/rv64"
	"presage/perf/objfile"
)

// all returns the engines. The first that accepts an executable is its default.
func all() []engine.Engine { return []engine.Engine{rv64.Engine{}, native.Engine{}} }

// Auto names an executable's default engine.
const Auto = "auto"

// For returns the default engine of f.
func For(f *objfile.File) (engine.Engine, error) { return choose(all(), f) }

// Named returns the engine for f called name: Auto or "" for the default engine,
// the name of an engine, or the name of a mode of the default engine.
func Named(f *objfile.File, name string) (engine.Engine, error) { return named(all(), f, name) }

func choose(list []engine.Engine, f *objfile.File) (engine.Engine, error) {
	var reasons []error
	for _, e := range list {
		err := e.Accepts(f)
		if err == nil {
			return e, nil
		}
		reasons = append(reasons, err)
	}
	return nil, fmt.Errorf("engines: no engine runs this executable: %w", errors.Join(reasons...))
}

func named(list []engine.Engine, f *objfile.File, name string) (engine.Engine, error) {
	first, err := choose(list, f)
	if err != nil || name == "" || name == Auto {
		return first, err
	}
	names := []string{Auto}
	if m, ok := first.(engine.Moded); ok {
		for _, mode := range m.Modes() {
			if mode == name {
				return m.InMode(name)
			}
			names = append(names, mode)
		}
	}
	for _, e := range list {
		id := e.Identity()
		if e.Accepts(f) != nil {
			continue
		}
		if id.Name == name {
			return e, nil
		}
		if id != first.Identity() { // Auto names the first
			names = append(names, id.Name)
		}
	}
	return nil, &UnknownError{Name: name, Names: names}
}

// UnknownError means that no engine has the given name.
type UnknownError struct {
	Name  string
	Names []string // the valid names
}

func (e *UnknownError) Error() string {
	last := len(e.Names) - 1
	if last == 0 {
		return fmt.Sprintf("engine %q: want %s", e.Name, e.Names[0])
	}
	return fmt.Sprintf("engine %q: want %s or %s", e.Name, strings.Join(e.Names[:last], ", "), e.Names[last])
}
