package patterns_test

import (
	"math"
	"strings"
	"sync"
	"testing"

	"presage/perf/cache"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/patterns"
	"presage/perf/store"
	"presage/perf/subject"
)

// small is a machine whose caches a program of a few thousand doubles outgrows.
func small(ways int) *machine.Machine {
	return &machine.Machine{
		Name: "small",
		Caches: []machine.Cache{
			{Level: cache.Level{Name: "L1", Blocks: 32, BlockBytes: 64, Ways: ways}},
			{Level: cache.Level{Name: "L2", Blocks: 256, BlockBytes: 64, Ways: ways}},
		},
		TLBs: []machine.TLB{{TLB: cache.TLB{Name: "TLB", Entries: 4, EntryBytes: 4096}}},
	}
}

var once struct {
	sync.Mutex
	prog *subject.Program
}

func program(t *testing.T) *subject.Program {
	t.Helper()
	once.Lock()
	defer once.Unlock()
	if once.prog == nil {
		once.prog = perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{
			"-O2", "-g", "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns", perftest.Path(t, "perf", "patterns", "testdata", "patterns.c"),
		}, "patterns")
	}
	return once.prog
}

func simulate(t *testing.T, m *machine.Machine, n float64, opt patterns.SimulateOptions) []patterns.Simulated {
	t.Helper()
	opt.Store = store.Open(t.TempDir())
	rows, err := patterns.Simulate(t.Context(), program(t), m, []subject.Point{{"n": n}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// in sums the rows of a level, a routine and an object that a test chooses.
func in(rows []patterns.Simulated, level, routine, object string, choose func(*patterns.Simulated) bool) (sum patterns.Simulated) {
	for i := range rows {
		r := &rows[i]
		if r.Level == level && (r.Scope == routine || strings.HasPrefix(r.Scope, routine+"/")) && r.Object == object && choose(r) {
			sum.Accesses += r.Accesses
			sum.Misses += r.Misses
			sum.Conflict += r.Conflict
			sum.Used = r.Used
		}
	}
	return sum
}

func any(*patterns.Simulated) bool { return true }

func depth(scope string) int { return strings.Count(scope, "/") }

// TestPatternsOfKnownLoops: misses, sources and carriers by theory, in caches of 32
// and 256 lines.
func TestPatternsOfKnownLoops(t *testing.T) {
	const n = 128
	rows := simulate(t, small(0), n, patterns.SimulateOptions{})
	for name, c := range map[string]struct {
		got  patterns.Simulated
		want float64
	}{
		// Each line of a column is left before the next column comes to it.
		"cold lines of a":  {in(rows, "L1", "columns", "a", func(r *patterns.Simulated) bool { return r.Cold() && r.Carrier == "" }), n * n / 8},
		"next columns":     {in(rows, "L1", "columns", "a", func(r *patterns.Simulated) bool { return r.Crosses && depth(r.Carrier) == 1 }), n * n * 7 / 8},
		"none in columns":  {in(rows, "L1", "columns", "a", func(r *patterns.Simulated) bool { return depth(r.Carrier) > 1 }), 0},
		"a fits no column": {in(rows, "L2", "columns", "a", any), n * n / 8},
		// b is written, read in the same step, and written in the next.
		"written first":     {in(rows, "L2", "steps", "b", func(r *patterns.Simulated) bool { return r.Cold() }), n * n / 8},
		"read in its step":  {in(rows, "L2", "steps", "b", func(r *patterns.Simulated) bool { return !r.Crosses && depth(r.Carrier) == 1 && r.Source != r.Scope }), 4 * n * n / 8},
		"written again":     {in(rows, "L2", "steps", "b", func(r *patterns.Simulated) bool { return r.Crosses && depth(r.Carrier) == 1 && r.Source != r.Scope }), 3 * n * n / 8},
		"read after a loop": {in(rows, "L1", "reads", "z", func(r *patterns.Simulated) bool { return r.Carrier == "" && strings.HasPrefix(r.Source, "writes/") }), n},
		"keys":              {in(rows, "L2", "keys", "records", any), 8 * n},
	} {
		if c.got.Misses != c.want || c.got.Conflict != 0 {
			t.Errorf("%s: %g misses, %g of conflicts, want %g and none", name, c.got.Misses, c.got.Conflict, c.want)
		}
	}
	if got := in(rows, "L2", "keys", "records", any).Used; got != 0.125 {
		t.Errorf("keys use %g of what they fetch, want an eighth", got)
	}
	if got := in(rows, "L2", "steps", "b", func(r *patterns.Simulated) bool { return r.Cold() }).Used; got != 1 {
		t.Errorf("steps use %g of what they fetch, want all", got)
	}
	if got := in(rows, "L1", "columns", "a", func(r *patterns.Simulated) bool { return r.Crosses }).Used; got != 0.125 {
		t.Errorf("columns use %g of what they fetch into L1, want an eighth", got)
	}
}

// TestCollisions: two arrays at the same place of each way evict each other in a
// cache of one way, in all of the sets that they come to, and none in one of two.
func TestCollisions(t *testing.T) {
	const n = 64 // 512 doubles each: 64 lines, in 32 sets
	objects := func(ways int) map[string]patterns.Object {
		rows, err := patterns.SimulateObjects(t.Context(), program(t), small(ways), []subject.Point{{"n": n}},
			patterns.SimulateOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())}})
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[string]patterns.Object)
		for _, r := range rows {
			if r.Level == "L1" {
				out[r.Object] = r
			}
		}
		return out
	}
	one, two := objects(1), objects(2)
	x := one["x"]
	// Of the accesses to a line, 8 to each array, the first is cold and the others
	// find the other array's line; a line is left for good at the end.
	if x.Misses != 8*n || x.Conflict != 7*n || x.With != "y" || x.CollideMisses != 7*n || x.CollideSets != 32 || x.Sets != 32 {
		t.Errorf("one way: %+v", x)
	}
	if x.Size != 4096*8 || x.Footprint != 8*8*n || x.OfSize != 0.125 {
		t.Errorf("one way: %g bytes of %g, %g", x.Footprint, x.Size, x.OfSize)
	}
	if x := two["x"]; x.Misses != n || x.Conflict != 0 || x.With != "" {
		t.Errorf("two ways: %+v", x)
	}
	if r := two["records"]; r.Used != 0.125 || r.Touched*8 != r.Footprint || x.Touched != x.Footprint {
		t.Errorf("records: %+v", r)
	}
}

