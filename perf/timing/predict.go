package timing

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/anatomy"
	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/sched"
	"presage/perf/subject"
	"presage/perf/trace"
)

// TimeOptions say how execution times are predicted and what the table tells.
type TimeOptions struct {
	// By is ByProgram, ByRoutine or ByLoop.
	By subject.Scope

	// Reschedule puts instructions into the best order found for the core, as a
	// compiler for it could; otherwise the core executes the binary as it is.
	Reschedule bool
	// Pessimistic takes memory references that are not understood for dependent.
	Pessimistic bool

	// FixedExposure has misses waited for by the shares of latencies that the
	// machine's description states, the papers' formula (2004, section 3.2). The
	// default takes what the code and the core overlap from the schedule (see
	// predict.Work.WaitOverlapped), in caches of loads only, as stores are written
	// while execution goes on, and less of loads that go through memory block by
	// block if the description says what prefetching leaves of those; and adds what wrong predictions of branches cost (see
	// sched.Mispredictions).
	FixedExposure bool
}

// timeRow is a row of the tables of Schedule and PredictTime.
type timeRow struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	Machine      string             `frame:"machine"`
	Scope        string             `frame:"scope"`
	Instructions float64            `frame:"pred_instructions"`
	Schedule     float64            `frame:"pred_schedule_cycles"`
	Branch       float64            `frame:"pred_branch_wait_cycles"`
	Waits        map[string]float64 `frame:",each"`
	Cycles       float64            `frame:"pred_cycles"`
	Seconds      float64            `frame:"pred_time_sec"`
	CPI          float64            `frame:"pred_cpi"`
	Limit        string             `frame:"pred_limit"`
	Warning      string             `frame:"pred_warning"`
}

// PredictTime predicts the execution time of a program on a machine at each
// point (2004, sections 2.4 and 3.2): paths with their modelled frequencies,
// scheduled for the machine's core with every access a hit in the first cache,
// and what misses add to that. model and execution are of the same program. The
// table has a row for each point and scope, those that take longest first:
//
//   - pred_instructions: executed
//   - pred_schedule_cycles: if all accesses hit
//   - pred_branch_wait_cycles: that wrong predictions of branches add
//   - pred_<level>_wait_cycles: that misses of a cache or TLB add
//   - pred_cycles: the sum; pred_time_sec: by the core's frequency, missing if
//     that is not known; pred_cpi: cycles for each instruction
//   - pred_limit: what limits the schedule of the path that takes most of it
//   - pred_warning: latencies that are not known and cost nothing, classes of
//     instructions that the core does not describe
//
// A routine's time is without that of the routines it calls, a loop's with the
// loops inside it.
func PredictTime(ctx context.Context, model *misses.Model, execution *ExecutionModel, m *machine.Machine, points []subject.Point, opt TimeOptions) (dataframe.DataFrame, error) {
	if prog := model.Shared.Prog; prog == nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: the model of %s is of several executables; times take one", model.Program)
	} else if prog.File.SHA256 != execution.structure.Graph.File.SHA256 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: the models are of two programs, %s and %s", model.Program, execution.Program)
	}
	t, err := NewTimer(m, opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []timeRow
	for _, point := range points {
		if err := model.Check(point); err != nil {
			return dataframe.DataFrame{}, err
		}
		all, doubts, err := t.misses(model, execution.structure, point)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		frequencies, err := execution.at(point)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		fresh, err := t.rows(ctx, execution.structure, frequencies, all, timeRow{
			Program: model.Program, Point: point, Machine: m.Name, Warning: strings.Join(append(doubts, execution.doubts(point)...), "; "),
		})
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		rows = append(rows, fresh...)
	}
	return frame.Of(rows), nil
}

