package replayed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/subject"
)

const (
	// unsteady is the error of the footprint, foretold from smaller sizes, from which on
	// it is taken to grow in steps.
	unsteady = 0.02
	// steadier is the share of that which is left where the steps are those of doubling.
	steadier = 0.25
	// mostHalves and leastHalves are numbers of sizes that are halves of each other.
	mostHalves, leastHalves = 5, 4
	// knownShare is the share of accesses that are certified from which on the replay is
	// held to know the steps.
	knownShare = 0.99
)

var _ misses.Substituter = (*Corrector)(nil)

// Substitute implements misses.Substituter: tables and vectors that double when they are
// full, of which no smooth function of the size tells the footprint, are at a size as full
// as at its half and its quarter. Where the footprint says that the program has such, and
// the replay does not know them, the model is one of runs at these; what is certified is
// replayed as before.
func (c *Corrector) Substitute(ctx context.Context, point subject.Point) (*misses.Substitute, error) {
	key := point.String()
	c.mu.Lock()
	known, ok := c.halved[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	s, err := c.substitute(ctx, point)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.halved == nil {
		c.halved = make(map[string]*misses.Substitute)
	}
	c.halved[key] = s
	return s, nil
}

func (c *Corrector) substitute(ctx context.Context, point subject.Point) (*misses.Substitute, error) {
	w := c.program.sweep
	n, ok := whole(point[w.name])
	if !ok || c.of != nil || c.opt.TrainedSizesOnly || w.apart || len(point) != 1 || w.runs[0].Recorded.SampleOneIn > 1 {
		return nil, nil
	}
	largest := w.sizes[len(w.sizes)-1]
	if n <= largest {
		return nil, nil
	}
	list := halves(n, largest)
	off, ok := c.model.FootprintError()
	if !ok || off < unsteady || len(list) < leastHalves {
		return nil, nil
	}
	r, err := c.at(ctx, point)
	if err != nil {
		return nil, err
	}
	if r.Why == "" && !r.Unknown && float64(r.All.Doubtful) < (1-knownShare)*float64(r.All.Accesses) {
		return nil, nil
	}
	model, err := c.program.fitted(ctx, c.model, list)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, nil // such as a size at which the program fails: the model stays
	}
	if left, ok := model.FootprintError(); !ok || left > steadier*off {
		return nil, nil
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
	return &misses.Substitute{Model: model, Corrector: c.in(model), Warning: fmt.Sprintf("memory grows in steps of which no smooth function tells (the footprint of one of the two largest runs, foretold from smaller ones, is off by %.0f%%), and that are those of doubling: modelled by runs at %s = %s", 100*off, w.name, text)}, nil
}

// in returns a Corrector like c that knows the groups of another model of the executable.
func (c *Corrector) in(model *misses.Model) *Corrector {
	d := &Corrector{program: c.program, model: c.model, of: model, machine: c.machine, config: c.config, opt: c.opt, known: make(map[string]*replayedPoint)}
	for g := range model.Groups() {
		d.groups = append(d.groups, model.OfRun(0, misses.Group(g)))
	}
	return d
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
func (p *Program) fitted(ctx context.Context, like *misses.Model, sizes []int64) (*misses.Model, error) {
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
	runs, err := like.Runs().Elsewhere(ctx, points, inputs, locality.FurtherOptions{Store: p.store})
	if err != nil {
		return nil, err
	}
	return misses.Fit(ctx, runs, like.Options())
}
