package replayed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"presage/perf/allocation"
	"presage/perf/locality"
	"presage/perf/progress"
	"presage/perf/replay"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// learnedVersion is part of the key of what is learned from runs: raise it when
// replay.Run changes its meaning.
const learnedVersion = 20

// Program is a program whose loop nests are known from runs.
type Program struct {
	run    int // of locality.Runs: the largest
	sweep  *sweep
	store  *store.Store
	depend dependence

	mu      sync.Mutex // of what load sets
	loaded  bool
	failed  error
	warning string         // about the store
	codes   []*replay.Code // by run of the sweep
	runs    []*replay.Run
	hints   replay.Hints
	widened map[string]widened // by sizes beside those of the sweep

	// What is replayed unless there is an executable of the size; nil with the reason
	// in differs.
	*target
	differs error
}

// target is what is replayed at a size.
type target struct {
	prog  *subject.Program
	code  *replay.Code
	model *replay.Model
	own   bool // the executable was compiled for the size

	// The references of each group of the largest run's plan, and how a simulation
	// counts them.
	of   [][]trace.RefID
	plan *trace.Plan
}

// learned is what the store holds: what was learned from each run.
type learned struct {
	Runs  []*replay.Run
	Hints replay.Hints // what the runs found that others should look for
	Sizes []int64      `json:",omitempty"` // of Runs, where they are not those of the sweep
	// Trouble says why nothing could be.
	Trouble string `json:",omitempty"`
}

// Learn runs the program of profiles again at their sizes, and learns its loop nests.
// Of executables that were compiled for a size each, those count whose code differs
// from the largest one's in constants alone. What it learns is kept in the store; nil
// is the default one. An error says why the program cannot be replayed.
func Learn(ctx context.Context, runs *locality.Runs, st *store.Store) (*Program, error) {
	p, err := programOf(runs, st)
	if err != nil {
		return nil, err
	}
	return p, p.load(ctx, nil)
}

// programOf returns the program of profiles, of which nothing has been learned yet.
func programOf(runs *locality.Runs, st *store.Store) (*Program, error) {
	s, err := sweepOf(runs)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", runs.Label(), err)
	}
	if st, err = store.OrDefault(st); err != nil {
		return nil, err
	}
	p := &Program{run: s.index[len(s.index)-1], sweep: s, store: st}
	if s.apart {
		p.depend.Sizes = s.sizes
	}
	for _, r := range s.runs {
		p.depend.Inputs = append(p.depend.Inputs, r.Recorded.Inputs)
		a, err := analysisOf(r.Program)
		if err != nil {
			return nil, err
		}
		p.depend.Analyses = append(p.depend.Analyses, a)
	}
	return p, nil
}

// dependence is what all that is learned and replayed of a program depends on, and is
// known without its graphs.
type dependence struct {
	Inputs   []subject.Inputs // of the runs to learn from
	Analyses []analysis       // of their executables
	// Sizes are what the runs are said to be of; of one executable, its arguments say it.
	Sizes []int64 `json:",omitempty"`
}

// analysis identifies what static analysis finds in an executable.
type analysis struct{ Plan, Graphs string }

func analysisOf(prog *subject.Program) (analysis, error) {
	plan, err := prog.Plan()
	if err != nil {
		return analysis{}, err
	}
	graphs, err := prog.AnalysisKey()
	return analysis{plan.Digest(), graphs.Hash}, err
}

// load learns what is not known yet, from the store or from runs. It does so once, and
// again after failures that may pass.
func (p *Program) load(ctx context.Context, report progress.Func) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.loaded {
		err := p.learn(ctx, report)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !replay.Final(err) {
			return err
		}
		p.loaded, p.failed = true, err
	}
	return p.failed
}

