package misses

import (
	"presage/perf/locality"
	"presage/perf/store"
)

// An Origin is what the predictions of a model follow from, for keys of the store: its
// runs, how it was fitted, and the versions of what is computed on the way.
type Origin struct {
	Program  string
	Fit      fitInputs
	Blocks   []uint64 // that are modelled
	Versions []int    // of models, models by loop and simulations
	LeftOut  string   // of the accesses of the runs
	Warnings []string // about the runs
}

// Origin returns what predictions of the model follow from. There is none of a draft,
// whose predictions are not kept.
func (m *Model) Origin() (o Origin, ok bool) {
	r := m.refits
	if r.opt.Draft {
		return Origin{}, false
	}
	return Origin{
		Program: m.Program, Fit: r.inputs(r.all()), Blocks: m.blockSizes(),
		Versions: []int{modelVersion, byLoopVersion, cacheVersion, locality.ReuseVersion},
		LeftOut:  r.runs.LeftOut(), Warnings: r.runs.Warnings,
	}, true
}

// Store returns the store that the model is kept in.
func (m *Model) Store() *store.Store { return m.refits.store }

// Lacking reports whether predictions so far had to do without a further run that could
// not be made, as where the program's input is gone, or warn of the store: another time
// they may be others.
func (m *Model) Lacking() bool { return m.refits.lacking.Load() }
