package replayed

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// hierarchies are small ones as machines have them: the caches of Zen 4 and Golden Cove
// a thirty-second as large, with replacement and inclusion that models leave out, and what
// rows are told that are replayed, by level.
func hierarchies(t *testing.T) map[string]struct {
	m    *machine.Machine
	said map[string]string
} {
	of := func(name string, change func(caches []machine.Cache)) *machine.Machine {
		m := *find(t, name)
		m.Caches = slices.Clone(m.Caches)
		for i := range m.Caches {
			m.Caches[i].Blocks /= 32
			if i == 0 { // L1: an eighth, of as many ways
				m.Caches[i].Blocks *= 4
			}
		}
		change(m.Caches)
		m.Name += " as changed"
		return &m
	}
	type hierarchy = struct {
		m    *machine.Machine
		said map[string]string
	}
	return map[string]hierarchy{
		"exclusive": {of("zen4", func([]machine.Cache) {}), nil},
		"victim": {
			of("zen4", func(c []machine.Cache) { c[2].Filling, c[2].Blocks = cache.Victims, 1024 }),
			map[string]string{"L3": "replayed as a cache of what the level above evicts"},
		},
		"inclusive": {
			of("golden-cove", func(c []machine.Cache) { c[2].Inclusive, c[2].Filling = true, cache.OnMiss }),
			map[string]string{"L3": "replayed as inclusive"},
		},
		"NMRU":   {of("zen4", func(c []machine.Cache) { c[0].Replacement = cache.NMRU }), map[string]string{"L1": "replayed with NMRU replacement"}},
		"random": {of("golden-cove", func(c []machine.Cache) { c[1].Replacement = cache.Random }), map[string]string{"L2": "replayed with random replacement"}},
	}
}

// TestPoliciesAreReplayed: where a program is replayed, misses of caches are those of a
// simulation of the hierarchy as the machine has it, and rows say so; where it is not, they
// say what is left out.
func TestPoliciesAreReplayed(t *testing.T) {
	st := store.Open(t.TempDir())
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	point := subject.Point{"n": 128}
	all := hierarchies(t)
	for _, flags := range []string{"-DCHOLESKY", "-DTRANSPOSE", "-DREDBLACK"} {
		prog := build(t, flags, "../../replay/testdata/kernels.c")
		model, p := learnOne(t, prog, all["victim"].m, opt, 20, 25, 30, 35, 41, 46)
		for name, h := range all {
			simulated, err := misses.Simulate(t.Context(), prog, h.m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt})
			if err != nil {
				t.Fatal(err)
			}
			predict := func(c misses.Corrector) []misses.Row {
				rows, err := misses.Predict(t.Context(), model, h.m, []subject.Point{point}, misses.PredictOptions{By: subject.ByProgram, Coverage: -1, Corrector: c})
				if err != nil {
					t.Fatal(err)
				}
				return rows
			}
			modelled := predict(misses.NoCorrection{})
			for i, r := range predict(NewCorrector(p, model, h.m, Options{})) {
				if strings.HasSuffix(r.Level, "TLB") { // pages of the start that are not replayed count here
					continue
				}
				is := simulated[slices.IndexFunc(simulated, func(s misses.SimulatedRow) bool { return s.Level == r.Level })].Misses
				if !strings.Contains(r.Method, "replay") || math.Abs(r.Misses-is) > 1+0.001*is {
					t.Errorf("%s, %s, %s: %q predicts %g, simulated %g", flags, name, r.Level, r.Method, r.Misses, is)
				}
				said := h.said[r.Level]
				if said != "" && !strings.Contains(r.Warning, said) || strings.Contains(r.Warning, "not modelled") || said == "" && strings.Contains(r.Warning, "replayed ") {
					t.Errorf("%s, %s, %s: %q, want %q", flags, name, r.Level, r.Warning, said)
				}
				if m := modelled[i].Warning; strings.Contains(m, "not modelled") != (said != "") {
					t.Errorf("%s, %s, %s by models: %q", flags, name, r.Level, m)
				}
			}
		}
	}
}
