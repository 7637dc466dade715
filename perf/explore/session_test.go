package explore

import (
	"context"
	"errors"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// trained are the sizes of the runs of these tests.
var trained = []float64{4, 6, 8, 10, 12}

// shared is the store of all tests, and the profiles in it.
var shared struct {
	store *store.Store
	runs  *locality.Runs
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "explore")
	if err != nil {
		panic(err)
	}
	shared.store = store.Open(dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// runs returns the profiles.
func runs(t *testing.T) *locality.Runs {
	t.Helper()
	switch {
	case shared.runs != nil:
	case testing.Short():
		shared.runs = runsOfMesh(t)
	default:
		shared.runs = profiletest.Profile(t, shared.store, trained, 32, 128, 32768)
	}
	return shared.runs
}

// runsOfMesh returns profiles of a program of some tens of references.
func runsOfMesh(t *testing.T) *locality.Runs {
	t.Helper()
	prog := perftest.Compile(t, "gcc", "-O1 -g", "mesh", "mesh.c")
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", trained...), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: "{n}", Store: shared.store}, BlockBytes: []uint64{32, 128, 32 << 10}, DataOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// newSession returns a session of small runs of sweep3d.
func newSession(t *testing.T) *Session {
	t.Helper()
	s, err := New(runs(t), Options{Machines: []*machine.Machine{
		profiletest.Machine(t, "origin2000"), profiletest.Machine(t, "itanium2"), profiletest.Machine(t, "supersparc-1"),
	}, Fit: misses.FitOptions{Store: shared.store}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// show parses a query and shows its state.
func show(t *testing.T, s *Session, query string) *View {
	t.Helper()
	v, err := s.Show(t.Context(), parsed(t, s, query))
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func parsed(t *testing.T, s *Session, query string) State {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Parse(q)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return st
}

// What the page predicts within the sizes profiled is what misses.Predict does, whose
// tests hold it against simulations.
func TestViewIsWhatIsPredicted(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	model, err := misses.Fit(t.Context(), runs(t), misses.FitOptions{Store: shared.store})
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "origin2000")
	for _, c := range []struct {
		query  string
		by     subject.Scope
		method predict.Method
	}{
		{"by=program", subject.ByProgram, ""},
		{"by=routine", subject.ByRoutine, ""},
		{"by=loop&method=binomial", subject.ByLoop, predict.MethodBinomial},
	} {
		rows, err := misses.Predict(t.Context(), model, m, subject.Sweep("n", 9), misses.PredictOptions{By: c.by, Method: c.method, Coverage: -1})
		if err != nil {
			t.Fatal(err)
		}
		shown := func(r *misses.Row) float64 { // as if fully associative, or by the formula
			if c.method == predict.MethodBinomial {
				return r.Misses
			}
			return r.FullyAssoc
		}
		for _, level := range []string{"L1", "L2", "TLB"} {
			v := show(t, s, c.query+"&at=9&machine=origin2000&level="+level)
			i := slices.IndexFunc(rows, func(r misses.Row) bool { return r.Level == level && r.Scope == v.State.Scope })
			if i < 0 {
				t.Fatalf("%s: no row for %s in %s", c.query, v.State.Scope, level)
			}
			if want := shown(&rows[i]); math.Abs(v.Misses-want) > 1e-9*want {
				t.Errorf("%s: %s in %s: %g misses, predicted %g", c.query, v.State.Scope, level, v.Misses, want)
			}
			all := 0.0
			for _, r := range rows {
				if r.Level == level {
					all += shown(&r)
				}
			}
			share := v.Scopes[slices.IndexFunc(v.Scopes, func(r ScopeShare) bool { return r.Scope == v.State.Scope })].Share
			if want := shown(&rows[i]) / all; math.Abs(share-want) > 1e-9 {
				t.Errorf("%s: %s in %s: share %g, predicted %g", c.query, v.State.Scope, level, share, want)
			}
		}
	}
}

// The misses of the runs are those of an exact simulation of a fully associative
// cache.
func TestErrorsAreAgainstTheRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	v := show(t, s, "machine=origin2000&level=L1&capacity=4096&ways=0&train=n%3D4&train=n%3D6&train=n%3D8&train=n%3D10")
	estimates, err := locality.MissEstimates(runs(t), locality.EstimateOptions{
		HistogramOptions: locality.HistogramOptions{BlockBytes: 32}, Capacities: []uint64{128},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Errors) != len(trained) || len(estimates) != len(trained) {
		t.Fatalf("%d errors and %d estimates for %d runs", len(v.Errors), len(estimates), len(trained))
	}
	for i, e := range v.Errors {
		if e.Point["n"] != trained[i] || e.Misses != float64(estimates[i].Misses) {
			t.Errorf("run %d: %g misses at %v, the run has %d", i, e.Misses, e.Point, estimates[i].Misses)
		}
		want := "fitted to"
		if trained[i] == 12 {
			want = "held out"
		}
		if e.Run != want || math.Abs(e.Err-(e.PredMisses/e.Misses-1)) > 1e-12 {
			t.Errorf("run %d is %s, off by %g: predicted %g of %g", i, e.Run, e.Err, e.PredMisses, e.Misses)
		}
	}
	for _, r := range v.Curve {
		if held := !math.IsNaN(r.HeldOut); held != (r.Point["n"] == 12) {
			t.Errorf("held out at %v: %t", r.Point, held)
		}
	}
	if got := len(v.model.Points); got != 4 {
		t.Errorf("the model was fitted to %d sizes", got)
	}
}

// Loops add up to the program, and so do lines.
func TestPlacesAddUp(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	v := show(t, newSession(t), "machine=origin2000&level=L1&at=20")
	rows, err := v.Tree()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(rows[0].Misses-v.Misses) > 1e-6*v.Misses || rows[0].Depth != 0 || rows[0].By != subject.ByProgram {
		t.Errorf("the tree begins with %+v, the program has %g misses", rows[0], v.Misses)
	}
	deepest, level := 0, []float64{0}
	for i, r := range rows {
		deepest = max(deepest, r.Depth)
		level = append(level[:min(len(level), r.Depth)], r.Misses)
		if r.Depth > 0 && r.Misses > level[r.Depth-1]*(1+1e-9) {
			t.Errorf("row %d, %s: %g misses within %g", i, r.Name, r.Misses, level[r.Depth-1])
		}
		if !r.Own {
			continue
		}
		if w := show(t, v.session, v.session.Query(State{
			Machine: "origin2000", Level: "L1", Capacity: v.State.Capacity, Ways: v.State.Ways, Block: v.State.Block,
			Method: v.State.Method, Param: "n", At: 20, By: r.By, Scope: r.Scope,
		})); r.By == subject.ByRoutine && math.Abs(w.Misses-r.Misses) > 1e-6*r.Misses {
			t.Errorf("%s: %g misses in the tree, %g in its view", r.Scope, r.Misses, w.Misses)
		}
	}
	if deepest < 3 {
		t.Errorf("no loop within a loop: %+v", rows)
	}
	lines, err := v.Lines()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, l := range lines {
		sum += l.Misses
	}
	if math.Abs(sum-v.Misses) > 1e-6*v.Misses || !strings.HasSuffix(lines[0].File, ".go") || lines[0].Line == 0 {
		t.Errorf("lines have %g misses of %g; the first is %+v", sum, v.Misses, lines[0])
	}
}

func TestMachinesAndDoubt(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	v := show(t, newSession(t), "machine=origin2000&level=L2&at=20")
	rows, err := v.Machines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range rows {
		if r.Machine == "origin2000" && r.Level == "L2" {
			found = true
			if math.Abs(r.Misses-v.Misses) > 1e-6*v.Misses || r.Capacity != v.State.Capacity {
				t.Errorf("%+v, and the view has %g misses", r, v.Misses)
			}
		}
	}
	if !found || len(rows) < 4 {
		t.Errorf("%d rows, origin2000 among them: %t", len(rows), found)
	}
	doubt, err := v.Doubt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(doubt) != 1 || !(doubt[0].Low <= v.Misses && v.Misses <= doubt[0].High) || doubt[0].Low == doubt[0].High {
		t.Errorf("%g misses, interval %+v", v.Misses, doubt)
	}
}

// A link gives the state back.
func TestQueryRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(s.machines).Draw(t, "machine")
		st := s.Initial()
		st.Machine = m.Name
		st.setLevel(rapid.SampledFrom(s.levels(m)).Draw(t, "level"))
		st.Block = rapid.SampledFrom(s.blocks).Draw(t, "block")
		st.Capacity = st.Block * rapid.Uint64Range(1, 1<<20).Draw(t, "blocks")
		st.Ways = rapid.SampledFrom([]uint64{0, 1}).Draw(t, "ways")
		st.Basis = rapid.SampledFrom([]string{"", "1, n", "n^2, n*log(n)", "1+n & x=y"}).Draw(t, "basis")
		st.Shape = rapid.SampledFrom(shapeNames).Draw(t, "shape")
		st.By = rapid.SampledFrom([]subject.Scope{subject.ByProgram, subject.ByLoop}).Draw(t, "by")
		st.Scope = rapid.String().Draw(t, "scope")
		st.At = rapid.Float64Range(0.1, 90).Draw(t, "at")
		st.Method = rapid.SampledFrom([]predict.Method{predict.MethodBinomial, predict.MethodFullyAssociative}).Draw(t, "method")
		for _, p := range s.points[:len(s.points)-1] {
			if rapid.Bool().Draw(t, p) {
				st.Without = append(st.Without, p)
			}
		}
		q, err := url.ParseQuery(s.Query(st))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Parse(q)
		if err != nil {
			t.Fatalf("%s: %v", s.Query(st), err)
		}
		if s.Query(got) != s.Query(st) || got.Capacity != st.Capacity || got.Scope != st.Scope || got.At != st.At {
			t.Fatalf("%+v, of %+v", got, st)
		}
	})
}

// What the form sends: sliders stand at steps of the ladder that was shown, and those
// of another level are not regarded.
func TestSliders(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	form := "machine=origin2000&level=L1&block=32&shown=origin2000%2FL1&shown-block=32&capacity=20480&ways=2&train=n%3D4&train=n%3D6&train=n%3D8"
	st := parsed(t, s, form)
	if st.Capacity != 20480 || st.Ways != 2 || !slices.Equal(st.Without, []string{"n=10", "n=12"}) {
		t.Errorf("%+v", st)
	}
	slider := st.capacitySlider()
	if slider.Text() != "20 KiB" || slider.Texts[slider.At+1] != "24 KiB" {
		t.Errorf("the slider stands at %s, before %s", slider.Text(), slider.Texts[slider.At+1])
	}
	for _, c := range []struct {
		more           string
		capacity, ways uint64
	}{
		{"&capacity-step=" + itoa(slider.At) + "&ways-step=1", 20480, 2},
		{"&capacity-step=" + itoa(slider.At+1) + "&ways-step=14", 24 << 10, 0},
		{"&capacity-step=0&ways-step=5", 128, 0},                              // four blocks, eight ways
		{"&capacity-step=" + itoa(slider.At+1) + "&ways-step=4", 24 << 10, 6}, // 768 blocks
		{"&capacity-step=" + itoa(slider.At+1) + "&ways-step=6", 24 << 10, 8}, // ten do not divide them
		{"&level=L1&capacity-step=0&ways-step=0", 128, 1},
	} {
		if st := parsed(t, s, form+c.more); st.Capacity != c.capacity || st.Ways != c.ways {
			t.Errorf("%s: %d bytes, %d ways, want %d, %d", c.more, st.Capacity, st.Ways, c.capacity, c.ways)
		}
	}
	if st := parsed(t, s, form+"&by=loop&shown-by=program&scope=sweep3d"); st.By != subject.ByLoop || st.Scope != "" {
		t.Errorf("another kind of scope: %+v", st)
	}
	other := parsed(t, s, strings.Replace(form, "level=L1", "level=L2", 1)+"&capacity-step=3")
	if want := parsed(t, s, "machine=origin2000&level=L2"); other.Capacity != want.Capacity || other.Ways != want.Ways || other.Block != 128 {
		t.Errorf("another level: %+v, want %+v", other, want)
	}
}

func itoa(i int) string { return string(rune('0'+i/10)) + string(rune('0'+i%10)) }

func TestParseRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	for query, want := range map[string]string{
		"machine=vax":                        `no machine "vax"`,
		"train=n%3D5":                        `no run at "n=5"; there are n=4, n=6`,
		"at=0":                               "want a number above 0 and at most 96",
		"at=1e9":                             "at most 96",
		"at=NaN":                             "want a number",
		"by=file":                            `scope "file"`,
		"param=m":                            `no parameter "m"; there are n`,
		"method=magic":                       `method "magic"`,
		"block=64":                           "blocks of 64 bytes were not profiled",
		"capacity=x":                         "want a whole number",
		"capacity=0&block=32":                "",
		"capacity=999999999999999":           "up to 68719476736",
		"capacity-step=-1":                   "capacity: step",
		"ways-step=99":                       "want 0 to 14",
		"basis=" + strings.Repeat("n", 5000): "bytes are more than 4096",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Parse(q)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %s", query, err, want)
		}
	}
	for query, want := range map[string]string{
		"basis=n%5E%5E2":           "bad basis: column 3",
		"basis=m":                  "m",
		"shape=round":              `shape "round"`,
		"by=loop&scope=nowhere":    `no loop "nowhere"`,
		"shown=x":                  "no size is ticked",
		"train=n%3D4&train=n%3D12": "2 sizes are ticked",
	} {
		if _, err := s.Show(t.Context(), parsed(t, s, query)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	few := &locality.Runs{Runs: runs(t).Runs[:2]}
	if _, err := New(few, Options{}); err == nil || !strings.Contains(err.Error(), "2 runs") {
		t.Errorf("two runs: %v", err)
	}
	damaged := &locality.Runs{Runs: slices.Clone(runs(t).Runs)}
	run := &damaged.Runs[1]
	run.Reuse = slices.Clone(run.Reuse)
	res := *run.Reuse[0]
	res.Accesses++
	run.Reuse[0] = &res
	if _, err := New(damaged, Options{}); !errors.Is(err, locality.ErrNotConserved) {
		t.Errorf("histograms without one of the accesses: %v", err)
	}
}

func TestCache(t *testing.T) {
	c := newCache[int, int](2)
	calls := 0
	get := func(key int) int {
		v, err := c.get(key, func() (int, error) { calls++; return 10 * key, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, key := range []int{1, 2, 1, 3, 1, 2} { // 3 takes the place of 2
		if got := get(key); got != 10*key {
			t.Errorf("%d: %d", key, got)
		}
	}
	if calls != 4 {
		t.Errorf("computed %d times", calls)
	}
	bad := errors.New("no")
	if _, err := c.get(7, func() (int, error) { return 0, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if got := get(7); got != 70 {
		t.Errorf("an error was kept: %d", got)
	}
}

// Many ask for the same, one computes; if that one goes away, another does.
func TestCacheTogether(t *testing.T) {
	c := newCache[int, int](4)
	var calls atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			v, err := c.get(1, func() (int, error) {
				if calls.Add(1) == 1 {
					return 0, context.Canceled
				}
				return 5, nil
			})
			if err == nil && v != 5 || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("caller %d: %d, %v", i, v, err)
			}
		})
	}
	wg.Wait()
	if v, err := c.get(1, func() (int, error) { return 6, nil }); v != 5 || err != nil {
		t.Errorf("%d, %v after %d calls", v, err, calls.Load())
	}
}
