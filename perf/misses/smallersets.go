package misses

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"presage/perf/cache"
	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

const (
	// likeRuns is the number of runs, the largest, that tell how blocks collide.
	likeRuns = 3
	// leastSets is the number of sets below which a level is no longer like one of many.
	leastSets = 4
)

// smaller returns the caches of a hierarchy with 2^-shift times the sets, but one at
// least; the hierarchy itself if shift is 0.
func smaller(c cache.Config, shift int) cache.Config {
	if shift == 0 {
		return c
	}
	c.TLBs, c.Levels = nil, slices.Clone(c.Levels)
	for i := range c.Levels {
		l := &c.Levels[i]
		if l.Ways == 0 {
			l.Blocks = max(1, l.Blocks>>shift)
			continue
		}
		l.Blocks = max(1, l.Blocks/uint64(l.Ways)>>shift) * uint64(l.Ways)
	}
	return c
}

// alike is a run, and by which power of two its level has fewer sets for what is touched
// to be as many times its capacity as at a point; between two whole powers.
type alike struct {
	run   int
	shift float64
}

// alikeRuns returns the largest runs of which a level of fewer sets is like that at a
// point; none if there are fewer than likeRuns.
func (m *Model) alikeRuns(l predict.Level, point subject.Point) []alike {
	b := slices.Index(m.refits.runs.BlockBytes(), l.BlockBytes)
	touched := m.footprint.Blocks(l.BlockBytes, fit.Point(point))
	if b < 0 || !finite(touched) {
		return nil
	}
	var out []alike
	for _, run := range slices.Backward(m.refits.bySize()) {
		shift := math.Log2(touched / float64(coldOf(&m.refits.runs.Runs[run], b)))
		if !(shift >= 0) || l.Sets>>int(math.Floor(shift)+1) < leastSets {
			continue
		}
		if out = append(out, alike{run, shift}); len(out) == likeRuns {
			return out
		}
	}
	return nil
}

