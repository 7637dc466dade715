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
	prog  *subject.Program
	sweep *sweep
	code  *replay.Code
	model *replay.Model
}

// learned is what the store holds.
type learned struct{ Runs []*replay.Run }

// Learn runs the program of profiles again at their sizes, and learns its loop nests.
// What it learns is kept in the store; nil is the default one. An error says why the
// program cannot be replayed.
func Learn(ctx context.Context, runs *locality.Runs, st *store.Store) (*Program, error) {
	s, err := sweepOf(runs)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", runs.Label(), err)
	}
	if st, err = store.OrDefault(st); err != nil {
		return nil, err
	}
	p := &Program{prog: s.runs[0].Program, sweep: s}
	plan, err := p.prog.Plan()
	if err != nil {
		return nil, err
	}
	if p.code, err = replay.CodeOf(p.prog.Structure().Graph, plan); err != nil {
		return nil, err
	}
	var inputs []subject.Inputs
	for _, n := range s.sizes {
		inputs = append(inputs, s.inputs(n))
	}
	key, err := store.NewKey("nests", learnedVersion, struct {
		Inputs []subject.Inputs
		Plan   string
	}{inputs, p.code.Plan.Digest()})
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(st, key, func() (learned, error) { return p.learn(ctx) })
	if err != nil {
		return nil, err
	}
	p.model, err = replay.NewModel(p.code, s.sizes, memo.Value.Runs)
	return p, err
}

// learn runs the program at all sizes. Where a larger size shows what to look for,
// the smaller ones are run again.
func (p *Program) learn(ctx context.Context) (learned, error) {
	if err := p.sweep.stale(); err != nil {
		return learned{}, err
	}
	out := learned{Runs: make([]*replay.Run, len(p.sweep.sizes))}
	with := make([]int, len(out.Runs)) // hints that each run had
	var hints replay.Hints
	for range 2 {
		for i, n := range p.sweep.sizes {
			for out.Runs[i] == nil || with[i] < hints.Size() {
				with[i] = hints.Size()
				run, found, err := p.collect(ctx, n, hints)
				if err != nil {
					return learned{}, err
				}
				out.Runs[i], hints = run, found
			}
		}
	}
	return out, nil
}

// collect runs the program once.
func (p *Program) collect(ctx context.Context, n int64, hints replay.Hints) (*replay.Run, replay.Hints, error) {
	c := replay.NewCollector(p.code, hints)
	if _, err := p.prog.Run(ctx, subject.Request{Inputs: p.sweep.inputs(n), Plan: p.code.Plan, Collectors: collectors(c)}); err != nil {
		return nil, hints, err
	}
	run, err := c.Result()
	if err != nil {
		return nil, hints, fmt.Errorf("perf: %s: %w", p.prog.Name, err)
	}
	return run, c.Hints(), nil
}
