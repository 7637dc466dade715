package timing

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/anatomy"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
)

// SimulateTimeOptions say how time is simulated and what the table tells.
type SimulateTimeOptions struct {
	subject.RunOptions
	// By is ByProgram, ByRoutine or ByLoop.
	By subject.Scope
	// Pipeline changes the processor before it is simulated, for what machine
	// descriptions do not say; nil for no change.
	Pipeline func(*pipeline.Config)
}

// simTimeRow is a row of the table of SimulateTime.
type simTimeRow struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	Machine      string             `frame:"machine"`
	Scope        string             `frame:"scope"`
	Instructions float64            `frame:"sim_instructions"`
	Cycles       float64            `frame:"sim_cycles"`
	Seconds      float64            `frame:"sim_time_sec"`
	CPI          float64            `frame:"sim_cpi"`
	Mispredicts  float64            `frame:"sim_mispredicts"`
	Stack        map[string]float64 `frame:",each"`
	Warning      string             `frame:"sim_time_warning"`
}

// storedTime is what the store holds of a run whose time was simulated.
type storedTime struct {
	Facts    subject.RunFacts
	Result   *pipeline.Result
	Warnings []string // Result.Warnings as text
}

// timeVersion is part of the key of a stored simulation of time: raise it when
// the meaning of pipeline.Result changes.
const timeVersion = 1

// SimulateTime runs prog at each point and simulates the machine's core and
// memory hierarchy on its instructions, in order or out of order: the reference
// that predicted times are held against. The table has a row for each point and
// scope, those that take longest first:
//
//   - sim_instructions, sim_cycles, sim_cpi; sim_time_sec by the core's
//     frequency, missing if that is not known
//   - sim_mispredicts: transfers of control; of the program
//   - sim_<part>_cycles: what the oldest instruction waited for, of the program:
//     base, branch, icache, frontend, latency, structural, TLB, and the level of
//     the hierarchy that answered; the parts add up to sim_cycles
//   - sim_time_warning: what was assumed that the description does not say
//
// A routine's time is without that of the routines it calls. What is of the
// program is missing in other rows. Results are kept in the store.
func SimulateTime(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateTimeOptions) (dataframe.DataFrame, error) {
	by, err := opt.By.Check()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	if by == subject.ByReference {
		return dataframe.DataFrame{}, fmt.Errorf("perf: times are of programs, routines and loops, not of references")
	}
	config, assumed, err := m.Pipeline()
	if err != nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: %w", err)
	}
	if opt.Pipeline != nil {
		opt.Pipeline(&config)
	}
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []simTimeRow
	for i, point := range points {
		s := TimeSimulation{prog: prog, machine: m, config: config, opt: opt, by: by, report: opt.Reporter(point, i, len(points))}
		fresh, err := s.rows(ctx, point, st, assumed)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		rows = append(rows, fresh...)
	}
	opt.Finished(len(points))
	return frame.Of(rows), nil
}

// TimeSimulation is the simulation of one run.
type TimeSimulation struct {
	prog    *subject.Program
	machine *machine.Machine
	config  pipeline.Config
	opt     SimulateTimeOptions
	by      subject.Scope
	report  func(uint64, bool)

	Structure *subject.Structure
	Code      [][]isa.Inst
	scopes    []int // by block of code
}

func (s *TimeSimulation) rows(ctx context.Context, point subject.Point, st *store.Store, assumed []string) ([]simTimeRow, error) {
	// Counting completes the graph by code that only a run shows.
	quiet := s.opt.RunOptions
	quiet.Progress = nil
	counts, err := anatomy.Count(ctx, s.prog, point, quiet)
	if err != nil {
		return nil, err
	}
	s.Structure = counts.Structure()
	s.Blocks()
	sim, err := s.load(ctx, point, st)
	if err != nil {
		return nil, err
	}
	warnings := slices.Concat(sim.Facts.Warnings, assumed, sim.Warnings)
	blank := simTimeRow{Program: s.prog.Name, Point: point, Machine: s.machine.Name, Warning: strings.Join(warnings, "; ")}
	return s.table(sim.Result, blank), nil
}

