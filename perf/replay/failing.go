package replay

import (
	"slices"
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// failing are routines that end a program for an error of its own: failed assertions, and checks of
// C++ and Fortran at run time. failingGo are how the names of Go's begin.
var (
	failing = []string{
		"abort", "__assert_fail", "__assert_perror_fail", "__stack_chk_fail", "__stack_chk_fail_local", "__chk_fail", "__fortify_fail",
		"_ZSt9terminatev", "_gfortran_runtime_error", "_gfortran_runtime_error_at",
	}
	failingGo = []string{"runtime.panic", "runtime.goPanic", "runtime.throw", "runtime.fatal"}
)

// endsByError reports whether a routine is one of these, or throws for the C++ library.
func endsByError(routine string) bool {
	name := ownName(routine)
	return slices.Contains(failing, name) || strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_") ||
		slices.ContainsFunc(failingGo, func(f string) bool { return strings.HasPrefix(name, f) })
}

// fails reports whether block to, to which control never went on from a place, only ends the
// program for an error, or throws for one that a program could catch and none of the runs had.
// Predictions are of runs without. Or it has Go's runtime make room on the
// stack, which how deep calls are decides, or lets others run, and starts the routine over.
func (w *ways) fails(place int32, to int) bool {
	r := w.code.graph.Routines[w.code.blocks[w.prog.Places[place].Block].routine]
	for range maxAside {
		b := &r.Blocks[to]
		last := b.Last()
		if last.Class == isa.Call {
			target := w.code.graph.File.RoutineAt(last.Target)
			if !last.HasTarget || target == nil {
				return false
			}
			return endsByError(target.Name) || strings.HasPrefix(target.Name, moreStack)
		}
		if b.Exit != cfg.Stays || len(b.Succs) != 1 {
			return false
		}
		to = r.Edges[b.Succs[0]].To
	}
	return false
}
