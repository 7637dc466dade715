package phase

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/metasim"
	"presage/perf/misses"
	"presage/perf/simpoint"
	"presage/perf/store"
	"presage/perf/subject"

	"github.com/google/go-cmp/cmp"
)

func power3(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := catalog.Find("../../datasets/metasim/power3.yaml")
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
	p, err := BlockVectors(t.Context(), perftest.Program(t), subject.Point{"n": 10}, PhaseOptions{
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
	df, err := HitRates(samples...)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := misses.SimulateMisses(t.Context(), perftest.Program(t), m, []subject.Point{p.Point}, misses.SimulateOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: p.stored}})
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
