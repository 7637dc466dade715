package kernels

import (
	"context"
	"fmt"
	"os"

	"presage/perf/iperf"
)

// SearchOptions say what SearchModels searches. The zero value searches the factors
// that come with Presage.
type SearchOptions struct {
	Database *iperf.Database // nil: iperf.DefaultDatabase
	Extend   string          // file of factors and models to add to it; "": none
	Without  []string        // models of it to leave out
}

// ModelSearch is what SearchModels found. Rows that describe a single model are
// about the one that Shown returns.
type ModelSearch struct {
	*iperf.Answer

	Candidates    []CandidateRow   // complete models, the largest share first
	Coefficients  []CoefficientRow // by candidate, then by term
	Pruned        []PrunedRow      // what pre-selection dropped
	Reasons       []ReasonRow      // why there is no model; empty if there is one
	Sensitivities []SensitivityRow // by factor of the model shown
	Predictions   []PredictionRow  // by size
	Peaks         []PeakRow        // sizes that the best model misses, the worst first; empty if there is a model
	Curves        []CurveRow       // by term that pre-selection left, then by size
}

// SearchModels finds the smallest model that explains times measured, or
// simulated, at several sizes of a kernel on a system, or the evidence that there
// is none (Hsu and Kremer, LCSR-TR363, 1998; see package iperf). Rows of the same
// size are runs of it: of three and more, all but the smallest and the largest are
// averaged (the report's appendix A.4), of two, both.
func SearchModels(ctx context.Context, times []TimeRow, k *iperf.Kernel, s *iperf.System, r iperf.Request, opt SearchOptions) (*ModelSearch, error) {
	measured, err := measurements(times, k.Params)
	if err != nil {
		return nil, err
	}
	db := opt.Database
	if db == nil {
		db = iperf.DefaultDatabase()
	}
	if opt.Extend != "" {
		text, err := os.ReadFile(opt.Extend)
		if err != nil {
			return nil, fmt.Errorf("perf: search models: %w", err)
		}
		if db, err = db.Extend(opt.Extend, text); err != nil {
			return nil, fmt.Errorf("perf: search models: %w", err)
		}
	}
	answer, err := iperf.Search(ctx, measured, k, s, db, r, iperf.Options{Without: opt.Without})
	if err != nil {
		return nil, fmt.Errorf("perf: search models: %w", err)
	}
	return newModelSearch(answer, measured), nil
}

// Shown returns the chosen model or, if there is none, the candidate with the
// largest share.
func (m *ModelSearch) Shown() *iperf.Evaluation {
	if m.Model != nil {
		return m.Model
	}
	return m.NoModel.Best
}

func newModelSearch(a *iperf.Answer, times []iperf.Measurement) *ModelSearch {
	m := &ModelSearch{Answer: a}
	byShare := m.byShare()
	m.Candidates = m.candidates(byShare)
	m.Coefficients = coefficients(byShare)
	m.Pruned = pruned(a.Lattice.Pruned)
	m.Reasons = m.reasons()
	m.Sensitivities = m.sensitivities(times)
	m.Predictions = m.predictions(times)
	m.Peaks = m.peaks(times)
	m.Curves = m.curves()
	return m
}