// Schedule predicts how long what was counted in a run takes on a machine if
// every access hits in the first cache: the table of PredictTime without waits.
func Schedule(ctx context.Context, c *anatomy.Counts, m *machine.Machine, opt TimeOptions) (dataframe.DataFrame, error) {
	t, err := NewTimer(m, opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	t.penalties, t.warnings, t.bare = nil, nil, true
	rows, err := t.rows(ctx, c.Structure(), sched.Counted(c.Recovered), nil, timeRow{Program: c.Program.Name, Point: c.Point, Machine: m.Name})
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return frame.Of(rows), nil
}

// timer predicts times on one machine.
type timer struct {
	machine   *machine.Machine
	opt       TimeOptions
	scheduler *sched.Scheduler
	penalties []predict.Penalty
	warnings  []string
	bare      bool // the schedule alone is asked for
}

func NewTimer(m *machine.Machine, opt TimeOptions) (*timer, error) {
	var err error
	if opt.By, err = opt.By.Check(); err != nil {
		return nil, err
	}
	if opt.By == subject.ByReference {
		return nil, fmt.Errorf("perf: times are of programs, routines and loops, not of references")
	}
	t := &timer{machine: m, opt: opt}
	t.scheduler, err = sched.New(&m.Core, sched.Options{Reschedule: opt.Reschedule, Pessimistic: opt.Pessimistic})
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", m.Name, err)
	}
	t.penalties, t.warnings = predict.Penalties(m)
	if opt.FixedExposure {
		if len(m.Exposures) == 0 {
			t.warnings = append(t.warnings, "no shares of latencies are stated: all of each is waited for")
		}
		return t, nil
	}
	if m.Memory.OutstandingMisses == 0 {
		t.warnings = append(t.warnings, "how many misses can be outstanding is not known: they are waited for one at a time")
	}
	if cost, assumed := m.Core.Mispredict(); assumed {
		t.warnings = append(t.warnings, fmt.Sprintf("what a wrong prediction costs is not known: %g cycles are assumed", float64(cost)))
	}
	return t, nil
}

// scopeMisses are the misses of a scope without those inside it, at each level
// that has a penalty: those that execution waits for, of these the ones in
// streams, and those of stores, which it does not wait for.
type scopeMisses struct{ waited, streams, stores []float64 }

// misses predicts the misses of each scope, by index in the structure's tree of
// scopes, and says what is doubtful.
func (t *timer) misses(model *misses.Model, s *subject.Structure, point subject.Point) (all []scopeMisses, doubts []string, err error) {
	of := misses.TargetOf(t.machine)
	index := make(map[string]int, len(s.Scopes.Scopes))
	for i := range s.Scopes.Scopes {
		index[s.Scopes.Scopes[i].Path] = i
	}
	names, scopeOf := model.Scopes(subject.ByLoop)
	all = make([]scopeMisses, len(s.Scopes.Scopes))
	for i := range all {
		n := len(t.penalties)
		all[i] = scopeMisses{make([]float64, n), make([]float64, n), make([]float64, n)}
	}
	for k, p := range t.penalties {
		l := of.Levels[slices.IndexFunc(of.Levels, func(l predict.Level) bool { return l.Name == p.Level })]
		prediction, _, err := model.Misses(of, l, point)
		if err != nil {
			return nil, nil, err
		}
		doubts = append(append(doubts, fit.WarningTexts(prediction.Warnings)...), l.NotModelled...)
		for g := range prediction.Groups {
			n := prediction.Groups[g].Total()
			if math.IsNaN(n) || math.IsInf(n, 0) {
				return nil, nil, fmt.Errorf("perf: %s at %s: the model has no finite value there", of.Of(l), point)
			}
			// What belongs to no scope known here is the program's own.
			to := &all[index[names[scopeOf[g]]]]
			if !p.TLB && !t.opt.FixedExposure && stores(model, g) {
				to.stores[k] += n
				continue
			}
			to.waited[k] += n
			if streams(model, g, l.BlockBytes) {
				to.streams[k] += n
			}
		}
	}
	slices.Sort(doubts)
	return all, slices.Compact(doubts), nil
}

// stores reports whether all references of a group are stores.
func stores(m *misses.Model, group int) bool {
	return !slices.ContainsFunc(m.Members[group], func(r int) bool { return m.Refs[r].Kind != trace.Store })
}

