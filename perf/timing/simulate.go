package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/anatomy"
	"presage/perf/campaign"
	"presage/perf/internal/num"
	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// SimulateOptions configures Simulate.
type SimulateOptions struct {
	subject.RunOptions
	// By is ByProgram, ByRoutine or ByLoop.
	By subject.Scope
	// Exclusive and Listing are as in PredictOptions.
	Exclusive bool
	Listing   subject.Listing
	// Pipeline, if not nil, changes the processor before it is simulated, for what
	// machine descriptions do not cover.
	Pipeline func(*pipeline.Config)
	// Prefetching simulates the machine's prefetchers, too; machine.ErrNoPrefetchers if the
	// description has none.
	Prefetching bool
	// Sampled, if not nil, simulates intervals of a run and estimates its time from them.
	// Rows then have a time alone, without what it is spent on: By is ByProgram and
	// Prefetching false.
	Sampled *Sampling
}

// check returns an error for options that contradict each other.
func (opt *SimulateOptions) check() error {
	switch {
	case opt.By == subject.ByReference:
		return errByReference
	case opt.Sampled == nil:
	case opt.Sampled.Intervals < 0, opt.Sampled.Intervals == 1:
		return opt.Sampled.tooFew()
	case opt.By != subject.ByProgram:
		return fmt.Errorf("perf: times %s by sampled intervals: an interval meets few routines, and most of them never: leave out the intervals, or ask for the whole program", opt.By)
	case opt.Prefetching:
		return errors.New("perf: sampled intervals with prefetchers, which do not learn while caches are kept up between intervals: leave out one of the two")
	}
	return opt.Listing.Check()
}

// pipeline returns the processor that is simulated.
func (opt *SimulateOptions) pipeline(m *machine.Machine) (*machine.PipelineConfig, error) {
	of := m.Pipeline
	if opt.Prefetching {
		of = m.Fetching
	}
	config, err := of()
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	if opt.Pipeline != nil {
		opt.Pipeline(&config.Config)
	}
	return config, nil
}

// SimulatedRow is the time of a scope on a machine, as simulated at a point. A
// routine's time is without that of the routines it calls, a loop's with the loops
// inside it unless SimulateOptions.Exclusive is set.
type SimulatedRow struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	Machine      string             `frame:"machine"`
	Scope        string             `frame:"scope"`
	Instructions float64            `frame:"sim_instructions"`
	Cycles       float64            `frame:"sim_cycles"`
	Seconds      float64            `frame:"sim_time_sec"`    // by the core's frequency; missing if that is not known
	CPI          float64            `frame:"sim_cpi"`         // cycles for each instruction
	Mispredicts  float64            `frame:"sim_mispredicts"` // transfers of control; missing unless the scope is the program
	// Stack is what the oldest instruction waited for, by the name of the column,
	// sim_<part>_cycles: base, branch, icache, frontend, latency, structural, TLB,
	// and the level of the hierarchy that answered. The parts add up to Cycles;
	// there are none unless the scope is the program.
	Stack map[string]float64 `frame:",each"`
	// Prefetched is what prefetchers do at each level, as sim_<level>_demand_misses, those
	// that they leave, sim_<level>_covered_misses, sim_<level>_late_misses and
	// sim_<level>_late_cycles: see pipeline.LevelCounts. None unless they are simulated and
	// the scope is the program.
	Prefetched map[string]float64 `frame:",each"`
	// Sampled is none unless intervals of the run were simulated (SimulateOptions.Sampled),
	// and Cycles, Seconds and CPI are estimates: sim_cycles_low and sim_cycles_high, between
	// which the cycles of a whole simulation are with a confidence of 95%, sim_intervals,
	// sim_share, the share of the instructions that were counted in intervals, and
	// sim_recorded_share, that of those recorded for it, histories and leads among them.
	// Mispredicts is missing then, and there is no Stack.
	Sampled map[string]float64 `frame:",each"`
	Warning string             `frame:"sim_time_warning"` // what was assumed that the machine's description does not say
}

// storedTime is what the store holds of a run whose time was simulated.
type storedTime struct {
	Facts    subject.Facts
	Result   *pipeline.Result
	Warnings []string // Result.Warnings as text
}

// timeVersion is part of the key of a stored simulation of time: raise it when
// the meaning of pipeline.Result changes.
const timeVersion = 2

