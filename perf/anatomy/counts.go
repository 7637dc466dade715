package anatomy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/frame"
	"presage/perf/internal/num"
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

	// Saved tells what placing counters on few edges saved.
	Saved cfg.Savings

	structure *subject.Structure // with what the run showed of indirect jumps
	Recovered *cfg.Counts
}

// flowVersion is part of the key of stored counts, beside the engine and the
// counters of the first run: raise it when the meaning of what is stored
// changes.
const flowVersion = 2

// StoredFlow is what the store holds of a counted run: what its counters
// showed, and what those of runs before it showed that its graph was completed
// with.
type StoredFlow struct {
	Facts   subject.RunFacts
	Earlier []*trace.Flow
	Plan    string // digest of the counters of Flow
	Flow    *trace.Flow
}

// errStale says that stored counts are of other counters than would be placed
// now.
var errStale = errors.New("counted by another version")

// maxRounds bounds how often a program is run to find all of its code: each
// time, what only indirect jumps lead to has been learned of.
const maxRounds = 8

// Count runs prog at a point and counts how often every block and edge was
// executed. Code that static analysis did not foresee, such as handlers of
// exceptions, is learned of from a first run and counted in another. A program
// that fails, by exit status, panic or fault, is counted up to there, with a
// warning. The result is kept in the store.
func Count(ctx context.Context, prog *subject.Program, point subject.Point, opt subject.RunOptions) (*Counts, error) {
	in, err := prog.Inputs(point, opt)
	if err != nil {
		return nil, err
	}
	return CountInputs(prog, ctx, point, in, opt)
}

// CountInputs is Count for the inputs of a run.
func CountInputs(p *subject.Program, ctx context.Context, point subject.Point, in subject.Inputs, opt subject.RunOptions) (*Counts, error) {
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	key, err := CountKey(p, in)
	if err != nil {
		return nil, err
	}
	report := opt.Reporter(point, 0, 1)
	stored := true
	run := func() (*StoredFlow, error) {
		stored = false
		return runCounters(p, ctx, in, func(n uint64) { report(n, false) })
	}
	flow, warning, err := store.Memo(st, key, run)
	if err != nil {
		return nil, err
	}
	counts, err := recoverCounts(p, flow)
	if errors.Is(err, errStale) {
		if flow, err = run(); err != nil {
			return nil, err
		}
		warning = st.Save(key, flow)
		counts, err = recoverCounts(p, flow)
	}
	if err != nil {
		return nil, err
	}
	if stored {
		report(0, true)
	}
	opt.Finished(1)
	counts.Point = point
	if warning != nil {
		counts.Warnings = append(counts.Warnings, warning.Error())
	}
	return counts, nil
}

// CountKey returns the key of stored counts.
func CountKey(p *subject.Program, in subject.Inputs) (store.Key, error) {
	first := trace.Plan{Flow: cfg.PlaceCounters(p.Structure().Graph).Plan}
	return store.NewKey("flow", flowVersion, struct {
		Inputs subject.Inputs
		Plan   string
	}{in, first.Digest()})
}

// count runs the program until its graph foresees all that is executed.
func runCounters(p *subject.Program, ctx context.Context, in subject.Inputs, progress func(uint64)) (*StoredFlow, error) {
	out := new(StoredFlow)
	graph := p.Structure().Graph
	for {
		counters := cfg.PlaceCounters(graph)
		plan := &trace.Plan{Flow: counters.Plan}
		facts, res, err := p.Attempt(ctx, in, plan, progress)
		if err != nil {
			return nil, err
		}
		facts.WarnFailed(in.Command(), "the counts are of what it did until then")
		out.Facts, out.Plan, out.Flow = facts, plan.Digest(), res.Flow
		_, err = counters.Recover(res.Flow)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, cfg.ErrUnforeseen) || len(out.Earlier) == maxRounds {
			return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
		}
		out.Earlier = append(out.Earlier, res.Flow)
		graph = graph.Complete(res.Flow)
	}
}

// recover finds all counts from the counters of a run.
func recoverCounts(p *subject.Program, flow *StoredFlow) (*Counts, error) {
	s := p.Structure()
	graph := s.Graph
	for _, earlier := range flow.Earlier {
		graph = graph.Complete(earlier)
	}
	counters := cfg.PlaceCounters(graph)
	if plan := (trace.Plan{Flow: counters.Plan}); plan.Digest() != flow.Plan {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, errStale)
	}
	recovered, err := counters.Recover(flow.Flow)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	if graph != s.Graph {
		s = subject.NewStructure(graph)
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

// Structure returns what static analysis found, completed with what the run
// showed of indirect jumps.
func (c *Counts) Structure() *subject.Structure { return c.structure }

// executions returns how often a reference was executed.
func (c *Counts) executions(ref int) uint64 {
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
			sum += c.executions(i)
		}
	}
	return sum
}