func (p *Program) learn(ctx context.Context, report progress.Func) error {
	l := learner{sweep: p.sweep, codes: make([]*replay.Code, len(p.sweep.runs)), progress: report}
	for i, r := range p.sweep.runs {
		var err error
		if i > 0 && r.Program == p.sweep.runs[0].Program {
			l.codes[i] = l.codes[0]
		} else if l.codes[i], err = codeOf(r.Program, !p.sweep.apart); err != nil {
			return err
		}
	}
	var plans []string
	for _, c := range l.codes {
		plans = append(plans, c.Plan.Digest())
	}
	key, err := store.NewKey("nests", learnedVersion, struct {
		Inputs []subject.Inputs
		Plans  []string
	}{p.depend.Inputs, plans})
	if err != nil {
		return err
	}
	memo, err := store.Memo(p.store, key, func() (learned, error) { return l.learn(ctx) })
	if err != nil {
		return err
	}
	if memo.Value.Trouble != "" {
		prefix := (&replay.TroubleError{}).Error()
		return &replay.TroubleError{Reason: strings.TrimPrefix(memo.Value.Trouble, prefix)}
	}
	p.codes, p.runs, p.hints, p.warning = l.codes, memo.Value.Runs, memo.Value.Hints, memo.Warning
	return p.choose()
}

// codeOf returns the code of an executable; where it is that of all sizes, with what it asks of
// allocators.
func codeOf(prog *subject.Program, all bool) (*replay.Code, error) {
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	code, err := replay.CodeOf(prog.Structure().Graph, plan)
	if err != nil {
		return nil, err
	}
	tells, err := prog.TellsMemory()
	if tells {
		code.Recorded.Memory = new(trace.MemoryPlan) // where files are loaded
	}
	if err != nil || !all {
		return code, err
	}
	tells, err = prog.TellsAllocations()
	if large := allocation.Large(prog.File); tells && len(large.Allocators) > 0 {
		code.AnchorAllocations(large)
	} else if layout, no := prog.Layout(); tells && no == nil && layout != nil {
		code.FollowAllocations(allocation.Plan(prog.File), layout.Mappings.Hi)
	}
	return code, err
}

// learner learns from runs.
type learner struct {
	sweep    *sweep
	codes    []*replay.Code // by run
	progress progress.Func
}

// choose finds what is replayed: of executables, one that is like most others, the
// largest of these.
func (p *Program) choose() error {
	p.target, p.differs = nil, nil
	last := len(p.runs) - 1
	most := 0
	for i := last; i >= 0 && most <= i; i-- {
		t, alike, err := p.build(p.sweep.runs[i].Program, p.codes[i], len(p.runs))
		if err != nil && !replay.Final(err) {
			return err
		}
		if err != nil && p.differs == nil {
			p.differs = err
		}
		if t != nil && alike > most {
			p.target, most = t, alike
		}
		if !p.sweep.apart || alike == len(p.runs) {
			break
		}
	}
	if p.target == nil && !p.sweep.apart {
		return p.differs
	}
	return nil
}

// build returns what is replayed of an executable, by so many of the smallest runs, and
// the number of runs that it is like.
func (p *Program) build(prog *subject.Program, code *replay.Code, smallest int) (*target, int, error) {
	var sizes []int64
	var alike []*replay.Run
	var differs error
	for i, run := range p.runs[:smallest] {
		if p.sweep.apart {
			var err error
			if run, err = code.Translate(run, p.codes[i]); err != nil {
				if !replay.Final(err) {
					return nil, len(alike), err
				}
				differs = err
				continue
			}
		}
		sizes, alike = append(sizes, p.sweep.sizes[i]), append(alike, run)
	}
	model, err := replay.NewModel(code, sizes, alike)
	if err != nil {
		if differs != nil {
			err = differs
		}
		return nil, len(alike), err
	}
	t := &target{prog: prog, code: code, model: model}
	t.group(p.codes[len(p.codes)-1])
	return t, len(alike), nil
}

