package locality

import (
	"errors"
	"slices"
)

// Chosen returns the runs for which keep holds, to fit models without the others.
// The runs share their profiles with r. It returns an error if none is left.
func (r *Runs) Chosen(keep func(*Run) bool) (*Runs, error) {
	chosen := &Runs{Name: r.Name}
	for i := range r.Runs {
		if keep(&r.Runs[i]) {
			chosen.Runs = append(chosen.Runs, r.Runs[i])
		}
	}
	switch len(chosen.Runs) {
	case 0:
		return nil, errors.New("perf: none of the runs is chosen")
	case len(r.Runs):
		return r, nil
	}
	if r.Matched() {
		return chosen, chosen.share()
	}
	chosen.Warnings = slices.Clone(r.Warnings)
	if r.shared != nil { // one executable has the same groups in any of its runs
		shared := *r.shared
		shared.of = make([]int, len(chosen.Runs))
		chosen.shared = &shared
	}
	return chosen, nil
}