// Simulate runs prog at each point and simulates the machine's core and memory
// hierarchy on its instructions, in order or out of order: the reference that
// predicted times are held against. There is a row for each point and scope, those
// that take longest first. Results are kept in the store.
//
// prog is nil if the options have Binaries: scopes are then those of each
// executable.
func Simulate(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]SimulatedRow, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	if opt.By, err = opt.By.Check(); err != nil {
		return nil, err
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	config, err := opt.pipeline(m)
	if err != nil {
		return nil, err
	}
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	tasks := make([]campaign.Task[[]SimulatedRow], len(points))
	for i, p := range sweep.Points {
		loaded, err := p.Program.At(ctx, p.Point, opt.RunOptions)
		if err != nil {
			return nil, err
		}
		s := simulation{name: sweep.Name, prog: loaded.Program, machine: m, in: loaded.Inputs, config: config.Config, of: part{opt.By, opt.Exclusive}, list: opt.Listing, sampling: opt.Sampled}
		tasks[i] = campaign.Task[[]SimulatedRow]{
			Job: func() (campaign.Job, error) { return s.job(p.Point, opt.Store) },
			Collect: func(ctx context.Context) ([]SimulatedRow, error) {
				return s.rows(ctx, subject.Step{Options: &opt.RunOptions, Point: p.Point, Done: i, Total: len(points)}, config.Assumed)
			},
		}
	}
	all, err := campaign.Map(ctx, opt.Campaign, opt.Store, opt.Progress, tasks)
	if err != nil {
		return nil, err
	}
	opt.Progress.Finish(len(points))
	return slices.Concat(all...), nil
}

// Code returns the basic blocks of all routines of a structure by address, each
// once: what package pipeline and others simulate.
func Code(s *subject.Structure) [][]isa.Inst {
	var code [][]isa.Inst
	for _, b := range blocksOf(s) {
		code = append(code, b.insts)
	}
	return code
}

// block is a basic block with the scope of the first routine that it is in.
type block struct {
	insts []isa.Inst
	scope int
}