// streams reports whether all references of a group walk through memory, from
// one block to the next: the innermost loop that changes the address changes it
// by a constant, a block at most.
func streams(m *misses.Model, group int, blockBytes uint64) bool {
	return !slices.ContainsFunc(m.Members[group], func(r int) bool {
		for _, stride := range m.Refs[r].Strides {
			by, constant := stride.Formula.Constant()
			switch {
			case !stride.Regular() || !constant:
				return true
			case by != 0:
				return max(by, -by) > int64(blockBytes)
			}
		}
		return true // it stays where it is
	})
}

// scopeTime is the time of a scope, first without and then with those inside.
type scopeTime struct {
	instructions, schedule float64
	waits                  []float64
	branch                 float64
	limit                  string
	longest                float64 // time of the path that limit is of
	work                   predict.Work
	loads                  float64 // executed, that Work.Reach is an average over
}

// rows predicts one run, each row beginning as blank does.
func (t *timer) rows(ctx context.Context, s *subject.Structure, f *sched.Frequencies, misses []scopeMisses, blank timeRow) ([]timeRow, error) {
	result, err := t.scheduler.Program(ctx, s.Access, f)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", blank.Program, err)
	}
	warnings := slices.Clone(t.warnings)
	for _, w := range result.Warnings {
		warnings = append(warnings, w.Error())
	}
	if blank.Warning != "" {
		warnings = append(warnings, blank.Warning)
	}
	blank.Warning = strings.Join(warnings, "; ")
	times := t.own(s, result)
	t.mispredict(s, f, times)
	for i := range times {
		if misses != nil {
			t.wait(&times[i], &misses[i])
		}
	}
	t.sumUp(s, times)
	var rows []timeRow
	for i := range times {
		if times[i].instructions > 0 && t.wanted(s, i) {
			rows = append(rows, t.row(s, i, &times[i], blank))
		}
	}
	slices.SortStableFunc(rows, func(a, b timeRow) int {
		switch {
		case a.Cycles > b.Cycles:
			return -1
		case a.Cycles < b.Cycles:
			return 1
		}
		return 0
	})
	return rows, nil
}

// own gathers what each scope does itself.
func (t *timer) own(s *subject.Structure, result *sched.Result) []scopeTime {
	times := make([]scopeTime, len(s.Scopes.Scopes))
	for i := range times {
		times[i].waits = make([]float64, len(t.penalties))
	}
	for i := range result.Paths {
		p := &result.Paths[i]
		to := &times[s.Scopes.Of(p.Routine, p.Blocks()[0])]
		to.instructions += p.Frequency * float64(p.Instructions)
		to.schedule += p.Total()
		for _, seg := range p.Segments {
			t.reach(to, seg, p.Frequency)
		}
		if p.Total() > to.longest && len(p.Segments) > 0 {
			to.longest = p.Total()
			to.limit = limitOf(p.Segments)
			to.work.Chained = chained(p.Segments)
		}
	}
	return times
}

// mispredict adds what wrong predictions of branches cost. The schedule of what
// was counted, without misses, is without them too.
func (t *timer) mispredict(s *subject.Structure, f *sched.Frequencies, times []scopeTime) {
	cost, _ := t.machine.Core.Mispredict()
	if t.opt.FixedExposure || t.bare {
		return
	}
	for i, r := range s.Graph.Routines {
		for b, n := range sched.Mispredictions(&t.machine.Core, r, &f.Routines[i]) {
			if n > 0 {
				times[s.Scopes.Of(i, b)].branch += n * float64(cost)
			}
		}
	}
}

// limitOf names what limits the part of a path that takes longest.
func limitOf(segments []*sched.Segment) string {
	longest := slices.MaxFunc(segments, func(a, b *sched.Segment) int {
		switch {
		case a.Cycles > b.Cycles:
			return 1
		case a.Cycles < b.Cycles:
			return -1
		}
		return 0
	})
	if longest.Limit == sched.UnitBusy && longest.Bounds.Unit != "" {
		return fmt.Sprintf("%v: %s", longest.Limit, longest.Bounds.Unit)
	}
	return longest.Limit.String()
}

