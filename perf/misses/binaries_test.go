package misses

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/access"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// sized compiles sized.c for each size, and for one from its argument.
func sized(t *testing.T, flags func(n float64) string, sizes []float64) (each []subject.BinaryPoint, whole *subject.Program) {
	t.Helper()
	for _, n := range sizes {
		name, size := fmt.Sprintf("sized.%g", n), fmt.Sprintf(" -DN=%g", n)
		each = append(each, subject.BinaryPoint{Point: subject.Point{"n": n}, Program: perftest.Compile(t, "gcc", flags(n)+size, name, "sized.c")})
	}
	return each, perftest.Compile(t, "gcc", flags(0), "sized", "sized.c")
}

func always(flags string) func(float64) string { return func(float64) string { return flags } }

// smallBlocks let caches of a few KiB miss at the sizes of these tests.
var smallBlocks = []uint64{32, 128, 32 << 10}

func profileBinaries(t *testing.T, st *store.Store, points []subject.BinaryPoint) *locality.Runs {
	t.Helper()
	return profileIn(t, st, points, smallBlocks)
}

func profileIn(t *testing.T, st *store.Store, points []subject.BinaryPoint, blockBytes []uint64) *locality.Runs {
	t.Helper()
	runs, err := locality.ProfileBinaries(t.Context(), points, locality.ProfileOptions{RunOptions: subject.RunOptions{Store: st}, BlockBytes: blockBytes, DataOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func profileSizes(t *testing.T, st *store.Store, prog *subject.Program, sizes ...float64) *locality.Runs {
	t.Helper()
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", sizes...), locality.ProfileOptions{RunOptions: subject.RunOptions{Store: st, Args: "{n}"}, BlockBytes: smallBlocks, DataOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// checkTotals: every group of every run is in one common group, and what these
// have of a run is all that was collected, to the last access.
func checkTotals(t *testing.T, runs *locality.Runs) {
	t.Helper()
	c, err := runs.Common()
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs.Runs {
		for _, res := range runs.Runs[i].Reuse {
			sum, cold := uint64(0), uint64(0)
			of := make(map[trace.GroupID]int)
			for g := range c.All() {
				h := locality.SumHistograms(res, c.OfRun(i, g))
				sum, cold = sum+h.Accesses(), cold+h.Cold
				for _, own := range c.OfRun(i, g) {
					of[own]++
				}
			}
			for own, times := range of {
				if times != 1 {
					t.Errorf("run %d: group %d is in %d common groups", i, own, times)
				}
			}
			if sum != res.Accesses || cold != res.Blocks {
				t.Errorf("run %d, blocks of %d bytes: %d accesses and %d cold ones in common groups, %d and %d collected", i, res.BlockBytes, sum, cold, res.Accesses, res.Blocks)
			}
		}
	}
}

// pairedShare returns the least share, of the executables, of accesses in groups
// that were paired one to one.
func pairedShare(t *testing.T, runs *locality.Runs) float64 {
	t.Helper()
	df, err := runs.Matching()
	if err != nil {
		t.Fatal(err)
	}
	least := 1.0
	byExecutable := make(map[string]float64)
	executable, share := perftest.Text(t, df, "executable"), perftest.Column(t, df, "share")
	for i, kind := range perftest.Text(t, df, "match") {
		byExecutable[executable[i]] += 0
		if kind == access.Paired.String() {
			byExecutable[executable[i]] += share[i]
		}
	}
	for _, s := range byExecutable {
		least = min(least, s)
	}
	return least
}

// predicted fits a model and returns the accesses predicted at n and the misses
// of the levels of a machine.
func predicted(t *testing.T, st *store.Store, runs *locality.Runs, n float64) (accesses float64, misses []float64) {
	t.Helper()
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	df, err := Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), subject.Sweep("n", n), PredictOptions{Coverage: -1})
	if err != nil {
		t.Fatal(err)
	}
	return perftest.Column(t, df, "pred_accesses")[0], perftest.Column(t, df, "pred_misses")
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

// TestBinariesAgreeWithArgument compares executables that were compiled for a
// size each with one that takes the size as an argument: another compilation
// whose groups are one executable's, with no matching involved.
func TestBinariesAgreeWithArgument(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	const (
		// The argument is read, and a value more or less is kept in a register.
		sameAccesses = 0.002
		sameMisses   = 0.02
	)
	sizes := []float64{12, 16, 21, 26, 31}
	kernels := []string{"product", "decompose", "smooth", "shuffled"}
	for _, flags := range []string{"-O0", "-O1", "-O2", "-O2 -g"} {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			st := store.Open(t.TempDir())
			each, whole := sized(t, always(flags), sizes)
			runs, one := profileBinaries(t, st, each), profileSizes(t, st, whole, sizes...)
			checkTotals(t, runs)
			if share := pairedShare(t, runs); share < 0.999 || runs.Label() != "sized" {
				t.Errorf("%s: %.4f of the accesses are paired", runs.Label(), share)
			}
			// Histograms at the same size: what was matched as the same
			// references must have reused memory alike.
			for i := range sizes {
				pair := &locality.Runs{Runs: []locality.Run{runs.Runs[i], one.Runs[i]}}
				checkTotals(t, pair)
				compared, unlike := comparePairs(t, pair, kernels)
				if compared < 0.99 || unlike > sameMisses {
					t.Errorf("n = %g: groups with %.3f of the kernels' accesses are paired; %.4f of their misses differ", sizes[i], compared, unlike)
				}
			}
			// Models of both predict the same of a size that neither has seen.
			gotAccesses, gotMisses := predicted(t, st, runs, 45)
			wantAccesses, wantMisses := predicted(t, st, one, 45)
			if !near(gotAccesses, wantAccesses, sameAccesses) {
				t.Errorf("%g accesses predicted from several executables, %g from one", gotAccesses, wantAccesses)
			}
			for i := range gotMisses {
				if math.Abs(gotMisses[i]-wantMisses[i]) > sameMisses*wantMisses[i]+2 { // two blocks more of the stack
					t.Errorf("%g misses predicted from several executables, %g from one", gotMisses[i], wantMisses[i])
				}
			}
		})
	}
}

// comparePairs compares the histograms of two runs of one size, group by group
// of some routines: it returns the share of the accesses in groups that were
// paired, and of these groups by what share of the accesses the numbers of
// misses differ, in caches of 1 to 1024 blocks and without end.
func comparePairs(t *testing.T, pair *locality.Runs, routines []string) (compared, unlike float64) {
	t.Helper()
	c, err := pair.Common()
	if err != nil {
		t.Fatal(err)
	}
	all := 0.0
	for g := range c.All() {
		name, _, _ := strings.Cut(c.First(g).Routine, ".")
		if !slices.Contains(routines, name) {
			continue
		}
		var h [2]reuse.Histogram
		for i := range h {
			h[i] = locality.SumHistograms(pair.Runs[i].Reuse[0], c.OfRun(i, g))
		}
		n := float64(h[1].Accesses())
		all += n
		if c.Match(g) != access.Paired {
			continue
		}
		compared += n
		worst := math.Abs(float64(h[0].Accesses()) - n)
		for capacity := uint64(1); capacity <= 2048; capacity *= 2 {
			if capacity == 2048 {
				capacity = math.MaxUint32
			}
			worst = max(worst, math.Abs(float64(h[0].Misses(capacity))-float64(h[1].Misses(capacity))))
		}
		unlike += worst
	}
	return compared / all, unlike / compared
}

// TestUnrolledBinariesKeepTotals: where the compiler makes something else of
// each size (loops that are gone in some, with remainders in others), groups
// cannot be paired, but what is predicted is still what the program does.
func TestUnrolledBinariesKeepTotals(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	const (
		tolerance = 0.025 // of accesses, at 1.25 to twice the largest size
		// How many iterations are left over after the unrolled ones is a step in
		// the size, which no model has (see package scaling): one executable
		// that takes these sizes as arguments was off by up to 15%.
		leftOver = 0.15
	)
	for _, c := range []struct {
		name, flags string
		sizes       []float64
		tolerance   float64
	}{
		{"small", "-O3", []float64{5, 7, 8, 12, 16, 23}, tolerance},
		{"lines", "-O3 -g", []float64{12, 16, 21, 26, 31}, tolerance},
		{"unrolled", "-O3 -funroll-loops", []float64{12, 20, 28, 36}, tolerance},
		{"remainders", "-O3 -funroll-loops", []float64{12, 16, 21, 26, 31}, leftOver},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := store.Open(t.TempDir())
			each, _ := sized(t, always(c.flags), c.sizes)
			runs := profileBinaries(t, st, each)
			checkTotals(t, runs)
			if share := pairedShare(t, runs); share > 0.9 {
				t.Errorf("%.3f of the accesses are paired: the executables do not differ enough to test anything", share)
			}
			for _, p := range each {
				if !slices.ContainsFunc(runs.Warnings, func(w string) bool {
					return strings.HasPrefix(w, p.Program.Name+": ") && strings.Contains(w, "only by loop or routine") && strings.Contains(w, "product")
				}) {
					t.Errorf("no warning about %s in %q", p.Program.Name, runs.Warnings)
				}
			}
			got, _ := predicted(t, st, runs, 45)
			more, _ := sized(t, always(c.flags), []float64{45})
			if want := float64(profileBinaries(t, st, more).Runs[0].Accesses); !near(got, want, c.tolerance) {
				t.Errorf("%g accesses predicted, %g executed", got, want)
			}
		})
	}
}

