package timing

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/isa"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/sched"
	"presage/perf/subject"
)

const (
	// mostWatched is the number of instructions of the largest run that is simulated to
	// see its branches: a few seconds.
	mostWatched = 1 << 27
	// leastWatched is the number of executions from which on a branch tells how well it
	// is predicted.
	leastWatched = 1000
)

// watchBranches finds how well the machine predicts branches that depend on data, in the
// largest of the runs that the models were fitted to. A warning says if there is no such
// run any more.
func (t *timer) watchBranches(ctx context.Context, model *misses.Model, execution *ExecutionModel) error {
	if t.pipeline == nil || t.opt.FixedExposure {
		return nil
	}
	c := execution.largest()
	if c == nil {
		return nil
	}
	runs := model.Runs().Runs
	i := slices.IndexFunc(runs, func(r locality.Run) bool { return r.Point.String() == c.Point.String() })
	if i < 0 {
		return nil
	}
	code := Code(c.Structure())
	s := simulation{name: model.Program, prog: c.Program, machine: t.machine, in: runs[i].Recorded.Inputs, config: t.pipeline.Config}
	sim, err := s.load(ctx, subject.Step{Options: &subject.RunOptions{Store: model.Store()}, Point: c.Point, Total: 1}, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		t.warnings = append(t.warnings, fmt.Sprintf("branches that depend on data count as random: %v", err))
		return nil
	}
	t.seenAt = c.Point.String()
	t.seenOf, t.seen = execution.structure, &sched.SeenBranches{F: sched.Counted(c.Recovered), Wrong: make(map[uint64]float64)}
	for b, insts := range code {
		last := &insts[len(insts)-1]
		if n := sim.Result.BlockExecutions[b]; last.Class == isa.Branch && n >= leastWatched {
			t.seen.Wrong[last.PC] = float64(sim.Result.BlockMispredicts[b]) / float64(n)
		}
	}
	return nil
}

// seenBranches returns what is known of the branches of a structure; nil: nothing.
func (t *timer) seenBranches(s *subject.Structure) *sched.SeenBranches {
	if s != t.seenOf {
		return nil
	}
	return t.seen
}

// largest returns the counts of the largest run, of those that take little to simulate,
// whose graph is the model's; nil: there is none.
func (m *ExecutionModel) largest() *anatomy.Counts {
	var largest *anatomy.Counts
	for _, c := range m.counts {
		if c.Structure() == m.structure && c.Instructions <= mostWatched {
			largest = c
		}
	}
	return largest
}
