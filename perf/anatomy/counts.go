package anatomy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/campaign"
	"presage/perf/cfg"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Counts is how often every block and edge of a program was executed in a run,
// recovered from counters on the edges off a spanning tree (2004, section
// 2.2.1).
type Counts struct {
	Program      *subject.Program
	Point        subject.Point
	Args         []string
	Instructions uint64 // executed by the program, its threads together
	Stdout       string // the end of what the program printed
	Warnings     []string

	// Saved is what placing counters on few edges saved.
	Saved cfg.Savings

	// Recovered are the executions of each block and edge of Structure().Graph.
	Recovered *cfg.Counts

	structure *subject.Structure
	inputs    subject.Inputs
}

// Structure returns what static analysis found, completed with what the run
// showed of indirect jumps.
func (c *Counts) Structure() *subject.Structure { return c.structure }

// flowVersion is part of the key of stored counts, beside the engine's version
// and the counters of the first run: raise it when the meaning of what is stored
// changes.
const flowVersion = 2

// storedFlow is what the store holds of a counted run: what its counters
// showed, and what those of the runs before it showed, by which its graph was
// completed.
type storedFlow struct {
	Facts   subject.Facts
	Earlier []*trace.Flow
	Plan    string // digest of the counters of Flow
	Flow    *trace.Flow
}

// flowInputs are what a storedFlow depends on.
type flowInputs struct {
	Inputs subject.Inputs
	Plan   string // digest of the counters of the first run
}

func flowInputsOf(p *subject.Program, in subject.Inputs) flowInputs {
	first := trace.Plan{Flow: p.Structure().Counters().Plan}
	return flowInputs{in, first.Digest()}
}

// errStale is the error of stored counts whose counters are not the ones that
// would be placed now.
var errStale = errors.New("counted by another version")

// maxRounds bounds how often a program is run to find all of its code: each run
// shows where further indirect jumps lead.
const maxRounds = 8

// Count runs prog at a point and counts how often every block and edge was
// executed. Code that static analysis did not foresee, such as handlers of
// exceptions, is found in a first run and counted in another. A program that
// fails, by exit status, panic or fault, is counted up to there, with a warning.
// The result is kept in the store.
func Count(ctx context.Context, prog *subject.Program, point subject.Point, opt subject.RunOptions) (*Counts, error) {
	in, err := prog.Inputs(point, opt)
	if err != nil {
		return nil, err
	}
	c, err := countStep(ctx, prog, in, subject.Step{Options: &opt, Point: point, Total: 1})
	if err == nil {
		opt.Progress.Finish(1)
	}
	return c, err
}

// CountSweep counts at each point, as Count does at one. prog is nil if the options
// have Binaries.
func CountSweep(ctx context.Context, prog *subject.Program, points []subject.Point, opt subject.RunOptions) ([]*Counts, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt = sweep.Options
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	tasks := make([]campaign.Task[*Counts], len(points))
	for i, p := range sweep.Points {
		in, err := p.Program.Inputs(p.Point, opt)
		if err != nil {
			return nil, err
		}
		tasks[i] = campaign.Task[*Counts]{
			Job: func() (campaign.Job, error) { return countJob(p, in, opt.Store) },
			Collect: func(ctx context.Context) (*Counts, error) {
				return countStep(ctx, p.Program, in, subject.Step{Options: &opt, Point: p.Point, Done: i, Total: len(points)})
			},
		}
	}
	all, err := campaign.Map(ctx, opt.Campaign, opt.Store, opt.Progress, tasks)
	if err != nil {
		return nil, err
	}
	opt.Progress.Finish(len(points))
	return all, nil
}

// CountInputs counts a run with the inputs in, as Count does. RunOptions.Args is
// not used; the Counts have no Point.
func CountInputs(ctx context.Context, prog *subject.Program, in subject.Inputs, opt subject.RunOptions) (*Counts, error) {
	c, err := countStep(ctx, prog, in, subject.Step{Options: &opt, Total: 1})
	if err == nil {
		opt.Progress.Finish(1)
	}
	return c, err
}

func countStep(ctx context.Context, p *subject.Program, in subject.Inputs, step subject.Step) (*Counts, error) {
	loaded, err := p.Loaded(ctx, in, *step.Options)
	if err != nil {
		return nil, err
	}
	p, in = loaded.Program, loaded.Inputs
	inputs := flowInputsOf(p, in)
	memo, err := subject.Memo(step, "flow", flowVersion, inputs, func(running func(uint64)) (*storedFlow, error) {
		return runCounters(ctx, p, in, running)
	})
	if err != nil {
		return nil, err
	}
	counts, err := recoverCounts(p, memo.Value)
	if errors.Is(err, errStale) {
		memo, err = recount(ctx, p, in, step, inputs)
		if err != nil {
			return nil, err
		}
		counts, err = recoverCounts(p, memo.Value)
	}
	if err != nil {
		return nil, err
	}
	counts.Point, counts.inputs = step.Point, in
	if memo.Warning != "" {
		counts.Warnings = append(counts.Warnings, memo.Warning)
	}
	return counts, nil
}

