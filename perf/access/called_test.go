package access

import (
	"testing"

	"presage/perf/trace"
)

// An index that a call computes in a straight line, without memory, has the strides
// of that computation, which the run confirms. What a call loads, or computes on one
// of two paths, is of no stride.
func TestStridesThroughCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	a := analyze(t, compile(t, "called.c", "-O2"))
	strides := func(routine string) (all []Stride) {
		for i := range a.All {
			if r := &a.All[i]; r.Routine == routine && r.Float && r.Kind == trace.Store {
				all = r.Strides
			}
		}
		if len(all) == 0 {
			t.Fatalf("%s stores no floating-point number in a loop", routine)
		}
		return all
	}
	got := strides("by_element")
	if len(got) != 2 || got[0].String() != "8*a1" || got[1].String() != "8" {
		t.Errorf("by_element: strides %v, want 8*a1 in the innermost loop and 8 in the outer one", got)
	}
	for _, routine := range []string{"by_table", "by_branch"} {
		if got := strides(routine); got[0].Regular() {
			t.Errorf("%s: stride %v, want an irregular one", routine, got[0])
		}
	}
	checked := 0
	for _, r := range run(t, a).References {
		ref := &a.All[r.Index]
		if ref.Routine != "by_element" || !ref.Float {
			continue
		}
		for i := range r.Agree {
			checked++
			if r.Agree[i] == 0 || r.Disagree[i] > 0 {
				t.Errorf("%v, loop %d from the innermost: %d iterations agree with the formula, %d do not", ref, i+1, r.Agree[i], r.Disagree[i])
			}
		}
	}
	if checked < 4 {
		t.Errorf("%d loops of references were compared with the run, want those of a load and a store", checked)
	}
}
