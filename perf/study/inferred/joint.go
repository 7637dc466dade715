package inferred

import (
	"context"
	"math"

	"presage/perf/infer"
)

// penalties are those among which a joint search chooses, the default first.
var penalties = []float64{directRidge, 10, 3, 1}

// jointly searches for terms from all of them and from random parts (infer.Thinned),
// with the penalty by which all terms are fittest: less than it was chosen by hand for
// may do, since the fitness of all of them is of rows that the fit has not seen.
func (r *runner) jointly(ctx context.Context, t *infer.Table, opt infer.SearchOptions) (*infer.System, error) {
	all := r.everything(len(t.Names))
	opt.Joint = true
	penalty, err := fittestPenalty(ctx, t, all, opt)
	if err != nil {
		return nil, err
	}
	opt.Ridge = penalty
	opt.Start = infer.Thinned(all, opt.Population, r.Seed)
	return infer.NewSystem(ctx, t, opt)
}

// fittestPenalty returns the penalty under which a spec is fittest.
func fittestPenalty(ctx context.Context, t *infer.Table, s infer.Spec, opt infer.SearchOptions) (best float64, err error) {
	least := math.Inf(1)
	opt.Population, opt.Generations, opt.Start = 2, 0, []infer.Spec{s, s}
	for _, p := range penalties {
		opt.Ridge = p
		found, err := infer.Search(ctx, t, opt)
		if err != nil {
			return 0, err
		}
		if e := found.Best().Error; e < least {
			best, least = p, e
		}
	}
	return best, nil
}
