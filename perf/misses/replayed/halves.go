package replayed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/subject"
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
	if c.opt.TrainedSizesOnly || w.apart || w.runs[0].Recorded.SampleOneIn > 1 {
		return nil, nil
	}
	list := halves(n, w.sizes[len(w.sizes)-1])
	off, ok := c.model.FootprintError()
	if !ok || off < unsteady || len(list) < leastHalves {
		return nil, nil
	}
	model, err := c.program.fitted(ctx, c.model, list, c.report)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, nil // such as a size at which the program fails: the model stays
	}
	left, ok := model.FootprintError()
	if !ok || left > steadier*off {
		return nil, nil
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
	return &misses.Substitute{Model: model, Corrector: c.in(model, 0), Warning: fmt.Sprintf("memory grows in steps of which no smooth function tells (the footprint of one of the two largest runs, foretold from smaller ones, is off by %.0f%%), and that are those of doubling: modelled by runs at %s = %s", 100*off, w.name, text)}, nil
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

// fitted returns a model like another, of runs at other sizes.
func (p *Program) fitted(ctx context.Context, like *misses.Model, sizes []int64, report progress.Func) (*misses.Model, error) {
	return p.fittedTo(ctx, like, sizes, report, like.Runs().Elsewhere)
}

// further profiles at other points: locality.Runs.Elsewhere or And.
type further func(context.Context, []subject.Point, []subject.Inputs, locality.FurtherOptions) (*locality.Runs, error)

// fittedTo returns a model like another, of what further makes of some sizes.
func (p *Program) fittedTo(ctx context.Context, like *misses.Model, sizes []int64, report progress.Func, by further) (*misses.Model, error) {
	if err := p.sweep.stale(); err != nil {
		return nil, err
	}
	points, inputs := make([]subject.Point, len(sizes)), make([]subject.Inputs, len(sizes))
	for i, n := range sizes {
		var err error
		points[i] = subject.Point{p.sweep.name: float64(n)}
		if inputs[i], err = p.sweep.inputs(p.sweep.runs[0].Program, n); err != nil {
			return nil, err
		}
	}
	runs, err := by(ctx, points, inputs, locality.FurtherOptions{Store: p.store, Progress: report})
	if err != nil {
		return nil, err
	}
	return misses.Fit(ctx, runs, like.Options())
}
