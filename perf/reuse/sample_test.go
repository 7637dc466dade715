package reuse

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

func sampled(t interface{ Fatal(...any) }, plan *trace.Plan, oneIn, seed uint64, accesses []trace.Access) *Result {
	c, err := New(plan, Options{SampleOneIn: oneIn, SampleSeed: seed})
	if err != nil {
		t.Fatal(err)
	}
	observe(c, accesses, trace.BatchAccesses)
	return c.Result()
}

// TestSampledAgainstStack: the distances of a sample are those on the stack of
// the accesses to its blocks, and the estimate for all is that, multiplied.
func TestSampledAgainstStack(t *testing.T) {
	plan := planOf(0, 1, 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		oneIn := uint64(1) << rapid.IntRange(1, 4).Draw(t, "log2 one in")
		seed := rapid.Uint64().Draw(t, "seed")
		accesses := drawAccesses(t, len(plan.Refs), 64, 2000)
		r := sampled(t, plan, oneIn, seed, accesses)
		all, some := newNaive(plan, 64), newNaive(plan, 64)
		all.observe(accesses)
		chosen := newSampler(newLayout(plan, 64), oneIn, seed, 1).seed
		for _, a := range accesses {
			for b := a.Addr() / 64; b <= a.Last()/64; b++ {
				if scatter(b+chosen) <= math.MaxUint64/oneIn {
					some.touch(b, plan.Refs[a.Ref()].Group)
				}
			}
		}
		if r.Accesses != all.accesses || r.Blocks != oneIn*uint64(len(some.stack)) || r.Sample.OneIn != oneIn {
			t.Fatalf("%d accesses to %d blocks, want %d to %d", r.Accesses, r.Blocks, all.accesses, oneIn*uint64(len(some.stack)))
		}
		unscaled := &Result{Accesses: some.accesses, Blocks: uint64(len(some.stack)), Groups: make([]Histogram, len(r.Groups))}
		for g, h := range r.Groups {
			if got, want := r.Sample.Accesses[g], all.cold[g]+uint64(len(all.distances[g])); got != want {
				t.Fatalf("group %d: %d accesses, want %d", g, got, want)
			}
			for _, p := range r.Sample.Parts[g] {
				unscaled.Groups[g] = unscaled.Groups[g].merge(&p)
			}
			want := Histogram{Cold: oneIn * unscaled.Groups[g].Cold}
			for _, b := range unscaled.Groups[g].Bins {
				want.Bins = append(want.Bins, Bin{oneIn * b.Lo, oneIn * b.Hi, oneIn * b.Count})
			}
			if diff := cmp.Diff(want, h); diff != "" {
				t.Fatalf("group %d is not its parts, multiplied:\n%s", g, diff)
			}
		}
		check(t, unscaled, some)
	})
}

// sampleCases are streams over some 16 Ki blocks, by two groups, and the
// capacities at which misses are estimated.
var sampleCases = []struct {
	name string
	make func(rng *rand.Rand) []trace.Access
	wide float64 // the mean width of an interval of all groups, most
}{
	{"uniform", func(rng *rand.Rand) (out []trace.Access) {
		for range 150_000 {
			out = append(out, access(rng.IntN(2), rng.Uint64N(16<<10)*64, 8))
		}
		return out
	}, 0.25},
	{"skewed", func(rng *rand.Rand) (out []trace.Access) { // a block's share falls as 1/√rank
		for range 150_000 {
			b := uint64(math.Pow(rng.Float64(), 2) * (16 << 10))
			out = append(out, access(int(b%2), b*64, 8))
		}
		return out
	}, 0.25},
	{"sweeps", func(*rand.Rand) (out []trace.Access) { // over all, over a half and back
		const n = 16 << 10
		for range 4 {
			for i := range n {
				out = append(out, access(0, uint64(i)*64, 8))
			}
			for i := range n {
				out = append(out, access(1, uint64(n/2-1-(i-n/2)*(i-n/2)%(n/2))*64, 8))
			}
		}
		return out
	}, 0.35},
}

// TestIntervalsCover: over choices of the seed, intervals hold the exact number
// of misses at least as often as they say, and are narrow enough to be of use.
func TestIntervalsCover(t *testing.T) {
	const (
		seeds      = 120
		oneIn      = 16
		confidence = 0.9
	)
	plan := planOf(0, 1)
	capacities := []uint64{1, 64, 500, 1000, 2000, 4000, 6000, 8192, 9000, 12_000, 16_000, 20_000}
	for _, tt := range sampleCases {
		t.Run(tt.name, func(t *testing.T) {
			accesses := tt.make(rand.New(rand.NewPCG(7, 8)))
			exact := collect(t, plan, 64, 1<<16, accesses)
			// 120 intervals of 0.9 are below that less than once in 10,000 times.
			fewest := 0
			for (distuv.Binomial{N: seeds, P: confidence}).CDF(float64(fewest)) < 1e-4 {
				fewest++
			}
			var widths []float64
			covered := make(map[uint64][3]int)
			for seed := range uint64(seeds) {
				r := sampled(t, plan, oneIn, seed, accesses)
				for _, capacity := range capacities {
					count := covered[capacity]
					for i, groups := range [][]trace.GroupID{{0}, {1}, {0, 1}} {
						want, err := exact.Estimate(capacity, confidence, groups...)
						if err != nil {
							t.Fatal(err)
						}
						got, err := r.Estimate(capacity, confidence, groups...)
						if err != nil {
							t.Fatal(err)
						}
						if got.Least <= want.Most && want.Least <= got.Most {
							count[i]++
						}
						if i == 2 && capacity >= 1000 {
							widths = append(widths, float64(got.Most-got.Least)/float64(len(accesses)))
						}
					}
					covered[capacity] = count
				}
			}
			for _, capacity := range capacities {
				for i, n := range covered[capacity] {
					if n < fewest {
						t.Errorf("capacity %d, case %d: %d of %d intervals hold the number of misses, want at least %d", capacity, i, n, seeds, fewest)
					}
				}
			}
			width := stat.Mean(widths, nil)
			t.Logf("covered of %d (group 0, 1, both): %v; mean width from 1000 blocks on: %.3f of the accesses", seeds, covered, width)
			if width > tt.wide {
				t.Errorf("intervals are %.3f of the accesses wide, want at most %.2f", width, tt.wide)
			}
		})
	}
}

