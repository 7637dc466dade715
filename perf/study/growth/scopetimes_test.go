package growth

import (
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/timing"
)

// checkScopeTimes holds times of routines and loops against those of the program, which
// another table has: the rows of each kind add up to them.
func checkScopeTimes(t *testing.T, rows []ScopeTime, times frame.Table) {
	t.Helper()
	type place struct {
		machine string
		n       float64
	}
	pred, sim := make(map[place]float64), make(map[place]float64)
	machines, sizes := perftest.Text(t, times, "machine"), perftest.Column(t, times, "n")
	predicted, simulated := perftest.Column(t, times, "pred_cycles"), perftest.Column(t, times, "sim_cycles")
	for i, machine := range machines {
		if !math.IsNaN(simulated[i]) {
			pred[place{machine, sizes[i]}], sim[place{machine, sizes[i]}] = predicted[i], simulated[i]
		}
	}
	type sum struct{ pred, sim, share float64 }
	sums := make(map[string]map[place]sum)
	named := 0
	for i := range rows {
		r := &rows[i]
		at := place{r.Machine, r.Point["n"]}
		if sums[r.Of] == nil {
			sums[r.Of] = make(map[place]sum)
		}
		was := sums[r.Of][at]
		sums[r.Of][at] = sum{was.pred + r.Pred, was.sim + r.Sim, was.share + r.Share}
		if parts := r.Executed + r.Branch + r.Missed; math.Abs(parts-r.Pred) > 1e-9*r.Pred {
			t.Errorf("%s at %v: parts of %g predicted cycles add up to %g", r.Scope, r.Point, r.Pred, parts)
		}
		if strings.HasPrefix(r.Scope, "main.solveLine") {
			named++
			if math.Abs(r.PredInst-r.SimInst) > 0.1*r.SimInst || r.Note != "" {
				t.Errorf("%s at %v: %g instructions predicted, %g simulated; %s", r.Scope, r.Point, r.PredInst, r.SimInst, r.Note)
			}
			// A loop of a sweep is executed about as often for each cell: what it takes at
			// 8, with the edges of the mesh, is more than at 10.
			if known := !math.IsNaN(r.Cubed); known != (r.Point["n"] == 10) || known && (r.Base != 8 || math.Abs(r.ErrCubed) > 0.5) {
				t.Errorf("%s at %v: %g cycles from n = %g, off by %g", r.Scope, r.Point, r.Cubed, r.Base, r.ErrCubed)
			}
		}
	}
	if named < 8 {
		t.Errorf("%d rows of main.solveLine and its loops, want two kinds for two machines and two sizes at least", named)
	}
	for _, of := range []string{"program", "routine", "loop"} {
		if len(sums[of]) != len(pred) || len(pred) != 4 {
			t.Errorf("%d machines and sizes by %s, %d of programs, want 4", len(sums[of]), of, len(pred))
		}
		for at, s := range sums[of] {
			if math.Abs(s.pred-pred[at]) > 1e-9*pred[at] || s.sim != sim[at] || math.Abs(s.share-1) > 1e-9 {
				t.Errorf("by %s, %v: %g of %g predicted, %g of %g simulated cycles, shares of %g", of, at, s.pred, pred[at], s.sim, sim[at], s.share)
			}
		}
	}
}

// TestScopesMatchByPath: what is only predicted or only simulated has a row that says so,
// also among those that are summed up.
func TestScopesMatchByPath(t *testing.T) {
	p, q, r := subject.Point{"n": 4}, subject.Point{"n": 8}, subject.Point{"n": 16}
	predicted := []timing.Row{
		{Point: p, Scope: "a", Cycles: 900},
		{Point: p, Scope: "b", Cycles: 95},
		{Point: p, Scope: "c", Cycles: 5},
		{Point: q, Scope: "a", Cycles: 7300},
		{Point: q, Scope: "b", Cycles: 700},
		{Point: r, Scope: "a", Cycles: 64000},
	}
	simulated := []timing.SimulatedRow{
		{Point: p, Scope: "a", Cycles: 1000},
		{Point: p, Scope: "d", Cycles: 90},
		{Point: p, Scope: "e", Cycles: 4},
		{Point: q, Scope: "b", Cycles: 100},
		{Point: q, Scope: "a", Cycles: 8000},
		{Point: r, Scope: "a", Cycles: 50000},
	}
	rows := beside(subject.ByLoop, predicted, simulated)
	whole := beside(subject.ByProgram,
		[]timing.Row{{Point: p, Scope: "x", Cycles: 1000}, {Point: q, Scope: "x", Cycles: 8000}, {Point: r, Scope: "x", Cycles: 64000}},
		[]timing.SimulatedRow{{Point: p, Scope: "x", Cycles: 1094}, {Point: q, Scope: "x", Cycles: 8100}, {Point: r, Scope: "x", Cycles: 50000}})
	cube(rows, []subject.Point{{"n": 2}, {"n": 4}})
	if err := adds(append(whole, rows...)); err != nil {
		t.Error(err)
	}
	type row struct {
		n              float64
		scope          string
		pred, sim, err float64
		cubed          float64 // 0: missing
		note           string
	}
	want := []row{
		{4, "x", 1000, 1094, 1000.0/1094 - 1, 0, ""},
		{8, "x", 8000, 8100, 8000.0/8100 - 1, 0, ""},
		{16, "x", 64000, 50000, 0.28, 0, ""},
		{4, "a", 900, 1000, -0.1, 0, ""},
		{4, "b", 95, 0, math.Inf(1), 0, "only predicted"},
		{4, "d", 0, 90, -1, 0, "only simulated"},
		{4, "other", 5, 4, 0.25, 0, "of 2: only predicted 1, only simulated 1"},
		{8, "a", 7300, 8000, 7300.0/8000 - 1, 8000, ""},
		{8, "b", 700, 100, 6, 0, ""},             // not simulated at 4
		{16, "a", 64000, 50000, 0.28, 64000, ""}, // from 4: 8 is beyond the training sizes
	}
	got := listed(append(whole, rows...))
	for i, g := range got {
		if i >= len(want) {
			t.Errorf("%v: not wanted", g)
			continue
		}
		w := want[i]
		if w.n != g.Point["n"] || w.scope != g.Scope || w.pred != g.Pred || w.sim != g.Sim || w.err != g.Err && math.Abs(w.err-g.Err) > 1e-12 || w.note != g.Note {
			t.Errorf("%+v, want %+v", g, w)
		}
		if cubed := g.Cubed; g.Of == "loop" && (w.cubed == 0 != math.IsNaN(cubed) || w.cubed > 0 && (w.cubed != cubed || g.Base != 4)) {
			t.Errorf("%s at %v: %g cycles by n³ from %g, want %g from 4", g.Scope, g.Point, cubed, g.Base, w.cubed)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	rows[0].Pred++
	if err := adds(append(whole, rows...)); err == nil || !strings.Contains(err.Error(), "n=4") {
		t.Errorf("a loop that takes a cycle more than the program knows of: %v", err)
	}
}
