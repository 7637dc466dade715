package works_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presage/perf/anatomy"
	"presage/perf/campaign"
	"presage/perf/campaign/works"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/phase"
	"presage/perf/spmv"
	"presage/perf/store"
	"presage/perf/study/inferred"
	"presage/perf/study/sparse"
	"presage/perf/subject"
	"presage/perf/timing"
)

// loop is an executor that does jobs as a worker does: from their JSON, with nothing
// else in common with their user than the store.
type loop struct {
	jobs int
	left map[store.Key]bool // what the store held once they were done
}

func (l *loop) Execute(ctx context.Context, c *campaign.Campaign, tell func(campaign.Event)) error {
	for i := range c.Jobs {
		text, err := json.Marshal(c.Jobs[i])
		if err != nil {
			return err
		}
		var j campaign.Job
		if err := json.Unmarshal(text, &j); err != nil {
			return err
		}
		ended := campaign.Do(ctx, store.Open(c.Store.Dir()), works.All(), &j, func(uint64) {})
		tell(campaign.Event{Job: i, Ended: ended})
		l.jobs++
	}
	var err error
	l.left, err = results(c.Store)
	return err
}

// aside are the kinds of entries that are no results of runs: what static analysis
// finds, marks of jobs, matrices that travel, what is made of results, and simulations of
// which only a prediction knows that it needs them.
var aside = []string{"graphs", "outline", "job", "spmv-matrix", "spmv-specs", "joined", "model", "fewer sets", "predictions"}

// results returns the keys of the results that a store holds.
func results(st *store.Store) (map[store.Key]bool, error) {
	keys := make(map[store.Key]bool)
	return keys, st.Walk("", func(e store.Entry) error {
		if !slices.Contains(aside, e.Kind) {
			keys[e.Key] = true
		}
		return nil
	})
}

