package replayed

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/replay"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestFailuresThatPassAreNotKept: a run that fails at the start of a replay, or while
// loops are learned, says why there is no replay; it does better another time.
func TestFailuresThatPassAreNotKept(t *testing.T) {
	k := &kept{store: store.Open(t.TempDir()), m: find(t, "zen4")}
	folder := t.TempDir()
	stop := filepath.Join(folder, "stop")
	opt := subject.RunOptions{Store: k.store, Args: "{n}", Folders: []subject.Folder{{Guest: "/data", Host: folder}}}
	prog := build(t, "-nostdlib -ffreestanding", "testdata/needs.c")
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 15, 18, 21, 24, 28, 31), locality.ProfileOptions{RunOptions: opt, BlockBytes: []uint64{64}})
	if err != nil {
		t.Fatal(err)
	}
	if k.model, err = misses.Fit(t.Context(), runs, misses.FitOptions{Store: k.store}); err != nil {
		t.Fatal(err)
	}
	same, err := programOf(runs, k.store) // as a process has it that lives on
	if err != nil {
		t.Fatal(err)
	}
	fails := func(n float64, why string) {
		t.Helper()
		if err := os.Mkdir(stop, 0o777); err != nil {
			t.Fatal(err)
		}
		got, _ := k.mustCorrect(t, n, Options{})
		for level, c := range got {
			if c != nil && !strings.Contains(strings.Join(c.Warnings, "; "), why) {
				t.Errorf("n=%g, level %d: warnings %q, want %q", n, level, c.Warnings, why)
			}
		}
		if got[0] == nil {
			t.Errorf("n=%g: nothing is said", n)
		}
		if err := os.Remove(stop); err != nil {
			t.Fatal(err)
		}
	}
	works := func(n float64) {
		t.Helper()
		got, _ := k.mustCorrect(t, n, Options{})
		for _, g := range got[0].Groups {
			if g.Method == Method {
				return
			}
		}
		t.Errorf("n=%g: nothing is replayed: %q", n, got[0].Warnings)
	}

	if err := os.Mkdir(stop, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := same.load(t.Context(), nil); err == nil || replay.Final(err) {
		t.Errorf("loops that cannot be learned now: %v", err)
	}
	if err := os.Remove(stop); err != nil {
		t.Fatal(err)
	}
	fails(64, "exit status 3")
	works(64)
	if err := same.load(t.Context(), nil); err != nil {
		t.Errorf("loops that can be learned again: %v", err)
	}
	fails(65, "exit status 3")
	works(65)
	fails(64, "") // is in the store
	works(64)

	// What was stored before that was told apart is looked at once more.
	c, err := Correctors(k.store, Options{})(t.Context(), k.model, k.m)
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.(*Corrector).inputs(64, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.NewKey(replayKind, replayVersion, in)
	if err != nil {
		t.Fatal(err)
	}
	if !k.store.Has(key) {
		t.Fatal("the replay is stored under another key")
	}
	if err := k.store.Save(key, &replayedPoint{Why: "context canceled"}); err != nil {
		t.Fatal(err)
	}
	works(64)
	fails(64, "")
}

// TestFinal: what is said of the programs themselves is kept, what comes from outside is
// not.
func TestFinal(t *testing.T) {
	_, few := replay.NewModel(nil, []int64{1}, []*replay.Run{{}})
	for _, c := range []struct {
		err  error
		kept bool
	}{
		{few, true},
		{&replay.TroubleError{Reason: "recursion"}, true},
		{replay.ErrEnded, true},
		{replay.ErrTooLong, true},
		{os.ErrNotExist, false},
		{errors.New("no space left on device"), false},
	} {
		r, err := noReplay(c.err)
		if (err == nil) != c.kept || c.kept && r.Why != c.err.Error() {
			t.Errorf("%v: %+v, %v; want it kept: %v", c.err, r, err, c.kept)
		}
	}
}
