package misses

import (
	"context"
	"fmt"

	"presage/perf/scaling"
	"presage/perf/store"
)

// Division divides the accesses of a model's runs otherwise than by groups of
// references, to be modelled in the same way.
type Division struct {
	Kind       string // of result, in the store; what Parts depend on beside the runs
	Version    int    // of the meaning of Parts: raise it when that changes
	BlockBytes uint64
	Parts      []scaling.Group // with a histogram for each of Model.Runs, in order
}

// FitDivision fits a model of each part of a division, with the options and the store
// of the model itself. It returns an error if there is no part.
func (m *Model) FitDivision(ctx context.Context, d Division) (*scaling.Model, error) {
	if len(d.Parts) == 0 {
		return nil, fmt.Errorf("perf: %s: nothing to fit", d.Kind)
	}
	r := m.refits
	in := struct {
		Fit   fitInputs
		Parts []string
	}{Fit: r.inputs(r.all())}
	in.Fit.BlockBytes = d.BlockBytes
	for i := range d.Parts {
		in.Parts = append(in.Parts, d.Parts[i].Name)
	}
	key := func() (store.Key, error) {
		return store.NewKey(d.Kind, d.Version, struct {
			Model int
			In    any
		}{modelVersion, in})
	}
	options := r.options
	options.BlockBytes = d.BlockBytes
	known, err := memo(r, key, func() (*scaling.Model, error) { return scaling.Fit(ctx, r.sizes, d.Parts, options) })
	if err != nil {
		return nil, fmt.Errorf("perf: fit of %s for blocks of %d bytes: %w", d.Kind, d.BlockBytes, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warn(known.Warning)
	return known.Value, nil
}

// all returns the indices of the runs.
func (r *refits) all() []int {
	list := make([]int, len(r.sizes))
	for i := range list {
		list[i] = i
	}
	return list
}
