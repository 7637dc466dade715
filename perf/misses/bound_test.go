package misses

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"presage/perf/fit"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// pagesOf returns a model of a kernel of growing.c in lines and pages, and its program.
func pagesOf(t *testing.T, kernel string, opt locality.ProfileOptions, sizes ...float64) (*Model, *subject.Program) {
	t.Helper()
	prog := perftest.Compile(t, "gcc", "-O2 -D"+kernel, strings.ToLower(kernel), "growing.c")
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", sizes...), opt)
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: opt.Store})
	if err != nil {
		t.Fatal(err)
	}
	return model, prog
}

// TestPagesAsLines: what contradicts lines is replaced by what these say, and that is what
// a run at the size misses; in a level that need not hold the pages used at a time it is
// not.
func TestPagesAsLines(t *testing.T) {
	const page, n = 4096, 32
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64, 128, page, 4 * page}}
	model, prog := pagesOf(t, "VECTORS", opt, 6, 8, 10, 12, 14, 16)
	truth, err := locality.Profile(t.Context(), prog, subject.Sweep("n", n, n+1), opt)
	if err != nil {
		t.Fatal(err)
	}
	for b, blockBytes := range opt.BlockBytes[2:] {
		for _, pages := range []uint64{8, 32, 64, 96} {
			level := predict.Level{Name: "TLB", Sets: 1, Ways: pages, BlockBytes: blockBytes}
			total := truth.Runs[0].Reuse[2+b].Total()
			want := float64(total.Misses(pages))
			for _, wrong := range []float64{0.2, 1.2, 20} {
				e := &estimate{histograms: &histograms{at: fit.Point{"n": n}}, by: predict.MethodFullyAssociative, doubtful: make([]float64, model.Groups())}
				e.misses, e.full = make([]predict.Misses, model.Groups()), make([]predict.Misses, model.Groups())
				e.misses[0].Reuse = wrong * want
				if err := model.checkPages(e, level); err != nil {
					t.Fatal(err)
				}
				if replaced := pages > 8 && wrong != 1.2; (e.held == MethodPagesAsLines) != replaced {
					t.Errorf("%d pages of %d, %g times the misses: replaced by %q", pages, blockBytes, wrong, e.held)
				} else if replaced && math.Abs(e.total()/want-1) > 0.1 {
					t.Errorf("%d pages of %d: %.0f misses, the run has %.0f", pages, blockBytes, e.total(), want)
				}
			}
		}
	}
}

// TestPagesBound: no more misses are predicted than in as many blocks that are smaller.
func TestPagesBound(t *testing.T) {
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64, 4096}}
	model, _ := pagesOf(t, "STENCIL", opt, 18, 22, 27, 33, 40, 48)
	level := predict.Level{Name: "TLB", Sets: 1, Ways: 4, BlockBytes: 4096}
	e := &estimate{histograms: &histograms{at: fit.Point{"n": 100}}, by: predict.MethodFullyAssociative, doubtful: make([]float64, model.Groups())}
	e.misses, e.full = make([]predict.Misses, model.Groups()), make([]predict.Misses, model.Groups())
	most, err := model.missesInBlocks(e, 64, level.Ways)
	if err != nil {
		t.Fatal(err)
	}
	g := slices.Index(most, slices.Max(most))
	e.misses[g], e.doubtful[g] = predict.Misses{Cold: 100, Reuse: 3 * floats.Sum(most)}, floats.Sum(most)
	if err := model.boundPages(e, level); err != nil {
		t.Fatal(err)
	}
	if got := e.misses[g]; math.Abs(got.Total()/most[g]-1) > 1e-9 || got.Cold != 100 || e.doubtful[g] > got.Reuse || e.held != MethodPagesBounded {
		t.Errorf("%+v, of which %.0f doubtful, by %q; at most %.0f", got, e.doubtful[g], e.held, most[g])
	}
	within := 1.5 * floats.Sum(most) // models are a little off
	e.misses[g], e.held = predict.Misses{Reuse: within}, ""
	if err := model.boundPages(e, level); err != nil {
		t.Fatal(err)
	}
	if e.misses[g].Reuse != within || e.held != "" {
		t.Errorf("%+v by %q: want %.0f as before", e.misses[g], e.held, within)
	}
}

// TestColumnsUseManyPages: down the columns of a matrix as many pages are used at a time as
// there are rows, or as these fill.
func TestColumnsUseManyPages(t *testing.T) {
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64, 4096}}
	model, _ := pagesOf(t, "PRODUCT", opt, 70, 84, 100, 120, 140, 160)
	for _, n := range []float64{160, 256} {
		rows := n * min(n*8/4096, 1)
		if got := model.pageUse("n").at(n, 4096); !(rows <= got && got <= 4*rows+16) {
			t.Errorf("n=%g: %.1f pages at a time; columns are in %.1f", n, got, rows)
		}
	}
}
