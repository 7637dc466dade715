package timing

import (
	"context"
	"fmt"
	"math"

	"presage/perf/anatomy"
	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/sched"
	"presage/perf/store"
	"presage/perf/subject"
)

// Clock returns how time is told in simulations with a machine's prefetchers: each access
// takes an equal part of the schedule of its loop, or of the rest of its routine, and as
// many accesses are under way as the core's window holds instructions for; one in a core
// in order. The schedule is that of the run's own counts, if all accesses hit. A machine
// whose core is not described has no schedule: time is then the number of accesses.
func Clock(m *machine.Machine, st *store.Store) misses.Timing {
	if CheckMachine(m) != nil {
		return misses.Timing{}
	}
	return misses.Timing{Clock: func(ctx context.Context, prog *subject.Program, in subject.Inputs) (*cache.Clock, error) {
		counts, err := anatomy.CountInputs(ctx, prog, in, subject.RunOptions{Store: st})
		if err != nil {
			return nil, err
		}
		t, err := newTimer(m, PredictOptions{By: subject.ByLoop})
		if err != nil {
			return nil, err
		}
		return t.clock(ctx, counts)
	}}
}

// clock returns the clock of a run.
func (t *timer) clock(ctx context.Context, counts *anatomy.Counts) (*cache.Clock, error) {
	s := counts.Structure()
	result, err := t.scheduler.Program(ctx, s.Access, sched.Counted(counts.Recovered))
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", counts.Program.Name, err)
	}
	times := t.own(s, result)
	accesses := make([]float64, len(times)) // by scope, without those inside it
	at := make(map[uint64]int)              // scope of an instruction
	instructions, all := 0.0, 0.0
	for i, r := range s.Graph.Routines {
		var executed []uint64
		for b := range r.Blocks {
			scope := s.Scopes.Of(i, b)
			executed = counts.Recovered.Routines[i].Insts(executed, r, b)
			for k, n := range executed {
				inst := &r.Blocks[b].Insts[k]
				instructions += float64(n)
				mems := float64(len(inst.Mems()))
				if mems > 0 {
					at[inst.PC] = scope
				}
				accesses[scope] += mems * float64(n)
				all += mems * float64(n)
			}
		}
	}
	per := make([]float64, len(times))
	for i := len(times) - 1; i >= 0; i-- { // scopes come after those around them
		switch parent := s.Scopes.Scopes[i].Parent; {
		case accesses[i] > 0:
			per[i] = times[i].schedule / accesses[i]
		case i > 0:
			times[parent].schedule += times[i].schedule // its time passes there
		}
	}
	plan, err := counts.Program.Plan()
	if err != nil {
		return nil, err
	}
	c := &cache.Clock{PerAccess: make([]float64, len(plan.Refs)), Window: 1}
	for i := range plan.Refs {
		if scope, ok := at[uint64(plan.Refs[i].PC)]; ok {
			c.PerAccess[i] = per[scope]
		}
	}
	if core := &t.machine.Core; !core.InOrder && instructions > 0 {
		c.Window = max(1, int(math.Round(float64(core.Window)*all/instructions)))
	}
	return c, nil
}
