package replayed

import (
	"context"
	"sync"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// Correctors returns what makes correctors for machines, as misses.Validation takes
// it. What is learned and replayed is kept in the store; nil is the default one.
// Nothing is run before a correction is asked for that the store does not hold. A
// program that cannot be replayed is no error: its rows warn of it.
func Correctors(st *store.Store, opt Options) func(context.Context, *misses.Model, *machine.Machine) (misses.Corrector, error) {
	var mu sync.Mutex
	known := make(map[*misses.Model]*opened)
	return func(_ context.Context, model *misses.Model, m *machine.Machine) (misses.Corrector, error) {
		mu.Lock()
		defer mu.Unlock()
		if known[model] == nil {
			p, err := programOf(model.Runs(), st)
			known[model] = &opened{p, err}
		}
		o := known[model]
		if o.err != nil {
			return &rooting{unable: unable{o.err.Error()}, model: model}, nil
		}
		return NewCorrector(o.program, model, m, opt), nil
	}
}

type opened struct {
	program *Program
	err     error
}

// unable corrects nothing and says why.
type unable struct{ why string }

func (u unable) Correct(_ context.Context, of misses.Uncorrected) (*misses.Correction, error) {
	return &misses.Correction{Groups: make([]misses.GroupCorrection, len(of.Groups)), Warnings: []string{"not replayed: " + u.why}}, nil
}

func (u unable) Replays() bool { return false }

// rooting corrects nothing either, and knows of the model with roots.
type rooting struct {
	unable
	model *misses.Model

	mu    sync.Mutex
	tried bool
	known misses.Substitutes
}

var _ misses.Substituter = (*rooting)(nil)

// Substitutes implements misses.Substituter.
func (r *rooting) Substitutes(ctx context.Context, point subject.Point) (*misses.Substitutes, error) {
	if len(point) != 1 {
		return nil, nil
	}
	name := point.Names()[0]
	if within, err := r.model.Range(name); err != nil || point[name] <= within[1] {
		return nil, nil // predicting reports the error
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.tried {
		model, err := rooted(ctx, r.model, name)
		if err != nil {
			return nil, err
		}
		if r.tried = true; model != nil {
			r.known.Refit = refitOf(model, r.unable)
		}
	}
	return &r.known, nil
}