// shiftsOf returns the powers of two between which those of runs are, and 0.
func shiftsOf(runs []alike) []int {
	out := []int{0}
	for _, a := range runs {
		k := int(math.Floor(a.shift))
		out = append(out, k, k+1)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bySize returns the indices of the runs by size, ascending.
func (r *refits) bySize() []int {
	order := r.kept(0)
	slices.SortStableFunc(order, func(a, b int) int { return scaling.CompareSizes(r.sizes[a], r.sizes[b]) })
	return order
}

// smallerRuns are the simulations that the points of a target share.
type smallerRuns struct {
	mu   sync.Mutex
	made bool
}

// simulateSmaller simulates, in the runs, the caches of fewer sets that tell how blocks
// collide at the points of a target, each run once for all of them. What cannot be run is
// left to those that ask. The first caller does it, and others wait.
func (m *Model) simulateSmaller(ctx context.Context, t *target, by predict.Method) error {
	t.smaller.mu.Lock()
	defer t.smaller.mu.Unlock()
	if t.smaller.made {
		return nil
	}
	shifts := make(map[int][]int)
	for _, point := range t.points {
		for _, l := range t.levels {
			if !m.mayCollide(t, l, point, by) {
				continue
			}
			runs := m.alikeRuns(l, point)
			for _, a := range runs {
				shifts[a.run] = append(shifts[a.run], shiftsOf(runs)...)
			}
		}
	}
	for run := range m.refits.runs.Runs {
		if shifts[run] == nil {
			continue
		}
		slices.Sort(shifts[run])
		if _, err := m.refits.simulatedSmaller(ctx, run, t.hardware, slices.Compact(shifts[run]), t.progress); err != nil && !errors.Is(err, errNotRun) {
			return err
		}
	}
	t.smaller.made = true
	return nil
}

// simulatedSmaller returns simulations of a machine with 2^-shift times the sets in a run,
// by shift; nil if there can be none that count the accesses of the run's histograms. The
// error wraps errNotRun if the run could not be repeated. Callers that want those of the
// same machine wait for each other.
func (r *refits) simulatedSmaller(ctx context.Context, run int, m *machine.Machine, shifts []int, report progress.Func) ([]*storedCache, error) {
	if !r.countsAll(run) {
		return nil, nil
	}
	whole, err := simulatedKeyOf(run, m.Hierarchy())
	if err != nil {
		return nil, err
	}
	end, err := r.shrinking.take(ctx, whole)
	if err != nil {
		return nil, err
	}
	defer end()
	keys, out := make([]simulatedKey, len(shifts)), make([]*storedCache, len(shifts))
	var configs []cache.Config
	var lacking []int // indices of shifts
	for i, shift := range shifts {
		config := smaller(m.Hierarchy(), shift)
		if keys[i], err = simulatedKeyOf(run, config); err != nil {
			return nil, err
		}
		known, ok := r.knownSimulation(keys[i])
		if known.err != nil {
			return nil, known.err
		}
		if out[i] = known.sim; !ok {
			configs, lacking = append(configs, config), append(lacking, i)
		}
	}
	if lacking == nil {
		return out, nil
	}
	sims, err := simulateTogether(ctx, &r.runs.Runs[run], configs, subject.RunOptions{Store: r.store, Progress: r.again(report, "simulating", run)})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		err, sims = r.couldNotRun(err), make([]*storedCache, len(lacking))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, i := range lacking {
		out[i] = sims[k]
		r.simulations[keys[i]] = simulatedRun{sims[k], err}
	}
	return out, err
}

// smallerKind is the kind of stored simulations that predictions make of runs for
// themselves: of caches of fewer sets, and of the machine in the same run.
const smallerKind = "fewer sets"

// simulateTogether simulates several hierarchies in a run of a model, of which those that
// the store lacks take one more run in all.
func simulateTogether(ctx context.Context, of *locality.Run, configs []cache.Config, opt subject.RunOptions) ([]*storedCache, error) {
	if err := of.Repeatable(opt.Store); err != nil {
		return nil, err
	}
	plan, err := of.Program.Plan()
	if err != nil {
		return nil, err
	}
	in := of.Recorded.Inputs
	var fresh map[int]*storedCache // by index of configs
	run := func(running func(uint64)) error {
		var lacking []int
		for i, c := range configs {
			key, err := store.NewKey(smallerKind, cacheVersion, cacheInputs{in, plan.Digest(), c, false})
			if err != nil {
				return err
			}
			if !opt.Store.Has(key) {
				lacking = append(lacking, i)
			}
		}
		fresh, err = simulateSeveral(ctx, of.Program, subject.Request{Inputs: in, Plan: plan, Progress: running}, configs, lacking)
		return err
	}
	out := make([]*storedCache, len(configs))
	for i, c := range configs {
		step := subject.Step{Options: &opt, Point: of.Point, Total: 1}
		memo, err := subject.Memo(step, smallerKind, cacheVersion, cacheInputs{in, plan.Digest(), c, false}, func(running func(uint64)) (*storedCache, error) {
			if fresh[i] == nil {
				if err := run(running); err != nil {
					return nil, err
				}
			}
			if fresh[i] == nil { // an entry that cannot be read
				s := simulation{config: c}
				return s.run(ctx, of.Program, subject.Request{Inputs: in, Plan: plan, Progress: running})
			}
			return fresh[i], nil
		})
		if err != nil {
			return nil, err
		}
		out[i] = memo.Value
	}
	return out, nil
}

// simulateSeveral simulates some of several hierarchies in one run.
func simulateSeveral(ctx context.Context, prog *subject.Program, r subject.Request, configs []cache.Config, which []int) (map[int]*storedCache, error) {
	sims := make(map[int]*cache.Simulator)
	for _, i := range which {
		sim, err := cache.New(r.Plan, configs[i])
		if err != nil {
			return nil, err
		}
		sims[i], r.Collectors = sim, append(r.Collectors, trace.Collector(sim))
	}
	res, err := prog.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	out := make(map[int]*storedCache)
	for i, sim := range sims {
		out[i] = &storedCache{Facts: res.Facts, Result: sim.Result()}
	}
	return out, nil
}