// TestSimulatedSums: whatever scopes are, patterns add up to the misses of
// misses.Simulate, by level and scope, in sets and fully associative.
func TestSimulatedSums(t *testing.T) {
	st := store.Open(t.TempDir())
	for _, by := range []subject.Scope{subject.ByLoop, subject.ByRoutine, subject.ByProgram} {
		got := make(map[string]float64)
		conflicts := make(map[string]float64)
		for _, r := range simulate(t, small(2), 40, patterns.SimulateOptions{By: by}) {
			got[r.Level+" "+r.Scope] += r.Misses
			conflicts[r.Level+" "+r.Scope] += r.Conflict
		}
		want, err := misses.Simulate(t.Context(), program(t), small(2), []subject.Point{{"n": 40}}, misses.SimulateOptions{
			RunOptions: subject.RunOptions{Store: st}, By: by, FullyAssociative: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0.0
		for _, r := range want {
			key := r.Level + " " + r.Scope
			if got[key] != r.Misses {
				t.Errorf("%s: %s: patterns have %g misses, want %g", by, key, got[key], r.Misses)
			}
			if least := r.Misses - r.Full; conflicts[key] < least || conflicts[key] > r.Misses {
				t.Errorf("%s: %s: %g conflicts, want from %g to %g", by, key, conflicts[key], least, r.Misses)
			}
			delete(got, key)
			seen += r.Misses
		}
		for key, n := range got {
			if n > 0 {
				t.Errorf("%s: %s is in no row of misses.Simulate", by, key)
			}
		}
		if seen == 0 {
			t.Error("no misses")
		}
	}
}

// TestPredictsPatterns: from runs of small sizes, patterns of a size never run are
// those that a simulation finds, and add up to what misses.Predict says.
func TestPredictsPatterns(t *testing.T) {
	const n = 200
	st := store.Open(t.TempDir())
	m := small(0)
	runs, err := locality.Profile(t.Context(), program(t), subject.Sweep("n", 64, 72, 80, 96, 104, 120), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Store: st}, BlockBytes: m.BlockBytes(), Carriers: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	at := []subject.Point{{"n": n}}
	for _, by := range []subject.Scope{"", subject.ByRoutine} {
		predicted, err := patterns.Predict(t.Context(), model, m, at, patterns.PredictOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]float64)
		for _, r := range simulate(t, m, n, patterns.SimulateOptions{By: by}) {
			if r.Level != "TLB" && r.Share > 0.02 {
				want[r.Level+r.Scope+r.Source+r.Carrier+r.Object] += r.Misses
			}
		}
		if len(want) < 6 {
			t.Fatalf("%d patterns: %v", len(want), want)
		}
		got, sums := make(map[string]float64), make(map[string]float64)
		for _, r := range predicted {
			got[r.Level+r.Scope+r.Source+r.Carrier+r.Object] += r.Misses
			sums[r.Level] += r.Misses
			if !(r.Low <= r.Misses && r.Misses <= r.High) {
				t.Errorf("%+v: not in its interval", r)
			}
		}
		for key, w := range want {
			if off := math.Abs(got[key]-w) / w; off > 0.02 {
				t.Errorf("%s: predicted %g, simulated %g", key, got[key], w)
			}
		}
		all, err := misses.Predict(t.Context(), model, m, at, misses.PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if off := math.Abs(sums[r.Level]-r.Misses) / r.Misses; off > 1e-9 {
				t.Errorf("%s: patterns have %g misses, the program %g", r.Level, sums[r.Level], r.Misses)
			}
		}
	}
}