// TestJobsGiveTheSame calls each user of campaigns without one and with one. What it
// returns is the same, and so are the keys of what it leaves in the store; with a
// campaign, it finds all of that in the store, and computes nothing itself.
func TestJobsGiveTheSame(t *testing.T) {
	prog := perftest.Program(t)
	points := subject.Sweep("n", 5, 6, 7)
	m := profiletest.Machine(t, "zen4")
	options := func(st *store.Store, r *campaign.Runner) subject.RunOptions {
		return subject.RunOptions{Args: perftest.OneIteration, Store: st, Campaign: r}
	}
	for name, c := range map[string]struct {
		jobs int
		use  func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error)
	}{
		"profile": {3, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			runs, err := locality.Profile(ctx, prog, points, locality.ProfileOptions{RunOptions: options(st, r), BlockBytes: []uint64{64, 4096}, DataOnly: true})
			if err != nil {
				return nil, err
			}
			return []any{runs.Rows(), runs.Warnings, runs.Runs[1].Reuse}, nil
		}},
		"carriers": {1, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			runs, err := locality.Profile(ctx, prog, points[:1], locality.ProfileOptions{RunOptions: options(st, r), BlockBytes: []uint64{64}, Carriers: true})
			if err != nil {
				return nil, err
			}
			return runs.Runs[0].Reuse, nil
		}},
		"sampled": {1, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			runs, err := locality.Profile(ctx, prog, points[:1], locality.ProfileOptions{RunOptions: options(st, r), BlockBytes: []uint64{64}, SampleOneIn: 4, SampleSeed: 3, SampleEvenly: true})
			if err != nil {
				return nil, err
			}
			return runs.Runs[0].Reuse, nil
		}},
		"counts": {3, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			all, err := anatomy.CountSweep(ctx, prog, points, options(st, r))
			var out []any
			for _, one := range all {
				out = append(out, one.Recovered.Routines, one.Instructions, one.Saved, one.Stdout, one.Warnings)
			}
			return out, err
		}},
		"misses": {3, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			return misses.Simulate(ctx, prog, m, points, misses.SimulateOptions{RunOptions: options(st, r), FullyAssociative: true, PageBytes: 4096})
		}},
		"time": {3, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			return timing.Simulate(ctx, prog, m, points, timing.SimulateOptions{RunOptions: options(st, r), By: subject.ByRoutine})
		}},
		"time by intervals": {3, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			return timing.Simulate(ctx, prog, m, points, timing.SimulateOptions{RunOptions: options(st, r), Sampled: &timing.Sampling{Intervals: 10, Length: 2000, Lead: 500, History: 5000}})
		}},
		"validation": {4, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			v := misses.Validation{RunOptions: options(st, r), Train: points, Judge: subject.Sweep("n", 9)}
			v.Machines = append(v.Machines, m)
			return misses.Validate(ctx, prog, v)
		}},
		"samples": {2 + 3, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			p, err := phase.BlockVectors(ctx, prog, points[2], phase.Options{RunOptions: options(st, r), Interval: 20_000})
			if err != nil {
				return nil, err
			}
			n, err := phase.RunLength(ctx, prog, points[2], options(st, r))
			if err != nil {
				return nil, err
			}
			list, err := phase.SampleCaches(ctx, p, m, []phase.Sampling{{Full: true}, {Percent: 10}, {Percent: 10, Warmup: 1}})
			if err != nil {
				return nil, err
			}
			hits, err := phase.HitRates(list...)
			return []any{n, p.Executions, hits}, err
		}},
		"products": {2 * len(spmv.Shapes()), func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			return sparse.Samples(ctx, []*spmv.Matrix{matrix(t, 1), matrix(t, 2)}, sparse.Options{Train: 3, Validate: 2, Store: st, Campaign: r})
		}},
		"infer": {1, func(ctx context.Context, st *store.Store, r *campaign.Runner) (any, error) {
			oracle.Need(t, "riscv64-linux-gnu-gcc")
			return inferred.Campaign{
				Subjects: []inferred.Subject{{Application: "hmm", Level: inferred.O3, Input: "small", Folder: "hmm", Args: []string{"-count", "20"}, Role: inferred.ToTrain}},
				Programs: filepath.Join("..", "..", "..", "datasets", "programs"),
				Length:   100_000, Shards: 2, Pool: 6, Fresh: 2, Train: 2, Check: 1, New: 1, Store: st, Campaign: r,
			}.Run(ctx)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "profile" && name != "misses" && name != "products" {
				t.Skip("slow under the race detector; the others are jobs of the same kind")
			}
			alone, shared := store.Open(t.TempDir()), store.Open(t.TempDir())
			want, err := c.use(t.Context(), alone, nil)
			if err != nil {
				t.Fatal(err)
			}
			l := new(loop)
			got, err := c.use(t.Context(), shared, &campaign.Runner{On: l, Failed: func(e campaign.Ended) { t.Error(e.Label, e.Error) }})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Error(diff)
			}
			if l.jobs != c.jobs {
				t.Errorf("%d jobs, want %d", l.jobs, c.jobs)
			}
			of, err := results(alone)
			if err != nil {
				t.Fatal(err)
			}
			held, err := results(shared)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(of, held); diff != "" {
				t.Errorf("entries without and with a campaign: %s", diff)
			}
			if diff := cmp.Diff(l.left, held); diff != "" {
				t.Errorf("entries when jobs were done, and at the end: %s", diff)
			}
		})
	}
}

// matrix returns a random matrix.
func matrix(t *testing.T, seed uint64) *spmv.Matrix {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var entries []spmv.Entry
	for i := range 60 {
		for range 1 + rng.IntN(5) {
			entries = append(entries, spmv.Entry{Row: i, Col: rng.IntN(60), Value: 1})
		}
	}
	m, err := spmv.NewMatrix(60, 60, entries)
	if err != nil {
		t.Fatal(err)
	}
	m.Name = fmt.Sprintf("random %d", seed)
	return m
}

// TestOtherFiles changes a file between making a job and doing it.
func TestOtherFiles(t *testing.T) {
	dir, st := t.TempDir(), store.Open(t.TempDir())
	input := filepath.Join(dir, "input")
	if err := store.WriteFile(input, []byte("1")); err != nil {
		t.Fatal(err)
	}
	jobs, err := anatomy.Jobs(perftest.Program(t), subject.Sweep("n", 5), subject.RunOptions{
		Args: perftest.OneIteration, Store: st, Folders: []subject.Folder{{Guest: "/in", Host: dir}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.WriteFile(input, []byte("2")); err != nil {
		t.Fatal(err)
	}
	const want = "the files that it reads differ"
	if e := campaign.Do(t.Context(), st, works.All(), &jobs[0], nil); !strings.Contains(e.Error, want) {
		t.Errorf("%q, want %q", e.Error, want)
	}
}