// chained reports whether a recurrence goes through a load, as in a walk along a
// list: the next address comes from memory.
func chained(segments []*sched.Segment) bool {
	for _, seg := range segments {
		for _, e := range seg.Bounds.Critical {
			edge := &seg.Edges[e]
			if class := seg.Nodes[edge.From].Micro.Class; edge.Kind == access.RegisterFlow && (class == isa.Load || class == isa.Atomic) {
				return true
			}
		}
	}
	return false
}

// reach adds how far a core that executes in order gets ahead of the loads of a
// segment: to their first uses.
func (t *timer) reach(to *scopeTime, seg *sched.Segment, frequency float64) {
	if !t.machine.Core.InOrder {
		return
	}
	n := len(seg.Nodes)
	for i, in := range seg.Nodes {
		if _, kind := in.Access(in.Micro); kind != isa.MemLoad {
			continue
		}
		first := n - i // without a use in sight, to the end
		for _, e := range seg.Edges {
			if e.From == i && e.Kind == access.RegisterFlow {
				first = min(first, e.To-i+e.Distance*n)
			}
		}
		to.loads += frequency
		to.work.Reach += frequency * float64(first)
	}
}

// wait works out what the misses of a scope add to its time.
func (t *timer) wait(to *scopeTime, misses *scopeMisses) {
	w := &to.work
	w.Instructions, w.Cycles = to.instructions, to.schedule
	w.Misses, w.Streams, w.Stores = misses.waited, misses.streams, misses.stores
	switch {
	case !t.machine.Core.InOrder:
		w.Reach = float64(t.machine.Core.Window)
	case to.loads > 0:
		w.Reach /= to.loads
	}
	if t.opt.FixedExposure || w.Instructions == 0 { // without a schedule, nothing hides them
		to.waits = w.WaitFixed(t.penalties)
	} else {
		to.waits = w.WaitOverlapped(t.penalties, t.machine.Memory.OutstandingMisses, float64(t.machine.MemoryInterval()))
	}
}

// sumUp adds to each scope those inside it.
func (t *timer) sumUp(s *subject.Structure, times []scopeTime) {
	for i := len(times) - 1; i > 0; i-- { // scopes come after those around them
		around := &times[s.Scopes.Scopes[i].Parent]
		around.instructions += times[i].instructions
		around.schedule += times[i].schedule
		around.branch += times[i].branch
		for k, w := range times[i].waits {
			around.waits[k] += w
		}
		if times[i].longest > around.longest {
			around.longest, around.limit = times[i].longest, times[i].limit
		}
	}
}

// wanted reports whether a scope has a row.
func (t *timer) wanted(s *subject.Structure, scope int) bool {
	switch t.opt.By {
	case subject.ByRoutine:
		return slices.Contains(s.OfRoutine, scope)
	case subject.ByLoop:
		return scope > 0 && !slices.Contains(s.OfRoutine, scope)
	}
	return scope == 0
}

// row turns the time of a scope into a row.
func (t *timer) row(s *subject.Structure, scope int, st *scopeTime, blank timeRow) timeRow {
	r := blank
	r.Scope = s.Scopes.Scopes[scope].Path
	if scope == 0 {
		r.Scope = blank.Program
	}
	r.Instructions, r.Schedule, r.Branch, r.Limit = st.instructions, st.schedule, st.branch, st.limit
	r.Cycles = st.schedule + st.branch
	r.Waits = make(map[string]float64)
	for k, p := range t.penalties {
		r.Waits["pred_"+strings.ReplaceAll(p.Level, " ", "_")+"_wait_cycles"] = st.waits[k]
		r.Cycles += st.waits[k]
	}
	r.Seconds = math.NaN()
	if hz := float64(t.machine.Frequency); hz > 0 {
		r.Seconds = r.Cycles / hz
	}
	r.CPI = num.Ratio(r.Cycles, r.Instructions)
	return r
}
