package replayed

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

func TestHalves(t *testing.T) {
	for _, c := range []struct {
		n, largest int64
		want       []int64
	}{
		{36000, 24000, []int64{1125, 2250, 4500, 9000, 18000}},
		{96000, 24000, []int64{1500, 3000, 6000, 12000, 24000}}, // its half is too large
		{101, 60, []int64{25, 50}},
		{40, 8, nil},
	} {
		if got := halves(c.n, c.largest); !slices.Equal(got, c.want) {
			t.Errorf("halves of %d up to %d: %v, want %v", c.n, c.largest, got, c.want)
		}
	}
}

// TestTablesThatComeToBeMapped predicts a table of which sizes on both sides of malloc's
// threshold have no common law: halves foretell each other less well than those of other tables,
// and still better than sizes that are not halves.
func TestTablesThatComeToBeMapped(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute")
	}
	st := store.Open(t.TempDir())
	m := find(t, "zen4")
	prog := build(t, "", "testdata/chains.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	model, p := learnOne(t, prog, m, opt, 12000, 16000, 21000, 27000, 33000, 40000)
	point := subject.Point{"n": 80000}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := misses.Predict(t.Context(), model, m, []subject.Point{point}, misses.PredictOptions{Corrector: NewCorrector(p, model, m, Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if r.Level != "L3" { // first uses alone
			continue
		}
		if off := r.Misses/simulated[i].Misses - 1; r.Level != simulated[i].Level || math.Abs(off) > 0.1 || !strings.Contains(r.Warning, "modelled by runs at n = 2500, 5000, 10000, 20000, 40000") {
			t.Errorf("%s of %s is off by %v: %s", r.Level, simulated[i].Level, off, r.Warning)
		}
	}
}

// TestTablesThatDouble predicts a program of which no smooth function of the size tells the
// footprint, with and without runs at halves of the size.
func TestTablesThatDouble(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/table.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	model, p := learnOne(t, prog, m, opt, 3000, 3900, 5000, 6500, 8500, 11000)
	if off, ok := model.FootprintError(); !ok || off < 0.1 {
		t.Fatalf("the footprint is off by %g (%v): the program does not show what it should", off, ok)
	}
	point := subject.Point{"n": 18000}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt})
	if err != nil {
		t.Fatal(err)
	}
	off := func(o Options) (byLevel map[string]float64, warning string) {
		c := NewCorrector(p, model, m, o)
		rows, err := misses.Predict(t.Context(), model, m, []subject.Point{point}, misses.PredictOptions{Corrector: c})
		if err != nil {
			t.Fatal(err)
		}
		byLevel = make(map[string]float64)
		for _, r := range rows {
			s := simulated[slices.IndexFunc(simulated, func(s misses.SimulatedRow) bool { return s.Level == r.Level })]
			if r.Accesses != rows[0].Accesses {
				t.Errorf("%s has %g accesses, %s %g", r.Level, r.Accesses, rows[0].Level, rows[0].Accesses)
			}
			if !o.TrainedSizesOnly {
				checkAccesses(t, c, r)
			}
			byLevel[r.Level], warning = math.Abs(r.Misses/s.Misses-1), r.Warning
			groups, err := model.ByGroup(t.Context(), m, r.Level, point, misses.PredictOptions{Corrector: c})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, g := range groups.Misses {
				sum += g
			}
			if math.Abs(sum/r.Misses-1) > 1e-6 {
				t.Errorf("%s: groups have %g misses, the program %g", r.Level, sum, r.Misses)
			}
		}
		return byLevel, warning
	}
	with, warning := off(Options{})
	if with["L1"] > 0.15 || with["L2"] > 0.01 || !strings.Contains(warning, "modelled by runs at n = 562, 1125, 2250, 4500, 9000") {
		t.Errorf("off by %v with runs at halves: %s", with, warning)
	}
	if without, warning := off(Options{TrainedSizesOnly: true}); without["L2"] < 0.1 || strings.Contains(warning, "modelled by runs at") {
		t.Errorf("off by %v without, by %v with: %s", without, with, warning)
	}
	inside := subject.Point{"n": 6000}
	if s, err := NewCorrector(p, model, m, Options{}).Substitutes(t.Context(), inside); s != nil || err != nil {
		t.Errorf("within the sizes of the runs: %v, %v", s, err)
	}
}

// checkAccesses tests that a row has the accesses that the substitute of most runs predicts.
func checkAccesses(t *testing.T, c *Corrector, r misses.Row) {
	t.Helper()
	s, err := c.Substitutes(t.Context(), r.Point)
	if err != nil || s == nil || len(s.OtherRuns) == 0 {
		t.Fatalf("no other runs: %+v, %v", s, err)
	}
	o := slices.MaxFunc(s.OtherRuns, func(a, b *misses.Substitute) int { return len(a.Model.Points) - len(b.Model.Points) })
	rows, err := misses.Predict(t.Context(), o.Model, c.machine, []subject.Point{r.Point}, misses.PredictOptions{Corrector: o.Corrector})
	if err != nil {
		t.Fatal(err)
	}
	if r.Accesses != rows[0].Accesses {
		t.Errorf("%s has %g accesses, most runs say %g", r.Level, r.Accesses, rows[0].Accesses)
	}
}
