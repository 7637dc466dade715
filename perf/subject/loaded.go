package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/store"
)

// libraries are what is known of the shared libraries that a program loads.
type libraries struct {
	sync.Mutex
	of     *Program                 // the program without them; nil: this one is that
	joined map[string]*Program      // by SHA-256 of the joined file
	files  map[string]*objfile.File // by path and SHA-256
}

// loadedVersion is part of the key of a stored list of libraries: raise it when
// what engines report of them changes.
const loadedVersion = 1

// linkerCache says where the dynamic linker finds libraries.
const linkerCache = "/etc/ld.so.cache"

// library is a shared library as the store holds it.
type library struct {
	Path   string
	Base   uint64
	SHA256 string
}

// Alone returns the program without shared libraries: p, unless Loaded returned it.
func (p *Program) Alone() *Program {
	if p.libraries.of != nil {
		return p.libraries.of
	}
	return p
}

// Loaded is a program with the shared libraries that a run loads, and the inputs of
// that run.
type Loaded struct {
	Program *Program
	Inputs  Inputs
}

// Loaded returns the program with the shared libraries whose code a run with the
// inputs in executes, and the inputs of runs of that. Their routines are called
// library!routine; the same libraries at the same places give the same *Program, so
// that runs of several sizes share references and groups. A program that loads
// none, or whose engine finds out by itself, is returned as it is.
//
// To find them takes an untraced run, whose result is kept in the store until a
// library changes.
func (p *Program) Loaded(ctx context.Context, in Inputs, opt RunOptions) (Loaded, error) {
	p = p.Alone()
	in.Program = p.File.SHA256
	if p.File.Interpreter == "" {
		return Loaded{p, in}, nil
	}
	e, err := in.choice().Engine(p.File)
	if err != nil {
		return Loaded{}, fmt.Errorf("perf: %s: %w", in.Command(), err)
	}
	discoverer, ok := e.(engine.Discoverer)
	if !ok {
		return Loaded{p, in}, nil
	}
	list, err := p.discovered(ctx, discoverer, in, opt)
	if err != nil {
		return Loaded{}, err
	}
	joined, err := p.join(list)
	if err != nil {
		return Loaded{}, fmt.Errorf("perf: %s: %w", in.Command(), err)
	}
	in.Program = joined.File.SHA256
	return Loaded{joined, in}, nil
}

// At returns the program with the shared libraries that a run at a point loads, and
// the inputs of that run: see Inputs and Loaded.
func (p *Program) At(ctx context.Context, point Point, opt RunOptions) (Loaded, error) {
	in, err := p.Inputs(point, opt)
	if err != nil {
		return Loaded{}, err
	}
	return p.Loaded(ctx, in, opt)
}

// discovered returns the libraries of a run, from the store if they are there and
// unchanged.
func (p *Program) discovered(ctx context.Context, e engine.Discoverer, in Inputs, opt RunOptions) ([]library, error) {
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	linker, err := fingerprint(linkerCache, 0)
	if err != nil {
		linker = "" // there is none: the linker searches folders
	}
	key, err := store.NewKey("libraries", loadedVersion, struct {
		Inputs Inputs
		Linker string
	}{in, linker})
	if err != nil {
		return nil, err
	}
	var list []library
	if st.Load(key, &list) == nil && p.unchanged(list) {
		return list, nil
	}
	if list, err = p.discover(ctx, e, in); err != nil {
		return nil, err
	}
	if err := st.Save(key, list); err != nil {
		p.warn(fmt.Sprintf("%v; the list of libraries was not kept", err))
	}
	return list, nil
}

// warn notes a warning for AnalysisWarning.
func (p *Program) warn(text string) {
	p.known.Lock()
	defer p.known.Unlock()
	p.known.warning = text
}

// unchanged reports whether the files of libraries are what they were.
func (p *Program) unchanged(list []library) bool {
	return !slices.ContainsFunc(list, func(l library) bool {
		f, err := p.library(l.Path)
		return err != nil || f.SHA256 != l.SHA256
	})
}

// discover runs the program untraced, and returns the libraries whose code it
// executes. That the program fails is no error.
func (p *Program) discover(ctx context.Context, e engine.Discoverer, in Inputs) ([]library, error) {
	found, err := e.Discover(ctx, p.File, in.request())
	var fault *engine.Fault
	if err != nil && !(errors.As(err, &fault) && found != nil) {
		return nil, fmt.Errorf("perf: %s: %w", in.Command(), err)
	}
	list := []library{} // not nil: the store tells it from nothing
	for _, m := range found.Modules {
		if m.Base == 0 || !filepath.IsAbs(m.Path) {
			continue // the executable; code that the program wrote itself
		}
		f, err := p.library(m.Path)
		if err != nil {
			p.warn(fmt.Sprintf("library %s: %v; its memory references are not recorded", m.Path, err))
			continue
		}
		list = append(list, library{m.Path, uint64(m.Base), f.SHA256})
	}
	return list, nil
}

// library returns the file of a library, which is read again if it has changed.
func (p *Program) library(path string) (*objfile.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	p.libraries.Lock()
	defer p.libraries.Unlock()
	key := fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
	if f := p.libraries.files[key]; f != nil {
		return f, nil
	}
	f, err := objfile.Open(path)
	if err != nil {
		return nil, err
	}
	if p.libraries.files == nil {
		p.libraries.files = make(map[string]*objfile.File)
	}
	p.libraries.files[key] = f
	return f, nil
}

// join returns the program with libraries.
func (p *Program) join(list []library) (*Program, error) {
	var modules []objfile.Module
	names := make(map[string]bool)
	for _, l := range list {
		f, err := p.library(l.Path)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(l.Path)
		if names[name] {
			name = l.Path
		}
		names[name] = true
		modules = append(modules, objfile.Module{Name: name, Path: l.Path, Base: l.Base, File: f})
	}
	return p.With(modules)
}

// With returns the program with shared libraries, each at its base: p itself if
// there are none. The same modules give the same *Program.
func (p *Program) With(modules []objfile.Module) (*Program, error) {
	file, err := objfile.Join(p.File, modules)
	if err != nil || file == p.File {
		return p, err
	}
	p.libraries.Lock()
	defer p.libraries.Unlock()
	if known := p.libraries.joined[file.SHA256]; known != nil {
		return known, nil
	}
	joined := &Program{Name: p.Name, File: file}
	joined.libraries.of = p
	p.known.Lock()
	joined.known.store, joined.known.warning = p.known.store, p.known.warning
	p.known.Unlock()
	if p.libraries.joined == nil {
		p.libraries.joined = make(map[string]*Program)
	}
	p.libraries.joined[file.SHA256] = joined
	return joined, nil
}
