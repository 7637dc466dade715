package phase

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/metasim"
	"presage/perf/misses"
	"presage/perf/simpoint"
	"presage/perf/store"
	"presage/perf/subject"
)

func power3(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := catalog.Find("../../datasets/metasim/power3.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The machine's file has the caches that package metasim has from the paper, and its TLB.
func TestPower3OfThePaper(t *testing.T) {
	if d := cmp.Diff(metasim.Power3(), power3(t).Hierarchy()); d != "" {
		t.Errorf("(-paper +file):\n%s", d)
	}
}

// phases cuts a small run of Sweep3D into intervals.
func phases(t *testing.T) *Intervals {
	t.Helper()
	p, err := BlockVectors(t.Context(), perftest.Program(t), subject.Point{"n": 10}, Options{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}, Interval: 100_000,
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
	rows, err := HitRates(samples...)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := misses.Simulate(t.Context(), perftest.Program(t), m, []subject.Point{p.Point}, misses.SimulateOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: p.stored}})
	if err != nil {
		t.Fatal(err)
	}
	accesses, err := frame.Floats(frame.Of(sim), "sim_accesses")
	if err != nil {
		t.Fatal(err)
	}
	misses, err := frame.Floats(frame.Of(sim), "sim_misses")
	if err != nil {
		t.Fatal(err)
	}
	// A block that a fault or a signal cuts short is taken for whole in the weights.
	const cut = 1e-6
	const levels = 3 // L1, L2, TLB
	for l := range levels {
		if r, want := rows[l], 1-misses[l]/accesses[l]; math.Abs(r.Hit-want) > cut || r.Diff != 0 || r.Simulated != 1 {
			t.Errorf("%s: hit ratio %.9f of %g of the run, simulated %.9f", r.Level, r.Hit, r.Simulated, want)
		}
		if r := rows[levels+l]; math.Abs(r.DiffBy) > cut || r.Simulated != 1 {
			t.Errorf("%s: all intervals are off by %g", r.Level, r.DiffBy)
		}
	}
	for i, name := range []string{"full", "all", "simpoint", "periodic 20%"} {
		if got := rows[levels*i].Sampling; got != name {
			t.Errorf("row %d is of %q, want %q", levels*i, got, name)
		}
	}
	if s := rows[3*levels].Simulated; math.Abs(s-0.18) > 1e-3 { // a tenth is passed over
		t.Errorf("periodic 20%% simulates %g", s)
	}
	for i := 2 * levels; i < 4*levels; i += levels {
		if d := rows[i].Diff; math.Abs(d) > 0.03 || d == 0 {
			t.Errorf("row %d: L1 is off by %g", i, d)
		}
		if r := rows[i+2]; r.Level != "TLB" || math.Abs(r.DiffBy) > 5e-4 || r.DiffBy == 0 {
			t.Errorf("row %d: the TLB is off by %g, %g by accesses: %+v", i+2, r.Diff, r.DiffBy, r)
		}
	}
	blocks, err := BlockHitRates("L1", samples...)
	if err != nil {
		t.Fatal(err)
	}
	// The program's ratio is the mean of those of the blocks.
	for i, name := range []string{"full", "all", "simpoint", "periodic_20_percent"} {
		sum := 0.0
		for _, b := range blocks {
			sum += b.Share * b.Rates[name+"_hit_ratio"]
		}
		if want := rows[levels*i].Hit; math.Abs(sum-want) > 1e-12 {
			t.Errorf("%s: blocks give %.15f, the program has %.15f", name, sum, want)
		}
	}
	if _, err := BlockHitRates("L9", samples...); err == nil || !strings.Contains(err.Error(), "L9") {
		t.Errorf("no such level: %v", err)
	}
}

// Selections that are simulated in one run are what each is by itself, but for what
// the warm-up of one may leave in the caches for another.
func TestSampleTogether(t *testing.T) {
	p, m := phases(t), power3(t)
	var selections []NamedSelection
	var alone []Sampling
	for _, k := range []int{2, 5} {
		s, err := p.Pick(t.Context(), simpoint.Options{K: k})
		if err != nil {
			t.Fatal(err)
		}
		selections = append(selections, NamedSelection{fmt.Sprint("k=", k), s})
		alone = append(alone, Sampling{Points: s.Points})
	}
	together, err := SampleTogether(t.Context(), p, m, selections)
	if err != nil {
		t.Fatal(err)
	}
	each, err := SampleCaches(t.Context(), p, m, alone)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range together {
		if c.Sampling.Name != selections[i].Name || c.Points != selections[i].K || c.Simulated != each[i].Simulated || c.Mismatch != selections[i].Mismatch || !math.IsNaN(c.Cost.Seconds) {
			t.Errorf("sample %+v, by itself %+v", c, each[i])
		}
		a, errA := HitRates(c)
		b, errB := HitRates(each[i])
		if errA != nil || errB != nil || math.Abs(a[0].Hit-b[0].Hit) > 2e-3 {
			t.Errorf("%s: hit ratio %+v, by itself %+v", c.Sampling.Name, a, b)
		}
	}
}

// Files go out and come back; points from them are simulated like those chosen.
func TestPhaseFiles(t *testing.T) {
	p := phases(t)
	points, err := p.Pick(t.Context(), simpoint.Options{K: 4})
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
	vectors, err := ReadVectors(prefix + ".bb")
	if err != nil {
		t.Fatal(err)
	}
	same, err := vectors.Pick(t.Context(), simpoint.Options{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	if ari := simpoint.AdjustedRandIndex(points.Labels, same.Labels); ari != 1 {
		t.Errorf("clusters from the file agree with index %g", ari)
	}
	if n := len(same.Timeline()); n != p.Vectors.Len() || len(same.Rows()) != 4 || len(same.Scores()) != 1 {
		t.Errorf("%d intervals, %d points, %d scores", n, len(same.Rows()), len(same.Scores()))
	}
	// A number of clusters beyond the different intervals finds as many as fewer do.
	few := &Selection{Intervals: p, Result: &simpoint.Result{K: 2, Trials: []simpoint.Trial{{K: 1, Found: 1}, {K: 2, Found: 2}, {K: 5, Found: 2}}}}
	if s := few.Scores(); s[0].Chosen || !s[1].Chosen || s[2].Chosen {
		t.Errorf("chosen: %+v", s)
	}
	if _, err := SampleCaches(t.Context(), vectors, power3(t), []Sampling{{}}); err == nil || !strings.Contains(err.Error(), "BlockVectors") {
		t.Errorf("simulation of a file of vectors: %v", err)
	}
	if _, err := vectors.Overhead(t.Context(), OverheadOptions{Machine: power3(t)}); err == nil {
		t.Error("run of a file of vectors: no error")
	}
	if err := os.WriteFile(prefix+".weights", []byte("0.5 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPoints(prefix); err == nil {
		t.Error("a weights file with too few lines: no error")
	}
	if _, err := ReadVectors(prefix + ".none"); err == nil {
		t.Error("no file: no error")
	}
}

func TestSimilarityTable(t *testing.T) {
	p := phases(t)
	d, err := p.Similarity(SimilarityOptions{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(d) != 25 {
		t.Fatalf("%d rows", len(d))
	}
	for x := range 5 {
		for y := range 5 {
			v, turned := d[5*x+y], d[5*y+x]
			if v.Difference != turned.Difference || v.X != turned.Y || (x == y) != (v.Difference == 0) || v.Difference > 1 {
				t.Errorf("intervals %d and %d: %+v, the other way round %+v", x, y, v, turned)
			}
		}
	}
	if _, err := p.Similarity(SimilarityOptions{Limit: 1}); err == nil {
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
	rows, err := Convolve(samples...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		sum := r.Work + r.Waits["pred_L1_wait_cycles"] + r.Waits["pred_L2_wait_cycles"]
		if math.Abs(sum-r.Cycles) > 1e-9*r.Cycles || r.Seconds != r.Cycles/float64(m.Frequency) {
			t.Errorf("parts add up to %g of %g cycles, %g s", sum, r.Cycles, r.Seconds)
		}
	}
	a, b := rows[0].Waits, rows[1].Waits
	if !(b["pred_L2_wait_cycles"] > a["pred_L2_wait_cycles"] && a["pred_L2_wait_cycles"] > 0) || a["pred_L1_wait_cycles"] != b["pred_L1_wait_cycles"] {
		t.Errorf("waits of %v and, with slower memory, %v", a, b)
	}
}

// Misses of histories count where the clusters of the intervals are known, and then
// stand in the table.
func TestHistoriesCountWithClusters(t *testing.T) {
	p, m := phases(t), power3(t)
	m.Caches[1].Blocks /= 16 // what it touches fits into 4 MB
	chosen, err := p.Pick(t.Context(), simpoint.Options{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	with := Sampling{Name: "with", Points: chosen.Points, Labels: chosen.Labels, Warmup: metasim.WarmHistory, WarmLength: p.Instructions / 8}
	alone := with
	alone.Name, alone.Labels = "alone", nil
	searched := with
	searched.Name, searched.Points, searched.Labels, searched.SimPoint = "searched", nil, nil, simpoint.Options{K: 3}
	samples, err := SampleCaches(t.Context(), p, m, []Sampling{with, alone, searched})
	if err != nil {
		t.Fatal(err)
	}
	if samples[0].ByHistory == nil || samples[1].ByHistory != nil {
		t.Fatal("histories count without clusters, or not with them")
	}
	rows, err := HitRates(samples...)
	if err != nil {
		t.Fatal(err)
	}
	points, err := samples[0].ByAccess.Program(p.Code, p.Executions)
	if err != nil {
		t.Fatal(err)
	}
	const levels = 3 // L1, L2, TLB
	for l := range levels {
		with, alone, searched := rows[l], rows[levels+l], rows[2*levels+l]
		if searched.Hit != with.Hit || searched.ByAccess != with.ByAccess {
			t.Errorf("%s: the same points by search: %+v, %+v", with.Level, searched, with)
		}
		if alone.Hit != with.Hit || alone.ByAccess != points[l].Hit {
			t.Errorf("%s: points alone are others without clusters: %+v, %+v", with.Level, alone, with)
		}
		if changed := with.ByAccess != alone.ByAccess; changed != (l > 0) {
			t.Errorf("%s: %g with histories, %g without", with.Level, with.ByAccess, alone.ByAccess)
		}
	}
	with.Labels = with.Labels[1:]
	if _, err := SampleCaches(t.Context(), p, m, []Sampling{with}); err == nil {
		t.Error("clusters of other intervals: no error")
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
