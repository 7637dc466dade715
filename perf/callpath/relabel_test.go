package callpath

import (
	"testing"

	"presage/perf/trace"
)

// TestStrangePaths: nodes are found again by what they are, in whatever order they come,
// and what was not there before is told.
func TestStrangePaths(t *testing.T) {
	w := newWalker(routines(3))
	r := &relabeller{
		walker: w, class: []int{0, 1, 2}, index: map[relabelled]trace.RefID{{1, 7}: 3, {2, 7}: 4},
		counted: map[Node]int32{{none, 0, none}: 0, {0, 0, 2}: 1, {0, 0, 0}: 2},
	}
	first, second, other := w.child(0, 0, 0), w.child(0, 0, 2), w.child(0, 0, 1)
	for _, c := range []struct {
		node int32
		ref  trace.RefID
		want int32
	}{{first, 7, 4}, {second, 7, 3}, {second, 8, none}, {other, 7, none}, {w.child(other, 4, 2), 7, none}} {
		if got := r.find(c.node, c.ref); got != c.want {
			t.Errorf("reference %d after node %d: %d, want %d", c.ref, c.node, got, c.want)
		}
	}
}
