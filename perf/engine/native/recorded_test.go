//go:build linux && amd64

package native

import (
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// TestAllocationsRecorded holds what is recorded of allocators' calls against what is
// found when each call stops the program.
func TestAllocationsRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	for name, f := range map[string]*objfile.File{
		"frames": compileAs(t, "frames.c", "-O2", "-g", "-pthread"), "static": compileAs(t, "frames.c", "-O1", "-g", "-pthread", "-static"), "c++": memoryProgram(t, "-O1"),
	} {
		t.Run(name, func(t *testing.T) {
			r := engine.Request{Args: []string{"200"}}
			joined, plan := withLibraries(t, f, r)
			var runs []*changes
			for _, e := range []Engine{{}, {stopping: true}} {
				c := new(changes)
				r.Plan, r.Sink = plan, trace.NewDirect(c)
				if out, err := e.Run(t.Context(), joined, r); err != nil || out.ExitCode != 0 {
					t.Fatalf("%+v, %v", out, err)
				}
				runs = append(runs, c)
			}
			got, want := runs[0], runs[1]
			if !got.equal(&want.observed) || !slices.Equal(got.at, want.at) || len(got.list) != len(want.list) {
				t.Fatalf("%d changes among %d accesses, %d among %d with stops", len(got.list), len(got.accesses), len(want.list), len(want.accesses))
			}
			shorter := 0
			for i := range got.list {
				x, y := got.list[i], want.list[i]
				if n := len(x.Callers); n > 0 && n < len(y.Callers) { // deeper than the first call from there
					y.Callers = y.Callers[:n]
					shorter++
				}
				if !sameChange(x, y) || x.Role != y.Role {
					t.Errorf("change %d is %+v, %+v with stops", i, got.list[i], want.list[i])
				}
			}
			if allowed := map[string]int{"frames": 1, "static": 1}[name]; shorter > allowed {
				t.Errorf("%d allocations have fewer callers, want %d at most", shorter, allowed)
			}
			if len(got.list) < 100 {
				t.Errorf("%d changes", len(got.list))
			}
		})
	}
}
