package replayed

import (
	"context"
	"sync"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
)

// Correctors returns what makes correctors for machines, as misses.Validation takes
// it. A program that cannot be replayed is no error: its rows warn of it.
func Correctors(st *store.Store, opt Options) func(context.Context, *misses.Model, *machine.Machine) (misses.Corrector, error) {
	var mu sync.Mutex
	known := make(map[*misses.Model]*learnedOnce)
	return func(ctx context.Context, model *misses.Model, m *machine.Machine) (misses.Corrector, error) {
		mu.Lock()
		defer mu.Unlock()
		if known[model] == nil {
			p, err := Learn(ctx, model.Runs(), st)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			known[model] = &learnedOnce{p, err}
		}
		l := known[model]
		if l.err != nil {
			return unable{l.err.Error()}, nil
		}
		return NewCorrector(l.program, model, m, opt), nil
	}
}

type learnedOnce struct {
	program *Program
	err     error
}

// unable corrects nothing and says why.
type unable struct{ why string }

func (u unable) Correct(_ context.Context, of misses.Uncorrected) (*misses.Correction, error) {
	return &misses.Correction{Groups: make([]misses.GroupCorrection, len(of.Groups)), Warnings: []string{"not replayed: " + u.why}}, nil
}

func (u unable) Replays() bool { return false }
