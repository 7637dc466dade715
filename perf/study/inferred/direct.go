package inferred

import (
	"context"
	"slices"

	"presage/perf/infer"
)

// direct fits all terms to a table, as Options.Direct has it.
func (r *runner) direct(t *infer.Table) (fitted, error) {
	m, err := infer.Ridge(t, r.everything(len(t.Names)), infer.FitOptions{Scaling: r.Search.Scaling, Ridge: r.Search.Ridge})
	if err != nil {
		return fitted{}, err
	}
	return fitted{System: &infer.System{Table: t, Search: new(infer.State), Model: m}}, nil
}

// everything returns the spec with splines of all variables, all their products, and
// those of software with hardware to powers of up to Powers.
func (r *runner) everything(variables int) infer.Spec {
	software := variables - len(infer.HardwareSpace())
	spec := infer.Everything(variables, r.Search.Powers)
	spec.Interactions = slices.DeleteFunc(spec.Interactions, func(x infer.Interaction) bool {
		crosses := x.I < software && x.J >= software
		return !crosses && max(x.PowerI, x.PowerJ) > 1
	})
	return spec
}

// update returns a system that knows some profiles of new software.
func (r *runner) update(ctx context.Context, s fitted, fresh *infer.Table, opt infer.SearchOptions) (fitted, error) {
	switch {
	case r.Process:
		p, err := s.process.Extend(fresh)
		return fitted{s.System, p}, err
	case !r.Direct:
		system, err := s.Update(ctx, fresh, opt)
		return fitted{System: system}, err
	}
	all, err := s.Table.Join(fresh)
	if err != nil {
		return fitted{}, err
	}
	return r.direct(all.Balanced())
}
