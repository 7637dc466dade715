package replay

import (
	"slices"
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// failing are routines that end a program for an error of its own, by how their names begin:
// failed assertions, and the checks of Go, C++ and Fortran at run time.
var failing = []string{
	"abort", "__assert_", "__stack_chk_fail", "__chk_fail", "_ZSt9terminate", "_gfortran_runtime_error",
	"runtime.panic", "runtime.goPanic", "runtime.throw", "runtime.fatal",
}

func endsByError(routine string) bool {
	name := ownName(routine)
	return strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_") ||
		slices.ContainsFunc(failing, func(f string) bool { return strings.HasPrefix(name, f) })
}

// fails reports whether block to, to which control never went on from a place, only ends the
// program for an error. Predictions are of runs without. Or it has Go's runtime make room on the
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