// recount counts again what the store holds in a form that is no longer usable.
func recount(ctx context.Context, p *subject.Program, in subject.Inputs, step subject.Step, inputs flowInputs) (memo store.Memoized[*storedFlow], err error) {
	st, err := store.OrDefault(step.Options.Store)
	if err != nil {
		return memo, err
	}
	key, err := store.NewKey("flow", flowVersion, inputs)
	if err != nil {
		return memo, err
	}
	if memo.Value, err = runCounters(ctx, p, in, nil); err != nil {
		return memo, err
	}
	if err := st.Save(key, memo.Value); err != nil {
		memo.Warning = err.Error()
	}
	return memo, nil
}

// runCounters runs the program until its graph foresees all that is executed.
func runCounters(ctx context.Context, p *subject.Program, in subject.Inputs, running func(uint64)) (*storedFlow, error) {
	out := new(storedFlow)
	graph, counters := p.Structure().Graph, p.Structure().Counters()
	for {
		plan := &trace.Plan{Flow: counters.Plan}
		res, err := p.Run(ctx, subject.Request{Inputs: in, Plan: plan, Progress: running, MayFail: true})
		if err != nil {
			return nil, err
		}
		res.WarnFailed(in.Command(), "the counts are of what it did until then")
		out.Facts, out.Plan, out.Flow = res.Facts, plan.Digest(), res.Flow
		_, err = counters.Recover(res.Flow)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, cfg.ErrUnforeseen) || len(out.Earlier) == maxRounds {
			return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
		}
		out.Earlier = append(out.Earlier, res.Flow)
		graph = graph.Complete(res.Flow)
		counters = cfg.PlaceCounters(graph)
	}
}

// recoverCounts returns all counts, from the counters of a run.
func recoverCounts(p *subject.Program, flow *storedFlow) (*Counts, error) {
	s := p.Completed(flow.Earlier)
	counters := s.Counters()
	if plan := (trace.Plan{Flow: counters.Plan}); plan.Digest() != flow.Plan {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, errStale)
	}
	recovered, err := counters.Recover(flow.Flow)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	f := flow.Facts
	c := &Counts{
		Program: p, Args: f.Args, Instructions: f.Instructions, Stdout: f.Stdout, Warnings: slices.Clone(f.Warnings),
		structure: s, Recovered: recovered,
	}
	for _, w := range recovered.Warnings {
		c.Warnings = append(c.Warnings, w.Error())
	}
	c.Saved = counters.Savings(flow.Flow, recovered)
	return c, nil
}

// executions returns how often a reference of the completed structure was
// executed.
func (c *Counts) executions(ref subject.Ref) uint64 {
	r := &c.structure.Access.All[ref]
	if !r.InGraph {
		return 0
	}
	routine := c.structure.Graph.Routines[r.RoutineIndex]
	for k, n := range c.Recovered.Routines[r.RoutineIndex].Insts(nil, routine, r.Block) {
		if routine.Blocks[r.Block].Insts[k].PC == uint64(r.PC) {
			return n
		}
	}
	return 0
}

// Stack returns how many accesses were traffic of the stack.
func (c *Counts) Stack() uint64 {
	var sum uint64
	for i := range c.structure.Access.All {
		if c.structure.Access.All[i].Stack != access.NotStack {
			sum += c.executions(subject.Ref(i))
		}
	}
	return sum
}

// byScope returns how many instructions were executed in each scope and those
// inside it.
func (c *Counts) byScope() []uint64 {
	s := c.structure
	executed := make([]uint64, len(s.Scopes.Scopes))
	for i, r := range s.Graph.Routines {
		var insts []uint64
		for b := range r.Blocks {
			insts = c.Recovered.Routines[i].Insts(insts, r, b)
			for _, n := range insts {
				executed[s.Scopes.Of(i, b)] += n
			}
		}
	}
	for i := len(executed) - 1; i > 0; i-- {
		executed[s.Scopes.Scopes[i].Parent] += executed[i]
	}
	return executed
}

// trips returns how often control came to a loop from outside and how many
// iterations it made, summed over its object-code loops: the executions of the
// header, except those that left the loop there, unless the loop also ends in its
// header.
func (c *Counts) trips(scope int) (entries, iterations uint64) {
	s := &c.structure.Scopes.Scopes[scope]
	r := c.structure.Graph.Routines[s.Routine]
	counts := &c.Recovered.Routines[s.Routine]
	for _, l := range s.Loops {
		loop := &r.Loops[l]
		n := counts.Blocks[loop.Header]
		iterations += n
		atEnd := false
		for _, e := range loop.Back {
			n -= min(n, counts.Edges[e])
			atEnd = atEnd || r.Edges[e].From == loop.Header
		}
		entries += n
		for _, e := range loop.Exit {
			if r.Edges[e].From == loop.Header && !atEnd {
				iterations -= min(iterations, counts.Edges[e])
			}
		}
	}
	return entries, iterations
}