// TestBinariesInlinedDifferently: loops of a routine that was inlined in some
// executables and not in others are found by their lines.
func TestBinariesInlinedDifferently(t *testing.T) {
	st := store.Open(t.TempDir())
	sizes := []float64{12, 16, 21, 26}
	inlined := func(n float64) string {
		if n < 20 {
			return "-O1 -g -DINLINE"
		}
		return "-O1 -g"
	}
	each, _ := sized(t, inlined, sizes)
	runs := profileBinaries(t, st, each)
	checkTotals(t, runs)
	c, err := runs.Common()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes {
		got := 0.0
		for g := range c.All() {
			if c.Match(g) != access.Unmatched && c.ScopeOf(subject.ByRoutine, g) == "smooth" {
				got += float64(c.Accesses(runs, i, g))
			}
		}
		if want := 6 * 5 * (n - 2) * (n - 2); !near(got, want, 0.01) { // two sweeps, three times, of 5 accesses a point
			t.Errorf("n = %g: %g accesses of smooth are matched, want %g", n, got, want)
		}
	}
}

// TestFortranBinaries: sizes that are PARAMETERs.
func TestFortranBinaries(t *testing.T) {
	st := store.Open(t.TempDir())
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	var points []subject.BinaryPoint
	for _, n := range []float64{10, 14, 20, 26, 60} {
		flags := fmt.Sprintf("-O2 -g -cpp -DN=%g", n)
		points = append(points, subject.BinaryPoint{Point: subject.Point{"n": n}, Program: perftest.Compile(t, "gfortran", flags, fmt.Sprintf("kernel.%g", n), "kernel.f90", "start.c")})
	}
	runs := profileBinaries(t, st, points[:4])
	checkTotals(t, runs)
	if share := pairedShare(t, runs); share < 0.99 {
		t.Errorf("%.4f of the accesses are paired", share)
	}
	got, _ := predicted(t, st, runs, 60)
	if want := float64(profileBinaries(t, st, points[4:]).Runs[0].Accesses); !near(got, want, 0.005) {
		t.Errorf("%g accesses predicted, %g executed", got, want)
	}
}

