package locality

import (
	"encoding/json"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/engines"
	"presage/perf/internal/perftest"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestKeysOfStoredProfiles holds keys against those of profiles stored when the
// engine stood in them as a number. A key that moves orphans every stored
// profile.
func TestKeysOfStoredProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests profile at once, too")
	}
	in := subject.Inputs{
		Engine: engineOf(t), Program: "3b7a", Name: "sweep3d", Args: []string{"-n", "30"}, Env: []string{"A=1"}, Stdin: "x",
		Folders: []subject.Folder{{Guest: "/data", Host: "/in"}}, Files: []string{"a 1 2"}, MaxInstructions: 7,
	}
	histogram, err := reuseKey(Recorded{Inputs: in, Plan: "0123"}, 64)
	if want := "045e58ea706b1b5428cde0d6f81aec4b"; err != nil || histogram.Hash != want {
		t.Errorf("key of a histogram %s, was %s (%v)", histogram.Hash, want, err)
	}
	length, err := store.NewKey("length", 1, in)
	if want := "894ab4d4aa8991f4d6cc99d13bba5696"; err != nil || length.Hash != want {
		t.Errorf("key of a run's length %s, was %s (%v)", length.Hash, want, err)
	}
	// A folder of profiles holds the inputs too, and is read back.
	text, err := json.Marshal(in)
	if err != nil || !strings.HasPrefix(string(text), `{"Engine":2,"Program":`) {
		t.Errorf("inputs are written as %s (%v)", text, err)
	}
	var back subject.Inputs
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := reuseKey(Recorded{Inputs: back, Plan: "0123"}, 64)
	if err != nil || again != histogram {
		t.Errorf("key of inputs read back %v, was %v (%v)", again, histogram, err)
	}
}

func engineOf(t *testing.T) engine.Identity {
	t.Helper()
	e, err := engines.For(perftest.Program(t).File)
	if err != nil {
		t.Fatal(err)
	}
	return e.Identity()
}

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
	in.Engine.Version++
	later, err := reuseKey(Recorded{Inputs: in}, 64)
	if err != nil {
		t.Fatal(err)
	}
	if later == now {
		t.Errorf("engine %v does not enter the key", in.Engine)
	}
	in.Engine = engine.Identity{Name: "other", Version: 1}
	if other, err := reuseKey(Recorded{Inputs: in}, 64); err != nil || other == now || other == later {
		t.Errorf("engine %v does not enter the key (%v)", in.Engine, err)
	}
}
