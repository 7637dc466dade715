package replayed

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/misses"
)

const (
	// unsteady is the error of the footprint, foretold from smaller sizes, from which on
	// it is taken to grow in steps.
	unsteady = 0.02
	// steadier is the share of that which is left where the steps are those of doubling.
	steadier = 0.9
	// mostHalves and leastHalves are numbers of sizes that are halves of each other.
	mostHalves, leastHalves = 5, 4
)

// byHalves returns a model for tables and vectors that double when they are full, of which
// no smooth function of the size tells the footprint, and which are at a size as full as at
// its half and its quarter. Where the footprint says that the program has such, the model
// is one of runs at these; nil otherwise.
func (c *Corrector) byHalves(ctx context.Context, n int64) (*misses.Substitute, error) {
	w := c.program.sweep
	list := halves(n, w.sizes[len(w.sizes)-1])
	off, ok := c.model.FootprintError()
	if !c.mayProfile() || !ok || off < unsteady || len(list) < leastHalves {
		return nil, nil
	}
	model, err := c.fitted(ctx, list, c.model.Runs().Elsewhere)
	if err != nil || model == nil {
		return nil, err
	}
	left, ok := model.FootprintError()
	if !ok || left > steadier*off {
		return nil, nil
	}
	return &misses.Substitute{Model: model, Corrector: c.in(model, 0), Warning: fmt.Sprintf("memory grows in steps of which no smooth function tells (the footprint of one of the two largest runs, foretold from smaller ones, is off by %.0f%%), and that are those of doubling: modelled by runs at %s = %s", 100*off, w.name, listed(list))}, nil
}

// halves returns sizes that are n halved again and again, none above the largest or below
// 16, the smallest first.
func halves(n, largest int64) []int64 {
	var list []int64
	for n /= 2; n >= 16 && len(list) < mostHalves; n /= 2 {
		if n <= largest {
			list = append(list, n)
		}
	}
	slices.Reverse(list)
	return list
}
