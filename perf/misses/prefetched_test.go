package misses

import (
	"errors"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestSimulatePrefetching: rows of routines add up to those of the program, the misses
// without prefetchers are those of Simulate, and what is not useless is used.
func TestSimulatePrefetching(t *testing.T) {
	prog := perftest.Built("sweep3d")(t)
	m := profiletest.Machine(t, "zen4")
	m.Caches[0].Blocks, m.Caches[1].Blocks, m.Caches[2].Blocks = 64, 256, 1024
	opt := PrefetchOptions{SimulateOptions: SimulateOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}}}
	points := subject.Sweep("n", 8)
	whole, err := SimulatePrefetching(t.Context(), prog, m, points, opt)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Simulate(t.Context(), prog, m, points, opt.SimulateOptions)
	if err != nil {
		t.Fatal(err)
	}
	opt.By, opt.Listing.Limit = subject.ByRoutine, 3
	routines, err := SimulatePrefetching(t.Context(), prog, m, points, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range whole {
		if r.Without != plain[i].Misses || r.Accesses != plain[i].Accesses || r.Level != plain[i].Level {
			t.Errorf("%+v, and without prefetchers %+v", r, plain[i])
		}
		if r.Covered+r.Late != r.Fetched-r.Useless || !(r.Covered > 0) || !(r.Late > 0) || !(r.Useless > 0) {
			t.Errorf("%s: %g covered and %g late of %g prefetches, %g of them useless", r.Level, r.Covered, r.Late, r.Fetched, r.Useless)
		}
		if want := (r.Covered + r.Late) / (r.Covered + r.Late + r.Left); r.Share != want {
			t.Errorf("%s: a share of %g, want %g", r.Level, r.Share, want)
		}
		var sum PrefetchedRow
		rows := 0
		for _, s := range routines {
			if s.Level == r.Level {
				rows++
				sum.Without, sum.Left, sum.Late, sum.Covered = sum.Without+s.Without, sum.Left+s.Left, sum.Late+s.Late, sum.Covered+s.Covered
				sum.Fetched, sum.Useless, sum.Accesses = sum.Fetched+s.Fetched, sum.Useless+s.Useless, sum.Accesses+s.Accesses
			}
		}
		if rows != 4 || sum.Without != r.Without || sum.Left != r.Left || sum.Late != r.Late || sum.Covered != r.Covered ||
			sum.Fetched != r.Fetched || sum.Useless != r.Useless || sum.Accesses != r.Accesses {
			t.Errorf("%s: %d routines and the rest have %+v, the program %+v", r.Level, rows-1, sum, r)
		}
	}
	opt.FullyAssociative = true
	if _, err := SimulatePrefetching(t.Context(), prog, m, points, opt); err == nil {
		t.Error("fully associative: no error")
	}
	opt.FullyAssociative = false
	if _, err := SimulatePrefetching(t.Context(), prog, profiletest.Machine(t, "origin2000"), points, opt); !errors.Is(err, machine.ErrNoPrefetchers) {
		t.Errorf("a machine without prefetchers: %v", err)
	}
}
