package kernels

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"presage/perf/frame"
	"presage/perf/iperf"
	"slices"

	"github.com/go-gota/gota/dataframe"
)

// SearchOptions say what SearchModels searches, and in which columns the times
// are. The zero value searches the factors that come with Presage.
type SearchOptions struct {
	// Time names the columns of times, in seconds, each a run. None: the only one
	// of meas_time_sec, sim_time_sec and time_sec that there is.
	Time []string

	Database *iperf.Database // nil: iperf.DefaultDatabase
	Extend   string          // file of factors and models that are added to it; "": none
	Without  []string        // models of it that are left out
}

// ModelSearch is what SearchModels found, as tables. What they tell of one model
// alone is about the chosen one or, if there is none, the one with the largest
// share.
type ModelSearch struct {
	*iperf.Answer

	// Candidates has a row for each complete model, the largest share first:
	//
	//   - model: the names of its models of factors, joined by +
	//   - factors, cost: how many, and the sum of their costs
	//   - share: of the sizes within the request's error, from 0 to 1
	//   - rms_err: of all sizes, in seconds for a request of an absolute error,
	//     otherwise relative
	//   - chosen
	Candidates dataframe.DataFrame

	// Coefficients has a row for each term of each candidate: model, term,
	// coefficient_sec, and collinear: the terms that it is a combination of, if so.
	Coefficients dataframe.DataFrame

	// Pruned has a row for each factor (model is empty) or model of one that
	// pre-selection dropped: factor, model, reason.
	Pruned dataframe.DataFrame

	// Reasons has a row for each of the three causes of there being no model:
	// cause, holds, evidence. It has no rows if there is one.
	Reasons dataframe.DataFrame

	// Sensitivities has a row for each factor of the model:
	//
	//   - factor, model: the factor's name and that of its model
	//   - time_share: its part of all predicted time; below 0 if coefficients are
	//   - share_alone, share_left_out: of the sizes within the request's error, for
	//     the required factors and this one alone, and for the model without it
	//     (missing for a required factor alone in its model)
	//   - explained: the share of the curve's variance that others express
	//   - warning: that they nearly stand for it
	Sensitivities dataframe.DataFrame

	// Predictions has a row for each size: the parameters and
	//
	//   - time_sec, runs: as it was given, averaged, and over how many runs
	//   - pred_time_sec, abs_err_sec (above 0), rel_err (predicted less measured)
	//   - within: the request's error
	Predictions dataframe.DataFrame

	// Peaks has a row for each size at which the best model is far off, the worst
	// first, if there is no model: the parameters, time_sec, pred_time_sec and
	// spreads, their difference in robust standard deviations of all of these.
	Peaks dataframe.DataFrame

	// Curves has a row for each size and term that pre-selection left: the
	// parameters, factor, model, term, value (a count, as the report's Figure 7)
	// and pred_time_sec: value times coefficient, missing if not of the model.
	Curves dataframe.DataFrame
}

// SearchModels finds the smallest model that explains times measured, or
// simulated, at several sizes of a kernel on a system, or the evidence that there
// is none (Hsu and Kremer, LCSR-TR363, 1998). Package iperf says how.
//
// The table of times has columns for the kernel's parameters and for times, such
// as Measure returns. Rows of the same size are runs of it: of three and more,
// all but the smallest and the largest are averaged (the report's appendix A.4),
// of two, both. Other columns of text, dates and warnings aside, must be the same
// in all rows: times of several machines or programs have no one model.
func SearchModels(ctx context.Context, times dataframe.DataFrame, k *iperf.Kernel, s *iperf.System, r iperf.Request, opt SearchOptions) (*ModelSearch, error) {
	measured, err := measurements(times, k.Params, opt.Time)
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

// Shown returns the model that the tables tell of: the chosen one or, if there is
// none, that with the largest share.
func (m *ModelSearch) Shown() *iperf.Evaluation {
	if m.Model != nil {
		return m.Model
	}
	return m.NoModel.Best
}

func newModelSearch(a *iperf.Answer, times []iperf.Measurement) *ModelSearch {
	m := &ModelSearch{Answer: a}
	m.Candidates, m.Coefficients = m.candidates()
	m.Pruned = frame.Of(prunedRows(a.Lattice.Pruned))
	m.Reasons = m.reasons()
	m.Sensitivities = m.sensitivities(times)
	m.Predictions = m.predictions(times)
	m.Peaks = m.peaks(times)
	m.Curves = m.curves()
	return m
}

func (m *ModelSearch) candidates() (models, coefficients dataframe.DataFrame) {
	type row struct {
		Model   string  `frame:"model"`
		Factors int     `frame:"factors"`
		Cost    float64 `frame:"cost"`
		Share   float64 `frame:"share"`
		RMS     float64 `frame:"rms_err"`
		Chosen  bool    `frame:"chosen"`
	}
	type term struct {
		Model       string  `frame:"model"`
		Term        string  `frame:"term"`
		Coefficient float64 `frame:"coefficient_sec"`
		Collinear   string  `frame:"collinear"`
	}
	byShare := make([]*iperf.Evaluation, len(m.Answer.Candidates))
	for i := range byShare {
		byShare[i] = &m.Answer.Candidates[i]
	}
	slices.SortStableFunc(byShare, func(a, b *iperf.Evaluation) int { return cmp.Compare(b.Share, a.Share) })
	var rows []row
	var terms []term
	for _, e := range byShare {
		rows = append(rows, row{e.Name(), len(e.Models), e.Cost, e.Share, e.RMS, e == m.Model})
		for j := range e.Columns {
			t := term{Model: e.Name(), Term: e.Columns[j].String(), Coefficient: e.Coefficients[j]}
			for _, c := range e.Collinear {
				if c.Column == t.Term {
					t.Collinear = fmt.Sprint(c.Of)
				}
			}
			terms = append(terms, t)
		}
	}
	return frame.Of(rows), frame.Of(terms)
}

type prunedRow struct {
	Factor string `frame:"factor"`
	Model  string `frame:"model"`
	Reason string `frame:"reason"`
}

func prunedRows(pruned []iperf.Pruned) []prunedRow {
	var rows []prunedRow
	for _, p := range pruned {
		rows = append(rows, prunedRow{p.Factor, p.Model, p.Reason})
	}
	return rows
}

func (m *ModelSearch) reasons() dataframe.DataFrame {
	type row struct {
		Cause    string `frame:"cause"`
		Holds    bool   `frame:"holds"`
		Evidence string `frame:"evidence"`
	}
	var rows []row
	if m.NoModel != nil {
		for _, r := range m.NoModel.Reasons {
			rows = append(rows, row{string(r.Cause), r.Holds, r.Evidence})
		}
	}
	return frame.Of(rows)
}
