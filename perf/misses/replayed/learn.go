package replayed

import (
	"context"
	"fmt"

	"presage/perf/locality"
	"presage/perf/replay"
	"presage/perf/store"
	"presage/perf/subject"
)

// learnedVersion is part of the key of what is learned from runs: raise it when
// replay.Run changes its meaning.
const learnedVersion = 1

// Program is a program whose loop nests are known from runs.
type Program struct {
	prog  *subject.Program // that is replayed
	run   int              // of locality.Runs, one of its runs
	sweep *sweep
	code  *replay.Code
	model *replay.Model
}

// learned is what the store holds: what was learned from each run.
type learned struct{ Runs []*replay.Run }

// Learn runs the program of profiles again at their sizes, and learns its loop nests.
// Of executables that were compiled for a size each, those count whose code differs
// from the largest one's in constants alone. What it learns is kept in the store; nil
// is the default one. An error says why the program cannot be replayed.
func Learn(ctx context.Context, runs *locality.Runs, st *store.Store) (*Program, error) {
	s, err := sweepOf(runs)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", runs.Label(), err)
	}
	if st, err = store.OrDefault(st); err != nil {
		return nil, err
	}
	l := learner{sweep: s, codes: make([]*replay.Code, len(s.runs))}
	var plans []string
	for i, r := range s.runs {
		if i > 0 && r.Program == s.runs[0].Program {
			l.codes[i] = l.codes[0]
		} else if l.codes[i], err = codeOf(r.Program); err != nil {
			return nil, err
		}
		plans = append(plans, l.codes[i].Plan.Digest())
	}
	var inputs []subject.Inputs
	for _, r := range s.runs {
		inputs = append(inputs, r.Recorded.Inputs)
	}
	key, err := store.NewKey("nests", learnedVersion, struct {
		Inputs []subject.Inputs
		Plans  []string
	}{inputs, plans})
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(st, key, func() (learned, error) { return l.learn(ctx) })
	if err != nil {
		return nil, err
	}
	return l.program(memo.Value.Runs)
}

func codeOf(prog *subject.Program) (*replay.Code, error) {
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	return replay.CodeOf(prog.Structure().Graph, plan)
}

// learner learns from runs.
type learner struct {
	sweep *sweep
	codes []*replay.Code // by run
}

// program returns what is replayed, given what was learned from each run.
func (l *learner) program(runs []*replay.Run) (*Program, error) {
	last := len(runs) - 1
	p := &Program{prog: l.sweep.runs[last].Program, run: l.sweep.index[last], sweep: l.sweep, code: l.codes[last]}
	var sizes []int64
	var alike []*replay.Run
	var differs error
	for i, run := range runs {
		if l.codes[i] != p.code {
			var err error
			if run, err = p.code.Translate(run, l.codes[i]); err != nil {
				differs = err
				continue
			}
		}
		sizes, alike = append(sizes, l.sweep.sizes[i]), append(alike, run)
	}
	var err error
	if p.model, err = replay.NewModel(p.code, sizes, alike); err != nil && differs != nil {
		err = differs
	}
	return p, err
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
	for range 2 {
		for i := range l.sweep.sizes {
			if l.sweep.apart && out.Runs[i] == nil {
				hints = replay.Hints{}
			}
			for out.Runs[i] == nil || !l.sweep.apart && with[i] < hints.Size() || l.sweep.apart && with[i] < 0 {
				with[i] = hints.Size()
				run, found, err := l.collect(ctx, i, hints)
				if err != nil {
					return learned{}, err
				}
				if out.Runs[i], hints = run, found; l.sweep.apart && hints.Size() > with[i] {
					with[i] = -1
				}
			}
		}
	}
	return out, nil
}

// collect runs the program once.
func (l *learner) collect(ctx context.Context, i int, hints replay.Hints) (*replay.Run, replay.Hints, error) {
	c := replay.NewCollector(l.codes[i], hints)
	prog := l.sweep.runs[i].Program
	if _, err := prog.Run(ctx, subject.Request{Inputs: l.sweep.runs[i].Recorded.Inputs, Plan: l.codes[i].Plan, Collectors: collectors(c)}); err != nil {
		return nil, hints, err
	}
	run, err := c.Result()
	if err != nil {
		return nil, hints, fmt.Errorf("perf: %s: %w", prog.Name, err)
	}
	return run, c.Hints(), nil
}
