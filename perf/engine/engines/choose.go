// Package engines chooses the engine that runs an executable: an objfile.File and a
// name go in, an engine.Engine comes out. It is the only package that names the
// implementations; a new one is added in function all.
package engines

import (
	"errors"
	"fmt"
	"slices"
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

// Names returns the names that choose an engine of some executable: Auto, and all modes.
func Names() []string {
	names := []string{Auto}
	for _, e := range all() {
		if m, ok := e.(engine.Moded); ok {
			names = append(names, m.Modes()...)
		}
	}
	return names
}

// CPUs returns the names of processors that engines can show to programs.
func CPUs() []string {
	var names []string
	for _, e := range all() {
		if c, ok := e.(engine.CPUChooser); ok {
			names = append(names, c.CPUs()...)
		}
	}
	return names
}

// For returns the default engine of f.
func For(f *objfile.File) (engine.Engine, error) { return choose(all(), f) }

// Choice says how an executable is run. The zero Choice is its default engine, as that
// runs it by itself.
type Choice struct {
	// Name is Auto or "" for the default engine, the name of an engine, or the name of
	// a mode of the default engine.
	Name string
	// CPU is the processor that the program sees, one of engine.CPUChooser's; "": the
	// engine's default.
	CPU string
}

// Engine returns the engine for f that is chosen. A name that none for f has is an
// *UnknownError.
func (c Choice) Engine(f *objfile.File) (engine.Engine, error) { return c.of(all(), f) }

// Least returns the Choice without a Name if that is the default engine's, so that two
// choices of the same are equal.
func (c Choice) Least(f *objfile.File) (Choice, error) {
	first, err := For(f)
	if err == nil && (c.Name == Auto || c.Name == first.Identity().Name) {
		c.Name = ""
	}
	return c, err
}

func (c Choice) of(list []engine.Engine, f *objfile.File) (engine.Engine, error) {
	e, err := named(list, f, c.Name)
	if err != nil || c.CPU == "" {
		return e, err
	}
	chooser, ok := e.(engine.CPUChooser)
	if !ok {
		return nil, fmt.Errorf("processor %q: the engine %v has one processor only", c.CPU, e.Identity())
	}
	if cpus := chooser.CPUs(); !slices.Contains(cpus, c.CPU) {
		return nil, &UnknownError{What: "processor", Name: c.CPU, Names: cpus}
	}
	return chooser.OnCPU(c.CPU)
}

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
	unknown := &UnknownError{What: "engine", Name: name, Names: names}
	if f.Target != nil {
		unknown.Target = f.Target.Name
	}
	return nil, unknown
}

// UnknownError means that no engine, or no processor of the engine, has the given name.
type UnknownError struct {
	What   string // engine or processor
	Name   string
	Names  []string // the valid names
	Target string   // of the executable, if the names depend on it
}

func (e *UnknownError) Error() string {
	list := e.Names[0]
	if last := len(e.Names) - 1; last > 0 {
		list = strings.Join(e.Names[:last], ", ") + " or " + e.Names[last]
	}
	text := fmt.Sprintf("%s %q: want %s", e.What, e.Name, list)
	if e.Target != "" {
		text += ", as the program is for " + e.Target
	}
	return text
}
