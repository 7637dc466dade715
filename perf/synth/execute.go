package synth

import (
	"context"
	"fmt"

	"presage/perf/pipeline"
	"presage/perf/trace"
)

// Options say how long walks are. Values of 0 are replaced by the defaults in
// brackets.
type Options struct {
	Stretches int    // [64]
	Counted   int    // instructions of a stretch that count [3000]
	Warmup    int    // instructions before them [800]
	Seed      uint64 // of the walk
}

func (o Options) or() Options {
	if o.Stretches <= 0 {
		o.Stretches = 64
	}
	if o.Counted <= 0 {
		o.Counted = 3000
	}
	if o.Warmup <= 0 {
		o.Warmup = 800
	}
	return o
}

// Causes are what a walk is executed with.
type Causes uint8

const (
	// Mispredictions are those that Model.Wrong foretells.
	Mispredictions Causes = 1 << iota
	// Misses are those of caches and TLBs.
	Misses
)

// Times are how long blocks took in a walk.
type Times struct {
	// Cycles is the mean time of an execution of each block, by routine and block: from
	// the retirement of the last instruction before it to that of its own last. It is 0
	// where the walk did not come.
	Cycles [][]float64
	// Executed is how often each block was executed and counted.
	Executed [][]uint64
	// Wrong is how many transfers were mispredicted.
	Wrong uint64
}

// Execute draws a walk by the model, executes it with each of the causes, and returns
// the times. It returns an error if the model is not of the program, or the program
// cannot be executed on the processor.
func (p *Program) Execute(ctx context.Context, m *Model, config pipeline.Config, with []Causes, opt Options) ([]*Times, error) {
	if err := m.check(p, &config); err != nil {
		return nil, err
	}
	opt = opt.or()
	walker := newWalker(p, m, &config.Memory, opt.Seed)
	walk := walker.stretches(opt.Stretches, opt.Warmup+opt.Counted)
	out := make([]*Times, len(with))
	for i, causes := range with {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = p.execute(walk, config, causes, walker.drawing.streams, opt); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// execute runs a walk through the processor.
func (p *Program) execute(walk []*stretch, config pipeline.Config, with Causes, streams int32, opt Options) (*Times, error) {
	length := uint64(opt.Warmup + opt.Counted)
	po := pipeline.Options{Warmup: uint64(opt.Warmup)}
	for i := range walk {
		po.Windows = append(po.Windows, pipeline.Window{From: uint64(i)*length + po.Warmup, To: uint64(i+1) * length})
	}
	sim, err := pipeline.New(p.graph.File.Target, p.plan, p.code, config, po)
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	for i, s := range walk {
		g := pipeline.Given{Outcomes: s.outcomes, Streams: streams}
		if with&Misses == 0 {
			g.Outcomes = make([]pipeline.Outcome, len(s.outcomes))
		}
		if with&Mispredictions != 0 {
			g.Wrong = s.wrong
		}
		batch := trace.Batch{Blocks: s.blocks, Accesses: s.accesses, Start: uint64(i) * length}
		if err := sim.ObserveGiven(&batch, &g); err != nil {
			return nil, err
		}
	}
	return p.times(sim.Result()), nil
}

// times attributes the result to the blocks of routines.
func (p *Program) times(r *pipeline.Result) *Times {
	out := &Times{Cycles: make([][]float64, len(p.ids)), Executed: make([][]uint64, len(p.ids)), Wrong: r.Mispredicts}
	for i, ids := range p.ids {
		out.Cycles[i], out.Executed[i] = make([]float64, len(ids)), make([]uint64, len(ids))
		for b, id := range ids {
			if id == notExecuted || r.BlockExecutions[id] == 0 {
				continue
			}
			out.Executed[i][b] = r.BlockExecutions[id]
			out.Cycles[i][b] = float64(r.BlockCycles[id]) / float64(r.BlockExecutions[id])
		}
	}
	return out
}
