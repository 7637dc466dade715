package misses

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// mesh is the program of the model that queries ask: of some tens of references, as
// what is claimed of one holds for one with thousands.
func mesh(t *testing.T) *subject.Program {
	return perftest.Compile(t, "gcc", "-O1 -g", "mesh", "mesh.c")
}

// askable returns the model that all tests of queries ask, fitted once.
func askable(t *testing.T) *Model {
	t.Helper()
	queried.Do(func() { queried.model = trained(t, mesh(t), "{n}") })
	if queried.model == nil {
		t.Fatal("the model of queries could not be fitted")
	}
	return queried.model
}

var queried struct {
	sync.Once
	model *Model
}

// trained returns a model of a program, profiled at 8 to 16.
func trained(t *testing.T, prog *subject.Program, args string) *Model {
	t.Helper()
	st := store.Open(t.TempDir()) // the model is all in memory
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 8, 10, 12, 14, 16), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: args, Store: st}, BlockBytes: []uint64{32, 128, 32 << 10}, DataOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func ask(t *testing.T, q Query) frame.Table {
	t.Helper()
	df, err := answer(t.Context(), askable(t), q)
	if err != nil {
		t.Fatal(err)
	}
	return df
}

// answer returns what the query leaves open.
func answer(ctx context.Context, model *Model, q Query) (frame.Table, error) {
	asked, err := q.Asks()
	if err != nil {
		return frame.Table{}, err
	}
	switch asked {
	case AsksLargestProblem:
		rows, err := LargestProblem(ctx, model, q)
		return frame.Of(rows), err
	case AsksSmallestCache:
		rows, err := SmallestCache(ctx, model, q)
		return frame.Of(rows), err
	}
	rows, err := OfCaches(ctx, model, q)
	return frame.Of(rows), err
}

func cachesOf(t *testing.T, machine string, names ...string) []CacheSize {
	t.Helper()
	caches, err := CachesOf(profiletest.Machine(t, machine), names...)
	if err != nil {
		t.Fatal(err)
	}
	return caches
}

// A machine's caches by their sizes are the machine.
func TestMissesOfCachesAreThoseOfTheMachine(t *testing.T) {
	model, points := askable(t), subject.Sweep("n", 12, 22)
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByReference} {
		want, err := Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), points, PredictOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		got := ask(t, Query{By: by, Points: points, Caches: cachesOf(t, "origin2000")})
		for _, name := range []string{"pred_misses", "pred_misses_low", "pred_misses_high", "pred_accesses", "pred_miss_ratio", "pred_cold_misses"} {
			if diff := cmp.Diff(perftest.Column(t, want, name), perftest.Column(t, got, name)); diff != "" {
				t.Errorf("by %s, %s: %s", by, name, diff)
			}
		}
		if diff := cmp.Diff(perftest.Text(t, want, "scope"), perftest.Text(t, got, "scope")); diff != "" {
			t.Error(diff)
		}
		low, high, misses := perftest.Column(t, got, "pred_misses_low"), perftest.Column(t, got, "pred_misses_high"), perftest.Column(t, got, "pred_misses")
		uncertain := 0
		for i := range misses {
			if !(0 <= low[i] && low[i] <= misses[i] && misses[i] <= high[i]) {
				t.Errorf("by %s, row %d: %g to %g, predicted %g", by, i, low[i], high[i], misses[i])
			}
			if high[i] > low[i]*1.0001 {
				uncertain++
			}
		}
		if uncertain == 0 {
			t.Errorf("by %s: all is certain", by)
		}
	}
	without := ask(t, Query{Points: points, Caches: cachesOf(t, "origin2000"), Coverage: -1})
	if v := perftest.Column(t, without, "pred_misses_low")[0]; !math.IsNaN(v) {
		t.Errorf("an interval though none was asked for: from %g", v)
	}
	wide := ask(t, Query{Points: points, Caches: cachesOf(t, "origin2000"), Coverage: 0.99})
	narrow := ask(t, Query{Points: points, Caches: cachesOf(t, "origin2000"), Coverage: 0.5})
	if a, b := perftest.Column(t, wide, "pred_misses_high")[0], perftest.Column(t, narrow, "pred_misses_high")[0]; a <= b {
		t.Errorf("99%% ends at %g, 50%% at %g", a, b)
	}
}

