package allocation

import (
	"fmt"
	"slices"
	"strings"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// siteOf names the site of an allocation by its callers, the innermost first, as
// "main.c:12", or by a routine.
func siteOf(f *objfile.File, callers []trace.PC) string {
	first := ""
	for _, back := range callers {
		at := uint64(back) - 1 // within the call
		lines := positions(f, at)
		for _, l := range lines {
			if !ofSystem(l.File) {
				return position(l)
			}
		}
		if first == "" && len(lines) > 0 {
			first = position(lines[0])
		}
	}
	if first != "" {
		return first
	}
	return routineOf(f, callers)
}

// routineOf names the innermost caller that belongs to the executable and not to a
// library, or else the innermost that is known.
func routineOf(f *objfile.File, callers []trace.PC) string {
	first := ""
	for _, back := range callers {
		r := f.RoutineAt(uint64(back) - 1)
		switch {
		case r == nil:
			continue
		case !strings.Contains(r.Name, "!"):
			return r.Name
		case first == "":
			first = r.Name
		}
	}
	if first == "" {
		return "unknown"
	}
	return first
}

// positions returns the lines of the source that an instruction is of: its own, then
// those of the calls that were inlined around it.
func positions(f *objfile.File, pc uint64) []objfile.Line {
	l, ok := f.LineAt(pc)
	if !ok {
		return nil
	}
	lines := []objfile.Line{l}
	for _, in := range slices.Backward(f.InlinedAt(pc)) {
		if in.Line > 0 {
			lines = append(lines, objfile.Line{File: in.File, Line: in.Line})
		}
	}
	return lines
}

// ofSystem reports whether a file of the source is a header of the system.
func ofSystem(file string) bool {
	return strings.HasPrefix(file, "/usr/include/") || strings.HasPrefix(file, "/usr/lib/") || strings.Contains(file, "/include/c++/")
}

func position(l objfile.Line) string {
	return fmt.Sprintf("%s:%d", l.File[strings.LastIndexByte(l.File, '/')+1:], l.Line)
}
