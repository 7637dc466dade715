package locality

import (
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"testing"
)

// TestKeysSeeTheEngine: a profile of another version of the engine is not found.
func TestKeysSeeTheEngine(t *testing.T) {
	in, err := perftest.Program(t).Inputs(subject.Point{"n": 6}, subject.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now, err := reuseKey(Recorded{Inputs: in}, 64)
	if err != nil {
		t.Fatal(err)
	}
	in.Engine++
	later, err := reuseKey(Recorded{Inputs: in}, 64)
	if err != nil {
		t.Fatal(err)
	}
	if in.Engine < 2 || later == now {
		t.Errorf("engine %d does not enter the key", in.Engine)
	}
}
