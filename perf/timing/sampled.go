package timing

import (
	"context"
	"fmt"
	"math"

	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// sampledVersion is part of the key of a stored simulation of intervals: raise it when
// the meaning of pipeline.Result, or where intervals lie, changes.
const sampledVersion = 1

// SampledReference is what the reference is called that intervals give. It stands in the
// warning of each of its rows.
const SampledReference = "simulated by sampled intervals"

// memoSampled returns the simulation of intervals of a run of n instructions.
func (s *simulation) memoSampled(ctx context.Context, step subject.Step, plan *trace.Plan, code [][]isa.Inst, n uint64) (store.Memoized[*storedTime], error) {
	how, err := s.sampling.filled(n)
	if err != nil {
		return store.Memoized[*storedTime]{}, fmt.Errorf("%w (%s)", err, s.in.Command())
	}
	return subject.Memo(step, "sampled time", sampledVersion, struct {
		Inputs       subject.Inputs
		Plan         string
		Config       pipeline.Config
		Sampling     Sampling
		Instructions uint64
	}{s.in, plan.Digest(), s.config, how, n}, func(running func(uint64)) (*storedTime, error) {
		windows := how.windows(n)
		opt := pipeline.Options{Windows: windows, Warmup: how.Lead, WarmCaches: true}
		out, err := s.run(ctx, plan, code, opt, how.recorded(windows), running)
		if err == nil { // what blocks take in intervals says nothing of the run
			out.Result.BlockCycles, out.Result.BlockExecutions, out.Result.BlockMispredicts = nil, nil, nil
		}
		return out, err
	})
}

// sampled returns the row of a program of which intervals were simulated, in a run of n
// instructions.
func (s *simulation) sampled(sim *storedTime, n uint64, row SimulatedRow) (SimulatedRow, error) {
	e, err := estimated(sim.Result.Windows, n)
	if err != nil {
		return row, fmt.Errorf("%w (%s)", err, s.in.Command())
	}
	how, err := s.sampling.filled(n)
	if err != nil {
		return row, err
	}
	if e.intervals != how.Intervals {
		return row, fmt.Errorf("perf: %d of %d intervals were simulated: the run was shorter than when its instructions were counted (%s)", e.intervals, how.Intervals, s.in.Command())
	}
	recorded := uint64(0)
	for _, w := range how.recorded(how.windows(n)) {
		recorded += w.To - w.From
	}
	row.Scope, row.Instructions, row.Cycles, row.Mispredicts = s.name, float64(n), e.cycles, math.NaN()
	row.Sampled = map[string]float64{
		"sim_cycles_low": e.low, "sim_cycles_high": e.high, "sim_intervals": float64(e.intervals),
		"sim_share": e.share, "sim_recorded_share": float64(recorded) / float64(n),
	}
	if row.Warning != "" {
		row.Warning = "; " + row.Warning
	}
	row.Warning = SampledReference + row.Warning
	return s.complete(row), nil
}
