package sampling

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/internal/recordtest"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/phase"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

func power3(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := catalog.Find("../../../datasets/metasim/power3.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMetaSimStudy demands that a study's tables are consistent, and that a
// second study is read from the store.
func TestMetaSimStudy(t *testing.T) {
	st := store.Open(t.TempDir())
	var steps []string
	o := Options{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st, Progress: func(p progress.Report) {
			if !p.Finished() {
				steps = append(steps, p.Task)
			}
		}}, Machine: power3(t),
		Intervals: []uint64{500_000, 1_000_000}, Ks: []int{1, 3}, Repeats: 1, Seeds: 2,
	}
	found, err := o.Run(t.Context(), perftest.Program(t), subject.Point{"n": 12})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) < 10 {
		t.Errorf("steps: %q", steps)
	}
	count := make(map[string]int)
	for _, r := range found.Hits {
		count[r.Sampling]++
	}
	// Three levels each; warm-ups: four of SimPoint's, two of periodic samples.
	for name, want := range map[string]int{"full": 3, "simpoint": 12, "simpoint 8": 3, "periodic 10%": 6, "periodic 1%": 6, "simpoint k=1": 3, "simpoint k=3": 3, "simpoint k=8": 3, "simpoint by score": 6} {
		if count[name] != want {
			t.Errorf("%d rows of %s, want %d", count[name], name, want)
		}
	}
	// The default sample is simulated by itself and as a part of others.
	var alone, part float64
	for _, r := range found.Hits {
		switch {
		case r.Level != "L1" || r.Warmup != "fixed":
		case r.Sampling == "simpoint":
			alone = r.Diff
		case r.Sampling == "simpoint by score" && r.Interval == 1e6:
			part = r.Diff
		}
	}
	if math.Abs(alone-part) > 2e-3 || alone == 0 {
		t.Errorf("the default is off by %g by itself, by %g as a part", alone, part)
	}
	if len(found.Runs) != 13 {
		t.Errorf("%d runs: %v", len(found.Runs), found.Runs)
	}
	table, err := Table2("L1", found)
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != 1 || table[0].Diff != 100*alone || table[0].Study != "sweep3d" || !(table[0].PerUntraced > 0) || table[0].Diff1 == 0 {
		t.Errorf("table: %+v; want %g", table, 100*alone)
	}
	if _, err := Table2("L7", found); err == nil {
		t.Error("no such level: no error")
	}
	prefix := filepath.Join(t.TempDir(), "s")
	if err := found.Record(prefix, "presage metasim"); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(prefix)
	if err != nil {
		t.Fatal(err)
	}
	loaded.Name, loaded.Warnings = found.Name, found.Warnings
	if d := cmp.Diff(found, loaded, sameNaN, cmp.AllowUnexported(Findings{})); d != "" {
		t.Errorf("recorded and loaded (-found +loaded):\n%s", d)
	}
	again, err := o.Run(t.Context(), perftest.Program(t), subject.Point{"n": 12})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(found.Hits, again.Hits, sameNaN); d != "" {
		t.Errorf("a second time (-first +second):\n%s", d)
	}
	o.Intervals = []uint64{300_000, 1_000_000}
	if _, err := o.Run(t.Context(), perftest.Program(t), subject.Point{"n": 12}); err == nil || !strings.Contains(err.Error(), "multiple") {
		t.Errorf("intervals that do not fit: %v", err)
	}
	o.Intervals = []uint64{300_000}
	if _, err := o.Run(t.Context(), perftest.Program(t), subject.Point{"n": 12}); err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("no default interval: %v", err)
	}
}

var sameNaN = cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })

func TestMeanAbs(t *testing.T) {
	if got := MeanAbs([]float64{-3, 1, math.NaN()}); got != 2 {
		t.Errorf("%g", got)
	}
	if got := MeanAbs([]float64{math.NaN()}); !math.IsNaN(got) {
		t.Errorf("of nothing: %g", got)
	}
}

// TestRecordedStudies demands that the recorded studies, read as rows and
// written again, are the same bytes, and give Table 2.
func TestRecordedStudies(t *testing.T) {
	const folder = "../../../datasets/metasim/"
	hits := recordtest.Same[phase.HitRow](t, folder+"*"+hitsFile)
	recordtest.Same[phase.BlockRow](t, folder+"*"+blocksFile)
	recordtest.Same[RunRow](t, folder+"*"+runsFile)
	recordtest.Same[ClusterRow](t, folder+"*"+clustersFile)
	paths, err := filepath.Glob(folder + "*" + hitsFile)
	if err != nil {
		t.Fatal(err)
	}
	var studies []*Findings
	loaded := 0
	for _, path := range paths {
		f, err := Load(strings.TrimSuffix(path, hitsFile))
		if err != nil {
			t.Fatal(err)
		}
		studies = append(studies, f)
		loaded += len(f.Hits)
	}
	table, err := Table2("L1", studies...)
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != 11 || loaded != len(hits) {
		t.Fatalf("%d studies, %d of %d rows", len(table), loaded, len(hits))
	}
	// The row of Sweep3D, by hand from its files.
	i := slices.IndexFunc(table, func(r Table2Row) bool { return r.Study == "sweep3d" })
	f := studies[i]
	hit := func(r phase.HitRow) bool { return r.Sampling == "simpoint" && r.Warmup == "fixed" && r.Level == "L1" }
	run := func(r RunRow) bool { return r.Run == "periodic 10%" && r.Warmup == "fixed" }
	h, r := f.Hits[slices.IndexFunc(f.Hits, hit)], f.Runs[slices.IndexFunc(f.Runs, run)]
	if row := table[i]; row.Diff != 100*h.Diff || row.Mismatch != h.Mismatch || row.Points != float64(h.Points) || row.PerFull10 != r.PerFull || row.Instructions != float64(r.Instructions) {
		t.Errorf("%+v of %+v and %+v", row, h, r)
	}
}
