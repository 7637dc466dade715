package locality_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

func profileSampled(t testing.TB, st *store.Store, prog *subject.Program, oneIn, seed uint64, sizes ...float64) *locality.Runs {
	t.Helper()
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", sizes...), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Store: st, Args: "{n}"}, BlockBytes: []uint64{32}, DataOnly: true, SampleOneIn: oneIn, SampleSeed: seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// leastHits is the number of successes, of n trials that each succeed with
// probability p, below which a number is less likely than chance.
func leastHits(n int, p, chance float64) int {
	term, sum := math.Pow(1-p, float64(n)), 0.0
	for k := 0; ; k++ {
		if sum += term; sum >= chance {
			return k
		}
		term *= float64(n-k) / float64(k+1) * p / (1 - p)
	}
}

// TestSampledIntervals: over seeds, the misses of an exact profile are in the
// stated interval at least as often as stated.
func TestSampledIntervals(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests profile at once, too")
	}
	const (
		seeds      = 40
		confidence = 0.9
		chance     = 1e-4 // of failing although the intervals are right
	)
	prog := perftest.Compile(t, "gcc", "-O1", "sized", "sized.c")
	st := store.Open(t.TempDir())
	capacities := []uint64{16, 128, 1024, 2048, math.MaxUint32}
	estimates := func(runs *locality.Runs) (least, misses, most []float64) {
		df, err := locality.MissEstimates(runs, locality.EstimateOptions{Capacities: capacities, Confidence: confidence})
		if err != nil {
			t.Fatal(err)
		}
		if got := perftest.Column(t, df, "accesses")[0]; got != float64(runs.Runs[0].Reuse[0].Accesses) {
			t.Errorf("%g accesses, want %d", got, runs.Runs[0].Reuse[0].Accesses)
		}
		return perftest.Column(t, df, "misses_least"), perftest.Column(t, df, "misses"), perftest.Column(t, df, "misses_most")
	}
	least, exact, most := estimates(profileSampled(t, st, prog, 0, 0, 60))
	if !slices.Equal(least, exact) || !slices.Equal(exact, most) {
		t.Errorf("all blocks were looked at, and misses %v are between %v and %v", exact, least, most)
	}
	hits, width, different := make([]int, len(capacities)), make([]float64, len(capacities)), 0
	for seed := range uint64(seeds) {
		least, misses, most := estimates(profileSampled(t, st, prog, 8, seed, 60))
		for i := range capacities {
			if least[i] <= exact[i] && exact[i] <= most[i] {
				hits[i]++
			}
			width[i] += (most[i] - least[i]) / exact[i] / seeds
		}
		if misses[4] != exact[4] {
			different++
		}
	}
	for i, n := range hits {
		if need := leastHits(seeds, confidence, chance); n < need {
			t.Errorf("capacity %d: the exact misses were in %d of %d intervals, want %d at least", capacities[i], n, seeds, need)
		}
	}
	// Intervals that hold everything would be right, too.
	if width[4] > 0.5 || different < seeds/2 {
		t.Errorf("intervals of the cold misses are %.2f of these wide; %d of %d estimates differ from the exact number", width[4], different, seeds)
	}
}

// TestSampledIsKeptApart: samples and exact profiles of one run are different
// entries of the store, and all warn of being what they are.
func TestSampledIsKeptApart(t *testing.T) {
	prog := perftest.Compile(t, "gcc", "-O1", "sized", "sized.c")
	st, dir := store.Open(t.TempDir()), t.TempDir()
	sizes := []float64{24, 32, 40, 48}
	sampled := profileSampled(t, st, prog, 4, 1, sizes...)
	exact := profileSampled(t, st, prog, 1, 0, sizes...)
	other := profileSampled(t, st, prog, 4, 2, sizes...)
	if sampled.Runs[0].Reuse[0].Sample == nil || exact.Runs[0].Reuse[0].Sample != nil || cmp.Equal(sampled.Runs[0].Reuse, other.Runs[0].Reuse) {
		t.Error("profiles were taken for others")
	}
	if n, m := len(estimateWarnings(exact.Warnings)), len(estimateWarnings(sampled.Warnings)); n != 0 || m != len(sizes) {
		t.Errorf("%d warnings of estimates about the exact profile, %d about the sampled", n, m)
	}
	if err := sampled.Save(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := locality.LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampled.Runs[0].Reuse, loaded.Runs[0].Reuse); diff != "" {
		t.Error(diff)
	}
	model, err := misses.Fit(t.Context(), loaded, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	warnings := estimateWarnings(model.Warnings)
	for i, n := range []string{"n=24", "n=32", "n=40", "n=48"} {
		if w := warnings[i]; !strings.HasPrefix(w, n) || !strings.Contains(w, "estimates from one block in 4 (seed 1)") || !strings.Contains(w, "confidence 0.95") {
			t.Errorf("%q", w)
		}
	}
	// The model of the sample is not taken for that of the exact profile.
	whole, err := misses.Fit(t.Context(), exact, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	a, b := modelledAccesses(whole), modelledAccesses(model)
	if a == b || math.Abs(b/a-1) > 0.5 {
		t.Errorf("%g accesses modelled from the exact profile, %g from the sample", a, b)
	}
	for _, oneIn := range []uint64{3, 1 << 40} {
		if _, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 8), locality.ProfileOptions{RunOptions: subject.RunOptions{Store: st, Args: "{n}"}, SampleOneIn: oneIn}); err == nil || !strings.Contains(err.Error(), "power of two") {
			t.Errorf("one block in %d: %v", oneIn, err)
		}
	}
	for _, opt := range []locality.EstimateOptions{{Confidence: 2}, {HistogramOptions: locality.HistogramOptions{BlockBytes: 48}}, {HistogramOptions: locality.HistogramOptions{Routine: "nothing"}}} {
		if _, err := locality.MissEstimates(sampled, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

func estimateWarnings(all []string) (some []string) {
	for _, w := range all {
		if strings.Contains(w, "histograms are estimates") {
			some = append(some, w)
		}
	}
	return some
}

func modelledAccesses(m *misses.Model) float64 {
	sum := 0.0
	for _, n := range m.Accesses(subject.Point{"n": 48}) {
		sum += n
	}
	return sum
}

// BenchmarkProfile compares a profile sampled at one block in 64 with an exact
// one, both with all that a profile costs. x-exact is how many times faster it
// is: little where reuses are near, as in a matrix product, whose exact
// distances cost hardly more than the hash that chooses a block.
func BenchmarkProfile(b *testing.B) {
	for _, c := range []struct {
		program, args string
		n             float64
	}{
		{"matmul", "-n {n}", 150}, {"cg", "-n {n} -iterations 3", 80},
	} {
		b.Run("program="+c.program, func(b *testing.B) {
			prog, err := subject.Build(b.Context(), "../../datasets/programs/"+c.program)
			if err != nil {
				b.Fatal(err)
			}
			prog.Structure()
			profile := func(oneIn uint64) time.Duration {
				start := time.Now()
				_, err := locality.Profile(b.Context(), prog, subject.Sweep("n", c.n), locality.ProfileOptions{
					RunOptions: subject.RunOptions{Store: store.Open(b.TempDir()), Args: c.args}, SampleOneIn: oneIn,
				})
				if err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			var exact, sampled time.Duration
			for b.Loop() {
				exact, sampled = exact+profile(1), sampled+profile(64)
			}
			b.ReportMetric(float64(exact)/float64(sampled), "x-exact")
		})
	}
}
