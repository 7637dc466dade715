package replayed

import (
	"context"
	"sync"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
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
			return unable{o.err.Error()}, nil
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
