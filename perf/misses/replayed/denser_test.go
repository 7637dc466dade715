package replayed

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

func TestBetween(t *testing.T) {
	for _, c := range []struct{ sizes, want []int64 }{
		{[]int64{1200, 1500, 1900, 4000}, []int64{1300, 1700, 2800}},
		{[]int64{4, 9, 10, 25}, []int64{6, 16}},    // nothing is between 9 and 10
		{[]int64{16, 20, 32, 64}, []int64{24, 44}}, // 17.9 of 4: 16 or 20
		{[]int64{1024, 1536, 2048, 3072}, nil},
		{[]int64{7}, nil},
	} {
		if got := between(c.sizes); !slices.Equal(got, c.want) {
			t.Errorf("between %v: %v, want %v", c.sizes, got, c.want)
		}
	}
}

// TestRunsBetween: where the largest run is not foretold well, models are of runs between
// those of the profiles, too, and rows say so. Selections from random numbers, whose work
// depends on these, are predicted with and without.
func TestRunsBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("learns loops at a dozen sizes")
	}
	const said = "with those at n = 2000, 2600, 3400, 4200, 5400, of which models are, too"
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/select.c")
	opt := subject.RunOptions{Store: st, Args: "{n} 1"}
	model, p := learnOne(t, prog, m, opt, 1800, 2400, 3000, 3800, 4800, 6000)
	points := subject.Sweep("n", 12000, 24000)
	simulated, err := misses.Simulate(t.Context(), prog, m, points, misses.SimulateOptions{RunOptions: opt})
	if err != nil {
		t.Fatal(err)
	}
	worst := make(map[bool]float64)
	for _, only := range []bool{false, true} {
		c := NewCorrector(p, model, m, Options{TrainedSizesOnly: only})
		rows, err := misses.Predict(t.Context(), model, m, points, misses.PredictOptions{Coverage: -1, Corrector: c})
		if err != nil {
			t.Fatal(err)
		}
		first := make(map[float64]float64) // accesses by size
		for i, r := range rows {
			n := r.Point["n"]
			if _, ok := first[n]; !ok {
				first[n] = r.Accesses
			}
			if r.Accesses != first[n] || strings.Contains(r.Warning, said) == only {
				t.Errorf("trained sizes only %v, %v: %s has %g accesses, the first level %g: %s", only, r.Point, r.Level, r.Accesses, first[n], r.Warning)
			}
			if r.Level == "L1" {
				if off := r.Accesses/simulated[i].Accesses - 1; !only && math.Abs(off) > 0.02 {
					t.Errorf("%v: accesses are off by %v with runs between", r.Point, off)
				}
				worst[only] = math.Max(worst[only], math.Abs(math.Log(r.Misses/simulated[i].Misses)))
			}
			groups, err := model.ByGroup(t.Context(), m, r.Level, r.Point, misses.PredictOptions{Corrector: c})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, g := range groups.Misses {
				sum += g
			}
			if math.Abs(sum-r.Misses) > 1e-6*r.Misses {
				t.Errorf("trained sizes only %v, %v: groups have %g misses of %s, the program %g", only, r.Point, sum, r.Level, r.Misses)
			}
		}
	}
	if t.Logf("misses of L1 are off by e^%.2f with runs between, e^%.2f without", worst[false], worst[true]); worst[false] > 0.9*worst[true] {
		t.Errorf("misses of L1 are off by e^%.2f with runs between, e^%.2f without", worst[false], worst[true])
	}
}

// TestFewRunsBetween: of three runs none foretells another, so that nothing says that further
// ones help.
func TestFewRunsBetween(t *testing.T) {
	st := store.Open(t.TempDir())
	m, prog := find(t, "origin2000"), build(t, "", "testdata/select.c")
	opt := subject.RunOptions{Store: st, Args: "{n} 1"}
	_, p := learnOne(t, prog, m, opt, 1500, 1600, 1800, 3000)
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 1500, 1600, 3000), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	if off, err := model.ForetellError(t.Context(), 1); err != nil || !math.IsInf(off, 1) {
		t.Errorf("two runs foretell the third to within %g, %v", off, err)
	}
	s, err := NewCorrector(p, model, m, Options{}).Substitutes(t.Context(), subject.Point{"n": 6000})
	if err != nil || s == nil || len(s.OtherRuns) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// without is a Corrector that lacks a model, and may have another.
type without struct {
	*Corrector
	others []*misses.Substitute
}

func (w without) Substitutes(context.Context, subject.Point) (*misses.Substitutes, error) {
	return &misses.Substitutes{OtherRuns: w.others, Lacking: "no model of other runs"}, nil
}

// checkLacking tests that rows and groups say what is lacking, by a model of other runs, too.
func checkLacking(t *testing.T, c *Corrector, model *misses.Model, m *machine.Machine) {
	t.Helper()
	other := &misses.Substitute{Model: model, Corrector: misses.NoCorrection{}, More: true, Warning: "of other runs"}
	point := subject.Point{"n": 12000}
	for _, by := range []without{{c, nil}, {c, []*misses.Substitute{other}}} {
		rows, err := misses.Predict(t.Context(), model, m, []subject.Point{point}, misses.PredictOptions{Coverage: -1, Corrector: by})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if !strings.Contains(r.Warning, "no model of other runs") || strings.Contains(r.Warning, "of other runs;") != (by.others != nil) {
				t.Errorf("%s: %s", r.Level, r.Warning)
			}
		}
		groups, err := model.ByGroup(t.Context(), m, "L1", point, misses.PredictOptions{Corrector: by})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(groups.Warnings, "no model of other runs") {
			t.Errorf("groups: %q", groups.Warnings)
		}
	}
}

// TestFailingBetween: where the program fails at a size between those of the profiles, models
// are of these alone; where it cannot be run this time, that is said and not kept.
func TestFailingBetween(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "-DREFUSED=2600", "testdata/select.c")
	model, p := learnOne(t, prog, m, subject.RunOptions{Store: st, Args: "{n} 1"}, 1800, 2400, 3000, 3800, 4800, 6000)
	c := NewCorrector(p, model, m, Options{})
	s, err := c.Substitutes(t.Context(), subject.Point{"n": 12000})
	if err != nil || s == nil || len(s.OtherRuns) > 0 || s.Lacking != "" || c.lacking() {
		t.Errorf("a size at which the program fails: %+v, %v", s, err)
	}
	c = NewCorrector(p, model, m, Options{})
	if _, err := c.fitted(t.Context(), []int64{2000}, func(context.Context, []subject.Point, []subject.Inputs, locality.FurtherOptions) (*locality.Runs, error) {
		return nil, &fs.PathError{Op: "open", Path: "mesh.txt", Err: os.ErrPermission}
	}); !errors.As(err, new(*passingError)) || !strings.Contains(err.Error(), "no model of runs at n = 2000") {
		t.Errorf("runs that cannot be had: %v", err)
	}
	again, err := c.fitted(t.Context(), []int64{2000}, func(context.Context, []subject.Point, []subject.Inputs, locality.FurtherOptions) (*locality.Runs, error) {
		return nil, errors.New("the runs make the same accesses")
	})
	if again != nil || err != nil {
		t.Errorf("runs of which there is never a model: %v, %v", again, err)
	}
	checkLacking(t, c, model, m)
	c.others = map[string]*misses.Substitutes{"n=12000": {Lacking: "no model"}}
	if !c.lacking() {
		t.Error("rows that lack a model would be kept")
	}
}
