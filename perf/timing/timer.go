package timing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"presage/perf/access"
	"presage/perf/internal/num"
	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/sched"
	"presage/perf/subject"
	"presage/perf/synth"
)

// timer predicts times on one machine.
type timer struct {
	machine   *machine.Machine
	opt       PredictOptions
	of        part
	scheduler *sched.Scheduler
	penalties []predict.Penalty
	warnings  []string
	bare      bool // the schedule alone is asked for

	// pipeline is the processor that walks are executed on; nil if it cannot be
	// simulated: waits then follow from a formula.
	pipeline  *machine.PipelineConfig
	program   *synth.Program // of the structure at hand
	programOf *subject.Structure

	seen   *sched.SeenBranches // of seenOf; nil: not known
	seenOf *subject.Structure
	seenAt string // the point of the run
	// learned is how much longer mispredictions would take in the run that is predicted if
	// branches that depend on data were drawn at random.
	learned float64
}

var errByReference = errors.New("perf: times are of programs, routines and loops, not of references")

// newTimer returns a timer for a machine, which must describe its core.
func newTimer(m *machine.Machine, opt PredictOptions) (*timer, error) {
	var err error
	if opt.By, err = opt.By.Check(); err != nil {
		return nil, err
	}
	if opt.By == subject.ByReference {
		return nil, errByReference
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	t := &timer{machine: m, opt: opt, of: part{opt.By, opt.Exclusive}}
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
	if n, assumed := m.Memory.Outstanding(); assumed {
		t.warnings = append(t.warnings, fmt.Sprintf("how many misses can be outstanding is not known: %d are assumed", n))
	}
	if cost, assumed := m.Core.Mispredict(); assumed {
		t.warnings = append(t.warnings, fmt.Sprintf("what a wrong prediction costs is not known: %g cycles are assumed", float64(cost)))
	}
	if t.pipeline, err = m.Pipeline(); err != nil {
		t.warnings = append(t.warnings, fmt.Sprintf("waits follow from a formula, as the core cannot be simulated: %v", err))
	}
	return t, nil
}

// scopeTime is the time of a scope, first without and then with those inside.
type scopeTime struct {
	instructions, schedule float64
	waits                  []float64
	walked                 float64 // as schedule, in a walk through all paths
	branch                 float64
	limit                  string
	longest                float64 // time of the path that limit is of
	work                   predict.Work
	loads                  float64 // executed, that Work.Reach is an average over
}

// rows predicts one run, each row beginning as blank does.
func (t *timer) rows(ctx context.Context, s *subject.Structure, f *sched.Frequencies, missed *missed, blank Row) ([]Row, error) {
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
	switch {
	case t.bare:
	case t.opt.FixedExposure || t.pipeline == nil:
		t.mispredict(s, f, times)
		if missed != nil {
			t.waits(times, missed.byScope)
		}
	default:
		if err := t.disturb(ctx, s, f, result, missed, times); err != nil {
			return nil, err
		}
		if doubt := t.learnedDoubt(times); doubt != "" {
			blank.Warning = strings.Join(append(warnings, doubt), "; ")
		}
	}
	return t.listed(placesOf(s), times, blank), nil
}

// waits adds to the times of scopes, each without those inside it, what their misses
// cost by a formula.
func (t *timer) waits(times []scopeTime, missed []scopeMisses) {
	for i := range times {
		t.wait(&times[i], &missed[i])
	}
}

// listed returns the rows of scopes, given what each takes without those inside it.
func (t *timer) listed(at *places, times []scopeTime, blank Row) []Row {
	t.sumUp(at, times)
	var rows []Row
	for i := range times {
		if !t.of.wanted(at, i) {
			continue
		}
		// Misses of what is not scheduled take time, too.
		if r := t.row(at, i, &times[i], blank); r.Instructions > 0 || r.Cycles > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Cycles, a.Cycles) })
	return t.summed(rows)
}

// own returns the time of each scope without the scopes inside it.
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
		to.walked = to.schedule
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

// mispredict adds the cost of mispredicted branches: what the description says of each.
func (t *timer) mispredict(s *subject.Structure, f *sched.Frequencies, times []scopeTime) {
	cost, _ := t.machine.Core.Mispredict()
	if t.opt.FixedExposure {
		return
	}
	branches := sched.PredictBranches(&t.machine.Core, s.Access, f, t.seenBranches(s))
	for i, r := range s.Graph.Routines {
		for b, n := range branches.Of(i, r, &f.Routines[i]) {
			if n > 0 {
				times[s.Scopes.Of(i, b)].branch += n * float64(cost)
			}
		}
	}
}

