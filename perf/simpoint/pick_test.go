package simpoint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/bbv"
	"presage/perf/internal/oracle"
	"presage/perf/simpoint"
)

// goal is the least acceptable adjusted Rand index with the truth.
const goal = 0.98

func pick(t *testing.T, v *bbv.Vectors, opt simpoint.Options) *simpoint.Result {
	t.Helper()
	r, err := simpoint.Pick(t.Context(), v, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPlantedPhases demands recovery of the planted phases and their number, by every
// initialisation and search.
func TestPlantedPhases(t *testing.T) {
	for _, p := range []planted{
		{intervals: 600, blocks: 500, nonzero: 40, phases: 4, noise: 0.1, stray: 5},
		{intervals: 1000, blocks: 2000, nonzero: 50, phases: 8, noise: 0.2, stray: 10},
		{intervals: 800, blocks: 600, nonzero: 60, phases: 6, noise: 0.2, unequal: true},
	} {
		for _, opt := range []simpoint.Options{
			{},
			{Search: simpoint.All},
			{Init: simpoint.FurthestFirst, Search: simpoint.All},
			{Init: simpoint.Sample, Starts: 20, Search: simpoint.All},
			{K: p.phases},
			{Dims: simpoint.NoProjection, MaxK: 10, Starts: 3, Search: simpoint.All},
		} {
			if testing.Short() && (p.phases > 4 || opt.Starts > 0) {
				continue
			}
			opt.Seed = 3
			t.Run(fmt.Sprintf("%d phases/%+v", p.phases, opt), func(t *testing.T) {
				v, truth := p.vectors(11)
				r := pick(t, v, opt)
				agreement := simpoint.AdjustedRandIndex(truth, r.Labels)
				if agreement < goal {
					t.Errorf("adjusted Rand index %.4f with the truth, k = %d", agreement, r.K)
				}
				if opt.Search == simpoint.All && r.K != p.phases {
					t.Errorf("%d clusters for %d phases", r.K, p.phases)
				}
				check(t, v, r)
			})
		}
	}
}

// check holds a result against the laws of all results.
func check(t *testing.T, v *bbv.Vectors, r *simpoint.Result) {
	t.Helper()
	var sum float64
	total := float64(v.Total())
	for i, p := range r.Points {
		sum += p.Weight
		var own float64
		for j, l := range r.Labels {
			if l == p.Cluster {
				own += float64(v.Lengths[j]) / total
				if r.Distances[j] < p.Distance {
					t.Errorf("point %d, interval %d, is %g from the centre, interval %d is %g", i, p.Interval, p.Distance, j, r.Distances[j])
				}
			}
		}
		if math.Abs(own-p.Weight) > 1e-12 || r.Labels[p.Interval] != p.Cluster {
			t.Errorf("point %d: weight %g, its cluster's share is %g", i, p.Weight, own)
		}
	}
	if math.Abs(sum-1) > 1e-12 || len(r.Points) != r.K {
		t.Errorf("%d points of %d clusters have weights that add up to %g", len(r.Points), r.K, sum)
	}
	next := 0
	for i, l := range r.Labels {
		if l > next {
			t.Fatalf("interval %d is the first of cluster %d, after %d clusters", i, l, next)
		}
		if l == next {
			next++
		}
	}
}

// TestAgainstR demands the clusters that R's kmeans (Hartigan and Wong) finds, from
// many starts, in the same points.
func TestAgainstR(t *testing.T) {
	rscript := oracle.Need(t, "Rscript")
	v, truth := planted{intervals: 1500, blocks: 400, nonzero: 40, phases: 7, noise: 0.3, stray: 8}.vectors(4)
	dir := t.TempDir()
	file := filepath.Join(dir, "x.csv")
	var text bytes.Buffer
	for i := range v.Len() {
		row := make([]float64, 400)
		blocks, counts := v.Interval(i)
		for j, b := range blocks {
			row[b] = float64(counts[j]) / float64(v.Lengths[i])
		}
		for j, x := range row {
			if j > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		}
		text.WriteByte('\n')
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `set.seed(1); x <- as.matrix(read.csv(commandArgs(TRUE)[1], header=FALSE)); r <- kmeans(x, 7, nstart=20, iter.max=100); cat(r$cluster, sep="\n"); cat("\n"); cat(sprintf("%.15g\n", r$tot.withinss))`
	out, err := exec.Command(rscript, "-e", script, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	if len(words) != v.Len()+1 {
		t.Fatalf("R gave %d words", len(words))
	}
	var theirs []int
	for _, w := range words[:v.Len()] {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, n)
	}
	sse, err := strconv.ParseFloat(words[v.Len()], 64)
	if err != nil {
		t.Fatal(err)
	}
	r := pick(t, v, simpoint.Options{K: 7, Dims: simpoint.NoProjection, Equal: true})
	if a := simpoint.AdjustedRandIndex(theirs, r.Labels); a < 1 {
		t.Errorf("adjusted Rand index with R's clusters %.6f, want 1", a)
	}
	if ours := r.Trials[0].Variance * float64(v.Len()); math.Abs(ours-sse) > 1e-9*sse {
		t.Errorf("sum of squares %.15g, R's is %.15g", ours, sse)
	}
	for _, opt := range []simpoint.Options{{}, {Search: simpoint.All}} {
		r := pick(t, v, opt)
		if a, b := simpoint.AdjustedRandIndex(theirs, r.Labels), simpoint.AdjustedRandIndex(truth, r.Labels); a < goal || b < goal {
			t.Errorf("%+v: adjusted Rand index with R's clusters %.4f, with the truth %.4f, want %g", opt, a, b, goal)
		}
	}
}

// TestSeedsAndWorkers demands that the same seed gives the same result with any number
// of workers, and another seed another projection.
func TestSeedsAndWorkers(t *testing.T) {
	v := unstructured(300, 100, 20, 9)
	opt := simpoint.Options{MaxK: 10, Search: simpoint.All, Workers: 1}
	one := pick(t, v, opt)
	for _, workers := range []int{0, 2, 7} {
		opt.Workers = workers
		if d := cmp.Diff(one, pick(t, v, opt)); d != "" {
			t.Errorf("%d workers (-one +several):\n%s", workers, d)
		}
	}
	opt.Seed = 1
	if other := pick(t, v, opt); other.Trials[0].Variance == one.Trials[0].Variance {
		t.Error("the seed does not change the projection")
	}
}

// TestScores demands that the score rises up to the number of phases and falls after
// it, and that the binary search chooses a k that reaches the threshold.
func TestScores(t *testing.T) {
	v, _ := planted{intervals: 800, blocks: 400, nonzero: 40, phases: 5, noise: 0.2}.vectors(2)
	r := pick(t, v, simpoint.Options{Search: simpoint.All, MaxK: 15})
	for i, trial := range r.Trials {
		if trial.K != i+1 || trial.Found != trial.K {
			t.Fatalf("trial %d: %+v", i, trial)
		}
		if i > 0 && i < 5 && trial.Score <= r.Trials[i-1].Score {
			t.Errorf("score of k = %d is %g, of one less %g", trial.K, trial.Score, r.Trials[i-1].Score)
		}
		if i > 0 && trial.Variance > r.Trials[i-1].Variance {
			t.Errorf("variance rises at k = %d", trial.K)
		}
	}
	binary := pick(t, v, simpoint.Options{MaxK: 15})
	if len(binary.Trials) > 6 || binary.K < 5 {
		t.Errorf("%d trials, k = %d", len(binary.Trials), binary.K)
	}
	tight := pick(t, v, simpoint.Options{Search: simpoint.All, MaxK: 15, Threshold: 0.5})
	if tight.K > r.K {
		t.Errorf("a lower threshold gives %d clusters, a higher %d", tight.K, r.K)
	}
}

// TestScoreNeverTakesAll demands that by score no more than half of the intervals are
// points, with a warning where more might be better.
func TestScoreNeverTakesAll(t *testing.T) {
	for n := 2; n <= 30; n++ {
		for _, search := range []simpoint.Search{simpoint.Binary, simpoint.All} {
			v, _ := planted{intervals: n, blocks: 300, nonzero: 40, phases: n, noise: 0.3}.vectors(uint64(n))
			r := pick(t, v, simpoint.Options{Search: search, Starts: 2})
			if most := max(1, n/2); r.K > most || (r.K == most) != (len(r.Warnings) == 1) {
				t.Errorf("%d intervals: %d clusters, warnings %v", n, r.K, r.Warnings)
			}
		}
	}
	v, _ := planted{intervals: 6, blocks: 300, nonzero: 40, phases: 6, noise: 0.3}.vectors(1)
	if r := pick(t, v, simpoint.Options{K: 6}); r.K != 6 {
		t.Errorf("asked for 6 clusters of 6: %d", r.K)
	}
}

// TestFewIntervals demands that the two phases of a run are found however few its
// intervals are, which all differ.
func TestFewIntervals(t *testing.T) {
	for _, n := range []int{8, 12, 100} {
		v, _ := planted{intervals: n, blocks: 300, nonzero: 40, phases: 2, noise: 0.1}.vectors(8)
		r := pick(t, v, simpoint.Options{})
		if len(r.Warnings) != 0 || r.K != 2 {
			t.Errorf("%d intervals: %d clusters, warnings %v", n, r.K, r.Warnings)
		}
		if r = pick(t, v, simpoint.Options{K: 2}); r.K != 2 || len(r.Warnings) != 0 {
			t.Errorf("%d intervals, 2 clusters: %d, warnings %v", n, r.K, r.Warnings)
		}
	}
}

// TestEqualIntervals demands one cluster for equal intervals, and a warning if more are
// requested.
func TestEqualIntervals(t *testing.T) {
	v := &bbv.Vectors{First: []int{0}}
	for i := range 20 {
		v.Blocks, v.Instructions = append(v.Blocks, uint32(i%2)), append(v.Instructions, 100)
		v.Starts, v.Lengths, v.First = append(v.Starts, uint64(100*i)), append(v.Lengths, 100), append(v.First, i+1)
	}
	for _, how := range []simpoint.Init{simpoint.PlusPlus, simpoint.Sample, simpoint.FurthestFirst} {
		r := pick(t, v, simpoint.Options{Init: how})
		if r.K != 2 || r.Points[0].Interval != 0 || r.Points[1].Interval != 1 || r.Mismatch > 1e-12 {
			t.Errorf("init %d: %+v", how, r)
		}
		r = pick(t, v, simpoint.Options{Init: how, K: 5})
		if r.K != 2 || len(r.Warnings) != 1 {
			t.Errorf("init %d, 5 clusters of 2 different intervals: %d, warnings %v", how, r.K, r.Warnings)
		}
	}
}

// TestWeights demands weights by instructions, and by intervals only on request.
func TestWeights(t *testing.T) {
	v := &bbv.Vectors{
		Starts: []uint64{0, 100, 200}, Lengths: []uint64{100, 100, 800}, First: []int{0, 1, 2, 3},
		Blocks: []uint32{0, 0, 1}, Instructions: []uint64{100, 100, 800},
	}
	r := pick(t, v, simpoint.Options{K: 2})
	if r.Points[0].Weight != 0.2 || r.Points[1].Weight != 0.8 || r.Mismatch > 1e-12 {
		t.Errorf("%+v", r)
	}
	r = pick(t, v, simpoint.Options{K: 2, Equal: true})
	if math.Abs(r.Points[0].Weight-2.0/3) > 1e-12 || math.Abs(r.Mismatch-(2.0/3-0.2)) > 1e-12 {
		t.Errorf("equal: %+v", r)
	}
	r = pick(t, v, simpoint.Options{K: 2, Coverage: 0.8})
	if len(r.Points) != 1 || r.Points[0].Interval != 2 || r.Points[0].Weight != 1 {
		t.Errorf("coverage: %+v", r.Points)
	}
}

// TestEarly demands that early points come no later, and stay within the distance
// allowed.
func TestEarly(t *testing.T) {
	v, _ := planted{intervals: 1500, blocks: 400, nonzero: 40, phases: 5, noise: 0.3}.vectors(6)
	near := pick(t, v, simpoint.Options{K: 5})
	early := pick(t, v, simpoint.Options{K: 5, Early: 0.5})
	earliest := pick(t, v, simpoint.Options{K: 5, Early: 1e9})
	moved := 0
	for c := range near.Points {
		var square, n float64
		for i, l := range near.Labels {
			if l == c {
				square += near.Distances[i] * near.Distances[i] * float64(v.Lengths[i])
				n += float64(v.Lengths[i])
			}
		}
		limit := near.Points[c].Distance + 0.5*math.Sqrt(square/n)
		a, b := near.Points[c], early.Points[c]
		if b.Interval > a.Interval || b.Distance > limit*(1+1e-9) || b.Weight != a.Weight {
			t.Errorf("nearest %+v, early %+v, at most %g from the centre", a, b, limit)
		}
		for i := range b.Interval {
			if near.Labels[i] == c && near.Distances[i] <= limit*(1-1e-9) {
				t.Errorf("cluster %d: interval %d is near enough and before %d", c, i, b.Interval)
			}
		}
		if b.Interval < a.Interval {
			moved++
		}
		if first := slices.Index(near.Labels, c); earliest.Points[c].Interval != first {
			t.Errorf("cluster %d begins with %d, the earliest point is %d", c, first, earliest.Points[c].Interval)
		}
	}
	if moved == 0 {
		t.Error("no point is earlier")
	}
}

func TestStability(t *testing.T) {
	v, _ := planted{intervals: 500, blocks: 300, nonzero: 40, phases: 4, noise: 0.1}.vectors(8)
	s, err := simpoint.Stability(t.Context(), v, simpoint.Options{K: 4}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Agreement-1) > 1e-12 || s.LeastAgreement != 1 || s.KMin != 4 || s.KMax != 4 || len(s.Runs) != 4 {
		t.Errorf("planted: %+v", s)
	}
	if d := cmp.Diff(pick(t, v, simpoint.Options{K: 4}), s.Runs[0]); d != "" {
		t.Errorf("the first run is not that of the seed:\n%s", d)
	}
	s, err = simpoint.Stability(t.Context(), unstructured(300, 200, 20, 3), simpoint.Options{K: 6}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if s.Agreement > 0.5 || s.LeastAgreement > s.Agreement {
		t.Errorf("without structure: agreement %g, least %g", s.Agreement, s.LeastAgreement)
	}
	if _, err := simpoint.Stability(t.Context(), v, simpoint.Options{}, 1); err == nil {
		t.Error("one run: no error")
	}
}

// TestAdjustedRandIndex checks known values: equal up to names, crossed, and an example
// worked by hand: of the 10 pairs of 5 items, 2 and 4 are together, 2 in both, so that
// E = 0.8.
func TestAdjustedRandIndex(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		want float64
	}{
		{[]int{0, 0, 1, 2}, []int{5, 5, 3, 1}, 1},
		{[]int{0, 0, 1, 1}, []int{0, 1, 0, 1}, -0.5},
		{[]int{0, 0, 1, 1, 2}, []int{0, 0, 1, 1, 1}, (2 - 0.8) / (3 - 0.8)},
		{[]int{0, 0, 0}, []int{1, 1, 1}, 1},
		{nil, nil, 1},
	} {
		if got := simpoint.AdjustedRandIndex(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %g, want %g", c.a, c.b, got, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	v, _ := planted{intervals: 200, blocks: 300, nonzero: 40, phases: 4, noise: 0.1}.vectors(8)
	r := pick(t, v, simpoint.Options{K: 4})
	var points, weights, labels bytes.Buffer
	if err := errors.Join(simpoint.WritePoints(&points, r.Points), simpoint.WriteWeights(&weights, r.Points), simpoint.WriteLabels(&labels, r)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(labels.String(), "\n"); n != v.Len() {
		t.Errorf("%d labels", n)
	}
	names := simpoint.Names{Points: "p", Weights: "w"}
	back, err := simpoint.ReadPoints(&points, &weights, names)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(r.Points)
	for i := range want {
		want[i].Distance = 0
	}
	if d := cmp.Diff(want, back); d != "" {
		t.Errorf("(-written +read):\n%s", d)
	}
	// As SimPoint 3.2 writes them: interval or weight, then cluster.
	got, err := simpoint.ReadPoints(strings.NewReader("12 0\n7 2\n"), strings.NewReader("0.25 2\n0.75 0\n\n"), names)
	if err != nil || !slices.Equal(got, []simpoint.Point{{Interval: 12, Weight: 0.75}, {Interval: 7, Cluster: 2, Weight: 0.25}}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct{ points, weights, want string }{
		{"", "", "p: it has no points"},
		{"\n", "\n", "p: it has no points"},
		{"1", "", "p:1: 1 words"},
		{"1 0\n-1 1", "", "p:2: interval"},
		{"1 x", "", "p:1: cluster"},
		{"1 0\n2 0", "", "p:2: cluster 0 has two points"},
		{"1 0", "nan 0", "w:1: weight"},
		{"1 0", "1.5 0", "w:1: weight"},
		{"1 0", "0.5 1", "w:1: cluster 1 has no point in p"},
		{"1 0", "0.5 0\n0.5 0", "w:2: cluster 0 has two weights"},
		{"1 0\n2 1", "0.7 0\n0.6 1", "w: the weights add up to 1.3"},
		{"1 0", "0 0", "w: the weights add up to 0"},
		{"1 0", "", "w: cluster 0 has no weight"},
	} {
		if _, err := simpoint.ReadPoints(strings.NewReader(c.points), strings.NewReader(c.weights), names); !errors.Is(err, simpoint.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %q", c.points, c.weights, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	v, _ := planted{intervals: 20, blocks: 30, nonzero: 4, phases: 2}.vectors(8)
	for _, opt := range []simpoint.Options{
		{K: -1},
		{MaxK: -1},
		{Dims: -2},
		{Dims: 1 << 20},
		{Starts: -1},
		{Iterations: -1},
		{Workers: -1},
		{Threshold: 2},
		{Coverage: -1},
		{Early: -1},
		{Early: math.NaN()},
		{Early: math.Inf(1)},
		{Threshold: math.NaN()},
		{Init: 9},
		{Search: 9},
	} {
		if r, err := simpoint.Pick(t.Context(), v, opt); err == nil || r != nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if _, err := simpoint.Pick(t.Context(), &bbv.Vectors{First: []int{0}}, simpoint.Options{}); !errors.Is(err, simpoint.ErrIntervals) {
		t.Errorf("no intervals: %v", err)
	}
	empty := &bbv.Vectors{Starts: []uint64{0}, Lengths: []uint64{5}, First: []int{0, 0}}
	if _, err := simpoint.Pick(t.Context(), empty, simpoint.Options{}); err == nil {
		t.Error("an interval without blocks: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simpoint.Pick(ctx, v, simpoint.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLargeBlocks demands that large block ids work like small ones.
func TestLargeBlocks(t *testing.T) {
	v, truth := planted{intervals: 300, blocks: 200, nonzero: 20, phases: 3, noise: 0.1}.vectors(8)
	for i := range v.Blocks {
		v.Blocks[i] += math.MaxUint32 - 1000
	}
	if a := simpoint.AdjustedRandIndex(truth, pick(t, v, simpoint.Options{K: 3}).Labels); a < goal {
		t.Errorf("adjusted Rand index %g", a)
	}
}
