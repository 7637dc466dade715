package subject

import (
	"path"
	"slices"
	"strings"

	"presage/perf/cfg"
)

// LibraryScopes returns the names, Path and Origin, of the routines and loops of a
// program that are not its own source: those of shared libraries, those without
// source lines, and those all of whose lines are in the system's headers or in Go's
// standard library. A program without any source lines owns all but the shared
// libraries.
func (p *Program) LibraryScopes() map[string]bool {
	scopes := p.Outline().Scopes.Scopes
	standard := standardLibrary(scopes)
	known := slices.ContainsFunc(scopes, func(s cfg.Scope) bool { return len(s.Files) > 0 && !shared(&s) })
	of := make(map[string]bool)
	for i := range scopes {
		s := &scopes[i]
		if s.Kind == cfg.ProgramScope {
			continue
		}
		own := slices.ContainsFunc(s.Files, func(file string) bool { return !ofSystem(file) && !standard(file) })
		if shared(s) || known && !own {
			of[s.Path], of[s.Origin] = true, true
		}
	}
	return of
}

// shared reports whether a scope is of a shared library, as Program.Loaded names them.
func shared(s *cfg.Scope) bool {
	routine, _, _ := strings.Cut(s.Path, "/loop")
	return strings.Contains(routine, "!")
}

// ofSystem reports whether a file of the source came with the system: a header of
// /usr/include, of a cross compiler's /usr/TARGET/include, or of C++'s library.
func ofSystem(file string) bool {
	return strings.HasPrefix(file, "/usr/lib/") || strings.Contains(file, "/include/c++/") ||
		strings.HasPrefix(file, "/usr/") && !strings.HasPrefix(file, "/usr/src/") && strings.Contains(file, "/include/")
}

// standardLibrary returns what tells files of Go's standard library: those below the
// src of the Go tree or, in builds with -trimpath, those of no module: neither of a
// module in a version, nor below the first folder of the main package.
func standardLibrary(scopes []cfg.Scope) func(file string) bool {
	runtime, module := "", ""
	found := false
	for i := range scopes {
		if s := &scopes[i]; s.Kind == cfg.RoutineScope && s.Source.Known() {
			switch {
			case strings.HasPrefix(s.Path, "runtime.") && strings.HasSuffix(s.Source.File, ".go"):
				dir := path.Dir(s.Source.File)
				if above, ok := strings.CutSuffix(dir, "runtime"); ok && !strings.HasSuffix(dir, "internal/runtime") {
					runtime, found = above, true
				}
			case s.Path == "main.main":
				module, _, _ = strings.Cut(s.Source.File, "/")
			}
		}
	}
	return func(file string) bool {
		switch {
		case !found:
			return false
		case runtime != "":
			return strings.HasPrefix(file, runtime)
		}
		first, _, _ := strings.Cut(file, "/")
		return !strings.Contains(file, "@v") && !strings.HasPrefix(file, "/") && first != module
	}
}