// What a person changes: the size of a cache.
func TestMissesOfOtherSizes(t *testing.T) {
	l1 := cachesOf(t, "origin2000", "L1")[0]
	larger := l1
	larger.Name, larger.Capacity = "", 2*l1.Capacity
	df := ask(t, Query{Points: subject.Sweep("n", 20), Caches: []CacheSize{l1, larger, {Capacity: 64 << 10, BlockBytes: 32}}})
	misses := perftest.Column(t, df, "pred_misses")
	if !(misses[0] > misses[1]) {
		t.Errorf("32 KiB: %g misses, 64 KiB: %g", misses[0], misses[1])
	}
	if diff := cmp.Diff([]string{"L1", "64 KiB 2-way", "64 KiB fully associative"}, perftest.Text(t, df, "level")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{2, 2, 0}, perftest.Column(t, df, "ways")); diff != "" {
		t.Error(diff)
	}
}

// The smallest cache reaches the ratio and the next smaller does not, by the
// table of misses, for every scope and kind of cache.
func TestSmallestCacheByItsMisses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	tlb := CacheSize{Name: "tlb", BlockBytes: 32 << 10}
	smallestByMisses(t, subject.Sweep("n", 20), []CacheSize{{Name: "2", Ways: 2, BlockBytes: 32}, {Name: "0", BlockBytes: 128}, {Name: "8", Ways: 8}})
	smallestByMisses(t, subject.Sweep("n", 14), []CacheSize{tlb})
	// Pages scaled to a size hold for one cache alone.
	beyond := ask(t, Query{Points: subject.Sweep("n", 20), Caches: []CacheSize{tlb}, HitRatio: 0.9})
	if got := perftest.Text(t, beyond, "pred_warning")[0]; !strings.Contains(got, groupsAlone) {
		t.Errorf("beyond the sizes profiled: %q", got)
	}
}

// smallestByMisses asks for the smallest caches of some kinds at a point.
func smallestByMisses(t *testing.T, point []subject.Point, kinds []CacheSize) {
	t.Helper()
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine, subject.ByLoop, subject.ByReference} {
		for _, hit := range []float64{0.9, 0.97} {
			df := ask(t, Query{By: by, Points: point, Caches: kinds, HitRatio: hit})
			capacity, scopes, names := perftest.Column(t, df, "pred_capacity_bytes"), perftest.Text(t, df, "scope"), perftest.Text(t, df, "level")
			smaller, reached, most := perftest.Column(t, df, "pred_hit_ratio_smaller"), perftest.Column(t, df, "pred_hit_ratio"), perftest.Column(t, df, "pred_hit_ratio_most")
			warnings := perftest.Text(t, df, "pred_warning")
			asked := map[string]frame.Table{} // by kind and capacity
			step := max(1, len(scopes)/20)    // some of many references
			for i := 0; i < len(scopes); i += step {
				kind := kinds[slices.IndexFunc(kinds, func(c CacheSize) bool { return c.Name == names[i] })]
				if math.IsNaN(capacity[i]) {
					if most[i] >= hit && kind.Ways == 0 || !strings.Contains(warnings[i], "no cache reaches") {
						t.Errorf("%s, %s: %g of at most %g is out of reach", scopes[i], kind, hit, most[i])
					}
					continue
				}
				if reached[i] < hit-1e-9 || smaller[i] >= hit {
					t.Errorf("%s, %s: asked for %g, reached %g, the next smaller %g", scopes[i], kind, hit, reached[i], smaller[i])
				}
				if strings.Contains(warnings[i], groupsAlone) {
					if kind.Name != "tlb" {
						t.Errorf("%s, %s: %s", scopes[i], kind, warnings[i])
					}
					continue // misses are of scaled pages, which hold for one cache alone
				}
				kind.Capacity = uint64(capacity[i])
				key := fmt.Sprint(kind.Name, kind.Capacity)
				if _, ok := asked[key]; !ok {
					asked[key] = ask(t, Query{By: by, Points: point, Caches: []CacheSize{kind}, Coverage: -1})
				}
				row := slices.Index(perftest.Text(t, asked[key], "scope"), scopes[i])
				if got := perftest.Column(t, asked[key], "pred_hit_ratio")[row]; math.Abs(got-reached[i]) > 1e-12 {
					t.Errorf("%s, %s: hit ratio %g by its misses, %g by the answer", scopes[i], kind, got, reached[i])
				}
			}
		}
	}
}

