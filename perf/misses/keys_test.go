package misses

import (
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/store"
)

// TestKeysFollowParts: what the store has of a model with other parts is not taken for
// this one's, of groups or of loops, nor is one fitted in another way. Which groups are joined can depend on the blocks of
// the profile.
func TestKeysFollowParts(t *testing.T) {
	st := store.Open(t.TempDir())
	prog := perftest.Compile(t, "gcc", "-O1 -g", "turns", "turns.c")
	model, err := Fit(t.Context(), profileSizes(t, st, prog, 24, 32, 40, 48), FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	r := model.refits
	keys := func() (of [2]store.Key) {
		var errs [2]error
		of[0], errs[0] = r.key(refit{}, r.kept(0))
		of[1], errs[1] = r.loopsKey(r.kept(0), r.runs.BlockBytes(), loopKey{})
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		return of
	}
	before := keys()
	model.parts = model.parts[1:]
	r.parts = model.digestOfParts()
	for i, after := range keys() {
		if after == before[i] {
			t.Errorf("key %d of other parts is the same", i)
		}
	}
}