// group finds the references of each group of the plan of the largest run.
func (t *target) group(largest *replay.Code) {
	t.plan = t.code.Plan
	if t.code != largest {
		t.plan = regrouped(t.code, largest)
	}
	t.of = make([][]trace.RefID, max(t.plan.Groups(), largest.Plan.Groups()))
	for i, r := range t.plan.Refs {
		t.of[r.Group] = append(t.of[r.Group], trace.RefID(i))
	}
}

// regrouped returns the plan of an executable with the groups of another. A group of
// its own, the last, holds what the other has not; groups of which it is not known
// what became of them have no references.
func regrouped(code, largest *replay.Code) *trace.Plan {
	match := code.Match(largest)
	unknown := make(map[trace.GroupID]bool)
	for i, r := range largest.Plan.Refs {
		if !match.Covered[i] {
			unknown[r.Group] = true
		}
	}
	plan := *code.Plan
	plan.Refs = slices.Clone(plan.Refs)
	other := trace.GroupID(largest.Plan.Groups())
	for i := range plan.Refs {
		plan.Refs[i].Group = other
		if k := match.Of[i]; k >= 0 && !unknown[largest.Plan.Refs[k].Group] {
			plan.Refs[i].Group = largest.Plan.Refs[k].Group
		}
	}
	return &plan
}

// at returns what is replayed at size n, of an executable that was compiled for it; or
// why nothing is.
func (p *Program) at(n int64, exe *subject.Program) (*target, error) {
	if !p.sweep.apart || exe == nil {
		if p.target == nil {
			return nil, p.differs
		}
		return p.target, nil
	}
	code, err := codeOf(exe, false)
	if err != nil {
		return nil, err
	}
	t, _, err := p.build(exe, code, len(p.runs))
	if err != nil {
		return nil, err
	}
	t.own = true
	return t, t.model.BuiltFor(n, exe.Structure().Access)
}

// learn runs the program at all sizes. Where a larger size shows what to look for,
// the smaller ones are run again, unless they are other executables.
func (l *learner) learn(ctx context.Context) (learned, error) {
	if err := l.sweep.stale(); err != nil {
		return learned{}, err
	}
	out := learned{Runs: make([]*replay.Run, len(l.sweep.sizes))}
	with := make([]int, len(out.Runs)) // hints that each run had
	var hints replay.Hints
	wants := func(i int) bool {
		return out.Runs[i] == nil || !l.sweep.apart && with[i] < hints.Size() || l.sweep.apart && with[i] < 0
	}
	for k := range 2 * len(out.Runs) { // twice each
		i := k % len(out.Runs)
		if l.sweep.apart && out.Runs[i] == nil {
			hints = replay.Hints{}
		}
		for wants(i) {
			with[i] = hints.Size()
			run, found, err := l.collect(ctx, i, hints)
			if trouble := new(replay.TroubleError); errors.As(err, &trouble) {
				return learned{Trouble: err.Error()}, nil
			}
			if err != nil {
				return learned{}, err
			}
			if out.Runs[i], hints = run, found; l.sweep.apart && hints.Size() > with[i] {
				with[i] = -1
			}
		}
	}
	out.Hints = hints
	return out, nil
}

// collect runs the program once.
func (l *learner) collect(ctx context.Context, i int, hints replay.Hints) (*replay.Run, replay.Hints, error) {
	l.progress.Report(progress.Report{Task: fmt.Sprintf("learning loops at %s=%d", l.sweep.name, l.sweep.sizes[i]), Done: i, Total: len(l.sweep.sizes)})
	c := replay.NewCollector(l.codes[i], hints)
	prog := l.sweep.runs[i].Program
	if _, err := prog.Run(ctx, subject.Request{Inputs: l.sweep.runs[i].Recorded.Inputs, Plan: l.codes[i].Recorded, Collectors: collectors(c)}); err != nil {
		return nil, hints, err
	}
	run, err := c.Result()
	if err != nil {
		return nil, hints, fmt.Errorf("perf: %s: %w", prog.Name, err)
	}
	return run, c.Hints(), nil
}