// goSized is a Go program with its size as a constant.
const goSized = `package main

const n = %d

var a, b, c [n][n]float64

//go:noinline
func product() {
	for i := range n {
		for j := range n {
			sum := 0.0
			for k := range n {
				sum += a[i][k] * b[k][j]
			}
			c[i][j] += sum
		}
	}
}

func main() {
	for i := range n {
		for j := range n {
			a[i][j], b[i][j] = float64(i+j), float64(i-j)
		}
	}
	for range 4 {
		product()
	}
}
`

// TestGoBinaries: the run-time system of several megabytes is matched, too.
func TestGoBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	st := store.Open(t.TempDir())
	var points []subject.BinaryPoint
	for _, n := range []float64{24, 32, 40} {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module sized\n\ngo 1.26\n", "main.go": fmt.Sprintf(goSized, int(n))} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		exe := filepath.Join(dir, "sized")
		if err := (subject.GoBuild{Dir: dir, Target: subject.Guest}).Run(t.Context(), exe); err != nil {
			t.Fatal(err)
		}
		prog, err := subject.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, subject.BinaryPoint{Point: subject.Point{"n": n}, Program: prog})
	}
	runs := profileBinaries(t, st, points)
	checkTotals(t, runs)
	// What the collector and the scheduler do varies with the size.
	if share := pairedShare(t, runs); share < 0.99 {
		t.Errorf("%.4f of the accesses are paired", share)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	df, err := Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), subject.Sweep("n", 80), PredictOptions{By: subject.ByRoutine, Coverage: -1})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(perftest.Text(t, df, "scope"), "main.product")
	if want := 4 * (2*80*80*80 + 2*80*80.0); i < 0 || !near(perftest.Column(t, df, "pred_accesses")[i], want, 0.01) {
		t.Errorf("main.product is row %d; want %g accesses\n%v", i, want, df)
	}
}