// limitOf names what limits the part of a path that takes longest.
func limitOf(segments []*sched.Segment) string {
	longest := slices.MaxFunc(segments, func(a, b *sched.Segment) int { return cmp.Compare(a.Cycles, b.Cycles) })
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

// wait adds to the time of a scope what its misses cost.
func (t *timer) wait(to *scopeTime, misses *scopeMisses) {
	w := &to.work
	w.Instructions, w.Cycles = to.instructions, to.schedule
	w.Misses, w.Streams, w.Stores = misses.waited, misses.streams, misses.stores
	w.Stored, w.StoreQueue = misses.stored, t.storeQueue()
	switch {
	case !t.machine.Core.InOrder:
		w.Reach = float64(t.machine.Core.Window)
	case to.loads > 0:
		w.Reach /= to.loads
	}
	if t.opt.FixedExposure || w.Instructions == 0 { // without a schedule, nothing hides them
		to.waits = w.WaitFixed(t.penalties)
	} else {
		outstanding, _ := t.machine.Memory.Outstanding()
		to.waits = w.WaitOverlapped(t.penalties, outstanding, float64(t.machine.MemoryInterval()))
	}
}

// storeQueue returns how many stores can wait to be written; 0 if that is not known, as
// of a core that executes in order.
func (t *timer) storeQueue() float64 {
	core := &t.machine.Core
	switch {
	case core.StoreQueue > 0:
		return float64(core.StoreQueue)
	case !core.InOrder:
		return float64(core.Window)
	}
	return 0
}

// sumUp adds to each scope the scopes inside it whose time is part of its own.
func (t *timer) sumUp(at *places, times []scopeTime) {
	for i := len(times) - 1; i > 0; i-- { // scopes come after those around them
		if !t.of.joins(at, i) {
			continue
		}
		around := &times[at.parent[i]]
		around.instructions += times[i].instructions
		around.schedule += times[i].schedule
		around.walked += times[i].walked
		around.branch += times[i].branch
		for k, w := range times[i].waits {
			around.waits[k] += w
		}
		if times[i].longest > around.longest {
			around.longest, around.limit = times[i].longest, times[i].limit
		}
	}
}

// row turns the time of a scope into a row.
func (t *timer) row(at *places, scope int, st *scopeTime, blank Row) Row {
	r := blank
	r.Scope = at.paths[scope]
	if scope == 0 {
		r.Scope = blank.Program
	}
	r.Instructions, r.Schedule, r.Branch, r.Limit = st.instructions, st.schedule, st.branch, st.limit
	if !t.opt.Reschedule { // a walk executes the binary as it is
		r.Flow = st.walked - st.schedule
	}
	r.Cycles = st.schedule + r.Flow + st.branch
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
	if doubt := t.guesses(&r); doubt != "" {
		r.Warning = strings.Join(slices.DeleteFunc([]string{r.Warning, doubt}, func(s string) bool { return s == "" }), "; ")
	}
	return r
}

// manyWrong is the share of the time from which on mispredictions are a doubt, if tables
// of the branch predictor are assumed.
const manyWrong = 0.25

// guesses returns a doubt about a row most of which hangs on what a predictor that the
// description does not describe guesses; empty if there is none.
func (t *timer) guesses(r *Row) string {
	b := &t.machine.Core.Branch
	if t.seen == nil || b.Predictor != "gshare" || b.Entries != 0 || r.Branch < manyWrong*r.Cycles {
		return ""
	}
	return fmt.Sprintf("mispredicted branches take %.0f%% of the time, as a small gshare predictor guesses: the processor's own tables are not described, and outcomes that come again may be known to it", 100*r.Branch/r.Cycles)
}

// learnedDoubt returns a doubt about the times of a run, by scope without those inside, if
// a large part of their sum hangs on what a tage predictor had learned in the run that was
// seen; empty if it does not.
func (t *timer) learnedDoubt(times []scopeTime) string {
	if t.seen == nil || t.machine.Core.Branch.Predictor != "tage" {
		return ""
	}
	cycles := 0.0
	for i := range times {
		st := &times[i]
		cycles += st.schedule + st.branch + floats.Sum(st.waits)
		if !t.opt.Reschedule {
			cycles += st.walked - st.schedule
		}
	}
	if cycles <= 0 || t.learned < manyWrong*cycles {
		return ""
	}
	return fmt.Sprintf("branches that depend on data are taken to be guessed as well as in the run at %s: at random they would add up to %.0f%% to the program's time", t.seenAt, 100*t.learned/cycles)
}

// learnedCycles returns how long mispredictions would take, beyond those of branches as
// predicted, if all that depend on data were drawn at random.
func (t *timer) learnedCycles(s *subject.Structure, f *sched.Frequencies, predicted *sched.Branches) float64 {
	if t.seenBranches(s) == nil {
		return 0
	}
	random, more := sched.PredictBranches(&t.machine.Core, s.Access, f, nil), 0.0
	for i, r := range s.Graph.Routines {
		more += floats.Sum(random.Of(i, r, &f.Routines[i])) - floats.Sum(predicted.Of(i, r, &f.Routines[i]))
	}
	cost, _ := t.machine.Core.Mispredict()
	return more * float64(cost)
}
