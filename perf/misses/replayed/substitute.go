package replayed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"presage/perf/misses"
	"presage/perf/subject"
)

const (
	// knownShare is the share of accesses that are certified from which on no other model
	// is looked for.
	knownShare = 0.99
	// roots are the functions for programs whose size is the number of elements.
	roots = "1, %[1]s^0.5, %[1]s"
	// elements is the power of the size below which accesses must grow for that.
	elements = 1.5
)

var _ misses.Substituter = (*Corrector)(nil)

// Substitutes implements misses.Substituter: what is certified is replayed, and of the rest
// there may be a model of runs at halves of the size, one of runs between those of the
// profiles, too, or one with other functions.
func (c *Corrector) Substitutes(ctx context.Context, point subject.Point) (*misses.Substitutes, error) {
	key := point.String()
	c.mu.Lock()
	known, ok := c.others[key]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	s, err := c.substitutes(ctx, point)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.others == nil {
		c.others = make(map[string]*misses.Substitutes)
	}
	c.others[key] = s
	return s, nil
}

func (c *Corrector) substitutes(ctx context.Context, point subject.Point) (*misses.Substitutes, error) {
	w := c.program.sweep
	n, ok := whole(point[w.name])
	if !ok || c.of != nil || len(point) != 1 || n <= w.sizes[len(w.sizes)-1] {
		return nil, nil
	}
	r, err := c.at(ctx, point)
	if err != nil {
		return nil, err
	}
	if r.Why == "" && !r.Unknown && float64(r.All.Doubtful) < (1-knownShare)*float64(r.All.Accesses) {
		return nil, nil
	}
	var out misses.Substitutes
	halved, err := c.byHalves(ctx, n)
	if err == nil && halved != nil {
		out.OtherRuns = append(out.OtherRuns, halved)
	}
	if err = passing(err, &out); err != nil {
		return nil, err
	}
	all, err := c.atAll(ctx)
	if err != nil {
		return nil, err
	}
	out.OtherRuns = append(out.OtherRuns, all.OtherRuns...)
	out.Refit, out.Lacking = all.Refit, strings.Join(notEmpty(out.Lacking, all.Lacking), "; ")
	return &out, nil
}

// passing returns err, unless it is a passingError, which is said in what is lacking then.
func passing(err error, to *misses.Substitutes) error {
	if why := new(passingError); errors.As(err, &why) {
		to.Lacking = why.Error()
		return nil
	}
	return err
}

// atAll returns the models that are the same at all points: of more runs, and with roots of
// the size.
func (c *Corrector) atAll(ctx context.Context) (*misses.Substitutes, error) {
	c.mu.Lock()
	known := c.everywhere
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	out := new(misses.Substitutes)
	denser, err := c.denser(ctx)
	if err = passing(err, out); err != nil {
		return nil, err
	}
	model := c.model
	if denser != nil {
		model, out.OtherRuns = denser.Model, []*misses.Substitute{denser}
	}
	refit, err := c.withRoots(ctx, model)
	if err != nil {
		return nil, err
	}
	if denser != nil {
		denser.Refit = refit
	} else {
		out.Refit = refit
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.everywhere = out
	return out, nil
}

// withRoots returns a model like another, with roots of the size; nil if there is none.
func (c *Corrector) withRoots(ctx context.Context, model *misses.Model) (*misses.Substitute, error) {
	refit, err := rooted(ctx, model, c.program.sweep.name)
	if err != nil || refit == nil {
		return nil, err
	}
	return refitOf(refit, c.in(refit, c.program.run)), nil
}

// refitOf returns a model with roots, to be taken where it foretells better than another of
// the same runs.
func refitOf(model *misses.Model, by misses.Corrector) *misses.Substitute {
	return &misses.Substitute{
		Model: model, Corrector: by,
		Warning: fmt.Sprintf("modelled by the functions %s, which foretell the largest runs better than powers do", model.Options().Basis),
	}
}

// rooted returns a model like another with roots of the size, if that seems to be the
// number of the program's elements, and nil otherwise: recursion that halves them, heaps and
// random accesses have distances that grow by less than the size does, which sums of its
// powers only have between the sizes that were run.
func rooted(ctx context.Context, like *misses.Model, name string) (*misses.Model, error) {
	opt, runs := like.Options(), like.Runs()
	within, err := like.Range(name)
	if err != nil || opt.Basis != "" || opt.Shape != "" || opt.MedianRatio || len(runs.Runs[0].Point) != 1 {
		return nil, nil
	}
	least, most := math.Inf(1), 0.0
	for i := range runs.Runs {
		n := float64(runs.Runs[i].Accesses)
		least, most = math.Min(least, n), math.Max(most, n)
	}
	if growth := math.Log(most/least) / math.Log(within[1]/within[0]); !(growth < elements) {
		return nil, nil
	}
	opt.Basis = fmt.Sprintf(roots, name)
	model, err := misses.Fit(ctx, runs, opt)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, nil // such as one that does not reproduce the runs: the model stays
	}
	return model, nil
}

// in returns a Corrector like c that knows the groups of another model of the executable
// of a run of it.
func (c *Corrector) in(model *misses.Model, run int) *Corrector {
	d := &Corrector{program: c.program, model: c.model, of: model, machine: c.machine, config: c.config, opt: c.opt, known: make(map[string]*replayedPoint)}
	for g := range model.Groups() {
		d.groups = append(d.groups, model.OfRun(run, misses.Group(g)))
	}
	return d
}