func TestSaveAndLoadBinaries(t *testing.T) {
	st, dir := store.Open(t.TempDir()), t.TempDir()
	each, _ := sized(t, always("-O3"), []float64{5, 8, 12, 16, 20})
	runs := profileBinaries(t, st, each[:4])
	if err := runs.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := locality.LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs.Runs {
		if diff := cmp.Diff(runs.Runs[i].Reuse, got.Runs[i].Reuse); diff != "" || got.Runs[i].Program.File.SHA256 != each[i].Program.File.SHA256 {
			t.Errorf("run %d, of %s: %s", i, got.Runs[i].Program.Name, diff)
		}
	}
	if diff := cmp.Diff(runs.Warnings, got.Warnings); diff != "" || len(got.Warnings) == 0 {
		t.Errorf("%d warnings: %s", len(got.Warnings), diff)
	}
	accesses, misses := predicted(t, st, runs, 20)
	again, same := predicted(t, store.Open(dir), got, 20)
	if accesses != again || !slices.Equal(misses, same) {
		t.Errorf("predictions of the runs and of those loaded differ: %v, %v", misses, same)
	}
	// Predictions and simulations of other executables of it find each other.
	sim, err := SimulateBinaries(t.Context(), each[4:], profiletest.Machine(t, "origin2000"), SimulateOptions{RunOptions: subject.RunOptions{Store: st}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), got, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), subject.Sweep("n", 20), PredictOptions{Coverage: -1})
	if err != nil {
		t.Fatal(err)
	}
	if both := compare(pred, sim); len(both) != 3 || both[0].Program != "sized" {
		t.Errorf("%+v", both)
	}
}

func TestBinaryPointErrors(t *testing.T) {
	each, _ := sized(t, always("-O1"), []float64{8})
	// The point is not among the arguments, unless they ask for it.
	for args, want := range map[string][]string{"": nil, "fast -{n}": {"fast", "-8"}} {
		runs, err := locality.ProfileBinaries(t.Context(), each, locality.ProfileOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir()), Args: args}})
		if err != nil || !slices.Equal(runs.Runs[0].Args, want) {
			t.Errorf("%q: %v, %v", args, runs, err)
		}
	}
	if runs, err := locality.ProfileBinaries(t.Context(), each, locality.ProfileOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir()), Args: "fast"}}); err != nil || len(runs.Runs[0].Args) != 1 {
		t.Errorf("an argument beside the point: %v", err)
	}
	for want, points := range map[string][]subject.BinaryPoint{
		"no points":      nil,
		"has no program": {{Point: subject.Point{"n": 8}}},
		"asked for twice": {
			each[0], each[0],
		},
		"name of a column": {{Point: subject.Point{"level": 8}, Program: each[0].Program}},
	} {
		_, err := locality.ProfileBinaries(t.Context(), points, locality.ProfileOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCommonName(t *testing.T) {
	for _, c := range []struct{ names, values, want string }{
		{"sweep.20 sweep.26", "20 26", "sweep"},
		{"sweep.60", "60", "sweep"},
		{"mm-n20-O2 mm-n26-O2", "20 26", "mm-O2"},
		{"20.exe 26.exe", "20 26", "exe"},
		{"cg.A cg.B", "14000 75000", "cg"},
		{"mm20 mm26", "20 26", "mm"},
		{"prog prog", "20 26", "prog"},
		{"lu2", "20", "lu2"},
		{"a b", "1 2", "a"},
		{"7 8", "7 8", "7"},
	} {
		var points []subject.BinaryPoint
		values := strings.Fields(c.values)
		for i, name := range strings.Fields(c.names) {
			var v float64
			if _, err := fmt.Sscan(values[i], &v); err != nil {
				t.Fatal(err)
			}
			points = append(points, subject.BinaryPoint{Point: subject.Point{"n": v}, Program: &subject.Program{Name: name}})
		}
		if got := subject.CommonName(points); got != c.want {
			t.Errorf("%s: %q, want %q", c.names, got, c.want)
		}
	}
}
