package perf

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/simpoint"
	"presage/perf/store"
)

func power3(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := FindMachine("../datasets/metasim/power3.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The machine's file has the caches that package metasim has from the paper.
func TestPower3OfThePaper(t *testing.T) {
	if d := cmp.Diff(metasim.Power3(), power3(t).Hierarchy()); d != "" {
		t.Errorf("(-paper +file):\n%s", d)
	}
}

// phases cuts a small run of Sweep3D into intervals.
func phases(t *testing.T) *Phases {
	t.Helper()
	p, err := BlockVectors(t.Context(), program(t), Point{"n": 10}, PhaseOptions{
		RunOptions: RunOptions{Args: oneIteration, Store: store.Open(t.TempDir())}, Interval: 100_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Full simulation by way of samples is the exact simulation that SimulateMisses
// does, and a sample of all intervals gives its misses of blocks.
func TestFullSampleIsExact(t *testing.T) {
	p, m := phases(t), power3(t)
	all := make([]simpoint.Point, p.Vectors.Len())
	for i := range all {
		all[i] = simpoint.Point{Interval: i, Cluster: i, Weight: float64(p.Vectors.Lengths[i]) / float64(p.Instructions)}
	}
	samples, err := SampleCaches(t.Context(), p, m, []Sampling{
		{Full: true},
		{Name: "all", Points: all, Warmup: metasim.WarmKept},
		{SimPoint: simpoint.Options{K: 6}},
		{Percent: 20, Periods: 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	df, err := HitRates(samples...)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := SimulateMisses(t.Context(), program(t), m, []Point{p.Point}, SimulateOptions{RunOptions: RunOptions{Args: oneIteration, Store: p.stored}})
	if err != nil {
		t.Fatal(err)
	}
	accesses, err := frame.Floats(sim, "sim_accesses")
	if err != nil {
		t.Fatal(err)
	}
	misses, err := frame.Floats(sim, "sim_misses")
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) []float64 {
		v, err := frame.Floats(df, name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// A block that a fault or a signal cuts short is taken for whole in the weights.
	const cut = 1e-6
	hits, diff, byAccess, share := column("sim_hit_ratio"), column("hit_ratio_diff"), column("hit_ratio_by_access_diff"), column("simulated_share")
	for l := range 2 {
		if want := 1 - misses[l]/accesses[l]; math.Abs(hits[l]-want) > cut || diff[l] != 0 || share[l] != 1 {
			t.Errorf("level %d: hit ratio %.9f of %g of the run, simulated %.9f", l+1, hits[l], share[l], want)
		}
		if math.Abs(byAccess[2+l]) > cut || share[2+l] != 1 {
			t.Errorf("level %d: all intervals are off by %g", l+1, byAccess[2+l])
		}
	}
	for i, name := range []string{"full", "all", "simpoint", "periodic 20%"} {
		if got := df.Col("sampling").Records()[2*i]; got != name {
			t.Errorf("row %d is of %q, want %q", 2*i, got, name)
		}
	}
	if s := share[6]; math.Abs(s-0.18) > 1e-3 { // a tenth is passed over
		t.Errorf("periodic 20%% simulates %g", s)
	}
	for i := 4; i < 8; i += 2 {
		if math.Abs(diff[i]) > 0.03 || diff[i] == 0 {
			t.Errorf("row %d: L1 is off by %g", i, diff[i])
		}
	}
	blocks, err := BlockHitRates("L1", samples...)
	if err != nil {
		t.Fatal(err)
	}
	// The program's ratio is the mean of those of the blocks.
	weight, err := frame.Floats(blocks, "share")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"full", "all", "simpoint", "periodic_20_percent"} {
		ratio, err := frame.Floats(blocks, name+"_hit_ratio")
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for b := range ratio {
			sum += weight[b] * ratio[b]
		}
		if math.Abs(sum-hits[2*i]) > 1e-12 {
			t.Errorf("%s: blocks give %.15f, the program has %.15f", name, sum, hits[2*i])
		}
	}
	if _, err := BlockHitRates("L9", samples...); err == nil || !strings.Contains(err.Error(), "L9") {
		t.Errorf("no such level: %v", err)
	}
}

// A study's tables fit together, and a second one is read from the store.
func TestMetaSimStudy(t *testing.T) {
	st := store.Open(t.TempDir())
	var steps []string
	s := MetaSimStudy{
		RunOptions: RunOptions{Args: oneIteration, Store: st}, Machine: power3(t),
		Intervals: []uint64{500_000, 1_000_000}, Ks: []int{1, 3}, Repeats: 1, Seeds: 2, Step: func(what string) { steps = append(steps, what) },
	}
	found, err := MetaSim(t.Context(), program(t), Point{"n": 12}, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) < 10 {
		t.Errorf("steps: %q", steps)
	}
	names := found.Hits.Col("sampling").Records()
	count := make(map[string]int)
	for _, n := range names {
		count[n]++
	}
	// Two levels each; warm-ups: four of SimPoint's, two of periodic samples.
	for name, want := range map[string]int{"full": 2, "simpoint": 8, "simpoint 8": 2, "periodic 10%": 4, "periodic 1%": 4, "simpoint k=1": 2, "simpoint k=3": 2, "simpoint k=8": 2, "simpoint by score": 4} {
		if count[name] != want {
			t.Errorf("%d rows of %s, want %d", count[name], name, want)
		}
	}
	// The default sample is simulated by itself and as a part of more.
	diff, err := frame.Floats(found.Hits, "hit_ratio_diff")
	if err != nil {
		t.Fatal(err)
	}
	var alone, part float64
	interval, err := frame.Floats(found.Hits, "interval_instructions")
	if err != nil {
		t.Fatal(err)
	}
	for i := len(names) - 2; i >= 0; i -= 2 { // L1; the first of each is what is left
		switch {
		case names[i] == "simpoint":
			alone = diff[i]
		case names[i] == "simpoint by score" && interval[i] == 1e6:
			part = diff[i]
		}
	}
	if math.Abs(alone-part) > 2e-3 || alone == 0 {
		t.Errorf("the default is off by %g by itself, by %g as a part", alone, part)
	}
	first := found.Runs.Records()
	if first[1][3+1] == "" || found.Runs.Nrow() != 13 {
		t.Errorf("%d runs: %v", found.Runs.Nrow(), first)
	}
	named := func(df dataframe.DataFrame) dataframe.DataFrame {
		return df.Mutate(series.New(slices.Repeat([]string{"s"}, df.Nrow()), series.String, "study"))
	}
	table, err := MetaSimTable(named(found.Hits), named(found.Runs), "L1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := frame.Floats(table, "diff_points"); err != nil || len(got) != 1 || got[0] != 100*alone {
		t.Errorf("table: %v, %v; want %g", got, err, 100*alone)
	}
	if got, err := MeanAbs(table, "diff_points_periodic_1"); err != nil || !(got > 0) {
		t.Errorf("mean of one: %g, %v", got, err)
	}
	if _, err := MetaSimTable(named(found.Hits), named(found.Runs), "L7"); err == nil {
		t.Error("no such level: no error")
	}
	again, err := MetaSim(t.Context(), program(t), Point{"n": 12}, s)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(frame.Rows(found.Hits), frame.Rows(again.Hits), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
		t.Errorf("a second time (-first +second):\n%s", d)
	}
	s.Intervals = []uint64{300_000, 1_000_000}
	if _, err := MetaSim(t.Context(), program(t), Point{"n": 12}, s); err == nil || !strings.Contains(err.Error(), "multiple") {
		t.Errorf("intervals that do not fit: %v", err)
	}
	s.Intervals = []uint64{300_000}
	if _, err := MetaSim(t.Context(), program(t), Point{"n": 12}, s); err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("no default interval: %v", err)
	}
}

// Files go out and come back; points from them are simulated like those chosen.
func TestPhaseFiles(t *testing.T) {
	p := phases(t)
	points, err := p.Points(t.Context(), simpoint.Options{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(t.TempDir(), "sweep")
	if err := points.WriteFiles(prefix); err != nil {
		t.Fatal(err)
	}
	back, err := ReadPoints(prefix)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := SampleCaches(t.Context(), p, power3(t), []Sampling{{SimPoint: simpoint.Options{K: 4}}, {Points: back}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(samples[0].Rates, samples[1].Rates); d != "" {
		t.Errorf("(-chosen +read):\n%s", d)
	}
	vectors, err := ReadPhases(prefix + ".bb")
	if err != nil {
		t.Fatal(err)
	}
	same, err := vectors.Points(t.Context(), simpoint.Options{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	if ari := simpoint.AdjustedRandIndex(points.Labels, same.Labels); ari != 1 {
		t.Errorf("clusters from the file agree with index %g", ari)
	}
	if n := same.Timeline().Nrow(); n != p.Vectors.Len() || same.Frame().Nrow() != 4 || same.Scores().Nrow() != 1 {
		t.Errorf("%d intervals, %d points, %d scores", n, same.Frame().Nrow(), same.Scores().Nrow())
	}
	// A number of clusters beyond the different intervals finds as many as fewer do.
	few := &PhasePoints{Phases: p, Result: &simpoint.Result{K: 2, Trials: []simpoint.Trial{{K: 1, Found: 1}, {K: 2, Found: 2}, {K: 5, Found: 2}}}}
	if d := cmp.Diff([]string{"false", "true", "false"}, few.Scores().Col("chosen").Records()); d != "" {
		t.Errorf("chosen (-want +got):\n%s", d)
	}
	if _, err := SampleCaches(t.Context(), vectors, power3(t), []Sampling{{}}); err == nil || !strings.Contains(err.Error(), "BlockVectors") {
		t.Errorf("simulation of a file of vectors: %v", err)
	}
	if _, _, err := vectors.Overhead(t.Context(), power3(t), Sampling{}, 1); err == nil {
		t.Error("run of a file of vectors: no error")
	}
	if err := os.WriteFile(prefix+".weights", []byte("0.5 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPoints(prefix); err == nil {
		t.Error("a weights file with too few lines: no error")
	}
	if _, err := ReadPhases(prefix + ".none"); err == nil {
		t.Error("no file: no error")
	}
}

func TestSimilarityTable(t *testing.T) {
	p := phases(t)
	df, err := p.Similarity(5)
	if err != nil {
		t.Fatal(err)
	}
	d, err := frame.Floats(df, "difference")
	if err != nil {
		t.Fatal(err)
	}
	if len(d) != 25 {
		t.Fatalf("%d rows", len(d))
	}
	for x := range 5 {
		for y := range 5 {
			if v := d[5*x+y]; v != d[5*y+x] || (x == y) != (v == 0) || v > 1 {
				t.Errorf("intervals %d and %d differ by %g, the other way round by %g", x, y, v, d[5*y+x])
			}
		}
	}
	if _, err := p.Similarity(1); err == nil {
		t.Error("one interval: no error")
	}
}

// The convolver's cycles by hand: the parts add up, and a machine that waits twice
// as long for memory waits twice as long.
func TestConvolveTable(t *testing.T) {
	p := phases(t)
	m := power3(t)
	slow := *m
	slow.Name, slow.Memory.RestartLatency = "slow", 2*m.Memory.RestartLatency
	var samples []*CacheSample
	for _, m := range []*machine.Machine{m, &slow} {
		list, err := SampleCaches(t.Context(), p, m, []Sampling{{Full: true}})
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, list...)
	}
	df, err := Convolve(samples...)
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string, row int) float64 {
		v, err := frame.Floats(df, name)
		if err != nil {
			t.Fatal(err)
		}
		return v[row]
	}
	for row := range 2 {
		sum := value("pred_work_cycles", row) + value("pred_L1_wait_cycles", row) + value("pred_L2_wait_cycles", row)
		if all := value("pred_cycles", row); math.Abs(sum-all) > 1e-9*all || value("pred_time_sec", row) != all/float64(m.Frequency) {
			t.Errorf("parts add up to %g of %g cycles, %g s", sum, all, value("pred_time_sec", row))
		}
	}
	if a, b := value("pred_L2_wait_cycles", 0), value("pred_L2_wait_cycles", 1); !(b > a && a > 0) || value("pred_L1_wait_cycles", 0) != value("pred_L1_wait_cycles", 1) {
		t.Errorf("waits of %g and, with slower memory, %g", a, b)
	}
}

func TestSamplingRefusals(t *testing.T) {
	p, m := phases(t), power3(t)
	for want, s := range map[string]Sampling{
		"not both":   {Full: true, Percent: 3},
		"periods":    {Percent: 5, Periods: -1},
		"percent":    {Percent: 500},
		"of other":   {Points: []simpoint.Point{{Interval: 1 << 30, Weight: 1}}},
		"exclude":    {Warmup: metasim.WarmNone, WarmLength: 5},
		"want 0 for": {SimPoint: simpoint.Options{K: -1}},
	} {
		if _, err := SampleCaches(t.Context(), p, m, []Sampling{s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

func TestMeanAbs(t *testing.T) {
	df := dataframe.New(series.New([]float64{-3, 1, math.NaN()}, series.Float, "x"))
	if got, err := MeanAbs(df, "x"); err != nil || got != 2 {
		t.Errorf("%g, %v", got, err)
	}
	if _, err := MeanAbs(df, "y"); err == nil {
		t.Error("no such column: no error")
	}
}