// The largest problem by the definition: the table of misses at every size.
func TestLargestProblemByEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	caches := []CacheSize{{Name: "L1", Capacity: 8 << 10, Ways: 2, BlockBytes: 32}, {Name: "L2", Capacity: 256 << 10, BlockBytes: 128}}
	vary := Vary{Param: "n", From: 6, To: 60, Step: 6}
	const rounded = 1e-12 // a ratio that is the limit is within it
	values := subject.Range(vary.From, vary.To, vary.Step)
	kinds := map[string]int{}
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine} {
		table := ask(t, Query{By: by, Points: subject.Sweep("n", values...), Caches: caches, Coverage: -1})
		type series struct{ n, ratio []float64 }
		bySize := map[string]*series{} // by scope and level
		ratios, sizes, levelOf := perftest.Column(t, table, "pred_miss_ratio"), perftest.Column(t, table, "n"), perftest.Text(t, table, "level")
		for k, scope := range perftest.Text(t, table, "scope") {
			key := scope + " " + levelOf[k]
			if bySize[key] == nil {
				bySize[key] = &series{}
			}
			bySize[key].n, bySize[key].ratio = append(bySize[key].n, sizes[k]), append(bySize[key].ratio, ratios[k])
		}
		for _, limit := range []float64{1e-6, 0.01, 0.02, 0.03, 0.05, 1} {
			df := ask(t, Query{By: by, Caches: caches, MissRatio: limit, Vary: vary})
			scopes, levels, warnings := perftest.Text(t, df, "scope"), perftest.Text(t, df, "level"), perftest.Text(t, df, "pred_warning")
			largest, anywhere, nexts := perftest.Column(t, df, "pred_largest"), perftest.Column(t, df, "pred_largest_anywhere"), perftest.Column(t, df, "pred_next_miss_ratio")
			for i := range scopes {
				want := [2]float64{math.NaN(), math.NaN()}
				prefix := true
				at := bySize[scopes[i]+" "+levels[i]]
				for k, ratio := range at.ratio {
					if prefix = prefix && ratio <= limit+rounded; prefix {
						want[0] = at.n[k]
					}
					if ratio <= limit+rounded {
						want[1] = at.n[k]
					}
				}
				got := [2]float64{largest[i], anywhere[i]}
				if !same(got[0], want[0]) || !same(got[1], want[1]) {
					t.Errorf("%s, %s, %g: largest %g, anywhere %g, want %g, %g", scopes[i], levels[i], limit, got[0], got[1], want[0], want[1])
				}
				warning, next := warnings[i], nexts[i]
				switch {
				case want[0] == vary.To:
					kinds["end"]++
					if !strings.Contains(warning, "search ends at n = 60") || !math.IsNaN(next) {
						t.Errorf("%s, %s, %g: next %g, %q", scopes[i], levels[i], limit, next, warning)
					}
				case math.IsNaN(want[1]):
					kinds["none"]++
					if !strings.Contains(warning, "exceeded everywhere") {
						t.Errorf("%s, %s, %g: %q", scopes[i], levels[i], limit, warning)
					}
				case !same(want[0], want[1]):
					kinds["not monotone"]++
					if !strings.Contains(warning, "larger values") {
						t.Errorf("%s, %s, %g: %q", scopes[i], levels[i], limit, warning)
					}
				default:
					kinds["between"]++
				}
				if next <= limit {
					t.Errorf("%s, %s, %g: the next ratio is %g", scopes[i], levels[i], limit, next)
				}
			}
		}
	}
	t.Logf("answers: %v", kinds)
	for _, kind := range []string{"end", "none", "between"} {
		if kinds[kind] == 0 {
			t.Errorf("no answer of kind %q", kind)
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Without a range the search ends where the model does, and says so.
func TestLargestProblemEndsAtTheReach(t *testing.T) {
	df := ask(t, Query{Caches: cachesOf(t, "origin2000", "TLB"), MissRatio: 1, Vary: Vary{Param: "n"}})
	if from, to, largest := perftest.Column(t, df, "search_from")[0], perftest.Column(t, df, "search_to")[0], perftest.Column(t, df, "pred_largest")[0]; from != 8 || to != 8*16 || largest != to {
		t.Errorf("from %g to %g: largest %g", from, to, largest)
	}
	if got := perftest.Text(t, df, "at_limit")[0]; got != "true" {
		t.Errorf("at_limit %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LargestProblem(ctx, askable(t), Query{Caches: cachesOf(t, "origin2000", "TLB"), MissRatio: 1, Vary: Vary{Param: "n"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Distances sum to the accesses, and their hit ratios are those of caches.
func TestDistancesByTheirCaches(t *testing.T) {
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine} {
		df, err := Distances(t.Context(), askable(t), subject.Sweep("n", 20), DistanceOptions{By: by, BlockBytes: 32})
		if err != nil {
			t.Fatal(err)
		}
		total := ask(t, Query{By: by, Points: subject.Sweep("n", 20), Caches: []CacheSize{{Capacity: 32}}, Coverage: -1})
		scopes, distances := perftest.Text(t, df, "scope"), perftest.Column(t, df, "distance_blocks")
		accesses, cold, hitRatios := perftest.Column(t, df, "pred_accesses"), perftest.Column(t, df, "pred_cold_accesses"), perftest.Column(t, df, "pred_hit_ratio")
		totals := perftest.Column(t, total, "pred_accesses")
		asked := map[uint64]frame.Table{} // by capacity
		step := max(7, len(scopes)/40)
		for k, scope := range perftest.Text(t, total, "scope") {
			sum, bins := 0.0, 0
			for i, name := range scopes {
				if name != scope || math.IsNaN(distances[i]) {
					continue
				}
				if sum += accesses[i]; bins == 0 {
					sum += cold[i]
				}
				if bins++; bins%step != 1 || k > 3 {
					continue // some are enough
				}
				blocks := uint64(distances[i]) + 1
				hits, ok := asked[blocks]
				if !ok {
					hits = ask(t, Query{By: by, Points: subject.Sweep("n", 20), Caches: []CacheSize{{Capacity: 32 * blocks}}, Coverage: -1})
					asked[blocks] = hits
				}
				row := slices.Index(perftest.Text(t, hits, "scope"), scope)
				if got, want := hitRatios[i], perftest.Column(t, hits, "pred_hit_ratio")[row]; math.Abs(got-want) > 1e-9 {
					t.Errorf("%s, %d blocks: hit ratio %g, by the misses %g", scope, blocks, got, want)
				}
			}
			if want := totals[k]; bins > 0 && math.Abs(sum-want) > 1e-6*want {
				t.Errorf("%s: distances of %g accesses, want %g", scope, sum, want)
			}
		}
		if by == subject.ByProgram && len(scopes) < 20 {
			t.Errorf("only %d bins", len(scopes))
		}
	}
}

// TestExclusiveCachesCountThoseAbove: of an exclusive cache the capacity is that with the
// cache above, and the answer says so; of others nothing is said.
func TestExclusiveCachesCountThoseAbove(t *testing.T) {
	m := profiletest.Machine(t, "zen4")
	all, err := CachesOf(m)
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(i int) uint64 { return m.Caches[i].Blocks * m.Caches[i].BlockBytes }
	want := []uint64{bytes(0), bytes(1), bytes(1) + bytes(2)}
	const says = "the capacity is that of L3 together with L2, of which it holds no copies"
	for i, c := range all[:3] {
		c.BlockBytes = 32 // of the model
		rows, err := OfCaches(t.Context(), askable(t), Query{Points: subject.Sweep("n", 20), Caches: []CacheSize{c}})
		if err != nil {
			t.Fatal(err)
		}
		if r := rows[0]; r.Capacity != want[i] || strings.Contains(r.Warning, says) != (i == 2) || strings.Contains(r.Warning, "together") != (i == 2) {
			t.Errorf("%s: %d bytes, want %d; %q", r.Level, r.Capacity, want[i], r.Warning)
		}
	}
}

func TestQueryErrors(t *testing.T) {
	cache, n := []CacheSize{{Capacity: 1 << 15, Ways: 2, BlockBytes: 32}}, subject.Sweep("n", 20)
	for want, q := range map[string]Query{
		"two of size, cache and ratio":     {Points: n},
		"takes two":                        {Points: n, HitRatio: 0.5},
		"takes caches and a ratio":         {Caches: cache, Vary: Vary{Param: "n"}},
		"not both":                         {Points: n, Caches: cache, HitRatio: 0.5, MissRatio: 0.5},
		"ratio 1.5 is not":                 {Points: n, Caches: cache, HitRatio: 1.5},
		"no parameter m; it has n":         {Caches: cache, HitRatio: 0.5, Vary: Vary{Param: "m"}},
		"fixes n, which is to vary":        {Points: n, Caches: cache, HitRatio: 0.5, Vary: Vary{Param: "n"}},
		"cannot vary from 9 to 8":          {Caches: cache, HitRatio: 0.5, Vary: Vary{Param: "n", From: 9, To: 8}},
		"more than 10000 values":           {Caches: cache, HitRatio: 0.5, Vary: Vary{Param: "n", Step: 1e-6}},
		"no parameter m":                   {Points: subject.Sweep("m", 20), Caches: cache},
		"has no capacity":                  {Points: n, Caches: []CacheSize{{Ways: 2, BlockBytes: 32}}},
		"no whole number of blocks":        {Points: n, Caches: []CacheSize{{Capacity: 100, BlockBytes: 32}}},
		"in sets of 3":                     {Points: n, Caches: []CacheSize{{Capacity: 1 << 15, Ways: 3, BlockBytes: 32}}},
		"profile with block sizes [64]":    {Points: n, Caches: []CacheSize{{Capacity: 1 << 15, BlockBytes: 64}}},
		"blocks of 64 bytes, and the runs": {Points: n, Caches: []CacheSize{{BlockBytes: 64}}, HitRatio: 0.5},
		"scope \"cell\"":                   {Points: n, Caches: cache, HitRatio: 0.5, By: "cell"},
		"level 1 of intervals":             {Points: n, Caches: cache, Coverage: 1},
	} {
		if _, err := answer(t.Context(), askable(t), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
	if _, err := CachesOf(profiletest.Machine(t, "origin2000"), "L9"); err == nil || !strings.Contains(err.Error(), "it has L1, L2, TLB") {
		t.Errorf("no such level: %v", err)
	}
	if _, err := Distances(t.Context(), askable(t), n, DistanceOptions{BlockBytes: 64}); err == nil {
		t.Error("distances of blocks that were not profiled: no error")
	}
}
