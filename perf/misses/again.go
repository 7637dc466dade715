package misses

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"presage/perf/cache"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/progress"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
)

// couldNotRun returns an error that wraps errNotRun, and remembers that there was one.
func (r *refits) couldNotRun(err error) error {
	r.lacking.Store(true)
	return fmt.Errorf("%w: %w", errNotRun, err)
}

// turns lets one caller at a time work on what a key stands for.
type turns[K comparable] struct {
	mu    sync.Mutex
	taken map[K]chan struct{} // full while somebody works
}

// take waits until nobody works on a key, and returns what ends the caller's own turn;
// or the context's error if that ends first.
func (t *turns[K]) take(ctx context.Context, key K) (end func(), err error) {
	t.mu.Lock()
	if t.taken == nil {
		t.taken = make(map[K]chan struct{})
	}
	if t.taken[key] == nil {
		t.taken[key] = make(chan struct{}, 1)
	}
	turn := t.taken[key]
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// again reports runs that are made once more: what is done to which of them.
func (r *refits) again(report progress.Func, what string, run int) progress.Func {
	return func(p progress.Report) {
		if p.Stored {
			return
		}
		p.Task = fmt.Sprintf("%s %s again", what, r.runs.Runs[run].Point)
		p.Done, p.Total = run, len(r.runs.Runs)
		report.Report(p)
	}
}

// simulatedKey is a run and the caches that are simulated in it, by content: machines
// that were read twice, or changed since, are told apart by nothing else.
type simulatedKey struct {
	run    int
	caches store.Key
}

func simulatedKeyOf(run int, config cache.Config) (simulatedKey, error) {
	caches, err := store.NewKey("hierarchy", cacheVersion, config)
	return simulatedKey{run, caches}, err
}

// simulatedRun is a simulation of a run, or why there is none.
type simulatedRun struct {
	sim *storedCache
	err error
}

// countsAll reports whether a simulation of a run counts the accesses of its histograms.
func (r *refits) countsAll(run int) bool {
	rec := &r.runs.Runs[run].Recorded
	return rec.SampleOneIn <= 1 && rec.Stack
}

// simulated returns the simulation of a machine in a run; nil if there can be none that
// counts the accesses of the run's histograms. The error wraps errNotRun if the run
// could not be repeated. Callers that want the same wait for the first one's result;
// those that want others do not.
func (r *refits) simulated(ctx context.Context, run int, m *machine.Machine, report progress.Func) (*storedCache, error) {
	if !r.countsAll(run) {
		return nil, nil
	}
	config := m.Hierarchy()
	key, err := simulatedKeyOf(run, config)
	if err != nil {
		return nil, err
	}
	end, err := r.simulating.take(ctx, key)
	if err != nil {
		return nil, err
	}
	defer end()
	if known, ok := r.knownSimulation(key); ok {
		return known.sim, known.err
	}
	sim, err := simulateAgain(ctx, &r.runs.Runs[run], config, subject.RunOptions{Store: r.store, Progress: r.again(report, "simulating", run)})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		err = r.couldNotRun(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.simulations[key] = simulatedRun{sim, err}
	return sim, err
}

// Simulated returns what a machine's caches and TLBs count of a run of the model, by the
// groups of that run's plan. It takes the run once more if the store has no such result;
// nil if there can be none that counts the accesses of the run's histograms.
func (m *Model) Simulated(ctx context.Context, run int, on *machine.Machine, report progress.Func) (*cache.Result, error) {
	sim, err := m.refits.simulated(ctx, run, on, report)
	if sim == nil || err != nil {
		return nil, err
	}
	return sim.Result, nil
}

// Reuse returns the histograms of a run of the model in blocks of a size, by the groups of
// that run's plan; nil if it was not profiled with that size.
func (m *Model) Reuse(run int, blockBytes uint64) *reuse.Result {
	runs := m.refits.runs
	b := slices.Index(runs.BlockBytes(), blockBytes)
	if b < 0 {
		return nil
	}
	return runs.Runs[run].Reuse[b]
}

func (r *refits) knownSimulation(key simulatedKey) (simulatedRun, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.simulations[key]
	return known, ok
}

// simulateAgain simulates caches in a run of a model, once more. It returns an error if
// the run cannot be repeated.
func simulateAgain(ctx context.Context, of *locality.Run, config cache.Config, opt subject.RunOptions) (*storedCache, error) {
	if err := of.Repeatable(opt.Store); err != nil {
		return nil, err
	}
	s := simulation{config: config}
	return s.simulate(ctx, of.Program, subject.Step{Options: &opt, Point: of.Point, Total: 1}, of.Recorded.Inputs)
}

// collect adds the classes of a run in blocks of some sizes to those known. Callers take
// turns with each run.
func (r *refits) collect(ctx context.Context, run int, sizes []uint64, report progress.Func) error {
	end, err := r.collecting.take(ctx, run)
	if err != nil {
		return err
	}
	defer end()
	missing, err := r.uncollected(run, sizes)
	if err != nil || len(missing) == 0 {
		return err
	}
	found, err := r.runs.Runs[run].Further(ctx, missing, locality.FurtherOptions{
		Loops: true, Store: r.store, Progress: r.again(report, "profiling", run),
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.notRun = r.couldNotRun(err)
		return r.notRun
	}
	for i, res := range found {
		if r.classes[furtherKey{run, missing[i]}], err = r.runs.Classes(run, res); err != nil {
			return err
		}
	}
	return nil
}