// blocksOf returns the basic blocks of all routines by address, each once.
func blocksOf(s *subject.Structure) []block {
	var all []block
	for i, r := range s.Graph.Routines {
		for b := range r.Blocks {
			if insts := r.Blocks[b].Insts; len(insts) > 0 {
				all = append(all, block{insts, s.Scopes.Of(i, b)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b block) int { return cmp.Compare(a.insts[0].PC, b.insts[0].PC) })
	return slices.CompactFunc(all, func(a, b block) bool { return a.insts[0].PC == b.insts[0].PC })
}

// simulation simulates runs of a program on a machine.
type simulation struct {
	name    string // of the program, in tables
	prog    *subject.Program
	machine *machine.Machine
	in      subject.Inputs
	config  pipeline.Config
	of      part
	list    subject.Listing

	sampling *Sampling // nil: all of a run
}

func (s *simulation) rows(ctx context.Context, step subject.Step, assumed []string) ([]SimulatedRow, error) {
	counts, sim, err := s.simulated(ctx, step)
	if err != nil {
		return nil, err
	}
	warnings := slices.Concat(sim.Facts.Warnings, assumed, sim.Warnings)
	blank := SimulatedRow{Program: s.name, Point: step.Point, Machine: s.machine.Name, Warning: strings.Join(warnings, "; ")}
	switch {
	case s.sampling != nil:
		row, err := s.sampled(sim, counts.Instructions, blank)
		return []SimulatedRow{row}, err
	case s.of.by == subject.ByProgram:
		return []SimulatedRow{s.whole(sim.Result, blank)}, nil
	}
	return s.parts(counts.Structure(), sim.Result, blank), nil
}

// simulated returns the simulation of a run, and its counts, with the structure that its
// blocks are of.
func (s *simulation) simulated(ctx context.Context, step subject.Step) (*anatomy.Counts, *storedTime, error) {
	// Counting completes the graph by code that only a run shows.
	counts, err := anatomy.CountInputs(ctx, s.prog, s.in, subject.RunOptions{Store: step.Options.Store})
	if err != nil {
		return nil, nil, err
	}
	sim, err := s.load(ctx, step, counts)
	return counts, sim, err
}

// load returns the simulation of a run, from the store if it is there.
func (s *simulation) load(ctx context.Context, step subject.Step, counts *anatomy.Counts) (*storedTime, error) {
	code := Code(counts.Structure())
	plan, err := pipeline.Plan(code)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", s.prog.Name, err)
	}
	var memo store.Memoized[*storedTime]
	if s.sampling != nil {
		memo, err = s.memoSampled(ctx, step, plan, code, counts.Instructions)
	} else {
		memo, err = subject.Memo(step, "time", timeVersion, struct {
			Inputs subject.Inputs
			Plan   string
			Config pipeline.Config
		}{s.in, plan.Digest(), s.config}, func(running func(uint64)) (*storedTime, error) {
			return s.run(ctx, plan, code, pipeline.Options{}, nil, running)
		})
	}
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Warnings = append(memo.Value.Warnings, memo.Warning)
	}
	return memo.Value, nil
}

// run simulates the core on the stretches of a run, all of it if there are none.
func (s *simulation) run(ctx context.Context, plan *trace.Plan, code [][]isa.Inst, opt pipeline.Options, stretches []trace.Window, running func(uint64)) (*storedTime, error) {
	simulator, err := pipeline.New(s.prog.File.Target, plan, code, s.config, opt)
	if err != nil {
		return nil, err
	}
	res, err := s.prog.Run(ctx, subject.Request{Inputs: s.in, Plan: plan, Windows: stretches, Collectors: []trace.Collector{simulator}, Progress: running})
	if err != nil {
		return nil, err
	}
	out := &storedTime{Facts: res.Facts, Result: simulator.Result()}
	for _, w := range out.Result.Warnings {
		out.Warnings = append(out.Warnings, w.Error())
	}
	out.Result.Warnings = nil // an error cannot be stored
	return out, nil
}

// whole returns the row of the program.
func (s *simulation) whole(r *pipeline.Result, row SimulatedRow) SimulatedRow {
	row.Scope, row.Instructions, row.Cycles = s.name, float64(r.Instructions), float64(r.Cycles)
	row.Mispredicts, row.Stack = float64(r.Mispredicts), s.stack(&r.Stack)
	if len(s.config.Memory.Prefetchers) > 0 {
		row.Prefetched = s.prefetched(r.Levels)
	}
	return s.complete(row)
}

// parts returns the rows of routines or loops.
func (s *simulation) parts(structure *subject.Structure, r *pipeline.Result, blank SimulatedRow) []SimulatedRow {
	at := placesOf(structure)
	rows := make([]SimulatedRow, len(at.paths))
	for i := range rows {
		rows[i] = blank
		rows[i].Scope, rows[i].Mispredicts = at.paths[i], math.NaN()
	}
	rows[0].Scope = s.name
	for b, block := range blocksOf(structure) {
		rows[block.scope].Cycles += float64(r.BlockCycles[b])
		rows[block.scope].Instructions += float64(r.BlockExecutions[b]) * float64(len(block.insts))
	}
	for i := len(rows) - 1; i > 0; i-- { // scopes come after those around them
		if s.of.joins(at, i) {
			around := &rows[at.parent[i]]
			around.Cycles += rows[i].Cycles
			around.Instructions += rows[i].Instructions
		}
	}
	var out []SimulatedRow
	for i := range rows {
		if rows[i].Instructions > 0 && s.of.wanted(at, i) {
			out = append(out, s.complete(rows[i]))
		}
	}
	slices.SortStableFunc(out, func(a, b SimulatedRow) int { return cmp.Compare(b.Cycles, a.Cycles) })
	return s.listed(out)
}

// complete adds what follows from the cycles.
func (s *simulation) complete(r SimulatedRow) SimulatedRow {
	r.Seconds = math.NaN()
	if hz := float64(s.machine.Frequency); hz > 0 {
		r.Seconds = r.Cycles / hz
	}
	r.CPI = num.Ratio(r.Cycles, r.Instructions)
	return r
}

// stack names the parts of the cycles.
func (s *simulation) stack(c *pipeline.Stack) map[string]float64 {
	parts := map[string]float64{
		"base": float64(c.Base), "branch": float64(c.Branch), "icache": float64(c.ICache), "frontend": float64(c.Frontend),
		"latency": float64(c.Latency), "structural": float64(c.Structural), "TLB": float64(c.TLB),
	}
	for i, n := range c.Levels {
		name := "memory"
		if i < len(s.config.Memory.Levels) {
			name = strings.ReplaceAll(s.config.Memory.Levels[i].Name, " ", "_")
		}
		parts[name] += float64(n)
	}
	out := make(map[string]float64, len(parts))
	for name, n := range parts {
		out["sim_"+name+"_cycles"] = n
	}
	return out
}

// prefetched names what prefetchers do.
func (s *simulation) prefetched(levels []pipeline.LevelCounts) map[string]float64 {
	out := make(map[string]float64)
	for i := range levels {
		c := &levels[i]
		name := "sim_" + strings.ReplaceAll(s.config.Memory.Levels[i].Name, " ", "_")
		out[name+"_demand_misses"] = float64(c.Misses)
		out[name+"_covered_misses"] = float64(c.PrefetchHits - c.Late)
		out[name+"_late_misses"] = float64(c.Late)
		out[name+"_late_cycles"] = float64(c.LateCycles)
	}
	return out
}