// TestStandardError: over choices of the seed, the estimate of the cold misses,
// in which no distance is in doubt, has the mean of the exact number, and the
// variance that StdErr² says on average.
func TestStandardError(t *testing.T) {
	const seeds = 400
	plan := planOf(0)
	rng := rand.New(rand.NewPCG(9, 10))
	var accesses []trace.Access
	for i := range 8000 { // blocks of very different weight
		for range 1 + rng.IntN(4) {
			accesses = append(accesses, access(0, uint64(i)*64, 8))
		}
		if i%50 == 0 {
			for j := range 8 {
				accesses = append(accesses, access(0, uint64(1<<20+i+j%2)*64, 8))
			}
		}
	}
	want := float64(collect(t, plan, 64, 1, accesses).Groups[0].Misses(1 << 30))
	var misses, variances []float64
	for seed := range uint64(seeds) {
		r := sampled(t, plan, 2, seed, accesses)
		e, err := r.Estimate(1<<30, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		misses = append(misses, float64(e.Misses))
		variances = append(variances, e.StdErr*e.StdErr)
	}
	mean, variance := stat.MeanVariance(misses, nil)
	// The mean of 400 is within 4 of its standard errors; the ratio of a
	// variance of 400 to its expectation has a standard error of √(2/400).
	if off := math.Abs(mean - want); off > 4*math.Sqrt(variance/seeds) {
		t.Errorf("mean of the estimates %g, exact %g", mean, want)
	}
	if ratio := stat.Mean(variances, nil) / variance; math.Abs(ratio-1) > 4*math.Sqrt(2.0/seeds) {
		t.Errorf("StdErr² is %.3f of the variance", ratio)
	}
}

// TestSampledRange compares with the binomial distribution itself: the doubt in
// a distance is at most 2^-15, and not much less than need be.
func TestSampledRange(t *testing.T) {
	for _, capacity := range []uint64{0, 1, 2, 10, 100, 5000, 1 << 20} {
		for _, rate := range []float64{0.5, 1.0 / 16, 1.0 / 1024} {
			low, high := sampledRange(capacity, rate)
			if capacity == 0 {
				if low != 0 || high != 0 {
					t.Errorf("capacity 0: %d to %d, want 0 to 0", low, high)
				}
				continue
			}
			if high > capacity {
				t.Errorf("capacity %d, rate %g: below %d, but no distance can be more", capacity, rate, high)
			}
			at := distuv.Binomial{N: float64(capacity), P: rate}
			if low > 0 && at.CDF(float64(low)-1) > math.Exp(sureDistance) {
				t.Errorf("capacity %d, rate %g: below %d with probability %g", capacity, rate, low, at.CDF(float64(low)-1))
			}
			below := distuv.Binomial{N: float64(capacity) - 1, P: rate}
			if p := 1 - below.CDF(float64(high)-1); high <= capacity-1 && p > math.Exp(sureDistance) {
				t.Errorf("capacity %d, rate %g: at least %d with probability %g", capacity, rate, high, p)
			}
			mean, sd := float64(capacity)*rate, math.Sqrt(float64(capacity)*rate*(1-rate))
			if math.Abs(float64(low)-mean) > 5*sd+12 || math.Abs(float64(high)-mean) > 5*sd+12 {
				t.Errorf("capacity %d, rate %g: %d to %d, mean %g and standard deviation %g", capacity, rate, low, high, mean, sd)
			}
		}
	}
}

func TestEstimateOfExact(t *testing.T) {
	r := &Result{Groups: []Histogram{{Cold: 5, Bins: []Bin{{512, 514, 4}}}, {Cold: 1, Bins: []Bin{{3, 4, 1}}}}}
	got, err := r.Estimate(513, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Estimate{Misses: 8, Least: 6, Most: 10}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, tt := range []struct {
		confidence float64
		groups     []trace.GroupID
		want       string
	}{
		{0, nil, "confidence is 0"},
		{1, nil, "confidence is 1"},
		{math.NaN(), nil, "confidence is NaN"},
		{0.9, []trace.GroupID{2}, "group 2 is not one of the 2"},
		{0.9, []trace.GroupID{1, 1}, "group 1 is not"},
	} {
		if _, err := r.Estimate(1, tt.confidence, tt.groups...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Estimate error = %v, want one with %q", err, tt.want)
		}
	}
}
