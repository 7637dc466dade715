package anatomy

import (
	"context"
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/store"
	"presage/perf/subject"
)

// unforeseen compiles the program of testdata whose strides have no formula.
func unforeseen(t *testing.T, compiler string, flags ...string) *subject.Program {
	t.Helper()
	source := perftest.Path(t, "perf", "anatomy", "testdata", "unforeseen.c")
	return perftest.Link(t, oracle.Need(t, compiler), append([]string{"-static", "-g", source}, flags...), "unforeseen")
}

// TestObservedStrides holds what a run showed against what the program was written to do.
func TestObservedStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	rows := observedRows(t, unforeseen(t, "riscv64-linux-gnu-gcc", "-O1"))
	checkObserved(t, rows)
}

// observedRows returns the references of a run of the program of testdata.
func observedRows(t *testing.T, prog *subject.Program) []Reference {
	t.Helper()
	opt := subject.RunOptions{Args: "--size {n}", Store: store.Open(t.TempDir())}
	counts, err := Count(t.Context(), prog, subject.Point{"n": 5}, opt)
	if err != nil {
		t.Fatal(err)
	}
	observed, err := ObserveStrides(t.Context(), counts, opt)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := References(counts.Program, ReferenceOptions{Counts: counts, Observed: observed})
	if err != nil {
		t.Fatal(err)
	}
	kept(t, counts, opt, rows)
	return rows
}

// kept demands that strides that were observed are not observed again.
func kept(t *testing.T, counts *Counts, opt subject.RunOptions, rows []Reference) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a run would fail
	observed, err := ObserveStrides(ctx, counts, opt)
	if err != nil {
		t.Fatal(err)
	}
	again, err := References(counts.Program, ReferenceOptions{Counts: counts, Observed: observed})
	if err != nil || frame.String(frame.Of(again)) != frame.String(frame.Of(rows)) {
		t.Errorf("observed strides are others when they come from the store, or %v", err)
	}
	if _, err := References(counts.Program, ReferenceOptions{Observed: observed}); err == nil || !strings.Contains(err.Error(), "not of these counts") {
		t.Errorf("without their counts: %v", err)
	}
	opt.Store = store.Open(t.TempDir())
	if _, err := ObserveStrides(ctx, counts, opt); err == nil {
		t.Error("a cancelled run: no error")
	}
}

// The sizes of testdata/unforeseen.c.
const (
	chains, perChain, nodeBytes = 10, 100, 48
	elements, factor            = 1000, 7
	rowBytes                    = 8 * (elements + 1)
)

const unforeseenRun = "observed in the run of n=5, not derived"

// checkObserved checks the references of each loop of testdata/unforeseen.c.
func checkObserved(t *testing.T, rows []Reference) {
	t.Helper()
	// A chain of 100 nodes, and the way to the next, ten times.
	const inOrder = (chains*perChain - chains) / float64(chains*perChain-1)
	// i*7 mod 1000 falls back by 993 as often as 999*7/1000 says.
	const forward = 1 - float64((elements-1)*factor/elements)/(elements-1)
	for _, c := range []struct {
		routine, strides, from string
		bytes, share           float64
		references             int
	}{
		{"list", "48 (observed: 0.99 of steps)", unforeseenRun, nodeBytes, inOrder, 2},
		{"gather", "56 (observed: 0.99 of steps)", unforeseenRun, 8 * factor, forward, 1},
		{"compress", "8 (observed: 1 of steps)", unforeseenRun, 8, 1, 1},
		{"byrow", "8; 8008 (observed: 1 of steps)", "formula; " + unforeseenRun, rowBytes, 1, 1},
	} {
		seen := 0
		for _, r := range rows {
			if r.Routine != c.routine || !r.Irregular && !r.Indirect {
				continue
			}
			if seen++; r.Strides != c.strides || r.StridesFrom != c.from || r.ObservedStride != c.bytes || math.Abs(r.ObservedShare-c.share) > 1e-12 {
				t.Errorf("%s: %q from %q, a stride of %g with a share of %g; want %q from %q, %g and %g",
					c.routine, r.Strides, r.StridesFrom, r.ObservedStride, r.ObservedShare, c.strides, c.from, c.bytes, c.share)
			}
		}
		if seen != c.references {
			t.Errorf("%s: %d references without a formula, want %d", c.routine, seen, c.references)
		}
	}
	checkRandom(t, rows)
	checkFormulas(t, rows)
}

// checkRandom checks the gather at random against the same random numbers.
func checkRandom(t *testing.T, rows []Reference) {
	t.Helper()
	steps, last, state := make(map[float64]float64), 0.0, uint64(1)
	most := 0.0
	for i := range elements {
		state = state*6364136223846793005 + 1442695040888963407
		at := float64(state >> 33 % elements)
		if i > 0 {
			steps[8*(at-last)]++
			most = max(most, steps[8*(at-last)])
		}
		last = at
	}
	const worst = 1. / 16 // how much a share may be too low
	seen := 0
	for _, r := range rows {
		if r.Routine != "scatter" || !r.Indirect {
			continue
		}
		seen++
		share := steps[r.ObservedStride] / (elements - 1)
		if r.ObservedShare <= 0 || r.ObservedShare > share+1e-12 || most/(elements-1) > share+worst || share > 0.02 || !strings.Contains(r.Strides, "at least") {
			t.Errorf("a random gather has %q, %g with a share of %g, in truth %g", r.Strides, r.ObservedStride, r.ObservedShare, share)
		}
	}
	if seen != 1 {
		t.Errorf("%d random gathers", seen)
	}
}

// checkFormulas demands that nothing was observed where formulas stand, and that what was
// not executed is unknown.
func checkFormulas(t *testing.T, rows []Reference) {
	t.Helper()
	formulas, unknown := 0, 0
	for _, r := range rows {
		none := math.IsNaN(r.ObservedStride) && math.IsNaN(r.ObservedShare)
		if none == strings.Contains(r.StridesFrom, "observed") {
			t.Errorf("%s at %s: %q is from %q, and the columns have %g and %g", r.Routine, r.PC, r.Strides, r.StridesFrom, r.ObservedStride, r.ObservedShare)
		}
		if !r.Irregular && !r.Indirect && strings.Trim(r.StridesFrom, "formula; ") != "" {
			t.Errorf("%s at %s: %q is from %q", r.Routine, r.PC, r.Strides, r.StridesFrom)
		}
		if r.StridesFrom == "formula" {
			formulas++
		}
		if r.Accesses == 0 && r.StridesFrom == "unknown" {
			unknown++
		}
	}
	if formulas < 10 || unknown < 10 {
		t.Errorf("%d references with a formula and %d that were not executed: the C library has more", formulas, unknown)
	}
}