// Blocks lists the basic blocks of all routines by address, each once, with the
// scope of the first routine that it is in.
func (s *TimeSimulation) Blocks() {
	type block struct {
		insts []isa.Inst
		scope int
	}
	var all []block
	for i, r := range s.Structure.Graph.Routines {
		for b := range r.Blocks {
			if insts := r.Blocks[b].Insts; len(insts) > 0 {
				all = append(all, block{insts, s.Structure.Scopes.Of(i, b)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b block) int { return cmp.Compare(a.insts[0].PC, b.insts[0].PC) })
	all = slices.CompactFunc(all, func(a, b block) bool { return a.insts[0].PC == b.insts[0].PC })
	s.Code, s.scopes = nil, nil
	for _, b := range all {
		s.Code, s.scopes = append(s.Code, b.insts), append(s.scopes, b.scope)
	}
}

// load finds the simulation in the store, or runs it.
func (s *TimeSimulation) load(ctx context.Context, point subject.Point, st *store.Store) (*storedTime, error) {
	in, err := s.prog.Inputs(point, s.opt.RunOptions)
	if err != nil {
		return nil, err
	}
	plan, err := pipeline.Plan(s.Code)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", s.prog.Name, err)
	}
	key, err := store.NewKey("time", timeVersion, struct {
		Inputs subject.Inputs
		Plan   string
		Config pipeline.Config
	}{in, plan.Digest(), s.config})
	if err != nil {
		return nil, err
	}
	stored := true
	sim, warning, err := store.Memo(st, key, func() (*storedTime, error) {
		stored = false
		s.report(0, false)
		simulator, err := pipeline.New(s.prog.File.Target, plan, s.Code, s.config, pipeline.Options{})
		if err != nil {
			return nil, err
		}
		facts, err := s.prog.Execute(ctx, in, plan, func(n uint64) { s.report(n, false) }, simulator)
		if err != nil {
			return nil, err
		}
		out := &storedTime{Facts: facts, Result: simulator.Result()}
		for _, w := range out.Result.Warnings {
			out.Warnings = append(out.Warnings, w.Error())
		}
		out.Result.Warnings = nil // an error cannot be stored
		return out, nil
	})
	if stored {
		s.report(0, true)
	}
	if err == nil && warning != nil {
		sim.Warnings = append(sim.Warnings, warning.Error())
	}
	return sim, err
}

// table turns a result into rows.
func (s *TimeSimulation) table(r *pipeline.Result, blank simTimeRow) []simTimeRow {
	if s.by == subject.ByProgram {
		row := blank
		row.Scope, row.Instructions, row.Cycles = s.prog.Name, float64(r.Instructions), float64(r.Cycles)
		row.Mispredicts, row.Stack = float64(r.Mispredicts), s.stack(&r.Stack)
		return []simTimeRow{s.complete(row)}
	}
	tree := s.Structure.Scopes
	rows := make([]simTimeRow, len(tree.Scopes))
	for i := range rows {
		rows[i] = blank
		rows[i].Scope, rows[i].Mispredicts = tree.Scopes[i].Path, math.NaN()
	}
	for b, scope := range s.scopes {
		rows[scope].Cycles += float64(r.BlockCycles[b])
		rows[scope].Instructions += float64(r.BlockExecutions[b]) * float64(len(s.Code[b]))
	}
	for i := len(rows) - 1; i > 0; i-- { // scopes come after those around them
		around := &rows[tree.Scopes[i].Parent]
		around.Cycles += rows[i].Cycles
		around.Instructions += rows[i].Instructions
	}
	var out []simTimeRow
	for i := range rows {
		routine := slices.Contains(s.Structure.OfRoutine, i)
		if i > 0 && rows[i].Instructions > 0 && routine == (s.by == subject.ByRoutine) {
			out = append(out, s.complete(rows[i]))
		}
	}
	slices.SortStableFunc(out, func(a, b simTimeRow) int { return cmp.Compare(b.Cycles, a.Cycles) })
	return out
}

func (s *TimeSimulation) complete(r simTimeRow) simTimeRow {
	r.Seconds = math.NaN()
	if hz := float64(s.machine.Frequency); hz > 0 {
		r.Seconds = r.Cycles / hz
	}
	r.CPI = num.Ratio(r.Cycles, r.Instructions)
	return r
}

// stack names the parts of the cycles.
func (s *TimeSimulation) stack(c *pipeline.Stack) map[string]float64 {
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
