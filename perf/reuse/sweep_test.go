package reuse_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// TestSweep3D collects one run of a real program in all ways at once: what two
// workers find is what one does, and the intervals of samples hold the exact
// numbers of misses, of the program and of its groups, as often as they say.
func TestSweep3D(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a program")
	}
	const (
		seeds      = 8
		oneIn      = 16
		confidence = 0.9
		// Groups with fewer accesses have no use for a sample.
		fewest = 100_000
	)
	file := build(t, "../../datasets/programs/sweep3d")
	a := access.Analyze(cfg.Analyze(file))
	plan, err := a.Groups(nil).Plan(a, access.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	options := []reuse.Options{{}, {Workers: 2}}
	for seed := range uint64(seeds) {
		options = append(options, reuse.Options{SampleOneIn: oneIn, SampleSeed: seed})
	}
	var cs []*reuse.Collector
	var all []trace.Collector
	for _, opt := range options {
		c, err := reuse.New(plan, opt)
		if err != nil {
			t.Fatal(err)
		}
		cs, all = append(cs, c), append(all, c)
	}
	run, err := rv64.Engine{}.Run(t.Context(), file, engine.Request{Args: []string{"-n", "20", "-iterations", "2", "-quiet"}, Plan: plan, Sink: trace.NewDirect(all...)})
	if err != nil {
		t.Fatal(err)
	}
	if run.ExitCode != 0 {
		t.Fatalf("sweep3d ends with status %d", run.ExitCode)
	}
	exact, parallel := cs[0].Result(), cs[1].Result()
	same(t, exact, parallel)

	groups := [][]trace.GroupID{nil}
	for g := range exact.Groups {
		if exact.Groups[g].Accesses() >= fewest {
			groups = append(groups, []trace.GroupID{trace.GroupID(g)})
		}
	}
	held, tried, useful := 0, 0, 0
	for _, c := range cs[2:] {
		r := c.Result()
		for _, of := range groups {
			for _, capacity := range []uint64{256, 512, 1024, 2048, 4096, 8192, 16_384} {
				want := estimate(t, exact, capacity, confidence, of)
				got := estimate(t, r, capacity, confidence, of)
				tried++
				if got.Least <= want.Most && want.Least <= got.Most {
					held++
				}
				if of == nil && float64(got.Most-got.Least) < 0.05*float64(exact.Accesses) {
					useful++
				}
			}
		}
	}
	t.Logf("%d accesses to %d blocks, %d groups: %d of %d intervals hold the misses; %d of the program's %d are within 5%% of the accesses",
		exact.Accesses, exact.Blocks, len(groups)-1, held, tried, useful, seeds*7)
	// The intervals of one seed are not independent: no closer bound is known.
	if float64(held) < confidence*float64(tried) {
		t.Errorf("%d of %d intervals hold the misses, want %g", held, tried, confidence)
	}
	if useful < seeds*7/2 || len(groups) < 10 {
		t.Errorf("%d useful intervals, %d groups: the test says little", useful, len(groups))
	}
}

func estimate(t *testing.T, r *reuse.Result, capacity uint64, confidence float64, groups []trace.GroupID) reuse.Estimate {
	t.Helper()
	e, err := r.Estimate(capacity, confidence, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func same(t *testing.T, a, b *reuse.Result) {
	t.Helper()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("-one +two workers:\n%s", diff)
	}
}

func build(t *testing.T, dir string) *objfile.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(oracle.Need(t, "go"), "build", "-o", path, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
