package callpath_test

import (
	"math"
	"strings"
	"testing"

	"presage/perf/callpath"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestPredict: memcpy's misses are those of its callers, by theory and as simulated, at
// twice the largest size that was run, on both engines; they add up to what
// misses.Predict says of each loop.
func TestPredict(t *testing.T) {
	for _, target := range []string{"rv64", "static"} {
		t.Run(target, func(t *testing.T) {
			// -fno-builtin: no copy is inlined.
			prog := build(t, target, "copies", "-fno-builtin")
			m, st := small(), store.Open(t.TempDir())
			run := subject.RunOptions{Args: "{n}", Store: st}
			points := []subject.Point{{"n": 400}, {"n": 520}, {"n": 640}, {"n": 800}, {"n": 1000}}
			runs, err := locality.Profile(t.Context(), prog, points, locality.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()})
			skipped(t, err)
			model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
			if err != nil {
				t.Fatal(err)
			}
			const n = 2000
			at := []subject.Point{{"n": n}}
			predicted, err := callpath.Predict(t.Context(), model, m, at, callpath.PredictOptions{Corrector: misses.NoCorrection{}, Store: st})
			if err != nil {
				t.Fatal(err)
			}
			simulated, err := callpath.Simulate(t.Context(), prog, m, at, callpath.SimulateOptions{RunOptions: run})
			if err != nil {
				t.Fatal(err)
			}
			const lines = 2 * 256 / 64 // of a record and its copy
			for caller, want := range map[string]map[string]float64{
				"stream": {"L1": lines * n, "L2": lines * n}, "window": {"L1": 2 * lines, "L2": 2 * lines}, "rounds": {"L1": lines * n, "L2": lines * n},
			} {
				for level, misses := range want {
					p := memcpyOf(t, predicted, caller, func(r callpath.Predicted) (string, callpath.Path) { return r.Level, r.Path }, level)
					s := memcpyOf(t, simulated, caller, func(r callpath.Simulated) (string, callpath.Path) { return r.Level, r.Path }, level)
					if math.Abs(s.AllMisses-misses) > 0.001*misses+2 {
						t.Errorf("%s by %s: simulated %g misses, want %g", level, caller, s.AllMisses, misses)
					}
					if math.Abs(p.AllMisses-s.AllMisses) > 0.01*s.AllMisses+2 || math.Abs(p.AllAccesses-s.AllAccesses) > 0.001*s.AllAccesses {
						t.Errorf("%s by %s: predicted %g misses of %g accesses, simulated %g of %g", level, caller, p.AllMisses, p.AllAccesses, s.AllMisses, s.AllAccesses)
					}
					if !(p.Low <= p.AllMisses && p.AllMisses <= p.High) {
						t.Errorf("%s by %s: %g misses in [%g, %g]", level, caller, p.AllMisses, p.Low, p.High)
					}
				}
			}
			ofLoops(t, model, predicted, at, st, target != "rv64")
		})
	}
}

// memcpyOf returns the row of memcpy below a caller.
func memcpyOf[T any](t *testing.T, rows []T, caller string, about func(T) (string, callpath.Path), want string) T {
	t.Helper()
	for _, r := range rows {
		level, p := about(r)
		parts := strings.Split(p.Path, callpath.Separator)
		last := parts[len(parts)-1]
		if level == want && (strings.Contains(last, "memcpy") || strings.Contains(last, "memmove")) && strings.Contains(p.Path, "main > "+caller+" > ") && strings.HasPrefix(parts[len(parts)-2], "loop") {
			return r
		}
	}
	t.Fatalf("%s: %s calls no memcpy", want, caller)
	var none T
	return none
}

// ofLoops checks that paths add up to what is predicted of each routine and of all.
func ofLoops(t *testing.T, model *misses.Model, rows []callpath.Predicted, at []subject.Point, st *store.Store, stubs bool) {
	t.Helper()
	loops, err := misses.Predict(t.Context(), model, small(), at, misses.PredictOptions{By: subject.ByLoop, Corrector: misses.NoCorrection{}})
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ level, loop string }
	want, got := make(map[key][2]float64), make(map[key][2]float64)
	add := func(to map[key][2]float64, level, loop string, accesses, misses float64) {
		for _, k := range []key{{level, loop}, {level, ""}} {
			to[k] = [2]float64{to[k][0] + accesses, to[k][1] + misses}
		}
	}
	for _, l := range loops {
		add(want, l.Level, l.Scope[strings.LastIndex(l.Scope, "/")+1:], l.Accesses, l.Misses)
	}
	for _, r := range rows {
		add(got, r.Level, r.Scope, r.Accesses, r.Misses)
		if r.Depth == 0 && math.Abs(r.AllMisses-want[key{r.Level, ""}][1]) > 1e-6*r.AllMisses {
			t.Errorf("%s: %g misses inclusive, loops have %g", r.Level, r.AllMisses, want[key{r.Level, ""}][1])
		}
	}
	for k, w := range want {
		if stubs && k.loop != "" {
			continue // what stubs access is their callers', and in the loops' rows their own
		}
		if g := got[k]; math.Abs(g[0]-w[0]) > 1e-6*w[0]+1e-6 || math.Abs(g[1]-w[1]) > 1e-6*w[1]+1e-6 {
			t.Errorf("%s of %s: %g accesses and %g misses, the loop has %g and %g", k.level, k.loop, g[0], g[1], w[0], w[1])
		}
	}
	for _, method := range []predict.Method{"", predict.MethodBinomial} {
		rows, err := callpath.Predict(t.Context(), model, small(), at, callpath.PredictOptions{Store: st, By: subject.ByRoutine, Method: method, Coverage: -1, Share: 0.05, Listing: subject.Listing{Limit: 3}})
		if err != nil {
			t.Fatal(err)
		}
		own := 0.0
		for _, r := range rows {
			if r.Level == "L1" {
				own += r.Misses
			}
		}
		if all := rows[0].AllMisses; math.Abs(own-all) > 1e-6*all || !math.IsNaN(rows[0].High) || all == 0 {
			t.Errorf("%q: rows have %g misses, the first %g with others", method, own, all)
		}
	}
	if _, err := callpath.Predict(t.Context(), model, small(), at, callpath.PredictOptions{Store: st, Share: 1}); err == nil {
		t.Error("a share of 1: no error")
	}
}