// EdgeOptions say which edges a table has, and in which order.
type EdgeOptions struct {
	// Routine keeps the edges of one routine, named as in the table of
	// routines; empty: all.
	Routine string
	// ByFrequency puts the edges first that were taken most; the default order
	// is by place: routine, and block in the routine.
	ByFrequency bool
	// Least prunes edges that were taken less often than this share of all
	// executions of edges; 0 keeps all that were taken.
	Least float64
}

// EdgeCounts returns how often edges were taken (2004, section 2.3.1: sorted by
// location or by frequency, pruned at a significance threshold): a row for each
// that was.
//
//   - routine, loop (the innermost scope of where the edge begins, empty for
//     none)
//   - from_pc, to_pc: the last instruction before and the first after;
//     file, line of the former
//   - kind: falls, taken, jumps, table, call returns, restarts
//   - back: the edge leads back to the header of a loop
//   - executions, and their share of all edges' in the run
func EdgeCounts(c *Counts, opt EdgeOptions) (dataframe.DataFrame, error) {
	type row struct {
		Routine string  `frame:"routine"`
		Loop    string  `frame:"loop"`
		From    string  `frame:"from_pc"`
		To      string  `frame:"to_pc"`
		File    string  `frame:"file"`
		Line    int     `frame:"line"`
		Kind    string  `frame:"kind"`
		Back    bool    `frame:"back"`
		N       uint64  `frame:"executions"`
		Share   float64 `frame:"share"`
	}
	if opt.Least < 0 || opt.Least > 1 || opt.Least != opt.Least {
		return dataframe.DataFrame{}, fmt.Errorf("perf: a least share of %g: want 0 to 1", opt.Least)
	}
	s, only, err := chosen(c.Program, c, opt.Routine)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var total uint64
	for i := range c.Recovered.Routines {
		for _, n := range c.Recovered.Routines[i].Edges {
			total += n
		}
	}
	var rows []row
	for i, r := range s.Graph.Routines {
		if only >= 0 && i != only {
			continue
		}
		back := make(map[int]bool)
		for l := range r.Loops {
			for _, e := range r.Loops[l].Back {
				back[e] = true
			}
		}
		for e, n := range c.Recovered.Routines[i].Edges {
			share := num.Ratio(float64(n), float64(total))
			if n == 0 || share < opt.Least {
				continue
			}
			edge := r.Edges[e]
			last := r.Blocks[edge.From].Last()
			row := row{
				Routine: s.Scopes.Scopes[s.OfRoutine[i]].Path, Loop: loopOf(s, i, edge.From),
				From: fmt.Sprintf("%#x", last.PC), To: fmt.Sprintf("%#x", r.Blocks[edge.To].PC()),
				Kind: edge.Kind.String(), Back: back[e], N: n, Share: share,
			}
			if line, ok := s.Graph.File.LineAt(last.PC); ok {
				row.File, row.Line = line.File, line.Line
			}
			rows = append(rows, row)
		}
	}
	if opt.ByFrequency {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.N, a.N) })
	}
	return frame.Of(rows), nil
}

// loopOf names the innermost loop that holds a block; empty for none.
func loopOf(s *subject.Structure, routine, block int) string {
	if scope := &s.Scopes.Scopes[s.Scopes.Of(routine, block)]; scope.Kind == cfg.LoopScope {
		return scope.Path
	}
	return ""
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

// loops adds to rows of loops how often they were executed.
func (c *Counts) loops(rows []loopRow) dataframe.DataFrame {
	executed := c.byScope()
	slices.SortStableFunc(rows, func(a, b loopRow) int { return cmp.Compare(executed[b.scope], executed[a.scope]) })
	columns := make(map[string][]float64)
	put := func(name string, v float64) { columns[name] = append(columns[name], v) }
	for _, row := range rows {
		entries, iterations := c.trips(row.scope)
		put("entries", float64(entries))
		put("iterations", float64(iterations))
		put("trip_count", num.Ratio(float64(iterations), float64(entries)))
		put("executed_instructions", float64(executed[row.scope]))
		put("share", num.Ratio(float64(executed[row.scope]), float64(executed[0])))
	}
	df := frame.Of(rows)
	for _, name := range []string{"entries", "iterations", "trip_count", "executed_instructions", "share"} {
		df = frame.WithFloats(df, name, columns[name])
	}
	return df
}

// trips returns how often control came to a loop from outside and how many
// iterations it made, over the object-code loops that it consists of: the
// executions of its header, less those that left the loop there, unless the
// header is its end, too.
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
