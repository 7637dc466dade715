package locality_test

import (
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestJoinedSweepsAreOne joins an exact profile and one whose larger blocks are
// sampled more, and reads the result back.
func TestJoinedSweepsAreOne(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	st := store.Open(t.TempDir())
	exact := profiletest.Profile(t, st, []float64{6}, 64, 4096)
	opt := locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st},
		BlockBytes: []uint64{64, 4096}, DataOnly: !exact.Runs[0].Recorded.Stack, SampleOneIn: 16, SampleEvenly: true,
	}
	sampled, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 8), opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{16, 1} {
		got := uint64(1)
		if s := sampled.Runs[0].Reuse[i].Sample; s != nil {
			got = s.OneIn
		}
		if got != want {
			t.Errorf("one block of %d bytes in %d is sampled, want one in %d", sampled.BlockBytes()[i], got, want)
		}
	}
	joined, err := locality.Join(exact, sampled)
	if err != nil || len(joined.Runs) != 2 || joined.Label() != "sweep3d" {
		t.Fatalf("%v, %v", joined, err)
	}
	dir := t.TempDir()
	if err := joined.Save(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := locality.LoadRuns(dir)
	if err != nil || len(loaded.Runs) != 2 || !loaded.Runs[1].Recorded.SampleEvenly {
		t.Errorf("%v", err)
	}
	if !slices.Equal(loaded.Warnings, joined.Warnings) || len(joined.Warnings) == 0 {
		t.Errorf("warnings %q, saved %q", joined.Warnings, loaded.Warnings)
	}
	for want, parts := range map[string][]*locality.Runs{
		"two profiles of n=6": {exact, exact},
		"blocks of [64 4096]": {exact, profiletest.Profile(t, st, []float64{7}, 64)},
		"no runs":             {},
		"no runs to join":     {new(locality.Runs)},
	} {
		if _, err := locality.Join(parts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
